// Facts about Fast-CDR 2 and the type supports upon it: CDR version 1 of numbers, texts, arrays and
// sequences of numbers.
#ifndef STUB_FASTCDR_H
#define STUB_FASTCDR_H

#include "rcutils.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

namespace eprosima {
namespace fastcdr {

enum CdrVersion : uint8_t { CORBA_CDR, DDS_CDR, XCDRv1, XCDRv2 };

namespace exception {

class Exception : public std::exception {
public:
  const char * what() const noexcept override { return "the buffer ends too early"; }
};

class NotEnoughMemoryException : public Exception {};

}  // namespace exception

class FastBuffer {
public:
  FastBuffer(char * buffer, size_t size) : begin_(buffer), size_(size) {}
  char * getBuffer() const { return begin_; }
  size_t getBufferSize() const { return size_; }

private:
  char * begin_;
  size_t size_;
};

class Cdr {
public:
  enum Endianness : uint8_t { BIG_ENDIANNESS = 0, LITTLE_ENDIANNESS = 1 };
  static constexpr Endianness DEFAULT_ENDIAN = LITTLE_ENDIANNESS;

  explicit Cdr(FastBuffer & buffer, Endianness = DEFAULT_ENDIAN, CdrVersion = XCDRv2)
  : buffer_(buffer) {}

  Cdr & serialize_encapsulation()
  {
    const char header[] = {0, static_cast<char>(DEFAULT_ENDIAN), 0, 0};
    std::memcpy(next(sizeof header, 1, true), header, sizeof header);
    origin_ = at_;
    return *this;
  }

  Cdr & read_encapsulation()
  {
    swapped_ = (next(4, 1)[1] & 1) != DEFAULT_ENDIAN;
    origin_ = at_;
    return *this;
  }

  size_t get_serialized_data_length() const { return at_; }

  template <class Number, class = std::enable_if_t<std::is_arithmetic<Number>::value>>
  Cdr & operator<<(Number number)
  {
    std::memcpy(next(sizeof number, sizeof number, true), &number, sizeof number);
    return *this;
  }

  template <class Number, class = std::enable_if_t<std::is_arithmetic<Number>::value>>
  Cdr & operator>>(Number & number)
  {
    char bytes[sizeof number];
    std::memcpy(bytes, next(sizeof number, sizeof number), sizeof number);
    if (swapped_) {
      std::reverse(bytes, bytes + sizeof bytes);
    }
    std::memcpy(&number, bytes, sizeof number);
    return *this;
  }

  /// With the zero that ends it.
  Cdr & operator<<(const std::string & text)
  {
    *this << static_cast<uint32_t>(text.size() + 1);
    std::memcpy(next(text.size() + 1, 1, true), text.c_str(), text.size() + 1);
    return *this;
  }

  Cdr & operator>>(std::string & text)
  {
    uint32_t length = 0;
    *this >> length;
    const char * from = next(length, 1);
    text.assign(from, length == 0 ? 0 : length - 1);
    return *this;
  }

  template <class Number>
  Cdr & operator<<(const std::vector<Number> & numbers)
  {
    *this << static_cast<uint32_t>(numbers.size());
    return serialize_array(numbers.data(), numbers.size());
  }

  template <class Number>
  Cdr & operator>>(std::vector<Number> & numbers)
  {
    uint32_t length = 0;
    *this >> length;
    if (length > buffer_.getBufferSize() / sizeof(Number)) {
      throw exception::NotEnoughMemoryException();
    }
    numbers.resize(length);
    return deserialize_array(numbers.data(), length);
  }

  template <class Number, size_t SIZE>
  Cdr & operator<<(const std::array<Number, SIZE> & numbers)
  {
    return serialize_array(numbers.data(), SIZE);
  }

  template <class Number, size_t SIZE>
  Cdr & operator>>(std::array<Number, SIZE> & numbers)
  {
    return deserialize_array(numbers.data(), SIZE);
  }

  template <class Number>
  Cdr & serialize_array(const Number * numbers, size_t count)
  {
    if (count > 0) {
      std::memcpy(
        next(count * sizeof(Number), sizeof(Number), true), numbers, count * sizeof(Number));
    }
    return *this;
  }

  template <class Number>
  Cdr & deserialize_array(Number * numbers, size_t count)
  {
    for (size_t index = 0; index < count && (swapped_ || sizeof(Number) > 1); ++index) {
      *this >> numbers[index];
    }
    if (!swapped_ && sizeof(Number) == 1 && count > 0) {
      std::memcpy(numbers, next(count, 1), count);
    }
    return *this;
  }

private:
  /// Moves past this number of bytes, which lie at a multiple of their alignment behind the header.
  /// Padding is written only to what is encoded: bytes that are read may be read-only.
  char * next(size_t size, size_t alignment, bool is_written = false)
  {
    const size_t padding = (alignment - (at_ - origin_) % alignment) % alignment;
    if (padding > buffer_.getBufferSize() - at_ || size > buffer_.getBufferSize() - at_ - padding) {
      throw exception::NotEnoughMemoryException();
    }
    char * const begin = buffer_.getBuffer() + at_;
    if (is_written) {
      std::memset(begin, 0, padding);
    }
    at_ += padding + size;
    return begin + padding;
  }

  FastBuffer & buffer_;
  size_t at_ = 0;
  size_t origin_ = 0;
  bool swapped_ = false;
};

}  // namespace fastcdr
}  // namespace eprosima

struct message_type_support_key_callbacks_t;

// What `max_serialized_size` says of a type's bounds.
#define ROSIDL_TYPESUPPORT_FASTRTPS_UNBOUNDED_TYPE 0x00
#define ROSIDL_TYPESUPPORT_FASTRTPS_PLAIN_TYPE 0x03

struct message_type_support_callbacks_t {
  const char * message_namespace_;
  const char * message_name_;
  bool (*cdr_serialize)(const void * message, eprosima::fastcdr::Cdr &);
  bool (*cdr_deserialize)(eprosima::fastcdr::Cdr &, void * message);
  uint32_t (*get_serialized_size)(const void * message);
  size_t (*max_serialized_size)(char & bounds);
  message_type_support_key_callbacks_t * key_callbacks;
};

struct service_type_support_callbacks_t {
  const char * service_namespace_;
  const char * service_name_;
  const rosidl_message_type_support_t * request_members_;
  const rosidl_message_type_support_t * response_members_;
};

STUB_PUBLIC const char * rosidl_typesupport_fastrtps_c__identifier;

namespace rosidl_typesupport_fastrtps_cpp {
extern __attribute__((visibility("default"))) const char * typesupport_identifier;
}  // namespace rosidl_typesupport_fastrtps_cpp

#endif
