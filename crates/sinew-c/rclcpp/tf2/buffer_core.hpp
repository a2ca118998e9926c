#include "sinew/tf2_ros/buffer.hpp"
