// Follows the changes of the parameters of all nodes, and of one parameter.
#include <memory>
#include <string>

#include "rcl_interfaces/msg/parameter_event.hpp"
#include "rclcpp/rclcpp.hpp"

int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  auto node = rclcpp::Node::make_shared("parameter_events");

  unsigned changes = 0;
  auto on_event = [&node](rcl_interfaces::msg::ParameterEvent::ConstSharedPtr event) -> void {
      if (event->node != node->get_fully_qualified_name()) {
        return;
      }
      for (const auto & parameter : event->new_parameters) {
        RCLCPP_INFO(node->get_logger(), "new parameter: %s", parameter.name.c_str());
      }
      for (const auto & parameter : event->changed_parameters) {
        RCLCPP_INFO(node->get_logger(), "changed parameter: %s", parameter.name.c_str());
      }
      for (const auto & parameter : event->deleted_parameters) {
        RCLCPP_INFO(node->get_logger(), "deleted parameter: %s", parameter.name.c_str());
      }
    };
  auto parameters_client = std::make_shared<rclcpp::AsyncParametersClient>(node);
  auto subscription = parameters_client->on_parameter_event(on_event);

  rclcpp::ParameterEventHandler handler(node);
  auto handle = handler.add_parameter_callback(
    "speed", [&](const rclcpp::Parameter & parameter) {
      changes += 1;
      RCLCPP_INFO(
        node->get_logger(), "the parameter '%s' is %s", parameter.get_name().c_str(),
        parameter.value_to_string().c_str());
      if (changes == 3) {
        rclcpp::shutdown();
      }
    });

  node->declare_parameter("speed", 0.5);
  node->set_parameter(rclcpp::Parameter("speed", 1.0));
  node->set_parameter(rclcpp::Parameter("speed", 1.5));
  rclcpp::spin(node);
  rclcpp::shutdown();
  return 0;
}
