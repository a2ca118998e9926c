/// Wait sets: for threads that choose themselves what they run or take next.
#ifndef SINEW_WAIT_SET_HPP
#define SINEW_WAIT_SET_HPP

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "sinew/callback_group.hpp"
#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/detail/nanoseconds.hpp"
#include "sinew/error.hpp"
#include "sinew/executor_options.hpp"
#include "sinew/sinew.h"

namespace sinew
{

class WaitSet;

/// How a wait ended.
enum class WaitResultKind
{
  /// Something is ready.
  Ready,
  /// Nothing was ready in time.
  Timeout,
  /// The wait set has nothing to wait for, and the wait had no timeout.
  Empty,
  /// `WaitSet::stop` was called, or a context was shut down.
  Interrupted,
};

/// An entity that a wait found ready, until the next wait.
class ReadyEntity
{
public:
  /// Whether it is this timer, guard condition, subscription, service or client: an object of this
  /// library, or a `shared_ptr` to one.
  template<class T>
  bool is(const T & entity) const noexcept {return is_handle(entity.handle());}
  template<class T>
  bool is(const std::shared_ptr<T> & entity) const noexcept {return is_handle(entity->handle());}

  /// Runs its callback on this thread, for its oldest message or event. Returns whether one ran:
  /// none does if the entity was emptied or destroyed meanwhile, or has no callback. Throws what
  /// the callback throws, unless the options of the wait set say that it is logged.
  bool run() const
  {
    bool ran = false;
    detail::check_spin(sinew_wait_set_run(set_, index_, &ran));
    return ran;
  }

  /// As above, with the sentence of a callback that failed, which names what it belongs to.
  Result<bool> try_run() const
  {
    bool ran = false;
    const auto status = sinew_wait_set_run(set_, index_, &ran);
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return ran;
  }

  /// Returns a description for people, such as "timer (10ms) of node /blinker".
  std::string describe() const
  {
    const char * text = sinew_wait_set_describe(set_, index_);
    return text ? text : "";
  }

private:
  friend class WaitResult;

  ReadyEntity(const sinew_wait_set * set, std::size_t index) noexcept
  : set_(set), index_(index) {}

  bool is_handle(const sinew_timer * timer) const noexcept
  {
    return sinew_wait_set_is_timer(set_, index_, timer);
  }
  bool is_handle(const sinew_guard_condition * guard) const noexcept
  {
    return sinew_wait_set_is_guard_condition(set_, index_, guard);
  }
  bool is_handle(const sinew_subscription * subscription) const noexcept
  {
    return sinew_wait_set_is_subscription(set_, index_, subscription);
  }
  bool is_handle(const sinew_server * server) const noexcept
  {
    return sinew_wait_set_is_server(set_, index_, server);
  }
  bool is_handle(const sinew_client * client) const noexcept
  {
    return sinew_wait_set_is_client(set_, index_, client);
  }

  const sinew_wait_set * set_;
  std::size_t index_;
};

/// What a wait found: a range of the entities that are ready, in the order in which an executor
/// would run them. It is valid until the next wait.
class WaitResult
{
public:
  class Iterator
  {
  public:
    Iterator(const sinew_wait_set * set, std::size_t index) noexcept
    : set_(set), index_(index) {}
    ReadyEntity operator*() const noexcept {return ReadyEntity(set_, index_);}
    Iterator & operator++() noexcept
    {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator & other) const noexcept {return index_ == other.index_;}
    bool operator!=(const Iterator & other) const noexcept {return index_ != other.index_;}

  private:
    const sinew_wait_set * set_;
    std::size_t index_;
  };

  WaitResultKind kind() const noexcept {return kind_;}
  std::size_t size() const noexcept {return size_;}
  ReadyEntity operator[](std::size_t index) const noexcept {return ReadyEntity(set_, index);}
  Iterator begin() const noexcept {return Iterator(set_, 0);}
  Iterator end() const noexcept {return Iterator(set_, size_);}

  /// Whether an entity is among them.
  template<class T>
  bool contains(const T & entity) const noexcept
  {
    for (const ReadyEntity ready : *this) {
      if (ready.is(entity)) {
        return true;
      }
    }
    return false;
  }

private:
  friend class WaitSet;

