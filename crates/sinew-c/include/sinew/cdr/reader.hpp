/// From an encoded form to the message.
#ifndef SINEW_CDR_READER_HPP
#define SINEW_CDR_READER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sinew/cdr/visitor.hpp"

namespace sinew::cdr
{

/// Reads an untrusted encoded message.
class Reader : public FieldVisitor<Reader>
{
public:
  Reader(const std::uint8_t * encoded, std::size_t length) noexcept
  : encoded_(encoded), length_(length) {}

  /// Reads the header, and must be called first.
  bool read_header()
  {
    if (length_ < header_size) {
      error_ = Error(Error::Kind::TRUNCATED, header_size, length_);
      error_.in_field("(header)");
      return false;
    }
    const unsigned representation = static_cast<unsigned>(encoded_[0]) << 8 | encoded_[1];
    if (representation > 1) {
      return fail(Error::Kind::REPRESENTATION, representation, 1);
    }
    is_turned_ = (representation == 0) != is_big_endian_machine;
    encoded_ += header_size;
    length_ -= header_size;
    return true;
  }

  template<class T>
  bool value(T & value)
  {
    if constexpr (kind::is_text<T>) {
      return string(value);
    } else if constexpr (kind::is_sequence<T>) {
      std::size_t count = 0;
      if (!this->count(count, kind::least<typename T::value_type>())) {
        return false;
      }
      if (count > kind::bound<T>) {
        return fail(Error::Kind::BOUND, count, kind::bound<T>);
      }
      return sequence(value, count);
    } else if constexpr (kind::is_array<T>) {
      return array(value);
    } else if constexpr (kind::is_message<T>) {
      return message(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      return boolean(value);
    } else {
      return number(value);
    }
  }

  bool empty_message() {return take(1) != nullptr || named(placeholder);}

private:
  /// Number of bytes left. After an alignment, `at_` may be beyond the end by less than 8.
  std::size_t left() const noexcept {return at_ < length_ ? length_ - at_ : 0;}

  void align(std::size_t alignment) noexcept {at_ = aligned(at_, alignment);}

  /// Returns the next bytes, or null if there are fewer.
  const std::uint8_t * take(std::size_t length)
  {
    if (at_ > length_ || length > length_ - at_) {
      const std::size_t end = length > SIZE_MAX / 2 ? length : header_size + at_ + length;
      fail(Error::Kind::TRUNCATED, end, header_size + length_);
      return nullptr;
    }
    const std::uint8_t * bytes = encoded_ + at_;
    at_ += length;
    return bytes;
  }

  bool named(const char * field)
  {
    error_.in_field(field);
    return false;
  }

  bool invalid(std::size_t at, const char * problem)
  {
    return fail(Error::Kind::INVALID, header_size + at, 0, problem);
  }

  template<class T>
  bool number(T & value)
  {
    align(sizeof(T));
    const std::uint8_t * bytes = take(sizeof(T));
    if (bytes == nullptr) {
      return false;
    }
    if (is_turned_) {
      std::uint8_t turned[sizeof(T)];
      std::reverse_copy(bytes, bytes + sizeof(T), turned);
      std::memcpy(&value, turned, sizeof(T));
    } else {
      std::memcpy(&value, bytes, sizeof(T));
    }
    return true;
  }

  bool boolean(bool & value)
  {
    const std::uint8_t * byte = take(1);
    if (byte == nullptr) {
      return false;
    }
    // A copy, since another process may still be writing the byte.
    const std::uint8_t copy = *static_cast<const volatile std::uint8_t *>(byte);
    value = copy == 1;
    return copy <= 1 || invalid(at_ - 1, "a bool is 0 or 1");
  }

  /// Reads the length of a string or sequence with elements of at least `least` bytes each.
  bool count(std::size_t & count, std::size_t least)
  {
    std::uint32_t claimed = 0;
    if (!number(claimed)) {
      return false;
    }
    // Another process may still be writing the length: it is read once, then checked and used.
    const volatile std::uint32_t once = claimed;
    count = once;
    return count <= left() / least || fail(Error::Kind::TOO_LONG, count, left() / least);
  }

  template<class Text>
  bool string(Text & text)
  {
    std::size_t length = 0;
    text.clear();
    if constexpr (sizeof(typename Text::value_type) == 1) {
      if (!count(length, 1)) {
        return false;
      }
      const std::uint8_t * bytes = take(length);
      if (bytes == nullptr) {
        return false;
      }
      if (length == 0) {
        return true;  // some writers leave out the NUL of an empty string
      }
      text.assign(reinterpret_cast<const char *>(bytes), length - 1);
      if (bytes[length - 1] != 0) {
        text.clear();
        return invalid(at_ - 1, "a string ends with a NUL");
      }
    } else {
      if (!count(length, 4)) {
        return false;
      }
      text.reserve(length);
      for (std::size_t i = 0; i < length; ++i) {
        std::uint32_t unit = 0;
        if (!number(unit)) {
          return false;
        }
        if (unit > 0xffff) {
          return invalid(at_ - 4, "a unit of a wstring has 16 bits that count");
        }
        text.push_back(static_cast<char16_t>(unit));
      }
    }
    if (!is_within_bound(text)) {
      text.clear();
      return false;
    }
    return true;
  }

  /// Returns whether the next values, of which there is at least one, are copied as bytes.
  template<class T>
  bool is_next_in_place()
  {
    if constexpr (kind::is_plain<T>()) {
      align(kind::alignment<T>());
      return !is_turned_ && kind::is_in_place<T>(at_);
    } else {
      return false;
    }
  }

  template<class Array>
  bool array(Array & values)
  {
    using T = typename Array::value_type;
    if (is_next_in_place<T>()) {
      const std::uint8_t * bytes = take(sizeof(Array));
      if (bytes == nullptr) {
        return false;
      }
      std::memcpy(static_cast<void *>(values.data()), bytes, sizeof(Array));
      return true;
    }
    return std::all_of(values.begin(), values.end(), [this](T & element) {return value(element);});
  }

  /// Reads the elements of a sequence, and reuses its memory.
  template<class Values>
  bool sequence(Values & values, std::size_t count)
  {
    using T = typename Values::value_type;
    if constexpr (std::is_same_v<T, bool>) {
      values.resize(count);
      for (std::size_t i = 0; i < count; ++i) {
        bool element = false;
        if (!boolean(element)) {
          return false;
        }
        values[i] = element;
      }
      return true;
    } else {
      if (count == 0) {
        values.clear();
        return true;
      }
      if constexpr (kind::is_plain<T>()) {
        if (is_next_in_place<T>()) {
          return copy(values, count);
        }
      }
      return one_by_one(values, count);
    }
  }

  template<class Values>
  bool copy(Values & values, std::size_t count)
  {
    using T = typename Values::value_type;
    // `count` has checked that this many bytes are there, so the product fits.
    const std::uint8_t * bytes = take(count * sizeof(T));
    if (bytes == nullptr) {
      return false;
    }
    if constexpr (kind::is_number<T>) {
      // Unlike `resize`, this doesn't fill the memory with zeros first. The message itself may lie
      // at an unaligned address.
      if (reinterpret_cast<std::uintptr_t>(bytes) % alignof(T) == 0) {
        const T * first = reinterpret_cast<const T *>(bytes);
        values.assign(first, first + count);
        return true;
      }
    }
    values.resize(count);
    std::memcpy(static_cast<void *>(values.data()), bytes, count * sizeof(T));
    return true;
  }

  template<class Values>
  bool one_by_one(Values & values, std::size_t count)
  {
    using T = typename Values::value_type;
    if (values.size() > count) {
      values.resize(count);
    }
    for (T & element : values) {
      if (!value(element)) {
        return false;
      }
    }
    // A value may be larger in memory than encoded. A false length must not cost more memory than
    // the message itself, so no more bytes are reserved at once than remain in the message.
    const std::size_t missing = count - values.size();
    values.reserve(values.size() + std::min(missing, left() / sizeof(T)));
    for (std::size_t i = 0; i < missing; ++i) {
      if (!value(values.emplace_back())) {
        return false;
      }
    }
    return true;
  }

  /// The message; from `read_header` on, without its header, so that indices are the offsets that
  /// alignment counts.
  const std::uint8_t * encoded_;
  std::size_t length_;
  std::size_t at_ = 0;
  /// Whether the message has the other byte order than the machine.
  bool is_turned_ = false;
};

}  // namespace sinew::cdr

#endif  // SINEW_CDR_READER_HPP
