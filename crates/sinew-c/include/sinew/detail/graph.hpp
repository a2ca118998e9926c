/// The graph of the C interface.
#ifndef SINEW_DETAIL_GRAPH_HPP
#define SINEW_DETAIL_GRAPH_HPP

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sinew/detail/handle.hpp"
#include "sinew/detail/strings.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"
#include "sinew/topic_endpoint_info.hpp"

namespace sinew::detail
{

using GraphHandle = Handle<sinew_graph, sinew_graph_free>;

inline Result<GraphHandle> try_graph(const sinew_node * node)
{
  GraphHandle graph;
  if (const auto status = sinew_node_graph(node, Out(graph)); status != SINEW_OK) {
    return Error::last(status);
  }
  return graph;
}

/// Returns the full name of a topic or service.
template<auto function>
Result<std::string> try_resolve(const sinew_node * node, const std::string & name)
{
  StringsHandle full_name;
  if (const auto status = function(node, name.c_str(), Out(full_name)); status != SINEW_OK) {
    return Error::last(status);
  }
  return std::move(strings_from(full_name).front());
}

/// All nodes and endpoints as they are at one moment.
class GraphSnapshot
{
public:
  using NamesAndTypes = std::map<std::string, std::vector<std::string>>;

  static Result<GraphSnapshot> try_make(const sinew_node * node)
  {
    const auto graph = try_graph(node);
    if (!graph) {
      return graph.error();
    }
    GraphSnapshot snapshot;
    const auto status = sinew_graph_snapshot_new(graph->get(), Out(snapshot.handle_));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return snapshot;
  }

  std::vector<std::string> node_names() const
  {
    std::vector<std::string> names;
    const std::size_t length = sinew_graph_snapshot_node_count(get());
    for (std::size_t i = 0; i < length; ++i) {
      auto one = options<sinew_node_info>();
      check(sinew_graph_snapshot_node(get(), i, &one));
      names.emplace_back(one.name);
    }
    return names;
  }

  NamesAndTypes topics() const
  {
    return all<sinew_graph_snapshot_topic>(sinew_graph_snapshot_topic_count(get()));
  }
  NamesAndTypes services() const
  {
    return all<sinew_graph_snapshot_service>(sinew_graph_snapshot_service_count(get()));
  }

  NamesAndTypes services_of(const std::string & node_name) const
  {
    auto filter = options<sinew_endpoint_filter>();
    filter.kind = SINEW_ENDPOINT_SERVER;
    filter.node_name = node_name.c_str();
    NamesAndTypes found;
    for_each(filter, [&found](const sinew_endpoint_info & one) {
        auto & types = found[one.name];
        const std::string type = one.type_name ? one.type_name : "";
        if (std::find(types.begin(), types.end(), type) == types.end()) {
          types.push_back(type);
        }
      }).value();
    return found;
  }

  Result<std::vector<TopicEndpointInfo>> endpoints(
    sinew_endpoint_kind kind, const std::string & topic) const
  {
    auto filter = options<sinew_endpoint_filter>();
    filter.kind = kind;
    filter.name = topic.c_str();
    std::vector<TopicEndpointInfo> found;
    const auto done =
      for_each(filter, [&found](const sinew_endpoint_info & one) {found.emplace_back(one);});
    if (!done) {
      return done.error();
    }
    return found;
  }

  /// Returns the hash of a type at the endpoints of a topic or service; empty if none has it.
  Result<std::string> hash_of(const std::string & full_name, const std::string & type) const
  {
    const auto all = endpoints(SINEW_ENDPOINT_ANY, full_name);
    if (!all) {
      return all.error();
    }
    const auto found = std::find_if(all->begin(), all->end(), [&type](const auto & one) {
          return one.topic_type() == type;
    });
    return found == all->end() ? std::string() : found->topic_type_hash();
  }

private:
  const sinew_graph_snapshot * get() const noexcept {return handle_.get();}

  template<auto function>
  NamesAndTypes all(std::size_t length) const
  {
    NamesAndTypes found;
    for (std::size_t i = 0; i < length; ++i) {
      auto one = options<sinew_name_and_types>();
      check(function(get(), i, &one));
      found.emplace(one.name, std::vector<std::string>(one.types, one.types + one.type_count));
    }
    return found;
  }

  template<class F>
  Result<void> for_each(const sinew_endpoint_filter & filter, F && function) const
  {
    const std::size_t length = sinew_graph_snapshot_endpoint_count(get());
    for (std::size_t at = 0; at < length; ++at) {
      auto status = sinew_graph_snapshot_find(get(), &filter, &at);
      if (status == SINEW_OK && at < length) {
        auto one = options<sinew_endpoint_info>();
        status = sinew_graph_snapshot_endpoint(get(), at, &one);
        if (status == SINEW_OK) {
          function(one);
        }
      }
      if (status != SINEW_OK) {
        return Error::last(status);
      }
    }
    return {};
  }

  Handle<sinew_graph_snapshot, sinew_graph_snapshot_free> handle_;
};

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_GRAPH_HPP
