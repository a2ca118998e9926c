#include "type_description.hpp"

#include <rosidl_runtime_c/string.h>
#include <rosidl_runtime_c/type_description/field_type__struct.h>

#include <algorithm>
#include <cstddef>

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

bool has_booleans(const IndividualType & type)
{
  // Arrays and sequences of a type have its number and a multiple of 48.
  constexpr unsigned KINDS = 48;
  constexpr unsigned BOOLEAN =
    rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_BOOLEAN;
  const auto * begin = type.fields.data;
  return std::any_of(
    begin, begin + type.fields.size,
    [](const Field & field) {return field.type.type_id % KINDS == BOOLEAN;});
}

}  // namespace

bool has_booleans(const rosidl_runtime_c__type_description__TypeDescription & description)
{
  const auto & referenced = description.referenced_type_descriptions;
  return has_booleans(description.type_description) ||
         std::any_of(
    referenced.data, referenced.data + referenced.size,
    [](const IndividualType & type) {return has_booleans(type);});
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
