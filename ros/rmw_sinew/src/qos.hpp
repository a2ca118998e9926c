// The QoS and durations of rmw and of Sinew. The numbers of the policies are the same on both
// sides, so only durations need a conversion. What Sinew doesn't know, such as an unknown policy,
// it refuses.
#pragma once

#include <rmw/time.h>
#include <rmw/types.h>
#include <sinew/sinew.h>

#include <cstdint>

namespace rmw_sinew {

/// Unspecified and infinite: no limit. Best available has the same number on both sides.
inline sinew_duration duration_of(const rmw_time_t & time)
{
  const rmw_duration_t nanoseconds = rmw_time_total_nsec(time);
  return nanoseconds == INT64_MAX ? 0 : nanoseconds;
}

/// As a timeout: infinite is for ever, zero doesn't wait.
inline sinew_duration timeout_of(const rmw_time_t & time)
{
  const rmw_duration_t nanoseconds = rmw_time_total_nsec(time);
  return nanoseconds == INT64_MAX ? -1 : nanoseconds;
}

/// No limit: infinite.
inline rmw_time_t time_of(sinew_duration duration)
{
  return duration > 0 ? rmw_time_from_nsec(duration) : rmw_time_t RMW_DURATION_INFINITE;
}

inline sinew_qos qos_of(const rmw_qos_profile_t & profile)
{
  sinew_qos qos{};
  qos.size = sizeof(qos);
  qos.history = static_cast<sinew_history>(profile.history);
  qos.reliability = static_cast<sinew_reliability>(profile.reliability);
  qos.durability = static_cast<sinew_durability>(profile.durability);
  qos.liveliness = static_cast<sinew_liveliness>(profile.liveliness);
  qos.depth = profile.depth;
  qos.deadline = duration_of(profile.deadline);
  qos.lifespan = duration_of(profile.lifespan);
  qos.lease = duration_of(profile.liveliness_lease_duration);
  return qos;
}

inline rmw_qos_profile_t profile_of(const sinew_qos & qos)
{
  rmw_qos_profile_t profile{};
  profile.history = static_cast<rmw_qos_history_policy_t>(qos.history);
  profile.depth = qos.depth;
  profile.reliability = static_cast<rmw_qos_reliability_policy_t>(qos.reliability);
  profile.durability = static_cast<rmw_qos_durability_policy_t>(qos.durability);
  profile.deadline = time_of(qos.deadline);
  profile.lifespan = time_of(qos.lifespan);
  profile.liveliness = static_cast<rmw_qos_liveliness_policy_t>(qos.liveliness);
  profile.liveliness_lease_duration = time_of(qos.lease);
  return profile;
}

}  // namespace rmw_sinew
