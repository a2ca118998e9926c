/// What generated message headers are made of, and what a message type has for a transport.
///
/// `sinew-generate-cpp` writes a header for each definition, with the structs of ROS 2's
/// `rosidl_generator_cpp` and a specialisation of `sinew::MessageTraits` for each:
///
///     #include "std_msgs/msg/string.hpp"
///
///     std_msgs::msg::String text;
///     text.data = "hello";
///     using Traits = sinew::MessageTraits<std_msgs::msg::String>;
///     std::vector<std::uint8_t> encoded(Traits::encoded_size(text));
///     if (auto error = Traits::encode(text, encoded.data(), encoded.size())) {
///       std::cerr << error.sentence() << '\n';
///     }
///
/// Needs C++17; neither exceptions nor run-time type information.
#ifndef SINEW_MESSAGE_HPP
#define SINEW_MESSAGE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinew/bounded_vector.hpp"
#include "sinew/cdr.hpp"
#include "sinew/yaml.hpp"

namespace sinew
{

/// How a constructor of a message initialises its fields. (Strings and sequences are empty first in
/// any case.)
enum class MessageInitialization
{
  /// The default values of the definition; otherwise zero.
  ALL,
  /// Numbers stay uninitialised.
  SKIP,
  /// Zero, whatever the definition says.
  ZERO,
  /// The default values of the definition; other numbers stay uninitialised.
  DEFAULTS_ONLY,
};

constexpr bool initializes_zeros(MessageInitialization init) noexcept
{
  return init == MessageInitialization::ALL || init == MessageInitialization::ZERO;
}

constexpr bool initializes_defaults(MessageInitialization init) noexcept
{
  return init == MessageInitialization::ALL || init == MessageInitialization::DEFAULTS_ONLY;
}

/// The types of fields, with the allocator of their message.
namespace field
{

template<class T, class Allocator>
using Rebound = typename std::allocator_traits<Allocator>::template rebind_alloc<T>;

template<class Allocator>
using String = std::basic_string<char, std::char_traits<char>, Rebound<char, Allocator>>;

template<class Allocator>
using WString =
  std::basic_string<char16_t, std::char_traits<char16_t>, Rebound<char16_t, Allocator>>;

template<class T, class Allocator>
using Sequence = std::vector<T, Rebound<T, Allocator>>;

template<class T, std::size_t Bound, class Allocator>
using BoundedSequence = BoundedVector<T, Bound, Rebound<T, Allocator>>;

}  // namespace field

/// The hash of a type as bytes.
using TypeHash = std::array<std::uint8_t, 32>;

/// Returns the bytes of a hash that is written as `RIHS01_` and 64 hexadecimal digits.
constexpr TypeHash type_hash(std::string_view text) noexcept
{
  const auto digit = [](char letter) {
      return static_cast<unsigned>(letter <= '9' ? letter - '0' : letter - 'a' + 10);
    };
  constexpr std::size_t prefix = 7;  // RIHS01_
  TypeHash hash{};
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const char high = text[prefix + 2 * i];
    const char low = text[prefix + 2 * i + 1];
    hash[i] = static_cast<std::uint8_t>(digit(high) * 16 + digit(low));
  }
  return hash;
}

/// The operations of a message type on its encoded form: a base of its `MessageTraits`.
///
/// A specialisation adds:
///
/// | | |
/// |---|---|
/// | `name` | the ROS 2 name, `sensor_msgs/msg/Image` |
/// | `hash_text`, `hash` | the RIHS01 hash of the type (REP 2016), as text and as 32 bytes |
/// | `description` | the type description that is hashed, as JSON |
/// | `alignment`, `least` | of the encoded form: alignment of its first byte, minimum length |
/// | `is_plain` | whether the encoded form is the header and the bytes of the struct, without padding, and any bytes are a value |
/// | `has_bounded_text` | whether a string somewhere in the message has a bound; without one, every message can be encoded |
/// | `stamp(message)` | nanoseconds of the header's stamp, for types that have one |
/// | `Builder` | the type that `build` returns |
/// | `visit(message, visitor)` | passes each field to the visitor; stops at the first `false` |
template<class T>
struct MessageCodec
{
  static constexpr bool has_bounded_text = false;

  /// Checks that no string is longer than its bound. Does not allocate.
  static cdr::Error check(const T & message)
  {
    cdr::BoundChecker checker;
    (void)checker.message(message);
    return checker.error();
  }

  /// Returns the length of the encoded form in bytes, with its header.
  static std::size_t encoded_size(const T & message)
  {
    cdr::Length length;
    length.message(message);
    return cdr::header_size + length.at();
  }

  /// Encodes a message into a buffer of exactly `encoded_size(message)` bytes.
  ///
  /// Fails if a bounded string is too long, or if the buffer has another length. Does not allocate.
  static cdr::Error encode(const T & message, std::uint8_t * encoded, std::size_t length)
  {
    cdr::Error error(cdr::Error::Kind::BUFFER, cdr::header_size, length);
    if (length >= cdr::header_size) {
      cdr::Writer writer(encoded, length);
      if (!writer.message(message)) {
        return writer.error();
      }
      if (cdr::header_size + writer.at() == length) {
        return {};
      }
      error = cdr::Error(cdr::Error::Kind::BUFFER, cdr::header_size + writer.at(), length);
    }
    error.in_type(MessageTraits<T>::name.data());
    return error;
  }

