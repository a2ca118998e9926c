// Functions of rmw 7.3, of Jazzy: those that a middleware implements, which are all that programs
// look up in one; and those of rmw's own library that rmw_sinew and its tests call.
#ifndef STUB_RMW_H
#define STUB_RMW_H

#include "rmw_types.h"

STUB_PUBLIC rmw_ret_t rmw_borrow_loaned_message(
  const rmw_publisher_t *, const rosidl_message_type_support_t *, void **);
STUB_PUBLIC rmw_ret_t rmw_client_request_publisher_get_actual_qos(
  const rmw_client_t *, rmw_qos_profile_t *);
STUB_PUBLIC rmw_ret_t rmw_client_response_subscription_get_actual_qos(
  const rmw_client_t *, rmw_qos_profile_t *);
STUB_PUBLIC rmw_ret_t rmw_client_set_on_new_response_callback(
  rmw_client_t *, rmw_event_callback_t, const void *);
STUB_PUBLIC rmw_ret_t rmw_compare_gids_equal(const rmw_gid_t *, const rmw_gid_t *, bool *);
STUB_PUBLIC rmw_ret_t rmw_context_fini(rmw_context_t *);
STUB_PUBLIC rmw_ret_t rmw_count_clients(const rmw_node_t *, const char *, size_t *);
STUB_PUBLIC rmw_ret_t rmw_count_publishers(const rmw_node_t *, const char *, size_t *);
STUB_PUBLIC rmw_ret_t rmw_count_services(const rmw_node_t *, const char *, size_t *);
STUB_PUBLIC rmw_ret_t rmw_count_subscribers(const rmw_node_t *, const char *, size_t *);
STUB_PUBLIC rmw_client_t * rmw_create_client(
  const rmw_node_t *, const rosidl_service_type_support_t *, const char *,
  const rmw_qos_profile_t *);
STUB_PUBLIC rmw_guard_condition_t * rmw_create_guard_condition(rmw_context_t *);
STUB_PUBLIC rmw_node_t * rmw_create_node(rmw_context_t *, const char *, const char *);
STUB_PUBLIC rmw_publisher_t * rmw_create_publisher(
  const rmw_node_t *, const rosidl_message_type_support_t *, const char *,
  const rmw_qos_profile_t *, const rmw_publisher_options_t *);
STUB_PUBLIC rmw_service_t * rmw_create_service(
  const rmw_node_t *, const rosidl_service_type_support_t *, const char *,
  const rmw_qos_profile_t *);
STUB_PUBLIC rmw_subscription_t * rmw_create_subscription(
  const rmw_node_t *, const rosidl_message_type_support_t *, const char *,
  const rmw_qos_profile_t *, const rmw_subscription_options_t *);
STUB_PUBLIC rmw_wait_set_t * rmw_create_wait_set(rmw_context_t *, size_t);
STUB_PUBLIC rmw_ret_t rmw_deserialize(
  const rmw_serialized_message_t *, const rosidl_message_type_support_t *, void *);
STUB_PUBLIC rmw_ret_t rmw_destroy_client(rmw_node_t *, rmw_client_t *);
STUB_PUBLIC rmw_ret_t rmw_destroy_guard_condition(rmw_guard_condition_t *);
STUB_PUBLIC rmw_ret_t rmw_destroy_node(rmw_node_t *);
STUB_PUBLIC rmw_ret_t rmw_destroy_publisher(rmw_node_t *, rmw_publisher_t *);
STUB_PUBLIC rmw_ret_t rmw_destroy_service(rmw_node_t *, rmw_service_t *);
STUB_PUBLIC rmw_ret_t rmw_destroy_subscription(rmw_node_t *, rmw_subscription_t *);
STUB_PUBLIC rmw_ret_t rmw_destroy_wait_set(rmw_wait_set_t *);
STUB_PUBLIC rmw_ret_t rmw_event_set_callback(rmw_event_t *, rmw_event_callback_t, const void *);
STUB_PUBLIC bool rmw_event_type_is_supported(rmw_event_type_t);
STUB_PUBLIC bool rmw_feature_supported(rmw_feature_t);
STUB_PUBLIC rmw_ret_t rmw_fini_publisher_allocation(rmw_publisher_allocation_t *);
STUB_PUBLIC rmw_ret_t rmw_fini_subscription_allocation(rmw_subscription_allocation_t *);
STUB_PUBLIC rmw_ret_t rmw_get_client_names_and_types_by_node(
  const rmw_node_t *, rcutils_allocator_t *, const char *, const char *, rmw_names_and_types_t *);
