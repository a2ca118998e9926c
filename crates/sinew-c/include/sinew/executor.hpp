/// Executors: threads that run callbacks. `sinew/executors.hpp` has their kinds.
#ifndef SINEW_EXECUTOR_HPP
#define SINEW_EXECUTOR_HPP

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sinew/callback_group.hpp"
#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/detail/nanoseconds.hpp"
#include "sinew/error.hpp"
#include "sinew/executor_options.hpp"
#include "sinew/future_return_code.hpp"
#include "sinew/init.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// An executor: it runs the callbacks of the nodes and groups that were added to it, in the order
/// in which their messages arrived and their timers were due.
///
/// One thread at a time spins it; nodes and groups may be added and removed meanwhile. An exception
/// of a callback ends the spin and comes out of it, unless the options say that it is logged. After
/// a shutdown of the nodes' context each spin returns at once. A timeout is of real time; a
/// negative one is for ever.
class Executor
{
public:
  using SharedPtr = std::shared_ptr<Executor>;
  using WeakPtr = std::weak_ptr<Executor>;
  using UniquePtr = std::unique_ptr<Executor>;

  /// Ends the executor; what it served waits for another one.
  virtual ~Executor() = default;
  Executor(const Executor &) = delete;
  Executor & operator=(const Executor &) = delete;

  /// Adds a node: all its present and future groups that no other executor serves. If the node's
  /// context is shut down, the next spin returns at once, and the node can be removed as if it were
  /// served. Fails if another executor serves the node.
  template<class NodeT>
  void add_node(const std::shared_ptr<NodeT> & node, bool notify = true)
  {
    (void)notify;
    try_add_node(*node).value();
  }
  template<class NodeT>
  Result<void> try_add_node(const NodeT & node)
  {
    const auto outcome = added(sinew_executor_add_node(handle(), node.handle()), node.handle());
    if (outcome) {
      node.set_executor(handle_);
    }
    return outcome;
  }

  /// Removes a node: its callbacks wait for another executor. Waits for those that are running on
  /// other threads. Fails if the node was not added, and the executor serves none of its groups.
  template<class NodeT>
  void remove_node(const std::shared_ptr<NodeT> & node, bool notify = true)
  {
    (void)notify;
    try_remove_node(*node).value();
  }
  template<class NodeT>
  Result<void> try_remove_node(const NodeT & node)
  {
    return removed(sinew_executor_remove_node(handle(), node.handle()), node.handle());
  }

  /// Adds a group. To have an executor of its own it must be added before its node is added to
  /// another one, or be made with `create_callback_group(type, false)`.
  void add_callback_group(const CallbackGroup::SharedPtr & group)
  {
    try_add_callback_group(*group).value();
  }
  template<class NodeT>
  void add_callback_group(
    const CallbackGroup::SharedPtr & group, const std::shared_ptr<NodeT> & node, bool notify = true)
  {
    (void)node;
    (void)notify;
    add_callback_group(group);
  }
  Result<void> try_add_callback_group(const CallbackGroup & group)
  {
    return added(sinew_executor_add_group(handle(), group.handle()), group.handle());
  }

  /// Removes a group, as `remove_node`.
  void remove_callback_group(const CallbackGroup::SharedPtr & group, bool notify = true)
  {
    (void)notify;
    try_remove_callback_group(*group).value();
  }
  Result<void> try_remove_callback_group(const CallbackGroup & group)
  {
    return removed(sinew_executor_remove_group(handle(), group.handle()), group.handle());
  }

  /// Runs callbacks until `cancel` or a shutdown, also of nodes that are added meanwhile. Fails if
  /// another thread spins the executor.
  void spin()
  {
    const Spin spin(*this);
    auto status = sinew_executor_spin(handle());
    while (status == SINEW_ERROR_NOTHING_TO_SPIN && ok()) {
      status = sinew_executor_spin(handle());
    }
    if (status != SINEW_ERROR_NOTHING_TO_SPIN || !detail::is_default_context_shut_down()) {
      detail::check_spin(status);
    }
  }
  /// As above, with the sentence of a callback that failed, which names what it belongs to. Fails
  /// also if there is nothing to run for two seconds.
  Result<void> try_spin()
  {
    const Spin spin(*this);
    return detail::result(sinew_executor_spin(handle()));
  }

