/// Publishes the transforms of fixed frames: `StaticTransformBroadcaster`.
#ifndef SINEW_TF2_ROS_STATIC_TRANSFORM_BROADCASTER_HPP
#define SINEW_TF2_ROS_STATIC_TRANSFORM_BROADCASTER_HPP

#include "sinew/tf2_ros/transform_broadcaster.hpp"

#endif  // SINEW_TF2_ROS_STATIC_TRANSFORM_BROADCASTER_HPP
