/// The names of ROS 2's rclcpp for this library, so that sources for rclcpp compile unchanged.
///
/// The CMake target `sinew::rclcpp` has a header of one line, which includes this one, for each header
/// of rclcpp: `rclcpp/rclcpp.hpp` and so on. A program includes either those or ROS 2's own. Needs the
/// generated headers of ROS 2's packages.
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
#include "sinew/rclcpp_logging.hpp"
#include "sinew/sinew.hpp"

namespace rclcpp
{

using namespace ::sinew;  // NOLINT(build/namespaces)

/// A node's parts are interfaces of their own in rclcpp. Here they are the node, so functions that take
/// them take it.
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
using OnSetParametersCallbackHandle = ::sinew::OnSetParametersCallbackHandle;
using PostSetParametersCallbackHandle = ::sinew::PostSetParametersCallbackHandle;
using PreSetParametersCallbackHandle = ::sinew::PreSetParametersCallbackHandle;

}  // namespace node_interfaces

}  // namespace rclcpp

/// The name of rmw for what identifies a request.
using rmw_request_id_t = ::sinew::RequestId;

/// The version of rclcpp with the names and behaviour that this header has: that of ROS 2 Jazzy.
#define RCLCPP_VERSION_MAJOR 28
#define RCLCPP_VERSION_MINOR 1
#define RCLCPP_VERSION_PATCH 0
#define RCLCPP_VERSION_STR "28.1.0"

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
