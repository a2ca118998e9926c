// Publishers, subscriptions and their events in the front end of C++. The suite says neither how a
// message is passed nor which form a callback has, so these take one form after the other.
#ifndef TOPICS_HPP
#define TOPICS_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "front.h"
#include "handles.hpp"
#include "messages.hpp"
#include "sinew/sinew.hpp"

namespace
{

using test_msgs::Number;
using test_msgs::Text;

/// A node, and how many subscriptions were made in it.
struct Node
{
  std::shared_ptr<sinew::Node> node;
  std::atomic<unsigned> subscriptions{0};

  explicit Node(std::shared_ptr<sinew::Node> made)
  : node(std::move(made)) {}
};

// ---- events ----

template<class Info>
front_status front_status_of(const Info & info)
{
  return {{info.total_count, info.total_count_change, 0, 0}, 0, nullptr};
}

front_status front_status_of(const sinew::QOSMessageLostInfo & info)
{
  const auto total = static_cast<std::int64_t>(info.total_count);
  return {{total, static_cast<std::int64_t>(info.total_count_change), 0, 0}, 0, nullptr};
}

front_status front_status_of(const sinew::MatchedInfo & info)
{
  return {{static_cast<std::int64_t>(info.total_count), static_cast<std::int64_t>(info.total_count_change),
      static_cast<std::int64_t>(info.current_count), info.current_count_change}, 0, nullptr};
}

front_status front_status_of(const sinew::QOSLivelinessChangedInfo & info)
{
  return {{info.alive_count, info.not_alive_count, info.alive_count_change, info.not_alive_count_change},
    0, nullptr};
}

front_status front_status_of(const sinew::QOSIncompatibleQoSInfo & info)
{
  return {{info.total_count, info.total_count_change, 0, 0},
    static_cast<std::uint32_t>(info.last_policy_kind), info.last_reason.c_str()};
}

front_status front_status_of(const sinew::IncompatibleTypeInfo & info)
{
  return {{info.total_count, info.total_count_change, 0, 0}, 0, info.last_reason.c_str()};
}

/// Sets a callback for an event.
template<class Info>
void set(std::function<void (Info &)> & callback, const Callback<front_event> & handler)
{
  callback = [handler](Info & info) {
      const front_status status = front_status_of(info);
      handler(&status);
    };
}

/// Sets the events of both ends.
template<class Events>
void set_event(Events & events, int event, const Callback<front_event> & handler)
{
  switch (event) {
    case SINEW_EVENT_MATCHED: return set(events.matched_callback, handler);
    case SINEW_EVENT_DEADLINE_MISSED: return set(events.deadline_callback, handler);
    case SINEW_EVENT_INCOMPATIBLE_QOS: return set(events.incompatible_qos_callback, handler);
    case SINEW_EVENT_INCOMPATIBLE_TYPE: return set(events.incompatible_type_callback, handler);
    default: return;
  }
}

// ---- publishers ----

class AnyPublisher
{
public:
  virtual ~AnyPublisher() = default;
  virtual void publish(const std::uint8_t * bytes, std::size_t length) = 0;
  virtual sinew::PublisherBase & base() = 0;
};

template<class T>
class PublisherOf : public AnyPublisher
{
public:
  explicit PublisherOf(std::shared_ptr<sinew::Publisher<T>> publisher)
  : publisher_(std::move(publisher)) {}

  sinew::PublisherBase & base() override {return *publisher_;}

  /// Each message is published in another way.
  void publish(const std::uint8_t * bytes, std::size_t length) override
  {
    T message = message_of<T>(bytes, length);
    switch (published_++ % 4) {
      case 0:
        publisher_->publish(message);
        break;
      case 1:
        publisher_->publish(std::make_unique<T>(std::move(message)));
        break;
      case 2:
        publisher_->publish(std::move(message));
        break;
      default:
        auto loan = publisher_->borrow_loaned_message();
        loan.get() = std::move(message);
        publisher_->publish(std::move(loan));
    }
  }

private:
  std::shared_ptr<sinew::Publisher<T>> publisher_;
  std::atomic<unsigned> published_{0};
};

template<class T>
void * new_publisher(
  sinew::Node & node, const char * topic, const sinew::QoS & qos,
  const sinew::PublisherOptions & options)
{
  return new std::shared_ptr<AnyPublisher>(
    std::make_shared<PublisherOf<T>>(node.create_publisher<T>(topic, qos, options)));
}

// ---- subscriptions ----

class AnySubscription
{
public:
  virtual ~AnySubscription() = default;
  /// Returns whether there was a message.
  virtual bool take(const Callback<front_receive> & receive, sinew::MessageInfo & info) = 0;
  virtual sinew::SubscriptionBase & base() = 0;
};

template<class T>
class SubscriptionOf : public AnySubscription
{
public:
  explicit SubscriptionOf(std::shared_ptr<sinew::Subscription<T>> subscription)
  : subscription_(std::move(subscription)) {}

