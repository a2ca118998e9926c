/// Events of the C interface as callbacks that executors run.
#ifndef SINEW_DETAIL_EVENT_HANDLER_HPP
#define SINEW_DETAIL_EVENT_HANDLER_HPP

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sinew/callback_group.hpp"
#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/detail/log_line.hpp"
#include "sinew/error.hpp"
#include "sinew/event.hpp"
#include "sinew/sinew.h"

namespace sinew::detail
{

/// The place where an endpoint's callbacks for events run: its group, or the node's own.
struct EventPlace
{
  std::shared_ptr<sinew_node> node;
  CallbackGroup::SharedPtr group;
};

/// What an endpoint has executors run its callbacks for events by: a guard condition for each.
class EventGuards
{
public:
  using Guard = std::shared_ptr<sinew_guard_condition>;

  EventGuards() = default;
  EventGuards(EventGuards &&) noexcept = default;
  EventGuards & operator=(EventGuards &&) = delete;

  /// No callback runs after this: it waits for one that runs on another thread. In the callback
  /// itself it doesn't wait.
  ~EventGuards()
  {
    for (const Guard & guard : guards_) {
      (void)sinew_guard_condition_close(guard.get());
    }
  }

  void add(Guard guard) {guards_.push_back(std::move(guard));}

private:
  std::vector<Guard> guards_;
};

inline std::int32_t count(std::int64_t number) noexcept
{
  return number > INT32_MAX ? INT32_MAX : static_cast<std::int32_t>(number);
}
inline std::int32_t count(std::uint64_t number) noexcept
{
  return number > INT32_MAX ? INT32_MAX : static_cast<std::int32_t>(number);
}

inline void convert(const sinew_matched & from, MatchedInfo & to) noexcept
{
  to = {from.total, from.total_change, from.current, count(from.current_change)};
}
inline void convert(const sinew_deadline_missed & from, QOSDeadlineInfo & to) noexcept
{
  to = {count(from.total), count(from.total_change)};
}
inline void convert(const sinew_liveliness_lost & from, QOSLivelinessLostInfo & to) noexcept
{
  to = {count(from.total), count(from.total_change)};
}
inline void convert(const sinew_liveliness_changed & from, QOSLivelinessChangedInfo & to) noexcept
{
  to = {
    count(from.alive), count(from.not_alive), count(from.alive_change),
    count(from.not_alive_change)};
}
inline void convert(const sinew_incompatible_qos & from, QOSIncompatibleQoSInfo & to)
{
  to = {
    count(from.total), count(from.total_change), static_cast<QosPolicyKind>(from.last_policy),
    from.last_reason};
}
inline void convert(const sinew_incompatible_type & from, IncompatibleTypeInfo & to)
{
  to = {count(from.total), count(from.total_change), from.last_reason};
}
inline void convert(const sinew_message_lost & from, QOSMessageLostInfo & to) noexcept
{
  to = {from.total, from.total_change};
}

template<class Status>
bool has_changed(const Status & status) noexcept
{
  return status.total_change != 0;
}
inline bool has_changed(const sinew_matched & status) noexcept
{
  return status.total_change != 0 || status.current_change != 0;
}
inline bool has_changed(const sinew_liveliness_changed & status) noexcept
{
  return status.alive_change != 0 || status.not_alive_change != 0;
}

/// One event of an endpoint: the context of its guard condition. The class is the same for all
/// events, and they share one copy of the callbacks: every source with an endpoint would pay for
/// further classes when it is compiled.
class EventHandler
{
public:
  /// Takes the event's status by the endpoint's handle, and runs the callback if the status
  /// changed.
  using Report = void (*)(const EventHandler &, const void *);

  EventHandler(
    std::weak_ptr<const void> endpoint, EventPlace place, std::shared_ptr<const void> callbacks,
    Report report)
  : endpoint_(std::move(endpoint)), place_(std::move(place)), callbacks_(std::move(callbacks)),
    report_(report) {}

  const EventPlace & place() const noexcept {return place_;}
  /// The structure of callbacks of the endpoint's options.
  const void * callbacks() const noexcept {return callbacks_.get();}

