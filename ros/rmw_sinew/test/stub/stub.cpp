// The functions of rmw's own libraries that rmw_sinew and its tests call, as simple as they can be.
#include "stub.h"

#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

const char * rosidl_typesupport_fastrtps_c__identifier = "rosidl_typesupport_fastrtps_c";

namespace rosidl_typesupport_fastrtps_cpp {
const char * typesupport_identifier = "rosidl_typesupport_fastrtps_cpp";
}

namespace {

// Memory

void * allocate(size_t size, void *) { return std::malloc(size); }
void deallocate(void * memory, void *) { std::free(memory); }
void * reallocate(void * memory, size_t size, void *) { return std::realloc(memory, size); }
void * zero_allocate(size_t count, size_t size, void *) { return std::calloc(count, size); }

// The error of a thread

thread_local std::string error;

rmw_ret_t fail(rmw_ret_t ret, const char * sentence)
{
  RCUTILS_SET_ERROR_MSG(sentence);
  return ret;
}

rmw_ret_t set_text(const char * & field, const char * text, rcutils_allocator_t * allocator)
{
  char * const copy = rcutils_strdup(text, *allocator);
  if (copy == nullptr) {
    return fail(RMW_RET_BAD_ALLOC, "no memory for a text");
  }
  field = copy;
  return RMW_RET_OK;
}

/// Checks a name of parts, each after a slash.
const char * check_name(const char * name, bool may_be_root, size_t * at)
{
  *at = 0;
  const size_t length = std::strlen(name);
  if (length == 0) {
    return "is empty";
  }
  if (name[0] != '/') {
    return "does not begin with a slash";
  }
  if (may_be_root && length == 1) {
    return nullptr;
  }
  for (*at = 1; *at <= length; ++*at) {
    const unsigned char character = static_cast<unsigned char>(name[*at]);
    const bool begins = name[*at - 1] == '/';
    if (begins && (character == '/' || character == '\0')) {
      return "has an empty part";
    }
    if (begins && std::isdigit(character)) {
      return "has a part that begins with a digit";
    }
    if (character != '/' && character != '_' && character != '\0' && !std::isalnum(character)) {
      return "has a character other than letters, digits and underscores";
    }
  }
  return nullptr;
}

const char * const verdicts[] = {
  nullptr, "is empty", "does not begin with a slash", "has an empty part",
  "has a part that begins with a digit",
  "has a character other than letters, digits and underscores"};

/// As a number, which `verdict_of` makes a sentence again.
int number_of(const char * verdict)
{
  int number = 0;
  for (int index = 1; verdict != nullptr && number == 0; ++index) {
    number = std::strcmp(verdicts[index], verdict) == 0 ? index : 0;
  }
  return number;
}

const char * verdict_of(int number)
{
  return number >= 0 && number < 6 ? verdicts[number] : "unknown";
}

template <class Handle>
Handle * zeroed()
{
  return static_cast<Handle *>(std::calloc(1, sizeof(Handle)));
}

}  // namespace

// rcutils

rcutils_allocator_t rcutils_get_zero_initialized_allocator() { return {}; }

rcutils_allocator_t rcutils_get_default_allocator()
{
  return {allocate, deallocate, reallocate, zero_allocate, nullptr};
}

bool rcutils_allocator_is_valid(const rcutils_allocator_t * allocator)
{
  return allocator != nullptr && allocator->allocate != nullptr &&
         allocator->deallocate != nullptr && allocator->reallocate != nullptr &&
         allocator->zero_allocate != nullptr;
}

/// An error may not hide another one: rcutils complains about that, here it ends the test.
void rcutils_set_error_state(const char * sentence, const char * file, size_t line)
{
  if (!error.empty() && error.find(sentence) == std::string::npos) {
    std::fprintf(stderr, "%s:%zu: `%s` hides `%s`\n", file, line, sentence, error.c_str());
    std::abort();
  }
  error = std::string(sentence) + ", at " + file + ":" + std::to_string(line);
}

