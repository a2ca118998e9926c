// The three callbacks around a change of parameters: before, during and after it.
#include <memory>
#include <string>
#include <vector>

#include "rcl_interfaces/msg/set_parameters_result.hpp"
#include "rclcpp/rclcpp.hpp"

class SetParametersCallback : public rclcpp::Node
{
public:
  explicit SetParametersCallback(const rclcpp::NodeOptions & options = rclcpp::NodeOptions())
  : Node("set_param_callback_node", options)
  {
    param1_ = this->declare_parameter("param1", 0.0);
    param2_ = this->declare_parameter("param2", 0.0);

    // A caller that sets `param1` sets `param2`, too.
    auto before = [](std::vector<rclcpp::Parameter> & parameters) {
        for (const auto & parameter : parameters) {
          if (parameter.get_name() == "param1") {
            parameters.push_back(rclcpp::Parameter("param2", 4.0));
            return;
          }
        }
      };
    auto check = [](const std::vector<rclcpp::Parameter> & parameters) {
        rcl_interfaces::msg::SetParametersResult result;
        result.successful = true;
        for (const auto & parameter : parameters) {
          if (parameter.get_name() == "param1" && parameter.as_double() < 0) {
            result.successful = false;
            result.reason = "param1 can't be negative";
          }
        }
        return result;
      };
    auto after = [this](const std::vector<rclcpp::Parameter> & parameters) {
        for (const auto & parameter : parameters) {
          if (parameter.get_name() == "param1") {
            param1_ = parameter.as_double();
          }
          if (parameter.get_name() == "param2") {
            param2_ = parameter.as_double();
          }
        }
      };
    before_handle_ = this->add_pre_set_parameters_callback(before);
    check_handle_ = this->add_on_set_parameters_callback(check);
    after_handle_ = this->add_post_set_parameters_callback(after);
  }

  void log() const {RCLCPP_INFO(this->get_logger(), "param1: %g, param2: %g", param1_, param2_);}

private:
  double param1_;
  double param2_;
  rclcpp::node_interfaces::PreSetParametersCallbackHandle::SharedPtr before_handle_;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr check_handle_;
  rclcpp::node_interfaces::PostSetParametersCallbackHandle::SharedPtr after_handle_;
};

int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  auto node = std::make_shared<SetParametersCallback>();
  node->log();
  node->set_parameter(rclcpp::Parameter("param1", 10.0));
  node->log();
  auto refused = node->set_parameter(rclcpp::Parameter("param1", -1.0));
  RCLCPP_INFO(node->get_logger(), "refused: %s", refused.reason.c_str());
  node->log();
  rclcpp::shutdown();
  return 0;
}
