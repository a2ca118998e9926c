/// From a message to its encoded form.
#ifndef SINEW_CDR_WRITER_HPP
#define SINEW_CDR_WRITER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sinew/cdr/visitor.hpp"

namespace sinew::cdr
{

/// Counts the bytes of the encoded form.
class Length : public FieldVisitor<Length>
{
public:
  /// Number of bytes so far, without the header.
  std::size_t at() const noexcept {return at_;}

  template<class T>
  bool value(const T & value)
  {
    if constexpr (kind::is_text<T>) {
      constexpr bool is_wide = sizeof(typename T::value_type) > 1;
      at_ = aligned(at_, 4) + 4 + (is_wide ? 4 * value.size() : value.size() + 1);
    } else if constexpr (kind::is_sequence<T>) {
      at_ = aligned(at_, 4) + 4;
      elements<typename T::value_type>(value);
    } else if constexpr (kind::is_array<T>) {
      elements<typename T::value_type>(value);
    } else if constexpr (kind::is_message<T>) {
      return message(value);
    } else {
      at_ = aligned(at_, sizeof(T)) + sizeof(T);
    }
    return true;
  }

  bool empty_message()
  {
    at_ += 1;
    return true;
  }

private:
  template<class T, class Values>
  void elements(const Values & values)
  {
    if (values.size() == 0) {
      return;
    }
    const std::size_t begin = aligned(at_, kind::alignment<T>());
    if (std::is_same_v<T, bool> || kind::is_in_place<T>(begin)) {
      at_ = begin + values.size() * sizeof(T);
    } else if constexpr (!std::is_same_v<T, bool>) {
      for (const T & element : values) {
        value(element);
      }
    }
  }

  std::size_t at_ = 0;
};

/// Writes the encoded form.
class Writer : public FieldVisitor<Writer>
{
public:
  /// Writes after the header of this buffer, which has at least `header_size` bytes.
  Writer(std::uint8_t * encoded, std::size_t length) noexcept
  : body_(encoded + header_size), length_(length - header_size)
  {
    std::memcpy(encoded, header, header_size);
  }

  /// Number of bytes written after the header.
  std::size_t at() const noexcept {return at_;}

  template<class T>
  bool value(const T & value)
  {
    if constexpr (kind::is_text<T>) {
      return string(value);
    } else if constexpr (kind::is_sequence<T>) {
      return count(value.size()) && elements<typename T::value_type>(value);
    } else if constexpr (kind::is_array<T>) {
      return elements<typename T::value_type>(value);
    } else if constexpr (kind::is_message<T>) {
      return message(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      const std::uint8_t byte = value ? 1 : 0;
      return bytes(&byte, 1);
    } else {
      return number(value);
    }
  }

  bool empty_message()
  {
    const std::uint8_t zero = 0;
    return bytes(&zero, 1);
  }

private:
  /// Writes zeros up to a multiple of the alignment: the buffer may hold an earlier message.
  bool align(std::size_t alignment)
  {
    static constexpr std::uint8_t zeros[8] = {};
    return bytes(zeros, aligned(at_, alignment) - at_);
  }

  bool bytes(const void * from, std::size_t length)
  {
    if (length > length_ - at_) {
      return fail(Error::Kind::BUFFER, header_size + at_ + length, header_size + length_);
    }
    if (length != 0) {
      std::memcpy(body_ + at_, from, length);
      at_ += length;
    }
    return true;
  }

  template<class T>
  bool number(T value)
  {
    std::uint8_t turned[sizeof(T)];
    std::memcpy(turned, &value, sizeof(T));
    if constexpr (is_big_endian_machine) {
      std::reverse(turned, turned + sizeof(T));
    }
    return align(sizeof(T)) && bytes(turned, sizeof(T));
  }

  bool count(std::size_t count)
  {
    if (count > UINT32_MAX) {
      return fail(Error::Kind::UNCOUNTABLE, count, UINT32_MAX);
    }
    return number(static_cast<std::uint32_t>(count));
  }

  template<class Text>
  bool string(const Text & text)
  {
    if (!is_within_bound(text)) {
      return false;
    }
    if constexpr (sizeof(typename Text::value_type) == 1) {
      return count(text.size() + 1) && bytes(text.c_str(), text.size() + 1);
    } else {
      if (!count(text.size())) {
        return false;
      }
      for (const char16_t unit : text) {
        if (!number(static_cast<std::uint32_t>(unit))) {
          return false;
        }
      }
      return true;
    }
  }

  template<class T, class Values>
  bool elements(const Values & values)
  {
    if constexpr (std::is_same_v<T, bool>) {
      for (const bool element : values) {
        if (!value(element)) {
          return false;
        }
      }
    } else {
      if (values.size() == 0) {
        return true;  // an empty sequence has no alignment padding
      }
      if constexpr (kind::is_plain<T>() && !is_big_endian_machine) {
        if (!align(kind::alignment<T>())) {
          return false;
        }
        if (kind::is_in_place<T>(at_)) {
          return bytes(values.data(), values.size() * sizeof(T));
        }
      }
      for (const T & element : values) {
        if (!value(element)) {
          return false;
        }
      }
    }
    return true;
  }

  std::uint8_t * body_;
  std::size_t length_;
  std::size_t at_ = 0;
};

}  // namespace sinew::cdr

#endif  // SINEW_CDR_WRITER_HPP
