/// A node's callbacks for its parameters.
#ifndef SINEW_NODE_PARAMETER_CALLBACKS_HPP
#define SINEW_NODE_PARAMETER_CALLBACKS_HPP

#include <utility>

#include "sinew/parameter_callback.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// The callbacks of a node for its parameters: a base of `Node`, which has a `handle()`.
///
/// Each runs on the thread that sets the parameters, or that receives a request of another process,
/// under no lock, as long as the handle that is returned lives. Of several callbacks of a kind, the
/// one that was added last runs first.
template<class Derived>
class NodeParameterCallbacks
{
public:
  using PreSetParametersCallbackHandle = sinew::PreSetParametersCallbackHandle;
  using OnSetParametersCallbackHandle = sinew::OnSetParametersCallbackHandle;
  using PostSetParametersCallbackHandle = sinew::PostSetParametersCallbackHandle;

  /// Adds a callback that may change the values before they are set:
  /// `void (std::vector<Parameter> &)`. If it throws (which is logged) or leaves none,
  /// nothing is set, and the callbacks after it don't run.
  template<class F>
  [[nodiscard]] PreSetParametersCallbackHandle::SharedPtr add_pre_set_parameters_callback(
    F && function)
  {
    return PreSetParametersCallbackHandle::try_make(node(), std::forward<F>(function)).value();
  }

  /// Adds a callback that accepts or refuses values, after their types and ranges were checked,
  /// also those of parameters that are being declared: `R (const std::vector<Parameter> &)`, where
  /// `R` is `rcl_interfaces::msg::SetParametersResult`, or any structure with its fields, or
  /// `Result<void>`. An exception refuses them as well.
  template<class F>
  [[nodiscard]] OnSetParametersCallbackHandle::SharedPtr add_on_set_parameters_callback(
    F && function)
  {
    return OnSetParametersCallbackHandle::try_make(node(), std::forward<F>(function)).value();
  }

  /// Adds a callback that gets values after they were set: `void (const std::vector<Parameter> &)`.
  /// An exception is logged.
  template<class F>
  [[nodiscard]] PostSetParametersCallbackHandle::SharedPtr add_post_set_parameters_callback(
    F && function)
  {
    return PostSetParametersCallbackHandle::try_make(node(), std::forward<F>(function)).value();
  }

  /// Removes a callback before its handle ends.
  void remove_pre_set_parameters_callback(PreSetParametersCallbackHandle * handle)
  {
    handle->remove();
  }
  void remove_on_set_parameters_callback(OnSetParametersCallbackHandle * handle) {handle->remove();}
  void remove_post_set_parameters_callback(PostSetParametersCallbackHandle * handle)
  {
    handle->remove();
  }

protected:
  NodeParameterCallbacks() = default;
  ~NodeParameterCallbacks() = default;

private:
  const sinew_node * node() const noexcept {return static_cast<const Derived *>(this)->handle();}
};

}  // namespace sinew

#endif  // SINEW_NODE_PARAMETER_CALLBACKS_HPP
