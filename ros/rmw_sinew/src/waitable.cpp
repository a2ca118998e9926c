#include "waitable.hpp"

#include <algorithm>
#include <chrono>

namespace rmw_sinew {
namespace {

/// The callbacks in which this thread is, the innermost first.
struct Running {
  const Waitable * waitable;
  Running * outer;
};

thread_local Running * innermost = nullptr;

/// The innermost take in which this thread is.
thread_local Waitable::Take * current_take = nullptr;

std::size_t own_calls(const Waitable * waitable)
{
  std::size_t count = 0;
  for (const Running * call = innermost; call != nullptr; call = call->outer) {
    count += call->waitable == waitable ? 1 : 0;
  }
  return count;
}

}  // namespace

void Bell::ring()
{
  // Notifying under the lock keeps the bell alive until this is done: its owner detaches it, which
  // waits for the ringing waitable, before it goes.
  const std::lock_guard<std::mutex> lock(mutex_);
  rung_ = true;
  rung_condition_.notify_one();
}

bool Bell::wait_until(std::chrono::steady_clock::time_point deadline)
{
  std::unique_lock<std::mutex> lock(mutex_);
  const auto rung = [this] {return rung_;};
  if (deadline == std::chrono::steady_clock::time_point::max()) {
    rung_condition_.wait(lock, rung);
  } else if (!rung_condition_.wait_until(lock, deadline, rung)) {
    return false;
  }
  rung_ = false;
  return true;
}

void Waitable::notify(std::uint64_t count)
{
  std::unique_lock<std::mutex> lock(mutex_);
  arrived_.fetch_add(count);
  for (Bell * bell : bells_) {
    bell->ring();
  }
  // A take seldom runs the listener itself. The callback may take as well, so it has to wait.
  for (Take * take = current_take; take != nullptr; take = take->outer_) {
    if (&take->waitable_ == this) {
      take->is_unreported_ = true;
      return;
    }
  }
  report(lock);
}

void Waitable::took_up_to(std::uint64_t arrival)
{
  std::uint64_t taken = taken_.load();
  while (taken < arrival && !taken_.compare_exchange_weak(taken, arrival)) {
  }
}

std::uint64_t Waitable::arrived() const
{
  return arrived_.load();
}

std::uint64_t Waitable::waiting() const
{
  // In this order: what was taken had arrived, so that an arrival between the loads counts.
  const std::uint64_t taken = taken_.load();
  const std::uint64_t arrived = arrived_.load();
  return arrived > taken ? arrived - taken : 0;
}

bool Waitable::is_ready() const
{
  return waiting() > 0;
}

void Waitable::set_callback(rmw_event_callback_t callback, const void * user_data)
{
  std::unique_lock<std::mutex> lock(mutex_);
  callback_ = callback;
  user_data_ = user_data;
  // The caller may free the former user data as soon as this returns.
  returned_condition_.wait(lock, [this] {return running_ == own_calls(this);});
  report(lock);
}

void Waitable::attach(Bell & bell)
{
  const std::lock_guard<std::mutex> lock(mutex_);
  bells_.push_back(&bell);
}

void Waitable::detach(Bell & bell)
{
  const std::lock_guard<std::mutex> lock(mutex_);
  bells_.erase(std::remove(bells_.begin(), bells_.end(), &bell), bells_.end());
}

void Waitable::report(std::unique_lock<std::mutex> & lock)
{
  const std::uint64_t seen = std::max(reported_, taken_.load());
  const std::uint64_t arrived = arrived_.load(); // changes under the lock alone
  if (callback_ == nullptr || arrived <= seen) {
    return;
  }
  const std::uint64_t count = arrived - seen;
  reported_ = arrived;
  const rmw_event_callback_t callback = callback_;
  const void * user_data = user_data_;
  Running call{this, innermost};
  innermost = &call;
  ++running_;
  // Ends the call also if the callback throws.
  struct End {
    Waitable & waitable;
    std::unique_lock<std::mutex> & lock;
    ~End()
    {
      innermost = innermost->outer;
      lock.lock();
      --waitable.running_;
      waitable.returned_condition_.notify_all();
    }
  } end{*this, lock};
  lock.unlock();
  callback(user_data, static_cast<std::size_t>(count));
}

Waitable::Take::Take(Waitable & waitable)
: waitable_(waitable), lock_(waitable.taking_), arrived_(waitable.arrived()), outer_(current_take)
{
  current_take = this;
}

Waitable::Take::~Take()
{
  current_take = outer_;
  lock_.unlock();
  if (is_unreported_) {
    try {
      std::unique_lock<std::mutex> lock(waitable_.mutex_);
      waitable_.report(lock);
    } catch (...) {
      // As in `Entity::on_arrival`.
    }
  }
}

void Waitable::Take::took_one()
{
  // What was taken before its listener ran is not counted: it isn't known whether there is a
  // listener still to run.
  if (waitable_.taken_.load() < waitable_.arrived_.load()) {
    waitable_.taken_.fetch_add(1);
  }
}

void Waitable::Take::found_nothing()
{
  waitable_.took_up_to(arrived_);
}

Entity::~Entity()
{
  waitable_->set_callback(nullptr, nullptr);
}

void * Entity::listener_context()
{
  return new std::shared_ptr<Waitable>(waitable_);
}

void Entity::on_arrival(void * context, std::uint64_t count) noexcept
{
  try {
    (*static_cast<std::shared_ptr<Waitable> *>(context))->notify(count);
  } catch (...) {
    // The callback belongs to the program, and Sinew's thread has nowhere to report to. The arrival
    // itself is counted.
  }
}

void Entity::drop_listener(void * context) noexcept
{
  delete static_cast<std::shared_ptr<Waitable> *>(context);
}

}  // namespace rmw_sinew
