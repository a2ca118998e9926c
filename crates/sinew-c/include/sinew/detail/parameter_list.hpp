/// Values and lists of parameters, to and from C.
#ifndef SINEW_DETAIL_PARAMETER_LIST_HPP
#define SINEW_DETAIL_PARAMETER_LIST_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sinew/detail/handle.hpp"
#include "sinew/detail/strings.hpp"
#include "sinew/error.hpp"
#include "sinew/parameter.hpp"
#include "sinew/sinew.h"

namespace sinew::detail
{

using ParameterListHandle = Handle<sinew_parameter_list, sinew_parameter_list_free>;

/// A value as C reads it, for as long as the value of C++ and this object live.
class ValueForC
{
public:
  explicit ValueForC(const ParameterValue & value)
  {
    value_.kind = value.get_type();
    switch (value.get_type()) {
      case PARAMETER_BOOL: value_.bool_value = value.get<bool>(); break;
      case PARAMETER_INTEGER: value_.integer_value = value.get<std::int64_t>(); break;
      case PARAMETER_DOUBLE: value_.double_value = value.get<double>(); break;
      case PARAMETER_STRING: value_.string_value = text(value.get<std::string>()); break;
      case PARAMETER_BYTE_ARRAY: array(value_.byte_array, value.get<PARAMETER_BYTE_ARRAY>()); break;
      case PARAMETER_INTEGER_ARRAY:
        array(value_.integer_array, value.get<PARAMETER_INTEGER_ARRAY>());
        break;
      case PARAMETER_DOUBLE_ARRAY:
        array(value_.double_array, value.get<PARAMETER_DOUBLE_ARRAY>());
        break;
      case PARAMETER_BOOL_ARRAY:
        {
          const auto & list = value.get<PARAMETER_BOOL_ARRAY>();
          bools_ = std::make_unique<bool[]>(list.size() + 1);
          std::copy(list.begin(), list.end(), bools_.get());
          value_.bool_array = bools_.get();
          value_.length = list.size();
          break;
        }
      case PARAMETER_STRING_ARRAY:
        for (const std::string & one : value.get<PARAMETER_STRING_ARRAY>()) {
          texts_.push_back(text(one));
        }
        array(value_.string_array, texts_);
        break;
      default: break;
    }
  }

  /// Returns the value, or an error for a text that C would cut off.
  Result<const sinew_parameter_value *> try_get(const std::string & name) const
  {
    if (has_nul_) {
      return Error(
        SINEW_ERROR_INVALID_PARAMETER_VALUE,
        "the value of parameter '" + name + "' has a NUL in its text: leave it out");
    }
    return &value_;
  }

private:
  const char * text(const std::string & string)
  {
    has_nul_ = has_nul_ || string.find('\0') != std::string::npos;
    return string.c_str();
  }

  template<class T>
  void array(const T * & place, const std::vector<T> & list)
  {
    static const T empty{};
    place = list.empty() ? &empty : list.data();
    value_.length = list.size();
  }

  sinew_parameter_value value_{};
  std::vector<const char *> texts_;
  std::unique_ptr<bool[]> bools_;
  bool has_nul_ = false;
};

/// Copies a value of C.
inline ParameterValue value_from(const sinew_parameter_value & from)
{
  const auto list = [&from](const auto * first) {
      using T = std::decay_t<decltype(*first)>;
      return ParameterValue(
        from.length == 0 ? std::vector<T>() : std::vector<T>(first, first + from.length));
    };
  switch (from.kind) {
    case SINEW_PARAMETER_BOOL: return ParameterValue(from.bool_value);
    case SINEW_PARAMETER_INTEGER: return ParameterValue(from.integer_value);
    case SINEW_PARAMETER_DOUBLE: return ParameterValue(from.double_value);
    case SINEW_PARAMETER_STRING: return ParameterValue(from.string_value);
    case SINEW_PARAMETER_BYTE_ARRAY: return list(from.byte_array);
    case SINEW_PARAMETER_BOOL_ARRAY: return list(from.bool_array);
    case SINEW_PARAMETER_INTEGER_ARRAY: return list(from.integer_array);
    case SINEW_PARAMETER_DOUBLE_ARRAY: return list(from.double_array);
    case SINEW_PARAMETER_STRING_ARRAY: return list(from.string_array);
    default: return ParameterValue();
  }
}

/// Sets the parameters of a list of C.
inline Result<void> fill_list(
  sinew_parameter_list * list, const std::vector<Parameter> & parameters)
{
  for (const Parameter & one : parameters) {
    const ValueForC value(one.get_parameter_value());
    const auto got = value.try_get(one.get_name());
    if (!got) {
      return got.error();
    }
    if (auto set = result(sinew_parameter_list_set(list, one.get_name().c_str(), *got)); !set) {
      return set;
    }
  }
  return {};
}

inline Result<ParameterListHandle> list_of(const std::vector<Parameter> & parameters)
{
  ParameterListHandle list;
  if (const auto status = sinew_parameter_list_new(Out(list)); status != SINEW_OK) {
    return Error::last(status);
  }
  if (auto filled = fill_list(list.get(), parameters); !filled) {
    return filled.error();
  }
  return list;
}

/// Copies a list of C. One that can't be read is empty.
inline std::vector<Parameter> parameters_from(const sinew_parameter_list * list)
{
  std::vector<Parameter> parameters;
  const std::size_t length = sinew_parameter_list_length(list);
  parameters.reserve(length);
  for (std::size_t i = 0; i < length; ++i) {
    const char * name = nullptr;
    sinew_parameter_value value{};
    if (sinew_parameter_list_at(list, i, &name, &value) == SINEW_OK) {
      parameters.emplace_back(name, value_from(value));
    }
  }
  return parameters;
}

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_PARAMETER_LIST_HPP
