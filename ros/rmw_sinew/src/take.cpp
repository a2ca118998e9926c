// Taking messages from subscriptions. Nothing here waits: `rmw_wait` does.
#include <rmw/rmw.h>

#include <utility>

#include "borrowed_bytes.hpp"
#include "check.hpp"
#include "subscription.hpp"

namespace rmw_sinew {
namespace {

/// Takes one message, and reads it to `value`.
rmw_ret_t take(
  const rmw_subscription_t * from, void * value, bool * taken, rmw_message_info_t * info)
{
  SINEW_CHECK_HANDLE(from);
  SINEW_CHECK_ARGUMENT(value);
  SINEW_CHECK_ARGUMENT(taken);
  *taken = false;
  return guarded([&] {
    Subscription & subscription = subscription_of(from);
    if (const MessageHandle message = subscription.take(info)) {
      subscription.decode(message, value);
      *taken = true;
    }
    return RMW_RET_OK;
  });
}

/// Takes one message in its encoded form, where it lies if that is worth it.
rmw_ret_t take_serialized(
  const rmw_subscription_t * from, rmw_serialized_message_t * serialized_message, bool * taken,
  rmw_message_info_t * info)
{
  SINEW_CHECK_HANDLE(from);
  SINEW_CHECK_ARGUMENT(serialized_message);
  SINEW_CHECK_ARGUMENT(taken);
  *taken = false;
  return guarded([&] {
    if (MessageHandle message = subscription_of(from).take(info)) {
      lend(std::move(message), *serialized_message);
      *taken = true;
    }
    return RMW_RET_OK;
  });
}

/// Takes up to `count` messages, into sequences that have room for them.
rmw_ret_t take_sequence(
  Subscription & subscription, size_t count, rmw_message_sequence_t & messages,
  rmw_message_info_sequence_t & infos, size_t & taken)
{
  while (taken < count) {
    const MessageHandle message = subscription.take(&infos.data[taken]);
    if (!message) {
      break;
    }
    subscription.decode(message, messages.data[taken]);
    ++taken;
    messages.size = taken;
    infos.size = taken;
  }
  return RMW_RET_OK;
}

}  // namespace
}  // namespace rmw_sinew

extern "C" {

using rmw_sinew::fail;

rmw_ret_t rmw_take(
  const rmw_subscription_t * subscription, void * ros_message, bool * taken,
  rmw_subscription_allocation_t *)
{
  return rmw_sinew::take(subscription, ros_message, taken, nullptr);
}

rmw_ret_t rmw_take_with_info(
  const rmw_subscription_t * subscription, void * ros_message, bool * taken,
  rmw_message_info_t * message_info, rmw_subscription_allocation_t *)
{
  SINEW_CHECK_ARGUMENT(message_info);
  return rmw_sinew::take(subscription, ros_message, taken, message_info);
}

rmw_ret_t rmw_take_sequence(
  const rmw_subscription_t * subscription, size_t count,
  rmw_message_sequence_t * message_sequence, rmw_message_info_sequence_t * message_info_sequence,
  size_t * taken, rmw_subscription_allocation_t *)
{
  SINEW_CHECK_HANDLE(subscription);
  SINEW_CHECK_ARGUMENT(message_sequence);
  SINEW_CHECK_ARGUMENT(message_info_sequence);
  SINEW_CHECK_ARGUMENT(taken);
  if (count == 0) {
    return fail(RMW_RET_INVALID_ARGUMENT, "no message is asked for: the count is 0");
  }
  if (count > message_sequence->capacity || count > message_info_sequence->capacity) {
    return fail(
      RMW_RET_INVALID_ARGUMENT, "the sequences have less room than the count of messages");
  }
  *taken = 0;
  message_sequence->size = 0;
  message_info_sequence->size = 0;
  return rmw_sinew::guarded([&] {
    return rmw_sinew::take_sequence(
      rmw_sinew::subscription_of(subscription), count, *message_sequence, *message_info_sequence,
      *taken);
  });
}

rmw_ret_t rmw_take_serialized_message(
  const rmw_subscription_t * subscription, rmw_serialized_message_t * serialized_message,
  bool * taken, rmw_subscription_allocation_t *)
{
  return rmw_sinew::take_serialized(subscription, serialized_message, taken, nullptr);
}

rmw_ret_t rmw_take_serialized_message_with_info(
  const rmw_subscription_t * subscription, rmw_serialized_message_t * serialized_message,
  bool * taken, rmw_message_info_t * message_info, rmw_subscription_allocation_t *)
{
  SINEW_CHECK_ARGUMENT(message_info);
  return rmw_sinew::take_serialized(subscription, serialized_message, taken, message_info);
}

}  // extern "C"
