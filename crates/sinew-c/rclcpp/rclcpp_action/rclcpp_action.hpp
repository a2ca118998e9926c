#include "sinew/rclcpp.hpp"
#include "sinew/rclcpp_action.hpp"
