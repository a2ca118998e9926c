// Descriptions of types as the text by which Sinew's tools read messages of any type.
#pragma once

#include <rosidl_runtime_c/type_description/type_description__struct.h>

#include <string>

namespace rmw_sinew {

/// Returns the description as ROS 2's JSON text, without default values, which are no part of a
/// type's hash.
std::string json_of(const rosidl_runtime_c__type_description__TypeDescription & description);

/// Returns whether a field of the type, or of a type that it is made of, is or has booleans.
bool has_booleans(const rosidl_runtime_c__type_description__TypeDescription & description);

}  // namespace rmw_sinew
