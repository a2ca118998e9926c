/// The names of ROS 2's rclcpp for this library, so that sources for rclcpp compile unchanged.
///
/// The CMake target `sinew::rclcpp` has a header of one line, which includes this one, for each
/// header of rclcpp: `rclcpp/rclcpp.hpp` and so on. A program includes either those or ROS 2's own.
/// Needs the generated headers of ROS 2's packages.
#ifndef SINEW_RCLCPP_HPP
#define SINEW_RCLCPP_HPP

// What sources for rclcpp get from its header without including it themselves.
#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <csignal>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "builtin_interfaces/msg/duration.hpp"
#include "builtin_interfaces/msg/time.hpp"
#include "rcl_interfaces/msg/list_parameters_result.hpp"
#include "rcl_interfaces/msg/parameter.hpp"
#include "rcl_interfaces/msg/parameter_descriptor.hpp"
#include "rcl_interfaces/msg/parameter_event.hpp"
#include "rcl_interfaces/msg/parameter_type.hpp"
#include "rcl_interfaces/msg/parameter_value.hpp"
#include "rcl_interfaces/msg/set_parameters_result.hpp"
#include "sinew/parameter_client.hpp"
#include "sinew/parameter_event_handler.hpp"
#include "sinew/parameter_map.hpp"
#include "sinew/rclcpp_logging.hpp"
#include "sinew/sinew.hpp"

namespace rclcpp
{

using namespace ::sinew;  // NOLINT(build/namespaces)

/// A node's parts are interfaces of their own in rclcpp. Here they are the node, so functions that
/// take them take it.
namespace node_interfaces
{

using NodeBaseInterface = Node;
using NodeClockInterface = Node;
using NodeGraphInterface = Node;
using NodeLoggingInterface = Node;
using NodeParametersInterface = Node;
using NodeServicesInterface = Node;
using NodeTimersInterface = Node;
using NodeTopicsInterface = Node;
using NodeWaitablesInterface = Node;
using OnSetParametersCallbackHandle = ::sinew::OnSetParametersCallbackHandle;
using PostSetParametersCallbackHandle = ::sinew::PostSetParametersCallbackHandle;
using PreSetParametersCallbackHandle = ::sinew::PreSetParametersCallbackHandle;

}  // namespace node_interfaces

using ::sinew::create_timer;

/// Messages have no allocators of their own.
template<class AllocatorT = std::allocator<void>>
using PublisherOptionsWithAllocator = PublisherOptions;
template<class AllocatorT = std::allocator<void>>
using SubscriptionOptionsWithAllocator = SubscriptionOptions;

/// Makes a publisher of a node, or of a pointer to one.
template<class MessageT, class NodeT>
auto create_publisher(
  NodeT && node, const std::string & topic, const QoS & qos, const PublisherOptions & options = {})
{
  return ::sinew::detail::node_of(node).template create_publisher<MessageT>(topic, qos, options);
}

/// Makes a subscription of a node, or of a pointer to one.
template<class MessageT, class NodeT, class CallbackT>
auto create_subscription(
  NodeT && node, const std::string & topic, const QoS & qos, CallbackT && callback,
  const SubscriptionOptions & options = {})
{
  return ::sinew::detail::node_of(node).template create_subscription<MessageT>(
    topic, qos, std::forward<CallbackT>(callback), options);
}

/// Makes endpoints with types that are known when the program runs, of a node or a pointer to one.
template<class NodeT>
auto create_generic_publisher(
  NodeT && node, const std::string & topic, const std::string & topic_type, const QoS & qos,
  const PublisherOptions & options = {})
{
  return ::sinew::detail::node_of(node).create_generic_publisher(topic, topic_type, qos, options);
}
template<class NodeT, class CallbackT>
auto create_generic_subscription(
  NodeT && node, const std::string & topic, const std::string & topic_type, const QoS & qos,
  CallbackT && callback, const SubscriptionOptions & options = {})
{
  return ::sinew::detail::node_of(node).create_generic_subscription(
    topic, topic_type, qos, std::forward<CallbackT>(callback), options);
}
template<class NodeT>
auto create_generic_client(
  NodeT && node, const std::string & service, const std::string & service_type,
  const QoS & qos = ServicesQoS(), CallbackGroup::SharedPtr group = nullptr)
{
  return ::sinew::detail::node_of(node).create_generic_client(service, service_type, qos, group);
}

/// Makes a service of a node, which two of its interfaces stand for.
template<class ServiceT, class CallbackT>
auto create_service(
  const Node::SharedPtr & node_base, const Node::SharedPtr &, const std::string & name,
  CallbackT && callback, const QoS & qos = ServicesQoS(), CallbackGroup::SharedPtr group = nullptr)
{
  return node_base->create_service<ServiceT>(name, std::forward<CallbackT>(callback), qos, group);
}

/// Makes a client of a node, which three of its interfaces stand for.
template<class ServiceT>
auto create_client(
  const Node::SharedPtr & node_base, const Node::SharedPtr &, const Node::SharedPtr &,
  const std::string & name, const QoS & qos = ServicesQoS(),
  CallbackGroup::SharedPtr group = nullptr)
{
  return node_base->create_client<ServiceT>(name, qos, group);
}

/// Makes a timer of steady time of a node, which two of its interfaces stand for.
template<class Rep, class Period, class CallbackT>
auto create_wall_timer(
  std::chrono::duration<Rep, Period> period, CallbackT callback, CallbackGroup::SharedPtr group,
  Node * node_base, Node *)
{
  return node_base->create_wall_timer(period, std::move(callback), std::move(group));
}

}  // namespace rclcpp

