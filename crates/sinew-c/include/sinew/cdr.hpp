/// The encoded form of messages: CDR, as ROS 2 and DDS have it.
///
/// Messages are written as XCDR version 1 in little-endian order; both byte orders are read. (OMG
/// DDS-XTypes 1.3, section 7.4.) The rules are those of the Rust crate `sinew-msg`, module `cdr`:
///
/// | part | bytes |
/// |---|---|
/// | header | `00 01` (little endian; `00 00`: big endian), two bytes of ignored options |
/// | a number | its bytes, aligned to its size. Offsets count from the end of the header |
/// | `bool` | one byte, 0 or 1 |
/// | a string | a `uint32`: length in bytes with a NUL at the end; the bytes, the NUL |
/// | a wide string | a `uint32`: number of UTF-16 units; 4 bytes for each |
/// | a sequence | a `uint32`: number of elements; the elements |
/// | an array | its elements |
/// | a message | its fields in order, with padding only for alignment; without fields, a byte 0 |
///
/// `Length`, `Writer` and `Reader` are visitors: `MessageTraits<T>::visit` passes them every field.
/// A visitor returns `false` from the first field that fails, and then has the `Error`. Nothing
/// here throws, except the allocator of the message itself.
#ifndef SINEW_CDR_HPP
#define SINEW_CDR_HPP

#include "sinew/cdr/error.hpp"
#include "sinew/cdr/kind.hpp"
#include "sinew/cdr/reader.hpp"
#include "sinew/cdr/visitor.hpp"
#include "sinew/cdr/writer.hpp"

#endif  // SINEW_CDR_HPP
