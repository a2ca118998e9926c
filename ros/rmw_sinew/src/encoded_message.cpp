#include "encoded_message.hpp"

#include <rmw/serialized_message.h>

#include <cstring>
#include <vector>

#include "check.hpp"

namespace rmw_sinew {

Encoded encoded_of(const MessageHandle & message)
{
  Encoded encoded{};
  require(sinew_message_encoded(message.get(), &encoded.bytes, &encoded.length));
  return encoded;
}

MessageHandle message_of(const MessageSupport & support, const void * value)
{
  // Kept by the thread, so that calls don't allocate each time.
  thread_local std::vector<std::uint8_t> bytes;
  bytes.resize(support.encoded_size(value));
  const std::size_t length = support.encode(value, bytes.data(), bytes.size());
  MessageHandle message;
  require(
    sinew_message_from_bytes(
      support.type(), bytes.data(), length, sinew::detail::Out(message)));
  return message;
}

void reserve(rmw_serialized_message_t & message, std::size_t size)
{
  if (message.buffer_capacity >= size) {
    return;
  }
  const rmw_ret_t ret = rmw_serialized_message_resize(&message, size);
  if (ret != RMW_RET_OK) {
    throw Failure{ret};
  }
}

void copy_to(rmw_serialized_message_t & message, Encoded encoded)
{
  reserve(message, encoded.length);
  std::memcpy(message.buffer, encoded.bytes, encoded.length);
  message.buffer_length = encoded.length;
}

}  // namespace rmw_sinew
