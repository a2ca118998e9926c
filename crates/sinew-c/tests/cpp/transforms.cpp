// tf2 in C++: values, buffers, listeners and broadcasters, messages in other frames.
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "sinew/sinew.hpp"
#include "sinew/tf2.hpp"

namespace
{

using geometry_msgs::msg::TransformStamped;
using namespace std::chrono_literals;

constexpr double quarter = 1.57079632679489661923;

void near(double one, double other, const char * what)
{
  if (!(std::abs(one - other) < 1e-9)) {
    std::cerr << what << " is " << one << ", not " << other << '\n';
    std::exit(1);
  }
}

void near(const tf2::Vector3 & one, const tf2::Vector3 & other, const char * what)
{
  near(one.distance(other), 0, what);
}

TransformStamped placed(
  const std::string & parent, const std::string & child, int seconds, double x, double yaw = 0)
{
  TransformStamped message;
  message.header.frame_id = parent;
  message.header.stamp.sec = seconds;
  message.child_frame_id = child;
  tf2::Quaternion rotation;
  rotation.setRPY(0, 0, yaw);
  message.transform = tf2::toMsg(tf2::Transform(rotation, tf2::Vector3(x, 0, 0)));
  return message;
}

void rotations()
{
  tf2::Quaternion q;
  CHECK(q == tf2::Quaternion::getIdentity());
  for (const double roll : {-2.0, 0.0, 0.3}) {
    for (const double pitch : {-quarter, -0.7, 0.0, 1.1, quarter}) {
      for (const double yaw : {-3.0, 0.0, 2.5}) {
        q.setRPY(roll, pitch, yaw);
        near(q.length(), 1, "length");
        tf2::Matrix3x3 matrix(q), again;
        double r = 0, p = 0, y = 0;
        for (const unsigned solution : {1U, 2U}) {
          matrix.getRPY(r, p, y, solution);
          again.setRPY(r, p, y);
          for (std::size_t row = 0; row < 3; ++row) {
            CHECK(matrix[row].distance(again[row]) < 1e-7);
          }
        }
        near(matrix.determinant(), 1, "determinant");
        tf2::Quaternion back;
        matrix.getRotation(back);
        CHECK(q.angleShortestPath(back) < 1e-7);
        const tf2::Vector3 v(1, -2, 3);
        near(matrix * v, tf2::quatRotate(q, v), "rotated");
        near(matrix.inverse() * (matrix * v), v, "back");
        near(tf2::quatRotate(q.inverse(), tf2::quatRotate(q, v)), v, "back");
      }
    }
  }
  q.setRPY(0.1, -0.7, 2.5);
  double yaw = 0, pitch = 0, roll = 0;
  tf2::getEulerYPR(tf2::toMsg(q), yaw, pitch, roll);
  near(roll, 0.1, "roll");
  near(pitch, -0.7, "pitch");
  near(yaw, 2.5, "yaw");
  near(tf2::getYaw(q), 2.5, "yaw");
  const tf2::Quaternion about_z(tf2::Vector3(0, 0, 2), quarter);
  near(tf2::quatRotate(about_z, {1, 0, 0}), {0, 1, 0}, "a quarter turn");
  near(about_z.getAngle(), quarter, "angle");
  near(about_z.getAxis(), {0, 0, 1}, "axis");
  near(q.getIdentity().slerp(about_z, 0.5).getAngle(), quarter / 2, "half of it");
  near(tf2::getYaw(about_z * about_z), 2 * quarter, "twice");
  CHECK_EQ(tf2::Vector3(1, 2, 3).dot({1, 1, 1}), 6.0);
  near(tf2::Vector3(3, 4, 0).normalized(), {0.6, 0.8, 0}, "normalized");
  near(tf2::Vector3(1, 0, 0).cross({0, 1, 0}), {0, 0, 1}, "cross");

  const tf2::Transform a(about_z, {1, 0, 0}), b(q, {0, 2, 0});
  const tf2::Vector3 v(3, 1, 2);
  near((a * b)(v), a(b(v)), "one after the other");
  near(a.inverse()(a(v)), v, "inverse");
  near(a.inverseTimes(b)(v), a.inverse() * (b * v), "inverseTimes");
}

void times()
{
  CHECK(tf2::durationFromSec(1.5) == 1500ms);
  near(tf2::timeToSec(tf2::timeFromSec(2.25)), 2.25, "time");
  CHECK(tf2_ros::fromMsg(tf2_ros::toMsg(tf2::timeFromSec(2.25))) == tf2::timeFromSec(2.25));
  CHECK(tf2::TimePointZero == tf2::TimePoint());
  CHECK(tf2::get_now() > tf2::TimePointZero);
}

void lookups()
{
  tf2_ros::Buffer buffer(10s);
  CHECK(buffer.setTransform(placed("odom", "base", 10, 1), "me"));
  CHECK(buffer.setTransform(placed("odom", "base", 11, 3), "me"));
  CHECK(buffer.setTransform(placed("base", "lidar", 0, 0.5), "me", true));
  CHECK(!buffer.setTransform(placed("odom", "odom", 10, 1), "me"));
  CHECK(
    buffer.trySetTransform(placed("odom", "odom", 10, 1), "me").error().code() ==
    SINEW_ERROR_FRAME_LOOP);
  const auto found = buffer.lookupTransform("odom", "lidar", tf2::timeFromSec(10.5));
  near(found.transform.translation.x, 2.5, "x");
  CHECK_EQ(found.header.frame_id, "odom");
  CHECK_EQ(found.child_frame_id, "lidar");
  CHECK_EQ(found.header.stamp.nanosec, 500000000U);
  near(
    buffer.lookupTransform("odom", "lidar", tf2::TimePointZero).transform.translation.x, 3.5, "x");
  near(buffer.lookupTransform("odom", "base", sinew::Time(10, 0)).transform.translation.x, 1, "x");
  const auto motion = buffer.lookupTransform(
    "base", sinew::Time(11, 0), "base", tf2::timeFromSec(10), "odom", 1s);
  near(motion.transform.translation.x, -2, "motion");

  CHECK_THROWS(buffer.lookupTransform("odom", "hand", tf2::TimePointZero), tf2::LookupException);
  CHECK_THROWS(
    buffer.lookupTransform("odom", "base", tf2::timeFromSec(12)), tf2::ExtrapolationException);
  CHECK_THROWS(
    buffer.lookupTransform("odom", "base", tf2::timeFromSec(12), 1ms), tf2::TransformException);
  CHECK(buffer.setTransform(placed("map", "tree", 0, 1), "me", true));
  CHECK_THROWS(
    buffer.lookupTransform("odom", "tree", tf2::TimePointZero), tf2::ConnectivityException);
  CHECK_THROWS(
    buffer.lookupTransform("odom", std::string(300, 'a'), tf2::TimePointZero),
    tf2::InvalidArgumentException);
  CHECK_THROWS(buffer.lookupTransform("odom", "hand", tf2::TimePointZero), sinew::Exception);
  std::string error;
  CHECK(buffer.canTransform("odom", "base", tf2::TimePointZero, &error) && error.empty());
  CHECK(!buffer.canTransform("odom", "hand", tf2::TimePointZero, 1ms, &error));
  CHECK(error.find("\"hand\"") != std::string::npos);
  CHECK(!buffer.canTransform("odom", tf2::TimePointZero, "hand", tf2::TimePointZero, "base"));
  CHECK_EQ(buffer.getAllFrameNames().size(), 5U);
  CHECK(buffer._frameExists("lidar") && !buffer._frameExists("hand"));
  CHECK_EQ(
    buffer.allFramesAsString(),
    "Frame base exists with parent odom.\nFrame lidar exists with parent base.\n"
    "Frame tree exists with parent map.\n");
  buffer.clear();
  CHECK(!buffer.canTransform("odom", "base", tf2::TimePointZero));
}

void messages()
{
  tf2_ros::Buffer buffer;
  CHECK(buffer.setTransform(placed("map", "camera", 5, 1, quarter), "me"));
  geometry_msgs::msg::PointStamped point;
  point.header.frame_id = "camera";
  point.header.stamp.sec = 5;
  point.point.x = 2;
  const auto there = buffer.transform(point, "map");
  CHECK_EQ(there.header.frame_id, "map");
  near({there.point.x, there.point.y, there.point.z}, {1, 2, 0}, "point");

  geometry_msgs::msg::PoseStamped pose;
  pose.header = point.header;
  pose.pose.position.x = 2;
  pose.pose.orientation = tf2::toMsg(tf2::Quaternion({0, 0, 1}, quarter));
  geometry_msgs::msg::PoseStamped moved;
  buffer.transform(pose, moved, "map", 1s);
  near(moved.pose.position.y, 2, "pose");
  near(std::abs(tf2::getYaw(moved.pose.orientation)), 2 * quarter, "yaw");

  const auto by = buffer.lookupTransform("map", "camera", tf2::TimePointZero);
  geometry_msgs::msg::Vector3 direction, turned;
  direction.x = 2;
  tf2::doTransform(direction, turned, by);
  near({turned.x, turned.y, turned.z}, {0, 2, 0}, "direction");
  geometry_msgs::msg::PoseWithCovariance certain, rotated;
  certain.covariance[0] = 1;
  certain.covariance[7] = 4;
  certain.covariance[3] = 0.25;  // x with roll
  tf2::doTransform(certain, rotated, by);
  near(rotated.covariance[0], 4, "covariance");
  near(rotated.covariance[7], 1, "covariance");
  near(rotated.covariance[10], 0.25, "y with pitch");
  geometry_msgs::msg::WrenchStamped wrench, felt;
  wrench.wrench.force.x = 1;
  tf2::doTransform(wrench, felt, by);
  near(felt.wrench.force.y, 1, "force");
  TransformStamped inner = placed("camera", "lens", 5, 2), outer;
  tf2::doTransform(inner, outer, by);
  CHECK_EQ(outer.child_frame_id, "lens");
  near(outer.transform.translation.y, 2, "lens");

  tf2::Transform value;
  tf2::convert(by.transform, value);
  near(value.getOrigin(), {1, 0, 0}, "origin");
  geometry_msgs::msg::Pose as_pose;
  near(tf2::toMsg(value, as_pose).position.x, 1, "pose");
  geometry_msgs::msg::Vector3 as_vector;
  tf2::convert(value.getOrigin(), as_vector);
  near(as_vector.x, 1, "vector");
}

/// As tutorials write it.
class Frames : public sinew::Node
{
public:
  Frames()
  : Node("frames"),
    buffer(std::make_unique<tf2_ros::Buffer>()),
    listener(std::make_shared<tf2_ros::TransformListener>(*buffer)),
    broadcaster(std::make_unique<tf2_ros::TransformBroadcaster>(*this)),
    static_broadcaster(std::make_shared<tf2_ros::StaticTransformBroadcaster>(this)) {}

