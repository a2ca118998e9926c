/// The process's presence in a domain, and the functions for the usual one: `init`, `ok`, `shutdown`.
#ifndef SINEW_CONTEXT_HPP
#define SINEW_CONTEXT_HPP

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// The options of `init` and `Context::make`.
class InitOptions
{
public:
  /// The domain. By default that of the environment: `SINEW_DOMAIN_ID`, else `ROS_DOMAIN_ID`, else 0.
  std::optional<std::uint32_t> domain_id;

  /// The directory in which each domain has its own. By default `SINEW_DIR` of the environment, else
  /// `/dev/shm/sinew-<uid>`.
  std::optional<std::string> directory;

  /// Whether its nodes reach those of other processes of the host.
  bool shared_memory = true;

  /// Whether SIGINT (Ctrl-C) and SIGTERM shut the context down.
  bool shutdown_on_signal = true;

  /// Whether `init` sends log lines to the console, a file and `/rosout`, unless the process has a
  /// logger already.
  bool initialize_logging = true;

  InitOptions & auto_initialize_logging(bool wanted)
  {
    initialize_logging = wanted;
    return *this;
  }

  InitOptions & set_domain_id(std::uint32_t domain)
  {
    domain_id = domain;
    return *this;
  }
};

/// Stands for a callback that `Context::remove_on_shutdown_callback` removes.
struct OnShutdownCallbackHandle
{
  std::weak_ptr<sinew_shutdown_handler> handler;
};

/// A process's presence in a domain: the root of its nodes. Most programs use the default one, which
/// `init` makes.
class Context
{
public:
  using SharedPtr = std::shared_ptr<Context>;

  /// Makes a context. The command line may have `--ros-args`: names, remapping, parameters.
  static Result<SharedPtr> try_make(
    int argc = 0, const char * const * argv = nullptr, const InitOptions & options = {})
  {
    auto settings = detail::options<sinew_context_options>();
    settings.argc = argc;
    settings.argv = argv;
    settings.has_domain = options.domain_id.has_value();
    settings.domain = options.domain_id.value_or(0);
    settings.directory = options.directory ? options.directory->c_str() : nullptr;
    settings.shared_memory = options.shared_memory ? SINEW_DEFAULT : SINEW_NO;
    settings.interrupts = options.shutdown_on_signal ? SINEW_YES : SINEW_NO;
    ContextHandle handle;
    if (const auto status = sinew_context_new(&settings, detail::Out(handle)); status != SINEW_OK) {
      return Error::last(status);
    }
    return SharedPtr(new Context(std::move(handle)));
  }

  static SharedPtr make(
    int argc = 0, const char * const * argv = nullptr, const InitOptions & options = {})
  {
    return try_make(argc, argv, options).value();
  }

  /// Takes over a handle of the C interface.
  static SharedPtr adopt(sinew_context * handle)
  {
    return SharedPtr(new Context(ContextHandle(handle)));
  }

  /// Whether it was not shut down.
  bool is_valid() const noexcept {return sinew_context_is_valid(handle());}

  /// Ends everything that waits or spins in it; later operations fail. Never blocks, any thread may
  /// call it.
  void shutdown() noexcept {(void)sinew_context_shutdown(handle());}

  /// Calls a function once the context is shut down, by `shutdown` or by a signal; now, if it is
  /// already. It is called on the thread that shuts the context down, for a signal on one of the
  /// library, after everything that waits in the context was woken. It must not throw: an exception
  /// ends the program, as one of a thread does.
  template<class F>
  void on_shutdown(F callback) {(void)add_on_shutdown_callback(std::move(callback));}
  template<class F>
  OnShutdownCallbackHandle add_on_shutdown_callback(F callback)
  {
    return try_add_on_shutdown_callback(std::move(callback)).value();
  }
  template<class F>
  Result<OnShutdownCallbackHandle> try_add_on_shutdown_callback(F callback)
  {
    const auto call = [](void * context) noexcept {(*static_cast<F *>(context))();};
    detail::Handle<sinew_shutdown_handler, sinew_shutdown_handler_free> made;
    const auto status = sinew_context_on_shutdown(
      handle(), call, detail::context_of(std::move(callback)), detail::drop_context<F>,
      detail::Out(made));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    const std::lock_guard lock(mutex_);
    shutdown_handlers_.emplace_back(std::move(made));
    return OnShutdownCallbackHandle{shutdown_handlers_.back()};
  }

