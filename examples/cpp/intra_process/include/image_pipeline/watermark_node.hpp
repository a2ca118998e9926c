#ifndef IMAGE_PIPELINE__WATERMARK_NODE_HPP_
#define IMAGE_PIPELINE__WATERMARK_NODE_HPP_

#include <memory>
#include <string>
#include <utility>

#include "image_pipeline/image.hpp"
#include "rclcpp/rclcpp.hpp"
#include "sensor_msgs/msg/image.hpp"

/// Draws a text into each image, and passes it on.
class WatermarkNode final : public rclcpp::Node
{
public:
  WatermarkNode(
    const std::string & input, const std::string & output, const std::string & text,
    const std::string & node_name = "watermark_node")
  : Node(node_name, rclcpp::NodeOptions().use_intra_process_comms(true))
  {
    rclcpp::SensorDataQoS qos;
    publisher_ = this->create_publisher<sensor_msgs::msg::Image>(output, qos);
    std::weak_ptr<rclcpp::Publisher<sensor_msgs::msg::Image>> weak = publisher_;
    subscription_ = this->create_subscription<sensor_msgs::msg::Image>(
      input, qos, [weak, text, this](sensor_msgs::msg::Image::UniquePtr image) {
        auto publisher = weak.lock();
        if (!publisher) {
          return;
        }
        image_pipeline::draw_on_image(*image, text, 40);
        RCLCPP_INFO(this->get_logger(), "image %s", image_pipeline::place(*image).c_str());
        publisher->publish(std::move(image));
      });
  }

private:
  rclcpp::Publisher<sensor_msgs::msg::Image>::SharedPtr publisher_;
  rclcpp::Subscription<sensor_msgs::msg::Image>::SharedPtr subscription_;
};

#endif  // IMAGE_PIPELINE__WATERMARK_NODE_HPP_
