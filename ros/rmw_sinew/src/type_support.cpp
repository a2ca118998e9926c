#include "type_support.hpp"

#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>
#include <rcutils/error_handling.h>
#include <rosidl_runtime_c/type_hash.h>
#include <rosidl_typesupport_fastrtps_c/identifier.h>
#include <rosidl_typesupport_fastrtps_cpp/identifier.hpp>
#include <rosidl_typesupport_fastrtps_cpp/service_type_support.h>

#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "check.hpp"
#include "type_description.hpp"

namespace rmw_sinew {

/// What the generated code of a service has, in both languages.
struct ServiceParts
{
  const rosidl_service_type_support_t * handle;
  const service_type_support_callbacks_t * callbacks;
};

namespace {

using eprosima::fastcdr::Cdr;
using eprosima::fastcdr::FastBuffer;

/// What the encoded form is aligned to, and the largest alignment of a field.
constexpr std::size_t ALIGNMENT = 8;

/// The encapsulation of a value in the byte order of this machine.
const std::uint8_t HEADER[MessageSupport::HEADER_SIZE] = {0, Cdr::DEFAULT_ENDIAN, 0, 0};

const rosidl_runtime_c__type_description__TypeDescription * description_of(
  const rosidl_message_type_support_t * handle)
{
  const auto describe = handle->get_type_description_func;
  return describe ? describe(handle) : nullptr;
}

/// Returns the size of a plain value. The generated code says whether a type is plain, but only
/// compares where the last field ends, so that a gap before it may be missed.
std::size_t plain_size_of(
  const rosidl_message_type_support_t * handle, const message_type_support_callbacks_t & callbacks)
{
  char bounds = ROSIDL_TYPESUPPORT_FASTRTPS_UNBOUNDED_TYPE;
  const std::size_t size = callbacks.max_serialized_size(bounds);
  if (bounds != ROSIDL_TYPESUPPORT_FASTRTPS_PLAIN_TYPE || size % ALIGNMENT != 0) {
    return 0;
  }
  const auto * description = description_of(handle);
  return description != nullptr && is_plain(*description, size) ? size : 0;
}

/// Calls `get` for the type supports of both languages, and returns the first that it finds.
template<class Handle, class Get>
const Handle * handle_of(const Handle * type_support, Get get)
{
  if (const auto * of_c = get(type_support, rosidl_typesupport_fastrtps_c__identifier)) {
    return of_c;
  }
  rcutils_reset_error();
  const auto * of_cpp = get(type_support, rosidl_typesupport_fastrtps_cpp::typesupport_identifier);
  if (of_cpp != nullptr) {
    return of_cpp;
  }
  rcutils_reset_error();
  throw std::runtime_error(
          std::string("the type support is of ") + type_support->typesupport_identifier +
          ", not of rosidl_typesupport_fastrtps_c or _cpp");
}

/// Returns `package/msg/Name`. The code of C++ separates the parts of the namespace by `::`, that
/// of C by `__`, which can't be inside of a part.
std::string name_of(std::string name_space, const char * name)
{
  for (const char * separator : {"::", "__"}) {
    for (auto at = name_space.find(separator); at != std::string::npos;
      at = name_space.find(separator, at))
    {
      name_space.replace(at, 2, "/");
    }
  }
  return name_space + "/" + name;
}

/// Returns the hash of a message or service, `RIHS01_` and 64 digits.
template<class Handle>
std::string hash_of(const Handle * handle, const std::string & name)
{
  const auto * hash = handle->get_type_hash_func ? handle->get_type_hash_func(handle) : nullptr;
  if (hash == nullptr || hash->version != 1) {
    throw std::runtime_error("the type " + name + " has no RIHS01 hash");
  }
  static const char DIGITS[] = "0123456789abcdef";
  std::string text = "RIHS01_";
  for (const std::uint8_t byte : hash->value) {
    text += DIGITS[byte >> 4];
    text += DIGITS[byte & 15];
  }
  return text;
}

/// Sinew's types by name and hash, so that a description is written and read once in a process.
template<class Type>
class Types
{
public:
  template<class Make>
  const Type * get(const std::string & name, const std::string & hash, Make make)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Type * & type = types_[name + hash];
    if (type == nullptr) {
      type = make();
    }
    return type;
  }

private:
  std::mutex mutex_;
  std::map<std::string, const Type *> types_;
};

const sinew_message_type * message_type_of(
  const rosidl_message_type_support_t * handle, const message_type_support_callbacks_t * callbacks)
{
  static Types<sinew_message_type> types;
  const auto name = name_of(callbacks->message_namespace_, callbacks->message_name_);
  const auto hash = hash_of(handle, name);
  return types.get(
    name, hash, [&] {
      const sinew_message_type * type = nullptr;
      if (const auto * description = description_of(handle)) {
        require(sinew_message_type_described(json_of(*description).c_str(), &type));
        // A description that belongs to another hash would make another type.
        if (hash == sinew_message_type_hash(type) && name == sinew_message_type_name(type)) {
          return type;
        }
      }
      require(sinew_message_type_known(name.c_str(), hash.c_str(), &type));
      return type;
    });
}

const sinew_service_type * service_type_of(
  const ServiceParts & parts, const MessageSupport & request, const MessageSupport & response)
{
  static Types<sinew_service_type> types;
  const auto name = name_of(parts.callbacks->service_namespace_, parts.callbacks->service_name_);
  const auto hash = hash_of(parts.handle, name);
  return types.get(
    name, hash, [&] {
      const sinew_service_type * type = nullptr;
      require(
        sinew_service_type_new(name.c_str(), hash.c_str(), request.type(), response.type(), &type));
      return type;
    });
}

ServiceParts parts_of(const rosidl_service_type_support_t * type_support)
{
  const auto * handle = handle_of(type_support, get_service_typesupport_handle);
  return {handle, static_cast<const service_type_support_callbacks_t *>(handle->data)};
}

}  // namespace

