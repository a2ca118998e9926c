/// Callback groups: which callbacks may run at the same time.
#ifndef SINEW_CALLBACK_GROUP_HPP
#define SINEW_CALLBACK_GROUP_HPP

#include <cstdint>
#include <memory>
#include <utility>

#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew
{

enum class CallbackGroupType
{
  /// One callback of the group at a time.
  MutuallyExclusive = SINEW_GROUP_MUTUALLY_EXCLUSIVE,
  /// Any number at once, the same callback several times, too.
  Reentrant = SINEW_GROUP_REENTRANT,
};

/// A callback group of a node. Nodes make them: `Node::create_callback_group`.
class CallbackGroup
{
public:
  using SharedPtr = std::shared_ptr<CallbackGroup>;
  using WeakPtr = std::weak_ptr<CallbackGroup>;

  static Result<SharedPtr> try_make(
    const sinew_node * node, CallbackGroupType type, std::int32_t priority = 0)
  {
    auto settings = detail::options<sinew_group_options>();
    settings.kind = static_cast<sinew_group_kind>(type);
    settings.priority = priority;
    GroupHandle handle;
    if (const auto status = sinew_group_new(node, &settings, detail::Out(handle));
      status != SINEW_OK)
    {
      return Error::last(status);
    }
    return SharedPtr(new CallbackGroup(std::move(handle), type));
  }

  /// Returns the default group of a node, in which what was made without a group is.
  static Result<SharedPtr> try_default_of(const sinew_node * node)
  {
    GroupHandle handle;
    if (const auto status = sinew_node_default_group(node, detail::Out(handle));
      status != SINEW_OK)
    {
      return Error::last(status);
    }
    return SharedPtr(new CallbackGroup(std::move(handle), CallbackGroupType::MutuallyExclusive));
  }

  CallbackGroupType type() const noexcept {return type_;}

  /// Changes the priority: of the groups that are ready, an executor runs those of the highest
  /// priority first. It interrupts no callback.
  void set_priority(std::int32_t priority)
  {
    detail::check(sinew_group_set_priority(handle(), priority));
  }

  /// Has executors run none of its callbacks until `resume`. Messages wait meanwhile.
  void pause() {detail::check(sinew_group_pause(handle()));}
  void resume() {detail::check(sinew_group_resume(handle()));}

  /// Runs a function object once in the group, in order with its messages and timers. Any thread
  /// may post, also a callback; never blocks. An exception of it ends the spin, which throws it.
  template<class F>
  void post(F work) {try_post(std::move(work)).value();}
  template<class F>
  Result<void> try_post(F work)
  {
    return detail::result(
      sinew_group_post(
        handle(), &detail::run_work<F>, detail::context_of(std::move(work)),
        detail::drop_context<F>));
  }

  /// The handle of the C interface.
  sinew_group * handle() const noexcept {return handle_.get();}

private:
  using GroupHandle = detail::Handle<sinew_group, sinew_group_free>;

  CallbackGroup(GroupHandle handle, CallbackGroupType type) noexcept
  : handle_(std::move(handle)), type_(type) {}

  GroupHandle handle_;
  CallbackGroupType type_;
};

namespace detail
{

/// Returns the handle for an options structure: null is the node's default group.
inline sinew_group * handle_of(const CallbackGroup::SharedPtr & group) noexcept
{
  return group ? group->handle() : nullptr;
}

}  // namespace detail

}  // namespace sinew

#endif  // SINEW_CALLBACK_GROUP_HPP
