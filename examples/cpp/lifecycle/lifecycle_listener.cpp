// Logs what the managed talker publishes, and its transitions.
#include <memory>

#include "lifecycle_msgs/msg/transition_event.hpp"
#include "rclcpp/rclcpp.hpp"
#include "std_msgs/msg/string.hpp"

class LifecycleListener : public rclcpp::Node
{
public:
  explicit LifecycleListener(const std::string & node_name)
  : Node(node_name)
  {
    data_ = this->create_subscription<std_msgs::msg::String>(
      "lifecycle_chatter", 10, [this](std_msgs::msg::String::ConstSharedPtr message) {
        RCLCPP_INFO(get_logger(), "data_callback: %s", message->data.c_str());
      });
    transitions_ = this->create_subscription<lifecycle_msgs::msg::TransitionEvent>(
      "/lc_talker/transition_event", 10,
      [this](lifecycle_msgs::msg::TransitionEvent::ConstSharedPtr event) {
        RCLCPP_INFO(
          get_logger(), "notify callback: Transition from state %s to %s",
          event->start_state.label.c_str(), event->goal_state.label.c_str());
      });
  }

private:
  rclcpp::Subscription<std_msgs::msg::String>::SharedPtr data_;
  rclcpp::Subscription<lifecycle_msgs::msg::TransitionEvent>::SharedPtr transitions_;
};

int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  rclcpp::spin(std::make_shared<LifecycleListener>("lc_listener"));
  rclcpp::shutdown();
  return 0;
}
