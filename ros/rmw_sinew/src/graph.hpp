// The graph as rmw's queries read it.
#pragma once

#include <cstddef>
#include <string>

#include "rcutils/allocator.h"
#include "rmw/names_and_types.h"
#include "sinew/sinew.h"

#include "check.hpp"
#include "node.hpp"

namespace rmw_sinew {

/// All nodes and endpoints at one moment.
class Snapshot {
public:
  explicit Snapshot(const Node & node)
  {
    require(sinew_graph_snapshot_new(node.graph(), &snapshot_));
  }

  ~Snapshot() { sinew_graph_snapshot_free(snapshot_); }
  Snapshot(const Snapshot &) = delete;
  Snapshot & operator=(const Snapshot &) = delete;

  /// Calls `visit` with each node, in the order of the graph.
  template <class Visit>
  void for_each_node(Visit visit) const
  {
    const std::size_t count = sinew_graph_snapshot_node_count(snapshot_);
    for (std::size_t index = 0; index < count; ++index) {
      const sinew_node_info info = node(index);
      if (!is_twin(info)) {
        visit(info);
      }
    }
  }

  bool has_node(const std::string & full_name) const
  {
    bool has = false;
    for_each_node([&](const sinew_node_info & info) {has = has || full_name == info.name;});
    return has;
  }

  /// Calls `visit` with each endpoint that passes the filter.
  template <class Visit>
  void for_each_endpoint(sinew_endpoint_filter filter, Visit visit) const
  {
    filter.size = sizeof filter;
    const std::size_t count = sinew_graph_snapshot_endpoint_count(snapshot_);
    for (std::size_t index = 0; ; ++index) {
      require(sinew_graph_snapshot_find(snapshot_, &filter, &index));
      if (index >= count) {
        return;
      }
      sinew_endpoint_info info{};
      info.size = sizeof info;
      require(sinew_graph_snapshot_endpoint(snapshot_, index, &info));
      visit(info);
    }
  }

private:
  sinew_node_info node(std::size_t index) const
  {
    sinew_node_info info{};
    info.size = sizeof info;
    require(sinew_graph_snapshot_node(snapshot_, index, &info));
    return info;
  }

  /// Whether a node is only there for a second server; see `Node::make_twin`.
  bool is_twin(const sinew_node_info & info) const;

  sinew_graph_snapshot * snapshot_ = nullptr;
};

/// A node's full name in rmw's two parts, and back.
struct SplitName {
  std::string node_namespace;
  std::string name;
};
SplitName split_name(const char * full_name);
std::string join_name(const char * node_namespace, const char * name);

}  // namespace rmw_sinew
