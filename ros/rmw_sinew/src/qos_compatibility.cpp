// Whether a publisher and a subscription with two profiles match.
#include <cstdio>

#include "rmw/qos_profiles.h"

#include "check.hpp"
#include "qos.hpp"

namespace rmw_sinew {
namespace {

/// Whether a profile leaves something open that decides whether the two match.
bool is_open(const rmw_qos_profile_t & profile)
{
  const auto reliability = profile.reliability;
  const auto durability = profile.durability;
  const auto liveliness = profile.liveliness;
  return reliability == RMW_QOS_POLICY_RELIABILITY_SYSTEM_DEFAULT ||
         reliability == RMW_QOS_POLICY_RELIABILITY_UNKNOWN ||
         durability == RMW_QOS_POLICY_DURABILITY_SYSTEM_DEFAULT ||
         durability == RMW_QOS_POLICY_DURABILITY_UNKNOWN ||
         liveliness == RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT ||
         liveliness == RMW_QOS_POLICY_LIVELINESS_UNKNOWN;
}

/// Returns a profile's QoS with defaults for what is unknown: the rest may still be a mismatch.
sinew_qos checkable(rmw_qos_profile_t profile)
{
  profile.history = RMW_QOS_POLICY_HISTORY_KEEP_LAST; // which has no part in it
  if (profile.reliability == RMW_QOS_POLICY_RELIABILITY_UNKNOWN) {
    profile.reliability = RMW_QOS_POLICY_RELIABILITY_SYSTEM_DEFAULT;
  }
  if (profile.durability == RMW_QOS_POLICY_DURABILITY_UNKNOWN) {
    profile.durability = RMW_QOS_POLICY_DURABILITY_SYSTEM_DEFAULT;
  }
  if (profile.liveliness == RMW_QOS_POLICY_LIVELINESS_UNKNOWN) {
    profile.liveliness = RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT;
  }
  return qos_of(profile);
}

}  // namespace
}  // namespace rmw_sinew

using namespace rmw_sinew; // of this file's functions, which are rmw's

extern "C" {

rmw_ret_t rmw_qos_profile_check_compatible(
  const rmw_qos_profile_t publisher_profile, const rmw_qos_profile_t subscription_profile,
  rmw_qos_compatibility_type_t * compatibility, char * reason, size_t reason_size)
{
  SINEW_CHECK_ARGUMENT(compatibility);
  if (reason == nullptr && reason_size != 0) {
    return fail(RMW_RET_INVALID_ARGUMENT, "reason is null, but its size is not 0");
  }
  return guarded([&] {
    const auto explain = [&](const char * kind, const char * sentence) {
      if (reason != nullptr) {
        std::snprintf(reason, reason_size, "%s: %s;", kind, sentence); // as far as there is room
      }
    };
    if (reason != nullptr && reason_size != 0) {
      reason[0] = '\0';
    }
    *compatibility = RMW_QOS_COMPATIBILITY_OK;
    const sinew_qos offered = checkable(publisher_profile);
    const sinew_qos requested = checkable(subscription_profile);
    const sinew_status status = sinew_qos_check_compatible(&offered, &requested);
    if (status == SINEW_ERROR_INVALID_QOS) {
      *compatibility = RMW_QOS_COMPATIBILITY_ERROR;
      explain("ERROR", sinew_error_message());
    } else if (status != SINEW_OK) {
      return result(status);
    } else if (is_open(publisher_profile) || is_open(subscription_profile)) {
      *compatibility = RMW_QOS_COMPATIBILITY_WARNING;
      explain("WARNING", "a policy is system default or unknown, and may turn out incompatible");
    }
    return RMW_RET_OK;
  });
}

}  // extern "C"
