/// Begins and ends the default context, with which most programs do: `init`, `ok`, `shutdown`.
#ifndef SINEW_INIT_HPP
#define SINEW_INIT_HPP

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sinew/context.hpp"
#include "sinew/detail/strings.hpp"
#include "sinew/error.hpp"
#include "sinew/init_options.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// Makes the default context, from the command line. The signals shut it down, unless
/// `InitOptions::shutdown_on_signal` is false: then no handlers are installed. Fails with
/// `SINEW_ERROR_ALREADY_INITIALIZED` (`ContextAlreadyInitialized`) if there is a default context
/// that was not shut down.
inline Result<void> try_init(
  int argc, const char * const * argv, const InitOptions & options = {},
  SignalHandlerOptions signals = SignalHandlerOptions::All)
{
  auto & holder = detail::DefaultContext::instance();
  const std::lock_guard lock(holder.mutex);
  if (holder.context && holder.context->is_valid()) {
    return Error(
      SINEW_ERROR_ALREADY_INITIALIZED,
      "the default context exists already: call init once, before the first node, or shut it down");
  }
  auto made = Context::try_make(argc, argv, options, signals);
  if (!made) {
    return made.error();
  }
  if (options.initialize_logging) {
    const auto status = sinew_logging_init(nullptr);
    if (status != SINEW_OK && status != SINEW_ERROR_LOGGER_TAKEN) {
      return Error::last(status);
    }
  }
  holder.context = *std::move(made);
  return {};
}

inline void init(
  int argc, const char * const * argv, const InitOptions & options = {},
  SignalHandlerOptions signals = SignalHandlerOptions::All)
{
  try_init(argc, argv, options, signals).value();
}

/// As above, without a command line.
inline void init() {init(0, nullptr);}

/// Returns the arguments outside `--ros-args .. --`, with the program's name. Fails if an argument
/// for nodes can't be used.
inline Result<std::vector<std::string>> try_remove_ros_arguments(
  int argc, const char * const * argv)
{
  detail::StringsHandle rest;
  const auto status = sinew_remove_ros_arguments(argc, argv, detail::Out(rest));
  if (status != SINEW_OK) {
    return Error::last(status);
  }
  return detail::strings_from(rest);
}
inline std::vector<std::string> remove_ros_arguments(int argc, const char * const * argv)
{
  return try_remove_ros_arguments(argc, argv).value();
}

/// As `init`. Returns the program's own arguments.
inline std::vector<std::string> init_and_remove_ros_arguments(
  int argc, const char * const * argv, const InitOptions & options = {})
{
  init(argc, argv, options);
  return remove_ros_arguments(argc, argv);
}

/// Whether the context, by default the default one, exists and was not shut down.
inline bool ok(const Context::SharedPtr & context = nullptr)
{
  if (context) {
    return context->is_valid();
  }
  auto & holder = detail::DefaultContext::instance();
  const std::lock_guard lock(holder.mutex);
  return holder.context && holder.context->is_valid();
}

/// Calls a function once the context, by default the default one, is shut down:
/// `Context::on_shutdown`.
template<class F>
void on_shutdown(F callback, Context::SharedPtr context = nullptr)
{
  if (!context) {
    context = contexts::get_global_default_context();
  }
  context->on_shutdown(std::move(callback));
}

/// Shuts the context down, by default the default one. Returns whether it was not shut down before.
/// Not to be called by a handler of signals.
inline bool shutdown(
  const Context::SharedPtr & context = nullptr,
  const std::string & reason = "user called rclcpp::shutdown()")
{
  Context::SharedPtr to_end = context;
  if (!to_end) {
    auto & holder = detail::DefaultContext::instance();
    const std::lock_guard lock(holder.mutex);
    to_end = holder.context;
  }
  return to_end && to_end->shutdown(reason);
}

}  // namespace sinew

#endif  // SINEW_INIT_HPP
