// A node below rcl: bare, since rcl and the client library give it its parameters and services.
#pragma once

#include "rmw/types.h"
#include "sinew/sinew.h"

#include "guard_condition.hpp"

namespace rmw_sinew {

/// The `data` of a `rmw_node_t`.
class Node {
public:
  /// Throws `Failure`.
  Node(const rmw_context_t & context, const char * name, const char * node_namespace);
  ~Node();
  Node(const Node &) = delete;
  Node & operator=(const Node &) = delete;

  const sinew_node * get() const { return node_; }
  const sinew_graph * graph() const { return graph_; }

  /// Makes the same node in a context of its own, which other contexts see as one of another
  /// process. The caller frees it. For a second server of a service: a context has one of each.
  sinew_node * make_twin() const;

  /// Is triggered by every change of the graph.
  rmw_guard_condition_t graph_guard_condition{};

private:
  GuardCondition guard_condition_;
  sinew_node * node_ = nullptr;
  sinew_graph * graph_ = nullptr;
  sinew_graph_listener * listener_ = nullptr;
};

/// Returns the node of a handle that was checked.
inline Node & node_of(const rmw_node_t & node) { return *static_cast<Node *>(node.data); }

/// Throws `Failure` with `RMW_RET_INVALID_ARGUMENT` unless both are valid. They must not be null.
void require_node_name(const char * name, const char * node_namespace);

}  // namespace rmw_sinew