MessageSupport::MessageSupport(const rosidl_message_type_support_t * type_support)
{
  const auto * handle = handle_of(type_support, get_message_typesupport_handle);
  callbacks_ = static_cast<const message_type_support_callbacks_t *>(handle->data);
  type_ = message_type_of(handle, callbacks_);
  plain_size_ = plain_size_of(handle, *callbacks_);
}

void * MessageSupport::begin_plain(std::uint8_t * bytes, std::size_t length) const
{
  std::memcpy(bytes, HEADER, sizeof HEADER);
  void * value = plain_value(bytes, length);
  if (value == nullptr) {
    throw std::logic_error("a draft isn't aligned as encoded messages are");
  }
  return value;
}

void * MessageSupport::plain_value(const std::uint8_t * bytes, std::size_t length) const
{
  const auto * value = bytes + HEADER_SIZE;
  const bool usable = plain_size_ > 0 && length >= HEADER_SIZE + plain_size_ &&
    std::memcmp(bytes, HEADER, 2) == 0 &&
    reinterpret_cast<std::uintptr_t>(value) % ALIGNMENT == 0;
  // rmw hands out what was taken as mutable; a program must not write to it.
  return usable ? const_cast<std::uint8_t *>(value) : nullptr;
}

std::size_t MessageSupport::encoded_size(const void * message) const
{
  return HEADER_SIZE + callbacks_->get_serialized_size(message);
}

std::size_t MessageSupport::encode(
  const void * message, std::uint8_t * bytes, std::size_t capacity) const
{
  std::memcpy(bytes, HEADER, HEADER_SIZE);
  if (plain_size_ > 0) {
    std::memcpy(bytes + HEADER_SIZE, message, plain_size_);
    return HEADER_SIZE + plain_size_;
  }
  FastBuffer buffer(reinterpret_cast<char *>(bytes + HEADER_SIZE), capacity - HEADER_SIZE);
  Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, eprosima::fastcdr::CdrVersion::DDS_CDR);
  if (!callbacks_->cdr_serialize(message, cdr)) {
    throw std::runtime_error(
            std::string("a message of ") + sinew_message_type_name(type_) + " can't be encoded");
  }
  return HEADER_SIZE + cdr.get_serialized_data_length();
}

void MessageSupport::decode(const std::uint8_t * bytes, std::size_t length, void * message) const
{
  const bool is_native = length >= HEADER_SIZE && std::memcmp(bytes, HEADER, HEADER_SIZE) == 0;
  if (is_native && plain_size_ > 0 && length >= HEADER_SIZE + plain_size_) {
    std::memcpy(message, bytes + HEADER_SIZE, plain_size_);
    return;
  }
  // Fast-CDR takes a third of the time of a small message to read its encapsulation.
  const std::size_t known = is_native ? HEADER_SIZE : 0;
  // Fast-CDR only reads from it; there is no constructor for constant bytes.
  FastBuffer buffer(
    reinterpret_cast<char *>(const_cast<std::uint8_t *>(bytes + known)), length - known);
  Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, eprosima::fastcdr::CdrVersion::DDS_CDR);
  if (!is_native) {
    cdr.read_encapsulation();
  }
  if (!callbacks_->cdr_deserialize(cdr, message)) {
    throw std::runtime_error(
            std::string("bytes are no valid message of ") + sinew_message_type_name(type_));
  }
}

ServiceSupport::ServiceSupport(const rosidl_service_type_support_t * type_support)
: ServiceSupport(parts_of(type_support)) {}

ServiceSupport::ServiceSupport(const ServiceParts & parts)
: request_(parts.callbacks->request_members_), response_(parts.callbacks->response_members_),
  type_(service_type_of(parts, request_, response_)) {}

}  // namespace rmw_sinew
