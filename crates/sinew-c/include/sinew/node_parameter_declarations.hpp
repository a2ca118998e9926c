/// How a node declares its parameters.
#ifndef SINEW_NODE_PARAMETER_DECLARATIONS_HPP
#define SINEW_NODE_PARAMETER_DECLARATIONS_HPP

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinew/detail/parameter_list.hpp"
#include "sinew/error.hpp"
#include "sinew/parameter.hpp"
#include "sinew/parameter_descriptor.hpp"
#include "sinew/parameter_handle.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// How a node declares its parameters: a base of `Node`, which has a `handle()`.
///
/// A parameter is declared before it is used, with its type, a default value and perhaps a
/// description. The command line, a file or the options of the node override the default value.
///
///     const auto rate = node->declare_parameter("rate", 10.0);
///
/// All functions may be called from any thread. They wait while another thread declares or sets
/// parameters of the node; a callback for parameters can't declare any.
template<class Derived>
class NodeParameterDeclarations
{
  template<class D>
  using IfDescriptor = std::enable_if_t<detail::IsParameterDescriptor<D>::value, int>;
  template<class T>
  using IfField = std::enable_if_t<detail::IsParameterField<T>::value, int>;
  template<class T>
  using Field = detail::ParameterFieldOf<T>;

public:
  /// Declares a parameter, and returns its value: that of an override, else the default value.
  ///
  /// `ignore_override`: whether the default value is used in any case. Throws
  /// `ParameterAlreadyDeclaredException`, `InvalidParameterTypeException` (an override of another
  /// type), or `InvalidParameterValueException` (out of range, or refused by a callback).
  template<class D = ParameterDescriptor, IfDescriptor<D> = 0>
  ParameterValue declare_parameter(
    const std::string & name, const ParameterValue & default_value, const D & descriptor = D(),
    bool ignore_override = false)
  {
    return try_declare_parameter(name, default_value, descriptor, ignore_override).value();
  }
  template<class D = ParameterDescriptor, IfDescriptor<D> = 0>
  Result<ParameterValue> try_declare_parameter(
    const std::string & name, const ParameterValue & default_value, const D & descriptor = D(),
    bool ignore_override = false)
  {
    return declare(name, {&default_value, default_value.get_type()}, descriptor, ignore_override);
  }

  /// Declares a parameter with a type, and with a value only if it is overridden.
  template<class D = ParameterDescriptor, IfDescriptor<D> = 0>
  ParameterValue declare_parameter(
    const std::string & name, ParameterType type, const D & descriptor = D(),
    bool ignore_override = false)
  {
    return try_declare_parameter(name, type, descriptor, ignore_override).value();
  }
  template<class D = ParameterDescriptor, IfDescriptor<D> = 0>
  Result<ParameterValue> try_declare_parameter(
    const std::string & name, ParameterType type, const D & descriptor = D(),
    bool ignore_override = false)
  {
    return declare(name, {nullptr, type}, descriptor, ignore_override);
  }

  /// Declares a parameter of type `T`: integers become `std::int64_t`, floating-point numbers
  /// `double`, texts `std::string`.
  template<class T, class D = ParameterDescriptor, IfField<T> = 0, IfDescriptor<D> = 0>
  Field<T> declare_parameter(
    const std::string & name, const T & default_value, const D & descriptor = D(),
    bool ignore_override = false)
  {
    return try_declare_parameter<T>(name, default_value, descriptor, ignore_override).value();
  }
  template<class T, class D = ParameterDescriptor, IfField<T> = 0, IfDescriptor<D> = 0>
  Result<Field<T>> try_declare_parameter(
    const std::string & name, const T & default_value, const D & descriptor = D(),
    bool ignore_override = false)
  {
    return typed<T>(
      name,
      try_declare_parameter(name, ParameterValue(default_value), descriptor, ignore_override));
  }

  /// Declares a parameter of type `T`, which must be overridden: without a value this throws
  /// `ParameterUninitializedException`, and the parameter is declared.
  template<class T, class D = ParameterDescriptor, IfField<T> = 0, IfDescriptor<D> = 0>
  Field<T> declare_parameter(
    const std::string & name, const D & descriptor = D(), bool ignore_override = false)
  {
    return try_declare_parameter<T>(name, descriptor, ignore_override).value();
  }
  template<class T, class D = ParameterDescriptor, IfField<T> = 0, IfDescriptor<D> = 0>
  Result<Field<T>> try_declare_parameter(
    const std::string & name, const D & descriptor = D(), bool ignore_override = false)
  {
    const auto type = ParameterValue(Field<T>()).get_type();
    return typed<T>(name, try_declare_parameter(name, type, descriptor, ignore_override));
  }