STUB_PUBLIC rmw_ret_t rmw_get_gid_for_client(const rmw_client_t *, rmw_gid_t *);
STUB_PUBLIC rmw_ret_t rmw_get_gid_for_publisher(const rmw_publisher_t *, rmw_gid_t *);
STUB_PUBLIC const char * rmw_get_implementation_identifier(void);
STUB_PUBLIC rmw_ret_t rmw_get_node_names(
  const rmw_node_t *, rcutils_string_array_t *, rcutils_string_array_t *);
STUB_PUBLIC rmw_ret_t rmw_get_node_names_with_enclaves(
  const rmw_node_t *, rcutils_string_array_t *, rcutils_string_array_t *, rcutils_string_array_t *);
STUB_PUBLIC rmw_ret_t rmw_get_publisher_names_and_types_by_node(
  const rmw_node_t *, rcutils_allocator_t *, const char *, const char *, bool,
  rmw_names_and_types_t *);
STUB_PUBLIC rmw_ret_t rmw_get_publishers_info_by_topic(
  const rmw_node_t *, rcutils_allocator_t *, const char *, bool, rmw_topic_endpoint_info_array_t *);
STUB_PUBLIC const char * rmw_get_serialization_format(void);
STUB_PUBLIC rmw_ret_t rmw_get_serialized_message_size(
  const rosidl_message_type_support_t *, const rosidl_runtime_c__Sequence__bound *, size_t *);
STUB_PUBLIC rmw_ret_t rmw_get_service_names_and_types(
  const rmw_node_t *, rcutils_allocator_t *, rmw_names_and_types_t *);
STUB_PUBLIC rmw_ret_t rmw_get_service_names_and_types_by_node(
  const rmw_node_t *, rcutils_allocator_t *, const char *, const char *, rmw_names_and_types_t *);
STUB_PUBLIC rmw_ret_t rmw_get_subscriber_names_and_types_by_node(
  const rmw_node_t *, rcutils_allocator_t *, const char *, const char *, bool,
  rmw_names_and_types_t *);
STUB_PUBLIC rmw_ret_t rmw_get_subscriptions_info_by_topic(
  const rmw_node_t *, rcutils_allocator_t *, const char *, bool, rmw_topic_endpoint_info_array_t *);
STUB_PUBLIC rmw_ret_t rmw_get_topic_names_and_types(
  const rmw_node_t *, rcutils_allocator_t *, bool, rmw_names_and_types_t *);
STUB_PUBLIC rmw_ret_t rmw_init(const rmw_init_options_t *, rmw_context_t *);
STUB_PUBLIC rmw_ret_t rmw_init_options_copy(const rmw_init_options_t *, rmw_init_options_t *);
STUB_PUBLIC rmw_ret_t rmw_init_options_fini(rmw_init_options_t *);
STUB_PUBLIC rmw_ret_t rmw_init_options_init(rmw_init_options_t *, rcutils_allocator_t);
STUB_PUBLIC rmw_ret_t rmw_init_publisher_allocation(
  const rosidl_message_type_support_t *, const rosidl_runtime_c__Sequence__bound *,
  rmw_publisher_allocation_t *);
STUB_PUBLIC rmw_ret_t rmw_init_subscription_allocation(
  const rosidl_message_type_support_t *, const rosidl_runtime_c__Sequence__bound *,
  rmw_subscription_allocation_t *);
STUB_PUBLIC rmw_ret_t rmw_node_assert_liveliness(const rmw_node_t *);
STUB_PUBLIC const rmw_guard_condition_t * rmw_node_get_graph_guard_condition(const rmw_node_t *);
STUB_PUBLIC rmw_ret_t rmw_publish(
  const rmw_publisher_t *, const void *, rmw_publisher_allocation_t *);
STUB_PUBLIC rmw_ret_t rmw_publish_loaned_message(
  const rmw_publisher_t *, void *, rmw_publisher_allocation_t *);
STUB_PUBLIC rmw_ret_t rmw_publish_serialized_message(
  const rmw_publisher_t *, const rmw_serialized_message_t *, rmw_publisher_allocation_t *);
