// Checks of names.
#pragma once

#include <rmw/types.h>

namespace rmw_sinew {

/// Throws `Failure` with a sentence unless it is the full name of a topic or service.
void require_full_name(const char * name);

/// Fails with a sentence unless it is the full name of a topic or service. With
/// `avoid_ros_namespace_conventions` any name will do that isn't empty.
void require_full_name(const char * name, const rmw_qos_profile_t & profile);

}  // namespace rmw_sinew