bool rcutils_error_is_set() { return !error.empty(); }
void rcutils_reset_error() { error.clear(); }

void stub_log(const char * severity, const char * name, const char * format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "[%s] [%s]: ", severity, name);
  std::vfprintf(stderr, format, arguments);
  std::fprintf(stderr, "\n");
  va_end(arguments);
}

rcutils_error_string_t rcutils_get_error_string()
{
  rcutils_error_string_t text{};
  std::snprintf(text.str, sizeof text.str, "%s", error.c_str());
  return text;
}

char * rcutils_strdup(const char * text, rcutils_allocator_t allocator)
{
  const size_t size = text == nullptr ? 0 : std::strlen(text) + 1;
  void * const copy = size == 0 ? nullptr : allocator.allocate(size, allocator.state);
  return copy == nullptr ? nullptr : static_cast<char *>(std::memcpy(copy, text, size));
}

int rcutils_snprintf(char * buffer, size_t size, const char * format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(buffer, size, format, arguments);
  va_end(arguments);
  return length;
}

rcutils_string_array_t rcutils_get_zero_initialized_string_array() { return {}; }

rcutils_ret_t rcutils_string_array_init(
  rcutils_string_array_t * array, size_t size, const rcutils_allocator_t * allocator)
{
  *array = {0, nullptr, *allocator};
  if (size > 0) {
    array->data =
      static_cast<char **>(allocator->zero_allocate(size, sizeof(char *), allocator->state));
    if (array->data == nullptr) {
      return RCUTILS_RET_BAD_ALLOC; // without a sentence
    }
    array->size = size;
  }
  return RCUTILS_RET_OK;
}

rcutils_ret_t rcutils_string_array_fini(rcutils_string_array_t * array)
{
  for (size_t index = 0; index < array->size; ++index) {
    array->allocator.deallocate(array->data[index], array->allocator.state);
  }
  if (array->data != nullptr) {
    array->allocator.deallocate(array->data, array->allocator.state);
  }
  *array = {};
  return RCUTILS_RET_OK;
}

rcutils_uint8_array_t rcutils_get_zero_initialized_uint8_array() { return {}; }

rcutils_ret_t rcutils_uint8_array_init(
  rcutils_uint8_array_t * array, size_t capacity, const rcutils_allocator_t * allocator)
{
  *array = {nullptr, 0, 0, *allocator};
  return capacity > 0 ? rcutils_uint8_array_resize(array, capacity) : RCUTILS_RET_OK;
}

rcutils_ret_t rcutils_uint8_array_fini(rcutils_uint8_array_t * array)
{
  array->allocator.deallocate(array->buffer, array->allocator.state);
  *array = {nullptr, 0, 0, array->allocator};
  return RCUTILS_RET_OK;
}

rcutils_ret_t rcutils_uint8_array_resize(rcutils_uint8_array_t * array, size_t size)
{
  void * const buffer = array->allocator.reallocate(array->buffer, size, array->allocator.state);
  if (buffer == nullptr) {
    return fail(RCUTILS_RET_BAD_ALLOC, "no memory for bytes");
  }
  array->buffer = static_cast<uint8_t *>(buffer);
  array->buffer_capacity = size;
  array->buffer_length = array->buffer_length < size ? array->buffer_length : size;
  return RCUTILS_RET_OK;
}

// rosidl

rosidl_type_hash_t rosidl_get_zero_initialized_type_hash() { return {}; }

rcutils_ret_t rosidl_parse_type_hash_string(const char * text, rosidl_type_hash_t * hash)
{
  unsigned version = 0;
  int at = 0;
  const bool begins = std::sscanf(text, "RIHS%2u_%n", &version, &at) == 1 && at > 0;
  if (!begins || std::strlen(text + at) != 64) {
    return fail(RCUTILS_RET_INVALID_ARGUMENT, "this is no hash of a type");
  }
  hash->version = static_cast<uint8_t>(version);
  for (size_t index = 0; index < sizeof hash->value; ++index) {
    const char digits[] = {text[at], text[at + 1], '\0'};
    hash->value[index] = static_cast<uint8_t>(std::strtoul(digits, nullptr, 16));
    at += 2;
  }
  return RCUTILS_RET_OK;
}

