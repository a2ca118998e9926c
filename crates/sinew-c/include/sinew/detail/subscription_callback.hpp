/// The forms of a subscription's callback.
#ifndef SINEW_DETAIL_SUBSCRIPTION_CALLBACK_HPP
#define SINEW_DETAIL_SUBSCRIPTION_CALLBACK_HPP

#include <memory>
#include <type_traits>
#include <utility>

#include "sinew/detail/callback.hpp"
#include "sinew/detail/function_traits.hpp"
#include "sinew/detail/message_handle.hpp"
#include "sinew/message_info.hpp"
#include "sinew/message_view.hpp"
#include "sinew/serialized_message.hpp"
#include "sinew/sinew.h"
#include "sinew/type_adapter.hpp"

namespace sinew::detail
{

/// Returns the value of a message as shared: allocates a control block.
template<class T>
std::shared_ptr<const T> into_shared(MessageHandle message)
{
  const auto * value = static_cast<const T *>(sinew_message_value(message.get()));
  return share(std::move(message), value);
}

/// Returns the value of a message that is the only reference: where it is if it was published as a
/// `std::unique_ptr<T>`, else moved into an allocation of its own.
template<class T>
std::unique_ptr<T> into_unique(MessageHandle message)
{
  if (sinew_message_is_adopted(message.get())) {
    void * value = nullptr;
    check(sinew_message_into_adopted(message.get(), &value));
    (void)message.release();
    return std::unique_ptr<T>(static_cast<T *>(value));
  }
  return std::make_unique<T>(std::move(*static_cast<T *>(sinew_message_value_mut(message.get()))));
}

/// How a message becomes the argument of a callback: one for each type of argument.
///
/// `is_owned`: the subscription owns its messages. `accepts_encoded`: it takes them in encoded
/// form.
template<class T, class Argument>
struct Form;

template<class T>
struct SharedForm
{
  static constexpr bool is_owned = false;
  static constexpr bool accepts_encoded = false;
};

template<class T>
struct OwnedForm
{
  static constexpr bool is_owned = true;
  static constexpr bool accepts_encoded = false;
};

struct EncodedForm
{
  static constexpr bool is_owned = false;
  static constexpr bool accepts_encoded = true;
};

/// The tag of `const T &`: a parameter that is not a `T` of its own.
template<class T>
struct Reference;

template<class T>
struct Form<T, Reference<T>>: SharedForm<T>
{
  using argument = const T &;

  template<class Call>
  static void pass(MessageHandle message, Call && call)
  {
    call(*static_cast<const T *>(sinew_message_value(message.get())));
  }
};

template<class T>
struct Form<T, T>: OwnedForm<T>
{
  using argument = T;

  template<class Call>
  static void pass(MessageHandle message, Call && call)
  {
    call(std::move(*static_cast<T *>(sinew_message_value_mut(message.get()))));
  }
};

template<class T>
struct Form<T, std::shared_ptr<const T>>: SharedForm<T>
{
  using argument = std::shared_ptr<const T>;

  template<class Call>
  static void pass(MessageHandle message, Call && call)
  {
    call(into_shared<T>(std::move(message)));
  }
};

template<class T>
struct Form<T, std::unique_ptr<T>>: OwnedForm<T>
{
  using argument = std::unique_ptr<T>;

  template<class Call>
  static void pass(MessageHandle message, Call && call)
  {
    call(into_unique<T>(std::move(message)));
  }
};

/// Deprecated in rclcpp: a message of its own, which it may change.
template<class T>
struct Form<T, std::shared_ptr<T>>: OwnedForm<T>
{
  using argument = std::shared_ptr<T>;

  template<class Call>
  static void pass(MessageHandle message, Call && call)
  {
    auto * value = static_cast<T *>(sinew_message_value_mut(message.get()));
    call(share(std::move(message), value));
  }
};

template<class T>
struct Form<T, MessageView<T>>: EncodedForm
{
  using argument = MessageView<T>;

  template<class Call>
  static void pass(MessageHandle message, Call && call)
  {
    call(MessageView<T>(std::move(message)));
  }
};

template<class T>
struct Form<T, SerializedMessage>: EncodedForm
{
  using argument = SerializedMessage;

  template<class Call>
  static void pass(MessageHandle message, Call && call)
  {
    call(serialized(message.get()));
  }
};

template<class T, class Pointer>
struct SerializedPointerForm : EncodedForm
{
  using argument = Pointer;

