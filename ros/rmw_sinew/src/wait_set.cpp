// Wait sets: level-triggered, attached to what they wait for only while they wait.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "rmw/allocators.h"
#include "rmw/event.h"
#include "rmw/rmw.h"

#include "check.hpp"
#include "context.hpp"
#include "guard_condition.hpp"
#include "waitable.hpp"

namespace rmw_sinew {
namespace {

using Clock = std::chrono::steady_clock;

/// How long a wait lasts at most after the shutdown of its context. rclpy wakes its executors just
/// before it shuts the context down. An executor that is quicker waits once more, and nothing would
/// wake it; rcl calls the context invalid only when `rmw_shutdown` has returned.
constexpr std::chrono::milliseconds after_shutdown{10};

/// The `data` of a `rmw_wait_set_t`.
struct WaitSet {
  explicit WaitSet(std::shared_ptr<Waitable> of_context) : shutdown(std::move(of_context)) {}

  Bell bell;
  /// Ready when the context is shut down.
  std::shared_ptr<Waitable> shutdown;
  /// What the current wait is for. Kept for its memory: waits don't allocate.
  std::vector<Waitable *> waitables;
};

Waitable & waitable_of(void * entry)
{
  return static_cast<Entity *>(entry)->waitable();
}

Waitable & waitable_of_event(void * entry)
{
  return waitable_of(static_cast<rmw_event_t *>(entry)->data);
}

using ToWaitable = Waitable & (*)(void *);

/// Attaches a wait set to everything it waits for, and detaches it in the end.
class Attachment {
public:
  explicit Attachment(WaitSet & set) : set_(set) { set_.shutdown->attach(set_.bell); }

  ~Attachment()
  {
    set_.shutdown->detach(set_.bell);
    for (Waitable * waitable : set_.waitables) {
      waitable->detach(set_.bell);
    }
    set_.waitables.clear();
  }

  Attachment(const Attachment &) = delete;
  Attachment & operator=(const Attachment &) = delete;

  void add(void ** entries, std::size_t count, ToWaitable to_waitable)
  {
    for (std::size_t index = 0; index < count; ++index) {
      if (entries[index] != nullptr) {
        Waitable & waitable = to_waitable(entries[index]);
        set_.waitables.push_back(&waitable);
        waitable.attach(set_.bell);
      }
    }
  }

  bool is_any_ready() const
  {
    for (const Waitable * waitable : set_.waitables) {
      if (waitable->is_ready()) {
        return true;
      }
    }
    return false;
  }

private:
  WaitSet & set_;
};

/// Calls `visit(entries, count, to_waitable, is_guard)` for each of the five arrays.
template <class Visit>
void for_each_array(
  rmw_subscriptions_t * subscriptions, rmw_guard_conditions_t * guard_conditions,
  rmw_services_t * services, rmw_clients_t * clients, rmw_events_t * events, Visit visit)
{
  if (subscriptions != nullptr) {
    visit(subscriptions->subscribers, subscriptions->subscriber_count, waitable_of, false);
  }
  if (guard_conditions != nullptr) {
    visit(
      guard_conditions->guard_conditions, guard_conditions->guard_condition_count, waitable_of,
      true);
  }
  if (services != nullptr) {
    visit(services->services, services->service_count, waitable_of, false);
  }
  if (clients != nullptr) {
    visit(clients->clients, clients->client_count, waitable_of, false);
  }
  if (events != nullptr) {
    visit(events->events, events->event_count, waitable_of_event, false);
  }
}

/// Makes entries that are not ready null, and resets guard conditions that are. Returns whether
/// any is ready.
bool keep_ready(void ** entries, std::size_t count, ToWaitable to_waitable, bool is_guard)
{
  bool any = false;
  for (std::size_t index = 0; index < count; ++index) {
    if (entries[index] == nullptr) {
      continue;
    }
    Waitable & waitable = to_waitable(entries[index]);
    if (!waitable.is_ready()) {
      entries[index] = nullptr;
      continue;
    }
    any = true;
    if (is_guard) {
      waitable.took_up_to(waitable.arrived());
    }
  }
  return any;
}

/// Returns the moment at which a wait ends that begins now; the last one there is for "never".
Clock::time_point deadline_of(const rmw_time_t * timeout, Clock::time_point now)
{
  if (timeout == nullptr) {
    return Clock::time_point::max();
  }
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(
    Clock::time_point::max() - now);
  const rmw_duration_t nanoseconds = rmw_time_total_nsec(*timeout);
  return nanoseconds >= left.count() ? Clock::time_point::max() :
         now + std::chrono::nanoseconds(nanoseconds);
}

/// Waits until anything attached is ready, the deadline, or shortly after the context's shutdown.
void wait(WaitSet & set, const Attachment & attachment, Clock::time_point deadline)
{
  const Clock::time_point begin = Clock::now();
  while (!attachment.is_any_ready()) {
    if (set.shutdown->is_ready()) {
      deadline = std::min(deadline, begin + after_shutdown);
    }
    if (!set.bell.wait_until(deadline)) {
      return;
    }
  }
}

}  // namespace
}  // namespace rmw_sinew

using namespace rmw_sinew; // of this file's functions, which are rmw's

extern "C" {

rmw_wait_set_t * rmw_create_wait_set(rmw_context_t * context, size_t max_conditions)
{
  SINEW_CHECK_HANDLE_OR_NULL(context);
  return guarded_pointer([&] {
    auto set = std::make_unique<WaitSet>(context->impl->shutdown);
    set->waitables.reserve(max_conditions);
    rmw_wait_set_t * handle = rmw_wait_set_allocate();
    if (handle == nullptr) {
      throw std::bad_alloc();
    }
    handle->implementation_identifier = identifier;
    handle->guard_conditions = nullptr;
    handle->data = set.release();
    return handle;
  });
}

rmw_ret_t rmw_destroy_wait_set(rmw_wait_set_t * wait_set)
{
  SINEW_CHECK_NOT_NULL(wait_set, RMW_RET_ERROR);
  SINEW_CHECK_OURS(wait_set, RMW_RET_INCORRECT_RMW_IMPLEMENTATION);
  delete static_cast<WaitSet *>(wait_set->data);
  rmw_wait_set_free(wait_set);
  return RMW_RET_OK;
}

rmw_ret_t rmw_wait(
  rmw_subscriptions_t * subscriptions, rmw_guard_conditions_t * guard_conditions,
  rmw_services_t * services, rmw_clients_t * clients, rmw_events_t * events,
  rmw_wait_set_t * wait_set, const rmw_time_t * wait_timeout)
{
  SINEW_CHECK_HANDLE(wait_set);
  return guarded([&] {
    WaitSet & set = *static_cast<WaitSet *>(wait_set->data);
    Attachment attachment(set);
    for_each_array(
      subscriptions, guard_conditions, services, clients, events,
      [&](void ** entries, std::size_t count, ToWaitable to_waitable, bool) {
        attachment.add(entries, count, to_waitable);
      });
    const Clock::time_point deadline = deadline_of(wait_timeout, Clock::now());
    wait(set, attachment, deadline);
    // A wait without an end never times out: rclcpp's thread for the graph throws if one does. With
    // nothing ready it ended with its context.
    bool any = deadline == Clock::time_point::max();
    for_each_array(
      subscriptions, guard_conditions, services, clients, events,
      [&](void ** entries, std::size_t count, ToWaitable to_waitable, bool is_guard) {
        any = keep_ready(entries, count, to_waitable, is_guard) || any;
      });
    return any ? RMW_RET_OK : RMW_RET_TIMEOUT;
  });
}

}  // extern "C"
