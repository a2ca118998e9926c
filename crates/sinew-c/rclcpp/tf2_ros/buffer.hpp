#include "sinew/rclcpp.hpp"
#include "sinew/tf2_ros/buffer.hpp"
