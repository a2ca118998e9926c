/// Parameters as objects, for code that reads them often.
#ifndef SINEW_PARAMETER_HANDLE_HPP
#define SINEW_PARAMETER_HANDLE_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "sinew/detail/handle.hpp"
#include "sinew/detail/parameter_list.hpp"
#include "sinew/error.hpp"
#include "sinew/parameter.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// A parameter of type `T` with its current value. Nodes make them:
/// `auto rate = node->parameter("rate", 10.0);`.
///
/// Numbers and bools are read without a lock and without allocating; other types by their name. Any
/// thread may use it. Copies refer to the same parameter, and keep its node.
template<class T>
class ParameterHandle
{
public:
  using value_type = detail::ParameterFieldOf<T>;

  /// Declares the parameter. `default_value` and `settings` are those of the C interface.
  static Result<ParameterHandle> try_make(
    std::shared_ptr<sinew_node> node, const std::string & name,
    const sinew_parameter_value * default_value, const sinew_parameter_options & settings)
  {
    Owner owner;
    const auto status = sinew_parameter_declare(
      node.get(), name.c_str(), default_value, &settings, detail::Out(owner));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return ParameterHandle(std::move(node), name, std::move(owner));
  }

  const std::string & name() const noexcept {return name_;}

  /// Returns the current value.
  value_type get() const {return try_get().value();}
  Result<value_type> try_get() const
  {
    if constexpr (std::is_same_v<value_type, bool>) {
      return read<sinew_parameter_get_bool>();
    } else if constexpr (std::is_same_v<value_type, std::int64_t>) {
      return read<sinew_parameter_get_integer>();
    } else if constexpr (std::is_same_v<value_type, double>) {
      return read<sinew_parameter_get_double>();
    } else {
      const char * const text = name_.c_str();
      detail::ParameterListHandle list;
      const auto status = sinew_node_get_parameters(node_.get(), &text, 1, detail::Out(list));
      if (status != SINEW_OK) {
        return Error::last(status);
      }
      return detail::parameters_from(list.get()).front().template get_value<value_type>();
    }
  }

  /// Sets the parameter, as `Node::set_parameter`. Throws if the value is refused.
  void set(const T & value) {try_set(value).value();}
  Result<void> try_set(const T & value)
  {
    const ParameterValue to_set(value);
    const detail::ValueForC for_c(to_set);
    const auto got = for_c.try_get(name_);
    if (!got) {
      return got.error();
    }
    return detail::result(sinew_node_set_parameter(node_.get(), name_.c_str(), *got));
  }

private:
  using Owner = detail::Handle<sinew_parameter, sinew_parameter_free>;

  ParameterHandle(std::shared_ptr<sinew_node> node, std::string name, Owner owner)
  : node_(std::move(node)), name_(std::move(name)), handle_(std::move(owner)) {}

  template<auto function>
  Result<value_type> read() const
  {
    value_type value{};
    if (const auto status = function(handle_.get(), &value); status != SINEW_OK) {
      return Error::last(status);
    }
    return value;
  }

  std::shared_ptr<sinew_node> node_;
  std::string name_;
  std::shared_ptr<sinew_parameter> handle_;
};

}  // namespace sinew

#endif  // SINEW_PARAMETER_HANDLE_HPP
