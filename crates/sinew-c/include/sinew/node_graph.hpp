/// The graph as a node sees it: nodes, topics, services and endpoints.
#ifndef SINEW_NODE_GRAPH_HPP
#define SINEW_NODE_GRAPH_HPP

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sinew/detail/graph.hpp"
#include "sinew/error.hpp"
#include "sinew/graph_event.hpp"
#include "sinew/sinew.h"
#include "sinew/topic_endpoint_info.hpp"

namespace sinew
{

/// What a node knows of others: a base of `Node`, which has a `handle()`. The functions may be
/// called from any thread, and allocate. Names of topics and services are expanded and remapped as
/// those of the node's own publishers and services.
template<class Derived>
class NodeGraph
{
public:
  using NamesAndTypes = std::map<std::string, std::vector<std::string>>;

  /// Returns the full names of all nodes.
  std::vector<std::string> get_node_names() const
  {
    return detail::GraphSnapshot::try_make(node()).value().node_names();
  }

  /// Returns the topics with publishers or subscriptions, each with its types.
  NamesAndTypes get_topic_names_and_types() const
  {
    return detail::GraphSnapshot::try_make(node()).value().topics();
  }

  /// Returns the services with servers or clients, each with its types.
  NamesAndTypes get_service_names_and_types() const
  {
    return detail::GraphSnapshot::try_make(node()).value().services();
  }

  /// Returns the services of a node, each with its types.
  NamesAndTypes get_service_names_and_types_by_node(
    const std::string & node_name, const std::string & node_namespace) const
  {
    const bool is_root = node_namespace.empty() || node_namespace == "/";
    const std::string full_name = (is_root ? "" : node_namespace) + "/" + node_name;
    return detail::GraphSnapshot::try_make(node()).value().services_of(full_name);
  }

  /// Returns the number of publishers on a topic.
  std::size_t count_publishers(const std::string & topic) const
  {
    return count<sinew_graph_publisher_count>(topic_name(topic));
  }
  std::size_t count_subscribers(const std::string & topic) const
  {
    return count<sinew_graph_subscription_count>(topic_name(topic));
  }
  /// Returns the number of clients of a service.
  std::size_t count_clients(const std::string & service) const
  {
    return count<sinew_graph_client_count>(service_name(service));
  }
  std::size_t count_services(const std::string & service) const
  {
    return count<sinew_graph_server_count>(service_name(service));
  }

  /// Returns the publishers on a topic. `no_mangle` is accepted for rclcpp's users.
  std::vector<TopicEndpointInfo> get_publishers_info_by_topic(
    const std::string & topic, [[maybe_unused]] bool no_mangle = false) const
  {
    const auto snapshot = detail::GraphSnapshot::try_make(node()).value();
    return snapshot.endpoints(SINEW_ENDPOINT_PUBLISHER, topic_name(topic)).value();
  }
  std::vector<TopicEndpointInfo> get_subscriptions_info_by_topic(
    const std::string & topic, [[maybe_unused]] bool no_mangle = false) const
  {
    const auto snapshot = detail::GraphSnapshot::try_make(node()).value();
    return snapshot.endpoints(SINEW_ENDPOINT_SUBSCRIPTION, topic_name(topic)).value();
  }

  /// Returns an event that changes from now on set.
  Event::SharedPtr get_graph_event() const
  {
    return Event::try_make(detail::try_graph(node()).value().get()).value();
  }

  /// Blocks until the event is set, for at most `timeout` (negative: no limit), or until the
  /// context is shut down.
  void wait_for_graph_change(const Event::SharedPtr & event, std::chrono::nanoseconds timeout) const
  {
    (void)event->try_wait(timeout).value();
  }

protected:
  NodeGraph() = default;
  ~NodeGraph() = default;

private:
  const sinew_node * node() const noexcept {return static_cast<const Derived *>(this)->handle();}

  template<auto function>
  std::size_t count(const std::string & full_name) const
  {
    return function(detail::try_graph(node()).value().get(), full_name.c_str());
  }

  std::string topic_name(const std::string & topic) const
  {
    return detail::try_resolve<sinew_node_resolve_topic_name>(node(), topic).value();
  }
  std::string service_name(const std::string & service) const
  {
    return detail::try_resolve<sinew_node_resolve_service_name>(node(), service).value();
  }
};

}  // namespace sinew

#endif  // SINEW_NODE_GRAPH_HPP
