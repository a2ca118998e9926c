/// Fills a buffer from `/tf` and `/tf_static`.
#ifndef SINEW_TF2_ROS_TRANSFORM_LISTENER_HPP
#define SINEW_TF2_ROS_TRANSFORM_LISTENER_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sinew/detail/handle.hpp"
#include "sinew/error.hpp"
#include "sinew/node.hpp"
#include "sinew/tf2_ros/buffer.hpp"
#include "sinew/detail/node_of.hpp"

namespace tf2_ros
{

/// Fills a buffer from `/tf` and `/tf_static` as long as it lives, on the threads that deliver the
/// messages: it needs no executor and no thread of its own. Transforms that the buffer refuses are
/// logged. The buffer may go first.
class TransformListener
{
public:
  /// Subscribes with this node: an object, pointer or shared pointer. (`spin_thread` is for users
  /// of tf2_ros.)
  template<
    class NodeType, class = decltype(sinew::detail::node_of(std::declval<const NodeType &>()))>
  TransformListener(const Buffer & buffer, const NodeType & node, bool spin_thread = true)
  {
    (void)spin_thread;
    listen(buffer, sinew::detail::node_of(node).handle());
  }

  /// Subscribes with a node of its own.
  explicit TransformListener(const Buffer & buffer, bool spin_thread = true)
  {
    (void)spin_thread;
    const auto address = reinterpret_cast<std::uintptr_t>(this);
    own_node_.emplace("transform_listener_impl_" + std::to_string(address));
    listen(buffer, own_node_->handle());
  }

  TransformListener(const TransformListener &) = delete;
  TransformListener & operator=(const TransformListener &) = delete;

private:
  void listen(const Buffer & buffer, const sinew_node * node)
  {
    sinew::detail::check(
      sinew_tf_listener_new(buffer.handle(), node, sinew::detail::Out(handle_)));
  }

  std::optional<sinew::Node> own_node_;
  sinew::detail::Handle<sinew_tf_listener, sinew_tf_listener_free> handle_;
};

}  // namespace tf2_ros

#endif  // SINEW_TF2_ROS_TRANSFORM_LISTENER_HPP