  sinew::SubscriptionBase & base() override {return *subscription_;}

  /// Each message is taken in another way.
  bool take(const Callback<front_receive> & receive, sinew::MessageInfo & info) override
  {
    const unsigned form = taken_++ % 3;
    if (form == 0) {
      T message;
      if (subscription_->take(message, info)) {
        hand_over(receive, message);
        return true;
      }
    } else if (form == 1) {
      if (const auto message = subscription_->take_shared(info)) {
        hand_over(receive, *message);
        return true;
      }
    } else if (const auto view = subscription_->take_view(info)) {
      hand_over(receive, view->read());
      return true;
    }
    return false;
  }

private:
  std::shared_ptr<sinew::Subscription<T>> subscription_;
  std::atomic<unsigned> taken_{0};
};

/// The form of a subscription's callback: another one for each subscription of a node, and they
/// begin with another one on each topic.
unsigned form_of(Node & node, std::string_view topic)
{
  return static_cast<unsigned>(topic.size()) + node.subscriptions++;
}

/// Makes a subscription with a callback that owns its messages, or that shares them.
std::shared_ptr<sinew::Subscription<Number>> with_callback(
  Node & node, const char * topic, const sinew::QoS & qos, const sinew::SubscriptionOptions & options,
  bool owned, const Callback<front_receive> & receive)
{
  const auto make = [&](auto callback) {
      return node.node->create_subscription<Number>(topic, qos, std::move(callback), options);
    };
  switch (form_of(node, topic) % 3 + (owned ? 3 : 0)) {
    case 0:
      return make([receive](const Number & number) {hand_over(receive, number);});
    case 1:
      return make([receive](std::shared_ptr<const Number> number) {hand_over(receive, *number);});
    case 2:
      return make(
        [receive](sinew::MessageView<Number> number, const sinew::MessageInfo & info) {
          (void)info.publication_sequence();
          hand_over(receive, number.read());
        });
    case 3:
      return make([receive](std::unique_ptr<Number> number) {hand_over(receive, *number);});
    case 4:
      return make([receive](Number number) {hand_over(receive, number);});
    default:
      return make([receive](std::shared_ptr<Number> number) {hand_over(receive, *number);});
  }
}

template<class T>
void * handle_of(std::shared_ptr<sinew::Subscription<T>> made)
{
  return new std::shared_ptr<AnySubscription>(std::make_shared<SubscriptionOf<T>>(std::move(made)));
}

/// Callbacks and filters are for numbers; texts are taken.
void * new_subscription(
  Node & node, const char * topic, const front_subscription_options & with,
  sinew::SubscriptionOptions options)
{
  const sinew::QoS qos(sinew::QoSInitialization::from_rmw(*with.qos), *with.qos);
  if (with.type == FRONT_TEXT) {
    return handle_of(node.node->create_subscription<Text>(topic, qos, nullptr, options));
  }
  if (with.passes != nullptr) {
    options.filter<Number>(
      [passes = Callback<front_passes>(with.passes, with.passes_context)](const Number & number) {
        return hand_over([&passes](auto ... bytes) {return passes.call(bytes ...);}, number);
      });
  }
  if (with.callback == nullptr) {
    return handle_of(node.node->create_subscription<Number>(topic, qos, nullptr, options));
  }
  const Callback<front_receive> receive(with.callback, with.callback_context);
  return handle_of(with_callback(node, topic, qos, options, with.owned, receive));
}

}  // namespace

#endif  // TOPICS_HPP
