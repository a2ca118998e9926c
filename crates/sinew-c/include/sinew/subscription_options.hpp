/// The options of a subscription.
#ifndef SINEW_SUBSCRIPTION_OPTIONS_HPP
#define SINEW_SUBSCRIPTION_OPTIONS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "sinew/callback_group.hpp"
#include "sinew/event.hpp"
#include "sinew/publisher_options.hpp"
#include "sinew/qos.hpp"
#include "sinew/type_support.hpp"

namespace sinew
{

enum class TopicStatisticsState {Enable, Disable, NodeDefault};

/// Accepted for rclcpp's users; the callback's argument decides.
enum class IntraProcessBufferType {SharedPtr, UniquePtr, CallbackDefault};

namespace detail
{

/// A filter of messages of a type.
struct MessageFilter
{
  const sinew_message_type * type;
  std::function<bool (const void *)> passes;

  static bool run(void * self, const void * value, const std::uint8_t *, std::size_t) noexcept
  {
    return value == nullptr || static_cast<const MessageFilter *>(self)->passes(value);
  }
};

}  // namespace detail

/// The options of a subscription.
struct SubscriptionOptions
{
  SubscriptionEventCallbacks event_callbacks;

  /// Whether a warning is logged for a publisher with an incompatible QoS, if `event_callbacks` has
  /// no callback for it.
  bool use_default_callbacks = true;

  /// Whether messages of publishers of its own node are ignored.
  bool ignore_local_publications = false;

  /// The group of its callbacks. By default the node's own, which is mutually exclusive.
  CallbackGroup::SharedPtr callback_group;

  /// Accepted, without an effect.
  IntraProcessSetting use_intra_process_comm = IntraProcessSetting::NodeDefault;
  IntraProcessBufferType intra_process_buffer_type = IntraProcessBufferType::CallbackDefault;

  /// The age and the period of its messages, published as `statistics_msgs/msg/MetricsMessage`.
  struct TopicStatisticsOptions
  {
    /// By default they aren't.
    TopicStatisticsState state = TopicStatisticsState::NodeDefault;
    std::string publish_topic = "/statistics";
    std::chrono::milliseconds publish_period{std::chrono::seconds(1)};
  } topic_stats_options;

  /// The policies of its QoS that parameters may change. By default none.
  QosOverridingOptions qos_overriding_options;

  /// Lets only messages pass for which a function returns true, before anything is copied or kept:
  /// `options.filter<Image>([](const Image & image) {return image.width > 0;})`. The subscription
  /// is one of the same type.
  ///
  /// It runs on the publisher's thread, or on any thread of this process that brings in messages of
  /// other processes; several may call it at once. It should be quick. It must not throw: an
  /// exception ends the program, as one of a thread does.
  template<class T, class F>
  SubscriptionOptions & filter(F passes)
  {
    filter_ = detail::MessageFilter{
      detail::message_type<T>(),
      [passes = std::move(passes)](const void * value) {
        return static_cast<bool>(passes(*static_cast<const T *>(value)));
      }};
    return *this;
  }
  const std::optional<detail::MessageFilter> & filter() const noexcept {return filter_;}

private:
  std::optional<detail::MessageFilter> filter_;
};

namespace detail
{

inline bool has_callbacks(const SubscriptionEventCallbacks & events) noexcept
{
  return events.deadline_callback || events.liveliness_callback ||
         events.incompatible_qos_callback || events.message_lost_callback ||
         events.incompatible_type_callback || events.matched_callback;
}

}  // namespace detail

}  // namespace sinew

#endif  // SINEW_SUBSCRIPTION_OPTIONS_HPP
