// The endpoints of a topic, with everything that is known about them.
#include <vector>

#include "rmw/get_topic_endpoint_info.h"
#include "rosidl_runtime_c/type_hash.h"

#include "check.hpp"
#include "graph.hpp"
#include "qos.hpp"

namespace rmw_sinew {
namespace {

void require_ok(rmw_ret_t ret)
{
  if (ret != RMW_RET_OK) {
    throw Failure{ret};
  }
}

rosidl_type_hash_t hash_of(const sinew_endpoint_info & endpoint)
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

void fill(
  const sinew_endpoint_info & endpoint, rcutils_allocator_t & allocator,
  rmw_topic_endpoint_info_t & filled)
{
  const SplitName node = split_name(endpoint.node_name);
  require_ok(rmw_topic_endpoint_info_set_node_name(&filled, node.name.c_str(), &allocator));
  require_ok(rmw_topic_endpoint_info_set_node_namespace(
      &filled, node.node_namespace.c_str(), &allocator));
  require_ok(rmw_topic_endpoint_info_set_topic_type(&filled, endpoint.type_name, &allocator));
  const rosidl_type_hash_t hash = hash_of(endpoint);
  require_ok(rmw_topic_endpoint_info_set_topic_type_hash(&filled, &hash));
  require_ok(rmw_topic_endpoint_info_set_endpoint_type(
      &filled, endpoint.kind == SINEW_ENDPOINT_PUBLISHER ?
      RMW_ENDPOINT_PUBLISHER : RMW_ENDPOINT_SUBSCRIPTION));
  require_ok(rmw_topic_endpoint_info_set_gid(
      &filled, endpoint.gid.bytes, sizeof endpoint.gid.bytes));
  const rmw_qos_profile_t profile = profile_of(*endpoint.qos);
  require_ok(rmw_topic_endpoint_info_set_qos_profile(&filled, &profile));
}

rmw_ret_t collect(
  const Node & node, rcutils_allocator_t & allocator, const char * topic,
  sinew_endpoint_kind kind, rmw_topic_endpoint_info_array_t & filled)
{
  const Snapshot snapshot(node);
  sinew_endpoint_filter filter{};
  filter.kind = kind;
  filter.name = topic;
  std::vector<sinew_endpoint_info> endpoints;
  snapshot.for_each_endpoint(
    filter, [&](const sinew_endpoint_info & endpoint) {endpoints.push_back(endpoint);});
  require_ok(rmw_topic_endpoint_info_array_init_with_size(&filled, endpoints.size(), &allocator));
  try {
    for (std::size_t index = 0; index < endpoints.size(); ++index) {
      fill(endpoints[index], allocator, filled.info_array[index]);
    }
  } catch (...) {
    if (rmw_topic_endpoint_info_array_fini(&filled, &allocator) != RMW_RET_OK) {
      rmw_reset_error(); // the first failure is the one to report
    }
    throw;
  }
  return RMW_RET_OK;
}

rmw_ret_t checked_collect(
  const rmw_node_t * node, rcutils_allocator_t * allocator, const char * topic,
  sinew_endpoint_kind kind, rmw_topic_endpoint_info_array_t * filled)
{
  SINEW_CHECK_HANDLE(node);
  RCUTILS_CHECK_ALLOCATOR_WITH_MSG(
    allocator, "the allocator is invalid", return RMW_RET_INVALID_ARGUMENT);
  SINEW_CHECK_ARGUMENT(topic);
  if (rmw_topic_endpoint_info_array_check_zero(filled) != RMW_RET_OK) {
    return RMW_RET_INVALID_ARGUMENT;
  }
  return guarded([&] {
    return collect(node_of(*node), *allocator, topic, kind, *filled);
  });
}

}  // namespace
}  // namespace rmw_sinew

using namespace rmw_sinew; // of this file's functions, which are rmw's

// Names are on the wire as they are in rmw, so `no_mangle` changes nothing.
extern "C" {

rmw_ret_t rmw_get_publishers_info_by_topic(
  const rmw_node_t * node, rcutils_allocator_t * allocator, const char * topic_name,
  bool, rmw_topic_endpoint_info_array_t * publishers_info)
{
  return checked_collect(
    node, allocator, topic_name, SINEW_ENDPOINT_PUBLISHER, publishers_info);
}

rmw_ret_t rmw_get_subscriptions_info_by_topic(
  const rmw_node_t * node, rcutils_allocator_t * allocator, const char * topic_name,
  bool, rmw_topic_endpoint_info_array_t * subscriptions_info)
{
  return checked_collect(
    node, allocator, topic_name, SINEW_ENDPOINT_SUBSCRIPTION, subscriptions_info);
}

}  // extern "C"
