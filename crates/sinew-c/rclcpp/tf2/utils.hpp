#include "sinew/tf2/geometry_msgs.hpp"
