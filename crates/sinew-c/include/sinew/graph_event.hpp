/// Changes of the graph.
#ifndef SINEW_GRAPH_EVENT_HPP
#define SINEW_GRAPH_EVENT_HPP

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "sinew/detail/handle.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// Is set by changes of the graph: a node, publisher, subscription, service or client has come or
/// gone. Nodes make them: `Node::get_graph_event`. For one waiting thread each.
class Event
{
public:
  using SharedPtr = std::shared_ptr<Event>;
  using WeakPtr = std::weak_ptr<Event>;

  /// Makes an event that changes from now on set.
  static Result<SharedPtr> try_make(const sinew_graph * graph)
  {
    SharedPtr made(new Event);
    const auto status = sinew_graph_changes_new(graph, detail::Out(made->changes_));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return made;
  }

  /// Sets it.
  void set() noexcept {is_set_ = true;}

  /// Whether it is set.
  bool check()
  {
    if (!is_set_) {
      (void)try_wait(std::chrono::nanoseconds(0)).value();
    }
    return is_set_;
  }

  /// As above, and clears it.
  bool check_and_clear() {return check() && is_set_.exchange(false);}

  /// Blocks until it is set, for at most `timeout` (negative: no limit), or until the context is
  /// shut down. Returns whether it is set. Fails with `SINEW_ERROR_BUSY` if another thread waits
  /// for it.
  Result<bool> try_wait(std::chrono::nanoseconds timeout)
  {
    bool has_changed = is_set_;
    if (!has_changed) {
      const auto status = sinew_graph_changes_wait(changes_.get(), timeout.count(), &has_changed);
      if (status != SINEW_OK) {
        return Error::last(status);
      }
      if (has_changed) {
        set();
      }
    }
    return has_changed;
  }

private:
  Event() = default;

  detail::Handle<sinew_graph_changes, sinew_graph_changes_free> changes_;
  std::atomic<bool> is_set_{false};
};

}  // namespace sinew

#endif  // SINEW_GRAPH_EVENT_HPP