STUB_PUBLIC rmw_ret_t rmw_publisher_assert_liveliness(const rmw_publisher_t *);
STUB_PUBLIC rmw_ret_t rmw_publisher_count_matched_subscriptions(const rmw_publisher_t *, size_t *);
STUB_PUBLIC rmw_ret_t rmw_publisher_event_init(
  rmw_event_t *, const rmw_publisher_t *, rmw_event_type_t);
STUB_PUBLIC rmw_ret_t rmw_publisher_get_actual_qos(const rmw_publisher_t *, rmw_qos_profile_t *);
STUB_PUBLIC rmw_ret_t rmw_publisher_get_network_flow_endpoints(
  const rmw_publisher_t *, rcutils_allocator_t *, rmw_network_flow_endpoint_array_t *);
STUB_PUBLIC rmw_ret_t rmw_publisher_wait_for_all_acked(const rmw_publisher_t *, rmw_time_t);
STUB_PUBLIC rmw_ret_t rmw_qos_profile_check_compatible(
  rmw_qos_profile_t, rmw_qos_profile_t, rmw_qos_compatibility_type_t *, char *, size_t);
STUB_PUBLIC rmw_ret_t rmw_return_loaned_message_from_publisher(const rmw_publisher_t *, void *);
STUB_PUBLIC rmw_ret_t rmw_return_loaned_message_from_subscription(
  const rmw_subscription_t *, void *);
STUB_PUBLIC rmw_ret_t rmw_send_request(const rmw_client_t *, const void *, int64_t *);
STUB_PUBLIC rmw_ret_t rmw_send_response(const rmw_service_t *, rmw_request_id_t *, void *);
STUB_PUBLIC rmw_ret_t rmw_serialization_support_init(
  const char *, rcutils_allocator_t *, rosidl_dynamic_typesupport_serialization_support_t *);
STUB_PUBLIC rmw_ret_t rmw_serialize(
  const void *, const rosidl_message_type_support_t *, rmw_serialized_message_t *);
STUB_PUBLIC rmw_ret_t rmw_service_request_subscription_get_actual_qos(
  const rmw_service_t *, rmw_qos_profile_t *);
STUB_PUBLIC rmw_ret_t rmw_service_response_publisher_get_actual_qos(
  const rmw_service_t *, rmw_qos_profile_t *);
STUB_PUBLIC rmw_ret_t rmw_service_server_is_available(
  const rmw_node_t *, const rmw_client_t *, bool *);
STUB_PUBLIC rmw_ret_t rmw_service_set_on_new_request_callback(
  rmw_service_t *, rmw_event_callback_t, const void *);
STUB_PUBLIC rmw_ret_t rmw_set_log_severity(rmw_log_severity_t);
STUB_PUBLIC rmw_ret_t rmw_shutdown(rmw_context_t *);
STUB_PUBLIC rmw_ret_t rmw_subscription_count_matched_publishers(
  const rmw_subscription_t *, size_t *);
STUB_PUBLIC rmw_ret_t rmw_subscription_event_init(
  rmw_event_t *, const rmw_subscription_t *, rmw_event_type_t);
STUB_PUBLIC rmw_ret_t rmw_subscription_get_actual_qos(
  const rmw_subscription_t *, rmw_qos_profile_t *);
STUB_PUBLIC rmw_ret_t rmw_subscription_get_content_filter(
  const rmw_subscription_t *, rcutils_allocator_t *, rmw_subscription_content_filter_options_t *);
STUB_PUBLIC rmw_ret_t rmw_subscription_get_network_flow_endpoints(
  const rmw_subscription_t *, rcutils_allocator_t *, rmw_network_flow_endpoint_array_t *);
STUB_PUBLIC rmw_ret_t rmw_subscription_set_content_filter(
  rmw_subscription_t *, const rmw_subscription_content_filter_options_t *);
STUB_PUBLIC rmw_ret_t rmw_subscription_set_on_new_message_callback(
  rmw_subscription_t *, rmw_event_callback_t, const void *);
STUB_PUBLIC rmw_ret_t rmw_take(
  const rmw_subscription_t *, void *, bool *, rmw_subscription_allocation_t *);
STUB_PUBLIC rmw_ret_t rmw_take_dynamic_message(
  const rmw_subscription_t *, rosidl_dynamic_typesupport_dynamic_data_t *, bool *,
  rmw_subscription_allocation_t *);