  std::unique_ptr<tf2_ros::Buffer> buffer;
  std::shared_ptr<tf2_ros::TransformListener> listener;
  std::unique_ptr<tf2_ros::TransformBroadcaster> broadcaster;
  std::shared_ptr<tf2_ros::StaticTransformBroadcaster> static_broadcaster;
};

void topics()
{
  const auto node = std::make_shared<Frames>();
  std::thread waiting([&node] {
      const auto found = node->buffer->lookupTransform("base", "arm", tf2::TimePointZero, -1ns);
      near(found.transform.translation.x, 4, "arm");
    });
  node->broadcaster->sendTransform(
    std::vector<TransformStamped>{placed("odom", "base", 5, 1), placed("base", "arm", 5, 4)});
  waiting.join();
  node->static_broadcaster->sendTransform(placed("base", "lidar", 0, 2));
  near(
    node->buffer->lookupTransform("odom", "lidar", tf2::timeFromSec(5)).transform.translation.x, 3,
    "lidar");
  tf2_ros::Buffer late;
  const tf2_ros::TransformListener late_listener(late, node);
  CHECK(late.canTransform("base", "lidar", tf2::TimePointZero, -1ns));
  sinew::shutdown();
  CHECK(!node->static_broadcaster->trySendTransform({placed("base", "lidar", 0, 2)}));
  CHECK_THROWS(node->broadcaster->sendTransform(placed("base", "arm", 6, 2)), sinew::Exception);
}

}  // namespace

int main(int argc, char ** argv)
{
  sinew::init(argc, argv);
  rotations();
  times();
  lookups();
  messages();
  topics();
}
