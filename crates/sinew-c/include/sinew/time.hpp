/// Points of time of a clock.
#ifndef SINEW_TIME_HPP
#define SINEW_TIME_HPP

#include <cstdint>
#include <limits>
#include <stdexcept>

#include "sinew/detail/nanoseconds.hpp"
#include "sinew/duration.hpp"
#include "sinew/sinew.h"

namespace builtin_interfaces::msg
{
template<class ContainerAllocator>
struct Time_;
}  // namespace builtin_interfaces::msg

namespace sinew
{

/// The clocks that a time can be of. The names are those of ROS 2's `rcl_clock_type_t`.
enum ClockType : int
{
  RCL_CLOCK_UNINITIALIZED = SINEW_CLOCK_DEFAULT,
  /// Simulated time while that is used, else system time.
  RCL_ROS_TIME = SINEW_CLOCK_ROS,
  /// Time since 1970, which may jump.
  RCL_SYSTEM_TIME = SINEW_CLOCK_SYSTEM,
  /// Time that never jumps, since an unspecified moment.
  RCL_STEADY_TIME = SINEW_CLOCK_STEADY,
};

/// A point of time of one clock, in nanoseconds since its beginning. From and to messages:
///
///     message.header.stamp = node->now();
///     auto age = node->now() - message.header.stamp;
///
/// Times of different clocks can't be compared or subtracted: `std::runtime_error`. Arithmetic that
/// doesn't fit in 64 bits throws `std::overflow_error` or `std::underflow_error`.
class Time
{
public:
  /// Throws `std::runtime_error` if the seconds are negative.
  Time(std::int32_t seconds, std::uint32_t nanoseconds, ClockType clock_type = RCL_SYSTEM_TIME)
  : nanoseconds_(seconds * detail::nanoseconds_per_second + nanoseconds), clock_type_(clock_type)
  {
    if (seconds < 0) {
      detail::raise<std::runtime_error>("a time has negative seconds");
    }
  }

  explicit constexpr Time(
    std::int64_t nanoseconds = 0, ClockType clock_type = RCL_SYSTEM_TIME) noexcept
  : nanoseconds_(nanoseconds), clock_type_(clock_type) {}

  /// A `builtin_interfaces::msg::Time`, by default of ROS time. Throws `std::runtime_error` if its
  /// seconds are negative.
  template<class Allocator>
  Time(  // NOLINT(runtime/explicit)
    const builtin_interfaces::msg::Time_<Allocator> & message, ClockType clock_type = RCL_ROS_TIME)
  : Time(message.sec, message.nanosec, clock_type) {}

  /// The last time of a clock.
  static constexpr Time max(ClockType clock_type = RCL_SYSTEM_TIME) noexcept
  {
    return Time(std::numeric_limits<std::int64_t>::max(), clock_type);
  }

  constexpr std::int64_t nanoseconds() const noexcept {return nanoseconds_;}

  /// Has a resolution of about 200 ns for times of these years.
  constexpr double seconds() const noexcept {return static_cast<double>(nanoseconds_) / 1e9;}

  constexpr ClockType get_clock_type() const noexcept {return clock_type_;}

  /// A message has 32 bits for the seconds: a later time becomes the last one of a message.
  template<class Allocator>
  operator builtin_interfaces::msg::Time_<Allocator>() const
  {
    builtin_interfaces::msg::Time_<Allocator> message;
    detail::split(nanoseconds_, message);
    return message;
  }

  Time & operator+=(const Duration & duration) {return *this = *this + duration;}
  Time & operator-=(const Duration & duration) {return *this = *this - duration;}

  friend Time operator+(const Time & time, const Duration & duration)
  {
    return Time(detail::sum(time.nanoseconds_, duration.nanoseconds()), time.clock_type_);
  }
  friend Time operator+(const Duration & duration, const Time & time) {return time + duration;}
  friend Time operator-(const Time & time, const Duration & duration)
  {
    return Time(detail::difference(time.nanoseconds_, duration.nanoseconds()), time.clock_type_);
  }
  friend Duration operator-(const Time & one, const Time & other)
  {
    check_clocks(one, other);
    return Duration::from_nanoseconds(detail::difference(one.nanoseconds_, other.nanoseconds_));
  }

  // Members, and overloads for messages: these have an `operator==` of their own.
  bool operator==(const Time & other) const
  {
    check_clocks(*this, other);
    return nanoseconds_ == other.nanoseconds_;
  }
  bool operator!=(const Time & other) const {return !(*this == other);}
  template<class Allocator>
  bool operator==(const builtin_interfaces::msg::Time_<Allocator> & message) const
  {
    return *this == Time(message);
  }
  template<class Allocator>
  bool operator!=(const builtin_interfaces::msg::Time_<Allocator> & message) const
  {
    return !(*this == Time(message));
  }

  friend bool operator<(const Time & one, const Time & other)
  {
    check_clocks(one, other);
    return one.nanoseconds_ < other.nanoseconds_;
  }
  friend bool operator>(const Time & one, const Time & other) {return other < one;}
  friend bool operator<=(const Time & one, const Time & other) {return !(other < one);}
  friend bool operator>=(const Time & one, const Time & other) {return !(one < other);}

private:
  static void check_clocks(const Time & one, const Time & other)
  {
    if (one.clock_type_ != other.clock_type_) {
      detail::raise<std::runtime_error>("times of different clocks are compared or subtracted");
    }
  }

  std::int64_t nanoseconds_;
  ClockType clock_type_;
};

}  // namespace sinew

#endif  // SINEW_TIME_HPP
