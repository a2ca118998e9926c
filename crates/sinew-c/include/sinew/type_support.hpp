/// What the library knows of a C++ type of messages, and how a program makes its own types known.
#ifndef SINEW_TYPE_SUPPORT_HPP
#define SINEW_TYPE_SUPPORT_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>

#include "sinew/detail/adapted_functions.hpp"
#include "sinew/detail/callback.hpp"
#include "sinew/error.hpp"
#include "sinew/message.hpp"
#include "sinew/sinew.h"
#include "sinew/type_adapter.hpp"

namespace sinew
{

/// Makes a struct of the program a type of messages that stay in their process. The specialisation
/// has a name of at most 512 bytes, which no other such type of the program has:
///
///     template<>
///     struct sinew::TypeSupport<Frame>
///     {
///       static constexpr const char * name = "camera/Frame";
///     };
///
/// A subscription whose callback takes `std::unique_ptr<Frame>` or `Frame`, and `publish(const
/// Frame &)`, need a copy constructor.
template<class T>
struct TypeSupport;

namespace detail
{

template<class T, class = void>
inline constexpr bool is_generated = false;
template<class T>
inline constexpr bool is_generated<T, std::void_t<decltype(MessageTraits<T>::hash_text)>> = true;

template<class T, class = void>
inline constexpr bool is_local = false;
template<class T>
inline constexpr bool is_local<T, std::void_t<decltype(TypeSupport<T>::name)>> = true;

template<class T, class = void>
inline constexpr bool has_stamp = false;
template<class T>
inline constexpr bool has_stamp<T, std::void_t<decltype(&MessageTraits<T>::stamp)>> = true;

/// Whether `T` can be published.
template<class T>
inline constexpr bool is_message = is_generated<T> || is_local<T> || is_adapted<T>;

/// The 128 bits that two shared libraries of a process share if they may pass pointers to a type.
class TypeKey
{
public:
  /// Adds everything that the layout of a C++ type depends on, apart from the type.
  TypeKey()
  {
    add("C++");
#ifdef __GXX_ABI_VERSION
    add(static_cast<std::uint64_t>(__GXX_ABI_VERSION));
#endif
#ifdef _GLIBCXX_USE_CXX11_ABI
    add("libstdc++");
    add(static_cast<std::uint64_t>(_GLIBCXX_USE_CXX11_ABI));
#endif
#ifdef _GLIBCXX_DEBUG
    add("debug");
#endif
#ifdef _LIBCPP_ABI_VERSION
    add("libc++");
    add(static_cast<std::uint64_t>(_LIBCPP_ABI_VERSION));
#endif
  }

  void add(std::string_view text)
  {
    for (const char letter : text) {
      mix(static_cast<std::uint8_t>(letter));
    }
    mix(0);
  }

  void add(std::uint64_t number)
  {
    for (int shift = 0; shift < 64; shift += 8) {
      mix(static_cast<std::uint8_t>(number >> shift));
    }
  }

  void write_to(std::uint64_t (& key)[2]) const
  {
    key[0] = halves_[0];
    key[1] = halves_[1];
  }

private:
  /// FNV-1a, twice from different beginnings.
  void mix(std::uint8_t byte)
  {
    for (std::uint64_t & half : halves_) {
      half = (half ^ byte) * 0x100000001b3;
    }
  }

  std::uint64_t halves_[2] = {0xcbf29ce484222325, 0x9ae16a3b2f90404f};
};

/// The functions of a type as the C interface has them.
template<class T>
struct Functions
{
  static void drop(void *, void * value) {std::destroy_at(static_cast<T *>(value));}

  /// Frees the memory of a `new T`.
  static void free(void *, void * memory)
  {
    if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
      ::operator delete(memory, std::align_val_t(alignof(T)));
    } else {
      ::operator delete(memory);
    }
  }

  static sinew_status create(void *, void * place)
  {
    return guarded([place] {new (place) T();});
  }

  static sinew_status clone(void *, const void * value, void * place)
  {
    return guarded([value, place] {new (place) T(*static_cast<const T *>(value));});
  }

  static std::int64_t stamp(void *, const void * value)
  {
    return MessageTraits<T>::stamp(*static_cast<const T *>(value));
  }

  static std::size_t encoded_size(void *, const void * value)
  {
    return MessageTraits<T>::encoded_size(*static_cast<const T *>(value));
  }

  static void encode(void *, const void * value, std::uint8_t * bytes, std::size_t length)
  {
    if (MessageTraits<T>::encode(*static_cast<const T *>(value), bytes, length)) {
      std::memset(bytes, 0xff, length);  // no reader accepts it
    }
  }

  static sinew_status decode(
    void *, const std::uint8_t * bytes, std::size_t length, void * place, bool filled,
    char * sentence, std::size_t capacity)
  {
    T * message = static_cast<T *>(place);
    bool is_made = filled;
    cdr::Error error;
    const auto status = guarded(
      [&] {
        if (!is_made) {
          new (place) T(MessageInitialization::SKIP);
          is_made = true;
        }
        error = MessageTraits<T>::decode(bytes, length, *message);
        if (error) {
          std::snprintf(sentence, capacity, "%s", error.sentence().c_str());
        }
      });
    if (status == SINEW_OK && !error) {
      return SINEW_OK;
    }
    if (is_made && !filled) {
      std::destroy_at(message);
    }
    return error ? static_cast<sinew_status>(SINEW_ERROR_UNDECODABLE) : status;
  }

