// A node that takes any parameter, declared or not.
#include <memory>

#include "rclcpp/rclcpp.hpp"

class ParameterBlackboard : public rclcpp::Node
{
public:
  explicit ParameterBlackboard(
    const rclcpp::NodeOptions & options = rclcpp::NodeOptions()
    .allow_undeclared_parameters(true)
    .automatically_declare_parameters_from_overrides(true))
  : Node("parameter_blackboard", options)
  {
    RCLCPP_INFO(
      this->get_logger(),
      "Parameter blackboard node named '%s' ready, and serving '%zu' parameters already!",
      this->get_fully_qualified_name(), this->list_parameters({}, 0).names.size());
  }
};

int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  rclcpp::spin(std::make_shared<ParameterBlackboard>());
  rclcpp::shutdown();
  return 0;
}
