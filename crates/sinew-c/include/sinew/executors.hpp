/// The kinds of executors, and functions that spin a node by one of their own.
#ifndef SINEW_EXECUTORS_HPP
#define SINEW_EXECUTORS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "sinew/error.hpp"
#include "sinew/executor.hpp"
#include "sinew/executor_options.hpp"

namespace sinew
{

namespace executors
{

/// Runs all callbacks on the thread that spins.
class SingleThreadedExecutor : public Executor
{
public:
  using SharedPtr = std::shared_ptr<SingleThreadedExecutor>;

  explicit SingleThreadedExecutor(const ExecutorOptions & options = ExecutorOptions())
  : Executor(try_handle(options, 1).value()) {}

  /// Makes an executor, or returns why its options can't be honoured.
  static Result<SharedPtr> try_make(const ExecutorOptions & options = ExecutorOptions())
  {
    auto handle = try_handle(options, 1);
    if (!handle) {
      return handle.error();
    }
    return SharedPtr(new SingleThreadedExecutor(*std::move(handle)));
  }

  static SharedPtr make_shared(const ExecutorOptions & options = ExecutorOptions())
  {
    return std::make_shared<SingleThreadedExecutor>(options);
  }

private:
  explicit SingleThreadedExecutor(Handle handle) noexcept
  : Executor(std::move(handle)) {}
};

/// Runs callbacks of different groups, and those of reentrant ones, at the same time. `spin` uses
/// all its threads, with the one that calls it; the other functions use this thread alone.
class MultiThreadedExecutor : public Executor
{
public:
  using SharedPtr = std::shared_ptr<MultiThreadedExecutor>;

  /// 0 threads: one for each core that the process may use; 61 at most. The last two are accepted
  /// for rclcpp's users.
  explicit MultiThreadedExecutor(
    const ExecutorOptions & options = ExecutorOptions(), std::size_t number_of_threads = 0,
    bool yield_before_execute = false,
    std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1))
  : Executor(try_handle(options, number_of_threads).value())
  {
    (void)yield_before_execute;
    (void)timeout;
  }

  /// Makes an executor, or returns why its options can't be honoured.
  static Result<SharedPtr> try_make(
    const ExecutorOptions & options = ExecutorOptions(), std::size_t number_of_threads = 0)
  {
    auto handle = try_handle(options, number_of_threads);
    if (!handle) {
      return handle.error();
    }
    return SharedPtr(new MultiThreadedExecutor(*std::move(handle)));
  }

  static SharedPtr make_shared(
    const ExecutorOptions & options = ExecutorOptions(), std::size_t number_of_threads = 0)
  {
    return std::make_shared<MultiThreadedExecutor>(options, number_of_threads);
  }

private:
  explicit MultiThreadedExecutor(Handle handle) noexcept
  : Executor(std::move(handle)) {}
};

/// Every executor here takes events in their order and looks at no entity that has none.
using StaticSingleThreadedExecutor = SingleThreadedExecutor;

/// As `Executor::spin_node_until_future_complete`.
template<class NodeT, class FutureT, class Rep = std::int64_t, class Period = std::milli>
FutureReturnCode spin_node_until_future_complete(
  Executor & executor, const std::shared_ptr<NodeT> & node, const FutureT & future,
  std::chrono::duration<Rep, Period> timeout = std::chrono::duration<Rep, Period>(-1))
{
  return executor.spin_node_until_future_complete(node, future, timeout);
}

namespace experimental
{

/// As in rclcpp, where it is the one that takes events in their order.
using EventsExecutor = SingleThreadedExecutor;

}  // namespace experimental

using experimental::EventsExecutor;

}  // namespace executors

namespace experimental::executors
{

using ::sinew::executors::EventsExecutor;

}  // namespace experimental::executors

/// Runs the callbacks of a node on this thread until its context is shut down.
template<class NodeT>
void spin(const std::shared_ptr<NodeT> & node)
{
  executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  executor.spin();
}

/// Runs the callbacks of a node that are ready now. Makes an executor for the call: a loop should
/// have one of its own.
template<class NodeT>
void spin_some(const std::shared_ptr<NodeT> & node)
{
  executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  executor.spin_some();
}

/// Runs the callbacks of a node until none is ready or `max_duration` has passed; 0: no limit.
template<class NodeT>
void spin_all(const std::shared_ptr<NodeT> & node, std::chrono::nanoseconds max_duration)
{
  executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  executor.spin_all(max_duration);
}

/// Runs the callbacks of a node until a future is ready: `Executor::spin_until_future_complete`.
template<class NodeT, class FutureT, class Rep = std::int64_t, class Period = std::milli>
FutureReturnCode spin_until_future_complete(
  const std::shared_ptr<NodeT> & node, const FutureT & future,
  std::chrono::duration<Rep, Period> timeout = std::chrono::duration<Rep, Period>(-1))
{
  executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  return executor.spin_until_future_complete(future, timeout);
}

}  // namespace sinew

#endif  // SINEW_EXECUTORS_HPP
