/// Guard conditions: any thread runs a callback in an executor, or wakes a wait set.
#ifndef SINEW_GUARD_CONDITION_HPP
#define SINEW_GUARD_CONDITION_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "sinew/callback_group.hpp"
#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/detail/listener.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// A guard condition. Nodes make them: `Node::create_guard_condition`.
///
/// Its destruction ends it, as that of a timer does.
class GuardCondition
{
public:
  using SharedPtr = std::shared_ptr<GuardCondition>;
  using WeakPtr = std::weak_ptr<GuardCondition>;

  /// Makes a guard condition. Its callback takes nothing, or the number of triggers since it last
  /// ran, as `std::size_t`. An exception of it ends the spin, which throws it.
  template<class F>
  static Result<SharedPtr> try_make(
    const sinew_node * node, F callback, const CallbackGroup::SharedPtr & group = nullptr)
  {
    auto settings = detail::options<sinew_guard_condition_options>();
    settings.group = detail::handle_of(group);
    Handle handle;
    const auto status = sinew_guard_condition_new(
      node, &settings, &run<F>, detail::context_of(std::move(callback)), detail::drop_context<F>,
      detail::Out(handle));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return SharedPtr(new GuardCondition(std::move(handle)));
  }

  ~GuardCondition() {(void)sinew_guard_condition_close(handle());}
  GuardCondition(const GuardCondition &) = delete;
  GuardCondition & operator=(const GuardCondition &) = delete;

  /// Has an executor run the callback, once for all triggers that came before. Never blocks; any
  /// thread may call it.
  void trigger() {detail::check(sinew_guard_condition_trigger(handle()));}

  /// Has a function called with the number of triggers: with 1 for each, on the thread that
  /// triggers, and at once with the number of those since the callback last ran, if there were any.
  /// Null clears it. An exception is logged.
  void set_on_trigger_callback(std::function<void (std::size_t)> callback)
  {
    detail::set_listener(
      handle(), sinew_guard_condition_set_listener, sinew_guard_condition_clear_listener,
      std::move(callback));
  }

  /// The handle of the C interface.
  sinew_guard_condition * handle() const noexcept {return handle_.get();}

private:
  using Handle = detail::Handle<sinew_guard_condition, sinew_guard_condition_free>;

  explicit GuardCondition(Handle handle) noexcept
  : handle_(std::move(handle)) {}

  template<class F>
  static sinew_status run(void * context, std::uint64_t count)
  {
    auto & function = *static_cast<F *>(context);
    return detail::guarded(
      [&function, count] {
        if constexpr (std::is_invocable_v<F &>) {
          (void)count;
          std::invoke(function);
        } else {
          std::invoke(function, static_cast<std::size_t>(count));
        }
      });
  }

  Handle handle_;
};

}  // namespace sinew

#endif  // SINEW_GUARD_CONDITION_HPP