STUB_PUBLIC rmw_ret_t rmw_take_dynamic_message_with_info(
  const rmw_subscription_t *, rosidl_dynamic_typesupport_dynamic_data_t *, bool *,
  rmw_message_info_t *, rmw_subscription_allocation_t *);
STUB_PUBLIC rmw_ret_t rmw_take_event(const rmw_event_t *, void *, bool *);
STUB_PUBLIC rmw_ret_t rmw_take_loaned_message(
  const rmw_subscription_t *, void **, bool *, rmw_subscription_allocation_t *);
STUB_PUBLIC rmw_ret_t rmw_take_loaned_message_with_info(
  const rmw_subscription_t *, void **, bool *, rmw_message_info_t *,
  rmw_subscription_allocation_t *);
STUB_PUBLIC rmw_ret_t rmw_take_request(const rmw_service_t *, rmw_service_info_t *, void *, bool *);
STUB_PUBLIC rmw_ret_t rmw_take_response(const rmw_client_t *, rmw_service_info_t *, void *, bool *);
STUB_PUBLIC rmw_ret_t rmw_take_sequence(
  const rmw_subscription_t *, size_t, rmw_message_sequence_t *, rmw_message_info_sequence_t *,
  size_t *, rmw_subscription_allocation_t *);
STUB_PUBLIC rmw_ret_t rmw_take_serialized_message(
  const rmw_subscription_t *, rmw_serialized_message_t *, bool *, rmw_subscription_allocation_t *);
STUB_PUBLIC rmw_ret_t rmw_take_serialized_message_with_info(
  const rmw_subscription_t *, rmw_serialized_message_t *, bool *, rmw_message_info_t *,
  rmw_subscription_allocation_t *);
STUB_PUBLIC rmw_ret_t rmw_take_with_info(
  const rmw_subscription_t *, void *, bool *, rmw_message_info_t *,
  rmw_subscription_allocation_t *);
STUB_PUBLIC rmw_ret_t rmw_trigger_guard_condition(const rmw_guard_condition_t *);
STUB_PUBLIC rmw_ret_t rmw_wait(
  rmw_subscriptions_t *, rmw_guard_conditions_t *, rmw_services_t *, rmw_clients_t *,
  rmw_events_t *, rmw_wait_set_t *, const rmw_time_t *);

// rmw's own

STUB_PUBLIC void * rmw_allocate(size_t);
STUB_PUBLIC rmw_ret_t rmw_check_zero_rmw_string_array(rcutils_string_array_t *);
STUB_PUBLIC rmw_client_t * rmw_client_allocate(void);
STUB_PUBLIC void rmw_client_free(rmw_client_t *);
STUB_PUBLIC rmw_ret_t rmw_discovery_options_copy(
  const rmw_discovery_options_t *, rcutils_allocator_t *, rmw_discovery_options_t *);
STUB_PUBLIC rmw_ret_t rmw_discovery_options_fini(rmw_discovery_options_t *);
STUB_PUBLIC rmw_ret_t rmw_discovery_options_init(
  rmw_discovery_options_t *, size_t, rcutils_allocator_t *);
STUB_PUBLIC void rmw_free(void *);
STUB_PUBLIC const char * rmw_full_topic_name_validation_result_string(int);
STUB_PUBLIC rmw_publisher_options_t rmw_get_default_publisher_options(void);
STUB_PUBLIC rmw_security_options_t rmw_get_default_security_options(void);
STUB_PUBLIC rmw_subscription_options_t rmw_get_default_subscription_options(void);
STUB_PUBLIC rmw_context_t rmw_get_zero_initialized_context(void);
STUB_PUBLIC rmw_discovery_options_t rmw_get_zero_initialized_discovery_options(void);
STUB_PUBLIC rmw_event_t rmw_get_zero_initialized_event(void);
STUB_PUBLIC rmw_init_options_t rmw_get_zero_initialized_init_options(void);
STUB_PUBLIC rmw_message_info_t rmw_get_zero_initialized_message_info(void);
STUB_PUBLIC rmw_names_and_types_t rmw_get_zero_initialized_names_and_types(void);
STUB_PUBLIC rmw_security_options_t rmw_get_zero_initialized_security_options(void);
STUB_PUBLIC rmw_topic_endpoint_info_array_t rmw_get_zero_initialized_topic_endpoint_info_array(
  void);
