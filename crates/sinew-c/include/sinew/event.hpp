/// Events of publishers and subscriptions.
#ifndef SINEW_EVENT_HPP
#define SINEW_EVENT_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "sinew/qos.hpp"

namespace sinew
{

/// Ends of the other kind that match.
struct MatchedInfo
{
  /// The number of ends that have ever matched, and of those since the last event.
  std::size_t total_count;
  std::size_t total_count_change;
  /// The number of ends that match now, and its change since the last event.
  std::size_t current_count;
  std::int32_t current_count_change;
};

/// Missed deadlines: one for each period without a message.
struct QOSDeadlineInfo
{
  std::int32_t total_count;
  std::int32_t total_count_change;
};
using QOSDeadlineOfferedInfo = QOSDeadlineInfo;
using QOSDeadlineRequestedInfo = QOSDeadlineInfo;

/// Expired leases of a publisher.
struct QOSLivelinessLostInfo
{
  std::int32_t total_count;
  std::int32_t total_count_change;
};

/// Matching publishers that are alive, and those that aren't.
struct QOSLivelinessChangedInfo
{
  std::int32_t alive_count;
  std::int32_t not_alive_count;
  std::int32_t alive_count_change;
  std::int32_t not_alive_count_change;
};

/// Ends of the topic with an incompatible QoS.
struct QOSIncompatibleQoSInfo
{
  std::int32_t total_count;
  std::int32_t total_count_change;
  /// The policy that prevented the last match.
  QosPolicyKind last_policy_kind;
  /// What one end offers and the other one requests, for people.
  std::string last_reason = {};
};
using QOSOfferedIncompatibleQoSInfo = QOSIncompatibleQoSInfo;
using QOSRequestedIncompatibleQoSInfo = QOSIncompatibleQoSInfo;

/// Ends of the topic with another type.
struct IncompatibleTypeInfo
{
  std::int32_t total_count;
  std::int32_t total_count_change;
  /// The types of both ends of the last one, for people.
  std::string last_reason = {};
};

/// Messages that were lost before the subscription's callback could get them.
struct QOSMessageLostInfo
{
  std::size_t total_count;
  std::size_t total_count_change;
};

using QOSDeadlineOfferedCallbackType = std::function<void (QOSDeadlineOfferedInfo &)>;
using QOSDeadlineRequestedCallbackType = std::function<void (QOSDeadlineRequestedInfo &)>;
using QOSLivelinessLostCallbackType = std::function<void (QOSLivelinessLostInfo &)>;
using QOSLivelinessChangedCallbackType = std::function<void (QOSLivelinessChangedInfo &)>;
using QOSOfferedIncompatibleQoSCallbackType = std::function<void (QOSOfferedIncompatibleQoSInfo &)>;
using QOSRequestedIncompatibleQoSCallbackType =
  std::function<void (QOSRequestedIncompatibleQoSInfo &)>;
using IncompatibleTypeCallbackType = std::function<void (IncompatibleTypeInfo &)>;
using QOSMessageLostCallbackType = std::function<void (QOSMessageLostInfo &)>;
using PublisherMatchedCallbackType = std::function<void (MatchedInfo &)>;
using SubscriptionMatchedCallbackType = std::function<void (MatchedInfo &)>;

/// Callbacks for the events of a publisher. An executor runs them in the callback group of the
/// options. Several events may be one call, with the sum of their changes. The destructor of the
/// publisher waits for one that is running on another thread; in the callback itself it doesn't.
struct PublisherEventCallbacks
{
  /// The publisher was silent for longer than it offers.
  QOSDeadlineOfferedCallbackType deadline_callback;
  /// Its lease expired.
  QOSLivelinessLostCallbackType liveliness_callback;
  QOSOfferedIncompatibleQoSCallbackType incompatible_qos_callback;
  IncompatibleTypeCallbackType incompatible_type_callback;
  /// A subscription matched, or ceased to match.
  PublisherMatchedCallbackType matched_callback;
};

/// Callbacks for the events of a subscription, as those of a publisher.
struct SubscriptionEventCallbacks
{
  /// No message came for longer than the subscription requests.
  QOSDeadlineRequestedCallbackType deadline_callback;
  /// A publisher came or went, its lease expired, or it lives again.
  QOSLivelinessChangedCallbackType liveliness_callback;
  QOSRequestedIncompatibleQoSCallbackType incompatible_qos_callback;
  QOSMessageLostCallbackType message_lost_callback;
  IncompatibleTypeCallbackType incompatible_type_callback;
  /// A publisher matched, or ceased to match.
  SubscriptionMatchedCallbackType matched_callback;
};

}  // namespace sinew

#endif  // SINEW_EVENT_HPP
