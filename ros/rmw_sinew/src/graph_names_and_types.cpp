// Names with their types, of the whole graph or of one node.
#include <cstring>
#include <initializer_list>
#include <map>
#include <set>
#include <string>

#include "rcutils/strdup.h"
#include "rcutils/types/string_array.h"
#include "rmw/get_node_info_and_types.h"
#include "rmw/get_service_names_and_types.h"
#include "rmw/get_topic_names_and_types.h"

#include "check.hpp"
#include "graph.hpp"

namespace rmw_sinew {
namespace {

using Types = std::map<std::string, std::set<std::string>>;

char * copy_text(const std::string & text, const rcutils_allocator_t & allocator)
{
  char * copy = rcutils_strdup(text.c_str(), allocator);
  if (copy == nullptr) {
    throw std::bad_alloc();
  }
  return copy;
}

void fill_types(
  const std::set<std::string> & types, const rcutils_allocator_t & allocator,
  rcutils_string_array_t & filled)
{
  if (rcutils_string_array_init(&filled, types.size(), &allocator) != RCUTILS_RET_OK) {
    throw Failure{RMW_RET_BAD_ALLOC};
  }
  std::size_t index = 0;
  for (const std::string & type : types) {
    filled.data[index++] = copy_text(type, allocator);
  }
}

rmw_ret_t fill(
  const Types & types, rcutils_allocator_t & allocator, rmw_names_and_types_t & filled)
{
  const rmw_ret_t ret = rmw_names_and_types_init(&filled, types.size(), &allocator);
  if (ret != RMW_RET_OK) {
    return ret;
  }
  try {
    std::size_t index = 0;
    for (const auto & entry : types) {
      filled.names.data[index] = copy_text(entry.first, allocator);
      fill_types(entry.second, allocator, filled.types[index]);
      ++index;
    }
  } catch (...) {
    if (rmw_names_and_types_fini(&filled) != RMW_RET_OK) {
      rmw_reset_error(); // the first failure is the one to report
    }
    throw;
  }
  return RMW_RET_OK;
}

/// Which endpoints are wanted: kinds, and the node or all nodes.
struct Wanted {
  std::initializer_list<sinew_endpoint_kind> kinds;
  const char * node_name;
  const char * node_namespace;
};

rmw_ret_t collect(
  const rmw_node_t & node, rcutils_allocator_t & allocator, const Wanted & wanted,
  rmw_names_and_types_t & filled)
{
  std::string full_name;
  const bool is_by_node = wanted.node_name != nullptr;
  if (is_by_node) {
    require_node_name(wanted.node_name, wanted.node_namespace);
    full_name = join_name(wanted.node_namespace, wanted.node_name);
  }
  const Snapshot snapshot(node_of(node));
  if (is_by_node && !snapshot.has_node(full_name)) {
    return fail(RMW_RET_NODE_NAME_NON_EXISTENT, "the graph has no node with this name");
  }
  Types types;
  for (const sinew_endpoint_kind kind : wanted.kinds) {
    sinew_endpoint_filter filter{};
    filter.kind = kind;
    filter.node_name = is_by_node ? full_name.c_str() : nullptr;
    snapshot.for_each_endpoint(filter, [&](const sinew_endpoint_info & endpoint) {
      types[endpoint.name].insert(endpoint.type_name);
    });
  }
  return fill(types, allocator, filled);
}

rmw_ret_t checked_collect(
  const rmw_node_t * node, rcutils_allocator_t * allocator, const Wanted & wanted,
  rmw_names_and_types_t * filled)
{
  SINEW_CHECK_HANDLE(node);
  RCUTILS_CHECK_ALLOCATOR_WITH_MSG(
    allocator, "the allocator is invalid", return RMW_RET_INVALID_ARGUMENT);
  if (rmw_names_and_types_check_zero(filled) != RMW_RET_OK) {
    return RMW_RET_INVALID_ARGUMENT;
  }
  return guarded([&] {return collect(*node, *allocator, wanted, *filled);});
}

rmw_ret_t collect_by_node(
  const rmw_node_t * node, rcutils_allocator_t * allocator, sinew_endpoint_kind kind,
  const char * node_name, const char * node_namespace, rmw_names_and_types_t * filled)
{
  SINEW_CHECK_HANDLE(node);
  SINEW_CHECK_ARGUMENT(node_name);
  SINEW_CHECK_ARGUMENT(node_namespace);
  return checked_collect(node, allocator, {{kind}, node_name, node_namespace}, filled);
}

}  // namespace
}  // namespace rmw_sinew

using namespace rmw_sinew; // of this file's functions, which are rmw's

// Names are on the wire as they are in rmw, so `no_demangle` changes nothing.
extern "C" {

rmw_ret_t rmw_get_topic_names_and_types(
  const rmw_node_t * node, rcutils_allocator_t * allocator, bool,
  rmw_names_and_types_t * topic_names_and_types)
{
  return checked_collect(
    node, allocator,
    {{SINEW_ENDPOINT_PUBLISHER, SINEW_ENDPOINT_SUBSCRIPTION}, nullptr, nullptr},
    topic_names_and_types);
}

rmw_ret_t rmw_get_service_names_and_types(
  const rmw_node_t * node, rcutils_allocator_t * allocator,
  rmw_names_and_types_t * service_names_and_types)
{
  return checked_collect(
    node, allocator, {{SINEW_ENDPOINT_SERVER, SINEW_ENDPOINT_CLIENT}, nullptr, nullptr},
    service_names_and_types);
}

rmw_ret_t rmw_get_subscriber_names_and_types_by_node(
  const rmw_node_t * node, rcutils_allocator_t * allocator, const char * node_name,
  const char * node_namespace, bool, rmw_names_and_types_t * topic_names_and_types)
{
  return collect_by_node(
    node, allocator, SINEW_ENDPOINT_SUBSCRIPTION, node_name, node_namespace,
    topic_names_and_types);
}

rmw_ret_t rmw_get_publisher_names_and_types_by_node(
  const rmw_node_t * node, rcutils_allocator_t * allocator, const char * node_name,
  const char * node_namespace, bool, rmw_names_and_types_t * topic_names_and_types)
{
  return collect_by_node(
    node, allocator, SINEW_ENDPOINT_PUBLISHER, node_name, node_namespace, topic_names_and_types);
}

rmw_ret_t rmw_get_service_names_and_types_by_node(
  const rmw_node_t * node, rcutils_allocator_t * allocator, const char * node_name,
  const char * node_namespace, rmw_names_and_types_t * service_names_and_types)
{
  return collect_by_node(
    node, allocator, SINEW_ENDPOINT_SERVER, node_name, node_namespace, service_names_and_types);
}

rmw_ret_t rmw_get_client_names_and_types_by_node(
  const rmw_node_t * node, rcutils_allocator_t * allocator, const char * node_name,
  const char * node_namespace, rmw_names_and_types_t * service_names_and_types)
{
  return collect_by_node(
    node, allocator, SINEW_ENDPOINT_CLIENT, node_name, node_namespace, service_names_and_types);
}

}  // extern "C"
