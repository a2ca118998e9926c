/// Nodes as listeners and broadcasters take them: objects, pointers, shared pointers.
#ifndef SINEW_TF2_ROS_NODE_HANDLE_HPP
#define SINEW_TF2_ROS_NODE_HANDLE_HPP

#include "sinew/node.hpp"

namespace tf2_ros::detail
{

inline const sinew_node * node_handle(const sinew::Node & node) {return node.handle();}

template<class Pointer>
auto node_handle(const Pointer & node)->decltype(node->handle()) {return node->handle();}

}  // namespace tf2_ros::detail

#endif  // SINEW_TF2_ROS_NODE_HANDLE_HPP
