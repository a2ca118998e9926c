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

/// One event of an endpoint, and its callback: the context of its guard condition. It is the same
/// class for all of them, because every source that includes the headers pays for each class.
class EventHandler
{
public:
  /// Takes the event's status with the endpoint's handle, and runs the callback if it changed.
  using Report = std::function<void (const void *)>;

  EventHandler(std::weak_ptr<const void> endpoint, Report report)
  : endpoint_(std::move(endpoint)), report_(std::move(report)) {}

  static sinew_status run(void * context, std::uint64_t)
  {
    const auto & self = *static_cast<EventHandler *>(context);
    const auto endpoint = self.endpoint_.lock();
    return guarded(
      [&] {
        if (endpoint) {
          self.report_(endpoint.get());
        }
      });
  }

private:
  std::weak_ptr<const void> endpoint_;
  Report report_;
};

/// The events of one endpoint, while they are set up.
template<class Endpoint, auto set_listener>
class Events
{
public:
  Events(const std::shared_ptr<Endpoint> & endpoint, EventPlace place)
  : endpoint_(endpoint), place_(std::move(place)) {}

  /// Has the callback, if there is one, run for an event.
  template<class Info, class Status>
  void add(
    sinew_event event, sinew_status (* take)(const Endpoint *, Status *),
    const std::function<void (Info &)> & callback)
  {
    if (callback) {
      add_report(
        event, [take, callback](const void * endpoint) {
          auto status = options<Status>();
          if (take_changed(take, endpoint, status)) {
            Info info{};
            convert(status, info);
            callback(info);
          }
        });
    }
  }

  /// Has a warning logged for an incompatible QoS, as if there were no callbacks at all.
  void add_warning(sinew_status (* take)(const Endpoint *, sinew_incompatible_qos *))
  {
    add_report(
      SINEW_EVENT_INCOMPATIBLE_QOS, [take, node = place_.node](const void * endpoint) {
        auto status = options<sinew_incompatible_qos>();
        Handle<sinew_logger, sinew_logger_free> logger;
        if (take_changed(take, endpoint, status) &&
        sinew_node_logger(node.get(), Out(logger)) == SINEW_OK)
        {
          (void)sinew_log(
            logger.get(), SINEW_LOG_LEVEL_WARN, nullptr, nullptr, 0, status.last_reason);
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
    return take(static_cast<const Endpoint *>(endpoint), &status) == SINEW_OK && has_changed(status);
  }

  void add_report(sinew_event event, EventHandler::Report report)
  {
    if (result_) {
      result_ = listen(event, std::make_unique<EventHandler>(endpoint_, std::move(report)));
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
  EventGuards guards_;
  Result<void> result_;
};

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_EVENT_HANDLER_HPP