const rosidl_message_type_support_t * get_message_typesupport_handle(
  const rosidl_message_type_support_t * handle, const char * identifier)
{
  return handle->func(handle, identifier);
}

const rosidl_service_type_support_t * get_service_typesupport_handle(
  const rosidl_service_type_support_t * handle, const char * identifier)
{
  return handle->func(handle, identifier);
}

// rmw

rmw_duration_t rmw_time_total_nsec(rmw_time_t time)
{
  constexpr uint64_t second = 1000000000;
  const uint64_t seconds = time.nsec / second;
  if (time.sec > INT64_MAX / second || seconds > INT64_MAX / second - time.sec) {
    return INT64_MAX;
  }
  const uint64_t whole = (time.sec + seconds) * second;
  const uint64_t rest = time.nsec % second;
  return rest > INT64_MAX - whole ? INT64_MAX : static_cast<rmw_duration_t>(whole + rest);
}

rmw_time_t rmw_time_from_nsec(rmw_duration_t duration)
{
  const uint64_t nanoseconds = duration < 0 ? INT64_MAX : static_cast<uint64_t>(duration);
  return {nanoseconds / 1000000000, nanoseconds % 1000000000};
}

void * rmw_allocate(size_t size) { return std::malloc(size); }
void rmw_free(void * memory) { std::free(memory); }
rmw_node_t * rmw_node_allocate() { return zeroed<rmw_node_t>(); }
void rmw_node_free(rmw_node_t * node) { std::free(node); }
rmw_publisher_t * rmw_publisher_allocate() { return zeroed<rmw_publisher_t>(); }
void rmw_publisher_free(rmw_publisher_t * publisher) { std::free(publisher); }
rmw_subscription_t * rmw_subscription_allocate() { return zeroed<rmw_subscription_t>(); }
void rmw_subscription_free(rmw_subscription_t * subscription) { std::free(subscription); }
rmw_service_t * rmw_service_allocate() { return zeroed<rmw_service_t>(); }
void rmw_service_free(rmw_service_t * service) { std::free(service); }
rmw_client_t * rmw_client_allocate() { return zeroed<rmw_client_t>(); }
void rmw_client_free(rmw_client_t * client) { std::free(client); }
rmw_guard_condition_t * rmw_guard_condition_allocate() { return zeroed<rmw_guard_condition_t>(); }
void rmw_guard_condition_free(rmw_guard_condition_t * condition) { std::free(condition); }
rmw_wait_set_t * rmw_wait_set_allocate() { return zeroed<rmw_wait_set_t>(); }
void rmw_wait_set_free(rmw_wait_set_t * set) { std::free(set); }

rmw_event_t rmw_get_zero_initialized_event() { return {nullptr, nullptr, RMW_EVENT_INVALID}; }
rmw_message_info_t rmw_get_zero_initialized_message_info() { return {}; }
rmw_context_t rmw_get_zero_initialized_context() { return {}; }
rmw_init_options_t rmw_get_zero_initialized_init_options() { return {}; }
rmw_publisher_options_t rmw_get_default_publisher_options() { return {}; }
rmw_subscription_options_t rmw_get_default_subscription_options() { return {}; }
rmw_security_options_t rmw_get_zero_initialized_security_options() { return {}; }
rmw_security_options_t rmw_get_default_security_options() { return {}; }
rmw_discovery_options_t rmw_get_zero_initialized_discovery_options() { return {}; }

rmw_ret_t rmw_security_options_copy(
  const rmw_security_options_t * from, const rcutils_allocator_t * allocator,
  rmw_security_options_t * to)
{
  to->enforce_security = from->enforce_security;
  if (from->security_root_path != nullptr) {
    to->security_root_path = rcutils_strdup(from->security_root_path, *allocator);
    if (to->security_root_path == nullptr) {
      return fail(RMW_RET_BAD_ALLOC, "no memory for a path");
    }
  }
  return RMW_RET_OK;
}

