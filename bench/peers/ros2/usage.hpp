// CPU time and memory of this process.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

#include "clock.hpp"

/// Returns the CPU time of all threads of this process, in nanoseconds.
inline std::int64_t cpu_ns()
{
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval & time) {
      return (std::int64_t{time.tv_sec} * 1000000 + time.tv_usec) * 1000;
    };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

/// Returns the resident memory of this process, in bytes.
inline std::int64_t rss_bytes()
{
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// The resources of a span of time.
struct Usage
{
  std::int64_t time_ns = 0;
  std::int64_t cpu = 0;
  std::int64_t rss = 0;

  double cpu_percent() const
  {
    return time_ns == 0 ? 0 : 100 * static_cast<double>(cpu) / static_cast<double>(time_ns);
  }
};

/// Measures the resources of this process from its construction.
class Meter
{
public:
  Usage usage() const {return {now_ns() - start_, cpu_ns() - cpu_, rss_bytes()};}

private:
  std::int64_t start_ = now_ns();
  std::int64_t cpu_ = cpu_ns();
};
