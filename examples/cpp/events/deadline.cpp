// Deadlines: a publisher that pauses misses its own, and the subscription's.
#include <chrono>
#include <memory>

#include "rclcpp/rclcpp.hpp"
#include "std_msgs/msg/string.hpp"

using namespace std::chrono_literals;

int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  auto talker = rclcpp::Node::make_shared("talker");
  auto listener = rclcpp::Node::make_shared("listener");
  rclcpp::QoS qos(10);
  qos.deadline(300ms);

  rclcpp::PublisherOptions publisher_options;
  publisher_options.event_callbacks.deadline_callback =
    [&talker](rclcpp::QOSDeadlineOfferedInfo & event) {
      RCLCPP_INFO(
        talker->get_logger(), "Offered deadline missed - total %d delta %d", event.total_count,
        event.total_count_change);
    };
  auto publisher =
    talker->create_publisher<std_msgs::msg::String>("deadline_chatter", qos, publisher_options);

  rclcpp::SubscriptionOptions subscription_options;
  subscription_options.event_callbacks.deadline_callback =
    [&listener](rclcpp::QOSDeadlineRequestedInfo & event) {
      RCLCPP_INFO(
        listener->get_logger(), "Requested deadline missed - total %d delta %d", event.total_count,
        event.total_count_change);
    };
  auto subscription = listener->create_subscription<std_msgs::msg::String>(
    "deadline_chatter", qos,
    [&listener](const std_msgs::msg::String & message) {
      RCLCPP_INFO(listener->get_logger(), "I heard: [%s]", message.data.c_str());
    },
    subscription_options);

  // Ten messages in time, then a pause of a second.
  int count = 0;
  auto timer = talker->create_wall_timer(
    100ms, [&]() {
      if (count++ % 20 < 10) {
        std_msgs::msg::String message;
        message.data = "Testing";
        publisher->publish(message);
      }
    });

  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(talker);
  executor.add_node(listener);
  executor.spin();
  rclcpp::shutdown();
  return 0;
}
