/// Publishers.
#ifndef SINEW_PUBLISHER_HPP
#define SINEW_PUBLISHER_HPP

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "sinew/detail/clear.hpp"
#include "sinew/detail/event_handler.hpp"
#include "sinew/draft.hpp"
#include "sinew/duration.hpp"
#include "sinew/error.hpp"
#include "sinew/loaned_message.hpp"
#include "sinew/message_info.hpp"
#include "sinew/message_view.hpp"
#include "sinew/publisher_options.hpp"
#include "sinew/qos.hpp"
#include "sinew/serialized_message.hpp"
#include "sinew/sinew.h"
#include "sinew/type_support.hpp"

namespace sinew
{

/// What publishers of all types have. Any thread may call any function.
class PublisherBase
{
public:
  using SharedPtr = std::shared_ptr<PublisherBase>;
  using WeakPtr = std::weak_ptr<PublisherBase>;

  PublisherBase(const PublisherBase &) = delete;
  PublisherBase & operator=(const PublisherBase &) = delete;

  /// The topic's full name, after remapping.
  const char * get_topic_name() const noexcept {return sinew_publisher_topic(handle());}

  /// The QoS that it offers; what was left to other ends is chosen.
  QoS get_actual_qos() const {return detail::qos_of(handle(), sinew_publisher_qos);}

  /// The number of messages that it keeps.
  std::size_t get_queue_size() const {return get_actual_qos().depth();}

  /// The number of subscriptions that match now, in all processes.
  std::size_t get_subscription_count() const noexcept
  {
    return sinew_publisher_subscription_count(handle());
  }

  /// Its identity, as in the `MessageInfo` of its messages.
  Gid get_gid() const
  {
    sinew_gid gid{};
    detail::check(sinew_publisher_gid(handle(), &gid));
    return detail::gid(gid);
  }

  /// Waits until at least `count` subscriptions match; a negative timeout is for ever. Returns
  /// whether they did in time.
  bool wait_for_subscriptions(std::size_t count, const Duration & timeout) const
  {
    return detail::in_time(
      sinew_publisher_wait_for_subscriptions(handle(), count, timeout.nanoseconds()));
  }

  /// Waits until the reliable subscriptions of other processes have read what was published; a
  /// negative timeout is for ever. Returns whether they did in time.
  bool wait_for_all_acked(const Duration & timeout = Duration::from_nanoseconds(-1)) const
  {
    return detail::in_time(
      sinew_publisher_wait_for_all_acked(handle(), timeout.nanoseconds()));
  }

  /// Asserts its liveliness, if that is manual by topic. Publishing does so, too.
  bool assert_liveliness() const noexcept
  {
    return sinew_publisher_assert_liveliness(handle()) == SINEW_OK;
  }

  /// Publishes an encoded message. The bytes are copied once, to where subscriptions read them, and
  /// not checked: a subscription that can't decode them loses the message and reports that.
  void publish(const SerializedMessage & message) {published(try_publish(message));}
  Result<void> try_publish(const SerializedMessage & message)
  {
    if (!admits()) {
      return {};
    }
    const auto bytes = message.bytes();
    const std::uint8_t none = 0;
    const std::uint8_t * data = bytes.empty() ? &none : bytes.data();
    return detail::result(sinew_publisher_publish_bytes(handle(), data, bytes.size()));
  }

  /// Reserves memory for a message of `length` encoded bytes, to be written where it is published:
  /// for large messages with sequences. A plain message is better borrowed.
  Draft draft(std::size_t length) {return try_draft(length).value();}
  Result<Draft> try_draft(std::size_t length) {return Draft::try_make(handle(), length);}

  /// Publishes a draft; its bytes are not checked, as those of a `SerializedMessage`.
  void publish(Draft && draft) {published(try_publish(std::move(draft)));}
  Result<void> try_publish(Draft && draft)
  {
    Draft taken(std::move(draft));
    if (!admits()) {
      return {};
    }
    return detail::result(sinew_publisher_publish_draft(handle(), taken.release()));
  }

  /// Its counters.
  sinew_publisher_statistics get_statistics() const
  {
    auto statistics = detail::options<sinew_publisher_statistics>();
    detail::check(sinew_publisher_read_statistics(handle(), &statistics));
    return statistics;
  }

  /// The handle of the C interface.
  sinew_publisher * handle() const noexcept {return parts_.handle.get();}

protected:
  using Shared = std::shared_ptr<sinew_publisher>;

  struct Parts
  {
    Shared handle;
    detail::EventGuards events;
  };

