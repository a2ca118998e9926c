/// Callbacks of a node for its parameters: before they are set, to accept them, and afterwards.
#ifndef SINEW_PARAMETER_CALLBACK_HPP
#define SINEW_PARAMETER_CALLBACK_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/detail/log_line.hpp"
#include "sinew/detail/parameter_list.hpp"
#include "sinew/detail/rcl_interfaces.hpp"
#include "sinew/error.hpp"
#include "sinew/parameter.hpp"
#include "sinew/sinew.h"

namespace sinew
{

namespace detail
{

/// Returns why the values are refused: from the result of a callback that is a message or a
/// structure with its fields `successful` and `reason`.
template<class Outcome>
Result<void> outcome_of(const Outcome & outcome)
{
  if (outcome.successful) {
    return {};
  }
  return Error(
    SINEW_ERROR_REFUSED, outcome.reason.empty() ? "a callback refused it" : outcome.reason);
}
inline Result<void> outcome_of(Result<void> outcome) {return outcome;}

/// Writes the reason for C, cut off where its room ends.
inline void write_reason(const std::string & reason, char * place, std::size_t room)
{
  if (room > 0) {
    const std::size_t length = std::min(reason.size(), room - 1);
    std::copy_n(reason.data(), length, place);
    place[length] = '\0';
  }
}

/// Logs this thread's last failure: that of a callback that can't return it.
inline void log_failed_callback()
{
  const std::string sentence =
    std::string("a callback for parameters failed: ") + sinew_error_message();
  log_line(nullptr, SINEW_LOG_LEVEL_ERROR, sentence.c_str());
}

template<class F>
void pre_set_parameters(void * context, sinew_parameter_list * list)
{
  auto & function = *static_cast<F *>(context);
  auto parameters = parameters_from(list);
  if (parameters.empty()) {
    return;  // the callback before this one has failed or removed all
  }
  const auto before = parameters;
  const auto status = guarded([&] {
        function(parameters);
        for (const Parameter & one : before) {
          (void)sinew_parameter_list_remove(list, one.get_name().c_str());
        }
        fill_list(list, parameters).value();
      });
  if (status != SINEW_OK) {
    log_failed_callback();
    // An empty list is refused: nothing is set by halves.
    for (const Parameter & one : parameters_from(list)) {
      (void)sinew_parameter_list_remove(list, one.get_name().c_str());
    }
  }
}

template<class F>
sinew_status on_set_parameters(
  void * context, const sinew_parameter_list * list, char * reason, std::size_t room)
{
  auto & function = *static_cast<F *>(context);
  sinew_status refused = SINEW_OK;
  const auto failed = guarded([&] {
        const Result<void> outcome = outcome_of(function(parameters_from(list)));
        if (!outcome) {
          refused = outcome.error().code();
          write_reason(outcome.error().sentence(), reason, room);
        }
      });
  return failed != SINEW_OK ? failed : refused;
}

template<class F>
void post_set_parameters(void * context, const sinew_parameter_list * list)
{
  auto & function = *static_cast<F *>(context);
  if (guarded([&] {function(parameters_from(list));}) != SINEW_OK) {
    log_failed_callback();
  }
}

}  // namespace detail

/// The owner of a callback for parameters, which the node runs as long as the owner lives. `Kind`
/// is one of the three kinds below.
template<class Kind>
class SetParametersCallbackHandle
{
public:
  using SharedPtr = std::shared_ptr<SetParametersCallbackHandle>;
  using WeakPtr = std::weak_ptr<SetParametersCallbackHandle>;

  /// Adds a callback to a node.
  template<class F>
  static Result<SharedPtr> try_make(const sinew_node * node, F && function)
  {
    using Function = std::decay_t<F>;
    SharedPtr made(new SetParametersCallbackHandle);
    const auto status = Kind::template add<Function>(
      node, detail::context_of(std::forward<F>(function)), detail::Out(made->handle_));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return made;
  }

  /// Removes the callback, and waits for it if it runs on another thread, but not in a callback for
  /// parameters of the node.
  ~SetParametersCallbackHandle() {remove();}
  SetParametersCallbackHandle(const SetParametersCallbackHandle &) = delete;
  SetParametersCallbackHandle & operator=(const SetParametersCallbackHandle &) = delete;
  void remove() noexcept
  {
    if (handle_) {
      (void)sinew_parameter_callback_close(handle_.get());
    }
    handle_.reset();
  }

private:
  SetParametersCallbackHandle() = default;

  detail::Handle<sinew_parameter_callback, sinew_parameter_callback_free> handle_;
};

namespace detail
{

struct PreSetParameters
{
  template<class F>
  static sinew_status add(
    const sinew_node * node, void * context, sinew_parameter_callback ** place)
  {
    return sinew_node_on_pre_set_parameters(
      node, pre_set_parameters<F>, context, drop_context<F>, place);
  }
};

struct OnSetParameters
{
  template<class F>
  static sinew_status add(
    const sinew_node * node, void * context, sinew_parameter_callback ** place)
  {
    return sinew_node_on_set_parameters(
      node, on_set_parameters<F>, context, drop_context<F>, place);
  }
};

struct PostSetParameters
{
  template<class F>
  static sinew_status add(
    const sinew_node * node, void * context, sinew_parameter_callback ** place)
  {
    return sinew_node_on_post_set_parameters(
      node, post_set_parameters<F>, context, drop_context<F>, place);
  }
};

}  // namespace detail

using PreSetParametersCallbackHandle = SetParametersCallbackHandle<detail::PreSetParameters>;
using OnSetParametersCallbackHandle = SetParametersCallbackHandle<detail::OnSetParameters>;
using PostSetParametersCallbackHandle = SetParametersCallbackHandle<detail::PostSetParameters>;

using PreSetParametersCallbackType = std::function<void (std::vector<Parameter> &)>;
using OnSetParametersCallbackType =
  std::function<rcl_interfaces::msg::SetParametersResult(const std::vector<Parameter> &)>;
using PostSetParametersCallbackType = std::function<void (const std::vector<Parameter> &)>;

}  // namespace sinew

#endif  // SINEW_PARAMETER_CALLBACK_HPP