  /// Decodes untrusted bytes into a message, and reuses its memory. Bytes after the last field are
  /// accepted, since some writers round the length up. After an error the message is valid, with
  /// unspecified content.
  static cdr::Error decode(const std::uint8_t * encoded, std::size_t length, T & message)
  {
    cdr::Reader reader(encoded, length);
    const bool is_decoded = reader.read_header() && reader.message(message);
    cdr::Error error = is_decoded ? cdr::Error() : reader.error();
    error.in_type(MessageTraits<T>::name.data());
    return error;
  }
};

/// Builds a message field by field, in the order of the definition; the last one returns it:
/// `sinew::build<geometry_msgs::msg::Point>().x(1.0).y(2.0).z(3.0)`. ROS 2 has the function in the
/// namespace of each package, where it is as well.
template<class T>
auto build()
{
  return typename MessageTraits<T>::Builder();
}

/// The properties of a service type: `name`, `hash_text`, `hash` and `description`. Generated
/// headers specialise it.
template<class T>
struct ServiceTraits;

/// The properties of an action type, as those of a service.
template<class T>
struct ActionTraits;

/// A message type as data and functions, for code that has pointers instead of the type.
struct TypeTable
{
  std::string_view name;
  TypeHash hash;
  std::string_view description;
  /// Size and alignment of a value in memory.
  std::size_t size;
  std::size_t alignment;
  /// As `MessageTraits::is_plain`.
  bool is_plain;
  /// Makes a value with its defaults in this place.
  void (* create)(void * place);
  /// Makes a copy in this place.
  void (* clone)(const void * from, void * place);
  /// Destroys a value, without freeing its memory.
  void (* drop)(void * value);
  std::size_t (* encoded_size)(const void * value);
  cdr::Error (* encode)(const void * value, std::uint8_t * encoded, std::size_t length);
  cdr::Error (* decode)(const std::uint8_t * encoded, std::size_t length, void * value);
  /// Returns the nanoseconds of the header's stamp; null if the type has no header.
  std::int64_t (* stamp)(const void * value);
};

namespace detail
{

template<class T, class = void>
struct Stamp
{
  static constexpr std::int64_t (* function)(const void *) = nullptr;
};

template<class T>
struct Stamp<T, std::void_t<decltype(&MessageTraits<T>::stamp)>>
{
  static std::int64_t stamp(const void * value)
  {
    return MessageTraits<T>::stamp(*static_cast<const T *>(value));
  }
  static constexpr std::int64_t (* function)(const void *) = &stamp;
};

template<class T>
struct TableOf
{
  using Traits = MessageTraits<T>;

  static void create(void * place) {new (place) T();}
  static void clone(const void * from, void * place) {new (place) T(*static_cast<const T *>(from));}
  static void drop(void * value) {static_cast<T *>(value)->~T();}

  static std::size_t encoded_size(const void * value)
  {
    return Traits::encoded_size(*static_cast<const T *>(value));
  }

  static cdr::Error encode(const void * value, std::uint8_t * encoded, std::size_t length)
  {
    return Traits::encode(*static_cast<const T *>(value), encoded, length);
  }

  static cdr::Error decode(const std::uint8_t * encoded, std::size_t length, void * value)
  {
    return Traits::decode(encoded, length, *static_cast<T *>(value));
  }
};

}  // namespace detail

/// The table of a message type.
template<class T>
inline constexpr TypeTable type_table = {
  MessageTraits<T>::name,
  MessageTraits<T>::hash,
  MessageTraits<T>::description,
  sizeof(T),
  alignof(T),
  MessageTraits<T>::is_plain,
  &detail::TableOf<T>::create,
  &detail::TableOf<T>::clone,
  &detail::TableOf<T>::drop,
  &detail::TableOf<T>::encoded_size,
  &detail::TableOf<T>::encode,
  &detail::TableOf<T>::decode,
  detail::Stamp<T>::function,
};

}  // namespace sinew

/// The names under which code for ROS 2 knows these things. Headers of ROS 2 itself define the same
/// messages and traits, so a program includes either those or these.
namespace rosidl_runtime_cpp
{

using MessageInitialization = ::sinew::MessageInitialization;

template<class T, std::size_t UpperBound, class Allocator = std::allocator<T>>
using BoundedVector = ::sinew::BoundedVector<T, UpperBound, Allocator>;

}  // namespace rosidl_runtime_cpp

namespace rosidl_generator_traits
{

/// The C++ name of a type: `sensor_msgs::msg::Image`.
template<class T>
inline const char * data_type();

/// The ROS 2 name of a type: `sensor_msgs/msg/Image`.
template<class T>
inline const char * name();

/// Whether all encoded forms have the same length.
template<class T>
struct has_fixed_size : std::false_type {};

/// Whether encoded forms have a largest length.
template<class T>
struct has_bounded_size : std::false_type {};

template<class T>
struct is_message : std::false_type {};
template<class T>
struct is_service : std::false_type {};
template<class T>
struct is_service_request : std::false_type {};
template<class T>
struct is_service_response : std::false_type {};
template<class T>
struct is_action : std::false_type {};
template<class T>
struct is_action_goal : std::false_type {};
template<class T>
struct is_action_result : std::false_type {};
template<class T>
struct is_action_feedback : std::false_type {};

}  // namespace rosidl_generator_traits

#endif  // SINEW_MESSAGE_HPP