  explicit PublisherBase(Parts parts) noexcept
  : parts_(std::move(parts)) {}
  virtual ~PublisherBase() = default;

  /// Whether messages are published now; else they are dropped. Publishers of managed nodes rest.
  virtual bool admits() {return true;}

  /// Ctrl-C may come between `ok()` and a message: that is no failure.
  static void published(const Result<void> & outcome)
  {
    if (!outcome && outcome.error().code() != SINEW_ERROR_SHUTDOWN) {
      outcome.error().raise();
    }
  }

  static Result<Parts> try_parts(
    const std::shared_ptr<sinew_node> & node, const std::string & topic,
    const sinew_message_type * type, const QoS & qos, const PublisherOptions & options)
  {
    const QosOverridingOptions & overrides = options.qos_overriding_options;
    const bool has_events = detail::has_callbacks(options.event_callbacks);
    auto settings = detail::options<sinew_publisher_options>();
    settings.qos = &qos.get_rmw_qos_profile();
    settings.qos_overrides = overrides.policies();
    settings.qos_overrides_id = overrides.get_id().empty() ? nullptr : overrides.get_id().c_str();
    settings.keep_events = has_events || !options.use_default_callbacks;
    settings.has_pool_capacity = options.pool_capacity.has_value();
    settings.pool_capacity = options.pool_capacity.value_or(0);
    detail::Handle<sinew_publisher, sinew_publisher_free> made;
    const auto status =
      sinew_publisher_new(node.get(), topic.c_str(), type, &settings, detail::Out(made));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    Shared handle = std::move(made);
    if (overrides.get_validation_callback()) {
      const auto valid =
        detail::validate(overrides, detail::qos_of(handle.get(), sinew_publisher_qos));
      if (!valid) {
        return valid.error();
      }
    }
    if (!has_events) {
      return Parts{std::move(handle), {}};
    }
    auto events = listen(handle, {node, options.callback_group}, options);
    if (!events) {
      return events.error();
    }
    return Parts{std::move(handle), *std::move(events)};
  }

private:
  static Result<detail::EventGuards> listen(
    const Shared & handle, detail::EventPlace place, const PublisherOptions & options)
  {
    using Callbacks = PublisherEventCallbacks;
    detail::Events<sinew_publisher, sinew_publisher_set_event_listener, Callbacks> events(
      handle, std::move(place), options.event_callbacks);
    events.add_shared<
      sinew_publisher_take_deadline_missed, sinew_publisher_take_liveliness_lost,
      sinew_publisher_take_incompatible_type, sinew_publisher_take_matched,
      sinew_publisher_take_incompatible_qos>(
      SINEW_EVENT_LIVELINESS_LOST, options.use_default_callbacks);
    return std::move(events).guards();
  }

  Parts parts_;
};

/// Sends messages of a type to all subscriptions of a topic: those of its process get the message
/// itself, by pointer, where that is possible.
///
/// `publish` returns when every matching subscription has the message. It blocks only if both ends
/// are reliable and keep all, up to the QoS's `max_blocking_time`. After a failure no subscription
/// has it: the topic's history is full, there is no shared memory left, or the message has no
/// encoded form, as one of its strings is longer than its bound. Once the context is shut down,
/// `publish` does nothing, as in rclcpp, and `try_publish` fails.
///
/// `T` is a type of messages, or a `TypeAdapter`.
template<class T>
class Publisher : public PublisherBase
{
public:
  using SharedPtr = std::shared_ptr<Publisher>;
  using ConstSharedPtr = std::shared_ptr<const Publisher>;
  using WeakPtr = std::weak_ptr<Publisher>;
  using UniquePtr = std::unique_ptr<Publisher>;
  /// The type of the messages that others see.
  using ROSMessageType = typename detail::Adapted<T>::Ros;
  /// `T`, or the custom type if `T` is a `TypeAdapter`.
  using PublishedType = typename detail::Adapted<T>::Value;
  using MessageUniquePtr = std::unique_ptr<PublishedType>;
  using MessageSharedPtr = std::shared_ptr<const PublishedType>;

  using PublisherBase::publish;
  using PublisherBase::try_publish;

  /// Whether `M` is the message of the `TypeAdapter`.
  template<class M>
  static constexpr bool is_other_form =
    std::is_same_v<M, ROSMessageType>&& !std::is_same_v<M, PublishedType>;

