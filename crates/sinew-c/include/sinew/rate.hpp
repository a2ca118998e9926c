/// Rates: loops that run periodically. In an executor, a timer does that.
#ifndef SINEW_RATE_HPP
#define SINEW_RATE_HPP

#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include "sinew/clock.hpp"
#include "sinew/detail/raise.hpp"
#include "sinew/duration.hpp"
#include "sinew/time.hpp"

namespace sinew
{

/// Paces a loop of one thread:
///
///     sinew::WallRate rate(10.0);  // Hz
///     while (sinew::ok()) {
///       work();
///       rate.sleep();
///     }
class Rate
{
public:
  using SharedPtr = std::shared_ptr<Rate>;
  using UniquePtr = std::unique_ptr<Rate>;

  /// A rate in rounds per second of a clock, by default of system time. It begins now.
  /// Throws `std::invalid_argument` unless the frequency is positive.
  explicit Rate(
    double frequency, Clock::SharedPtr clock = std::make_shared<Clock>(RCL_SYSTEM_TIME))
  : Rate(period_of(frequency), std::move(clock)) {}

  /// A rate of one round per period. Throws `std::invalid_argument` unless it is positive.
  explicit Rate(
    const Duration & period, Clock::SharedPtr clock = std::make_shared<Clock>(RCL_SYSTEM_TIME))
  : period_(period), clock_(std::move(clock)), last_(clock_->now())
  {
    if (period_ <= Duration()) {
      detail::raise<std::invalid_argument>("the period of a rate is not positive");
    }
  }

  /// Sleeps until the next round is due. Returns false without a sleep if it was due already: a
  /// loop that is late by more than one period skips the rounds that it missed. The shutdown of the
  /// default context ends the sleep.
  bool sleep()
  {
    const Time now = clock_->now();
    if (now < last_) {  // the clock jumped back
      last_ = now;
    }
    last_ += period_;
    if (last_ <= now) {
      if (last_ + period_ < now) {
        last_ = now;
      }
      return false;
    }
    (void)clock_->sleep_until(last_);
    return true;
  }

  /// Begins again: the next round is due one period from now.
  void reset() {last_ = clock_->now();}

  Duration period() const noexcept {return period_;}

  ClockType get_type() const noexcept {return clock_->get_clock_type();}

private:
  static Duration period_of(double frequency)
  {
    if (!(frequency > 0.0) || !std::isfinite(frequency)) {
      detail::raise<std::invalid_argument>("the frequency of a rate is not positive and finite");
    }
    return Duration::from_seconds(1.0 / frequency);
  }

  Duration period_;
  Clock::SharedPtr clock_;
  /// The time at which the last round was due.
  Time last_;
};

/// A rate of steady time, which never jumps.
class WallRate : public Rate
{
public:
  explicit WallRate(double frequency)
  : Rate(frequency, std::make_shared<Clock>(RCL_STEADY_TIME)) {}
  explicit WallRate(const Duration & period)
  : Rate(period, std::make_shared<Clock>(RCL_STEADY_TIME)) {}
};

/// A rate of ROS time: `ROSRate rate(10.0, node->get_clock())`.
class ROSRate : public Rate
{
public:
  ROSRate(double frequency, Clock::SharedPtr clock)
  : Rate(frequency, std::move(clock)) {}
  ROSRate(const Duration & period, Clock::SharedPtr clock)
  : Rate(period, std::move(clock)) {}
};

}  // namespace sinew

#endif  // SINEW_RATE_HPP