rmw_ret_t rmw_security_options_fini(
  rmw_security_options_t * options, const rcutils_allocator_t * allocator)
{
  allocator->deallocate(options->security_root_path, allocator->state);
  *options = {};
  return RMW_RET_OK;
}

rmw_ret_t rmw_discovery_options_init(
  rmw_discovery_options_t * options, size_t size, rcutils_allocator_t * allocator)
{
  *options = {};
  options->allocator = *allocator;
  if (size > 0) {
    options->static_peers = static_cast<rmw_peer_address_t *>(
      allocator->zero_allocate(size, sizeof(rmw_peer_address_t), allocator->state));
    if (options->static_peers == nullptr) {
      return fail(RMW_RET_BAD_ALLOC, "no memory for peers");
    }
    options->static_peers_count = size;
  }
  return RMW_RET_OK;
}

rmw_ret_t rmw_discovery_options_copy(
  const rmw_discovery_options_t * from, rcutils_allocator_t * allocator,
  rmw_discovery_options_t * to)
{
  const rmw_ret_t ret = rmw_discovery_options_init(to, from->static_peers_count, allocator);
  if (ret == RMW_RET_OK) {
    to->automatic_discovery_range = from->automatic_discovery_range;
    std::copy_n(from->static_peers, from->static_peers_count, to->static_peers);
  }
  return ret;
}

rmw_ret_t rmw_discovery_options_fini(rmw_discovery_options_t * options)
{
  if (options->static_peers != nullptr) {
    options->allocator.deallocate(options->static_peers, options->allocator.state);
  }
  *options = {};
  return RMW_RET_OK;
}

rmw_ret_t rmw_check_zero_rmw_string_array(rcutils_string_array_t * array)
{
  const bool zero = array != nullptr && array->size == 0 && array->data == nullptr;
  return zero ? RMW_RET_OK : fail(RMW_RET_INVALID_ARGUMENT, "the array of texts is null or in use");
}

rmw_names_and_types_t rmw_get_zero_initialized_names_and_types() { return {}; }

rmw_ret_t rmw_names_and_types_check_zero(rmw_names_and_types_t * all)
{
  const bool zero = all != nullptr && all->names.data == nullptr && all->types == nullptr;
  return zero ? RMW_RET_OK : fail(RMW_RET_INVALID_ARGUMENT, "the names are null or in use");
}

rmw_ret_t rmw_names_and_types_init(
  rmw_names_and_types_t * all, size_t size, rcutils_allocator_t * allocator)
{
  *all = {};
  if (rcutils_string_array_init(&all->names, size, allocator) != RCUTILS_RET_OK) {
    return RMW_RET_BAD_ALLOC;
  }
  if (size > 0) {
    all->types = static_cast<rcutils_string_array_t *>(
      allocator->zero_allocate(size, sizeof(rcutils_string_array_t), allocator->state));
    if (all->types == nullptr) {
      rcutils_string_array_fini(&all->names);
      return RMW_RET_BAD_ALLOC;
    }
  }
  return RMW_RET_OK;
}

rmw_ret_t rmw_names_and_types_fini(rmw_names_and_types_t * all)
{
  const rcutils_allocator_t allocator = all->names.allocator;
  for (size_t index = 0; index < all->names.size; ++index) {
    rcutils_string_array_fini(&all->types[index]);
  }
  if (all->types != nullptr) {
    allocator.deallocate(all->types, allocator.state);
  }
  all->types = nullptr;
  return rcutils_string_array_fini(&all->names);
}

rmw_topic_endpoint_info_array_t rmw_get_zero_initialized_topic_endpoint_info_array() { return {}; }

rmw_ret_t rmw_topic_endpoint_info_array_check_zero(rmw_topic_endpoint_info_array_t * all)
{
  const bool zero = all != nullptr && all->size == 0 && all->info_array == nullptr;
  return zero ? RMW_RET_OK : fail(RMW_RET_INVALID_ARGUMENT, "the endpoints are null or in use");
}

