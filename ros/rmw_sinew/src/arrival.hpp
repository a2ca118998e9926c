// When something arrived.
#pragma once

#include <rmw/types.h>
#include <sinew/sinew.h>

#include <algorithm>

namespace rmw_sinew {

/// Returns the wall time at which a message, request or response arrived at this host: for those of
/// this host the time of its publication, since it lies in shared memory from then on. Sinew's
/// reception is the take, which may be much later; its latency begins at the arrival.
///
/// What is taken arrived at most `age` ago.
template <class Info>
rmw_time_point_value_t arrival_of(const Info & info, sinew_duration age)
{
  const auto arrival = info.reception_time - std::min(info.latency, age);
  // Each wall time is derived from steady time with what is known then of their difference.
  return std::min(std::max(arrival, info.source_time), info.reception_time);
}

/// The same of a call.
template <class Info>
rmw_time_point_value_t arrival_of(const Info & info)
{
  return arrival_of(info, info.latency);
}

}  // namespace rmw_sinew
