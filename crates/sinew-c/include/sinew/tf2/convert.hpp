/// Transforms of the C interface from and to messages, and messages to other values.
#ifndef SINEW_TF2_CONVERT_HPP
#define SINEW_TF2_CONVERT_HPP

#include <cstdint>
#include <string>

#include "builtin_interfaces/msg/time.hpp"
#include "geometry_msgs/msg/transform_stamped.hpp"
#include "sinew/detail/nanoseconds.hpp"
#include "sinew/sinew.h"
#include "sinew/tf2/time.hpp"

namespace tf2
{

/// Returns a value in the frame to which a transform leads. `sinew/tf2/geometry_msgs.hpp`
/// specialises it; programs do so for types of their own.
template<class T>
void doTransform(const T & in, T & out, const geometry_msgs::msg::TransformStamped & by);

template<class Allocator>
std::int64_t nanoseconds_of(const builtin_interfaces::msg::Time_<Allocator> & time)
{
  return time.sec * sinew::detail::nanoseconds_per_second + time.nanosec;
}

/// Returns the transform as the C interface has it; the names are those of the message.
inline sinew_stamped_transform stamped_transform_of(
  const geometry_msgs::msg::TransformStamped & message)
{
  const auto & translation = message.transform.translation;
  const auto & rotation = message.transform.rotation;
  return {message.header.frame_id.c_str(), message.child_frame_id.c_str(),
    nanoseconds_of(message.header.stamp),
    {{translation.x, translation.y, translation.z},
      {rotation.x, rotation.y, rotation.z, rotation.w}}};
}

/// Returns the message of a transform of the C interface.
inline geometry_msgs::msg::TransformStamped message_of(
  const std::string & parent, const std::string & child, const sinew_transform & transform,
  sinew_time stamp)
{
  geometry_msgs::msg::TransformStamped message;
  sinew::detail::split(stamp, message.header.stamp);
  message.header.frame_id = parent;
  message.child_frame_id = child;
  message.transform.translation.x = transform.translation[0];
  message.transform.translation.y = transform.translation[1];
  message.transform.translation.z = transform.translation[2];
  message.transform.rotation.x = transform.rotation[0];
  message.transform.rotation.y = transform.rotation[1];
  message.transform.rotation.z = transform.rotation[2];
  message.transform.rotation.w = transform.rotation[3];
  return message;
}

}  // namespace tf2

namespace tf2_ros
{

template<class Allocator>
tf2::TimePoint fromMsg(const builtin_interfaces::msg::Time_<Allocator> & time)
{
  return tf2::TimePoint(tf2::Duration(tf2::nanoseconds_of(time)));
}

inline builtin_interfaces::msg::Time toMsg(const tf2::TimePoint & time)
{
  builtin_interfaces::msg::Time message;
  sinew::detail::split(time.time_since_epoch().count(), message);
  return message;
}

}  // namespace tf2_ros

#endif  // SINEW_TF2_CONVERT_HPP
