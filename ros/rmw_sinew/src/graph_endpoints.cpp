// The endpoints of a topic, with everything that is known about them.
#include "rmw/get_topic_endpoint_info.h"

#include "endpoint_info.hpp"
#include "qos.hpp"

namespace rmw_sinew {
namespace {

struct TopicEndpoints {
  static constexpr auto check_zero = rmw_topic_endpoint_info_array_check_zero;
  static constexpr auto init = rmw_topic_endpoint_info_array_init_with_size;
  static constexpr auto fini = rmw_topic_endpoint_info_array_fini;

  static void fill(
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
};

}  // namespace
}  // namespace rmw_sinew

using namespace rmw_sinew; // of this file's functions, which are rmw's

// Names are on the wire as they are in rmw, so `no_mangle` changes nothing.
extern "C" {

rmw_ret_t rmw_get_publishers_info_by_topic(
  const rmw_node_t * node, rcutils_allocator_t * allocator, const char * topic_name,
  bool, rmw_topic_endpoint_info_array_t * publishers_info)
{
  return collect_endpoints<TopicEndpoints>(
    node, allocator, topic_name, SINEW_ENDPOINT_PUBLISHER, publishers_info);
}

rmw_ret_t rmw_get_subscriptions_info_by_topic(
  const rmw_node_t * node, rcutils_allocator_t * allocator, const char * topic_name,
  bool, rmw_topic_endpoint_info_array_t * subscriptions_info)
{
  return collect_endpoints<TopicEndpoints>(
    node, allocator, topic_name, SINEW_ENDPOINT_SUBSCRIPTION, subscriptions_info);
}

}  // extern "C"