  static sinew_status check(void *, const void * value, char * sentence, std::size_t capacity)
  {
    const cdr::Error error = MessageTraits<T>::check(*static_cast<const T *>(value));
    if (!error) {
      return SINEW_OK;
    }
    return guarded(
      [&] {std::snprintf(sentence, capacity, "%s", error.sentence().c_str());}) == SINEW_OK ?
           static_cast<sinew_status>(SINEW_ERROR_UNENCODABLE) : SINEW_ERROR_NO_MEMORY;
  }
};

/// Returns the table of a type. Its texts and functions live as long as the program.
template<class T>
sinew_type_table table_of()
{
  static_assert(
    is_message<T>,
    "T is no type of messages: include the header that sinew-generate-cpp (or the CMake function "
    "sinew_generate_interfaces) writes for its .msg file, or specialise sinew::TypeSupport<T> "
    "for a struct of C++ that stays in its process, or sinew::TypeAdapter for it and a message");
  using Value = typename Adapted<T>::Value;
  auto table = options<sinew_type_table>();
  table.value_size = sizeof(Value);
  table.alignment = alignof(Value);
  table.free = &Functions<Value>::free;
  if constexpr (!std::is_trivially_destructible_v<Value>) {
    table.drop = &Functions<Value>::drop;
  }
  if constexpr (std::is_default_constructible_v<Value>) {
    table.create = &Functions<Value>::create;
  }
  if constexpr (std::is_copy_constructible_v<Value>) {
    table.clone = &Functions<Value>::clone;
  }
  if constexpr (is_adapted<T>) {
    using Ros = typename Adapted<T>::Ros;
    table.name = MessageTraits<Ros>::name.data();
    table.hash = MessageTraits<Ros>::hash_text.data();
    table.description = MessageTraits<Ros>::description.data();
    table.encoded_size = &AdaptedFunctions<T>::encoded_size;
    table.encode = &AdaptedFunctions<T>::encode;
    table.decode = &AdaptedFunctions<T>::decode;
  } else if constexpr (is_generated<T>) {
    table.name = MessageTraits<T>::name.data();
    table.hash = MessageTraits<T>::hash_text.data();
    table.description = MessageTraits<T>::description.data();
    table.is_plain = MessageTraits<T>::is_plain;
    table.encoded_size = &Functions<T>::encoded_size;
    table.encode = &Functions<T>::encode;
    table.decode = &Functions<T>::decode;
    if constexpr (MessageTraits<T>::has_bounded_text) {
      table.check = &Functions<T>::check;
    }
    if constexpr (has_stamp<T>) {
      table.stamp = &Functions<T>::stamp;
    }
  } else {
    table.name = TypeSupport<T>::name;
  }
  TypeKey key;
  key.add(table.name);
  key.add(table.hash == nullptr ? std::string_view() : std::string_view(table.hash));
  key.add(table.value_size);
  key.add(table.alignment);
#ifdef __GNUC__
  key.add(static_cast<const char *>(__PRETTY_FUNCTION__));  // with the allocator of the type
#endif
  key.write_to(table.key);
  table.has_key = true;
  return table;
}

/// As `try_message_type`, for a type that stands for no other one.
template<class T>
Result<const sinew_message_type *> try_registered()
{
  static std::atomic<const sinew_message_type *> known{nullptr};
  if (const auto * type = known.load(std::memory_order_acquire)) {
    return type;
  }
  const auto table = table_of<T>();
  const sinew_message_type * type = nullptr;
  if (const auto status = sinew_message_type_register(&table, &type); status != SINEW_OK) {
    return Error::last(status);
  }
  known.store(type, std::memory_order_release);
  return type;
}

/// Returns the type of messages for the C interface. The first call registers it, for the life of
/// the process; shared libraries with the same type get the same one.
template<class T>
Result<const sinew_message_type *> try_message_type()
{
  return try_registered<typename Adapted<T>::Registered>();
}

template<class T>
const sinew_message_type * message_type()
{
  return try_message_type<T>().value();
}

/// Returns the types of a service, `S::Request` and `S::Response`, as `try_message_type`.
template<class S>
Result<const sinew_service_type *> try_service_type()
{
  static std::atomic<const sinew_service_type *> known{nullptr};
  if (const auto * type = known.load(std::memory_order_acquire)) {
    return type;
  }
  const auto request = try_message_type<typename S::Request>();
  if (!request) {
    return request.error();
  }
  const auto response = try_message_type<typename S::Response>();
  if (!response) {
    return response.error();
  }
  using Traits = ServiceTraits<S>;
  const sinew_service_type * type = nullptr;
  const auto status = sinew_service_type_new(
    Traits::name.data(), Traits::hash_text.data(), *request, *response, &type);
  if (status != SINEW_OK) {
    return Error::last(status);
  }
  known.store(type, std::memory_order_release);
  return type;
}

template<class S>
const sinew_service_type * service_type()
{
  return try_service_type<S>().value();
}

}  // namespace detail

}  // namespace sinew

#endif  // SINEW_TYPE_SUPPORT_HPP
