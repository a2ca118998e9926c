// Two nodes in one process: a message that is published as a unique_ptr arrives at the same address.
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "rclcpp/rclcpp.hpp"
#include "std_msgs/msg/int32.hpp"

using namespace std::chrono_literals;

struct Producer : public rclcpp::Node
{
  Producer(const std::string & name, const std::string & output)
  : Node(name, rclcpp::NodeOptions().use_intra_process_comms(true))
  {
    publisher = this->create_publisher<std_msgs::msg::Int32>(output, 10);
    std::weak_ptr<rclcpp::Publisher<std_msgs::msg::Int32>> weak = publisher;
    auto produce = [weak]() -> void {
        auto locked = weak.lock();
        if (!locked) {
          return;
        }
        static int32_t count = 0;
        std_msgs::msg::Int32::UniquePtr message(new std_msgs::msg::Int32());
        message->data = count++;
        std::printf(
          "Published message with value: %d, and address: 0x%" PRIXPTR "\n", message->data,
          reinterpret_cast<std::uintptr_t>(message.get()));
        locked->publish(std::move(message));
      };
    timer = this->create_wall_timer(200ms, produce);
  }

  rclcpp::Publisher<std_msgs::msg::Int32>::SharedPtr publisher;
  rclcpp::TimerBase::SharedPtr timer;
};

struct Consumer : public rclcpp::Node
{
  Consumer(const std::string & name, const std::string & input)
  : Node(name, rclcpp::NodeOptions().use_intra_process_comms(true))
  {
    subscription = this->create_subscription<std_msgs::msg::Int32>(
      input, 10, [](std_msgs::msg::Int32::UniquePtr message) {
        std::printf(
          " Received message with value: %d, and address: 0x%" PRIXPTR "\n", message->data,
          reinterpret_cast<std::uintptr_t>(message.get()));
      });
  }

  rclcpp::Subscription<std_msgs::msg::Int32>::SharedPtr subscription;
};

int main(int argc, char * argv[])
{
  std::setvbuf(stdout, nullptr, _IONBF, BUFSIZ);
  rclcpp::init(argc, argv);
  rclcpp::executors::SingleThreadedExecutor executor;

  auto producer = std::make_shared<Producer>("producer", "number");
  auto consumer = std::make_shared<Consumer>("consumer", "number");
  executor.add_node(producer);
  executor.add_node(consumer);
  executor.spin();

  rclcpp::shutdown();
  return 0;
}
