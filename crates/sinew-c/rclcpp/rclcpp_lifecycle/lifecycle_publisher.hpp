#include "sinew/rclcpp.hpp"
#include "sinew/rclcpp_lifecycle.hpp"
