#ifndef IMAGE_PIPELINE__IMAGE_VIEW_NODE_HPP_
#define IMAGE_PIPELINE__IMAGE_VIEW_NODE_HPP_

#include <memory>
#include <string>

#include "image_pipeline/image.hpp"
#include "rclcpp/rclcpp.hpp"
#include "sensor_msgs/msg/image.hpp"

/// Says where each image is.
class ImageViewNode final : public rclcpp::Node
{
public:
  explicit ImageViewNode(const std::string & input, const std::string & node_name = "image_view_node")
  : Node(node_name, rclcpp::NodeOptions().use_intra_process_comms(true))
  {
    subscription_ = this->create_subscription<sensor_msgs::msg::Image>(
      input, rclcpp::SensorDataQoS(), [this](sensor_msgs::msg::Image::ConstSharedPtr image) {
        RCLCPP_INFO(
          this->get_logger(), "image of %.9f s %s", rclcpp::Time(image->header.stamp).seconds(),
          image_pipeline::place(*image).c_str());
      });
  }

private:
  rclcpp::Subscription<sensor_msgs::msg::Image>::SharedPtr subscription_;
};

#endif  // IMAGE_PIPELINE__IMAGE_VIEW_NODE_HPP_
