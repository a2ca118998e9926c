// Loans. Messages of ROS 2 lie in memory in another form than their encoded one, in which other
// processes and other languages read them, so there are none: programs copy once instead.
#include <rmw/rmw.h>

#include "check.hpp"

namespace {

rmw_ret_t unsupported()
{
  return rmw_sinew::fail(
    RMW_RET_UNSUPPORTED, "messages can't be loaned: `can_loan_messages` is false");
}

}  // namespace

extern "C" {

rmw_ret_t rmw_borrow_loaned_message(
  const rmw_publisher_t * publisher, const rosidl_message_type_support_t *, void **)
{
  SINEW_CHECK_HANDLE(publisher);
  return unsupported();
}

rmw_ret_t rmw_return_loaned_message_from_publisher(const rmw_publisher_t * publisher, void *)
{
  SINEW_CHECK_HANDLE(publisher);
  return unsupported();
}

rmw_ret_t rmw_publish_loaned_message(
  const rmw_publisher_t * publisher, void *, rmw_publisher_allocation_t *)
{
  SINEW_CHECK_HANDLE(publisher);
  return unsupported();
}

rmw_ret_t rmw_take_loaned_message(
  const rmw_subscription_t * subscription, void **, bool *, rmw_subscription_allocation_t *)
{
  SINEW_CHECK_HANDLE(subscription);
  return unsupported();
}

rmw_ret_t rmw_take_loaned_message_with_info(
  const rmw_subscription_t * subscription, void **, bool *, rmw_message_info_t *,
  rmw_subscription_allocation_t *)
{
  SINEW_CHECK_HANDLE(subscription);
  return unsupported();
}

rmw_ret_t rmw_return_loaned_message_from_subscription(
  const rmw_subscription_t * subscription, void *)
{
  SINEW_CHECK_HANDLE(subscription);
  return unsupported();
}

// Sinew has pools of its own, so there is nothing to allocate ahead of publishing and taking.

rmw_ret_t rmw_init_publisher_allocation(
  const rosidl_message_type_support_t *, const rosidl_runtime_c__Sequence__bound *,
  rmw_publisher_allocation_t *)
{
  return rmw_sinew::fail(RMW_RET_UNSUPPORTED, "publishers take no allocation from outside");
}

rmw_ret_t rmw_fini_publisher_allocation(rmw_publisher_allocation_t *)
{
  return rmw_sinew::fail(RMW_RET_UNSUPPORTED, "publishers take no allocation from outside");
}

rmw_ret_t rmw_init_subscription_allocation(
  const rosidl_message_type_support_t *, const rosidl_runtime_c__Sequence__bound *,
  rmw_subscription_allocation_t *)
{
  return rmw_sinew::fail(RMW_RET_UNSUPPORTED, "subscriptions take no allocation from outside");
}

rmw_ret_t rmw_fini_subscription_allocation(rmw_subscription_allocation_t *)
{
  return rmw_sinew::fail(RMW_RET_UNSUPPORTED, "subscriptions take no allocation from outside");
}

}  // extern "C"
