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
  waitable.took_one();
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
  waitable.took_one();
  CHECK(waitable.is_ready() && waitable.waiting() == 1);
  waitable.took_up_to(2);
  CHECK(!waitable.is_ready());
  // A message may be taken before its listener runs.
  waitable.took_up_to(3);
  waitable.notify(1);
  CHECK(!waitable.is_ready());
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
    waitable.took_one();
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
  a_bell_remembers_a_ring();
  a_callback_clears_itself();
  no_callback_runs_after_it_is_cleared();
  a_wait_set_misses_nothing();
  a_listener_may_outlive_its_entity();
  return 0;
}
