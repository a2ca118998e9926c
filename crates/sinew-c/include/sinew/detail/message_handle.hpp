/// References to messages of the C interface: their owners, and the ways from and to C++ pointers.
#ifndef SINEW_DETAIL_MESSAGE_HANDLE_HPP
#define SINEW_DETAIL_MESSAGE_HANDLE_HPP

#include <memory>
#include <utility>

#include "sinew/detail/handle.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"
#include "sinew/type_support.hpp"

namespace sinew::detail
{

/// The owner of a reference to a message.
using MessageHandle = Handle<sinew_message, sinew_message_free>;

/// Makes a message of a value where it lies. After a failure the value is gone.
template<class T>
Result<MessageHandle> try_adopt(std::unique_ptr<T> value)
{
  const auto type = try_message_type<T>();
  if (!type) {
    return type.error();
  }
  MessageHandle message;
  if (const auto status = sinew_message_adopt(*type, value.get(), Out(message));
    status != SINEW_OK)
  {
    return Error::last(status);
  }
  (void)value.release();
  return message;
}

/// Frees a message when the last `std::shared_ptr` to a part of it goes.
struct MessageRelease
{
  sinew_message * message;

  void operator()(const void *) const noexcept {sinew_message_free(message);}
};

/// Returns the value of a message, or a part of it, as shared: it keeps the message. Allocates a
/// control block.
template<class T>
std::shared_ptr<T> share(MessageHandle message, T * part)
{
  return std::shared_ptr<T>(part, MessageRelease{message.release()});
}

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_MESSAGE_HANDLE_HPP