  static sinew_status run(void * context, std::uint64_t)
  {
    const auto & self = *static_cast<EventHandler *>(context);
    const auto endpoint = self.endpoint_.lock();
    return guarded(
      [&] {
        if (endpoint) {
          self.report_(self, endpoint.get());
        }
      });
  }

private:
  std::weak_ptr<const void> endpoint_;
  EventPlace place_;
  std::shared_ptr<const void> callbacks_;
  Report report_;
};

/// The events of one endpoint, while they are set up.
template<class Endpoint, auto set_listener, class Callbacks>
class Events
{
public:
  Events(const std::shared_ptr<Endpoint> & endpoint, EventPlace place, const Callbacks & callbacks)
  : endpoint_(endpoint), place_(std::move(place)),
    callbacks_(std::make_shared<Callbacks>(callbacks)) {}

  /// Has a callback run for an event, if there is one:
  /// `add<take, &Callbacks::its_callback>(event)`.
  template<auto take, auto callback>
  void add(sinew_event event)
  {
    if ((*callbacks_).*callback) {
      add_report(
        event, [](const EventHandler & handler, const void * endpoint) {
          run(take, endpoint, static_cast<const Callbacks *>(handler.callbacks())->*callback);
        });
    }
  }

  /// The events that publishers and subscriptions both have, by the functions that take them.
  template<
    auto deadline_missed, auto liveliness, auto incompatible_type, auto matched,
    auto incompatible_qos>
  void add_shared(sinew_event liveliness_event, bool use_default_callbacks)
  {
    add<deadline_missed, &Callbacks::deadline_callback>(SINEW_EVENT_DEADLINE_MISSED);
    add<liveliness, &Callbacks::liveliness_callback>(liveliness_event);
    add<incompatible_type, &Callbacks::incompatible_type_callback>(SINEW_EVENT_INCOMPATIBLE_TYPE);
    add<matched, &Callbacks::matched_callback>(SINEW_EVENT_MATCHED);
    add<incompatible_qos, &Callbacks::incompatible_qos_callback>(SINEW_EVENT_INCOMPATIBLE_QOS);
    if (!callbacks_->incompatible_qos_callback && use_default_callbacks) {
      add_warning<incompatible_qos>();
    }
  }

  /// Has a warning logged for an incompatible QoS, as if there were no callbacks at all.
  template<auto take>
  void add_warning()
  {
    add_report(
      SINEW_EVENT_INCOMPATIBLE_QOS, [](const EventHandler & handler, const void * endpoint) {
        auto status = options<sinew_incompatible_qos>();
        if (take_changed(take, endpoint, status)) {
          log_line(handler.place().node.get(), SINEW_LOG_LEVEL_WARN, status.last_reason);
        }
      });
  }

  /// Returns what the endpoint keeps, or why an event can't be listened to.
  Result<EventGuards> guards() &&
  {
    if (!result_) {
      return result_.error();
    }
    return std::move(guards_);
  }

private:
  template<class Status>
  static bool take_changed(
    sinew_status (* take)(const Endpoint *, Status *), const void * endpoint, Status & status)
  {
    return take(static_cast<const Endpoint *>(endpoint), &status) == SINEW_OK &&
           has_changed(status);
  }

  template<class Info, class Status>
  static void run(
    sinew_status (* take)(const Endpoint *, Status *), const void * endpoint,
    const std::function<void (Info &)> & callback)
  {
    auto status = options<Status>();
    if (take_changed(take, endpoint, status)) {
      Info info{};
      convert(status, info);
      callback(info);
    }
  }

  void add_report(sinew_event event, EventHandler::Report report)
  {
    if (result_) {
      result_ =
        listen(event, std::make_unique<EventHandler>(endpoint_, place_, callbacks_, report));
    }
  }

  /// The listener runs on the thread of the event, so it leaves the callback to an executor.
  Result<void> listen(sinew_event event, std::unique_ptr<EventHandler> handler)
  {
    using Guard = EventGuards::Guard;
    auto settings = options<sinew_guard_condition_options>();
    settings.group = handle_of(place_.group);
    Handle<sinew_guard_condition, sinew_guard_condition_free> made;
    const auto status = sinew_guard_condition_new(
      place_.node.get(), &settings, &EventHandler::run, handler.release(),
      &drop_context<EventHandler>, Out(made));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    const Guard guard = std::move(made);
    guards_.add(guard);
    return detail::result(
      set_listener(
        endpoint_.get(), event,
        [](void * context, std::uint64_t) {
          (void)sinew_guard_condition_trigger(static_cast<Guard *>(context)->get());
        },
        context_of(guard), &drop_context<Guard>));
  }

  std::shared_ptr<Endpoint> endpoint_;
  EventPlace place_;
  std::shared_ptr<const Callbacks> callbacks_;
  EventGuards guards_;
  Result<void> result_;
};

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_EVENT_HANDLER_HPP
