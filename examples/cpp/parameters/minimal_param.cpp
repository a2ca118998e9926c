// A node with a parameter: declared with a description, read, and set by the node itself.
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rclcpp/rclcpp.hpp"

using namespace std::chrono_literals;

class MinimalParam : public rclcpp::Node
{
public:
  MinimalParam()
  : Node("minimal_param_node")
  {
    auto description = rcl_interfaces::msg::ParameterDescriptor{};
    description.description = "This parameter is mine!";
    this->declare_parameter("my_parameter", "world", description);
    timer_ = this->create_wall_timer(200ms, std::bind(&MinimalParam::timer_callback, this));
  }

private:
  void timer_callback()
  {
    std::string my_parameter = this->get_parameter("my_parameter").as_string();
    RCLCPP_INFO(this->get_logger(), "Hello %s!", my_parameter.c_str());
    std::vector<rclcpp::Parameter> all_new_parameters{rclcpp::Parameter("my_parameter", "world")};
    this->set_parameters(all_new_parameters);
  }

  rclcpp::TimerBase::SharedPtr timer_;
};

int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  rclcpp::spin(std::make_shared<MinimalParam>());
  rclcpp::shutdown();
  return 0;
}
