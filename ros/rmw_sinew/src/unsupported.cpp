// Functions that rmw declares and Sinew has nothing for.
#include "rmw/dynamic_message_type_support.h"
#include "rmw/features.h"
#include "rmw/get_network_flow_endpoints.h"
#include "rmw/rmw.h"

#include "check.hpp"

using namespace rmw_sinew; // of this file's functions, which are rmw's

extern "C" {

rmw_ret_t rmw_publisher_get_network_flow_endpoints(
  const rmw_publisher_t *, rcutils_allocator_t *, rmw_network_flow_endpoint_array_t *)
{
  return fail(RMW_RET_UNSUPPORTED, "publishers have no network flows: they are on this host");
}

rmw_ret_t rmw_subscription_get_network_flow_endpoints(
  const rmw_subscription_t *, rcutils_allocator_t *, rmw_network_flow_endpoint_array_t *)
{
  return fail(RMW_RET_UNSUPPORTED, "subscriptions have no network flows: they are on this host");
}

rmw_ret_t rmw_subscription_set_content_filter(
  rmw_subscription_t *, const rmw_subscription_content_filter_options_t *)
{
  return fail(RMW_RET_UNSUPPORTED, "rmw_sinew has no content filters");
}

rmw_ret_t rmw_subscription_get_content_filter(
  const rmw_subscription_t *, rcutils_allocator_t *, rmw_subscription_content_filter_options_t *)
{
  return fail(RMW_RET_UNSUPPORTED, "rmw_sinew has no content filters");
}

rmw_ret_t rmw_take_dynamic_message(
  const rmw_subscription_t *, rosidl_dynamic_typesupport_dynamic_data_t *, bool *,
  rmw_subscription_allocation_t *)
{
  return fail(RMW_RET_UNSUPPORTED, "rmw_sinew has no dynamic messages");
}

rmw_ret_t rmw_take_dynamic_message_with_info(
  const rmw_subscription_t *, rosidl_dynamic_typesupport_dynamic_data_t *, bool *,
  rmw_message_info_t *, rmw_subscription_allocation_t *)
{
  return fail(RMW_RET_UNSUPPORTED, "rmw_sinew has no dynamic messages");
}

rmw_ret_t rmw_serialization_support_init(
  const char *, rcutils_allocator_t *, rosidl_dynamic_typesupport_serialization_support_t *)
{
  return fail(RMW_RET_UNSUPPORTED, "rmw_sinew has no dynamic messages");
}

bool rmw_feature_supported(rmw_feature_t feature)
{
  switch (feature) {
    case RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER:
    case RMW_FEATURE_MESSAGE_INFO_RECEPTION_SEQUENCE_NUMBER:
      return true;
    default:
      return false;
  }
}

}  // extern "C"
