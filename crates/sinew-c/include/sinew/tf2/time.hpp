/// Times of tf2.
#ifndef SINEW_TF2_TIME_HPP
#define SINEW_TF2_TIME_HPP

#include <chrono>
#include <cstdint>
#include <string>

#include "sinew/detail/nanoseconds.hpp"

namespace tf2
{

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::system_clock, Duration>;
using IDuration = std::chrono::duration<int, std::nano>;

/// The latest time at which there is a transform.
constexpr TimePoint TimePointZero = TimePoint(IDuration::zero());

inline TimePoint get_now()
{
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

/// Throws `std::overflow_error` or `std::underflow_error` for more than 292 years.
inline Duration durationFromSec(double seconds)
{
  return Duration(sinew::detail::whole_nanoseconds(static_cast<long double>(seconds) * 1e9L));
}
inline TimePoint timeFromSec(double seconds) {return TimePoint(durationFromSec(seconds));}

inline double durationToSec(const Duration & duration)
{
  return std::chrono::duration<double>(duration).count();
}
inline double timeToSec(const TimePoint & time) {return durationToSec(time.time_since_epoch());}

inline std::string displayTimePoint(const TimePoint & time)
{
  return std::to_string(timeToSec(time));
}

}  // namespace tf2

#endif  // SINEW_TF2_TIME_HPP
