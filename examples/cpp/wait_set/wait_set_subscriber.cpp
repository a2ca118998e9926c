// Takes messages in a loop of its own, which waits until there are some, instead of in a callback.
#include <chrono>
#include <memory>

#include "rclcpp/rclcpp.hpp"
#include "std_msgs/msg/string.hpp"

using namespace std::chrono_literals;

class MinimalSubscriber : public rclcpp::Node
{
public:
  MinimalSubscriber()
  : Node("minimal_subscriber")
  {
    // For rclcpp: a callback that does nothing, and a callback group that no executor adds.
    subscription_ = create_subscription<std_msgs::msg::String>("topic", 10);
  }

  void run()
  {
    rclcpp::WaitSet wait_set;
    wait_set.add_subscription(subscription_);
    while (rclcpp::ok()) {
      const auto wait_result = wait_set.wait(500ms);
      if (wait_result.kind() == rclcpp::WaitResultKind::Ready) {
        std_msgs::msg::String message;
        rclcpp::MessageInfo info;
        while (subscription_->take(message, info)) {
          RCLCPP_INFO(this->get_logger(), "I heard: '%s'", message.data.c_str());
        }
      } else if (wait_result.kind() == rclcpp::WaitResultKind::Timeout && rclcpp::ok()) {
        RCLCPP_INFO(this->get_logger(), "No message for half a second");
      }
    }
  }

private:
  rclcpp::Subscription<std_msgs::msg::String>::SharedPtr subscription_;
};

int main(int argc, char * argv[])
{
  rclcpp::init(argc, argv);
  auto node = std::make_shared<MinimalSubscriber>();
  node->run();
  rclcpp::shutdown();
  return 0;
}
