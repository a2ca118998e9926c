/// Subscriptions.
#ifndef SINEW_SUBSCRIPTION_HPP
#define SINEW_SUBSCRIPTION_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "sinew/detail/event_handler.hpp"
#include "sinew/detail/listener.hpp"
#include "sinew/detail/subscription_callback.hpp"
#include "sinew/duration.hpp"
#include "sinew/error.hpp"
#include "sinew/message_info.hpp"
#include "sinew/message_view.hpp"
#include "sinew/qos.hpp"
#include "sinew/serialized_message.hpp"
#include "sinew/sinew.h"
#include "sinew/subscription_options.hpp"
#include "sinew/type_support.hpp"

namespace sinew
{

/// What subscriptions of all types have. Any thread may call any function.
class SubscriptionBase
{
public:
  using SharedPtr = std::shared_ptr<SubscriptionBase>;
  using ConstSharedPtr = std::shared_ptr<const SubscriptionBase>;
  using WeakPtr = std::weak_ptr<SubscriptionBase>;

  SubscriptionBase(const SubscriptionBase &) = delete;
  SubscriptionBase & operator=(const SubscriptionBase &) = delete;

  /// The topic's full name, after remapping.
  const char * get_topic_name() const noexcept {return sinew_subscription_topic(handle());}

  /// The QoS that it requests; what was left to other ends is chosen.
  QoS get_actual_qos() const {return detail::qos_of(handle(), sinew_subscription_qos);}

  /// The number of publishers that match now, in all processes.
  std::size_t get_publisher_count() const noexcept
  {
    return sinew_subscription_publisher_count(handle());
  }

  /// Waits until at least `count` publishers match; a negative timeout is for ever. Returns whether
  /// they did in time.
  bool wait_for_publishers(std::size_t count, const Duration & timeout) const
  {
    return detail::in_time(
      sinew_subscription_wait_for_publishers(handle(), count, timeout.nanoseconds()));
  }

  /// Has a function called with the number of new messages: with 1 for each that arrives, on the
  /// thread that brings it, and at once with the number of those that wait. Several threads may
  /// call it at once: it should only wake others. Null clears it. An exception is logged.
  void set_on_new_message_callback(std::function<void (std::size_t)> callback)
  {
    detail::set_listener(
      handle(), sinew_subscription_set_listener, sinew_subscription_clear_listener,
      std::move(callback));
  }
  void clear_on_new_message_callback() {set_on_new_message_callback(nullptr);}

  /// Takes the oldest message in encoded form. Returns whether there was one. Never blocks.
  bool take_serialized(SerializedMessage & message, MessageInfo & info)
  {
    return try_take_serialized(message, info).value();
  }
  Result<bool> try_take_serialized(SerializedMessage & message, MessageInfo & info)
  {
    const auto taken = try_take_message(&info);
    if (!taken) {
      return taken.error();
    }
    if (*taken == nullptr) {
      return false;
    }
    if (const auto encoded = detail::encode_into(taken->get(), message); !encoded) {
      return encoded.error();
    }
    return true;
  }

  /// Its counters.
  sinew_subscription_statistics get_statistics() const
  {
    auto statistics = detail::options<sinew_subscription_statistics>();
    detail::check(sinew_subscription_read_statistics(handle(), &statistics));
    return statistics;
  }

  /// The handle of the C interface.
  sinew_subscription * handle() const noexcept {return parts_.handle.get();}

protected:
  using Shared = std::shared_ptr<sinew_subscription>;

  /// A callback of the C interface.
  struct CallbackParts
  {
    sinew_subscription_callback call = nullptr;
    void * context = nullptr;
    sinew_drop drop = nullptr;
    bool is_owned = false;
    bool accepts_encoded = false;
    bool has_info = false;
  };

  static CallbackParts taken_by_hand(bool accepts_encoded)
  {
    CallbackParts parts;
    parts.accepts_encoded = accepts_encoded;
    parts.has_info = true;
    return parts;
  }

  template<class Receiver, class F>
  static CallbackParts parts_of(F && callback)
  {
    using Form = typename Receiver::Found;
    return CallbackParts{
      &Receiver::call, detail::context_of(std::forward<F>(callback)),
      &detail::drop_context<std::decay_t<F>>, Form::is_owned, Form::accepts_encoded,
      Form::has_info};
  }

  struct Parts
  {
    Shared handle;
    detail::EventGuards events;
  };

  explicit SubscriptionBase(Parts parts) noexcept
  : parts_(std::move(parts)) {}

  /// No callback runs after this: it waits for one that runs on another thread. In the callback
  /// itself it doesn't wait.
  ~SubscriptionBase() {(void)sinew_subscription_close(handle());}

