/// Lengths of time.
#ifndef SINEW_DURATION_HPP
#define SINEW_DURATION_HPP

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "sinew/detail/nanoseconds.hpp"
#include "sinew/sinew.h"

namespace builtin_interfaces::msg
{
template<class ContainerAllocator>
struct Duration_;
}  // namespace builtin_interfaces::msg

namespace sinew
{

/// A length of time in nanoseconds, which may be negative. From and to `std::chrono`, and messages:
///
///     sinew::Duration timeout = 200ms;
///     marker.lifetime = sinew::Duration::from_seconds(0.5);
///
/// Arithmetic that doesn't fit in 64 bits throws `std::overflow_error` or `std::underflow_error`.
class Duration
{
public:
  /// Zero.
  constexpr Duration() noexcept = default;

  /// Seconds, and nanoseconds that are added to them also if the seconds are negative.
  constexpr Duration(std::int32_t seconds, std::uint32_t nanoseconds) noexcept
  : nanoseconds_(seconds * detail::nanoseconds_per_second + nanoseconds) {}

  /// A duration of `std::chrono`; what is less than a nanosecond is cut off.
  template<class Rep, class Period>
  constexpr Duration(
    const std::chrono::duration<Rep, Period> & duration)  // NOLINT(runtime/explicit)
  : nanoseconds_(std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count()) {}

  /// A `builtin_interfaces::msg::Duration`.
  template<class Allocator>
  Duration(
    const builtin_interfaces::msg::Duration_<Allocator> & message)  // NOLINT(runtime/explicit)
  : Duration(message.sec, message.nanosec) {}

  static constexpr Duration from_nanoseconds(std::int64_t nanoseconds) noexcept
  {
    return Duration(std::chrono::nanoseconds(nanoseconds));
  }

  /// Throws `std::overflow_error` or `std::underflow_error` for more than 292 years,
  /// `std::runtime_error` for what is not a number.
  static Duration from_seconds(double seconds)
  {
    return from_nanoseconds(detail::whole_nanoseconds(seconds * 1e9));
  }

  /// The longest duration, which stands for no limit.
  static constexpr Duration max() noexcept
  {
    return from_nanoseconds(std::numeric_limits<std::int64_t>::max());
  }

  constexpr std::int64_t nanoseconds() const noexcept {return nanoseconds_;}
  constexpr double seconds() const noexcept {return static_cast<double>(nanoseconds_) / 1e9;}

  /// Returns it as a duration of `std::chrono`: `to_chrono<std::chrono::milliseconds>()`.
  template<class ChronoDuration>
  constexpr ChronoDuration to_chrono() const
  {
    return std::chrono::duration_cast<ChronoDuration>(std::chrono::nanoseconds(nanoseconds_));
  }

  /// A message has 32 bits for the seconds: a longer duration becomes the longest of a message.
  template<class Allocator>
  operator builtin_interfaces::msg::Duration_<Allocator>() const
  {
    builtin_interfaces::msg::Duration_<Allocator> message;
    detail::split(nanoseconds_, message);
    return message;
  }

  Duration & operator+=(const Duration & other) {return *this = *this + other;}
  Duration & operator-=(const Duration & other) {return *this = *this - other;}
  Duration & operator*=(double scale) {return *this = *this * scale;}
  Duration & operator/=(double divisor) {return *this = *this / divisor;}

  friend Duration operator+(const Duration & one, const Duration & other)
  {
    return from_nanoseconds(detail::sum(one.nanoseconds_, other.nanoseconds_));
  }
  friend Duration operator-(const Duration & one, const Duration & other)
  {
    return from_nanoseconds(detail::difference(one.nanoseconds_, other.nanoseconds_));
  }
  friend Duration operator-(const Duration & one) {return Duration() - one;}

  /// Throws `std::runtime_error` if the scale is infinite or not a number.
  friend Duration operator*(const Duration & one, double scale)
  {
    if (!std::isfinite(scale)) {
      detail::raise<std::runtime_error>("a duration is scaled by what is not a finite number");
    }
    return from_nanoseconds(
      detail::whole_nanoseconds(
        static_cast<long double>(one.nanoseconds_) * static_cast<long double>(scale)));
  }
  friend Duration operator*(double scale, const Duration & one) {return one * scale;}

  /// Throws `std::runtime_error` if the divisor is zero, infinite or not a number.
  friend Duration operator/(const Duration & one, double divisor)
  {
    if (!std::isfinite(divisor) || std::fpclassify(divisor) == FP_ZERO) {
      detail::raise<std::runtime_error>("a duration is divided by zero or no finite number");
    }
    return from_nanoseconds(
      detail::whole_nanoseconds(
        static_cast<long double>(one.nanoseconds_) / static_cast<long double>(divisor)));
  }

  // Members, and overloads for messages: these have an `operator==` of their own.
  constexpr bool operator==(const Duration & other) const noexcept
  {
    return nanoseconds_ == other.nanoseconds_;
  }
  constexpr bool operator!=(const Duration & other) const noexcept {return !(*this == other);}
  template<class Allocator>
  bool operator==(const builtin_interfaces::msg::Duration_<Allocator> & message) const
  {
    return *this == Duration(message);
  }
  template<class Allocator>
  bool operator!=(const builtin_interfaces::msg::Duration_<Allocator> & message) const
  {
    return !(*this == Duration(message));
  }

  friend constexpr bool operator<(const Duration & one, const Duration & other) noexcept
  {
    return one.nanoseconds_ < other.nanoseconds_;
  }
  friend constexpr bool operator<=(const Duration & one, const Duration & other) noexcept
  {
    return one.nanoseconds_ <= other.nanoseconds_;
  }
  friend constexpr bool operator>(const Duration & one, const Duration & other) noexcept
  {
    return one.nanoseconds_ > other.nanoseconds_;
  }
  friend constexpr bool operator>=(const Duration & one, const Duration & other) noexcept
  {
    return one.nanoseconds_ >= other.nanoseconds_;
  }

private:
  std::int64_t nanoseconds_ = 0;
};

}  // namespace sinew

#endif  // SINEW_DURATION_HPP
