/// The names of ROS 2's rclcpp for this library, so that sources for rclcpp compile unchanged.
///
/// The CMake target `sinew::rclcpp` has a header of one line, which includes this one, for each header of
/// rclcpp: `rclcpp/rclcpp.hpp` and so on. A program includes either these or ROS 2's own.
#ifndef SINEW_RCLCPP_HPP
#define SINEW_RCLCPP_HPP

#include "sinew/sinew.hpp"

namespace rclcpp
{

using namespace ::sinew;  // NOLINT(build/namespaces)

}  // namespace rclcpp

#endif  // SINEW_RCLCPP_HPP
