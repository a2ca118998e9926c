#include "type_description.hpp"

#include <rosidl_runtime_c/string.h>
#include <rosidl_runtime_c/type_description/field_type__struct.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

namespace rmw_sinew {
namespace {

using Field = rosidl_runtime_c__type_description__Field;
using IndividualType = rosidl_runtime_c__type_description__IndividualTypeDescription;

/// Names of ROS 2 are ASCII without characters that JSON escapes.
void write_text(const rosidl_runtime_c__String & from, std::string & text)
{
  text += '"';
  text.append(from.data, from.size);
  text += '"';
}

/// Writes the items of one of rosidl's sequences, separated by commas.
template<class Sequence, class Write>
void write_list(const Sequence & sequence, std::string & text, Write write)
{
  text += '[';
  for (std::size_t index = 0; index < sequence.size; ++index) {
    text += index > 0 ? ", " : "";
    write(sequence.data[index], text);
  }
  text += ']';
}

void write_field(const Field & field, std::string & text)
{
  text += "{\"name\": ";
  write_text(field.name, text);
  text += ", \"type\": {\"type_id\": " + std::to_string(field.type.type_id);
  text += ", \"capacity\": " + std::to_string(field.type.capacity);
  text += ", \"string_capacity\": " + std::to_string(field.type.string_capacity);
  text += ", \"nested_type_name\": ";
  write_text(field.type.nested_type_name, text);
  text += "}}";
}

void write_type(const IndividualType & type, std::string & text)
{
  text += "{\"type_name\": ";
  write_text(type.type_name, text);
  text += ", \"fields\": ";
  write_list(type.fields, text, write_field);
  text += '}';
}

/// Where the bytes of a type lie, in C and encoded.
struct Layout {
  /// In C, with the padding at its end.
  std::size_t size = 0;
  std::size_t alignment = 1;
  /// Of the first number, which is all that the encoded form aligns.
  std::size_t first_alignment = 0;
  /// The size of the encoded form, from a place where both are aligned.
  std::size_t encoded_size = 0;
};

std::size_t aligned(std::size_t offset, std::size_t alignment)
{
  return (offset + alignment - 1) / alignment * alignment;
}

/// Lays types out as long as both forms agree.
class Plain {
public:
  explicit Plain(const rosidl_runtime_c__type_description__TypeDescription & description)
  : referenced_(description.referenced_type_descriptions) {}

  std::optional<Layout> layout_of(const IndividualType & type) const
  {
    Layout sum;
    for (std::size_t index = 0; index < type.fields.size; ++index) {
      const FieldType & field = type.fields.data[index].type;
      const auto kind = field.type_id % KINDS;
      const bool is_single = field.type_id < KINDS;
      const std::optional<Layout> item =
        kind == NESTED ? layout_of(field.nested_type_name) : layout_of_number(kind);
      if (!item || field.type_id / KINDS > ARRAY) {
        return std::nullopt;
      }
      if (!add(*item, is_single ? 1 : field.capacity, sum)) {
        return std::nullopt;
      }
    }
    sum.size = aligned(sum.size, sum.alignment);
    return sum;
  }

private:
  using FieldType = rosidl_runtime_c__type_description__FieldType;

  // Arrays and sequences of a type have its number and a multiple of this one.
  static constexpr unsigned KINDS = 48;
  static constexpr unsigned ARRAY = 1;
  static constexpr unsigned NESTED =
    rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_NESTED_TYPE;

  /// Adds `count` items to the end of a type. Returns false if one lies elsewhere in the encoded
  /// form.
  static bool add(const Layout & item, std::size_t count, Layout & sum)
  {
    if (item.first_alignment == 0 || count == 0) {
      return false; // C++ has no empty types, generated code none that are encoded as nothing
    }
    const std::size_t begin = aligned(sum.size, item.alignment);
    const bool is_same = begin == aligned(sum.encoded_size, item.first_alignment) &&
      (count == 1 || item.size == aligned(item.encoded_size, item.first_alignment));
    sum.size = begin + count * item.size;
    sum.encoded_size = begin + (count - 1) * item.size + item.encoded_size;
    sum.alignment = std::max(sum.alignment, item.alignment);
    if (sum.first_alignment == 0) {
      sum.first_alignment = item.first_alignment;
    }
    return is_same;
  }

  static std::optional<Layout> layout_of_number(unsigned kind)
  {
    std::size_t size = 0;
    switch (kind) {
      case rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_INT8:
      case rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_UINT8:
      case rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_CHAR:
      case rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_BYTE:
        size = 1;
        break;
      case rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_INT16:
      case rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_UINT16:
        size = 2;
        break;
      case rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_INT32:
      case rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_UINT32:
      case rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_FLOAT:
        size = 4;
        break;
      case rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_INT64:
      case rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_UINT64:
      case rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_DOUBLE:
        size = 8;
        break;
      default: // texts; booleans; wide characters and long doubles differ in size
        return std::nullopt;
    }
    return Layout{size, size, size, size};
  }

  std::optional<Layout> layout_of(const rosidl_runtime_c__String & name) const
  {
    const std::string_view wanted(name.data, name.size);
    for (std::size_t index = 0; index < referenced_.size; ++index) {
      const IndividualType & type = referenced_.data[index];
      if (std::string_view(type.type_name.data, type.type_name.size) == wanted) {
        return layout_of(type);
      }
    }
    return std::nullopt;
  }

  const rosidl_runtime_c__type_description__IndividualTypeDescription__Sequence & referenced_;
};

}  // namespace

bool is_plain(
  const rosidl_runtime_c__type_description__TypeDescription & description, std::size_t size)
{
  const auto layout = Plain(description).layout_of(description.type_description);
  return layout && layout->size == size && layout->encoded_size == size;
}

std::string json_of(const rosidl_runtime_c__type_description__TypeDescription & description)
{
  std::string text = "{\"type_description\": ";
  write_type(description.type_description, text);
  text += ", \"referenced_type_descriptions\": ";
  write_list(description.referenced_type_descriptions, text, write_type);
  text += '}';
  return text;
}

}  // namespace rmw_sinew
