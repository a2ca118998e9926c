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

  std::size_t node_count() const { return sinew_graph_snapshot_node_count(snapshot_); }

  sinew_node_info node(std::size_t index) const
  {
    sinew_node_info info{};
    info.size = sizeof info;
    require(sinew_graph_snapshot_node(snapshot_, index, &info));
    return info;
  }

  bool has_node(const std::string & full_name) const
  {
    for (std::size_t index = 0; index < node_count(); ++index) {
      if (full_name == node(index).name) {
        return true;
      }
    }
    return false;
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
