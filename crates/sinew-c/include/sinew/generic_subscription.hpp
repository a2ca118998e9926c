/// Subscriptions with a type that is known when the program runs.
#ifndef SINEW_GENERIC_SUBSCRIPTION_HPP
#define SINEW_GENERIC_SUBSCRIPTION_HPP

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "sinew/detail/subscription_callback.hpp"
#include "sinew/error.hpp"
#include "sinew/qos.hpp"
#include "sinew/sinew.h"
#include "sinew/subscription.hpp"
#include "sinew/subscription_options.hpp"

namespace sinew
{

/// Receives the messages of a type that the program names, in encoded form: by a callback that an
/// executor runs, or by `take_serialized`. Nodes make them: `Node::create_generic_subscription`.
///
/// The callback takes a `std::shared_ptr<const SerializedMessage>`, a
/// `std::shared_ptr<SerializedMessage>`, a `std::unique_ptr<SerializedMessage>`, or a
/// `const SerializedMessage &`; its second argument may be a `const MessageInfo &`.
class GenericSubscription : public SubscriptionBase
{
public:
  using SharedPtr = std::shared_ptr<GenericSubscription>;
  using WeakPtr = std::weak_ptr<GenericSubscription>;

  template<class F>
  static Result<SharedPtr> try_make(
    const std::shared_ptr<sinew_node> & node, const std::string & topic,
    const sinew_message_type * type, const QoS & qos, F && callback,
    const SubscriptionOptions & options = {})
  {
    auto parts =
      try_parts(node, topic, type, qos, options, callback_of(std::forward<F>(callback)));
    if (!parts) {
      return parts.error();
    }
    return SharedPtr(new GenericSubscription(*std::move(parts)));
  }

private:
  explicit GenericSubscription(Parts parts) noexcept
  : SubscriptionBase(std::move(parts)) {}

  static CallbackParts callback_of(std::nullptr_t) {return taken_by_hand(true);}

  template<class F>
  static CallbackParts callback_of(F && callback)
  {
    using Receiver = detail::Receiver<detail::EncodedOnly, std::decay_t<F>>;
    static_assert(
      Receiver::is_callback,
      "the callback of a generic subscription takes a SerializedMessage, or a pointer to one; with "
      "or without a second argument, const sinew::MessageInfo &");
    return parts_of<Receiver>(std::forward<F>(callback));
  }
};

}  // namespace sinew

#endif  // SINEW_GENERIC_SUBSCRIPTION_HPP
