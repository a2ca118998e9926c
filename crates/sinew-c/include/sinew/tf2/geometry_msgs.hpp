/// Messages of `geometry_msgs` in other frames, and from and to the values of tf2.
#ifndef SINEW_TF2_GEOMETRY_MSGS_HPP
#define SINEW_TF2_GEOMETRY_MSGS_HPP

#include <array>
#include <cstddef>

#include "geometry_msgs/msg/point_stamped.hpp"
#include "geometry_msgs/msg/pose_array.hpp"
#include "geometry_msgs/msg/pose_stamped.hpp"
#include "geometry_msgs/msg/pose_with_covariance_stamped.hpp"
#include "geometry_msgs/msg/quaternion_stamped.hpp"
#include "geometry_msgs/msg/transform_stamped.hpp"
#include "geometry_msgs/msg/twist_stamped.hpp"
#include "geometry_msgs/msg/vector3_stamped.hpp"
#include "geometry_msgs/msg/wrench_stamped.hpp"
#include "sinew/tf2/convert.hpp"
#include "sinew/tf2/linear_math.hpp"

namespace tf2
{

namespace msg = ::geometry_msgs::msg;

// Values from and to messages.

inline void fromMsg(const msg::Vector3 & in, Vector3 & out) {out.setValue(in.x, in.y, in.z);}
inline void fromMsg(const msg::Point & in, Vector3 & out) {out.setValue(in.x, in.y, in.z);}
inline void fromMsg(const msg::Quaternion & in, Quaternion & out)
{
  out.setValue(in.x, in.y, in.z, in.w);
}
inline void fromMsg(const msg::Transform & in, Transform & out)
{
  fromMsg(in.translation, out.getOrigin());
  out.setRotation(Quaternion(in.rotation.x, in.rotation.y, in.rotation.z, in.rotation.w));
}
inline void fromMsg(const msg::Pose & in, Transform & out)
{
  fromMsg(in.position, out.getOrigin());
  const auto & q = in.orientation;
  out.setRotation(Quaternion(q.x, q.y, q.z, q.w));
}

inline msg::Vector3 toMsg(const Vector3 & in)
{
  msg::Vector3 out;
  out.x = in.x();
  out.y = in.y();
  out.z = in.z();
  return out;
}
inline msg::Quaternion toMsg(const Quaternion & in)
{
  msg::Quaternion out;
  out.x = in.x();
  out.y = in.y();
  out.z = in.z();
  out.w = in.w();
  return out;
}
inline msg::Transform toMsg(const Transform & in)
{
  msg::Transform out;
  out.translation = toMsg(in.getOrigin());
  out.rotation = toMsg(in.getRotation());
  return out;
}
inline msg::Point & toMsg(const Vector3 & in, msg::Point & out)
{
  out.x = in.x();
  out.y = in.y();
  out.z = in.z();
  return out;
}
inline msg::Pose & toMsg(const Transform & in, msg::Pose & out)
{
  toMsg(in.getOrigin(), out.position);
  out.orientation = toMsg(in.getRotation());
  return out;
}

// Values without a header in the frame to which a transform leads.

template<>
inline void doTransform(const msg::Point & in, msg::Point & out, const msg::TransformStamped & by)
{
  Transform transform;
  fromMsg(by.transform, transform);
  toMsg(transform(Vector3(in.x, in.y, in.z)), out);
}
/// A direction is only rotated.
template<>
inline void doTransform(
  const msg::Vector3 & in, msg::Vector3 & out, const msg::TransformStamped & by)
{
  Quaternion rotation;
  fromMsg(by.transform.rotation, rotation);
  out = toMsg(quatRotate(rotation, Vector3(in.x, in.y, in.z)));
}
template<>
inline void doTransform(
  const msg::Quaternion & in, msg::Quaternion & out, const msg::TransformStamped & by)
{
  Quaternion rotation;
  fromMsg(by.transform.rotation, rotation);
  out = toMsg(rotation * Quaternion(in.x, in.y, in.z, in.w));
}
template<>
inline void doTransform(const msg::Pose & in, msg::Pose & out, const msg::TransformStamped & by)
{
  doTransform(in.position, out.position, by);
  doTransform(in.orientation, out.orientation, by);
}
template<>
inline void doTransform(
  const msg::Transform & in, msg::Transform & out, const msg::TransformStamped & by)
{
  Transform transform, own;
  fromMsg(by.transform, transform);
  fromMsg(in, own);
  out = toMsg(transform * own);
}
/// Both vectors are rotated; the twist and the wrench keep their reference point.
template<>
inline void doTransform(const msg::Twist & in, msg::Twist & out, const msg::TransformStamped & by)
{
  doTransform(in.linear, out.linear, by);
  doTransform(in.angular, out.angular, by);
}
template<>
inline void doTransform(const msg::Wrench & in, msg::Wrench & out, const msg::TransformStamped & by)
{
  doTransform(in.force, out.force, by);
  doTransform(in.torque, out.torque, by);
}

/// Rotates a 6 by 6 matrix of position and rotation: each of its four blocks `B` becomes `R B R^T`.
inline std::array<double, 36> transformCovariance(
  const std::array<double, 36> & covariance, const Transform & by)
{
  std::array<double, 36> rotated{};
  const Matrix3x3 turned_back = by.getBasis().transpose();
  for (std::size_t down = 0; down < 6; down += 3) {
    for (std::size_t right = 0; right < 6; right += 3) {
      Matrix3x3 block;
      for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t column = 0; column < 3; ++column) {
          block[row][column] = covariance[(down + row) * 6 + right + column];
        }
      }
      block = by.getBasis() * block * turned_back;
      for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t column = 0; column < 3; ++column) {
          rotated[(down + row) * 6 + right + column] = block[row][column];
        }
      }
    }
  }
  return rotated;
}
template<>
inline void doTransform(
  const msg::PoseWithCovariance & in, msg::PoseWithCovariance & out,
  const msg::TransformStamped & by)
{
  Transform transform;
  fromMsg(by.transform, transform);
  doTransform(in.pose, out.pose, by);
  out.covariance = transformCovariance(in.covariance, transform);
}

