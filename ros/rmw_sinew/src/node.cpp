#include "node.hpp"

#include <cstring>
#include <memory>

#include "rmw/allocators.h"
#include "rmw/rmw.h"
#include "rmw/validate_namespace.h"
#include "rmw/validate_node_name.h"

#include "check.hpp"
#include "context.hpp"
#include "version.hpp"

namespace rmw_sinew {
namespace {

void on_graph_change(void * context) noexcept
{
  Entity::on_arrival(context, 1);
}

sinew_node * make_node(
  const sinew_context * context, const char * name, const char * node_namespace)
{
  sinew_node_options options{};
  options.size = sizeof options;
  options.node_namespace = node_namespace;
  options.is_bare = true;
  options.rosout = SINEW_NO;
  options.hints = SINEW_NO;
  sinew_node * node = nullptr;
  require(sinew_node_new(context, name, &options, &node));
  return node;
}

}  // namespace

Node::Node(const rmw_context_t & context, const char * name, const char * node_namespace)
: node_(make_node(context_of(context), name, node_namespace))
{
  graph_guard_condition.implementation_identifier = identifier;
  graph_guard_condition.data = entity_data(&guard_condition_);
  graph_guard_condition.context = const_cast<rmw_context_t *>(&context);
  sinew_status status = sinew_node_graph(node_, &graph_);
  if (status == SINEW_OK) {
    status = sinew_graph_on_change(
      graph_, on_graph_change, guard_condition_.listener_context(), Entity::drop_listener,
      &listener_);
  }
  if (status != SINEW_OK) {
    const rmw_ret_t ret = result(status);
    sinew_graph_free(graph_);
    sinew_node_free(node_);
    throw Failure{ret};
  }
}

Node::~Node()
{
  sinew_graph_listener_free(listener_);
  sinew_graph_free(graph_);
  sinew_node_free(node_);
}

sinew_node * Node::make_twin() const
{
  sinew_context * context = nullptr;
  require(sinew_context_new(&graph_guard_condition.context->impl->options, &context));
  // The node keeps the context.
  const std::unique_ptr<sinew_context, void (*)(sinew_context *)> owner(
    context, sinew_context_free);
  return make_node(context, sinew_node_name(node_), sinew_node_namespace(node_));
}

namespace {

void check_name(const char * name)
{
  int validity = RMW_NODE_NAME_VALID;
  size_t index = 0;
  if (rmw_validate_node_name(name, &validity, &index) != RMW_RET_OK) {
    throw Failure{RMW_RET_INVALID_ARGUMENT};
  }
  if (validity != RMW_NODE_NAME_VALID) {
    throw Failure{fail(
        RMW_RET_INVALID_ARGUMENT, rmw_node_name_validation_result_string(validity))};
  }
}

void check_namespace(const char * node_namespace)
{
  int validity = RMW_NAMESPACE_VALID;
  size_t index = 0;
  if (rmw_validate_namespace(node_namespace, &validity, &index) != RMW_RET_OK) {
    throw Failure{RMW_RET_INVALID_ARGUMENT};
  }
  if (validity != RMW_NAMESPACE_VALID) {
    throw Failure{fail(
        RMW_RET_INVALID_ARGUMENT, rmw_namespace_validation_result_string(validity))};
  }
}

const char * copy_text(const char * text)
{
  const size_t size = std::strlen(text) + 1;
  void * copy = rmw_allocate(size);
  if (copy == nullptr) {
    throw std::bad_alloc();
  }
  return static_cast<const char *>(std::memcpy(copy, text, size));
}

void free_handle(rmw_node_t * handle)
{
  rmw_free(const_cast<char *>(handle->name));
  rmw_free(const_cast<char *>(handle->namespace_));
  rmw_node_free(handle);
}

}  // namespace

void require_node_name(const char * name, const char * node_namespace)
{
  check_name(name);
  check_namespace(node_namespace);
}

}  // namespace rmw_sinew

using namespace rmw_sinew; // of this file's functions, which are rmw's

extern "C" {

rmw_node_t * rmw_create_node(rmw_context_t * context, const char * name, const char * namespace_)
{
  SINEW_CHECK_HANDLE_OR_NULL(context);
  SINEW_CHECK_NOT_NULL(context->impl, nullptr);
  SINEW_CHECK_NOT_NULL(name, nullptr);
  SINEW_CHECK_NOT_NULL(namespace_, nullptr);
  if (context->impl->shutdown->is_ready()) {
    RMW_SET_ERROR_MSG("the context is shut down");
    return nullptr;
  }
  return guarded_pointer([&] {
    require_node_name(name, namespace_);
    auto node = std::make_unique<Node>(*context, name, namespace_);
    std::unique_ptr<rmw_node_t, void (*)(rmw_node_t *)> handle(rmw_node_allocate(), free_handle);
    if (handle == nullptr) {
      throw std::bad_alloc();
    }
    *handle = rmw_node_t{};
    handle->name = copy_text(name);
    handle->namespace_ = copy_text(namespace_);
    handle->implementation_identifier = identifier;
    handle->context = context;
    handle->data = node.release();
    return handle.release();
  });
}

rmw_ret_t rmw_destroy_node(rmw_node_t * node)
{
  SINEW_CHECK_HANDLE(node);
  delete &node_of(*node);
  free_handle(node);
  return RMW_RET_OK;
}

const rmw_guard_condition_t * rmw_node_get_graph_guard_condition(const rmw_node_t * node)
{
  SINEW_CHECK_HANDLE_OR_NULL(node);
  return &node_of(*node).graph_guard_condition;
}

#if !RMW_VERSION_GTE(7, 4, 0)
rmw_ret_t rmw_node_assert_liveliness(const rmw_node_t * node)
{
  SINEW_CHECK_HANDLE(node);
  return fail(RMW_RET_UNSUPPORTED, "nodes have no liveliness; use manual by topic");
}
#endif

}  // extern "C"
