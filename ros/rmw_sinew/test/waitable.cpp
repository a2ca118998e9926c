// Waitables: what is counted, reported and waited for, also by several threads.
#include "waitable.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

using rmw_sinew::Bell;
using rmw_sinew::Entity;
using rmw_sinew::Waitable;

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1); \
    } \
  } while (false)

namespace {

void add(const void * user_data, std::size_t count)
{
  *static_cast<std::atomic<std::uint64_t> *>(const_cast<void *>(user_data)) += count;
}

void unread_arrivals_are_reported_once()
{
  Waitable waitable;
  std::atomic<std::uint64_t> reported{0};
  waitable.notify(3);
  Waitable::Take(waitable).took_one();
  waitable.set_callback(add, &reported);
  CHECK(reported == 2);
  waitable.set_callback(nullptr, nullptr);
  waitable.set_callback(add, &reported);
  CHECK(reported == 2);
  waitable.notify(4);
  CHECK(reported == 6);
}

void readiness_lasts_until_all_is_taken()
{
  Waitable waitable;
  CHECK(!waitable.is_ready());
  waitable.notify(2);
  Waitable::Take(waitable).took_one();
  CHECK(waitable.is_ready() && waitable.waiting() == 1);
  waitable.took_up_to(2);
  CHECK(!waitable.is_ready());
}

/// Whatever is taken without having been counted, what is counted later is unread and reported.
void more_may_be_taken_than_was_counted()
{
  Waitable waitable;
  std::atomic<std::uint64_t> reported{0};
  waitable.set_callback(add, &reported);
  for (int number = 0; number < 5; ++number) {
    Waitable::Take(waitable).took_one();
  }
  CHECK(!waitable.is_ready());
  waitable.notify(2);
  CHECK(waitable.waiting() == 2 && reported == 2);
  Waitable::Take(waitable).took_one();
  Waitable::Take(waitable).took_one();
  Waitable::Take(waitable).took_one();
  CHECK(!waitable.is_ready());
  waitable.notify(1);
  CHECK(waitable.waiting() == 1 && reported == 3);
}

/// Less may be there than was counted, which the first take that finds nothing shows. What came
/// after its look stays unread.
void a_take_that_finds_nothing_corrects()
{
  Waitable waitable;
  waitable.notify(3);
  Waitable::Take(waitable).took_one();
  {
    Waitable::Take take(waitable);
    waitable.notify(1);
    take.found_nothing();
  }
  CHECK(waitable.waiting() == 1);
  Waitable::Take(waitable).found_nothing();
  CHECK(!waitable.is_ready());
}

/// A take may run its own listener. The callback, which may take as well, runs after it.
void a_take_may_be_notified()
{
  static Waitable waitable;
  static int calls = 0;
  waitable.set_callback(
    [](const void *, std::size_t count) {
      CHECK(count == 2);
      ++calls;
      Waitable::Take(waitable).took_one();
    }, nullptr);
  {
    Waitable::Take take(waitable);
    waitable.notify(3);
    CHECK(calls == 0);
    take.took_one();
  }
  CHECK(calls == 1 && waitable.waiting() == 1);
}

void a_bell_remembers_a_ring()
{
  Waitable waitable;
  Bell bell;
  waitable.attach(bell);
  waitable.notify(1);
  waitable.detach(bell);
  CHECK(bell.wait_until(std::chrono::steady_clock::time_point::max()));
  const auto past = std::chrono::steady_clock::time_point::min();
  CHECK(!bell.wait_until(past));
}

/// Two threads take from one queue: what was pushed is never overlooked.
void several_threads_take()
{
  constexpr std::uint64_t ARRIVALS = 20000;
  Waitable waitable;
  std::atomic<std::uint64_t> queue{0};
  std::atomic<std::uint64_t> taken{0};
  const auto take_all = [&] {
    while (taken < ARRIVALS) {
      if (!waitable.is_ready()) {
        std::this_thread::yield();
        continue;
      }
      Waitable::Take take(waitable);
      std::uint64_t held = queue;
      while (held > 0 && !queue.compare_exchange_weak(held, held - 1)) {
      }
      if (held > 0) {
        take.took_one();
        ++taken;
      } else {
        take.found_nothing();
      }
    }
  };
  std::thread one(take_all), other(take_all);
  for (std::uint64_t arrival = 0; arrival < ARRIVALS; ++arrival) {
    ++queue;
    waitable.notify(1);
  }
  one.join();
  other.join();
}

/// A callback that clears itself must not wait for its own end.
void a_callback_clears_itself()
{
  static Waitable waitable;
  static int calls = 0;
  waitable.set_callback(
    [](const void *, std::size_t) {
      ++calls;
      waitable.set_callback(nullptr, nullptr);
    }, nullptr);
  waitable.notify(1);
  waitable.notify(1);
  CHECK(calls == 1);
}

/// User data may be freed as soon as the callback is cleared; every arrival is reported to one of
/// the callbacks, or is unread in the end.
void no_callback_runs_after_it_is_cleared()
{
  constexpr std::uint64_t NOTIFIERS = 3;
  constexpr std::uint64_t ARRIVALS = 20000;
  Waitable waitable;
  std::atomic<std::uint64_t> running{NOTIFIERS};
  std::vector<std::thread> notifiers;
  for (std::uint64_t notifier = 0; notifier < NOTIFIERS; ++notifier) {
    notifiers.emplace_back([&] {
      for (std::uint64_t arrival = 0; arrival < ARRIVALS; ++arrival) {
        waitable.notify(1);
      }
      --running;
    });
  }
  std::uint64_t total = 0;
  const auto collect = [&] {
    auto reported = std::make_unique<std::atomic<std::uint64_t>>(0);
    waitable.set_callback(add, reported.get());
    waitable.set_callback(nullptr, nullptr);
    total += *reported;
  };
  while (running > 0) {
    collect();
  }
  for (std::thread & notifier : notifiers) {
    notifier.join();
  }
  collect();
  CHECK(total == NOTIFIERS * ARRIVALS);
}

/// A waiter misses no arrival, however it and the notifier interleave.
void a_wait_set_misses_nothing()
{
  constexpr std::uint64_t ARRIVALS = 20000;
  Waitable waitable;
  std::thread notifier([&] {
    for (std::uint64_t arrival = 0; arrival < ARRIVALS; ++arrival) {
      waitable.notify(1);
    }
  });
  for (std::uint64_t taken = 0; taken < ARRIVALS; ++taken) {
    Bell bell;
    waitable.attach(bell);
    while (!waitable.is_ready()) {
      bell.wait_until(std::chrono::steady_clock::time_point::max());
    }
    waitable.detach(bell);
    Waitable::Take(waitable).took_one();
  }
  notifier.join();
  CHECK(!waitable.is_ready());
}

void a_listener_may_outlive_its_entity()
{
  void * context = nullptr;
  std::atomic<std::uint64_t> reported{0};
  {
    Entity entity;
    entity.waitable().set_callback(add, &reported);
    context = entity.listener_context();
    Entity::on_arrival(context, 1);
  }
  Entity::on_arrival(context, 1);
  Entity::drop_listener(context);
  CHECK(reported == 1);
}

}  // namespace

int main()
{
  unread_arrivals_are_reported_once();
  readiness_lasts_until_all_is_taken();
  more_may_be_taken_than_was_counted();
  a_take_that_finds_nothing_corrects();
  a_take_may_be_notified();
  a_bell_remembers_a_ring();
  several_threads_take();
  a_callback_clears_itself();
  no_callback_runs_after_it_is_cleared();
  a_wait_set_misses_nothing();
  a_listener_may_outlive_its_entity();
  return 0;
}
