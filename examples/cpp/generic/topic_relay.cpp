// Passes the messages of one topic on to another, whatever their type, which the command line names.
#include <cstdio>
#include <memory>
#include <string>

#include "rclcpp/rclcpp.hpp"

class TopicRelay : public rclcpp::Node
{
public:
  TopicRelay(const std::string & from, const std::string & to, const std::string & type)
  : Node("topic_relay")
  {
    publisher_ = create_generic_publisher(to, type, 10);
    subscription_ = create_generic_subscription(
      from, type, 10, [this](std::shared_ptr<const rclcpp::SerializedMessage> message) {
        RCLCPP_INFO(get_logger(), "Passing on %zu bytes", message->size());
        publisher_->publish(*message);
      });
  }

private:
  rclcpp::GenericPublisher::SharedPtr publisher_;
  rclcpp::GenericSubscription::SharedPtr subscription_;
};

int main(int argc, char * argv[])
{
  const auto arguments = rclcpp::init_and_remove_ros_arguments(argc, argv);
  if (arguments.size() != 4) {
    std::fprintf(stderr, "usage: topic_relay FROM TO TYPE\n");
    return 1;
  }
  rclcpp::spin(std::make_shared<TopicRelay>(arguments[1], arguments[2], arguments[3]));
  rclcpp::shutdown();
  return 0;
}
