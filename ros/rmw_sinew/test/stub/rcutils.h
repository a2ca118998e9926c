// Facts about rcutils and rosidl_runtime_c, of Jazzy: only what rmw_sinew and its tests use.
#ifndef STUB_RCUTILS_H
#define STUB_RCUTILS_H

#include <stddef.h>
#include <stdint.h>

#define STUB_PUBLIC extern "C" __attribute__((visibility("default")))

typedef int rcutils_ret_t;
#define RCUTILS_RET_OK 0
#define RCUTILS_RET_ERROR 2
#define RCUTILS_RET_BAD_ALLOC 10
#define RCUTILS_RET_INVALID_ARGUMENT 11

// Memory

struct rcutils_allocator_t {
  void * (*allocate)(size_t size, void * state);
  void (*deallocate)(void * memory, void * state);
  void * (*reallocate)(void * memory, size_t size, void * state);
  void * (*zero_allocate)(size_t count, size_t size, void * state);
  void * state;
};

STUB_PUBLIC rcutils_allocator_t rcutils_get_zero_initialized_allocator(void);
STUB_PUBLIC rcutils_allocator_t rcutils_get_default_allocator(void);
STUB_PUBLIC bool rcutils_allocator_is_valid(const rcutils_allocator_t *);

// The error of a thread: one sentence, with its place.

struct rcutils_error_string_t {
  char str[1024];
};

STUB_PUBLIC void rcutils_set_error_state(const char * sentence, const char * file, size_t line);
STUB_PUBLIC bool rcutils_error_is_set(void);
STUB_PUBLIC rcutils_error_string_t rcutils_get_error_string(void);
STUB_PUBLIC void rcutils_reset_error(void);

#define RCUTILS_SET_ERROR_MSG(sentence) rcutils_set_error_state(sentence, __FILE__, __LINE__)
#define RCUTILS_CHECK_FOR_NULL_WITH_MSG(value, sentence, failure) \
  if ((value) == nullptr) { RCUTILS_SET_ERROR_MSG(sentence); failure; } else (void)0
#define RCUTILS_CHECK_ALLOCATOR_WITH_MSG(allocator, sentence, failure) \
  if (!rcutils_allocator_is_valid(allocator)) { \
    RCUTILS_SET_ERROR_MSG(sentence); \
    failure; \
  } else (void)0

// Lines of the log

STUB_PUBLIC void stub_log(const char * severity, const char * name, const char * format, ...)
  __attribute__((format(printf, 3, 4)));

#define RCUTILS_LOG_WARN_NAMED(name, ...) stub_log("WARN", name, __VA_ARGS__)

// Texts and bytes

struct rcutils_string_array_t {
  size_t size;
  char ** data;
  rcutils_allocator_t allocator;
};

STUB_PUBLIC char * rcutils_strdup(const char *, rcutils_allocator_t);
STUB_PUBLIC int rcutils_snprintf(char * buffer, size_t size, const char * format, ...)
  __attribute__((format(printf, 3, 4)));
STUB_PUBLIC rcutils_string_array_t rcutils_get_zero_initialized_string_array(void);
STUB_PUBLIC rcutils_ret_t rcutils_string_array_init(
  rcutils_string_array_t *, size_t size, const rcutils_allocator_t *);
STUB_PUBLIC rcutils_ret_t rcutils_string_array_fini(rcutils_string_array_t *);

struct rcutils_uint8_array_t {
  uint8_t * buffer;
  size_t buffer_length;
  size_t buffer_capacity;
  rcutils_allocator_t allocator;
};

STUB_PUBLIC rcutils_uint8_array_t rcutils_get_zero_initialized_uint8_array(void);
STUB_PUBLIC rcutils_ret_t rcutils_uint8_array_init(
  rcutils_uint8_array_t *, size_t capacity, const rcutils_allocator_t *);
STUB_PUBLIC rcutils_ret_t rcutils_uint8_array_fini(rcutils_uint8_array_t *);
STUB_PUBLIC rcutils_ret_t rcutils_uint8_array_resize(rcutils_uint8_array_t *, size_t size);

// Descriptions of types, and their hashes

struct rosidl_runtime_c__String {
  char * data;
  size_t size;
  size_t capacity;
};

