/// Arithmetic with nanoseconds that never wraps around.
#ifndef SINEW_DETAIL_NANOSECONDS_HPP
#define SINEW_DETAIL_NANOSECONDS_HPP

#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "sinew/detail/raise.hpp"

namespace sinew::detail
{

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;

/// Returns the sum. Throws `std::overflow_error` or `std::underflow_error` if it has no place in 64
/// bits.
inline std::int64_t sum(std::int64_t one, std::int64_t other)
{
  using Limits = std::numeric_limits<std::int64_t>;
  if (other > 0 && one > Limits::max() - other) {
    raise<std::overflow_error>("the sum of times is greater than 2^63 - 1 ns");
  }
  if (other < 0 && one < Limits::min() - other) {
    raise<std::underflow_error>("the sum of times is less than -2^63 ns");
  }
  return one + other;
}

/// Returns the difference, as `sum`.
inline std::int64_t difference(std::int64_t one, std::int64_t other)
{
  using Limits = std::numeric_limits<std::int64_t>;
  if (other < 0 && one > Limits::max() + other) {
    raise<std::overflow_error>("the difference of times is greater than 2^63 - 1 ns");
  }
  if (other > 0 && one < Limits::min() + other) {
    raise<std::underflow_error>("the difference of times is less than -2^63 ns");
  }
  return one - other;
}

/// Returns whole nanoseconds, the fraction cut off. Throws `std::overflow_error` or
/// `std::underflow_error` if they have no place in 64 bits, `std::runtime_error` if they are no
/// number.
inline std::int64_t whole_nanoseconds(long double nanoseconds)
{
  constexpr long double limit = 9223372036854775808.0L;  // 2^63
  if (nanoseconds >= limit) {
    raise<std::overflow_error>("a duration is greater than 2^63 - 1 ns");
  }
  if (nanoseconds < -limit) {
    raise<std::underflow_error>("a duration is less than -2^63 ns");
  }
  if (!(nanoseconds == nanoseconds)) {
    raise<std::runtime_error>("a duration is not a number");
  }
  return static_cast<std::int64_t>(nanoseconds);
}

/// Returns a duration of `std::chrono` in nanoseconds: what is out of range becomes the nearest
/// value in it.
template<class Rep, class Period>
constexpr std::int64_t saturated(const std::chrono::duration<Rep, Period> & duration)
{
  using Limits = std::numeric_limits<std::int64_t>;
  using Wide = std::chrono::duration<long double, std::nano>;
  const long double wide = std::chrono::duration_cast<Wide>(duration).count();
  if (wide >= 9223372036854775808.0L) {  // 2^63
    return Limits::max();
  }
  if (wide < -9223372036854775808.0L) {
    return Limits::min();
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

/// Writes nanoseconds as the seconds and nanoseconds of a message, which has 32 bits for the
/// seconds: what is out of range becomes the nearest value in it.
template<class Message>
void split(std::int64_t nanoseconds, Message & message)
{
  using Limits = std::numeric_limits<std::int32_t>;
  std::int64_t seconds = nanoseconds / nanoseconds_per_second;
  std::int64_t rest = nanoseconds % nanoseconds_per_second;
  if (rest < 0) {
    seconds -= 1;
    rest += nanoseconds_per_second;
  }
  if (seconds > Limits::max()) {
    seconds = Limits::max();
    rest = nanoseconds_per_second - 1;
  } else if (seconds < Limits::min()) {
    seconds = Limits::min();
    rest = 0;
  }
  message.sec = static_cast<std::int32_t>(seconds);
  message.nanosec = static_cast<std::uint32_t>(rest);
}

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_NANOSECONDS_HPP
