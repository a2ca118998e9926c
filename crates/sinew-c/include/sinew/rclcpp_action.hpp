/// rclcpp_action's names, for programs that are ported from ROS 2.
#ifndef SINEW_RCLCPP_ACTION_HPP
#define SINEW_RCLCPP_ACTION_HPP

#include "sinew/action_client.hpp"
#include "sinew/action_server.hpp"

namespace rclcpp_action
{
using namespace ::sinew::action;  // NOLINT(build/namespaces)
}  // namespace rclcpp_action

/// The settings of a server, with rcl's names.
using rcl_action_server_options_t = ::sinew::action::ServerOptions;

inline rcl_action_server_options_t rcl_action_server_get_default_options()
{
  return ::sinew::action::get_default_server_options();
}

#endif  // SINEW_RCLCPP_ACTION_HPP
