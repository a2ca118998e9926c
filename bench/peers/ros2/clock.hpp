// The clock of all stamps, and waiting for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

inline std::int64_t now_ns()
{
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline void sleep_until_ns(std::int64_t time)
{
  const std::chrono::steady_clock::time_point until{
    std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::nanoseconds(time))};
  std::this_thread::sleep_until(until);
}

inline void sleep_seconds(double seconds)
{
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// Asks `is_done` every few milliseconds. Returns false if `patience` seconds passed before.
template<class Done>
bool wait_for(Done is_done, double patience = 15, double between = 0.002)
{
  const std::int64_t end = now_ns() + static_cast<std::int64_t>(patience * 1e9);
  while (!is_done()) {
    if (now_ns() > end) {
      return false;
    }
    sleep_seconds(between);
  }
  return true;
}

/// Waits until `received` returns `count`, or has not grown for two seconds.
template<class Received>
void await_all(std::int64_t count, Received received)
{
  for (std::int64_t before = -1; received() < count && received() > before; ) {
    before = received();
    wait_for([&] {return received() >= count;}, 2);
  }
}

/// The period of a rate a second.
inline std::chrono::nanoseconds period_of(double rate)
{
  return std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / rate));
}