/// The kinds of clocks, with rcl's names.
using rcl_clock_type_t = ::sinew::ClockType;
using ::sinew::RCL_ROS_TIME;
using ::sinew::RCL_STEADY_TIME;
using ::sinew::RCL_SYSTEM_TIME;

/// The events of a service, with rcl's names.
using rcl_service_introspection_state_t = ::sinew::ServiceIntrospectionState;
inline constexpr auto RCL_SERVICE_INTROSPECTION_OFF = ::sinew::ServiceIntrospectionState::Off;
inline constexpr auto RCL_SERVICE_INTROSPECTION_METADATA =
  ::sinew::ServiceIntrospectionState::Metadata;
inline constexpr auto RCL_SERVICE_INTROSPECTION_CONTENTS =
  ::sinew::ServiceIntrospectionState::Contents;

/// The name of rmw for what identifies a request.
using rmw_request_id_t = ::sinew::RequestId;

/// The version of rclcpp with the names and behaviour that this header has: that of ROS 2 Jazzy.
#define RCLCPP_VERSION_MAJOR 28
#define RCLCPP_VERSION_MINOR 1
#define RCLCPP_VERSION_PATCH 0
#define RCLCPP_VERSION_STR "28.1.0"

#define RCLCPP_USING_CUSTOM_TYPE_AS_ROS_MESSAGE_TYPE(CustomType, ROSMessageType) \
  SINEW_USING_CUSTOM_TYPE_AS_ROS_MESSAGE_TYPE(CustomType, ROSMessageType)

/// Whether the version is at least this one.
#define RCLCPP_VERSION_GTE(major, minor, patch) \
  ((RCLCPP_VERSION_MAJOR * 1000 + RCLCPP_VERSION_MINOR) * 1000 + RCLCPP_VERSION_PATCH >= \
  ((major) * 1000 + (minor)) * 1000 + (patch))

/// Declares the names of a class's pointers, and `make_shared` and `make_unique`.
#define RCLCPP_SMART_PTR_DEFINITIONS(...) \
  RCLCPP_SHARED_PTR_DEFINITIONS(__VA_ARGS__) \
  RCLCPP_WEAK_PTR_DEFINITIONS(__VA_ARGS__) \
  RCLCPP_UNIQUE_PTR_DEFINITIONS(__VA_ARGS__)

/// As above, for a class that can't be copied.
#define RCLCPP_SMART_PTR_DEFINITIONS_NOT_COPYABLE(...) \
  RCLCPP_SMART_PTR_DEFINITIONS(__VA_ARGS__) \
  RCLCPP_DISABLE_COPY(__VA_ARGS__)

/// Declares the names of a class's pointers alone.
#define RCLCPP_SMART_PTR_ALIASES_ONLY(...) \
  using SharedPtr = std::shared_ptr<__VA_ARGS__>; \
  using ConstSharedPtr = std::shared_ptr<const __VA_ARGS__>; \
  RCLCPP_WEAK_PTR_DEFINITIONS(__VA_ARGS__) \
  using UniquePtr = std::unique_ptr<__VA_ARGS__>;

#define RCLCPP_SHARED_PTR_DEFINITIONS(...) \
  using SharedPtr = std::shared_ptr<__VA_ARGS__>; \
  using ConstSharedPtr = std::shared_ptr<const __VA_ARGS__>; \
  template<typename ... Args> \
  static std::shared_ptr<__VA_ARGS__> make_shared(Args && ... args) \
  { \
    return std::make_shared<__VA_ARGS__>(std::forward<Args>(args)...); \
  }

#define RCLCPP_WEAK_PTR_DEFINITIONS(...) \
  using WeakPtr = std::weak_ptr<__VA_ARGS__>; \
  using ConstWeakPtr = std::weak_ptr<const __VA_ARGS__>;

#define RCLCPP_UNIQUE_PTR_DEFINITIONS(...) \
  using UniquePtr = std::unique_ptr<__VA_ARGS__>; \
  template<typename ... Args> \
  static std::unique_ptr<__VA_ARGS__> make_unique(Args && ... args) \
  { \
    return std::make_unique<__VA_ARGS__>(std::forward<Args>(args)...); \
  }

#define RCLCPP_DISABLE_COPY(...) \
  __VA_ARGS__(const __VA_ARGS__ &) = delete; \
  __VA_ARGS__ & operator=(const __VA_ARGS__ &) = delete;

#endif  // SINEW_RCLCPP_HPP
