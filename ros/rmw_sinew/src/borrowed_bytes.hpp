// Serialized messages that are read where they were published, without a copy.
#pragma once

#include <rmw/types.h>

#include "encoded_message.hpp"

namespace rmw_sinew {

/// Puts the encoded form of a message into a message of rmw: where it lies, if that is worth it,
/// otherwise as a copy.
///
/// In the first case the allocator of the message of rmw becomes one that knows which memory is
/// borrowed. Freeing or growing the buffer gives the borrowed memory back; everything else goes to
/// the heap. Other programs read the memory as well, so nothing may write to it: a function of rmw
/// that does calls `own` before.
void lend(MessageHandle message, rmw_serialized_message_t & to);

/// Has the message of rmw have a buffer of its own; its content may be lost.
void own(rmw_serialized_message_t & message);

}  // namespace rmw_sinew
