// Loans of messages whose bytes are the same in memory and encoded ("plain"): the value lies in
// shared memory, 4 bytes behind the start of its encoded form. Other types are copied once instead.
#include <rmw/rmw.h>

#include <utility>

#include "check.hpp"
#include "publisher.hpp"
#include "subscription.hpp"

namespace rmw_sinew {
namespace {

rmw_ret_t unsupported()
{
  return fail(
    RMW_RET_UNSUPPORTED,
    "messages of this type can't be loaned, as their bytes in memory aren't their encoded form: "
    "see `can_loan_messages`");
}

rmw_ret_t take_loaned(
  const rmw_subscription_t * from, void ** loaned, bool * taken, rmw_message_info_t * info)
{
  SINEW_CHECK_HANDLE(from);
  SINEW_CHECK_ARGUMENT(loaned);
  SINEW_CHECK_ARGUMENT(taken);
  *taken = false;
  if (!from->can_loan_messages) {
    return unsupported();
  }
  if (*loaned != nullptr) {
    return fail(RMW_RET_INVALID_ARGUMENT, "the pointer for the loaned message isn't null");
  }
  return guarded([&] {
    Subscription & subscription = subscription_of(from);
    if (MessageHandle message = subscription.take(info)) {
      *loaned = subscription.lend(std::move(message));
      *taken = true;
    }
    return RMW_RET_OK;
  });
}

}  // namespace
}  // namespace rmw_sinew

using namespace rmw_sinew; // of this file's functions, which are rmw's

extern "C" {

rmw_ret_t rmw_borrow_loaned_message(
  const rmw_publisher_t * publisher, const rosidl_message_type_support_t * type_support,
  void ** ros_message)
{
  SINEW_CHECK_HANDLE(publisher);
  if (!publisher->can_loan_messages) {
    return unsupported();
  }
  SINEW_CHECK_ARGUMENT(type_support);
  SINEW_CHECK_ARGUMENT(ros_message);
  if (*ros_message != nullptr) {
    return fail(RMW_RET_INVALID_ARGUMENT, "the pointer for the loaned message isn't null");
  }
  return guarded([&] {
    if (MessageSupport(type_support).type() != publisher_of(publisher).type()) {
      return fail(RMW_RET_INVALID_ARGUMENT, "the type support isn't that of the publisher");
    }
    *ros_message = publisher_of(publisher).borrow();
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_return_loaned_message_from_publisher(
  const rmw_publisher_t * publisher, void * loaned_message)
{
  SINEW_CHECK_HANDLE(publisher);
  if (!publisher->can_loan_messages) {
    return unsupported();
  }
  SINEW_CHECK_ARGUMENT(loaned_message);
  return guarded([&] {
    publisher_of(publisher).return_loan(loaned_message);
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_publish_loaned_message(
  const rmw_publisher_t * publisher, void * ros_message, rmw_publisher_allocation_t *)
{
  SINEW_CHECK_HANDLE(publisher);
  if (!publisher->can_loan_messages) {
    return unsupported();
  }
  SINEW_CHECK_ARGUMENT(ros_message);
  return guarded([&] {
    publisher_of(publisher).publish_loan(ros_message);
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_take_loaned_message(
  const rmw_subscription_t * subscription, void ** loaned_message, bool * taken,
  rmw_subscription_allocation_t *)
{
  return take_loaned(subscription, loaned_message, taken, nullptr);
}

rmw_ret_t rmw_take_loaned_message_with_info(
  const rmw_subscription_t * subscription, void ** loaned_message, bool * taken,
  rmw_message_info_t * message_info, rmw_subscription_allocation_t *)
{
  SINEW_CHECK_HANDLE(subscription);
  SINEW_CHECK_ARGUMENT(message_info);
  return take_loaned(subscription, loaned_message, taken, message_info);
}

rmw_ret_t rmw_return_loaned_message_from_subscription(
  const rmw_subscription_t * subscription, void * loaned_message)
{
  SINEW_CHECK_HANDLE(subscription);
  if (!subscription->can_loan_messages) {
    return unsupported();
  }
  SINEW_CHECK_ARGUMENT(loaned_message);
  return guarded([&] {
    subscription_of(subscription).return_loan(loaned_message);
    return RMW_RET_OK;
  });
}

// Sinew has pools of its own, so there is nothing to allocate ahead of publishing and taking.

rmw_ret_t rmw_init_publisher_allocation(
  const rosidl_message_type_support_t *, const rosidl_runtime_c__Sequence__bound *,
  rmw_publisher_allocation_t *)
{
  return fail(RMW_RET_UNSUPPORTED, "publishers take no allocation from outside");
}

rmw_ret_t rmw_fini_publisher_allocation(rmw_publisher_allocation_t *)
{
  return fail(RMW_RET_UNSUPPORTED, "publishers take no allocation from outside");
}

rmw_ret_t rmw_init_subscription_allocation(
  const rosidl_message_type_support_t *, const rosidl_runtime_c__Sequence__bound *,
  rmw_subscription_allocation_t *)
{
  return fail(RMW_RET_UNSUPPORTED, "subscriptions take no allocation from outside");
}

rmw_ret_t rmw_fini_subscription_allocation(rmw_subscription_allocation_t *)
{
  return fail(RMW_RET_UNSUPPORTED, "subscriptions take no allocation from outside");
}

}  // extern "C"
