// What `rmw_init` makes: the process's presence in a domain.
#pragma once

#include <memory>

#include "rmw/init.h"
#include "sinew/sinew.h"

#include "waitable.hpp"

/// rmw names this type and leaves its content to the implementation.
struct rmw_context_impl_s {
  sinew_context * context = nullptr;
  /// What the context was made with.
  sinew_context_options options{};
  /// Ready when the context is shut down. Wait sets share it, as they may live longer.
  std::shared_ptr<rmw_sinew::Waitable> shutdown = std::make_shared<rmw_sinew::Waitable>();

  ~rmw_context_impl_s() { sinew_context_free(context); }
};

namespace rmw_sinew {

/// Returns Sinew's context. `context` was checked.
inline const sinew_context * context_of(const rmw_context_t & context)
{
  return context.impl->context;
}

}  // namespace rmw_sinew
