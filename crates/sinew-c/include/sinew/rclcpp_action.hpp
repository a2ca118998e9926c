/// rclcpp_action's names, for programs that are ported from ROS 2.
#ifndef SINEW_RCLCPP_ACTION_HPP
#define SINEW_RCLCPP_ACTION_HPP

#include "sinew/action_client.hpp"
#include "sinew/action_server.hpp"

namespace rclcpp_action
{
using namespace ::sinew::action;  // NOLINT(build/namespaces)
}  // namespace rclcpp_action

#if __has_include("action_msgs/msg/goal_status_array.hpp")
#include "action_msgs/msg/goal_status_array.hpp"

namespace rclcpp_action
{
using GoalStatus = ::action_msgs::msg::GoalStatus;
using GoalInfo = ::action_msgs::msg::GoalInfo;
}  // namespace rclcpp_action
#endif

/// The settings of a server, with rcl's names.
using rcl_action_server_options_t = ::sinew::action::ServerOptions;

inline rcl_action_server_options_t rcl_action_server_get_default_options()
{
  return {};
}

#endif  // SINEW_RCLCPP_ACTION_HPP
