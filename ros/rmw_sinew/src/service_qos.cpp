#include "service_qos.hpp"

#include <rmw/qos_profiles.h>
#include <rmw/time.h>

#include "check.hpp"
#include "qos.hpp"

namespace rmw_sinew {
namespace {

bool is_best_available(const rmw_time_t & time)
{
  return duration_of(time) == SINEW_DURATION_BEST_AVAILABLE;
}

/// Services and clients find out nothing about each other before they choose: rmw has them take
/// the defaults of services instead.
rmw_qos_profile_t without_best_available(rmw_qos_profile_t profile)
{
  const rmw_qos_profile_t & services = rmw_qos_profile_services_default;
  if (profile.reliability == RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE) {
    profile.reliability = services.reliability;
  }
  if (profile.durability == RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE) {
    profile.durability = services.durability;
  }
  if (profile.liveliness == RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE) {
    profile.liveliness = services.liveliness;
  }
  if (is_best_available(profile.deadline)) {
    profile.deadline = services.deadline;
  }
  if (is_best_available(profile.liveliness_lease_duration)) {
    profile.liveliness_lease_duration = services.liveliness_lease_duration;
  }
  return profile;
}

}  // namespace

ServiceQos::ServiceQos(const rmw_qos_profile_t & asked)
: profile_(without_best_available(asked))
{
  const sinew_qos all = qos_of(profile_);
  require(sinew_qos_check_compatible(&all, &all)); // a policy without a valid value is refused
  of_sinew_ = *sinew_qos_services();
  of_sinew_.history = all.history;
  of_sinew_.depth = all.depth;
  if (profile_.history == RMW_QOS_POLICY_HISTORY_SYSTEM_DEFAULT) {
    profile_.history = RMW_QOS_POLICY_HISTORY_KEEP_LAST;
  }
  if (profile_.reliability == RMW_QOS_POLICY_RELIABILITY_SYSTEM_DEFAULT) {
    profile_.reliability = RMW_QOS_POLICY_RELIABILITY_RELIABLE;
  }
  if (profile_.durability == RMW_QOS_POLICY_DURABILITY_SYSTEM_DEFAULT) {
    profile_.durability = RMW_QOS_POLICY_DURABILITY_VOLATILE;
  }
  if (profile_.liveliness == RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT) {
    profile_.liveliness = RMW_QOS_POLICY_LIVELINESS_AUTOMATIC;
  }
  profile_.deadline = time_of(all.deadline);
  profile_.lifespan = time_of(all.lifespan);
  profile_.liveliness_lease_duration = time_of(all.lease);
}

}  // namespace rmw_sinew
