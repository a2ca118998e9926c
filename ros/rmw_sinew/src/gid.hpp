// Identities of endpoints, the same bytes in rmw and in Sinew.
#pragma once

#include <rmw/types.h>
#include <sinew/sinew.h>

#include <cstring>

#include "identifier.hpp"

namespace rmw_sinew {

static_assert(RMW_GID_STORAGE_SIZE == sizeof(sinew_gid), "a gid has 16 bytes in both");

inline rmw_gid_t gid_of(const sinew_gid & gid)
{
  rmw_gid_t made{};
  made.implementation_identifier = identifier;
  std::memcpy(made.data, gid.bytes, sizeof(gid.bytes));
  return made;
}

}  // namespace rmw_sinew
