/// Types and values of parameters.
#ifndef SINEW_PARAMETER_VALUE_HPP
#define SINEW_PARAMETER_VALUE_HPP

#include <cstdint>
#include <cstdio>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinew/detail/rcl_interfaces.hpp"
#include "sinew/error.hpp"
#include "sinew/exceptions.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// The type of a parameter, with the numbers of `rcl_interfaces/msg/ParameterType`.
enum ParameterType : std::uint8_t
{
  PARAMETER_NOT_SET = SINEW_PARAMETER_NOT_SET,
  PARAMETER_BOOL = SINEW_PARAMETER_BOOL,
  PARAMETER_INTEGER = SINEW_PARAMETER_INTEGER,
  PARAMETER_DOUBLE = SINEW_PARAMETER_DOUBLE,
  PARAMETER_STRING = SINEW_PARAMETER_STRING,
  PARAMETER_BYTE_ARRAY = SINEW_PARAMETER_BYTE_ARRAY,
  PARAMETER_BOOL_ARRAY = SINEW_PARAMETER_BOOL_ARRAY,
  PARAMETER_INTEGER_ARRAY = SINEW_PARAMETER_INTEGER_ARRAY,
  PARAMETER_DOUBLE_ARRAY = SINEW_PARAMETER_DOUBLE_ARRAY,
  PARAMETER_STRING_ARRAY = SINEW_PARAMETER_STRING_ARRAY,
};

inline std::string to_string(ParameterType type)
{
  switch (type) {
    case PARAMETER_NOT_SET: return "not set";
    case PARAMETER_BOOL: return "bool";
    case PARAMETER_INTEGER: return "integer";
    case PARAMETER_DOUBLE: return "double";
    case PARAMETER_STRING: return "string";
    case PARAMETER_BYTE_ARRAY: return "byte_array";
    case PARAMETER_BOOL_ARRAY: return "bool_array";
    case PARAMETER_INTEGER_ARRAY: return "integer_array";
    case PARAMETER_DOUBLE_ARRAY: return "double_array";
    case PARAMETER_STRING_ARRAY: return "string_array";
  }
  return "unknown type";
}

inline std::ostream & operator<<(std::ostream & stream, ParameterType type)
{
  return stream << to_string(type);
}

#ifdef __cpp_exceptions

/// A value is of another type than the one asked for.
class ParameterTypeException : public exceptions::InvalidParameterTypeException
{
public:
  explicit ParameterTypeException(const std::string & sentence)
  : InvalidParameterTypeException(SINEW_ERROR_OTHER_PARAMETER_TYPE, sentence) {}
};

#endif  // __cpp_exceptions

namespace detail
{

/// Throws a `ParameterTypeException`; without exceptions, prints its sentence and aborts.
[[noreturn]] inline void raise_other_parameter_type(const std::string & sentence)
{
#ifdef __cpp_exceptions
  throw ParameterTypeException(sentence);
#else
  Error(SINEW_ERROR_OTHER_PARAMETER_TYPE, sentence).raise();
#endif
}

template<class T, class = void>
struct ParameterField;

/// The type with which a parameter keeps a `T`: 64 bits for numbers, `std::string` for texts.
template<class T>
using ParameterFieldOf = typename ParameterField<std::decay_t<T>>::type;

template<class T, class = void>
struct IsParameterField : std::false_type {};
template<class T>
struct IsParameterField<T, std::void_t<ParameterFieldOf<T>>> : std::true_type {};

/// Integers all values of which a parameter can have.
template<class T>
constexpr bool is_parameter_integer =
  std::is_integral_v<T> && !std::is_same_v<T, bool> &&
  (sizeof(T) < sizeof(std::int64_t) || std::is_signed_v<T>);

template<>
struct ParameterField<bool>
{
  using type = bool;
};
template<class T>
struct ParameterField<T, std::enable_if_t<is_parameter_integer<T>>>
{
  using type = std::int64_t;
};
template<class T>
struct ParameterField<T, std::enable_if_t<std::is_same_v<T, float> || std::is_same_v<T, double>>>
{
  using type = double;
};
template<class T>
struct ParameterField<T, std::enable_if_t<std::is_convertible_v<T, std::string>>>
{
  using type = std::string;
};
template<class T>
struct ParameterField<
  std::vector<T>, std::enable_if_t<!std::is_class_v<T> || std::is_convertible_v<T, std::string>>>
{
  using type = std::vector<ParameterFieldOf<T>>;
};
template<>
struct ParameterField<std::vector<std::uint8_t>>
{
  using type = std::vector<std::uint8_t>;
};

template<class T>
std::string list_to_text(const std::vector<T> & list, std::string (* element)(const T &))
{
  std::string text = "[";
  for (const T & one : list) {
    text += (text.size() == 1 ? "" : ", ") + element(one);
  }
  return text + "]";
}

/// The value of a parameter: the field of its type, with the names that
/// `rcl_interfaces/msg/ParameterValue` has; all other fields are zero or empty. (Each source that
/// includes the headers would pay more for a `std::variant`.)
struct ParameterFields
{
  ParameterType type = PARAMETER_NOT_SET;
  bool bool_value = false;
  std::int64_t integer_value = 0;
  double double_value = 0.0;
  std::string string_value;
  std::vector<std::uint8_t> byte_array_value;
  std::vector<bool> bool_array_value;
  std::vector<std::int64_t> integer_array_value;
  std::vector<double> double_array_value;
  std::vector<std::string> string_array_value;