  /// Runs the callbacks that are ready now on this thread, and none that becomes ready meanwhile.
  /// Doesn't wait. After `max_duration` it begins no other callback; 0: no limit.
  void spin_some(std::chrono::nanoseconds max_duration = std::chrono::nanoseconds(0))
  {
    const Spin spin(*this);
    detail::check_spin(sinew_executor_spin_some_for(handle(), limit_of(max_duration), nullptr));
  }
  Result<void> try_spin_some(std::chrono::nanoseconds max_duration = std::chrono::nanoseconds(0))
  {
    const Spin spin(*this);
    return detail::result(
      sinew_executor_spin_some_for(handle(), limit_of(max_duration), nullptr));
  }

  /// Runs the callbacks that are ready on this thread, and those that become ready meanwhile, until
  /// none is left or `max_duration` has passed; 0: no limit. Doesn't wait.
  void spin_all(std::chrono::nanoseconds max_duration)
  {
    const Spin spin(*this);
    detail::check_spin(sinew_executor_spin_all(handle(), limit_of(max_duration), nullptr));
  }
  Result<void> try_spin_all(std::chrono::nanoseconds max_duration)
  {
    const Spin spin(*this);
    return detail::result(sinew_executor_spin_all(handle(), limit_of(max_duration), nullptr));
  }

  /// Runs one callback on this thread, and waits for one for at most `timeout`.
  void spin_once(std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1))
  {
    (void)has_run_one(timeout);
  }
  /// As above; returns whether a callback ran.
  Result<bool> try_spin_once(std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1))
  {
    const Spin spin(*this);
    bool ran = false;
    const auto status = sinew_executor_spin_once(handle(), timeout.count(), &ran);
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return ran;
  }

  /// As `spin_once`, `spin_some` and `spin_all`, with a node that is added before and removed
  /// after.
  template<class NodeT>
  void spin_node_once(
    const std::shared_ptr<NodeT> & node,
    std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1))
  {
    const Visit<NodeT> visit(*this, node);
    spin_once(timeout);
  }
  template<class NodeT>
  void spin_node_some(const std::shared_ptr<NodeT> & node)
  {
    const Visit<NodeT> visit(*this, node);
    spin_some();
  }
  template<class NodeT>
  void spin_node_all(const std::shared_ptr<NodeT> & node, std::chrono::nanoseconds max_duration)
  {
    const Visit<NodeT> visit(*this, node);
    spin_all(max_duration);
  }

  /// Runs callbacks on this thread until a future is ready: a `std::future`, a
  /// `std::shared_future`, or what has `wait_for` as they have. One of these callbacks should make
  /// it ready, as that of a client does: a future that another thread completes is looked at after
  /// the next callback. Unless the future is ready, at least one callback runs that is ready, also
  /// with a timeout of 0.
  template<class FutureT, class Rep = std::int64_t, class Period = std::milli>
  FutureReturnCode spin_until_future_complete(
    const FutureT & future,
    std::chrono::duration<Rep, Period> timeout = std::chrono::duration<Rep, Period>(-1))
  {
    using Steady = std::chrono::steady_clock;
    const std::chrono::nanoseconds limit(detail::saturated(timeout));
    const auto begin = Steady::now();
    const std::chrono::seconds none(0);
    while (future.wait_for(none) != std::future_status::ready) {
      std::chrono::nanoseconds left(-1);
      if (limit.count() >= 0) {
        left = std::max<std::chrono::nanoseconds>(limit - (Steady::now() - begin), none);
      }
      const bool has_run = has_run_one(left);
      if (future.wait_for(none) == std::future_status::ready) {
        break;
      }
      if (limit.count() >= 0 && Steady::now() - begin >= limit) {
        return FutureReturnCode::TIMEOUT;
      }
      if (!has_run) {
        return FutureReturnCode::INTERRUPTED;
      }
    }
    return FutureReturnCode::SUCCESS;
  }

  /// As `spin_until_future_complete`, with a node that is added before and removed after.
  template<class NodeT, class FutureT, class Rep = std::int64_t, class Period = std::milli>
  FutureReturnCode spin_node_until_future_complete(
    const std::shared_ptr<NodeT> & node, const FutureT & future,
    std::chrono::duration<Rep, Period> timeout = std::chrono::duration<Rep, Period>(-1))
  {
    const Visit<NodeT> visit(*this, node);
    return spin_until_future_complete(future, timeout);
  }

  /// Ends the current spin after its running callbacks, or the next one if none is going on. Never
  /// blocks; any thread may call it.
  void cancel() {detail::check(sinew_executor_stop(handle()));}

  /// Whether a thread is in one of the functions that spin; any thread may ask.
  bool is_spinning() const noexcept {return spins_.load(std::memory_order_relaxed) > 0;}

  /// Returns the number of threads that run callbacks while it spins.
  std::size_t get_number_of_threads() const noexcept {return sinew_executor_threads(handle());}

  /// Returns a file descriptor for the event loop of another library: it is readable while no
  /// thread spins the executor and a callback is ready; the loop then calls `spin_some`. It belongs
  /// to the executor.
  int descriptor() const
  {
    int descriptor = -1;
    detail::check(sinew_executor_descriptor(handle(), &descriptor));
    return descriptor;
  }

  /// The handle of the C interface.
  sinew_executor * handle() const noexcept {return handle_.get();}