  template<class Call>
  static void pass(MessageHandle message, Call && call)
  {
    call(Pointer(std::make_unique<SerializedMessage>(serialized(message.get()))));
  }
};
template<class T>
struct Form<T, std::shared_ptr<const SerializedMessage>>
  : SerializedPointerForm<T, std::shared_ptr<const SerializedMessage>> {};
template<class T>
struct Form<T, std::shared_ptr<SerializedMessage>>
  : SerializedPointerForm<T, std::shared_ptr<SerializedMessage>> {};
template<class T>
struct Form<T, std::unique_ptr<SerializedMessage>>
  : SerializedPointerForm<T, std::unique_ptr<SerializedMessage>> {};

template<class T, class Argument, class = void>
inline constexpr bool is_form = false;
template<class T, class Argument>
inline constexpr bool
is_form<T, Argument, std::void_t<typename Form<T, Argument>::argument>> = true;

/// The form that was found for a callback, with or without a `MessageInfo`.
template<class T, class Argument, bool with_info>
struct FoundForm : Form<T, Argument>
{
  static constexpr bool has_info = with_info;
};

/// No form fits.
struct NoForm {};

/// The form of a parameter.
template<class T, class Parameter>
struct ArgumentOf
{
  using type = std::decay_t<Parameter>;
};
template<class T>
struct ArgumentOf<T, const T &>
{
  using type = Reference<T>;
};
template<class T>
struct ArgumentOf<T, T &>  // the message may be others' as well
{
  using type = void;
};

template<class T, class Argument, bool with_info>
using FormIfAny =
  std::conditional_t<is_form<T, Argument>, FoundForm<T, Argument, with_info>, NoForm>;

/// Tries forms in this order, each without and with a `MessageInfo`.
template<class T, class F, class ... Arguments>
struct FirstForm
{
  using type = NoForm;
};

template<class T, class F, class Argument, class ... Others>
struct FirstForm<T, F, Argument, Others...>
{
  using Value = typename Form<T, Argument>::argument;

  static auto find()
  {
    if constexpr (std::is_invocable_v<F &, Value>) {
      return FoundForm<T, Argument, false>();
    } else if constexpr (std::is_invocable_v<F &, Value, const MessageInfo &>) {
      return FoundForm<T, Argument, true>();
    } else {
      return typename FirstForm<T, F, Others...>::type();
    }
  }

  using type = decltype(find());
};

/// Finds the form of a callback by its parameters, or, where they are not known, by what it can be
/// called with.
template<class T, class F, class Parameters>
struct FormOf
{
  using type = NoForm;
};
template<class T, class F, class P>
struct FormOf<T, F, TypeList<P>>
{
  using type = FormIfAny<T, typename ArgumentOf<T, P>::type, false>;
};
template<class T, class F, class P>
struct FormOf<T, F, TypeList<P, const MessageInfo &>>
{
  using type = FormIfAny<T, typename ArgumentOf<T, P>::type, true>;
};
template<class T, class F, class P>
struct FormOf<T, F, TypeList<P, MessageInfo>>: FormOf<T, F, TypeList<P, const MessageInfo &>> {};
template<class T, class F>
struct FormOf<T, F, UnknownTypes>
  : FirstForm<T, F, Reference<T>, std::shared_ptr<const T>, std::shared_ptr<T>, std::unique_ptr<T>,
    MessageView<T>, SerializedMessage, std::shared_ptr<const SerializedMessage>,
    std::shared_ptr<SerializedMessage>, std::unique_ptr<SerializedMessage>> {};

/// The message of subscriptions that have no type of C++: it has no form but the encoded one.
struct EncodedOnly;

template<class F>
struct FormOf<EncodedOnly, F, UnknownTypes>
  : FirstForm<EncodedOnly, F, std::shared_ptr<const SerializedMessage>,
    std::shared_ptr<SerializedMessage>, std::unique_ptr<SerializedMessage>, SerializedMessage> {};

/// Calls a function object with messages of the C interface.
template<class T, class F>
struct Receiver
{
  using Found = typename FormOf<T, F, parameters_t<F>>::type;
  static constexpr bool is_callback = !std::is_same_v<Found, NoForm>;

  static sinew_status call(void * context, sinew_message * message, const sinew_message_info * info)
  {
    F & function = *static_cast<F *>(context);
    return guarded(
      [&] {
        Found::pass(
          MessageHandle(message), [&](auto && argument) {
            using Argument = decltype(argument);
            if constexpr (Found::has_info) {
              function(std::forward<Argument>(argument), MessageInfo(*info));
            } else {
              (void)info;
              function(std::forward<Argument>(argument));
            }
          });
      });
  }
};

/// What a subscription with `T` gets for a callback: of a `TypeAdapter` values of the custom type,
/// or messages, if the callback takes these and not those. Without a callback, values.
template<class T, class F, class = void>
struct Received
{
  using Type = T;
  using Value = typename Adapted<T>::Value;
};
template<class T, class F>
struct Received<
  T, F, std::enable_if_t<
    is_adapted<T>&& !std::is_null_pointer_v<F>&&
    !Receiver<typename Adapted<T>::Value, F>::is_callback>>
{
  using Type = typename Adapted<T>::Ros;
  using Value = Type;
};

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_SUBSCRIPTION_CALLBACK_HPP
