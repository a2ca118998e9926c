#ifndef IMAGE_PIPELINE__CAMERA_NODE_HPP_
#define IMAGE_PIPELINE__CAMERA_NODE_HPP_

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "image_pipeline/image.hpp"
#include "rclcpp/rclcpp.hpp"
#include "sensor_msgs/msg/image.hpp"

/// Publishes images from a thread of its own.
class CameraNode final : public rclcpp::Node
{
public:
  explicit CameraNode(const std::string & output, const std::string & node_name = "camera_node")
  : Node(node_name, rclcpp::NodeOptions().use_intra_process_comms(true)), canceled_(false)
  {
    publisher_ = this->create_publisher<sensor_msgs::msg::Image>(output, rclcpp::SensorDataQoS());
    thread_ = std::thread([this]() {return this->loop();});
  }

  ~CameraNode()
  {
    canceled_.store(true);
    if (thread_.joinable()) {
      thread_.join();
    }
  }

private:
  void loop()
  {
    using namespace std::chrono_literals;
    for (std::uint32_t number = 0; rclcpp::ok() && !canceled_.load(); ++number) {
      auto image = std::make_unique<sensor_msgs::msg::Image>();
      image_pipeline::draw_pattern(*image, number);
      image->header.stamp = this->now();
      image->header.frame_id = "camera_frame";
      image_pipeline::draw_on_image(*image, "camera", 20);
      RCLCPP_INFO(this->get_logger(), "image %u %s", number, image_pipeline::place(*image).c_str());
      publisher_->publish(std::move(image));
      rclcpp::sleep_for(200ms);
    }
  }

  rclcpp::Publisher<sensor_msgs::msg::Image>::SharedPtr publisher_;
  std::thread thread_;
  std::atomic<bool> canceled_;
};

#endif  // IMAGE_PIPELINE__CAMERA_NODE_HPP_
