/// File descriptors of the program - sockets, pipes, serial lines - with callbacks in an executor.
#ifndef SINEW_DESCRIPTOR_SOURCE_HPP
#define SINEW_DESCRIPTOR_SOURCE_HPP

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "sinew/callback_group.hpp"
#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// For what a file descriptor is ready: `readable`, `writable`, `closed`, `failed`.
using Readiness = sinew_readiness;

/// What a descriptor source waits for.
enum class DescriptorEvent
{
  Readable,
  Writable,
};

/// Runs a callback whenever a file descriptor is ready, again and again as long as it is. Nodes
/// make them: `Node::create_descriptor_source`.
///
/// Its destruction ends it, as that of a timer does.
class DescriptorSource
{
public:
  using SharedPtr = std::shared_ptr<DescriptorSource>;

  /// Makes a source, which keeps a duplicate of the descriptor: the caller may close it. The
  /// descriptor should not block when it is read, as another thread may have read before. The
  /// callback takes nothing or a `const Readiness &`; an exception of it ends the spin, which
  /// throws it. Fails for a regular file, and for a descriptor that is not open.
  template<class F>
  static Result<SharedPtr> try_make(
    const sinew_node * node, int descriptor, F callback,
    DescriptorEvent event = DescriptorEvent::Readable,
    const CallbackGroup::SharedPtr & group = nullptr)
  {
    auto settings = detail::options<sinew_descriptor_source_options>();
    settings.group = detail::handle_of(group);
    settings.writable = event == DescriptorEvent::Writable;
    Handle handle;
    const auto status = sinew_descriptor_source_new(
      node, descriptor, &settings, &run<F>, detail::context_of(std::move(callback)),
      detail::drop_context<F>, detail::Out(handle));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return SharedPtr(new DescriptorSource(std::move(handle)));
  }

  ~DescriptorSource() {(void)sinew_descriptor_source_close(handle());}
  DescriptorSource(const DescriptorSource &) = delete;
  DescriptorSource & operator=(const DescriptorSource &) = delete;

  /// The handle of the C interface.
  sinew_descriptor_source * handle() const noexcept {return handle_.get();}

private:
  using Handle = detail::Handle<sinew_descriptor_source, sinew_descriptor_source_free>;

  explicit DescriptorSource(Handle handle) noexcept
  : handle_(std::move(handle)) {}

  template<class F>
  static sinew_status run(void * context, const sinew_readiness * readiness)
  {
    auto & function = *static_cast<F *>(context);
    return detail::guarded(
      [&function, readiness] {
        if constexpr (std::is_invocable_v<F &>) {
          (void)readiness;
          std::invoke(function);
        } else {
          std::invoke(function, *readiness);
        }
      });
  }

  Handle handle_;
};

}  // namespace sinew

#endif  // SINEW_DESCRIPTOR_SOURCE_HPP