// Messages with a header get that of the transform: the time, and the name of the frame.

template<>
inline void doTransform(
  const msg::PointStamped & in, msg::PointStamped & out, const msg::TransformStamped & by)
{
  doTransform(in.point, out.point, by);
  out.header = by.header;
}
template<>
inline void doTransform(
  const msg::Vector3Stamped & in, msg::Vector3Stamped & out, const msg::TransformStamped & by)
{
  doTransform(in.vector, out.vector, by);
  out.header = by.header;
}
template<>
inline void doTransform(
  const msg::QuaternionStamped & in, msg::QuaternionStamped & out, const msg::TransformStamped & by)
{
  doTransform(in.quaternion, out.quaternion, by);
  out.header = by.header;
}
template<>
inline void doTransform(
  const msg::PoseStamped & in, msg::PoseStamped & out, const msg::TransformStamped & by)
{
  doTransform(in.pose, out.pose, by);
  out.header = by.header;
}
template<>
inline void doTransform(
  const msg::PoseWithCovarianceStamped & in, msg::PoseWithCovarianceStamped & out,
  const msg::TransformStamped & by)
{
  doTransform(in.pose, out.pose, by);
  out.header = by.header;
}
template<>
inline void doTransform(
  const msg::PoseArray & in, msg::PoseArray & out, const msg::TransformStamped & by)
{
  out.poses.resize(in.poses.size());
  for (std::size_t i = 0; i < in.poses.size(); ++i) {
    doTransform(in.poses[i], out.poses[i], by);
  }
  out.header = by.header;
}
template<>
inline void doTransform(
  const msg::TransformStamped & in, msg::TransformStamped & out, const msg::TransformStamped & by)
{
  doTransform(in.transform, out.transform, by);
  out.child_frame_id = in.child_frame_id;
  out.header = by.header;
}
template<>
inline void doTransform(
  const msg::TwistStamped & in, msg::TwistStamped & out, const msg::TransformStamped & by)
{
  doTransform(in.twist, out.twist, by);
  out.header = by.header;
}
template<>
inline void doTransform(
  const msg::WrenchStamped & in, msg::WrenchStamped & out, const msg::TransformStamped & by)
{
  doTransform(in.wrench, out.wrench, by);
  out.header = by.header;
}

// Angles of a rotation about the fixed axes, in rad.

inline void getEulerYPR(const Quaternion & rotation, double & yaw, double & pitch, double & roll)
{
  Matrix3x3(rotation).getRPY(roll, pitch, yaw);
}
inline void getEulerYPR(
  const msg::Quaternion & rotation, double & yaw, double & pitch, double & roll)
{
  getEulerYPR(Quaternion(rotation.x, rotation.y, rotation.z, rotation.w), yaw, pitch, roll);
}
template<class Rotation>
double getYaw(const Rotation & rotation)
{
  double yaw = 0, pitch = 0, roll = 0;
  getEulerYPR(rotation, yaw, pitch, roll);
  return yaw;
}

/// Converts a value of tf2 to a message.
template<class From, class To>
auto convert(const From & from, To & to)->decltype(toMsg(from), void()) {to = toMsg(from);}
/// Converts a message to a value of tf2.
template<class From, class To>
auto convert(const From & from, To & to)->decltype(fromMsg(from, to), void()) {fromMsg(from, to);}

}  // namespace tf2

#endif  // SINEW_TF2_GEOMETRY_MSGS_HPP