rmw_ret_t rmw_topic_endpoint_info_array_init_with_size(
  rmw_topic_endpoint_info_array_t * all, size_t size, rcutils_allocator_t * allocator)
{
  *all = {};
  if (size > 0) {
    all->info_array = static_cast<rmw_topic_endpoint_info_t *>(
      allocator->zero_allocate(size, sizeof(rmw_topic_endpoint_info_t), allocator->state));
    if (all->info_array == nullptr) {
      return fail(RMW_RET_BAD_ALLOC, "no memory for endpoints");
    }
    all->size = size;
  }
  return RMW_RET_OK;
}

rmw_ret_t rmw_topic_endpoint_info_array_fini(
  rmw_topic_endpoint_info_array_t * all, rcutils_allocator_t * allocator)
{
  for (size_t index = 0; index < all->size; ++index) {
    const rmw_topic_endpoint_info_t & one = all->info_array[index];
    for (const char * text : {one.node_name, one.node_namespace, one.topic_type}) {
      allocator->deallocate(const_cast<char *>(text), allocator->state);
    }
  }
  allocator->deallocate(all->info_array, allocator->state);
  *all = {};
  return RMW_RET_OK;
}

rmw_ret_t rmw_topic_endpoint_info_set_node_name(
  rmw_topic_endpoint_info_t * info, const char * name, rcutils_allocator_t * allocator)
{
  return set_text(info->node_name, name, allocator);
}

rmw_ret_t rmw_topic_endpoint_info_set_node_namespace(
  rmw_topic_endpoint_info_t * info, const char * name, rcutils_allocator_t * allocator)
{
  return set_text(info->node_namespace, name, allocator);
}

rmw_ret_t rmw_topic_endpoint_info_set_topic_type(
  rmw_topic_endpoint_info_t * info, const char * type, rcutils_allocator_t * allocator)
{
  return set_text(info->topic_type, type, allocator);
}

rmw_ret_t rmw_topic_endpoint_info_set_topic_type_hash(
  rmw_topic_endpoint_info_t * info, const rosidl_type_hash_t * hash)
{
  info->topic_type_hash = *hash;
  return RMW_RET_OK;
}

rmw_ret_t rmw_topic_endpoint_info_set_endpoint_type(
  rmw_topic_endpoint_info_t * info, rmw_endpoint_type_t type)
{
  info->endpoint_type = type;
  return RMW_RET_OK;
}

rmw_ret_t rmw_topic_endpoint_info_set_gid(
  rmw_topic_endpoint_info_t * info, const uint8_t * gid, size_t size)
{
  if (size > sizeof info->endpoint_gid) {
    return fail(RMW_RET_INVALID_ARGUMENT, "the gid is too long");
  }
  std::memcpy(info->endpoint_gid, gid, size);
  return RMW_RET_OK;
}

rmw_ret_t rmw_topic_endpoint_info_set_qos_profile(
  rmw_topic_endpoint_info_t * info, const rmw_qos_profile_t * profile)
{
  info->qos_profile = *profile;
  return RMW_RET_OK;
}

rmw_ret_t rmw_validate_full_topic_name(const char * name, int * verdict, size_t * at)
{
  *verdict = number_of(check_name(name, false, at));
  return RMW_RET_OK;
}

rmw_ret_t rmw_validate_namespace(const char * name, int * verdict, size_t * at)
{
  *verdict = number_of(check_name(name, true, at));
  return RMW_RET_OK;
}

rmw_ret_t rmw_validate_node_name(const char * name, int * verdict, size_t * at)
{
  const std::string full = std::string("/") + name;
  const bool has_parts = std::strchr(name, '/') != nullptr;
  *verdict = number_of(has_parts ? verdicts[5] : check_name(full.c_str(), false, at));
  return RMW_RET_OK;
}

const char * rmw_full_topic_name_validation_result_string(int number) { return verdict_of(number); }
const char * rmw_namespace_validation_result_string(int number) { return verdict_of(number); }
const char * rmw_node_name_validation_result_string(int number) { return verdict_of(number); }
