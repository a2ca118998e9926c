// Leads the managed talker through its states, by its services.
#include <chrono>
#include <memory>

#include "lifecycle_msgs/msg/transition.hpp"
#include "lifecycle_msgs/srv/change_state.hpp"
#include "lifecycle_msgs/srv/get_state.hpp"
#include "rclcpp/rclcpp.hpp"

using namespace std::chrono_literals;
using lifecycle_msgs::msg::Transition;

class LifecycleServiceClient : public rclcpp::Node
{
public:
  explicit LifecycleServiceClient(const std::string & node_name)
  : Node(node_name)
  {
    get_state_ = this->create_client<lifecycle_msgs::srv::GetState>("lc_talker/get_state");
    change_state_ = this->create_client<lifecycle_msgs::srv::ChangeState>("lc_talker/change_state");
  }

  bool log_state()
  {
    auto request = std::make_shared<lifecycle_msgs::srv::GetState::Request>();
    if (!get_state_->wait_for_service(10s)) {
      RCLCPP_ERROR(get_logger(), "Service %s is not available.", get_state_->get_service_name());
      return false;
    }
    auto future = get_state_->async_send_request(request);
    if (
      rclcpp::spin_until_future_complete(this->get_node_base_interface(), future, 10s) !=
      rclcpp::FutureReturnCode::SUCCESS)
    {
      RCLCPP_ERROR(get_logger(), "Server time out while getting current state for node lc_talker");
      return false;
    }
    RCLCPP_INFO(
      get_logger(), "Node lc_talker has current state %s.", future.get()->current_state.label.c_str());
    return true;
  }

  bool change_state(std::uint8_t transition)
  {
    auto request = std::make_shared<lifecycle_msgs::srv::ChangeState::Request>();
    request->transition.id = transition;
    if (!change_state_->wait_for_service(10s)) {
      RCLCPP_ERROR(get_logger(), "Service %s is not available.", change_state_->get_service_name());
      return false;
    }
    auto future = change_state_->async_send_request(request);
    if (
      rclcpp::spin_until_future_complete(this->get_node_base_interface(), future, 10s) !=
      rclcpp::FutureReturnCode::SUCCESS)
    {
      RCLCPP_ERROR(get_logger(), "Server time out while changing the state of node lc_talker");
      return false;
    }
    if (!future.get()->success) {
      RCLCPP_WARN(get_logger(), "Failed to trigger transition %u", static_cast<unsigned>(transition));
      return false;
    }
    RCLCPP_INFO(
      get_logger(), "Transition %d successfully triggered.", static_cast<int>(transition));
    return true;
  }

private:
  rclcpp::Client<lifecycle_msgs::srv::GetState>::SharedPtr get_state_;
  rclcpp::Client<lifecycle_msgs::srv::ChangeState>::SharedPtr change_state_;
};

int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  auto client = std::make_shared<LifecycleServiceClient>("lc_client");
  rclcpp::WallRate time_between_state_changes(4);
  bool is_fine = client->log_state();
  for (const auto transition : {
      Transition::TRANSITION_CONFIGURE, Transition::TRANSITION_ACTIVATE,
      Transition::TRANSITION_DEACTIVATE, Transition::TRANSITION_ACTIVATE,
      Transition::TRANSITION_DEACTIVATE, Transition::TRANSITION_CLEANUP,
      Transition::TRANSITION_UNCONFIGURED_SHUTDOWN})
  {
    is_fine = is_fine && client->change_state(transition) && client->log_state();
    time_between_state_changes.sleep();
  }
  rclcpp::shutdown();
  return is_fine ? 0 : 1;
}
