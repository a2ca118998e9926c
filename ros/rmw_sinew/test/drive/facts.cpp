// What rmw_sinew assumes of Jazzy's headers on a machine of 64 bits. It holds for the stub, and for
// the headers themselves, if it is compiled with them.
#include <rmw/event.h>
#include <rmw/events_statuses/events_statuses.h>
#include <rmw/features.h>
#include <rmw/get_topic_endpoint_info.h>
#include <rmw/names_and_types.h>
#include <rmw/rmw.h>
#include <rmw/validate_full_topic_name.h>
#include <rmw/validate_namespace.h>
#include <rmw/validate_node_name.h>
#include <rosidl_runtime_c/type_description/type_description__struct.h>
#include <rosidl_typesupport_fastrtps_cpp/message_type_support.h>
#include <rosidl_typesupport_fastrtps_cpp/service_type_support.h>

#include <cstddef>

#define SIZE(type, size) static_assert(sizeof(type) == (size), #type)
#define FIELD(type, field, offset) static_assert(offsetof(type, field) == (offset), #field)
#define VALUE(name, value) static_assert((name) == (value), #name)

SIZE(rcutils_allocator_t, 40);
FIELD(rcutils_allocator_t, state, 32);
SIZE(rcutils_error_string_t, 1024);
SIZE(rcutils_string_array_t, 56);
FIELD(rcutils_string_array_t, allocator, 16);
SIZE(rcutils_uint8_array_t, 64);
FIELD(rcutils_uint8_array_t, allocator, 24);
SIZE(rosidl_runtime_c__String, 24);
SIZE(rosidl_runtime_c__type_description__FieldType, 48);
FIELD(rosidl_runtime_c__type_description__FieldType, nested_type_name, 24);
SIZE(rosidl_runtime_c__type_description__Field, 96);
FIELD(rosidl_runtime_c__type_description__Field, default_value, 72);
SIZE(rosidl_runtime_c__type_description__IndividualTypeDescription, 48);
SIZE(rosidl_runtime_c__type_description__TypeDescription, 72);
SIZE(rosidl_type_hash_t, 33);
FIELD(rosidl_type_hash_t, value, 1);
SIZE(rosidl_message_type_support_t, 48);
FIELD(rosidl_message_type_support_t, get_type_description_func, 32);
SIZE(rosidl_service_type_support_t, 88);
FIELD(rosidl_service_type_support_t, get_type_hash_func, 64);
SIZE(message_type_support_callbacks_t, 56);
FIELD(message_type_support_callbacks_t, get_serialized_size, 32);
SIZE(service_type_support_callbacks_t, 32);
FIELD(service_type_support_callbacks_t, response_members_, 24);
SIZE(rmw_time_t, 16);
FIELD(rmw_time_t, nsec, 8);
SIZE(rmw_qos_profile_t, 88);
FIELD(rmw_qos_profile_t, liveliness_lease_duration, 64);
SIZE(rmw_security_options_t, 16);
FIELD(rmw_security_options_t, security_root_path, 8);
SIZE(rmw_peer_address_t, 256);
SIZE(rmw_discovery_options_t, 64);
FIELD(rmw_discovery_options_t, static_peers_count, 16);
SIZE(rmw_init_options_t, 168);
FIELD(rmw_init_options_t, enclave, 112);
SIZE(rmw_context_t, 200);
FIELD(rmw_context_t, impl, 192);
SIZE(rmw_node_t, 40);
FIELD(rmw_node_t, context, 32);
SIZE(rmw_publisher_options_t, 16);
SIZE(rmw_publisher_t, 48);
FIELD(rmw_publisher_t, can_loan_messages, 40);
SIZE(rmw_subscription_content_filter_options_t, 64);
SIZE(rmw_subscription_options_t, 24);
FIELD(rmw_subscription_options_t, content_filter_options, 16);
SIZE(rmw_subscription_t, 56);
FIELD(rmw_subscription_t, is_cft_enabled, 49);
SIZE(rmw_service_t, 24);
FIELD(rmw_service_t, service_name, 16);
SIZE(rmw_client_t, 24);
FIELD(rmw_client_t, service_name, 16);
SIZE(rmw_guard_condition_t, 24);
FIELD(rmw_guard_condition_t, context, 16);
SIZE(rmw_publisher_allocation_t, 16);
SIZE(rmw_subscription_allocation_t, 16);
SIZE(rmw_subscriptions_t, 16);
SIZE(rmw_services_t, 16);
SIZE(rmw_clients_t, 16);
SIZE(rmw_events_t, 16);
SIZE(rmw_guard_conditions_t, 16);
SIZE(rmw_wait_set_t, 24);
FIELD(rmw_wait_set_t, data, 16);
SIZE(rmw_gid_t, 24);
FIELD(rmw_gid_t, data, 8);
SIZE(rmw_message_info_t, 64);
FIELD(rmw_message_info_t, publisher_gid, 32);
SIZE(rmw_message_sequence_t, 32);
FIELD(rmw_message_sequence_t, capacity, 16);
SIZE(rmw_message_info_sequence_t, 32);
FIELD(rmw_message_info_sequence_t, capacity, 16);
SIZE(rmw_request_id_t, 24);
FIELD(rmw_request_id_t, sequence_number, 16);
SIZE(rmw_service_info_t, 40);
FIELD(rmw_service_info_t, request_id, 16);
SIZE(rmw_event_t, 24);
FIELD(rmw_event_t, event_type, 16);
SIZE(rmw_matched_status_t, 32);
FIELD(rmw_matched_status_t, current_count_change, 24);
SIZE(rmw_message_lost_status_t, 16);
SIZE(rmw_liveliness_changed_status_t, 16);
FIELD(rmw_liveliness_changed_status_t, not_alive_count_change, 12);
SIZE(rmw_qos_incompatible_event_status_t, 12);
FIELD(rmw_qos_incompatible_event_status_t, last_policy_kind, 8);
SIZE(rmw_incompatible_type_status_t, 8);
SIZE(rmw_liveliness_lost_status_t, 8);
SIZE(rmw_offered_deadline_missed_status_t, 8);
SIZE(rmw_requested_deadline_missed_status_t, 8);
SIZE(rmw_topic_endpoint_info_t, 168);
FIELD(rmw_topic_endpoint_info_t, qos_profile, 80);
SIZE(rmw_topic_endpoint_info_array_t, 16);
SIZE(rmw_names_and_types_t, 64);
FIELD(rmw_names_and_types_t, types, 56);

