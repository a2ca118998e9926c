/// Requests and responses as messages of C. They move by ownership: the value stays where it is.
#ifndef SINEW_DETAIL_SERVICE_MESSAGE_HPP
#define SINEW_DETAIL_SERVICE_MESSAGE_HPP

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "sinew/detail/handle.hpp"
#include "sinew/detail/message_handle.hpp"
#include "sinew/error.hpp"
#include "sinew/message_view.hpp"
#include "sinew/serialized_message.hpp"
#include "sinew/sinew.h"

namespace sinew::detail
{

using UninitHandle = Handle<sinew_uninit_message, sinew_uninit_message_free>;

/// Makes a message in a place of a pool, with the value that a function returns.
template<class T, class Make>
Result<MessageHandle> make_in(UninitHandle uninit, Make && make)
{
  new (sinew_uninit_message_place(uninit.get())) T(std::forward<Make>(make)());
  MessageHandle message;
  const auto status = sinew_uninit_message_assume_init(uninit.release(), Out(message));
  if (status != SINEW_OK) {
    return Error::last(status);
  }
  return message;
}

/// Returns the value of a message that came by itself.
template<class T>
Result<std::shared_ptr<T>> try_share(MessageHandle message)
{
  auto * const value = static_cast<T *>(sinew_message_value_mut(message.get()));
  if (value == nullptr) {
    return Error::last(SINEW_ERROR_NO_VALUE);
  }
  return share(std::move(message), value);
}

/// Returns the encoded form of a message that came by itself.
template<>
inline Result<std::shared_ptr<SerializedMessage>> try_share(MessageHandle message)
{
  auto bytes = std::make_shared<SerializedMessage>();
  if (const auto done = encode_into(message.get(), *bytes); !done) {
    return done.error();
  }
  return bytes;
}

/// Makes a message of its encoded form, which is copied.
inline Result<MessageHandle> try_into_message(
  const sinew_message_type * type, const SerializedMessage & encoded)
{
  MessageHandle message;
  const auto bytes = encoded.bytes();
  const auto status = sinew_message_from_bytes(type, bytes.data(), bytes.size(), Out(message));
  if (status != SINEW_OK) {
    return Error::last(status);
  }
  return message;
}
inline Result<MessageHandle> try_into_message(
  const sinew_message_type * type, const std::shared_ptr<const SerializedMessage> & encoded)
{
  if (!encoded) {
    return Error(SINEW_ERROR_NULL_ARGUMENT, "the message is null");
  }
  return try_into_message(type, *encoded);
}

/// Makes a message of what a program has: a value, which is copied or moved into the pool, or a
/// pointer. A `std::unique_ptr` is adopted; the value of a `std::shared_ptr` is moved if it is the
/// only one, and copied otherwise, since the program may send it again. `uninit` gets a place.
template<class T, class Given, class Uninit>
Result<MessageHandle> try_into_message(Given && given, Uninit && uninit)
{
  using Value = std::decay_t<Given>;
  const auto in_pool = [&uninit](auto && value) -> Result<MessageHandle> {
      UninitHandle place;
      if (const auto status = uninit(Out(place)); status != SINEW_OK) {
        return Error::last(status);
      }
      return make_in<T>(std::move(place), [&value]() -> decltype(auto) {
                        return static_cast<decltype(value)>(value);
        });
    };
  if constexpr (std::is_same_v<Value, T>) {
    return in_pool(std::forward<Given>(given));
  } else {
    if (!given) {
      return Error(SINEW_ERROR_NULL_ARGUMENT, "the message is null");
    }
    if constexpr (std::is_same_v<Value, std::unique_ptr<T>>) {
      return try_adopt(std::move(given));
    } else if constexpr (std::is_same_v<Value, std::shared_ptr<T>>) {
      const std::shared_ptr<T> value(std::forward<Given>(given));
      if (value.use_count() == 1) {
        return in_pool(std::move(*value));
      }
      return in_pool(std::as_const(*value));
    } else {
      return in_pool(std::as_const(*given));
    }
  }
}

/// Whether a message of type `T` can be made of a `Given`.
template<class T, class Given>
inline constexpr bool is_message_like =
  std::is_same_v<std::decay_t<Given>, T> ||
  (std::is_same_v<std::decay_t<Given>, std::unique_ptr<T>>&&
  std::is_rvalue_reference_v<Given &&>) ||
  std::is_same_v<std::decay_t<Given>, std::shared_ptr<T>> ||
  std::is_same_v<std::decay_t<Given>, std::shared_ptr<const T>>;

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_SERVICE_MESSAGE_HPP
