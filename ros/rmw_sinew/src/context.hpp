// What `rmw_init` makes: the process's presence in a domain.
#pragma once

#include <atomic>

#include "rmw/init.h"
#include "sinew/sinew.h"

/// rmw names this type and leaves its content to the implementation.
struct rmw_context_impl_s {
  sinew_context * context = nullptr;
  /// What the context was made with.
  sinew_context_options options{};
  std::atomic<bool> is_shut_down{false};

  ~rmw_context_impl_s() { sinew_context_free(context); }
};

namespace rmw_sinew {

/// Returns Sinew's context. `context` was checked.
inline const sinew_context * context_of(const rmw_context_t & context)
{
  return context.impl->context;
}

}  // namespace rmw_sinew
