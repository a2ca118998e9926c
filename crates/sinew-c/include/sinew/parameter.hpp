/// A parameter: a name and a value.
#ifndef SINEW_PARAMETER_HPP
#define SINEW_PARAMETER_HPP

#include <cstdint>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinew/detail/rcl_interfaces.hpp"
#include "sinew/parameter_value.hpp"

namespace sinew
{

/// A name with a value, as nodes get and set them. A copy: changing it changes no node.
class Parameter
{
public:
  Parameter() = default;

  /// A parameter without a value.
  explicit Parameter(std::string name)
  : name_(std::move(name)) {}

  Parameter(std::string name, ParameterValue value)
  : name_(std::move(name)), value_(std::move(value)) {}

  /// A parameter with a value from any type that `ParameterValue` accepts.
  template<class T, class = std::enable_if_t<detail::IsParameterField<T>::value>>
  Parameter(std::string name, const T & value)
  : name_(std::move(name)), value_(value) {}

  /// Returns the parameter of a message, `rcl_interfaces::msg::Parameter`.
  template<class M>
  static Parameter from_parameter_msg(const M & message)
  {
    return Parameter(message.name, ParameterValue(message.value));
  }

  /// Returns the parameter as the message.
  template<class M = rcl_interfaces::msg::Parameter>
  M to_parameter_msg() const
  {
    M message;
    message.name = name_;
    message.value = value_.to_value_msg<decltype(message.value)>();
    return message;
  }

  const std::string & get_name() const noexcept {return name_;}
  ParameterType get_type() const noexcept {return value_.get_type();}
  std::string get_type_name() const {return to_string(get_type());}

  const ParameterValue & get_parameter_value() const noexcept {return value_;}
  template<class M = rcl_interfaces::msg::ParameterValue>
  M get_value_message() const {return value_.to_value_msg<M>();}

  /// Returns the value: of integers as `std::int64_t`, of floating-point numbers as `double`. This
  /// and the functions below throw `ParameterTypeException` if it is of another type.
  template<class T>
  const detail::ParameterFieldOf<T> & get_value() const
  {
    if (const auto * value = value_.get_if<T>()) {
      return *value;
    }
    detail::raise_other_parameter_type(
      "parameter '" + name_ + "' is of type " + get_type_name() + ", not of type " +
      to_string(detail::parameter_type_of<detail::ParameterFieldOf<T>>));
  }
  template<ParameterType type>
  const auto & get_value() const
  {
    return get_value<std::decay_t<decltype(value_.get<type>())>>();
  }

  bool as_bool() const {return get_value<bool>();}
  std::int64_t as_int() const {return get_value<std::int64_t>();}
  double as_double() const {return get_value<double>();}
  const std::string & as_string() const {return get_value<std::string>();}
  const std::vector<std::uint8_t> & as_byte_array() const
  {
    return get_value<std::vector<std::uint8_t>>();
  }
  const std::vector<bool> & as_bool_array() const {return get_value<std::vector<bool>>();}
  const std::vector<std::int64_t> & as_integer_array() const
  {
    return get_value<std::vector<std::int64_t>>();
  }
  const std::vector<double> & as_double_array() const {return get_value<std::vector<double>>();}
  const std::vector<std::string> & as_string_array() const
  {
    return get_value<std::vector<std::string>>();
  }

  /// Returns the value as a text for people.
  std::string value_to_string() const {return to_string(value_);}

  friend bool operator==(const Parameter & one, const Parameter & other)
  {
    return one.name_ == other.name_ && one.value_ == other.value_;
  }
  friend bool operator!=(const Parameter & one, const Parameter & other) {return !(one == other);}

private:
  std::string name_;
  ParameterValue value_;
};

/// Returns the parameter as text: `{"name": "rate", "type": "integer", "value": "10"}`.
inline std::string to_string(const Parameter & parameter)
{
  return "{\"name\": \"" + parameter.get_name() + "\", \"type\": \"" + parameter.get_type_name() +
         "\", \"value\": \"" + parameter.value_to_string() + "\"}";
}

inline std::ostream & operator<<(std::ostream & stream, const Parameter & parameter)
{
  return stream << to_string(parameter);
}

}  // namespace sinew

#endif  // SINEW_PARAMETER_HPP