  friend bool operator==(const ParameterFields & one, const ParameterFields & other)
  {
    return one.type == other.type && one.bool_value == other.bool_value &&
           one.integer_value == other.integer_value &&
           one.double_value == other.double_value &&
           one.string_value == other.string_value &&
           one.byte_array_value == other.byte_array_value &&
           one.bool_array_value == other.bool_array_value &&
           one.integer_array_value == other.integer_array_value &&
           one.double_array_value == other.double_array_value &&
           one.string_array_value == other.string_array_value;
  }
};

template<class Field>
constexpr ParameterType parameter_type_of = PARAMETER_NOT_SET;
template<>
inline constexpr ParameterType parameter_type_of<bool> = PARAMETER_BOOL;
template<>
inline constexpr ParameterType parameter_type_of<std::int64_t> = PARAMETER_INTEGER;
template<>
inline constexpr ParameterType parameter_type_of<double> = PARAMETER_DOUBLE;
template<>
inline constexpr ParameterType parameter_type_of<std::string> = PARAMETER_STRING;
template<>
inline constexpr ParameterType parameter_type_of<std::vector<std::uint8_t>> = PARAMETER_BYTE_ARRAY;
template<>
inline constexpr ParameterType parameter_type_of<std::vector<bool>> = PARAMETER_BOOL_ARRAY;
template<>
inline constexpr ParameterType parameter_type_of<std::vector<std::int64_t>> =
  PARAMETER_INTEGER_ARRAY;
template<>
inline constexpr ParameterType parameter_type_of<std::vector<double>> = PARAMETER_DOUBLE_ARRAY;
template<>
inline constexpr ParameterType parameter_type_of<std::vector<std::string>> = PARAMETER_STRING_ARRAY;

/// Returns the field of a type.
template<ParameterType type, class Fields>
constexpr auto & field_of(Fields & fields) noexcept
{
  if constexpr (type == PARAMETER_BOOL) {
    return fields.bool_value;
  } else if constexpr (type == PARAMETER_INTEGER) {
    return fields.integer_value;
  } else if constexpr (type == PARAMETER_DOUBLE) {
    return fields.double_value;
  } else if constexpr (type == PARAMETER_STRING) {
    return fields.string_value;
  } else if constexpr (type == PARAMETER_BYTE_ARRAY) {
    return fields.byte_array_value;
  } else if constexpr (type == PARAMETER_BOOL_ARRAY) {
    return fields.bool_array_value;
  } else if constexpr (type == PARAMETER_INTEGER_ARRAY) {
    return fields.integer_array_value;
  } else if constexpr (type == PARAMETER_DOUBLE_ARRAY) {
    return fields.double_array_value;
  } else {
    return fields.string_array_value;
  }
}

template<class ... Arguments>
std::string formatted(const char * format, Arguments ... arguments)
{
  char text[32];
  std::snprintf(text, sizeof text, format, arguments ...);
  return text;
}

}  // namespace detail

/// The value of a parameter, or none. Numbers are kept with 64 bits.
class ParameterValue
{
public:
  /// No value.
  ParameterValue() = default;

  /// A value from `bool`, an integer, a floating-point number, a text, or a `std::vector` of these
  /// or of bytes (`std::uint8_t`). Unsigned integers of 64 bits are excluded.
  template<class T, class = std::enable_if_t<detail::IsParameterField<T>::value>>
  explicit ParameterValue(const T & value)
  {
    fields_.type = type_of<T>;
    detail::field_of<type_of<T>>(fields_) = converted(value);
  }

  /// A value from `rcl_interfaces::msg::ParameterValue`, of which a type without a meaning is none.
  template<
    class M, class = std::enable_if_t<std::is_same_v<M, rcl_interfaces::msg::ParameterValue>>,
    int = 0>
  explicit ParameterValue(const M & message)
  {
    switch (message.type) {
      case PARAMETER_BOOL: fields_.bool_value = message.bool_value; break;
      case PARAMETER_INTEGER: fields_.integer_value = message.integer_value; break;
      case PARAMETER_DOUBLE: fields_.double_value = message.double_value; break;
      case PARAMETER_STRING: fields_.string_value = message.string_value; break;
      case PARAMETER_BYTE_ARRAY: fields_.byte_array_value = message.byte_array_value; break;
      case PARAMETER_BOOL_ARRAY: fields_.bool_array_value = message.bool_array_value; break;
      case PARAMETER_INTEGER_ARRAY:
        fields_.integer_array_value = message.integer_array_value;
        break;
      case PARAMETER_DOUBLE_ARRAY: fields_.double_array_value = message.double_array_value; break;
      case PARAMETER_STRING_ARRAY: fields_.string_array_value = message.string_array_value; break;
      default: return;
    }
    fields_.type = static_cast<ParameterType>(message.type);
  }

