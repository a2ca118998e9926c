/// The encoded form of values of a program's own types, by their adapters.
#ifndef SINEW_DETAIL_ADAPTED_FUNCTIONS_HPP
#define SINEW_DETAIL_ADAPTED_FUNCTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "sinew/detail/callback.hpp"
#include "sinew/message.hpp"
#include "sinew/sinew.h"

namespace sinew::detail
{

/// The functions of an adapter as the C interface has them.
template<class Adapter>
struct AdaptedFunctions
{
  using Custom = typename Adapter::custom_type;
  using Ros = typename Adapter::ros_message_type;

  static std::size_t encoded_size(void *, const void * value)
  {
    Last & last = Last::of_thread();
    last.convert(value);
    return last.message ? MessageTraits<Ros>::encoded_size(*last.message) : cdr::header_size;
  }

  static void encode(void *, const void * value, std::uint8_t * bytes, std::size_t length)
  {
    Last & last = Last::of_thread();
    if (last.of != value) {
      last.convert(value);
    }
    if (!last.message || MessageTraits<Ros>::encode(*last.message, bytes, length)) {
      std::memset(bytes, 0xff, length);  // no reader accepts it
    }
    last = Last();
  }

  static sinew_status decode(
    void *, const std::uint8_t * bytes, std::size_t length, void * place, bool filled,
    char * sentence, std::size_t capacity)
  {
    cdr::Error error;
    const auto status = guarded(
      [&] {
        Ros message;
        error = MessageTraits<Ros>::decode(bytes, length, message);
        if (error) {
          std::snprintf(sentence, capacity, "%s", error.sentence().c_str());
          return;
        }
        Custom value;
        Adapter::convert_to_custom(message, value);
        if (filled) {
          *static_cast<Custom *>(place) = std::move(value);
        } else {
          new (place) Custom(std::move(value));
        }
      });
    if (error) {
      return SINEW_ERROR_UNDECODABLE;
    }
    if (status != SINEW_OK) {
      std::snprintf(sentence, capacity, "its type adapter failed: %s", sinew_error_message());
    }
    return status;
  }

private:
  /// The message of the value the length of which was asked for last: it is encoded next, so that
  /// each value is converted once.
  struct Last
  {
    std::optional<Ros> message;
    const void * of = nullptr;

    static Last & of_thread()
    {
      static thread_local Last last;
      return last;
    }

    void convert(const void * value)
    {
      of = value;
      const auto status = guarded(
        [&] {
          Adapter::convert_to_ros_message(*static_cast<const Custom *>(value), message.emplace());
        });
      if (status != SINEW_OK) {
        message.reset();
      }
    }
  };
};

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_ADAPTED_FUNCTIONS_HPP
