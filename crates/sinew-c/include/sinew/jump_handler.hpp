/// Callbacks for jumps of ROS time.
#ifndef SINEW_JUMP_HANDLER_HPP
#define SINEW_JUMP_HANDLER_HPP

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "sinew/context.hpp"
#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/duration.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"
#include "sinew/time.hpp"

namespace sinew
{

/// How the source of ROS time changed. The names are those of ROS 2's `rcl_clock_change_t`.
enum ClockChange : int
{
  /// ROS time was simulated or set before, and still is.
  RCL_ROS_TIME_NO_CHANGE = 1,
  /// ROS time is simulated or set from now on.
  RCL_ROS_TIME_ACTIVATED = 2,
  /// ROS time is system time from now on.
  RCL_ROS_TIME_DEACTIVATED = 3,
};

/// A signed number of nanoseconds, as ROS 2's `rcl_duration_t`.
struct JumpLength
{
  std::int64_t nanoseconds = 0;
};

/// A jump of ROS time, as ROS 2's `rcl_time_jump_t`.
struct TimeJump
{
  ClockChange clock_change = RCL_ROS_TIME_NO_CHANGE;
  /// The time after the jump, less that before.
  JumpLength delta;
};

/// The jumps that a handler gets, as ROS 2's `rcl_jump_threshold_t`. By default none.
struct JumpThreshold
{
  /// Whether changes of the source count, however far apart the times are.
  bool on_clock_change = false;
  /// The shortest jump forward that counts. 0: none.
  JumpLength min_forward;
  /// The shortest jump back that counts, a negative number. 0: none.
  JumpLength min_backward;
};

/// Callbacks for jumps of ROS time, until this is destroyed. Clocks make them:
/// `Clock::create_jump_callback`.
class JumpHandler
{
public:
  using SharedPtr = std::shared_ptr<JumpHandler>;
  using pre_callback_t = std::function<void ()>;
  using post_callback_t = std::function<void (const TimeJump &)>;

  static Result<SharedPtr> try_make(
    const Context::SharedPtr & context, pre_callback_t pre, post_callback_t post,
    const JumpThreshold & threshold)
  {
    auto settings = detail::options<sinew_jump_threshold>();
    settings.on_clock_change = threshold.on_clock_change ? SINEW_YES : SINEW_NO;
    settings.min_forward = threshold.min_forward.nanoseconds;
    const std::int64_t back =
      std::max(threshold.min_backward.nanoseconds, -Duration::max().nanoseconds());
    settings.min_backward = back < 0 ? -back : -1;
    Handle handle;
    const auto status = sinew_context_on_time_jump(
      context->handle(), &settings, &run,
      detail::context_of(Callbacks{std::move(pre), std::move(post)}),
      detail::drop_context<Callbacks>, detail::Out(handle));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return SharedPtr(new JumpHandler(std::move(handle)));
  }

private:
  using Handle = detail::Handle<sinew_jump_handler, sinew_jump_handler_free>;

  struct Callbacks
  {
    pre_callback_t pre;
    post_callback_t post;
  };

  explicit JumpHandler(Handle handle) noexcept
  : handle_(std::move(handle)) {}

  static ClockChange change_of(sinew_clock_change change) noexcept
  {
    switch (change) {
      case SINEW_CLOCK_ACTIVATED:
        return RCL_ROS_TIME_ACTIVATED;
      case SINEW_CLOCK_DEACTIVATED:
        return RCL_ROS_TIME_DEACTIVATED;
      default:
        return RCL_ROS_TIME_NO_CHANGE;
    }
  }

  static void run(void * context, const sinew_time_jump * jump) noexcept
  {
    const auto & callbacks = *static_cast<const Callbacks *>(context);
    if (callbacks.pre) {
      callbacks.pre();
    }
    if (callbacks.post) {
      callbacks.post(TimeJump{change_of(jump->change), {jump->after - jump->before}});
    }
  }

  Handle handle_;
};

}  // namespace sinew

#endif  // SINEW_JUMP_HANDLER_HPP