  WaitResult(WaitResultKind kind, const sinew_wait_set * set, std::size_t size) noexcept
  : kind_(kind), set_(set), size_(size) {}

  WaitResultKind kind_;
  const sinew_wait_set * set_;
  std::size_t size_;
};

/// Waits until entities are ready, and leaves it to the program to run their callbacks or to take
/// their messages:
///
///     sinew::WaitSet set;
///     set.add_node(node);
///     for (auto ready : set.wait(1s)) {
///       ready.run();
///     }
///
/// For loops with a rule of their own; others take an executor. One thread at a time waits, and
/// callbacks run on it alone. What is neither run nor emptied is ready again at the next wait.
class WaitSet
{
public:
  explicit WaitSet(FaultPolicy on_error = FaultPolicy::Stop)
  {
    auto settings = detail::options<sinew_wait_set_options>();
    settings.on_error = static_cast<sinew_fault_policy>(on_error);
    detail::check(sinew_wait_set_new(&settings, detail::Out(handle_)));
  }

  /// Adds a node with all its callbacks, as `Executor::add_node`.
  template<class NodeT>
  void add_node(const std::shared_ptr<NodeT> & node) {try_add_node(*node).value();}
  template<class NodeT>
  Result<void> try_add_node(const NodeT & node)
  {
    return detail::result(sinew_wait_set_add_node(handle(), node.handle()));
  }

  /// Removes a node. Returns whether it was there.
  template<class NodeT>
  bool remove_node(const std::shared_ptr<NodeT> & node)
  {
    return sinew_wait_set_remove_node(handle(), node->handle());
  }

  /// Adds a group with all its callbacks, as `Executor::add_callback_group`.
  void add_callback_group(const CallbackGroup::SharedPtr & group)
  {
    try_add_callback_group(*group).value();
  }
  Result<void> try_add_callback_group(const CallbackGroup & group)
  {
    return detail::result(sinew_wait_set_add_group(handle(), group.handle()));
  }

  /// Removes a group. Returns whether it was there.
  bool remove_callback_group(const CallbackGroup::SharedPtr & group)
  {
    return sinew_wait_set_remove_group(handle(), group->handle());
  }

  /// Adds a subscription without a callback, from which the program takes messages. Its destruction
  /// removes it.
  template<class SubscriptionT>
  void add_subscription(const std::shared_ptr<SubscriptionT> & subscription)
  {
    try_add_subscription(*subscription).value();
  }
  template<class SubscriptionT>
  Result<void> try_add_subscription(const SubscriptionT & subscription)
  {
    return detail::result(sinew_wait_set_add_subscription(handle(), subscription.handle()));
  }

  /// Waits until something is ready, for at most `timeout` of real time; a negative one is for
  /// ever. Throws if another thread uses the wait set.
  template<class Rep = std::int64_t, class Period = std::milli>
  WaitResult wait(
    std::chrono::duration<Rep, Period> timeout = std::chrono::duration<Rep, Period>(-1))
  {
    return try_wait(timeout).value();
  }
  template<class Rep = std::int64_t, class Period = std::milli>
  Result<WaitResult> try_wait(
    std::chrono::duration<Rep, Period> timeout = std::chrono::duration<Rep, Period>(-1))
  {
    std::size_t count = 0;
    switch (const auto status = sinew_wait_set_wait(handle(), detail::saturated(timeout), &count)) {
      case SINEW_OK:
        return ended(count == 0 ? WaitResultKind::Timeout : WaitResultKind::Ready, count);
      case SINEW_ERROR_NOTHING_TO_SPIN:
        return ended(WaitResultKind::Empty, 0);
      case SINEW_ERROR_STOPPED:
        return ended(WaitResultKind::Interrupted, 0);
      default:
        return Error::last(status);
    }
  }

  /// Ends the current or the next wait. Never blocks; any thread may call it.
  void stop() {detail::check(sinew_wait_set_stop(handle()));}

  /// The handle of the C interface.
  sinew_wait_set * handle() const noexcept {return handle_.get();}

private:
  WaitResult ended(WaitResultKind kind, std::size_t count) const noexcept
  {
    return WaitResult(kind, handle(), count);
  }

  detail::Handle<sinew_wait_set, sinew_wait_set_free> handle_;
};

}  // namespace sinew

#endif  // SINEW_WAIT_SET_HPP
