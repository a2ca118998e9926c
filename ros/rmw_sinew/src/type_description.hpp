// Descriptions of types as the text by which Sinew's tools read messages of any type.
#pragma once

#include <rosidl_runtime_c/type_description/type_description__struct.h>

#include <cstddef>
#include <string>

namespace rmw_sinew {

/// Returns the description as ROS 2's JSON text, without default values, which are no part of a
/// type's hash.
std::string json_of(const rosidl_runtime_c__type_description__TypeDescription & description);

/// Returns whether values of the type have the same bytes in C and C++ as in their encoded form of
/// `size` bytes, whatever the bytes are: a type of numbers, each at the same place in both. The
/// encoded form has no gap behind a value of another type, which may move what follows it. Booleans
/// don't count, as another process may write bytes that are none.
bool is_plain(
  const rosidl_runtime_c__type_description__TypeDescription & description, std::size_t size);

}  // namespace rmw_sinew
