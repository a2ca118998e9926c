/// The endpoints of a node with types that are known when the program runs.
#ifndef SINEW_NODE_GENERIC_HPP
#define SINEW_NODE_GENERIC_HPP

#include <cstddef>
#include <string>
#include <utility>

#include "sinew/callback_group.hpp"
#include "sinew/detail/named_type.hpp"
#include "sinew/error.hpp"
#include "sinew/generic_client.hpp"
#include "sinew/generic_publisher.hpp"
#include "sinew/generic_subscription.hpp"
#include "sinew/publisher_options.hpp"
#include "sinew/qos.hpp"
#include "sinew/sinew.h"
#include "sinew/subscription_options.hpp"

namespace sinew
{

/// A base of `Node`.
///
/// Types are named as in `package/msg/Name`. A type is known if it is of ROS 2's packages, if the
/// program has used it, or given its hash or description to `sinew_message_type_known` or
/// `sinew_message_type_described`, or if a node has an endpoint of the topic with it. Otherwise
/// these functions fail with `SINEW_ERROR_UNKNOWN_TYPE`.
template<class Derived>
class NodeGeneric
{
public:
  /// Makes a publisher of encoded messages:
  /// `create_generic_publisher("chatter", "std_msgs/msg/String", 10)`.
  GenericPublisher::SharedPtr create_generic_publisher(
    const std::string & topic, const std::string & topic_type, const QoS & qos,
    const PublisherOptions & options = {})
  {
    return try_create_generic_publisher(topic, topic_type, qos, options).value();
  }
  Result<GenericPublisher::SharedPtr> try_create_generic_publisher(
    const std::string & topic, const std::string & topic_type, const QoS & qos,
    const PublisherOptions & options = {})
  {
    const auto name = node().extended_name(topic);
    const auto type = detail::try_named_message_type(node().handle(), name, topic_type);
    if (!type) {
      return type.error();
    }
    return GenericPublisher::try_make(node().shared_handle(), name, *type, qos, options);
  }

  /// Makes a subscription that gets encoded messages; `GenericSubscription` says what the callback
  /// may take. Without one, messages are taken by hand.
  template<class F = std::nullptr_t>
  GenericSubscription::SharedPtr create_generic_subscription(
    const std::string & topic, const std::string & topic_type, const QoS & qos,
    F && callback = nullptr, const SubscriptionOptions & options = {})
  {
    return try_create_generic_subscription(
      topic, topic_type, qos, std::forward<F>(callback), options).value();
  }
  template<class F = std::nullptr_t>
  Result<GenericSubscription::SharedPtr> try_create_generic_subscription(
    const std::string & topic, const std::string & topic_type, const QoS & qos,
    F && callback = nullptr, const SubscriptionOptions & options = {})
  {
    const auto name = node().extended_name(topic);
    const auto type = detail::try_named_message_type(node().handle(), name, topic_type);
    if (!type) {
      return type.error();
    }
    return GenericSubscription::try_make(
      node().shared_handle(), name, *type, qos, std::forward<F>(callback),
      node().with_defaults(options));
  }

  /// Makes a client that sends encoded requests and gets encoded responses:
  /// `create_generic_client("add", "example_interfaces/srv/AddTwoInts")`.
  GenericClient::SharedPtr create_generic_client(
    const std::string & service, const std::string & service_type, const QoS & qos = ServicesQoS(),
    const CallbackGroup::SharedPtr & group = nullptr)
  {
    return try_create_generic_client(service, service_type, qos, group).value();
  }
  Result<GenericClient::SharedPtr> try_create_generic_client(
    const std::string & service, const std::string & service_type, const QoS & qos = ServicesQoS(),
    const CallbackGroup::SharedPtr & group = nullptr)
  {
    const auto name = node().extended_name(service);
    const auto type = detail::try_named_service_type(node().handle(), name, service_type);
    if (!type) {
      return type.error();
    }
    return GenericClient::try_make_of(*type, node().handle(), name, group, qos);
  }

protected:
  NodeGeneric() = default;
  ~NodeGeneric() = default;

private:
  const Derived & node() const noexcept {return *static_cast<const Derived *>(this);}
};

}  // namespace sinew

#endif  // SINEW_NODE_GENERIC_HPP
