/// Listeners: functions that are called with the number of new things.
#ifndef SINEW_DETAIL_LISTENER_HPP
#define SINEW_DETAIL_LISTENER_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "sinew/detail/callback.hpp"
#include "sinew/detail/log_line.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew::detail
{

/// A listener, as the context of its call.
using ListenerFunction = std::function<void (std::size_t)>;

inline void call_listener(void * context, std::uint64_t count) noexcept
{
  const auto call = [&] {
      (*static_cast<ListenerFunction *>(context))(static_cast<std::size_t>(count));
    };
  if (guarded(call) != SINEW_OK) {
    const std::string sentence = std::string("a listener failed: ") + sinew_error_message();
    log_line(nullptr, SINEW_LOG_LEVEL_ERROR, sentence.c_str());
  }
}

/// Sets a listener by the functions of the C interface, or clears it if it is null.
///
/// The rule of all listeners: what waits already is reported at once, on this thread; each new
/// thing on the thread that brings it, where several may call at once. The listener should only
/// wake others. An exception is logged: the thread on which it runs isn't the listener's.
template<class Handle, class Listener>
void set_listener(
  Handle * handle,
  sinew_status (* set)(const Handle *, Listener, void *, sinew_drop),
  sinew_status (* clear)(const Handle *),
  ListenerFunction listener)
{
  check(
    listener ?
    set(
      handle, &call_listener, context_of(std::move(listener)), &drop_context<ListenerFunction>) :
    clear(handle));
}

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_LISTENER_HPP
