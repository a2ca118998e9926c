// A camera, a watermark and a view in one process: each image stays at one address.
#include <memory>

#include "image_pipeline/camera_node.hpp"
#include "image_pipeline/image_view_node.hpp"
#include "image_pipeline/watermark_node.hpp"
#include "rclcpp/rclcpp.hpp"

int main(int argc, char * argv[])
{
  rclcpp::init(argc, argv);
  rclcpp::executors::SingleThreadedExecutor executor;

  std::shared_ptr<CameraNode> camera_node;
  auto watermark_node =
    std::make_shared<WatermarkNode>("image", "watermarked_image", "Hello world!");
  auto image_view_node = std::make_shared<ImageViewNode>("watermarked_image");
  camera_node = std::make_shared<CameraNode>("image");

  executor.add_node(camera_node);
  executor.add_node(watermark_node);
  executor.add_node(image_view_node);
  executor.spin();

  rclcpp::shutdown();
  return 0;
}
