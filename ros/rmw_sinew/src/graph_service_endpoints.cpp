// The endpoints of a service, with everything that is known about them: from Lyrical on.
#include "version.hpp"

#if RMW_VERSION_GTE(7, 9, 1)
#include "rmw/get_service_endpoint_info.h"

#include "endpoint_info.hpp"
#include "qos.hpp"

namespace rmw_sinew {
namespace {

struct ServiceEndpoints {
  static constexpr auto check_zero = rmw_service_endpoint_info_array_check_zero;
  static constexpr auto init = rmw_service_endpoint_info_array_init_with_size;
  static constexpr auto fini = rmw_service_endpoint_info_array_fini;

  static void fill(
    const sinew_endpoint_info & endpoint, rcutils_allocator_t & allocator,
    rmw_service_endpoint_info_t & filled)
  {
    const SplitName node = split_name(endpoint.node_name);
    require_ok(rmw_service_endpoint_info_set_node_name(&filled, node.name.c_str(), &allocator));
    require_ok(rmw_service_endpoint_info_set_node_namespace(
        &filled, node.node_namespace.c_str(), &allocator));
    require_ok(rmw_service_endpoint_info_set_service_type(&filled, endpoint.type_name, &allocator));
    const rosidl_type_hash_t hash = hash_of(endpoint);
    require_ok(rmw_service_endpoint_info_set_service_type_hash(&filled, &hash));
    require_ok(rmw_service_endpoint_info_set_endpoint_type(
        &filled, endpoint.kind == SINEW_ENDPOINT_CLIENT ?
        RMW_ENDPOINT_CLIENT : RMW_ENDPOINT_SERVER));
    // A client or a server is one endpoint, not a reader and a writer.
    require_ok(rmw_service_endpoint_info_set_endpoint_count(&filled, 1));
    require_ok(rmw_service_endpoint_info_set_gids(
        &filled, endpoint.gid.bytes, 1, sizeof endpoint.gid.bytes, &allocator));
    const rmw_qos_profile_t profile = profile_of(*endpoint.qos);
    require_ok(rmw_service_endpoint_info_set_qos_profiles(&filled, &profile, 1, &allocator));
  }
};

}  // namespace
}  // namespace rmw_sinew

using namespace rmw_sinew; // of this file's functions, which are rmw's

extern "C" {

rmw_ret_t rmw_get_clients_info_by_service(
  const rmw_node_t * node, rcutils_allocator_t * allocator, const char * service_name,
  bool, rmw_service_endpoint_info_array_t * clients_info)
{
  return collect_endpoints<ServiceEndpoints>(
    node, allocator, service_name, SINEW_ENDPOINT_CLIENT, clients_info);
}

rmw_ret_t rmw_get_servers_info_by_service(
  const rmw_node_t * node, rcutils_allocator_t * allocator, const char * service_name,
  bool, rmw_service_endpoint_info_array_t * servers_info)
{
  return collect_endpoints<ServiceEndpoints>(
    node, allocator, service_name, SINEW_ENDPOINT_SERVER, servers_info);
}

}  // extern "C"
#endif
