/// How a node gets and sets its parameters.
#ifndef SINEW_NODE_PARAMETERS_HPP
#define SINEW_NODE_PARAMETERS_HPP

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinew/detail/parameter_list.hpp"
#include "sinew/detail/rcl_interfaces.hpp"
#include "sinew/detail/strings.hpp"
#include "sinew/error.hpp"
#include "sinew/parameter.hpp"
#include "sinew/parameter_descriptor.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// How a node gets and sets its parameters: a base of `Node`, which has a `handle()`.
///
/// All functions may be called from any thread. Setting waits while another thread declares or sets
/// parameters of the node; a callback for parameters can read them, but not set or declare any.
///
/// Functions with messages of `rcl_interfaces` in their results need the header of the message in
/// the program: `rcl_interfaces/msg/set_parameters_result.hpp` for `set_parameter`.
template<class Derived>
class NodeParameters
{
  template<class T>
  using IfField = std::enable_if_t<detail::IsParameterField<T>::value, int>;
  template<class T>
  using Field = detail::ParameterFieldOf<T>;

public:
  /// @name Getting
  /// @{

  bool has_parameter(const std::string & name) const
  {
    return sinew_node_has_parameter(node(), name.c_str());
  }

  /// Returns a parameter. Throws `ParameterNotDeclaredException` unless the node allows undeclared
  /// parameters, of which it returns one without a value; and `ParameterUninitializedException` if
  /// it has none.
  Parameter get_parameter(const std::string & name) const {return try_get_parameter(name).value();}
  Result<Parameter> try_get_parameter(const std::string & name) const
  {
    const char * const text = name.c_str();
    detail::ParameterListHandle list;
    const auto status = sinew_node_get_parameters(node(), &text, 1, detail::Out(list));
    if (status == SINEW_ERROR_PARAMETER_NOT_DECLARED && allows_undeclared()) {
      return Parameter(name);
    }
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    auto all = detail::parameters_from(list.get());
    if (all.front().get_type() == PARAMETER_NOT_SET && !is_dynamic(name)) {
      return Error(
        SINEW_ERROR_PARAMETER_UNINITIALIZED, "parameter '" + name + "' has no value: set it first");
    }
    return std::move(all.front());
  }

  /// Gets a parameter. Returns false, and leaves `parameter` as it is, if it isn't declared or has
  /// no value.
  bool get_parameter(const std::string & name, Parameter & parameter) const
  {
    auto got = has_parameter(name) ? try_get_parameter(name) : Parameter(name);
    if (!got || (got->get_type() == PARAMETER_NOT_SET && !has_parameter(name))) {
      return false;
    }
    parameter = *std::move(got);
    return true;
  }

  /// As above, for its value. Throws if the parameter is of another type than `T`.
  template<class T, IfField<T> = 0>
  bool get_parameter(const std::string & name, T & value) const
  {
    Parameter parameter;
    const bool is_there = get_parameter(name, parameter);
    if (is_there) {
      value = static_cast<T>(converted<T>(parameter.get_value<T>()));
    }
    return is_there;
  }

  /// Gets the value of a parameter, or another one if it isn't declared or has none. Returns
  /// whether it has one.
  template<class T>
  bool get_parameter_or(const std::string & name, T & value, const T & alternative) const
  {
    const bool is_there = get_parameter(name, value);
    if (!is_there) {
      value = alternative;
    }
    return is_there;
  }
  template<class T>
  T get_parameter_or(const std::string & name, const T & alternative) const
  {
    T value;
    get_parameter_or(name, value, alternative);
    return value;
  }

  /// Returns parameters in the order of their names. Throws as `get_parameter`.
  std::vector<Parameter> get_parameters(const std::vector<std::string> & names) const
  {
    return try_get_parameters(names).value();
  }
  Result<std::vector<Parameter>> try_get_parameters(const std::vector<std::string> & names) const
  {
    std::vector<Parameter> parameters;
    for (const std::string & name : names) {
      auto one = try_get_parameter(name);
      if (!one) {
        return one.error();
      }
      parameters.push_back(*std::move(one));
    }
    return parameters;
  }

