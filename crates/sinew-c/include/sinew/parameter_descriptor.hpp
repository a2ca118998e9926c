/// Descriptions of parameters: what a value may be, and what it is for.
#ifndef SINEW_PARAMETER_DESCRIPTOR_HPP
#define SINEW_PARAMETER_DESCRIPTOR_HPP

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinew/detail/handle.hpp"
#include "sinew/error.hpp"
#include "sinew/parameter_value.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// The doubles that a parameter may have: `from_value` plus a multiple of `step`, or `to_value`.
/// With a step of 0, all between them.
struct FloatingPointRange
{
  double from_value = 0.0;
  double to_value = 0.0;
  double step = 0.0;
};

/// The integers that a parameter may have, as of a `FloatingPointRange`.
struct IntegerRange
{
  std::int64_t from_value = 0;
  std::int64_t to_value = 0;
  std::uint64_t step = 0;
};

/// The description of a parameter, with the fields of `rcl_interfaces::msg::ParameterDescriptor`.
/// Functions that take a description take that message as well.
struct ParameterDescriptor
{
  ParameterDescriptor() {}  // so that `{..}` is the value of a parameter, as with the message

  /// Filled in by the library.
  std::string name;
  /// Filled in by the library: the number of a `ParameterType`.
  std::uint8_t type = PARAMETER_NOT_SET;
  /// Its purpose, for people.
  std::string description;
  /// Rules for the values beyond type and range, for people.
  std::string additional_constraints;
  /// Whether it can't be set once it is declared. The command line and files still set it.
  bool read_only = false;
  /// Whether values may have any type. Only such a parameter can be undeclared.
  bool dynamic_typing = false;
  /// The range of a double, or none. At most one.
  std::vector<FloatingPointRange> floating_point_range;
  /// The range of an integer, or none. At most one.
  std::vector<IntegerRange> integer_range;
};

namespace detail
{

template<class T, class = void>
struct IsParameterDescriptor : std::false_type {};
template<class T>
struct IsParameterDescriptor<
  T, std::void_t<decltype(std::declval<const T &>().dynamic_typing),
  decltype(std::declval<const T &>().floating_point_range)>>: std::true_type {};

/// Returns the options of C for a parameter of this type; they point into the description.
template<class Descriptor>
Result<sinew_parameter_options> parameter_options(const Descriptor & descriptor, ParameterType type)
{
  if (descriptor.floating_point_range.size() > 1 || descriptor.integer_range.size() > 1) {
    return Error(
      SINEW_ERROR_INVALID_ARGUMENT,
      "a parameter can't have more than one range: leave one of them");
  }
  auto settings = options<sinew_parameter_options>();
  settings.is_dynamic = descriptor.dynamic_typing;
  settings.is_read_only = descriptor.read_only;
  settings.description = descriptor.description.c_str();
  settings.constraints = descriptor.additional_constraints.c_str();
  // As in rclcpp, of a number only the range for its type counts; C refuses one for other types.
  const bool has_doubles = !descriptor.floating_point_range.empty();
  const bool has_integers = !descriptor.integer_range.empty();
  settings.has_range =
    (has_doubles && type != PARAMETER_INTEGER) || (has_integers && type != PARAMETER_DOUBLE);
  if (has_doubles) {
    const auto & range = descriptor.floating_point_range.front();
    settings.double_from = range.from_value;
    settings.double_to = range.to_value;
    settings.double_step = range.step;
  }
  if (has_integers) {
    const auto & range = descriptor.integer_range.front();
    settings.integer_from = range.from_value;
    settings.integer_to = range.to_value;
    settings.integer_step = range.step;
  }
  return settings;
}

/// Returns the description, as the own or the message's type.
template<class Descriptor>
Descriptor descriptor_from(const sinew_parameter_descriptor & from)
{
  Descriptor descriptor;
  descriptor.name = from.name;
  descriptor.type = static_cast<std::uint8_t>(from.kind);
  descriptor.description = from.description;
  descriptor.additional_constraints = from.constraints;
  descriptor.read_only = from.is_read_only;
  descriptor.dynamic_typing = from.is_dynamic;
  if (from.has_range && from.kind == SINEW_PARAMETER_DOUBLE) {
    descriptor.floating_point_range.resize(1);
    auto & range = descriptor.floating_point_range.front();
    range.from_value = from.double_from;
    range.to_value = from.double_to;
    range.step = from.double_step;
  }
  if (from.has_range && from.kind == SINEW_PARAMETER_INTEGER) {
    descriptor.integer_range.resize(1);
    auto & range = descriptor.integer_range.front();
    range.from_value = from.integer_from;
    range.to_value = from.integer_to;
    range.step = from.integer_step;
  }
  return descriptor;
}

using ParameterDescriptorsHandle =
  Handle<sinew_parameter_descriptors, sinew_parameter_descriptors_free>;

template<class Descriptor>
Result<std::vector<Descriptor>> descriptors_from(const ParameterDescriptorsHandle & handle)
{
  std::vector<Descriptor> all;
  const std::size_t length = sinew_parameter_descriptors_length(handle.get());
  for (std::size_t i = 0; i < length; ++i) {
    auto one = options<sinew_parameter_descriptor>();
    const auto status = sinew_parameter_descriptors_at(handle.get(), i, &one);
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    all.push_back(descriptor_from<Descriptor>(one));
  }
  return all;
}

}  // namespace detail

}  // namespace sinew

#endif  // SINEW_PARAMETER_DESCRIPTOR_HPP
