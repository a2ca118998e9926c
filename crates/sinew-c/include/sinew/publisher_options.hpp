/// The options of a publisher.
#ifndef SINEW_PUBLISHER_OPTIONS_HPP
#define SINEW_PUBLISHER_OPTIONS_HPP

#include <cstddef>
#include <optional>

#include "sinew/callback_group.hpp"
#include "sinew/event.hpp"
#include "sinew/qos.hpp"

namespace sinew
{

/// Accepted for rclcpp's users; messages inside a process move by pointer in any case.
enum class IntraProcessSetting {Enable, Disable, NodeDefault};

/// The options of a publisher.
struct PublisherOptions
{
  /// Accepted, without an effect.
  IntraProcessSetting use_intra_process_comm = IntraProcessSetting::NodeDefault;

  PublisherEventCallbacks event_callbacks;

  /// Whether a warning is logged for a subscription with an incompatible QoS, if
  /// `event_callbacks` has no callback for it.
  bool use_default_callbacks = true;

  /// The group of the callbacks for events. By default the node's own.
  CallbackGroup::SharedPtr callback_group;

  /// The policies of its QoS that parameters may change. By default none.
  QosOverridingOptions qos_overriding_options;

  /// The number of messages that its pool keeps for later ones. By default as many as the QoS
  /// needs.
  std::optional<std::size_t> pool_capacity;
};

namespace detail
{

inline bool has_callbacks(const PublisherEventCallbacks & events) noexcept
{
  return events.deadline_callback || events.liveliness_callback ||
         events.incompatible_qos_callback || events.incompatible_type_callback ||
         events.matched_callback;
}

}  // namespace detail

}  // namespace sinew

#endif  // SINEW_PUBLISHER_OPTIONS_HPP
