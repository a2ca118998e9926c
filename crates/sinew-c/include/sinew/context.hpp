/// The process's presence in a domain; `sinew/init.hpp` begins and ends the usual one.
#ifndef SINEW_CONTEXT_HPP
#define SINEW_CONTEXT_HPP

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/detail/strings.hpp"
#include "sinew/error.hpp"
#include "sinew/init_options.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// Stands for a callback that `Context` removes.
struct ShutdownCallbackHandle
{
  std::weak_ptr<sinew_shutdown_handler> handler;
};
using OnShutdownCallbackHandle = ShutdownCallbackHandle;
using PreShutdownCallbackHandle = ShutdownCallbackHandle;

/// A process's presence in a domain: the root of its nodes. Most programs use the default one,
/// which `init` makes. Any thread may call any function.
class Context
{
public:
  using SharedPtr = std::shared_ptr<Context>;
  using WeakPtr = std::weak_ptr<Context>;

  /// A context that is not valid before its `init`.
  Context() = default;
  Context(const Context &) = delete;
  Context & operator=(const Context &) = delete;

  /// Makes a context. The command line may have `--ros-args`: names, remapping, parameters. If the
  /// options want it, handlers are installed for the signals, unless the process has some.
  static Result<SharedPtr> try_make(
    int argc = 0, const char * const * argv = nullptr, const InitOptions & options = {},
    SignalHandlerOptions signals = SignalHandlerOptions::All)
  {
    auto made = std::make_shared<Context>();
    if (const auto begun = made->begin(argc, argv, options, signals); !begun) {
      return begun.error();
    }
    return made;
  }

  static SharedPtr make(
    int argc = 0, const char * const * argv = nullptr, const InitOptions & options = {},
    SignalHandlerOptions signals = SignalHandlerOptions::All)
  {
    return try_make(argc, argv, options, signals).value();
  }

  /// Begins a context that was made without a domain, or begins it once more after a shutdown: what
  /// was made before stays shut down. Installs no handlers of signals. Fails with
  /// `SINEW_ERROR_ALREADY_INITIALIZED` (`ContextAlreadyInitialized`) while it is valid.
  void init(int argc, const char * const * argv, const InitOptions & options = {})
  {
    try_init(argc, argv, options).value();
  }
  Result<void> try_init(int argc, const char * const * argv, const InitOptions & options = {})
  {
    return begin(argc, argv, options, SignalHandlerOptions::None);
  }

  /// Takes over a handle of the C interface.
  static SharedPtr adopt(sinew_context * handle)
  {
    auto made = std::make_shared<Context>();
    made->keep(ContextHandle(handle));
    return made;
  }

  /// Whether it was initialised and not shut down.
  bool is_valid() const noexcept
  {
    const auto * const context = handle();
    return context != nullptr && sinew_context_is_valid(context);
  }

  /// The options with which it began last.
  InitOptions get_init_options() const
  {
    const std::lock_guard lock(mutex_);
    return options_;
  }

  /// Ends everything that waits or spins in it; later operations fail. Returns whether it was
  /// valid. Never blocks, except for the callbacks; any thread may call it.
  bool shutdown(const std::string & reason = "it was shut down by the program")
  {
    if (!is_valid()) {
      return false;
    }
    return sinew_context_shutdown_because(handle(), reason.c_str()) == SINEW_OK;
  }

