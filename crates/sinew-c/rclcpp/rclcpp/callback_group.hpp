#include "sinew/rclcpp.hpp"