enum {
  rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_NESTED_TYPE = 1,
  rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_INT8 = 2,
  rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_UINT8 = 3,
  rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_INT16 = 4,
  rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_UINT16 = 5,
  rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_INT32 = 6,
  rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_UINT32 = 7,
  rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_INT64 = 8,
  rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_UINT64 = 9,
  rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_FLOAT = 10,
  rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_DOUBLE = 11,
  rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_CHAR = 13,
  rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_BOOLEAN = 15,
  rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_BYTE = 16,
};

struct rosidl_runtime_c__type_description__FieldType {
  uint8_t type_id;
  uint64_t capacity;
  uint64_t string_capacity;
  rosidl_runtime_c__String nested_type_name;
};

struct rosidl_runtime_c__type_description__Field {
  rosidl_runtime_c__String name;
  rosidl_runtime_c__type_description__FieldType type;
  rosidl_runtime_c__String default_value;
};

struct rosidl_runtime_c__type_description__Field__Sequence {
  rosidl_runtime_c__type_description__Field * data;
  size_t size;
  size_t capacity;
};

struct rosidl_runtime_c__type_description__IndividualTypeDescription {
  rosidl_runtime_c__String type_name;
  rosidl_runtime_c__type_description__Field__Sequence fields;
};

struct rosidl_runtime_c__type_description__IndividualTypeDescription__Sequence {
  rosidl_runtime_c__type_description__IndividualTypeDescription * data;
  size_t size;
  size_t capacity;
};

struct rosidl_runtime_c__type_description__TypeDescription {
  rosidl_runtime_c__type_description__IndividualTypeDescription type_description;
  rosidl_runtime_c__type_description__IndividualTypeDescription__Sequence
    referenced_type_descriptions;
};

struct rosidl_type_hash_t {
  uint8_t version;
  uint8_t value[32];
};

STUB_PUBLIC rosidl_type_hash_t rosidl_get_zero_initialized_type_hash(void);
STUB_PUBLIC rcutils_ret_t rosidl_parse_type_hash_string(const char *, rosidl_type_hash_t *);

// What generated code offers of a message or service

struct rosidl_runtime_c__Sequence__bound;
struct rosidl_runtime_c__type_description__TypeSource__Sequence;

struct rosidl_message_type_support_t {
  const char * typesupport_identifier;
  const void * data;
  const rosidl_message_type_support_t * (*func)(
    const rosidl_message_type_support_t *, const char * identifier);
  const rosidl_type_hash_t * (*get_type_hash_func)(const rosidl_message_type_support_t *);
  const rosidl_runtime_c__type_description__TypeDescription * (*get_type_description_func)(
    const rosidl_message_type_support_t *);
  const rosidl_runtime_c__type_description__TypeSource__Sequence *
  (*get_type_description_sources_func)(const rosidl_message_type_support_t *);
};

struct rosidl_service_type_support_t {
  const char * typesupport_identifier;
  const void * data;
  const rosidl_service_type_support_t * (*func)(
    const rosidl_service_type_support_t *, const char * identifier);
  const rosidl_message_type_support_t * request_typesupport;
  const rosidl_message_type_support_t * response_typesupport;
  const rosidl_message_type_support_t * event_typesupport;
  void * (*event_message_create_handle_function)(
    const struct rosidl_service_introspection_info_s *, rcutils_allocator_t *,
    const void * request, const void * response);
  bool (*event_message_destroy_handle_function)(void * event, rcutils_allocator_t *);
  const rosidl_type_hash_t * (*get_type_hash_func)(const rosidl_service_type_support_t *);
  const rosidl_runtime_c__type_description__TypeDescription * (*get_type_description_func)(
    const rosidl_service_type_support_t *);
  const rosidl_runtime_c__type_description__TypeSource__Sequence *
  (*get_type_description_sources_func)(const rosidl_service_type_support_t *);
};

STUB_PUBLIC const rosidl_message_type_support_t * get_message_typesupport_handle(
  const rosidl_message_type_support_t *, const char * identifier);
STUB_PUBLIC const rosidl_service_type_support_t * get_service_typesupport_handle(
  const rosidl_service_type_support_t *, const char * identifier);

#endif
