// Messages that are written where subscriptions read them: a plain message on loan.
#include <chrono>
#include <memory>

#include "geometry_msgs/msg/point.hpp"
#include "rclcpp/rclcpp.hpp"

using namespace std::chrono_literals;

class LoanedMessageTalker : public rclcpp::Node
{
public:
  explicit LoanedMessageTalker(const rclcpp::NodeOptions & options = rclcpp::NodeOptions())
  : Node("loaned_message_talker", options)
  {
    publisher_ = this->create_publisher<geometry_msgs::msg::Point>("point", rclcpp::SensorDataQoS());
    timer_ = this->create_wall_timer(
      200ms, [this]() {
        auto loaned = publisher_->borrow_loaned_message();
        loaned.get().x = count_;
        loaned.get().y = 2 * count_;
        loaned.get().z = 0;
        RCLCPP_INFO(
          this->get_logger(), "Publishing: (%g, %g), can loan: %s", loaned.get().x, loaned.get().y,
          publisher_->can_loan_messages() ? "yes" : "no");
        publisher_->publish(std::move(loaned));
        count_ += 1;
      });
    subscription_ = this->create_subscription<geometry_msgs::msg::Point>(
      "point", rclcpp::SensorDataQoS(), [this](const geometry_msgs::msg::Point & point) {
        RCLCPP_INFO(this->get_logger(), "Received: (%g, %g)", point.x, point.y);
      });
  }

private:
  rclcpp::Publisher<geometry_msgs::msg::Point>::SharedPtr publisher_;
  rclcpp::Subscription<geometry_msgs::msg::Point>::SharedPtr subscription_;
  rclcpp::TimerBase::SharedPtr timer_;
  double count_ = 1;
};

int main(int argc, char * argv[])
{
  rclcpp::init(argc, argv);
  rclcpp::spin(std::make_shared<LoanedMessageTalker>());
  rclcpp::shutdown();
  return 0;
}
