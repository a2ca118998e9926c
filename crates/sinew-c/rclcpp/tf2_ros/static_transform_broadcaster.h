#include "sinew/rclcpp.hpp"
#include "sinew/tf2_ros/static_transform_broadcaster.hpp"
