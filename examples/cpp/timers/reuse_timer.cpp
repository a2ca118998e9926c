// A timer that is made once, cancelled by its callback, and reset by another timer.
#include <chrono>
#include <memory>

#include "rclcpp/rclcpp.hpp"

using namespace std::chrono_literals;

class ReuseTimer : public rclcpp::Node
{
public:
  explicit ReuseTimer(const rclcpp::NodeOptions & options)
  : Node("reuse_timer", options)
  {
    one_off_ = this->create_wall_timer(
      100ms, [this]() {
        RCLCPP_INFO(this->get_logger(), "in one_off_timer callback");
        one_off_->cancel();
      });
    one_off_->cancel(); // it waits for its first reset
    periodic_ = this->create_wall_timer(
      200ms, [this]() {
        RCLCPP_INFO(this->get_logger(), "in periodic_timer callback");
        if (count_++ % 3 == 0) {
          RCLCPP_INFO(
            this->get_logger(), "resetting one off timer, which %s cancelled",
            one_off_->is_canceled() ? "is" : "isn't");
          one_off_->reset();
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
  rclcpp::spin(std::make_shared<ReuseTimer>(rclcpp::NodeOptions()));
  rclcpp::shutdown();
  return 0;
}