STUB_PUBLIC rmw_guard_condition_t * rmw_guard_condition_allocate(void);
STUB_PUBLIC void rmw_guard_condition_free(rmw_guard_condition_t *);
STUB_PUBLIC rmw_ret_t rmw_names_and_types_check_zero(rmw_names_and_types_t *);
STUB_PUBLIC rmw_ret_t rmw_names_and_types_fini(rmw_names_and_types_t *);
STUB_PUBLIC rmw_ret_t rmw_names_and_types_init(
  rmw_names_and_types_t *, size_t, rcutils_allocator_t *);
STUB_PUBLIC const char * rmw_namespace_validation_result_string(int);
STUB_PUBLIC rmw_node_t * rmw_node_allocate(void);
STUB_PUBLIC void rmw_node_free(rmw_node_t *);
STUB_PUBLIC const char * rmw_node_name_validation_result_string(int);
STUB_PUBLIC rmw_publisher_t * rmw_publisher_allocate(void);
STUB_PUBLIC void rmw_publisher_free(rmw_publisher_t *);
STUB_PUBLIC rmw_ret_t rmw_security_options_copy(
  const rmw_security_options_t *, const rcutils_allocator_t *, rmw_security_options_t *);
STUB_PUBLIC rmw_ret_t rmw_security_options_fini(
  rmw_security_options_t *, const rcutils_allocator_t *);
STUB_PUBLIC rmw_service_t * rmw_service_allocate(void);
STUB_PUBLIC void rmw_service_free(rmw_service_t *);
STUB_PUBLIC rmw_subscription_t * rmw_subscription_allocate(void);
STUB_PUBLIC void rmw_subscription_free(rmw_subscription_t *);
STUB_PUBLIC rmw_time_t rmw_time_from_nsec(rmw_duration_t);
STUB_PUBLIC rmw_duration_t rmw_time_total_nsec(rmw_time_t);
STUB_PUBLIC rmw_ret_t rmw_topic_endpoint_info_array_check_zero(rmw_topic_endpoint_info_array_t *);
STUB_PUBLIC rmw_ret_t rmw_topic_endpoint_info_array_fini(
  rmw_topic_endpoint_info_array_t *, rcutils_allocator_t *);
STUB_PUBLIC rmw_ret_t rmw_topic_endpoint_info_array_init_with_size(
  rmw_topic_endpoint_info_array_t *, size_t, rcutils_allocator_t *);
STUB_PUBLIC rmw_ret_t rmw_topic_endpoint_info_set_endpoint_type(
  rmw_topic_endpoint_info_t *, rmw_endpoint_type_t);
STUB_PUBLIC rmw_ret_t rmw_topic_endpoint_info_set_gid(
  rmw_topic_endpoint_info_t *, const uint8_t *, size_t);
STUB_PUBLIC rmw_ret_t rmw_topic_endpoint_info_set_node_name(
  rmw_topic_endpoint_info_t *, const char *, rcutils_allocator_t *);
STUB_PUBLIC rmw_ret_t rmw_topic_endpoint_info_set_node_namespace(
  rmw_topic_endpoint_info_t *, const char *, rcutils_allocator_t *);
STUB_PUBLIC rmw_ret_t rmw_topic_endpoint_info_set_qos_profile(
  rmw_topic_endpoint_info_t *, const rmw_qos_profile_t *);
STUB_PUBLIC rmw_ret_t rmw_topic_endpoint_info_set_topic_type(
  rmw_topic_endpoint_info_t *, const char *, rcutils_allocator_t *);
STUB_PUBLIC rmw_ret_t rmw_topic_endpoint_info_set_topic_type_hash(
  rmw_topic_endpoint_info_t *, const rosidl_type_hash_t *);
STUB_PUBLIC rmw_ret_t rmw_validate_full_topic_name(const char *, int *, size_t *);
STUB_PUBLIC rmw_ret_t rmw_validate_namespace(const char *, int *, size_t *);
STUB_PUBLIC rmw_ret_t rmw_validate_node_name(const char *, int *, size_t *);
STUB_PUBLIC rmw_wait_set_t * rmw_wait_set_allocate(void);
STUB_PUBLIC void rmw_wait_set_free(rmw_wait_set_t *);

#define rmw_serialized_message_resize rcutils_uint8_array_resize

#endif
