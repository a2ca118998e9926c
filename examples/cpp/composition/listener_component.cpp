#include <memory>

#include "composition/components.hpp"

namespace composition
{

Listener::Listener(const rclcpp::NodeOptions & options)
: Node("listener", options)
{
  auto callback = [this](std_msgs::msg::String::ConstSharedPtr message) -> void {
      RCLCPP_INFO(this->get_logger(), "I heard: [%s]", message->data.c_str());
    };
  subscription_ = create_subscription<std_msgs::msg::String>("chatter", 10, callback);
}

}  // namespace composition

#include "rclcpp_components/register_node_macro.hpp"

RCLCPP_COMPONENTS_REGISTER_NODE(composition::Listener)