protected:
  using Handle = detail::Handle<sinew_executor, sinew_executor_free>;

  explicit Executor(Handle handle)
  : handle_(std::move(handle)) {}

  /// 0 threads: one for each core that the process may use.
  static Result<Handle> try_handle(const ExecutorOptions & options, std::size_t threads)
  {
    auto settings = detail::options<sinew_executor_options>();
    settings.threads = threads;
    settings.one_per_core = threads == 0;
    settings.timer_thread = options.timer_thread;
    settings.caller_runs = options.caller_runs;
    settings.lock_memory = options.lock_memory;
    settings.realtime_priority = options.realtime_priority;
    settings.placement = static_cast<sinew_placement>(options.placement);
    settings.cores = options.cores.data();
    settings.core_count = options.cores.size();
    settings.spin_before_park = options.spin_before_park.count();
    settings.on_error = static_cast<sinew_fault_policy>(options.on_error);
    settings.dispatch_order = static_cast<sinew_dispatch_order>(options.dispatch_order);
    Handle handle;
    if (const auto status = sinew_executor_new(&settings, detail::Out(handle));
      status != SINEW_OK)
    {
      return Error::last(status);
    }
    return handle;
  }

private:
  /// A call of a function that spins. Relaxed: nothing is published by the number.
  class Spin
  {
public:
    explicit Spin(Executor & executor) noexcept
    : spins_(executor.spins_) {spins_.fetch_add(1, std::memory_order_relaxed);}
    ~Spin() {spins_.fetch_sub(1, std::memory_order_relaxed);}
    Spin(const Spin &) = delete;
    Spin & operator=(const Spin &) = delete;

private:
    std::atomic<int> & spins_;
  };

  /// A node that is served during a call.
  template<class NodeT>
  class Visit
  {
  public:
    Visit(Executor & executor, const std::shared_ptr<NodeT> & node)
    : executor_(executor), node_(node) {executor.add_node(node);}
    ~Visit() {(void)executor_.try_remove_node(*node_);}
    Visit(const Visit &) = delete;
    Visit & operator=(const Visit &) = delete;

  private:
    Executor & executor_;
    const std::shared_ptr<NodeT> & node_;
  };

  Result<void> added(sinew_status status, const void * what)
  {
    if (status == SINEW_ERROR_SHUTDOWN) {
      const std::lock_guard lock(mutex_);
      if (std::find(too_late_.begin(), too_late_.end(), what) == too_late_.end()) {
        too_late_.push_back(what);
      }
      // What was added before the shutdown ends the spin as well.
      return detail::result(sinew_executor_stop(handle()));
    }
    return detail::result(status);
  }

  Result<void> removed(bool was_served, const void * what)
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find(too_late_.begin(), too_late_.end(), what);
    if (found != too_late_.end()) {
      too_late_.erase(found);
    } else if (!was_served) {
      return Error(
        SINEW_ERROR_SERVED_ELSEWHERE,
        "the executor does not serve it: remove what was added before");
    }
    return {};
  }

  /// The limit of a spin, as the C interface has it: for ever is negative.
  static sinew_duration limit_of(std::chrono::nanoseconds max_duration) noexcept
  {
    return max_duration.count() == 0 ? -1 : max_duration.count();
  }

  /// As `spin_once`; returns whether a callback ran.
  bool has_run_one(std::chrono::nanoseconds timeout)
  {
    const Spin spin(*this);
    bool ran = false;
    detail::check_spin(sinew_executor_spin_once(handle(), timeout.count(), &ran));
    return ran;
  }

  /// Known to the nodes that were added.
  std::shared_ptr<sinew_executor> handle_;
  std::atomic<int> spins_{0};
  std::mutex mutex_;
  /// The handles of nodes and groups that were added after their context's shutdown: a program that
  /// is ended early adds and removes as any other. Only compared.
  std::vector<const void *> too_late_;
};

}  // namespace sinew

#endif  // SINEW_EXECUTOR_HPP