  /// Why it was shut down: the reason that was given, or the name of the signal; empty if it
  /// wasn't.
  std::string shutdown_reason() const
  {
    if (handle() == nullptr) {
      return {};
    }
    detail::StringsHandle reason;
    detail::check(sinew_context_shutdown_reason(handle(), detail::Out(reason)));
    const char * const text =
      sinew_strings_length(reason.get()) == 0 ? "" : sinew_strings_at(reason.get(), 0);
    return text;
  }

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
    return try_add(sinew_context_on_shutdown, std::move(callback));
  }

  /// Removes a callback. Returns whether it was there.
  bool remove_on_shutdown_callback(const OnShutdownCallbackHandle & callback)
  {
    return remove(callback);
  }

  /// Calls a function before the context is shut down, while everything in it still works; never,
  /// if it is shut down already. Otherwise as `add_on_shutdown_callback`.
  template<class F>
  PreShutdownCallbackHandle add_pre_shutdown_callback(F callback)
  {
    return try_add_pre_shutdown_callback(std::move(callback)).value();
  }
  template<class F>
  Result<PreShutdownCallbackHandle> try_add_pre_shutdown_callback(F callback)
  {
    return try_add(sinew_context_on_pre_shutdown, std::move(callback));
  }
  bool remove_pre_shutdown_callback(const PreShutdownCallbackHandle & callback)
  {
    return remove(callback);
  }

  std::size_t get_domain_id() const noexcept {return sinew_context_domain(handle());}

  /// Sleeps for a duration of real time. Returns whether the context is still valid.
  bool sleep_for(const std::chrono::nanoseconds & duration) const
  {
    const auto status = sinew_context_sleep_for(handle(), SINEW_CLOCK_STEADY, duration.count());
    if (status != SINEW_ERROR_SHUTDOWN) {
      detail::check(status);
    }
    return status == SINEW_OK;
  }

  /// The handle of the C interface; null before it began.
  sinew_context * handle() const noexcept {return current_.load(std::memory_order_acquire);}

private:
  using ContextHandle = detail::Handle<sinew_context, sinew_context_free>;

  Result<void> begin(
    int argc, const char * const * argv, const InitOptions & options, SignalHandlerOptions signals)
  {
    auto settings = detail::options<sinew_context_options>();
    settings.argc = argc;
    settings.argv = argv;
    settings.has_domain = options.domain_id.has_value();
    settings.domain = options.domain_id.value_or(0);
    settings.directory = options.directory ? options.directory->c_str() : nullptr;
    settings.shared_memory = options.shared_memory ? SINEW_DEFAULT : SINEW_NO;
    settings.interrupts = options.shutdown_on_signal ? SINEW_YES : SINEW_NO;
    settings.signals = static_cast<sinew_signals>(signals);
    const std::lock_guard lock(mutex_);
    if (is_valid()) {
      return Error(
        SINEW_ERROR_ALREADY_INITIALIZED,
        "the context is initialised already: shut it down first, or make another one");
    }
    ContextHandle made;
    if (const auto status = sinew_context_new(&settings, detail::Out(made)); status != SINEW_OK) {
      return Error::last(status);
    }
    options_ = options;
    keep(std::move(made));
    return {};
  }

  /// Former handles stay: other threads may be using them.
  void keep(ContextHandle made)
  {
    current_.store(made.get(), std::memory_order_release);
    handles_.push_back(std::move(made));
  }

  template<class Add, class F>
  Result<ShutdownCallbackHandle> try_add(Add add, F callback)
  {
    if (handle() == nullptr) {
      return Error(
        SINEW_ERROR_INVALID_ARGUMENT, "a context has no callbacks for its end before its init");
    }
    const auto call = [](void * context) noexcept {(*static_cast<F *>(context))();};
    detail::Handle<sinew_shutdown_handler, sinew_shutdown_handler_free> made;
    const auto status = add(
      handle(), call, detail::context_of(std::move(callback)), detail::drop_context<F>,
      detail::Out(made));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    const std::lock_guard lock(mutex_);
    shutdown_handlers_.emplace_back(std::move(made));
    return ShutdownCallbackHandle{shutdown_handlers_.back()};
  }

  bool remove(const ShutdownCallbackHandle & callback)
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

  std::atomic<sinew_context *> current_{nullptr};
  mutable std::mutex mutex_;
  InitOptions options_;
  std::vector<ContextHandle> handles_;
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

/// Makes this context the default one, if there is none that was not shut down: components find
/// that of their container.
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

}  // namespace sinew

#endif  // SINEW_CONTEXT_HPP
