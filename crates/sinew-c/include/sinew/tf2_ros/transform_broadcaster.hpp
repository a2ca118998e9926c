/// Publishes the transforms of frames.
#ifndef SINEW_TF2_ROS_TRANSFORM_BROADCASTER_HPP
#define SINEW_TF2_ROS_TRANSFORM_BROADCASTER_HPP

#include <cstddef>
#include <utility>
#include <vector>

#include "geometry_msgs/msg/transform_stamped.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/error.hpp"
#include "sinew/tf2/convert.hpp"
#include "sinew/detail/node_of.hpp"

namespace tf2_ros
{

namespace detail
{

/// Both kinds of broadcasters. Any thread may send.
template<bool is_static>
class Broadcaster
{
public:
  using TransformStamped = geometry_msgs::msg::TransformStamped;

  /// Publishes with this node: an object, pointer or shared pointer.
  template<
    class NodeType, class = decltype(sinew::detail::node_of(std::declval<const NodeType &>()))>
  explicit Broadcaster(const NodeType & node)
  {
    sinew::detail::check(
      sinew_tf_broadcaster_new(
        sinew::detail::node_of(node).handle(), is_static, sinew::detail::Out(handle_)));
  }

  /// Publishes a transform.
  void sendTransform(const TransformStamped & transform) {send(&transform, 1).value();}
  /// Publishes transforms in one message.
  void sendTransform(const std::vector<TransformStamped> & transforms)
  {
    send(transforms.data(), transforms.size()).value();
  }
  sinew::Result<void> trySendTransform(const std::vector<TransformStamped> & transforms)
  {
    return send(transforms.data(), transforms.size());
  }

private:
  sinew::Result<void> send(const TransformStamped * transforms, std::size_t count)
  {
    std::vector<sinew_stamped_transform> converted;
    converted.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      converted.push_back(tf2::stamped_transform_of(transforms[i]));
    }
    return sinew::detail::result(
      sinew_tf_broadcaster_send(handle_.get(), converted.data(), converted.size()));
  }

  sinew::detail::Handle<sinew_tf_broadcaster, sinew_tf_broadcaster_free> handle_;
};

}  // namespace detail

/// Publishes the transforms of moving frames on `/tf`.
class TransformBroadcaster : public detail::Broadcaster<false>
{
public:
  using Broadcaster::Broadcaster;
};

/// Publishes the transforms of fixed frames on `/tf_static`, for listeners that come later as well:
/// each message has all that were sent so far. A frame's new transform replaces its old one.
class StaticTransformBroadcaster : public detail::Broadcaster<true>
{
public:
  using Broadcaster::Broadcaster;
};

}  // namespace tf2_ros

#endif  // SINEW_TF2_ROS_TRANSFORM_BROADCASTER_HPP
