/// rclcpp_action's names, for programs that are ported from ROS 2.
#ifndef SINEW_RCLCPP_ACTION_HPP
#define SINEW_RCLCPP_ACTION_HPP

#include <memory>
#include <string>
#include <utility>

#include "sinew/action_client.hpp"
#include "sinew/action_server.hpp"

namespace rclcpp_action
{

using namespace ::sinew::action;  // NOLINT(build/namespaces)
using ::sinew::action::create_client;
using ::sinew::action::create_server;

/// Makes a server of a node, which four of its interfaces stand for.
template<class ActionT, class NodeT>
typename Server<ActionT>::SharedPtr create_server(
  const std::shared_ptr<NodeT> & node_base, const std::shared_ptr<NodeT> &,
  const std::shared_ptr<NodeT> &, const std::shared_ptr<NodeT> &, const std::string & name,
  typename Server<ActionT>::GoalCallback handle_goal,
  typename Server<ActionT>::CancelCallback handle_cancel,
  typename Server<ActionT>::AcceptedCallback handle_accepted,
  const ServerOptions & options = ServerOptions(),
  ::sinew::CallbackGroup::SharedPtr group = nullptr)
{
  return create_server<ActionT>(
    node_base, name, std::move(handle_goal), std::move(handle_cancel), std::move(handle_accepted),
    options, std::move(group));
}

/// Makes a client of a node, which four of its interfaces stand for.
template<class ActionT, class NodeT>
typename Client<ActionT>::SharedPtr create_client(
  const std::shared_ptr<NodeT> & node_base, const std::shared_ptr<NodeT> &,
  const std::shared_ptr<NodeT> &, const std::shared_ptr<NodeT> &, const std::string & name,
  ::sinew::CallbackGroup::SharedPtr group = nullptr)
{
  return create_client<ActionT>(node_base, name, std::move(group));
}

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
