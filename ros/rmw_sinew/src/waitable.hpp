// What a wait set waits for, and what reports to the callbacks of an events executor.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "rmw/event_callback_type.h"

namespace rmw_sinew {

/// Wakes one thread in `rmw_wait`.
class Bell {
public:
  /// Any thread may ring; a ring before the wait is not lost.
  void ring();

  /// Waits for a ring, and forgets it. Returns false at `deadline`; the last moment there is means
  /// to wait for ever.
  bool wait_until(std::chrono::steady_clock::time_point deadline);

private:
  std::mutex mutex_;
  std::condition_variable rung_condition_;
  bool rung_ = false;
};

/// Counts arrivals (messages, requests, triggers, changes of a status) and what was taken of them.
///
/// Listeners of Sinew share it with the entity, as they may run a moment longer than the entity
/// lives. An arrival rings the bells of the wait sets that wait right now, and runs the callback.
/// The callback runs under no lock; it may take, and set or clear callbacks.
///
/// The counts may say that more is unread than there is: after messages that gave way to newer
/// ones, or if a message was taken before its listener ran. Then a take that finds nothing corrects
/// them. They never say that less is unread, since no thread would look for what they don't count.
class Waitable {
public:
  class Take;

  /// Counts arrivals. Any thread may call it.
  void notify(std::uint64_t count);

  /// Counts arrivals as taken up to this number, from 1: what `arrived()` was before a look that
  /// found nothing, or everything.
  void took_up_to(std::uint64_t arrival);

  /// Returns the number of arrivals so far.
  std::uint64_t arrived() const;

  /// Returns the number of arrivals that were not taken yet.
  std::uint64_t waiting() const;

  /// Returns whether arrivals were not taken yet.
  bool is_ready() const;

  /// Sets the callback, and reports what is unread and was not reported. Null clears it. Waits
  /// until the former one has returned, unless this thread is in it.
  void set_callback(rmw_event_callback_t callback, const void * user_data);

  /// Has arrivals ring `bell`, until it is detached.
  void attach(Bell & bell);
  void detach(Bell & bell);

private:
  void report(std::unique_lock<std::mutex> & lock);

  /// Of a take together with its count. A thread that holds it may lock the one below, but not
  /// the other way around.
  std::mutex taking_;
  /// Of all below. The counts are read without it, so that `rmw_wait` doesn't lock.
  std::mutex mutex_;
  std::atomic<std::uint64_t> arrived_{0};
  /// At most as many as have arrived.
  std::atomic<std::uint64_t> taken_{0};
  std::uint64_t reported_ = 0;
  std::vector<Bell *> bells_;
  rmw_event_callback_t callback_ = nullptr;
  const void * user_data_ = nullptr;
  /// Calls of a callback that are running, on any thread.
  std::size_t running_ = 0;
  std::condition_variable returned_condition_;
};

/// Taking from what a waitable stands for, by one thread at a time: otherwise a take that finds
/// nothing might count what another thread takes meanwhile a second time, and what came after it
/// would be overlooked.
///
/// Make it before the take, and don't run code of the program while it lives.
class Waitable::Take {
public:
  explicit Take(Waitable & waitable);

  /// Reports what arrived on this thread during the take.
  ~Take();

  Take(const Take &) = delete;
  Take & operator=(const Take &) = delete;

  /// Counts one arrival as taken.
  void took_one();

  /// Counts everything as taken that had arrived before the take.
  void found_nothing();

private:
  friend class Waitable;

  Waitable & waitable_;
  std::unique_lock<std::mutex> lock_;
  const std::uint64_t arrived_;
  /// Another take that this thread is in.
  Take * const outer_;
  bool is_unreported_ = false;
};

/// Base of what `rmw_wait` gets as a `void *`: subscriptions, services, clients, guard conditions
/// and events. The `data` of their handles is a pointer to this base; see `entity_data`.
class Entity {
public:
  Entity() = default;
  Entity(const Entity &) = delete;
  Entity & operator=(const Entity &) = delete;

  /// No callback runs any more after this.
  ~Entity();

  Waitable & waitable() { return *waitable_; }

  /// The context of a listener of Sinew: pass it with `on_arrival` and `drop_listener`.
  void * listener_context();
  static void on_arrival(void * context, std::uint64_t count) noexcept;
  static void drop_listener(void * context) noexcept;

private:
  std::shared_ptr<Waitable> waitable_ = std::make_shared<Waitable>();
};

/// Returns the `data` of an entity's handle.
inline void * entity_data(Entity * entity) { return entity; }

/// Returns the entity of a handle's `data`.
template <class T>
T & entity_of(void * data)
{
  return *static_cast<T *>(static_cast<Entity *>(data));
}

}  // namespace rmw_sinew
