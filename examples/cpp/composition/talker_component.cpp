#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "composition/components.hpp"

using namespace std::chrono_literals;

namespace composition
{

Talker::Talker(const rclcpp::NodeOptions & options)
: Node("talker", options)
{
  publisher_ = create_publisher<std_msgs::msg::String>("chatter", 10);
  timer_ = create_wall_timer(200ms, [this]() {return this->on_timer();});
}

void Talker::on_timer()
{
  auto message = std::make_unique<std_msgs::msg::String>();
  message->data = "Hello World: " + std::to_string(++count_);
  RCLCPP_INFO(this->get_logger(), "Publishing: '%s'", message->data.c_str());
  // The message moves to the subscriptions of this process.
  publisher_->publish(std::move(message));
}

}  // namespace composition

#include "rclcpp_components/register_node_macro.hpp"

// Makes the class one that containers can load from this library.
RCLCPP_COMPONENTS_REGISTER_NODE(composition::Talker)
