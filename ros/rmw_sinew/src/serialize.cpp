// Messages to and from bytes, without a topic.
#include <rmw/rmw.h>

#include "borrowed_bytes.hpp"
#include "check.hpp"
#include "encoded_message.hpp"
#include "type_support.hpp"

namespace rmw_sinew {
namespace {

void serialize(
  const MessageSupport & support, const void * value, rmw_serialized_message_t & message)
{
  const std::size_t size = support.encoded_size(value);
  own(message); // others may be reading what was taken from a subscription
  reserve(message, size);
  message.buffer_length = support.encode(value, message.buffer, size);
}

}  // namespace
}  // namespace rmw_sinew

extern "C" {

using rmw_sinew::guarded;
using rmw_sinew::MessageSupport;

rmw_ret_t rmw_get_serialized_message_size(
  const rosidl_message_type_support_t *, const rosidl_runtime_c__Sequence__bound *, size_t *)
{
  return rmw_sinew::fail(
    RMW_RET_UNSUPPORTED, "the largest size of a message isn't known by its type support");
}

rmw_ret_t rmw_serialize(
  const void * ros_message, const rosidl_message_type_support_t * type_support,
  rmw_serialized_message_t * serialized_message)
{
  SINEW_CHECK_ARGUMENT(ros_message);
  SINEW_CHECK_ARGUMENT(type_support);
  SINEW_CHECK_ARGUMENT(serialized_message);
  return guarded([&] {
    rmw_sinew::serialize(MessageSupport(type_support), ros_message, *serialized_message);
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_deserialize(
  const rmw_serialized_message_t * serialized_message,
  const rosidl_message_type_support_t * type_support, void * ros_message)
{
  SINEW_CHECK_ARGUMENT(serialized_message);
  SINEW_CHECK_ARGUMENT(type_support);
  SINEW_CHECK_ARGUMENT(ros_message);
  return guarded([&] {
    MessageSupport(type_support).decode(
      serialized_message->buffer, serialized_message->buffer_length, ros_message);
    return RMW_RET_OK;
  });
}

}  // extern "C"
