// The QoS of services and clients.
#pragma once

#include <rmw/types.h>
#include <sinew/sinew.h>

#include <cstdint>

namespace rmw_sinew {

/// The QoS that rcl asked for a service or a client.
///
/// Sinew delivers requests and responses reliably and in their order, keeps a request until it is
/// answered, and has no end that comes too late for one. So of a QoS only the history counts. The
/// other policies are checked and kept, since a program reads the QoS that it asked for back.
class ServiceQos {
public:
  /// Throws `Failure` if a policy has no valid value.
  explicit ServiceQos(const rmw_qos_profile_t & asked);

  /// What Sinew gets.
  const sinew_qos & of_sinew() const noexcept { return of_sinew_; }

  /// What was asked for, with a value for each policy that was left to the middleware.
  const rmw_qos_profile_t & profile() const noexcept { return profile_; }

  /// Whether more wait than the history keeps, so that the oldest has to give way.
  bool is_over_depth(std::uint64_t waiting) const noexcept
  {
    return of_sinew_.history != SINEW_HISTORY_KEEP_ALL && of_sinew_.depth != 0 &&
           waiting > of_sinew_.depth;
  }

private:
  sinew_qos of_sinew_;
  rmw_qos_profile_t profile_;
};

}  // namespace rmw_sinew
