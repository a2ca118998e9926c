// What the queries for a topic's and for a service's endpoints have in common.
#pragma once

#include <vector>

#include "rosidl_runtime_c/type_hash.h"

#include "check.hpp"
#include "graph.hpp"

namespace rmw_sinew {

inline void require_ok(rmw_ret_t ret)
{
  if (ret != RMW_RET_OK) {
    throw Failure{ret};
  }
}

inline rosidl_type_hash_t hash_of(const sinew_endpoint_info & endpoint)
{
  rosidl_type_hash_t hash = rosidl_get_zero_initialized_type_hash();
  if (endpoint.type_hash != nullptr &&
    rosidl_parse_type_hash_string(endpoint.type_hash, &hash) != RCUTILS_RET_OK)
  {
    // A hash of another version is unknown here, which zero says.
    rcutils_reset_error();
    hash = rosidl_get_zero_initialized_type_hash();
  }
  return hash;
}

/// Fills an array with the endpoints of a name and a kind.
///
/// `Functions` has rmw's for this array: `check_zero`, `init`, `fini`, and `fill` for an element.
template <class Functions, class Array>
rmw_ret_t collect_endpoints(
  const rmw_node_t * node, rcutils_allocator_t * allocator, const char * name,
  sinew_endpoint_kind kind, Array * filled)
{
  SINEW_CHECK_HANDLE(node);
  RCUTILS_CHECK_ALLOCATOR_WITH_MSG(
    allocator, "the allocator is invalid", return RMW_RET_INVALID_ARGUMENT);
  SINEW_CHECK_ARGUMENT(name);
  if (Functions::check_zero(filled) != RMW_RET_OK) {
    return RMW_RET_INVALID_ARGUMENT;
  }
  return guarded([&] {
    const Snapshot snapshot(node_of(*node));
    sinew_endpoint_filter filter{};
    filter.kind = kind;
    filter.name = name;
    std::vector<sinew_endpoint_info> endpoints;
    snapshot.for_each_endpoint(
      filter, [&](const sinew_endpoint_info & endpoint) {endpoints.push_back(endpoint);});
    require_ok(Functions::init(filled, endpoints.size(), allocator));
    try {
      for (std::size_t index = 0; index < endpoints.size(); ++index) {
        Functions::fill(endpoints[index], *allocator, filled->info_array[index]);
      }
    } catch (...) {
      if (Functions::fini(filled, allocator) != RMW_RET_OK) {
        rmw_reset_error(); // the first failure is the one to report
      }
      throw;
    }
    return RMW_RET_OK;
  });
}

}  // namespace rmw_sinew
