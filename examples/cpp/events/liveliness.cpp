// Liveliness: a publisher that doesn't assert that it is alive counts as dead after its lease.
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
  auto qos = rclcpp::QoS(10)
    .liveliness(rclcpp::LivelinessPolicy::ManualByTopic)
    .liveliness_lease_duration(300ms);

  rclcpp::PublisherOptions publisher_options;
  publisher_options.event_callbacks.liveliness_callback =
    [&talker](rclcpp::QOSLivelinessLostInfo & event) {
      RCLCPP_INFO(
        talker->get_logger(), "Publisher lost liveliness - total %d delta %d", event.total_count,
        event.total_count_change);
    };
  auto publisher =
    talker->create_publisher<std_msgs::msg::String>("liveliness_chatter", qos, publisher_options);

  rclcpp::SubscriptionOptions subscription_options;
  subscription_options.event_callbacks.liveliness_callback =
    [&listener](rclcpp::QOSLivelinessChangedInfo & event) {
      RCLCPP_INFO(
        listener->get_logger(), "Liveliness changed: alive %d (delta %d), not alive %d (delta %d)",
        event.alive_count, event.alive_count_change, event.not_alive_count,
        event.not_alive_count_change);
    };
  auto subscription = listener->create_subscription<std_msgs::msg::String>(
    "liveliness_chatter", qos,
    [&listener](const std_msgs::msg::String & message) {
      RCLCPP_INFO(listener->get_logger(), "I heard: [%s]", message.data.c_str());
    },
    subscription_options);

  // Alive for a second, then silent for one.
  int count = 0;
  auto timer = talker->create_wall_timer(
    100ms, [&]() {
      if (count++ % 20 < 10) {
        if (count % 5 == 0) {
          std_msgs::msg::String message;
          message.data = "Testing";
          publisher->publish(message);
        } else if (!publisher->assert_liveliness()) {
          RCLCPP_WARN(talker->get_logger(), "liveliness was not asserted");
        }
      }
    });

  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(talker);
  executor.add_node(listener);
  executor.spin();
  rclcpp::shutdown();
  return 0;
}