  /// Returns the value as the message, `rcl_interfaces::msg::ParameterValue`.
  template<class M = rcl_interfaces::msg::ParameterValue>
  M to_value_msg() const
  {
    M message;
    message.type = fields_.type;
    message.bool_value = fields_.bool_value;
    message.integer_value = fields_.integer_value;
    message.double_value = fields_.double_value;
    message.string_value = fields_.string_value;
    message.byte_array_value = fields_.byte_array_value;
    message.bool_array_value = fields_.bool_array_value;
    message.integer_array_value = fields_.integer_array_value;
    message.double_array_value = fields_.double_array_value;
    message.string_array_value = fields_.string_array_value;
    return message;
  }

  ParameterType get_type() const noexcept {return fields_.type;}

  /// Returns the value, if it is of the type of `T`: `get_if<int>()` is a `const std::int64_t *`,
  /// which is null for any other type.
  template<class T>
  const detail::ParameterFieldOf<T> * get_if() const noexcept
  {
    return fields_.type == type_of<T> ? &detail::field_of<type_of<T>>(fields_) : nullptr;
  }

  /// Returns the value: of integers as `std::int64_t`, of floating-point numbers as `double`.
  /// Throws `ParameterTypeException` if it is of another type.
  template<class T>
  const detail::ParameterFieldOf<T> & get() const
  {
    return get<type_of<T>>();
  }

  /// As above, for a type by its number: `get<PARAMETER_DOUBLE>()`.
  template<ParameterType type>
  const auto & get() const
  {
    static_assert(type != PARAMETER_NOT_SET, "there is no value of this type");
    check(type);
    return detail::field_of<type>(fields_);
  }

  friend bool operator==(const ParameterValue & one, const ParameterValue & other)
  {
    return one.fields_ == other.fields_;
  }
  friend bool operator!=(const ParameterValue & one, const ParameterValue & other)
  {
    return !(one == other);
  }

private:
  template<class T>
  static constexpr ParameterType type_of = detail::parameter_type_of<detail::ParameterFieldOf<T>>;

  template<class T>
  static detail::ParameterFieldOf<T> converted(const T & value)
  {
    return static_cast<detail::ParameterFieldOf<T>>(value);
  }
  template<class T>
  static detail::ParameterFieldOf<std::vector<T>> converted(const std::vector<T> & value)
  {
    return detail::ParameterFieldOf<std::vector<T>>(value.begin(), value.end());
  }

  void check(ParameterType type) const
  {
    if (fields_.type != type) {
      detail::raise_other_parameter_type(
        "the value is of type " + to_string(fields_.type) + ", not of type " + to_string(type));
    }
  }

  detail::ParameterFields fields_;
};

/// Returns the value as a text for people. The texts of an array are in quotes.
inline std::string to_string(const ParameterValue & value)
{
  switch (value.get_type()) {
    case PARAMETER_NOT_SET: return "not set";
    case PARAMETER_BOOL: return value.get<bool>() ? "true" : "false";
    case PARAMETER_INTEGER: return std::to_string(value.get<std::int64_t>());
    case PARAMETER_DOUBLE: return std::to_string(value.get<double>());
    case PARAMETER_STRING: return value.get<std::string>();
    case PARAMETER_BYTE_ARRAY:
      return detail::list_to_text<std::uint8_t>(
        value.get<PARAMETER_BYTE_ARRAY>(), [](const std::uint8_t & one) {
          return detail::formatted("0x%02x", static_cast<unsigned>(one));
        });
    case PARAMETER_BOOL_ARRAY:
      {
        const auto & list = value.get<PARAMETER_BOOL_ARRAY>();
        return detail::list_to_text<int>(
          std::vector<int>(list.begin(), list.end()),
          [](const int & one) {return std::string(one != 0 ? "true" : "false");});
      }
    case PARAMETER_INTEGER_ARRAY:
      return detail::list_to_text<std::int64_t>(
        value.get<PARAMETER_INTEGER_ARRAY>(),
        [](const std::int64_t & one) {return std::to_string(one);});
    case PARAMETER_DOUBLE_ARRAY:
      return detail::list_to_text<double>(
        value.get<PARAMETER_DOUBLE_ARRAY>(),
        [](const double & one) {return detail::formatted("%g", one);});
    case PARAMETER_STRING_ARRAY:
      return detail::list_to_text<std::string>(
        value.get<PARAMETER_STRING_ARRAY>(),
        [](const std::string & one) {return '"' + one + '"';});
  }
  return "";
}

inline std::ostream & operator<<(std::ostream & stream, const ParameterValue & value)
{
  return stream << to_string(value);
}

}  // namespace sinew

#endif  // SINEW_PARAMETER_VALUE_HPP