  static Result<SharedPtr> try_make(
    const std::shared_ptr<sinew_node> & node, const std::string & topic, const QoS & qos,
    const PublisherOptions & options = {})
  {
    const auto type = detail::try_message_type<T>();
    if (!type) {
      return type.error();
    }
    auto parts = try_parts(node, topic, *type, qos, options);
    if (!parts) {
      return parts.error();
    }
    SharedPtr made(new Publisher(*std::move(parts)));
    (void)sinew_publisher_prefetch(made->handle(), made.get(), sizeof(Publisher));
    return made;
  }

  /// Publishes a copy of the message.
  void publish(const PublishedType & message) {published(try_publish(message));}
  Result<void> try_publish(const PublishedType & message)
  {
    if (!admits()) {
      return {};
    }
    return detail::result(sinew_publisher_publish_value(handle(), &message));
  }

  /// Publishes the message itself, with its ownership. One subscription of this process whose
  /// callback takes a `std::unique_ptr<PublishedType>` gets the same pointer. The message is gone
  /// also after a failure.
  void publish(std::unique_ptr<PublishedType> message) {published(try_publish(std::move(message)));}
  Result<void> try_publish(std::unique_ptr<PublishedType> message)
  {
    if (!admits()) {
      return {};
    }
    const auto status = sinew_publisher_publish_adopted(handle(), message.get());
    if (status == SINEW_OK || !is_still_ours(status)) {
      (void)message.release();
    }
    return detail::result(status);
  }

  /// Moves the message into one of its own, and publishes that.
  void publish(PublishedType && message) {published(try_publish(std::move(message)));}
  Result<void> try_publish(PublishedType && message)
  {
    return try_publish(std::make_unique<PublishedType>(std::move(message)));
  }

  /// Of a publisher with a `TypeAdapter`: converts a message to the custom type, and publishes
  /// that.
  template<class M, class = std::enable_if_t<is_other_form<M>>>
  void publish(const M & message) {published(try_publish(message));}
  template<class M, class = std::enable_if_t<is_other_form<M>>>
  Result<void> try_publish(const M & message)
  {
    if (!admits()) {
      return {};  // before the conversion
    }
    auto value = std::make_unique<PublishedType>();
    detail::AdapterOf<T>::type::convert_to_custom(message, *value);
    return try_publish(std::move(value));
  }
  template<class M, class = std::enable_if_t<is_other_form<M>>>
  void publish(std::unique_ptr<M> message) {published(try_publish(*message));}
  template<class M, class = std::enable_if_t<is_other_form<M>>>
  Result<void> try_publish(std::unique_ptr<M> message) {return try_publish(*message);}

  /// Publishes a message where it lies: one that was received and is passed on, or that the program
  /// keeps. Nothing is copied, except for subscriptions that get a message of their own.
  void publish(MessageView<PublishedType> message) {published(try_publish(std::move(message)));}
  Result<void> try_publish(MessageView<PublishedType> message)
  {
    if (!admits()) {
      return {};
    }
    return detail::result(sinew_publisher_publish(handle(), message.release().release()));
  }

  /// Returns a message from the publisher's pool, to be filled in and published. Its strings and
  /// sequences are empty, with the capacity of an earlier message; its other fields may have that
  /// message's values. (`LoanedMessage::try_make` returns all its content.)
  LoanedMessage<PublishedType> borrow_loaned_message() {return try_borrow_loaned_message().value();}
  Result<LoanedMessage<PublishedType>> try_borrow_loaned_message()
  {
    auto loan = LoanedMessage<PublishedType>::try_make(handle());
    if constexpr (detail::is_generated<PublishedType>) {
      if constexpr (!MessageTraits<PublishedType>::is_plain) {
        if (loan) {
          detail::Clearer cleared;
          (void)cleared.message(loan->get());
        }
      }
    }
    return loan;
  }
  bool can_loan_messages() const noexcept {return true;}

  void publish(LoanedMessage<PublishedType> && message)
  {
    published(try_publish(std::move(message)));
  }
  Result<void> try_publish(LoanedMessage<PublishedType> && message)
  {
    LoanedMessage<PublishedType> taken(std::move(message));
    if (!admits()) {
      return {};
    }
    return detail::result(sinew_publisher_publish(handle(), taken.release().release()));
  }

protected:
  explicit Publisher(PublisherBase::Parts parts) noexcept
  : PublisherBase(std::move(parts)) {}

private:
  /// Whether the value of `sinew_publisher_publish_adopted` was not taken over.
  static bool is_still_ours(sinew_status status) noexcept
  {
    return status == SINEW_ERROR_NULL_ARGUMENT || status == SINEW_ERROR_INVALID_HANDLE ||
           status == SINEW_ERROR_INVALID_TYPE_TABLE;
  }
};

}  // namespace sinew

#endif  // SINEW_PUBLISHER_HPP
