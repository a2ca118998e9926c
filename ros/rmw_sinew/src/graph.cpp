#include "graph.hpp"

#include <unistd.h>

#include <cstring>
#include <vector>

#include "rcutils/strdup.h"
#include "rcutils/types/string_array.h"
#include "rmw/rmw.h"
#include "rmw/sanity_checks.h"

#include "names.hpp"

namespace rmw_sinew {

bool Snapshot::is_twin(const sinew_node_info & info) const
{
  if (info.place != SINEW_PLACE_PROCESS || info.pid != static_cast<std::uint64_t>(getpid())) {
    return false;
  }
  const std::size_t count = sinew_graph_snapshot_node_count(snapshot_);
  for (std::size_t index = 0; index < count; ++index) {
    const sinew_node_info other = node(index);
    if (other.place == SINEW_PLACE_HERE && std::strcmp(other.name, info.name) == 0) {
      return true;
    }
  }
  return false;
}

SplitName split_name(const char * full_name)
{
  const char * slash = std::strrchr(full_name, '/');
  if (slash == nullptr) {
    return {"/", full_name};
  }
  const std::string node_namespace(full_name, slash);
  return {node_namespace.empty() ? "/" : node_namespace, slash + 1};
}

std::string join_name(const char * node_namespace, const char * name)
{
  std::string full = node_namespace;
  if (full.empty() || full.back() != '/') {
    full += '/';
  }
  return full + name;
}

namespace {

/// Fills an array of texts, and frees it again unless `keep` is called.
class Texts {
public:
  Texts(rcutils_string_array_t & texts, std::size_t count)
  : texts_(&texts)
  {
    const rcutils_allocator_t allocator = rcutils_get_default_allocator();
    if (rcutils_string_array_init(texts_, count, &allocator) != RCUTILS_RET_OK) {
      throw Failure{RMW_RET_BAD_ALLOC};
    }
  }

  ~Texts()
  {
    if (texts_ != nullptr && rcutils_string_array_fini(texts_) != RCUTILS_RET_OK) {
      rcutils_reset_error();
    }
  }

  Texts(const Texts &) = delete;
  Texts & operator=(const Texts &) = delete;

  void set(std::size_t index, const std::string & text)
  {
    texts_->data[index] = rcutils_strdup(text.c_str(), texts_->allocator);
    if (texts_->data[index] == nullptr) {
      throw std::bad_alloc();
    }
  }

  void keep() { texts_ = nullptr; }

private:
  rcutils_string_array_t * texts_;
};

rmw_ret_t get_node_names(
  const rmw_node_t & node, rcutils_string_array_t & names, rcutils_string_array_t & namespaces,
  rcutils_string_array_t * enclaves)
{
  const Snapshot snapshot(node_of(node));
  std::vector<sinew_node_info> nodes;
  snapshot.for_each_node([&](const sinew_node_info & info) {nodes.push_back(info);});
  const std::size_t count = nodes.size();
  Texts name_texts(names, count);
  Texts namespace_texts(namespaces, count);
  rcutils_string_array_t enclave_array = rcutils_get_zero_initialized_string_array();
  Texts enclave_texts(enclaves != nullptr ? *enclaves : enclave_array, count);
  for (std::size_t index = 0; index < count; ++index) {
    const SplitName split = split_name(nodes[index].name);
    name_texts.set(index, split.name);
    namespace_texts.set(index, split.node_namespace);
    // Processes do not publish their enclaves: access is that of the directory in shared memory.
    const bool is_own = nodes[index].place == SINEW_PLACE_HERE;
    enclave_texts.set(index, is_own ? node.context->options.enclave : "/");
  }
  name_texts.keep();
  namespace_texts.keep();
  if (enclaves != nullptr) {
    enclave_texts.keep();
  }
  return RMW_RET_OK;
}

rmw_ret_t check_zero(rcutils_string_array_t * texts)
{
  return rmw_check_zero_rmw_string_array(texts) == RMW_RET_OK ?
         RMW_RET_OK : RMW_RET_INVALID_ARGUMENT;
}

using Count = std::size_t (*)(const sinew_graph *, const char *);

rmw_ret_t count_endpoints(
  const rmw_node_t * node, const char * name, size_t * count, Count count_in_graph)
{
  SINEW_CHECK_HANDLE(node);
  SINEW_CHECK_ARGUMENT(name);
  SINEW_CHECK_ARGUMENT(count);
  return guarded([&] {
    require_full_name(name);
    *count = count_in_graph(node_of(*node).graph(), name);
    return RMW_RET_OK;
  });
}

}  // namespace
}  // namespace rmw_sinew

using namespace rmw_sinew; // of this file's functions, which are rmw's

extern "C" {

rmw_ret_t rmw_get_node_names(
  const rmw_node_t * node, rcutils_string_array_t * node_names,
  rcutils_string_array_t * node_namespaces)
{
  SINEW_CHECK_HANDLE(node);
  if (check_zero(node_names) != RMW_RET_OK || check_zero(node_namespaces) != RMW_RET_OK) {
    return RMW_RET_INVALID_ARGUMENT;
  }
  return guarded([&] {return get_node_names(*node, *node_names, *node_namespaces, nullptr);});
}

rmw_ret_t rmw_get_node_names_with_enclaves(
  const rmw_node_t * node, rcutils_string_array_t * node_names,
  rcutils_string_array_t * node_namespaces, rcutils_string_array_t * enclaves)
{
  SINEW_CHECK_HANDLE(node);
  if (check_zero(node_names) != RMW_RET_OK || check_zero(node_namespaces) != RMW_RET_OK ||
    check_zero(enclaves) != RMW_RET_OK)
  {
    return RMW_RET_INVALID_ARGUMENT;
  }
  return guarded([&] {return get_node_names(*node, *node_names, *node_namespaces, enclaves);});
}

rmw_ret_t rmw_count_publishers(const rmw_node_t * node, const char * topic_name, size_t * count)
{
  return count_endpoints(node, topic_name, count, sinew_graph_publisher_count);
}

rmw_ret_t rmw_count_subscribers(const rmw_node_t * node, const char * topic_name, size_t * count)
{
  return count_endpoints(node, topic_name, count, sinew_graph_subscription_count);
}

rmw_ret_t rmw_count_clients(const rmw_node_t * node, const char * service_name, size_t * count)
{
  return count_endpoints(node, service_name, count, sinew_graph_client_count);
}

rmw_ret_t rmw_count_services(const rmw_node_t * node, const char * service_name, size_t * count)
{
  return count_endpoints(node, service_name, count, sinew_graph_server_count);
}

}  // extern "C"
