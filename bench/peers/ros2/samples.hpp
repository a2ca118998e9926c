// Times, and the order in which messages came.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// Times in nanoseconds.
class Samples
{
public:
  Samples() = default;
  explicit Samples(std::vector<std::int64_t> times)
  : times_(std::move(times)) {}

  void reserve(std::size_t count) {times_.reserve(count);}
  void record(std::int64_t time) {times_.push_back(time);}
  std::size_t count() const {return times_.size();}
  const std::vector<std::int64_t> & times() const {return times_;}

  /// Returns the time that this percentage of all times doesn't exceed; there must be one.
  double percentile(double percent) const
  {
    std::vector<std::int64_t> sorted = times_;
    const auto rank = static_cast<std::size_t>(percent / 100 * static_cast<double>(sorted.size()));
    const auto place = sorted.begin() +
      static_cast<std::ptrdiff_t>(std::min(rank, sorted.size() - 1));
    std::nth_element(sorted.begin(), place, sorted.end());
    return static_cast<double>(*place);
  }

private:
  std::vector<std::int64_t> times_;
};

/// The messages that came from a publisher, which numbers them from 1. Those up to `warm_up` have
/// no sample.
struct Arrivals
{
  std::int64_t warm_up = 0;
  std::int64_t received = 0;
  std::int64_t reordered = 0;
  std::int64_t last = 0;
  Samples samples;

  void note(std::int64_t number, std::int64_t time)
  {
    ++received;
    reordered += number <= last ? 1 : 0;
    last = std::max(last, number);
    if (number > warm_up) {
      samples.record(time);
    }
  }
};
