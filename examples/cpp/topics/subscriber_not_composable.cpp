// The minimal subscriber without a class: a function that shares the message.
#include <memory>

#include "rclcpp/rclcpp.hpp"
#include "std_msgs/msg/string.hpp"

rclcpp::Node::SharedPtr g_node = nullptr;

void receive(const std_msgs::msg::String::ConstSharedPtr message)
{
  RCLCPP_INFO(g_node->get_logger(), "I heard: '%s'", message->data.c_str());
}

int main(int argc, char * argv[])
{
  rclcpp::init(argc, argv);
  g_node = rclcpp::Node::make_shared("minimal_subscriber");
  auto subscription = g_node->create_subscription<std_msgs::msg::String>("topic", 10, receive);
  rclcpp::spin(g_node);
  rclcpp::shutdown();
  // Before what is static: a logger of the node must not outlive the context.
  subscription = nullptr;
  g_node = nullptr;
  return 0;
}
