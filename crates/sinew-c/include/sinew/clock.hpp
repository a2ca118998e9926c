/// Clocks: reading them, and sleeping by them.
#ifndef SINEW_CLOCK_HPP
#define SINEW_CLOCK_HPP

#include <memory>
#include <stdexcept>
#include <utility>

#include "sinew/context.hpp"
#include "sinew/detail/raise.hpp"
#include "sinew/duration.hpp"
#include "sinew/error.hpp"
#include "sinew/jump_handler.hpp"
#include "sinew/sinew.h"
#include "sinew/time.hpp"

namespace sinew
{

/// A clock. That of a node, `Node::get_clock`, shows ROS time. A clock without a context shows the
/// machine's system or steady time. Any thread may use it.
class Clock
{
public:
  using SharedPtr = std::shared_ptr<Clock>;
  using ConstSharedPtr = std::shared_ptr<const Clock>;

  /// A clock of the machine; ROS time without a context is system time.
  explicit Clock(ClockType clock_type = RCL_SYSTEM_TIME) noexcept
  : clock_type_(clock_type) {}

  /// A clock of a context, which has one ROS time for all its nodes.
  Clock(ClockType clock_type, Context::SharedPtr context) noexcept
  : clock_type_(clock_type), context_(std::move(context)) {}

  /// Returns the present time.
  Time now() const noexcept
  {
    if (context_) {
      return Time(sinew_context_now(context_->handle(), clock_type_), clock_type_);
    }
    return Time(
      clock_type_ == RCL_STEADY_TIME ? sinew_steady_now() : sinew_system_now(), clock_type_);
  }

  /// Sleeps until the clock shows a time; not at all if it already does. A jump past it ends the
  /// sleep. Returns false if the context is shut down, or if ROS time begins or ends to be
  /// simulated meanwhile.
  ///
  /// `context` is that of the clock, by default the default one. Not for callbacks: in a callback
  /// of the executor that advances the time the sleep never ends. Throws `std::runtime_error` if
  /// the time is of another clock.
  bool sleep_until(const Time & until, const Context::SharedPtr & context = nullptr) const
  {
    if (until.get_clock_type() != clock_type_) {
      detail::raise<std::runtime_error>("a clock sleeps until a time of another clock");
    }
    return has_slept(
      sinew_context_sleep_until(handle_for(context).get(), kind(), until.nanoseconds()));
  }

  /// Sleeps until the clock has advanced by a duration, as `sleep_until`.
  bool sleep_for(const Duration & duration, const Context::SharedPtr & context = nullptr) const
  {
    const auto length = duration.nanoseconds() > 0 ? duration.nanoseconds() : 0;
    return has_slept(sinew_context_sleep_for(handle_for(context).get(), kind(), length));
  }

  /// Whether it shows simulated time, or a time that was set.
  bool ros_time_is_active() const noexcept
  {
    return clock_type_ == RCL_ROS_TIME && context_ &&
           sinew_context_ros_time_is_active(context_->handle());
  }

  ClockType get_clock_type() const noexcept {return clock_type_;}

  /// Calls functions when ROS time jumps by at least a threshold, until the handler is destroyed.
  /// Both are called after the jump, the first one first, on the thread that sets the time; either
  /// may be null. They must not throw: an exception ends the program, as one of a thread does.
  JumpHandler::SharedPtr create_jump_callback(
    JumpHandler::pre_callback_t pre, JumpHandler::post_callback_t post,
    const JumpThreshold & threshold) const
  {
    return try_create_jump_callback(std::move(pre), std::move(post), threshold).value();
  }
  Result<JumpHandler::SharedPtr> try_create_jump_callback(
    JumpHandler::pre_callback_t pre, JumpHandler::post_callback_t post,
    const JumpThreshold & threshold) const
  {
    if (clock_type_ != RCL_ROS_TIME || !context_) {
      return Error(
        SINEW_ERROR_INVALID_ARGUMENT, "only the ROS time of a context jumps: use a node's clock");
    }
    return JumpHandler::try_make(context_, std::move(pre), std::move(post), threshold);
  }

private:
  /// The clock of the context by which this one sleeps.
  sinew_clock_kind kind() const noexcept
  {
    return clock_type_ == RCL_ROS_TIME && !context_ ? RCL_SYSTEM_TIME : clock_type_;
  }

  /// A context's handle, with the context.
  std::shared_ptr<const sinew_context> handle_for(Context::SharedPtr context) const
  {
    if (!context) {
      context = context_ ? context_ : contexts::get_global_default_context();
    }
    const auto * handle = context->handle();
    return std::shared_ptr<const sinew_context>(std::move(context), handle);
  }

  static bool has_slept(sinew_status status)
  {
    if (status == SINEW_ERROR_SHUTDOWN || status == SINEW_ERROR_CLOCK_CHANGED) {
      return false;
    }
    detail::check(status);
    return true;
  }

  ClockType clock_type_;
  Context::SharedPtr context_;
};

/// Sleeps for a duration of real time. Returns false if the context, by default the default one, is
/// shut down meanwhile.
inline bool sleep_for(const Duration & duration, const Context::SharedPtr & context = nullptr)
{
  return Clock(RCL_STEADY_TIME).sleep_for(duration, context);
}

}  // namespace sinew

#endif  // SINEW_CLOCK_HPP
