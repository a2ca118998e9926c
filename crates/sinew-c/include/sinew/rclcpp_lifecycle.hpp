/// The names of ROS 2's `rclcpp_lifecycle`.
#ifndef SINEW_RCLCPP_LIFECYCLE_HPP
#define SINEW_RCLCPP_LIFECYCLE_HPP

#include "sinew/lifecycle_node.hpp"

namespace rclcpp_lifecycle
{

using namespace ::sinew::lifecycle;  // NOLINT(build/namespaces)

}  // namespace rclcpp_lifecycle

#endif  // SINEW_RCLCPP_LIFECYCLE_HPP
