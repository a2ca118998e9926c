// Publishers.
#pragma once

#include <rmw/types.h>
#include <sinew/detail/handle.hpp>
#include <sinew/sinew.h>

#include <string>

#include "event.hpp"
#include "loans.hpp"
#include "type_support.hpp"

namespace rmw_sinew {

/// What `data` of a `rmw_publisher_t` points to.
class Publisher {
public:
  using Handle = sinew::detail::Handle<sinew_publisher, sinew_publisher_free>;
  using DraftHandle = sinew::detail::Handle<sinew_draft, sinew_draft_free>;

  /// Throws a `std::exception` with the sentence of the failure. So do all functions.
  Publisher(
    const sinew_node * node, const rosidl_message_type_support_t * type_support,
    const char * topic, const rmw_qos_profile_t & profile);

  const sinew_publisher * get() const noexcept { return handle_.get(); }

  /// Its events, for `rmw_publisher_event_init`.
  Events & events() noexcept { return events_; }

  /// The topic's name. It lives as long as the publisher.
  const char * topic() const noexcept { return topic_.c_str(); }

  /// Writes the message where subscriptions read it.
  void publish(const void * message) const;

  /// Publishes a message that is encoded already. The bytes are copied once.
  void publish_encoded(const rmw_serialized_message_t & message) const;

  const sinew_message_type * type() const noexcept { return support_.type(); }

  /// Whether values of its type can be loaned.
  bool can_loan() const noexcept { return support_.plain_size() > 0; }

  /// Lends a value in shared memory, with any content.
  void * borrow();

  /// Publishes a value that is on loan, where it lies. It isn't on loan any more, also after a
  /// failure.
  void publish_loan(const void * value);

  /// Drops a value that is on loan.
  void return_loan(const void * value) { loans_.remove(value); }

  /// The QoS that it offers.
  rmw_qos_profile_t profile() const;

private:
  MessageSupport support_;
  std::string topic_;
  bool avoid_ros_namespace_conventions_;
  Handle handle_;
  Events events_{handle_.get()};
  Loans<DraftHandle> loans_;
};

/// Returns what a handle stands for that was checked.
inline Publisher & publisher_of(const rmw_publisher_t * publisher)
{
  return *static_cast<Publisher *>(publisher->data);
}

}  // namespace rmw_sinew
