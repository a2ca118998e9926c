// Two nodes that pass one message around in a circle, incrementing it: it never moves in memory.
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "rclcpp/rclcpp.hpp"
#include "std_msgs/msg/int32.hpp"

using namespace std::chrono_literals;

struct IncrementerPipe : public rclcpp::Node
{
  IncrementerPipe(const std::string & name, const std::string & in, const std::string & out)
  : Node(name, rclcpp::NodeOptions().use_intra_process_comms(true))
  {
    publisher = this->create_publisher<std_msgs::msg::Int32>(out, 10);
    std::weak_ptr<rclcpp::Publisher<std_msgs::msg::Int32>> weak = publisher;
    subscription = this->create_subscription<std_msgs::msg::Int32>(
      in, 10, [weak](std_msgs::msg::Int32::UniquePtr message) {
        auto locked = weak.lock();
        if (!locked) {
          return;
        }
        std::printf(
          "Received message with value:         %d, and address: 0x%" PRIXPTR "\n", message->data,
          reinterpret_cast<std::uintptr_t>(message.get()));
        std::printf("  sleeping for 100 ms...\n");
        if (!rclcpp::sleep_for(100ms)) {
          return;  // interrupted
        }
        std::printf("  done.\n");
        message->data++;
        std::printf(
          "Incrementing and sending with value: %d, and address: 0x%" PRIXPTR "\n", message->data,
          reinterpret_cast<std::uintptr_t>(message.get()));
        locked->publish(std::move(message));
      });
  }

  rclcpp::Publisher<std_msgs::msg::Int32>::SharedPtr publisher;
  rclcpp::Subscription<std_msgs::msg::Int32>::SharedPtr subscription;
};

int main(int argc, char * argv[])
{
  std::setvbuf(stdout, nullptr, _IONBF, BUFSIZ);
  rclcpp::init(argc, argv);
  rclcpp::executors::SingleThreadedExecutor executor;

  auto pipe1 = std::make_shared<IncrementerPipe>("pipe1", "topic1", "topic2");
  auto pipe2 = std::make_shared<IncrementerPipe>("pipe2", "topic2", "topic1");
  rclcpp::sleep_for(100ms);  // for those who list topics: the circle stands before the first message
  auto message = std::make_unique<std_msgs::msg::Int32>();
  message->data = 42;
  std::printf(
    "Published first message with value:  %d, and address: 0x%" PRIXPTR "\n", message->data,
    reinterpret_cast<std::uintptr_t>(message.get()));
  pipe1->publisher->publish(std::move(message));

  executor.add_node(pipe1);
  executor.add_node(pipe2);
  executor.spin();

  rclcpp::shutdown();
  return 0;
}