  /// Gets the values of all parameters below a prefix, without the prefix and its point in their
  /// names: of `arm.speed` for the prefix `arm` with the name `speed`. An empty prefix is all
  /// parameters. Returns whether there are any. Throws if one is of another type than `T`.
  template<class T>
  bool get_parameters(const std::string & prefix, std::map<std::string, T> & values) const
  {
    const auto found = get_parameters_by_prefix(prefix);
    for (const auto & [name, parameter] : found) {
      if constexpr (std::is_same_v<T, Parameter>) {
        values[name] = parameter;
      } else {
        values[name] = static_cast<T>(converted<T>(parameter.template get_value<T>()));
      }
    }
    return !found.empty();
  }

  /// Returns the parameters below a prefix, as above.
  std::map<std::string, Parameter> get_parameters_by_prefix(const std::string & prefix) const
  {
    std::map<std::string, Parameter> found;
    const std::string start = prefix.empty() ? "" : prefix + ".";
    const std::vector<std::string> names = names_below({}, 0).value();
    for (const std::string & name : names) {
      if (name.size() > start.size() && name.compare(0, start.size(), start) == 0) {
        Parameter parameter;
        if (get_parameter(name, parameter)) {
          found.emplace(name.substr(start.size()), std::move(parameter));
        }
      }
    }
    return found;
  }

  /// Returns the numbers of the types (`ParameterType`), in the order of the names.
  std::vector<std::uint8_t> get_parameter_types(const std::vector<std::string> & names) const
  {
    std::vector<std::uint8_t> types;
    const std::vector<ParameterDescriptor> described = try_describe_parameters(names).value();
    for (const ParameterDescriptor & one : described) {
      types.push_back(one.type);
    }
    return types;
  }

  /// Returns the description of a parameter: `rcl_interfaces::msg::ParameterDescriptor`, or the own
  /// type with `describe_parameter<sinew::ParameterDescriptor>(name)`. Throws
  /// `ParameterNotDeclaredException`.
  template<class D = rcl_interfaces::msg::ParameterDescriptor>
  D describe_parameter(const std::string & name) const
  {
    return std::move(try_describe_parameters<D>({name}).value().front());
  }
  template<class D = rcl_interfaces::msg::ParameterDescriptor>
  std::vector<D> describe_parameters(const std::vector<std::string> & names) const
  {
    return try_describe_parameters<D>(names).value();
  }
  template<class D = ParameterDescriptor>
  Result<std::vector<D>> try_describe_parameters(const std::vector<std::string> & names) const
  {
    std::vector<D> all;
    for (const std::string & name : names) {
      const char * const text = name.c_str();
      detail::ParameterDescriptorsHandle handle;
      const auto status = sinew_node_describe_parameters(node(), &text, 1, detail::Out(handle));
      if (status == SINEW_ERROR_PARAMETER_NOT_DECLARED && allows_undeclared()) {
        all.emplace_back();
        all.back().name = name;
        continue;
      }
      if (status != SINEW_OK) {
        return Error::last(status);
      }
      auto described = detail::descriptors_from<D>(handle);
      if (!described) {
        return described.error();
      }
      all.push_back(std::move(described->front()));
    }
    return all;
  }

