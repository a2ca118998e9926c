// The nodes of this library, for programs that make them by hand.
#ifndef COMPOSITION__COMPONENTS_HPP_
#define COMPOSITION__COMPONENTS_HPP_

#include "example_interfaces/srv/add_two_ints.hpp"
#include "rclcpp/rclcpp.hpp"
#include "std_msgs/msg/string.hpp"

namespace composition
{

/// Publishes a line on `chatter`, five times a second.
class Talker : public rclcpp::Node
{
public:
  explicit Talker(const rclcpp::NodeOptions & options);

private:
  void on_timer();

  std::size_t count_ = 0;
  rclcpp::Publisher<std_msgs::msg::String>::SharedPtr publisher_;
  rclcpp::TimerBase::SharedPtr timer_;
};

/// Logs the lines of `chatter`.
class Listener : public rclcpp::Node
{
public:
  explicit Listener(const rclcpp::NodeOptions & options);

private:
  rclcpp::Subscription<std_msgs::msg::String>::SharedPtr subscription_;
};

/// Adds two numbers.
class Server : public rclcpp::Node
{
public:
  explicit Server(const rclcpp::NodeOptions & options);

private:
  rclcpp::Service<example_interfaces::srv::AddTwoInts>::SharedPtr service_;
};

/// Has 2 and 3 added, five times a second.
class Client : public rclcpp::Node
{
public:
  explicit Client(const rclcpp::NodeOptions & options);

private:
  void on_timer();

  rclcpp::Client<example_interfaces::srv::AddTwoInts>::SharedPtr client_;
  rclcpp::TimerBase::SharedPtr timer_;
};

}  // namespace composition

#endif  // COMPOSITION__COMPONENTS_HPP_
