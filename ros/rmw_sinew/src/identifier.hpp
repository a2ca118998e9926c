// The one string by which rmw knows which implementation made a handle.
#pragma once

namespace rmw_sinew {

/// rmw compares identifiers by their address, so each check must use this very array.
extern const char identifier[];

}  // namespace rmw_sinew