  /// Lists the names of parameters that equal a prefix or lie below one, or of all if there is no
  /// prefix; if `depth` is not 0, only those with fewer than `depth` points below the prefix. The
  /// message is `rcl_interfaces::msg::ListParametersResult`.
  template<class L = rcl_interfaces::msg::ListParametersResult>
  L list_parameters(const std::vector<std::string> & prefixes, std::uint64_t depth) const
  {
    L list;
    list.names = names_below(prefixes, depth).value();
    for (const std::string & name : list.names) {
      const auto end = name.rfind('.');
      if (end != std::string::npos) {
        const std::string prefix = name.substr(0, end);
        if (std::find(list.prefixes.begin(), list.prefixes.end(), prefix) == list.prefixes.end()) {
          list.prefixes.push_back(prefix);
        }
      }
    }
    return list;
  }
  Result<std::vector<std::string>> try_list_parameters(
    const std::vector<std::string> & prefixes, std::uint64_t depth) const
  {
    return names_below(prefixes, depth);
  }

  /// @}
  /// @name Setting
  /// @{

  /// Sets a parameter, as other nodes do by service: callbacks run, and the change is published.
  ///
  /// A value that is refused (its type, its range, a callback, a parameter that is read-only) is a
  /// result, `rcl_interfaces::msg::SetParametersResult`, with the reason. Throws
  /// `ParameterNotDeclaredException`; and `ParameterModifiedInCallbackException` in a callback.
  template<class R = rcl_interfaces::msg::SetParametersResult>
  R set_parameter(const Parameter & parameter)
  {
    return set_result<R>(try_set_parameter(parameter));
  }
  Result<void> try_set_parameter(const Parameter & parameter)
  {
    const detail::ValueForC value(parameter.get_parameter_value());
    const auto got = value.try_get(parameter.get_name());
    if (!got) {
      return got.error();
    }
    return detail::result(sinew_node_set_parameter(node(), parameter.get_name().c_str(), *got));
  }

  /// Sets parameters one after the other.
  template<class R = rcl_interfaces::msg::SetParametersResult>
  std::vector<R> set_parameters(const std::vector<Parameter> & parameters)
  {
    std::vector<R> results;
    for (const Parameter & one : parameters) {
      results.push_back(set_parameter<R>(one));
    }
    return results;
  }

  /// Sets all of the parameters, or none, with one event.
  template<class R = rcl_interfaces::msg::SetParametersResult>
  R set_parameters_atomically(const std::vector<Parameter> & parameters)
  {
    return set_result<R>(try_set_parameters_atomically(parameters));
  }
  Result<void> try_set_parameters_atomically(const std::vector<Parameter> & parameters)
  {
    auto list = detail::list_of(parameters);
    if (!list) {
      return list.error();
    }
    return detail::result(sinew_node_set_parameters(node(), list->get()));
  }

  /// @}

protected:
  NodeParameters() = default;
  ~NodeParameters() = default;

private:
  const sinew_node * node() const noexcept {return static_cast<const Derived *>(this)->handle();}

  bool allows_undeclared() const
  {
    return static_cast<const Derived *>(this)->get_node_options().allow_undeclared_parameters();
  }

  bool is_dynamic(const std::string & name) const
  {
    const auto described = try_describe_parameters({name});
    return described && described->front().dynamic_typing;
  }

  template<class T>
  static decltype(auto) converted(const Field<T> & value)
  {
    if constexpr (std::is_constructible_v<T, const Field<T> &>) {
      return value;
    } else {
      return T(value.begin(), value.end());
    }
  }

  Result<std::vector<std::string>> names_below(
    const std::vector<std::string> & prefixes, std::uint64_t depth) const
  {
    const auto texts = detail::texts_of(prefixes);
    detail::StringsHandle names;
    const auto status =
      sinew_node_list_parameters(node(), texts.data(), texts.size(), depth, detail::Out(names));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return detail::strings_from(names);
  }

  template<class R>
  static R set_result(const Result<void> & outcome)
  {
    if (!outcome && outcome.error().code() != SINEW_ERROR_REFUSED) {
      outcome.error().raise();
    }
    R result;
    result.successful = outcome.has_value();
    if (!outcome) {
      result.reason = outcome.error().sentence();
    }
    return result;
  }
};

}  // namespace sinew

#endif  // SINEW_NODE_PARAMETERS_HPP