  /// Takes over the callback's context in any case.
  static Result<Parts> try_parts(
    const std::shared_ptr<sinew_node> & node, const std::string & topic,
    const sinew_message_type * type, const QoS & qos, const SubscriptionOptions & options,
    const CallbackParts & callback)
  {
    const QosOverridingOptions & overrides = options.qos_overriding_options;
    const bool has_events = detail::has_callbacks(options.event_callbacks);
    auto settings = detail::options<sinew_subscription_options>();
    settings.qos = &qos.get_rmw_qos_profile();
    settings.qos_overrides = overrides.policies();
    settings.qos_overrides_id = overrides.get_id().empty() ? nullptr : overrides.get_id().c_str();
    settings.group = detail::handle_of(options.callback_group);
    settings.owned = callback.is_owned;
    settings.accept_encoded = callback.accepts_encoded;
    settings.message_info = callback.has_info ? SINEW_YES : SINEW_NO;
    settings.ignore_own_publications = options.ignore_local_publications;
    settings.keep_events = has_events || !options.use_default_callbacks;
    const auto & statistics = options.topic_stats_options;
    if (statistics.state == TopicStatisticsState::Enable) {
      settings.topic_statistics_period = Duration(statistics.publish_period).nanoseconds();
      settings.topic_statistics_topic = statistics.publish_topic.c_str();
    }
    if (const auto & filter = options.filter()) {
      using Filter = detail::MessageFilter;
      if (filter->type != type) {
        drop_parts(callback);
        return Error(
          SINEW_ERROR_INVALID_ARGUMENT, "the filter of the subscription to " + topic +
          " is for messages of another type: it takes what the subscription gets");
      }
      settings.filter = &Filter::run;
      settings.filter_context = detail::context_of(*filter);
      settings.filter_drop_context = &detail::drop_context<Filter>;
    }
    detail::Handle<sinew_subscription, sinew_subscription_free> made;
    const auto status = callback.call == nullptr ?
      sinew_subscription_new(node.get(), topic.c_str(), type, &settings, detail::Out(made)) :
      sinew_subscription_new_with_callback(
      node.get(), topic.c_str(), type, &settings, callback.call, callback.context, callback.drop,
      detail::Out(made));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    Shared handle = std::move(made);
    if (overrides.get_validation_callback()) {
      const auto valid =
        detail::validate(overrides, detail::qos_of(handle.get(), sinew_subscription_qos));
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

  /// Takes the oldest message; null if there is none.
  Result<detail::MessageHandle> try_take_message(MessageInfo * info)
  {
    detail::MessageHandle message;
    const auto status = sinew_subscription_take(
      handle(), detail::Out(message), info == nullptr ? nullptr : &info->get());
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return message;
  }

private:
  static void drop_parts(const CallbackParts & callback)
  {
    if (callback.drop != nullptr) {
      callback.drop(callback.context);
    }
  }

  static Result<detail::EventGuards> listen(
    const Shared & handle, detail::EventPlace place, const SubscriptionOptions & options)
  {
    using Callbacks = SubscriptionEventCallbacks;
    detail::Events<sinew_subscription, sinew_subscription_set_event_listener, Callbacks> events(
      handle, std::move(place), options.event_callbacks);
    events.add<sinew_subscription_take_message_lost, &Callbacks::message_lost_callback>(
      SINEW_EVENT_MESSAGE_LOST);
    events.add_shared<
      sinew_subscription_take_deadline_missed, sinew_subscription_take_liveliness_changed,
      sinew_subscription_take_incompatible_type, sinew_subscription_take_matched,
      sinew_subscription_take_incompatible_qos>(
      SINEW_EVENT_LIVELINESS_CHANGED, options.use_default_callbacks);
    return std::move(events).guards();
  }

  Parts parts_;
};

/// Receives the messages of a type on a topic: by a callback that an executor runs, or taken by
/// hand.
///
/// The callback's first argument decides what it gets; the second may be a `const MessageInfo &`:
///
/// | argument | message |
/// |---|---|
/// | `const T &` | lent for the call; others may be reading it, too |
/// | `std::shared_ptr<const T>` | shared, to be kept |
/// | `std::unique_ptr<T>` | its own: the very pointer that was published, if nothing else gets the message; else a copy |
/// | `T` | its own, moved out of the message |
/// | `std::shared_ptr<T>` | its own |
/// | `sinew::MessageView<T>` | where it lies, in the form in which it came |
/// | `const SerializedMessage &`, `std::shared_ptr<const SerializedMessage>` and so on | its encoded form, copied |
///
/// A generic lambda or the result of `std::bind` gets the first of `const T &`, the pointers and
/// the other forms with which it can be called.
///
/// `T` is a type of messages, or a `TypeAdapter`: then these are values of the custom type, or, if
/// the callback takes its message, messages.
///
/// Destroying it waits until its callback, if it is running on another thread, has returned.
template<class T>
class Subscription : public SubscriptionBase
{
public:
  using SharedPtr = std::shared_ptr<Subscription>;
  using ConstSharedPtr = std::shared_ptr<const Subscription>;
  using WeakPtr = std::weak_ptr<Subscription>;
  using UniquePtr = std::unique_ptr<Subscription>;
  /// The type of the messages that others see.
  using ROSMessageType = typename detail::Adapted<T>::Ros;
  /// `T`, or the custom type if `T` is a `TypeAdapter`.
  using SubscribedType = typename detail::Adapted<T>::Value;

  /// Makes a subscription with a callback; without one (`nullptr`), messages are taken by hand.
  template<class F>
  static Result<SharedPtr> try_make(
    const std::shared_ptr<sinew_node> & node, const std::string & topic, const QoS & qos,
    F && callback, const SubscriptionOptions & options = {})
  {
    using Received = detail::Received<T, std::decay_t<F>>;
    const auto type = detail::try_message_type<typename Received::Type>();
    if (!type) {
      return type.error();
    }
    auto parts = try_parts(
      node, topic, *type, qos, options,
      callback_of<typename Received::Value>(std::forward<F>(callback)));
    if (!parts) {
      return parts.error();
    }
    return SharedPtr(new Subscription(*std::move(parts)));
  }

  /// Takes the oldest message. Returns whether there was one. Never blocks. The message is moved if
  /// nothing else has it, otherwise copied; if its type can't be copied, that fails.
  bool take(SubscribedType & message, MessageInfo & info) {return try_take(message, info).value();}
  Result<bool> try_take(SubscribedType & message, MessageInfo & info)
  {
    auto taken = try_take_message(&info);
    if (!taken) {
      return taken.error();
    }
    if (*taken == nullptr) {
      return false;
    }
    if constexpr (detail::is_generated<SubscribedType>) {
      if (sinew_message_is_encoded(taken->get())) {
        const auto read = MessageView<SubscribedType>(*std::move(taken)).try_read(message);
        return read ? Result<bool>(true) : read.error();
      }
    }
    if (sinew_message_is_sole(taken->get())) {
      message = std::move(*static_cast<SubscribedType *>(sinew_message_value_mut(taken->get())));
    } else if constexpr (std::is_copy_assignable_v<SubscribedType>) {
      message = *static_cast<const SubscribedType *>(sinew_message_value(taken->get()));
    } else {
      return Error(
        SINEW_ERROR_NOT_SOLE, "a message of " + std::string(get_topic_name()) +
        " can't be taken: others have it, and its type can't be copied; use take_shared");
    }
    return true;
  }

  /// Takes the oldest message without copying it, except that one in encoded form is decoded; null
  /// if there is none. Never blocks. Allocates a control block.
  std::shared_ptr<const SubscribedType> take_shared(MessageInfo & info)
  {
    return try_take_shared(info).value();
  }
  Result<std::shared_ptr<const SubscribedType>> try_take_shared(MessageInfo & info)
  {
    auto taken = try_take_message(&info);
    if (!taken) {
      return taken.error();
    }
    if (*taken == nullptr) {
      return std::shared_ptr<const SubscribedType>();
    }
    detail::MessageHandle value;
    const auto status = sinew_message_into_value(taken->get(), detail::Out(value));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    (void)taken->release();
    return detail::into_shared<SubscribedType>(std::move(value));
  }

  /// Takes the oldest message where it lies; nothing if there is none. Never blocks.
  std::optional<MessageView<SubscribedType>> take_view(MessageInfo & info)
  {
    return try_take_view(info).value();
  }
  Result<std::optional<MessageView<SubscribedType>>> try_take_view(MessageInfo & info)
  {
    auto taken = try_take_message(&info);
    if (!taken) {
      return taken.error();
    }
    if (*taken == nullptr) {
      return std::optional<MessageView<SubscribedType>>();
    }
    return std::make_optional<MessageView<SubscribedType>>(*std::move(taken));
  }

private:
  explicit Subscription(Parts parts) noexcept
  : SubscriptionBase(std::move(parts)) {}

  /// Messages that are taken by hand may be encoded: taking decodes them to where they are wanted.
  template<class Value>
  static CallbackParts callback_of(std::nullptr_t) {return taken_by_hand(!detail::is_adapted<T>);}

  template<class Value, class F>
  static CallbackParts callback_of(F && callback)
  {
    using Receiver = detail::Receiver<Value, std::decay_t<F>>;
    static_assert(
      Receiver::is_callback,
      "the callback takes none of: const T &, std::shared_ptr<const T>, std::unique_ptr<T>, T, "
      "std::shared_ptr<T>, sinew::MessageView<T>, const sinew::SerializedMessage &; with or "
      "without a second argument, const sinew::MessageInfo &");
    using Form = typename Receiver::Found;
    static_assert(
      !detail::is_adapted<T>|| detail::is_generated<Value>||
      !std::is_same_v<typename Form::argument, MessageView<Value>>,
      "a MessageView of a subscription with a TypeAdapter is one of its message");
    static_assert(
      !Form::is_owned || std::is_copy_constructible_v<Value>,
      "the callback takes a message of its own, so T needs a copy constructor: others may get the "
      "message, too");
    return parts_of<Receiver>(std::forward<F>(callback));
  }
};

}  // namespace sinew

#endif  // SINEW_SUBSCRIPTION_HPP