  /// Removes a callback. Returns whether it was there.
  bool remove_on_shutdown_callback(const OnShutdownCallbackHandle & callback)
  {
    const auto handler = callback.handler.lock();  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    const auto end = shutdown_handlers_.end();
    const auto found = std::find(shutdown_handlers_.begin(), end, handler);
    if (!handler || found == end) {
      return false;
    }
    shutdown_handlers_.erase(found);
    return true;
  }

  std::uint32_t get_domain_id() const noexcept {return sinew_context_domain(handle());}

  /// The handle of the C interface.
  sinew_context * handle() const noexcept {return handle_.get();}

private:
  using ContextHandle = detail::Handle<sinew_context, sinew_context_free>;

  explicit Context(ContextHandle handle) noexcept
  : handle_(std::move(handle)) {}

  ContextHandle handle_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<sinew_shutdown_handler>> shutdown_handlers_;
};

namespace detail
{

/// The default context, with its lock. One of the process, also in shared libraries that hide their
/// symbols.
struct __attribute__((visibility("default"))) DefaultContext
{
  std::mutex mutex;
  Context::SharedPtr context;

  static DefaultContext & instance()
  {
    // Never destroyed: objects with static lifetime may use it when the process ends.
    static auto * const instance = new DefaultContext;
    return *instance;
  }
};

/// Makes this context the default one, if there is none that was not shut down: components find that
/// of their container.
inline void offer_default_context(const Context::SharedPtr & context)
{
  auto & holder = DefaultContext::instance();
  const std::lock_guard lock(holder.mutex);
  if (!holder.context || !holder.context->is_valid()) {
    holder.context = context;
  }
}

/// Whether there was a default context, which was shut down.
inline bool is_default_context_shut_down()
{
  auto & holder = DefaultContext::instance();
  const std::lock_guard lock(holder.mutex);
  return holder.context && !holder.context->is_valid();
}

}  // namespace detail

/// Makes the default context, from the command line. Ctrl-C and SIGTERM shut it down, unless the
/// options say otherwise. Fails if there is a default context that was not shut down.
inline Result<void> try_init(
  int argc, const char * const * argv, const InitOptions & options = {})
{
  auto & holder = detail::DefaultContext::instance();
  const std::lock_guard lock(holder.mutex);
  if (holder.context && holder.context->is_valid()) {
    return Error(
      SINEW_ERROR_INVALID_ARGUMENT,
      "the default context exists already: call init once, before the first node, or shut it down");
  }
  auto made = Context::try_make(argc, argv, options);
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

inline void init(int argc, const char * const * argv, const InitOptions & options = {})
{
  try_init(argc, argv, options).value();
}

/// As above, without a command line.
inline void init() {init(0, nullptr);}

namespace contexts
{

/// Returns the default context. The first caller makes it, without a command line, if there was no
/// `init`.
inline Context::SharedPtr get_global_default_context()
{
  auto & holder = detail::DefaultContext::instance();
  const std::lock_guard lock(holder.mutex);
  if (!holder.context) {
    holder.context = Context::make();
  }
  return holder.context;
}

}  // namespace contexts

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
/// Not to be called by a handler of signals. The reason is accepted for rclcpp's users.
inline bool shutdown(
  const Context::SharedPtr & context = nullptr, [[maybe_unused]] const std::string & reason = {})
{
  Context::SharedPtr to_end = context;
  if (!to_end) {
    auto & holder = detail::DefaultContext::instance();
    const std::lock_guard lock(holder.mutex);
    to_end = holder.context;
  }
  if (!to_end || !to_end->is_valid()) {
    return false;
  }
  to_end->shutdown();
  return true;
}

}  // namespace sinew

#endif  // SINEW_CONTEXT_HPP
