/// The options of executors.
#ifndef SINEW_EXECUTOR_OPTIONS_HPP
#define SINEW_EXECUTOR_OPTIONS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sinew/context.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// What an executor or a wait set does about a callback that fails: one that throws.
enum class FaultPolicy
{
  /// Logs it, with the name of the entity, and continues.
  Report = SINEW_FAULT_REPORT,
  /// Ends the spin, which throws the exception.
  Stop = SINEW_FAULT_STOP,
};

/// Where the threads of an executor run while it spins.
enum class Placement
{
  /// On a core of its own each, if there are several.
  Spread = SINEW_PLACEMENT_SPREAD,
  /// Where the kernel puts them.
  Off = SINEW_PLACEMENT_OFF,
  /// On the cores that are listed.
  Cores = SINEW_PLACEMENT_CORES,
};

/// The order in which an executor begins callbacks that are ready.
enum class DispatchOrder
{
  /// The one that has been ready longest begins.
  ByTime = SINEW_DISPATCH_BY_TIME,
  /// What a callback makes ready begins right after it on the same thread, before what was ready
  /// earlier, up to 64 in a row.
  RunNext = SINEW_DISPATCH_RUN_NEXT,
};

/// The options of an executor.
struct ExecutorOptions
{
  /// Accepted for rclcpp's users: an executor ends with the contexts of its nodes.
  Context::SharedPtr context;

  FaultPolicy on_error = FaultPolicy::Stop;

  DispatchOrder dispatch_order = DispatchOrder::ByTime;

  /// Whether a separate thread watches the timers, for executors that are busy with long callbacks
  /// on all threads.
  bool timer_thread = false;

  /// Whether a thread that calls a service may run the server's callback itself, in the place of a
  /// thread of the executor that rests. Excludes `realtime_priority` and listed cores.
  bool caller_runs = false;

  /// Whether all memory of the process is locked into RAM when the executor spins.
  bool lock_memory = false;

  /// The priority of its threads under `SCHED_FIFO` while they spin, 1 (lowest) to 99. 0: none.
  std::uint8_t realtime_priority = 0;

  Placement placement = Placement::Spread;

  /// The numbers of the cores, with `Placement::Cores`.
  std::vector<std::size_t> cores;

  /// The time for which an idle thread looks for messages of other processes before it sleeps,
  /// which keeps a core busy. 0: not at all.
  std::chrono::nanoseconds spin_before_park{0};
};

}  // namespace sinew

#endif  // SINEW_EXECUTOR_OPTIONS_HPP
