#include "sinew/rclcpp.hpp"
#include "sinew/tf2_ros/transform_listener.hpp"