  /// Declares parameters `prefix.name` with their default values, and returns their values.
  template<class T>
  std::vector<T> declare_parameters(
    const std::string & prefix, const std::map<std::string, T> & parameters,
    bool ignore_overrides = false)
  {
    std::vector<T> values;
    for (const auto & [name, value] : parameters) {
      values.push_back(
        static_cast<T>(declare_parameter(joined(prefix, name), value, {}, ignore_overrides)));
    }
    return values;
  }
  template<class T, class D>
  std::vector<T> declare_parameters(
    const std::string & prefix, const std::map<std::string, std::pair<T, D>> & parameters,
    bool ignore_overrides = false)
  {
    std::vector<T> values;
    for (const auto & [name, both] : parameters) {
      values.push_back(
        static_cast<T>(
          declare_parameter(joined(prefix, name), both.first, both.second, ignore_overrides)));
    }
    return values;
  }

  /// Declares a parameter, and returns a handle to it, for code that reads it often.
  template<class T, class D = ParameterDescriptor, IfField<T> = 0, IfDescriptor<D> = 0>
  ParameterHandle<T> parameter(
    const std::string & name, const T & default_value, const D & descriptor = D())
  {
    return try_parameter<T>(name, default_value, descriptor).value();
  }
  template<class T, class D = ParameterDescriptor, IfField<T> = 0, IfDescriptor<D> = 0>
  Result<ParameterHandle<T>> try_parameter(
    const std::string & name, const T & default_value, const D & descriptor = D())
  {
    const ParameterValue value(default_value);
    const auto settings = detail::parameter_options(descriptor, value.get_type());
    const detail::ValueForC for_c(value);
    const auto got = for_c.try_get(name);
    if (!settings || !got) {
      return settings ? got.error() : settings.error();
    }
    return ParameterHandle<T>::try_make(
      static_cast<const Derived *>(this)->shared_handle(), name, *got, *settings);
  }

  /// Removes a parameter. Only one with a dynamic type can be removed.
  void undeclare_parameter(const std::string & name) {try_undeclare_parameter(name).value();}
  Result<void> try_undeclare_parameter(const std::string & name)
  {
    return detail::result(sinew_node_undeclare_parameter(node(), name.c_str()));
  }

protected:
  NodeParameterDeclarations() = default;
  ~NodeParameterDeclarations() = default;

private:
  /// The default value, which may be null, and the type of a parameter.
  struct First
  {
    const ParameterValue * value;
    ParameterType type;
  };

  const sinew_node * node() const noexcept {return static_cast<const Derived *>(this)->handle();}

  static std::string joined(const std::string & prefix, const std::string & name)
  {
    return prefix.empty() ? name : prefix + "." + name;
  }

  template<class T>
  static Result<Field<T>> typed(const std::string & name, const Result<ParameterValue> & value)
  {
    if (!value) {
      return value.error();
    }
    if (const auto * field = value->template get_if<T>()) {
      return *field;
    }
    const bool is_set = value->get_type() != PARAMETER_NOT_SET;
    return Error(
      is_set ? SINEW_ERROR_OTHER_PARAMETER_TYPE : SINEW_ERROR_PARAMETER_UNINITIALIZED,
      "parameter '" + name + "' has " +
      (is_set ?
      "a value of type " + to_string(value->get_type()) :
      "neither a default value nor an override"));
  }

  template<class D>
  Result<ParameterValue> declare(
    const std::string & name, First first, const D & descriptor, bool ignore_override)
  {
    auto settings = detail::parameter_options(descriptor, first.type);
    if (!settings) {
      return settings.error();
    }
    settings->kind = first.type;
    settings->is_optional = first.value == nullptr;
    settings->ignores_overrides = ignore_override;
    const ParameterValue none;
    const detail::ValueForC value(first.value ? *first.value : none);
    const auto got = value.try_get(name);
    if (!got) {
      return got.error();
    }
    const auto status = sinew_node_declare_parameter(node(), name.c_str(), *got, &*settings);
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    const char * const text = name.c_str();
    detail::ParameterListHandle list;
    const auto read = sinew_node_get_parameters(node(), &text, 1, detail::Out(list));
    if (read != SINEW_OK) {
      return Error::last(read);
    }
    return detail::parameters_from(list.get()).front().get_parameter_value();
  }
};

}  // namespace sinew

#endif  // SINEW_NODE_PARAMETER_DECLARATIONS_HPP
