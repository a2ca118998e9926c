/// The options of a subscription.
#ifndef SINEW_SUBSCRIPTION_OPTIONS_HPP
#define SINEW_SUBSCRIPTION_OPTIONS_HPP

#include <chrono>
#include <string>

#include "sinew/callback_group.hpp"
#include "sinew/event.hpp"
#include "sinew/publisher_options.hpp"
#include "sinew/qos.hpp"

namespace sinew
{

enum class TopicStatisticsState {Enable, Disable, NodeDefault};

/// Accepted for rclcpp's users; the callback's argument decides.
enum class IntraProcessBufferType {SharedPtr, UniquePtr, CallbackDefault};

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
