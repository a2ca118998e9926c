/// tf2: the poses of a robot's frames, with the names of ROS 2's `tf2`, `tf2_ros` and
/// `tf2_geometry_msgs`.
///
///     tf2_ros::Buffer buffer;
///     tf2_ros::TransformListener listener(buffer, node);
///     auto pose = buffer.lookupTransform("map", "base_link", tf2::TimePointZero);
#ifndef SINEW_TF2_HPP
#define SINEW_TF2_HPP

#include "sinew/tf2/exceptions.hpp"
#include "sinew/tf2/geometry_msgs.hpp"
#include "sinew/tf2/linear_math.hpp"
#include "sinew/tf2/time.hpp"
#include "sinew/tf2_ros/buffer.hpp"
#include "sinew/tf2_ros/transform_broadcaster.hpp"
#include "sinew/tf2_ros/transform_listener.hpp"

#endif  // SINEW_TF2_HPP
