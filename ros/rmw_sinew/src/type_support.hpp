// Types of messages and services: how their values are written and read, and their types in Sinew.
#pragma once

#include <rosidl_runtime_c/message_type_support_struct.h>
#include <rosidl_runtime_c/service_type_support_struct.h>
#include <rosidl_typesupport_fastrtps_cpp/message_type_support.h>
#include <sinew/sinew.h>

#include <cstddef>
#include <cstdint>

namespace rmw_sinew {

/// A type of messages, from the generated code of rosidl_typesupport_fastrtps_c or _cpp. A value is
/// written where it is published and read where it was published; nothing lies in between.
///
/// Constructors and functions throw a `std::exception` with the sentence of the failure.
class MessageSupport
{
public:
  /// The bytes before a value in its encoded form: its encapsulation.
  static constexpr std::size_t HEADER_SIZE = 4;

  /// From what rcl passes, for values of C or of C++.
  explicit MessageSupport(const rosidl_message_type_support_t * type_support);

  /// The bytes that the encoded form of a message needs at most, with its header of 4 bytes.
  std::size_t encoded_size(const void * message) const;

  /// Writes a message in its encoded form and returns its true length.
  std::size_t encode(const void * message, std::uint8_t * bytes, std::size_t capacity) const;

  /// Reads a message from bytes that may come from another process. After a failure the message is
  /// valid, with any content.
  void decode(const std::uint8_t * bytes, std::size_t length, void * message) const;

  /// The type in Sinew, with its name, hash and description. It lives as long as the process.
  const sinew_message_type * type() const noexcept {return type_;}

  /// The size of a value that can be loaned, because it has the same bytes in memory as in its
  /// encoded form; 0 for other types.
  std::size_t plain_size() const noexcept {return plain_size_;}

  /// Writes the header of a plain value, and returns where the value goes.
  void * begin_plain(std::uint8_t * bytes, std::size_t length) const;

  /// Returns where a plain value lies in its encoded form; null if the bytes are no such value, or
  /// lie in such a way that a program can't use it.
  void * plain_value(const std::uint8_t * bytes, std::size_t length) const;

private:
  const message_type_support_callbacks_t * callbacks_;
  const sinew_message_type * type_;
  std::size_t plain_size_;
};

/// A type of services, as `MessageSupport`.
class ServiceSupport
{
public:
  explicit ServiceSupport(const rosidl_service_type_support_t * type_support);

  const MessageSupport & request() const noexcept {return request_;}
  const MessageSupport & response() const noexcept {return response_;}

  /// The type in Sinew. It lives as long as the process.
  const sinew_service_type * type() const noexcept {return type_;}

private:
  explicit ServiceSupport(const struct ServiceParts & parts);

  MessageSupport request_;
  MessageSupport response_;
  const sinew_service_type * type_;
};

}  // namespace rmw_sinew
