// The minimal subscriber, with a lambda that gets a message of its own.
#include <memory>

#include "rclcpp/rclcpp.hpp"
#include "std_msgs/msg/string.hpp"

class MinimalSubscriber : public rclcpp::Node
{
public:
  MinimalSubscriber()
  : Node("minimal_subscriber")
  {
    auto receive = [this](std_msgs::msg::String::UniquePtr message) -> void {
        RCLCPP_INFO(this->get_logger(), "I heard: '%s'", message->data.c_str());
      };
    subscription_ = this->create_subscription<std_msgs::msg::String>("topic", 10, receive);
  }

private:
  rclcpp::Subscription<std_msgs::msg::String>::SharedPtr subscription_;
};

int main(int argc, char * argv[])
{
  rclcpp::init(argc, argv);
  rclcpp::spin(std::make_shared<MinimalSubscriber>());
  rclcpp::shutdown();
  return 0;
}
