/// The kinds of types that fields have, and what is known of their encoded form.
#ifndef SINEW_CDR_KIND_HPP
#define SINEW_CDR_KIND_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "sinew/bounded_vector.hpp"

namespace sinew
{

/// The properties of a message type: see `sinew/message.hpp`. Generated headers specialise it.
template<class T>
struct MessageTraits;

}  // namespace sinew

namespace sinew::cdr
{

/// Length of the header in bytes.
inline constexpr std::size_t header_size = 4;

/// The header of every message written here: little-endian CDR, no options.
inline constexpr std::uint8_t header[header_size] = {0, 1, 0, 0};

/// The placeholder that ROS 2 gives a message without fields.
inline constexpr const char * placeholder = "structure_needs_at_least_one_member";

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
inline constexpr bool is_big_endian_machine = true;
#else
inline constexpr bool is_big_endian_machine = false;
#endif

/// Returns the first multiple of `alignment`, a power of two, from `at` on.
constexpr std::size_t aligned(std::size_t at, std::size_t alignment) noexcept
{
  return (at + alignment - 1) & ~(alignment - 1);
}

/// The kinds of types that fields have.
namespace kind
{

template<class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

template<class T>
inline constexpr bool is_text = false;
template<class U, class Traits, class A>
inline constexpr bool is_text<std::basic_string<U, Traits, A>> = true;

template<class T>
inline constexpr bool is_array = false;
template<class T, std::size_t N>
inline constexpr bool is_array<std::array<T, N>> = true;

/// The bound of a sequence; 0 for a type that is no sequence.
template<class T>
inline constexpr std::size_t bound = 0;
template<class T, class A>
inline constexpr std::size_t bound<std::vector<T, A>> = SIZE_MAX;
template<class T, std::size_t Bound, class A>
inline constexpr std::size_t bound<BoundedVector<T, Bound, A>> = Bound;

template<class T>
inline constexpr bool is_sequence = bound<T> != 0;

template<class T>
inline constexpr bool is_message =
  !is_number<T> && !std::is_same_v<T, bool> && !is_text<T> && !is_array<T> && !is_sequence<T>;

/// The alignment of the first encoded byte of an element.
template<class T>
constexpr std::size_t alignment() noexcept
{
  if constexpr (is_message<T>) {
    return MessageTraits<T>::alignment;
  } else if constexpr (is_text<T>) {
    return 4;
  } else {
    return sizeof(T);
  }
}

/// The minimum encoded length of an element in bytes, at least 1.
template<class T>
constexpr std::size_t least() noexcept
{
  if constexpr (is_message<T>) {
    return MessageTraits<T>::least;
  } else {
    return is_text<T> ? 4 : sizeof(T);
  }
}

/// Whether the little-endian encoding of aligned values equals their form in memory.
template<class T>
constexpr bool is_plain() noexcept
{
  if constexpr (is_message<T>) {
    return MessageTraits<T>::is_plain;
  } else {
    return is_number<T>;
  }
}

/// Whether values that begin at this offset are encoded as they are in memory, if their byte order
/// is the machine's. (A struct may be off its alignment: CDR aligns its fields, not the struct.)
template<class T>
constexpr bool is_in_place(std::size_t at) noexcept
{
  return is_plain<T>() && at % alignof(T) == 0;
}

}  // namespace kind

}  // namespace sinew::cdr

#endif  // SINEW_CDR_KIND_HPP
