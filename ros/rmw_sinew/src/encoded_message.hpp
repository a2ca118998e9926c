// Messages that were taken from Sinew in their encoded form.
#pragma once

#include <rmw/types.h>
#include <sinew/detail/handle.hpp>
#include <sinew/sinew.h>

#include <cstddef>
#include <cstdint>

#include "type_support.hpp"

namespace rmw_sinew {

using MessageHandle = sinew::detail::Handle<sinew_message, sinew_message_free>;

/// Bytes that belong to a message and are valid as long as it lives.
struct Encoded {
  const std::uint8_t * bytes;
  std::size_t length;
};

/// Returns the encoded form where it lies.
Encoded encoded_of(const MessageHandle & message);

/// Makes a message of a value, for a request or response.
MessageHandle message_of(const MessageSupport & support, const void * value);

/// Has a message of rmw grow to `size` bytes if it has less room. Its content may be lost.
void reserve(rmw_serialized_message_t & message, std::size_t size);

/// Copies bytes to a message of rmw, which grows if it has to.
void copy_to(rmw_serialized_message_t & message, Encoded encoded);

}  // namespace rmw_sinew