VALUE(RMW_RET_OK, 0);
VALUE(RMW_RET_ERROR, 1);
VALUE(RMW_RET_TIMEOUT, 2);
VALUE(RMW_RET_UNSUPPORTED, 3);
VALUE(RMW_RET_BAD_ALLOC, 10);
VALUE(RMW_RET_INVALID_ARGUMENT, 11);
VALUE(RMW_RET_INCORRECT_RMW_IMPLEMENTATION, 12);
VALUE(RMW_RET_NODE_NAME_NON_EXISTENT, 203);
VALUE(RCUTILS_RET_OK, 0);
VALUE(RCUTILS_RET_ERROR, 2);
VALUE(RCUTILS_RET_BAD_ALLOC, 10);
VALUE(RCUTILS_RET_INVALID_ARGUMENT, 11);
VALUE(RMW_QOS_POLICY_HISTORY_KEEP_LAST, 1);
VALUE(RMW_QOS_POLICY_HISTORY_KEEP_ALL, 2);
VALUE(RMW_QOS_POLICY_HISTORY_UNKNOWN, 3);
VALUE(RMW_QOS_POLICY_RELIABILITY_RELIABLE, 1);
VALUE(RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT, 2);
VALUE(RMW_QOS_POLICY_RELIABILITY_UNKNOWN, 3);
VALUE(RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE, 4);
VALUE(RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL, 1);
VALUE(RMW_QOS_POLICY_DURABILITY_VOLATILE, 2);
VALUE(RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE, 4);
VALUE(RMW_QOS_POLICY_LIVELINESS_AUTOMATIC, 1);
VALUE(RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC, 3);
VALUE(RMW_QOS_POLICY_LIVELINESS_UNKNOWN, 4);
VALUE(RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE, 5);
VALUE(RMW_QOS_POLICY_INVALID, 1);
VALUE(RMW_QOS_POLICY_DURABILITY, 2);
VALUE(RMW_QOS_POLICY_DEADLINE, 4);
VALUE(RMW_QOS_POLICY_LIVELINESS, 8);
VALUE(RMW_QOS_POLICY_RELIABILITY, 16);
VALUE(RMW_QOS_COMPATIBILITY_WARNING, 1);
VALUE(RMW_QOS_COMPATIBILITY_ERROR, 2);
VALUE(RMW_SECURITY_ENFORCEMENT_ENFORCE, 1);
VALUE(RMW_AUTOMATIC_DISCOVERY_RANGE_OFF, 1);
VALUE(RMW_AUTOMATIC_DISCOVERY_RANGE_SUBNET, 3);
VALUE(RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED, 1);
VALUE(RMW_EVENT_LIVELINESS_CHANGED, 0);
VALUE(RMW_EVENT_REQUESTED_DEADLINE_MISSED, 1);
VALUE(RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE, 2);
VALUE(RMW_EVENT_MESSAGE_LOST, 3);
VALUE(RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE, 4);
VALUE(RMW_EVENT_SUBSCRIPTION_MATCHED, 5);
VALUE(RMW_EVENT_LIVELINESS_LOST, 6);
VALUE(RMW_EVENT_OFFERED_DEADLINE_MISSED, 7);
VALUE(RMW_EVENT_OFFERED_QOS_INCOMPATIBLE, 8);
VALUE(RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE, 9);
VALUE(RMW_EVENT_PUBLICATION_MATCHED, 10);
VALUE(RMW_EVENT_INVALID, 11);
VALUE(RMW_ENDPOINT_PUBLISHER, 1);
VALUE(RMW_ENDPOINT_SUBSCRIPTION, 2);
VALUE(RMW_LOG_SEVERITY_DEBUG, 10);
VALUE(RMW_LOG_SEVERITY_FATAL, 50);
VALUE(RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER, 0);
VALUE(RMW_FEATURE_MESSAGE_INFO_RECEPTION_SEQUENCE_NUMBER, 1);
VALUE(RMW_MIDDLEWARE_CAN_TAKE_DYNAMIC_MESSAGE, 3);
VALUE(RMW_TOPIC_VALID, 0);
VALUE(RMW_NODE_NAME_VALID, 0);
VALUE(RMW_NAMESPACE_VALID, 0);
