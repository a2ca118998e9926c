// Subscriptions.
#pragma once

#include <rmw/types.h>
#include <sinew/detail/handle.hpp>
#include <sinew/sinew.h>

#include <chrono>
#include <string>

#include "encoded_message.hpp"
#include "event.hpp"
#include "loans.hpp"
#include "type_support.hpp"
#include "waitable.hpp"

namespace rmw_sinew {

/// What `data` of a `rmw_subscription_t` points to, as an `Entity`.
class Subscription : public Entity {
public:
  using Handle = sinew::detail::Handle<sinew_subscription, sinew_subscription_free>;

  /// Throws a `std::exception` or `Failure`. So do all functions.
  Subscription(
    const sinew_node * node, const rosidl_message_type_support_t * type_support,
    const char * topic, const rmw_qos_profile_t & profile, bool ignore_local_publications);

  const sinew_subscription * get() const noexcept { return handle_.get(); }

  /// Its events, for `rmw_subscription_event_init`.
  Events & events() noexcept { return events_; }

  /// The topic's name. It lives as long as the subscription.
  const char * topic() const noexcept { return topic_.c_str(); }

  /// Takes the oldest message that has not been taken yet; null if there is none. `info` may be
  /// null.
  MessageHandle take(rmw_message_info_t * info);

  /// Reads a message that was taken.
  void decode(const MessageHandle & message, void * value) const;

  /// Whether values of its type can be loaned.
  bool can_loan() const noexcept { return support_.plain_size() > 0; }

  /// Lends the value of a message that was taken, where it lies. It must not be written to.
  void * lend(MessageHandle message);

  /// Releases a message that is on loan.
  void return_loan(const void * value) { loans_.remove(value); }

  /// The QoS that it requests.
  rmw_qos_profile_t profile() const;

private:
  Handle make(
    const sinew_node * node, const rmw_qos_profile_t & profile, bool ignore_local_publications);
  MessageHandle take_message(sinew_message_info & about);

  MessageSupport support_;
  std::string topic_;
  bool avoid_ros_namespace_conventions_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Handle handle_;
  Events events_{handle_.get()};
  Loans<MessageHandle> loans_;
};

/// Returns what a handle stands for that was checked.
inline Subscription & subscription_of(const rmw_subscription_t * subscription)
{
  return entity_of<Subscription>(subscription->data);
}

}  // namespace rmw_sinew
