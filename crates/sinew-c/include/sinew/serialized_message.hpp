/// Messages in their encoded form, as bytes of the program.
#ifndef SINEW_SERIALIZED_MESSAGE_HPP
#define SINEW_SERIALIZED_MESSAGE_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "sinew/error.hpp"
#include "sinew/message.hpp"
#include "sinew/sinew.h"
#include "sinew/span.hpp"

namespace sinew
{

/// Memory of `std::malloc`, of which the first `buffer_length` bytes are used: ROS 2's
/// `rcl_serialized_message_t`.
struct RclSerializedMessage
{
  std::uint8_t * buffer = nullptr;
  std::size_t buffer_length = 0;
  std::size_t buffer_capacity = 0;
};

/// The encoded form of a message: a header of 4 bytes, then plain CDR, as ROS 2 has it. Owns its
/// bytes. Not checked until it is decoded.
class SerializedMessage
{
public:
  using SharedPtr = std::shared_ptr<SerializedMessage>;
  using ConstSharedPtr = std::shared_ptr<const SerializedMessage>;
  using UniquePtr = std::unique_ptr<SerializedMessage>;

  SerializedMessage() = default;

  /// An empty one with memory for this number of bytes.
  explicit SerializedMessage(std::size_t capacity) {reserve(capacity);}

  /// A copy of these bytes.
  explicit SerializedMessage(Span<const std::uint8_t> bytes) {assign(bytes);}

  SerializedMessage(const SerializedMessage & other)
  : SerializedMessage(other.bytes()) {}
  SerializedMessage(SerializedMessage && other) noexcept
  : message_(other.release_rcl_serialized_message()) {}
  SerializedMessage & operator=(const SerializedMessage & other)
  {
    if (this != &other) {
      assign(other.bytes());
    }
    return *this;
  }
  SerializedMessage & operator=(SerializedMessage && other) noexcept
  {
    std::swap(message_, other.message_);
    return *this;
  }
  ~SerializedMessage() {std::free(message_.buffer);}

  /// The number of bytes.
  std::size_t size() const noexcept {return message_.buffer_length;}
  std::size_t capacity() const noexcept {return message_.buffer_capacity;}

  Span<const std::uint8_t> bytes() const noexcept
  {
    return {message_.buffer, message_.buffer_length};
  }
  Span<std::uint8_t> bytes() noexcept {return {message_.buffer, message_.buffer_length};}

  /// Makes room for this number of bytes. Keeps the bytes.
  void reserve(std::size_t capacity)
  {
    if (capacity <= message_.buffer_capacity) {
      return;
    }
    void * larger = std::realloc(message_.buffer, capacity);
    if (larger == nullptr) {
      const std::string wanted = std::to_string(capacity) + " bytes";
      Error(SINEW_ERROR_NO_MEMORY, "no memory for an encoded message of " + wanted).raise();
    }
    message_.buffer = static_cast<std::uint8_t *>(larger);
    message_.buffer_capacity = capacity;
  }

  /// Changes the number of bytes; new ones are not initialised.
  void resize(std::size_t size)
  {
    reserve(size);
    message_.buffer_length = size;
  }

  /// Replaces the bytes by a copy of these.
  void assign(Span<const std::uint8_t> bytes)
  {
    resize(bytes.size());
    if (!bytes.empty()) {
      std::memcpy(message_.buffer, bytes.data(), bytes.size());
    }
  }

  /// The memory, which may be changed: it is freed by `std::free`.
  RclSerializedMessage & get_rcl_serialized_message() noexcept {return message_;}
  const RclSerializedMessage & get_rcl_serialized_message() const noexcept {return message_;}

  /// Gives the memory away: the caller frees it by `std::free`.
  RclSerializedMessage release_rcl_serialized_message() noexcept
  {
    return std::exchange(message_, RclSerializedMessage());
  }

private:
  RclSerializedMessage message_;
};

/// Encodes and decodes messages of a type.
template<class T>
class Serialization
{
public:
  /// Encodes a message; the memory of `serialized` is used again. Fails if a bounded string is too
  /// long.
  static Result<void> try_serialize(const T & message, SerializedMessage & serialized)
  {
    serialized.resize(MessageTraits<T>::encoded_size(message));
    const auto bytes = serialized.bytes();
    return result(
      SINEW_ERROR_UNENCODABLE, MessageTraits<T>::encode(message, bytes.data(), bytes.size()));
  }

  /// Decodes bytes, which may come from anywhere; the memory of `message` is used again. After a
  /// failure the message is valid, with unspecified content.
  static Result<void> try_deserialize(const SerializedMessage & serialized, T & message)
  {
    const auto bytes = serialized.bytes();
    return result(
      SINEW_ERROR_UNDECODABLE, MessageTraits<T>::decode(bytes.data(), bytes.size(), message));
  }

  /// As ROS 2 has them: `message` points to a `T`.
  void serialize_message(const void * message, SerializedMessage * serialized) const
  {
    try_serialize(*static_cast<const T *>(message), *serialized).value();
  }
  void deserialize_message(const SerializedMessage * serialized, void * message) const
  {
    try_deserialize(*serialized, *static_cast<T *>(message)).value();
  }

private:
  static Result<void> result(sinew_status status, const cdr::Error & error)
  {
    if (error) {
      return Error(status, error.sentence());
    }
    return {};
  }
};

}  // namespace sinew

#endif  // SINEW_SERIALIZED_MESSAGE_HPP
