// A timer that is made by another one, runs once, and cancels itself.
#include <chrono>
#include <memory>

#include "rclcpp/rclcpp.hpp"

using namespace std::chrono_literals;

class OneOffTimer : public rclcpp::Node
{
public:
  explicit OneOffTimer(const rclcpp::NodeOptions & options)
  : Node("one_off_timer", options)
  {
    periodic_ = this->create_wall_timer(
      200ms, [this]() {
        RCLCPP_INFO(this->get_logger(), "in periodic_timer callback");
        if (count_++ % 3 == 0) {
          one_off_ = this->create_wall_timer(
            100ms, [this]() {
              RCLCPP_INFO(this->get_logger(), "in one_off_timer callback");
              one_off_->cancel();
            });
        } else {
          RCLCPP_INFO(this->get_logger(), "not resetting one off timer");
        }
      });
  }

private:
  std::size_t count_ = 0;
  rclcpp::TimerBase::SharedPtr periodic_;
  rclcpp::TimerBase::SharedPtr one_off_;
};

int main(int argc, char * argv[])
{
  rclcpp::init(argc, argv);
  rclcpp::spin(std::make_shared<OneOffTimer>(rclcpp::NodeOptions()));
  rclcpp::shutdown();
  return 0;
}
