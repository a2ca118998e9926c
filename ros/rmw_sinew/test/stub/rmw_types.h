// Facts about the types and constants of rmw 7.3, of Jazzy: only what rmw_sinew and its tests use.
#ifndef STUB_RMW_TYPES_H
#define STUB_RMW_TYPES_H

#include "rcutils.h"

typedef int32_t rmw_ret_t;
#define RMW_RET_OK 0
#define RMW_RET_ERROR 1
#define RMW_RET_TIMEOUT 2
#define RMW_RET_UNSUPPORTED 3
#define RMW_RET_BAD_ALLOC 10
#define RMW_RET_INVALID_ARGUMENT 11
#define RMW_RET_INCORRECT_RMW_IMPLEMENTATION 12
#define RMW_RET_NODE_NAME_NON_EXISTENT 203

#define RMW_SET_ERROR_MSG RCUTILS_SET_ERROR_MSG
#define rmw_reset_error rcutils_reset_error
#define rmw_get_error_string rcutils_get_error_string
#define RMW_CHECK_TYPE_IDENTIFIERS_MATCH(what, identifier, expected, failure) \
  if ((identifier) != (expected)) { \
    RCUTILS_SET_ERROR_MSG(#what " belongs to another rmw implementation"); \
    failure; \
  } else (void)0

// Time

struct rmw_time_t {
  uint64_t sec;
  uint64_t nsec;
};
typedef int64_t rmw_time_point_value_t;
typedef int64_t rmw_duration_t;
#define RMW_DURATION_INFINITE {9223372036LL, 854775807LL}
#define RMW_DURATION_UNSPECIFIED {0, 0}
#define RMW_QOS_DEADLINE_BEST_AVAILABLE {9223372036LL, 854775806LL}
#define RMW_QOS_LIVELINESS_LEASE_DURATION_BEST_AVAILABLE {9223372036LL, 854775806LL}

// Quality of service

enum rmw_qos_history_policy_t {
  RMW_QOS_POLICY_HISTORY_SYSTEM_DEFAULT,
  RMW_QOS_POLICY_HISTORY_KEEP_LAST,
  RMW_QOS_POLICY_HISTORY_KEEP_ALL,
  RMW_QOS_POLICY_HISTORY_UNKNOWN
};
enum rmw_qos_reliability_policy_t {
  RMW_QOS_POLICY_RELIABILITY_SYSTEM_DEFAULT,
  RMW_QOS_POLICY_RELIABILITY_RELIABLE,
  RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT,
  RMW_QOS_POLICY_RELIABILITY_UNKNOWN,
  RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE
};
enum rmw_qos_durability_policy_t {
  RMW_QOS_POLICY_DURABILITY_SYSTEM_DEFAULT,
  RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL,
  RMW_QOS_POLICY_DURABILITY_VOLATILE,
  RMW_QOS_POLICY_DURABILITY_UNKNOWN,
  RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE
};
enum rmw_qos_liveliness_policy_t {
  RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT,
  RMW_QOS_POLICY_LIVELINESS_AUTOMATIC,
  RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_NODE,
  RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC,
  RMW_QOS_POLICY_LIVELINESS_UNKNOWN,
  RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE
};
enum rmw_qos_policy_kind_t {
  RMW_QOS_POLICY_INVALID = 1,
  RMW_QOS_POLICY_DURABILITY = 2,
  RMW_QOS_POLICY_DEADLINE = 4,
  RMW_QOS_POLICY_LIVELINESS = 8,
  RMW_QOS_POLICY_RELIABILITY = 16,
  RMW_QOS_POLICY_HISTORY = 32,
  RMW_QOS_POLICY_LIFESPAN = 64
};
enum rmw_qos_compatibility_type_t {
  RMW_QOS_COMPATIBILITY_OK,
  RMW_QOS_COMPATIBILITY_WARNING,
  RMW_QOS_COMPATIBILITY_ERROR
};

struct rmw_qos_profile_t {
  rmw_qos_history_policy_t history;
  size_t depth;
  rmw_qos_reliability_policy_t reliability;
  rmw_qos_durability_policy_t durability;
  rmw_time_t deadline;
  rmw_time_t lifespan;
  rmw_qos_liveliness_policy_t liveliness;
  rmw_time_t liveliness_lease_duration;
  bool avoid_ros_namespace_conventions;
};

static const rmw_qos_profile_t rmw_qos_profile_default = {
  RMW_QOS_POLICY_HISTORY_KEEP_LAST, 10, RMW_QOS_POLICY_RELIABILITY_RELIABLE,
  RMW_QOS_POLICY_DURABILITY_VOLATILE, RMW_DURATION_UNSPECIFIED, RMW_DURATION_UNSPECIFIED,
  RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT, RMW_DURATION_UNSPECIFIED, false};
static const rmw_qos_profile_t rmw_qos_profile_services_default = rmw_qos_profile_default;
static const rmw_qos_profile_t rmw_qos_profile_system_default = {
  RMW_QOS_POLICY_HISTORY_SYSTEM_DEFAULT, 0, RMW_QOS_POLICY_RELIABILITY_SYSTEM_DEFAULT,
  RMW_QOS_POLICY_DURABILITY_SYSTEM_DEFAULT, RMW_DURATION_UNSPECIFIED, RMW_DURATION_UNSPECIFIED,
  RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT, RMW_DURATION_UNSPECIFIED, false};
static const rmw_qos_profile_t rmw_qos_profile_best_available = {
  RMW_QOS_POLICY_HISTORY_KEEP_LAST, 10, RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE,
  RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE, RMW_QOS_DEADLINE_BEST_AVAILABLE,
  RMW_DURATION_UNSPECIFIED, RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE,
  RMW_QOS_LIVELINESS_LEASE_DURATION_BEST_AVAILABLE, false};
static const rmw_qos_profile_t rmw_qos_profile_unknown = {
  RMW_QOS_POLICY_HISTORY_UNKNOWN, 0, RMW_QOS_POLICY_RELIABILITY_UNKNOWN,
  RMW_QOS_POLICY_DURABILITY_UNKNOWN, RMW_DURATION_UNSPECIFIED, RMW_DURATION_UNSPECIFIED,
  RMW_QOS_POLICY_LIVELINESS_UNKNOWN, RMW_DURATION_UNSPECIFIED, false};

// Options and contexts

#define RMW_DEFAULT_DOMAIN_ID SIZE_MAX

enum rmw_security_enforcement_policy_t {
  RMW_SECURITY_ENFORCEMENT_PERMISSIVE,
  RMW_SECURITY_ENFORCEMENT_ENFORCE
};
struct rmw_security_options_t {
  rmw_security_enforcement_policy_t enforce_security;
  char * security_root_path;
};

enum rmw_automatic_discovery_range_t {
  RMW_AUTOMATIC_DISCOVERY_RANGE_NOT_SET,
  RMW_AUTOMATIC_DISCOVERY_RANGE_OFF,
  RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST,
  RMW_AUTOMATIC_DISCOVERY_RANGE_SUBNET,
  RMW_AUTOMATIC_DISCOVERY_RANGE_SYSTEM_DEFAULT
};
struct rmw_peer_address_t {
  char peer_address[256];
};
struct rmw_discovery_options_t {
  rmw_automatic_discovery_range_t automatic_discovery_range;
  rmw_peer_address_t * static_peers;
  size_t static_peers_count;
  rcutils_allocator_t allocator;
};

enum rmw_localhost_only_t {
  RMW_LOCALHOST_ONLY_DEFAULT,
  RMW_LOCALHOST_ONLY_ENABLED,
  RMW_LOCALHOST_ONLY_DISABLED
};
struct rmw_init_options_impl_s;
struct rmw_init_options_t {
  uint64_t instance_id;
  const char * implementation_identifier;
  size_t domain_id;
  rmw_security_options_t security_options;
  rmw_localhost_only_t localhost_only;
  rmw_discovery_options_t discovery_options;
  char * enclave;
  rcutils_allocator_t allocator;
  rmw_init_options_impl_s * impl;
};

struct rmw_context_impl_s;
struct rmw_context_t {
  uint64_t instance_id;
  const char * implementation_identifier;
  rmw_init_options_t options;
  size_t actual_domain_id;
  rmw_context_impl_s * impl;
};

// Handles

struct rmw_node_t {
  const char * implementation_identifier;
  void * data;
  const char * name;
  const char * namespace_;
  rmw_context_t * context;
};

enum rmw_unique_network_flow_endpoints_requirement_t {
  RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_NOT_REQUIRED,
  RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED,
  RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_OPTIONALLY_REQUIRED,
  RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_SYSTEM_DEFAULT
};

struct rmw_publisher_options_t {
  void * rmw_specific_publisher_payload;
  rmw_unique_network_flow_endpoints_requirement_t require_unique_network_flow_endpoints;
};
struct rmw_publisher_t {
  const char * implementation_identifier;
  void * data;
  const char * topic_name;
  rmw_publisher_options_t options;
  bool can_loan_messages;
};

struct rmw_subscription_content_filter_options_t {
  char * filter_expression;
  rcutils_string_array_t expression_parameters;
};
struct rmw_subscription_options_t {
  void * rmw_specific_subscription_payload;
  bool ignore_local_publications;
  rmw_unique_network_flow_endpoints_requirement_t require_unique_network_flow_endpoints;
  rmw_subscription_content_filter_options_t * content_filter_options;
};
struct rmw_subscription_t {
  const char * implementation_identifier;
  void * data;
  const char * topic_name;
  rmw_subscription_options_t options;
  bool can_loan_messages;
  bool is_cft_enabled;
};

struct rmw_service_t {
  const char * implementation_identifier;
  void * data;
  const char * service_name;
};
struct rmw_client_t {
  const char * implementation_identifier;
  void * data;
  const char * service_name;
};
struct rmw_guard_condition_t {
  const char * implementation_identifier;
  void * data;
  rmw_context_t * context;
};

struct rmw_publisher_allocation_t {
  const char * implementation_identifier;
  void * data;
};
struct rmw_subscription_allocation_t {
  const char * implementation_identifier;
  void * data;
};

// Waiting: the arrays have the `data` of handles; of events, `rmw_event_t *`

struct rmw_subscriptions_t {
  size_t subscriber_count;
  void ** subscribers;
};
struct rmw_services_t {
  size_t service_count;
  void ** services;
};
struct rmw_clients_t {
  size_t client_count;
  void ** clients;
};
struct rmw_events_t {
  size_t event_count;
  void ** events;
};
struct rmw_guard_conditions_t {
  size_t guard_condition_count;
  void ** guard_conditions;
};
struct rmw_wait_set_t {
  const char * implementation_identifier;
  rmw_guard_conditions_t * guard_conditions;
  void * data;
};

// Messages

#define RMW_GID_STORAGE_SIZE 16u
struct rmw_gid_t {
  const char * implementation_identifier;
  uint8_t data[RMW_GID_STORAGE_SIZE];
};
struct rmw_message_info_t {
  rmw_time_point_value_t source_timestamp;
  rmw_time_point_value_t received_timestamp;
  uint64_t publication_sequence_number;
  uint64_t reception_sequence_number;
  rmw_gid_t publisher_gid;
  bool from_intra_process;
};
struct rmw_message_sequence_t {
  void ** data;
  size_t size;
  size_t capacity;
  rcutils_allocator_t * allocator;
};
struct rmw_message_info_sequence_t {
  rmw_message_info_t * data;
  size_t size;
  size_t capacity;
  rcutils_allocator_t * allocator;
};
typedef rcutils_uint8_array_t rmw_serialized_message_t;

struct rmw_request_id_t {
  uint8_t writer_guid[16];
  int64_t sequence_number;
};
struct rmw_service_info_t {
  rmw_time_point_value_t source_timestamp;
  rmw_time_point_value_t received_timestamp;
  rmw_request_id_t request_id;
};

// Events

enum rmw_event_type_t {
  RMW_EVENT_LIVELINESS_CHANGED,
  RMW_EVENT_REQUESTED_DEADLINE_MISSED,
  RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE,
  RMW_EVENT_MESSAGE_LOST,
  RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE,
  RMW_EVENT_SUBSCRIPTION_MATCHED,
  RMW_EVENT_LIVELINESS_LOST,
  RMW_EVENT_OFFERED_DEADLINE_MISSED,
  RMW_EVENT_OFFERED_QOS_INCOMPATIBLE,
  RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE,
  RMW_EVENT_PUBLICATION_MATCHED,
  RMW_EVENT_INVALID
};
struct rmw_event_t {
  const char * implementation_identifier;
  void * data;
  rmw_event_type_t event_type;
};
typedef void (* rmw_event_callback_t)(const void * user_data, size_t count);

struct rmw_matched_status_t {
  size_t total_count;
  size_t total_count_change;
  size_t current_count;
  int32_t current_count_change;
};
struct rmw_message_lost_status_t {
  size_t total_count;
  size_t total_count_change;
};
struct rmw_liveliness_changed_status_t {
  int32_t alive_count;
  int32_t not_alive_count;
  int32_t alive_count_change;
  int32_t not_alive_count_change;
};
struct rmw_qos_incompatible_event_status_t {
  int32_t total_count;
  int32_t total_count_change;
  rmw_qos_policy_kind_t last_policy_kind;
};
struct rmw_incompatible_type_status_t {
  int32_t total_count;
  int32_t total_count_change;
};
struct rmw_liveliness_lost_status_t {
  int32_t total_count;
  int32_t total_count_change;
};
struct rmw_offered_deadline_missed_status_t {
  int32_t total_count;
  int32_t total_count_change;
};
struct rmw_requested_deadline_missed_status_t {
  int32_t total_count;
  int32_t total_count_change;
};

// The graph

enum rmw_endpoint_type_t {
  RMW_ENDPOINT_INVALID,
  RMW_ENDPOINT_PUBLISHER,
  RMW_ENDPOINT_SUBSCRIPTION
};
struct rmw_topic_endpoint_info_t {
  const char * node_name;
  const char * node_namespace;
  const char * topic_type;
  rosidl_type_hash_t topic_type_hash;
  rmw_endpoint_type_t endpoint_type;
  uint8_t endpoint_gid[RMW_GID_STORAGE_SIZE];
  rmw_qos_profile_t qos_profile;
};
struct rmw_topic_endpoint_info_array_t {
  size_t size;
  rmw_topic_endpoint_info_t * info_array;
};
struct rmw_names_and_types_t {
  rcutils_string_array_t names;
  rcutils_string_array_t * types;
};

// The rest

enum rmw_log_severity_t {
  RMW_LOG_SEVERITY_DEBUG = 10,
  RMW_LOG_SEVERITY_INFO = 20,
  RMW_LOG_SEVERITY_WARN = 30,
  RMW_LOG_SEVERITY_ERROR = 40,
  RMW_LOG_SEVERITY_FATAL = 50
};
enum rmw_feature_t {
  RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER,
  RMW_FEATURE_MESSAGE_INFO_RECEPTION_SEQUENCE_NUMBER,
  RMW_MIDDLEWARE_SUPPORTS_TYPE_DISCOVERY,
  RMW_MIDDLEWARE_CAN_TAKE_DYNAMIC_MESSAGE
};
struct rmw_network_flow_endpoint_array_t;
struct rosidl_dynamic_typesupport_dynamic_data_s;
typedef rosidl_dynamic_typesupport_dynamic_data_s rosidl_dynamic_typesupport_dynamic_data_t;
struct rosidl_dynamic_typesupport_serialization_support_s;
typedef rosidl_dynamic_typesupport_serialization_support_s
  rosidl_dynamic_typesupport_serialization_support_t;

#define RMW_TOPIC_VALID 0
#define RMW_NODE_NAME_VALID 0
#define RMW_NAMESPACE_VALID 0

#endif
