/// Timers: callbacks that run periodically.
#ifndef SINEW_TIMER_HPP
#define SINEW_TIMER_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "sinew/callback_group.hpp"
#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/detail/nanoseconds.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"
#include "sinew/time.hpp"

namespace sinew
{

/// What the callback of a timer may ask for: when it was due, and when it was called, in the time
/// of the timer's clock.
struct TimerInfo
{
  Time expected_call_time;
  Time actual_call_time;
  /// The number of later due times that have passed as well, and are skipped.
  std::uint64_t skipped;
};

/// A timer: an executor runs its callback periodically. Nodes make them: `Node::create_wall_timer`.
///
/// Its destruction ends it. The destructor waits for a callback that is running on another thread,
/// so none runs after it; in its own callback it doesn't wait, and the function object lives until
/// the callback returns.
class TimerBase
{
public:
  using SharedPtr = std::shared_ptr<TimerBase>;
  using ConstSharedPtr = std::shared_ptr<const TimerBase>;
  using WeakPtr = std::weak_ptr<TimerBase>;
  using UniquePtr = std::unique_ptr<TimerBase>;

  virtual ~TimerBase()
  {
    if (handle_) {
      (void)sinew_timer_close(handle());
    }
  }
  TimerBase(const TimerBase &) = delete;
  TimerBase & operator=(const TimerBase &) = delete;

  /// Stops it until `reset`.
  void cancel() {detail::check(sinew_timer_cancel(handle()));}

  /// Starts it again: it is due one period from now.
  void reset() {detail::check(sinew_timer_reset(handle()));}

  bool is_canceled() const noexcept {return sinew_timer_is_cancelled(handle());}

  /// Whether it is due.
  bool is_ready() const noexcept {return sinew_timer_time_until_next(handle()) == 0;}

  /// Returns the time of its clock until it is due; `nanoseconds::max()` if it is cancelled.
  std::chrono::nanoseconds time_until_trigger() const noexcept
  {
    const auto left = sinew_timer_time_until_next(handle());
    return left < 0 ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds(left);
  }

  std::chrono::nanoseconds period() const noexcept
  {
    return std::chrono::nanoseconds(sinew_timer_period(handle()));
  }

  /// Returns the number of periods that it has skipped because it couldn't keep up.
  std::uint64_t skipped() const noexcept {return sinew_timer_skipped(handle());}

  /// The clock that it follows now: a timer of ROS time follows steady time while none is
  /// simulated.
  ClockType get_clock_type() const noexcept
  {
    return static_cast<ClockType>(sinew_timer_clock(handle()));
  }

  bool is_steady() const noexcept {return get_clock_type() == RCL_STEADY_TIME;}

  /// The handle of the C interface.
  sinew_timer * handle() const noexcept {return handle_.get();}

protected:
  TimerBase() = default;

  /// Makes the timer, which calls `callback` with `context`. It starts once the handle is here,
  /// since the callback may use it.
  Result<void> open(
    const sinew_node * node, std::int64_t period, ClockType clock,
    const CallbackGroup::SharedPtr & group,
    bool autostart, sinew_timer_callback callback, void * context, sinew_drop drop_context)
  {
    auto settings = detail::options<sinew_timer_options>();
    settings.group = detail::handle_of(group);
    // Without simulated time ROS time is the wall clock, which a timer should not follow.
    settings.clock =
      clock == RCL_ROS_TIME ? SINEW_CLOCK_DEFAULT : static_cast<sinew_clock_kind>(clock);
    settings.autostart = SINEW_NO;
    const auto made = sinew_timer_new(
      node, period == 0 ? 1 : period, &settings, callback, context, drop_context,
      detail::Out(handle_));
    if (made != SINEW_OK || !autostart) {
      return detail::result(made);
    }
    return detail::result(sinew_timer_reset(handle()));
  }

private:
  detail::Handle<sinew_timer, sinew_timer_free> handle_;
};

/// A timer with its callback: a function object that takes nothing, a `TimerBase &`, or a
/// `const TimerInfo &`. An exception of it ends the spin, which throws it.
template<class F>
class GenericTimer : public TimerBase
{
public:
  using SharedPtr = std::shared_ptr<GenericTimer>;

  /// Makes a timer of a node's clock. The period may be zero: then it is due whenever it has run.
  template<class Rep, class Period>
  static Result<SharedPtr> try_make(
    const sinew_node * node, const std::chrono::duration<Rep, Period> & period, F callback,
    ClockType clock, const CallbackGroup::SharedPtr & group = nullptr, bool autostart = true)
  {
    return opened(
      SharedPtr(new GenericTimer), node, detail::saturated(period), std::move(callback), clock,
      group,
      autostart);
  }

protected:
  GenericTimer() = default;

  template<class Timer>
  static Result<std::shared_ptr<Timer>> opened(
    std::shared_ptr<Timer> timer, const sinew_node * node, std::int64_t period, F callback,
    ClockType clock,
    const CallbackGroup::SharedPtr & group, bool autostart)
  {
    GenericTimer & base = *timer;
    auto made = base.open(
      node, period, clock, group, autostart, &run,
      detail::context_of(Callback{std::move(callback), std::weak_ptr<GenericTimer>(timer), clock}),
      detail::drop_context<Callback>);
    if (!made) {
      return made.error();
    }
    return timer;
  }

private:
  struct Callback
  {
    F function;
    std::weak_ptr<GenericTimer> timer;
    ClockType clock;
  };

  static sinew_status run(void * context, const sinew_timer_info * info)
  {
    auto & callback = *static_cast<Callback *>(context);
    return detail::guarded(
      [&] {
        if constexpr (std::is_invocable_v<F &>) {
          std::invoke(callback.function);
        } else if constexpr (std::is_invocable_v<F &, TimerBase &>) {
          // The callback may destroy the timer, and use its argument after that.
          if (const auto timer = callback.timer.lock()) {
            std::invoke(callback.function, static_cast<TimerBase &>(*timer));
          }
        } else {
          static_assert(
            std::is_invocable_v<F &, const TimerInfo &>,
            "the callback of a timer takes nothing, a TimerBase &, or a const TimerInfo &");
          const ClockType clock = callback.clock;
          const TimerInfo timing{
            Time(sinew_timer_info_due(info), clock), Time(sinew_timer_info_actual(info), clock),
            sinew_timer_info_skipped(info)};
          std::invoke(callback.function, timing);
        }
      });
  }
};

/// A timer of steady time.
template<class F>
class WallTimer : public GenericTimer<F>
{
public:
  using SharedPtr = std::shared_ptr<WallTimer>;

  template<class Rep, class Period>
  static Result<SharedPtr> try_make(
    const sinew_node * node, const std::chrono::duration<Rep, Period> & period, F callback,
    const CallbackGroup::SharedPtr & group = nullptr, bool autostart = true)
  {
    return GenericTimer<F>::opened(
      SharedPtr(new WallTimer), node, detail::saturated(period), std::move(callback),
      RCL_STEADY_TIME,
      group, autostart);
  }

private:
  WallTimer() = default;
};

}  // namespace sinew

#endif  // SINEW_TIMER_HPP
