/// Events of the C interface as callbacks that executors run.
#ifndef SINEW_DETAIL_EVENT_HANDLER_HPP
#define SINEW_DETAIL_EVENT_HANDLER_HPP

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

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

  void post(sinew_work work, void * context, sinew_drop drop_context) const
  {
    // It fails only when the context is shut down; then no callback runs any more.
    if (group) {
      (void)sinew_group_post(group->handle(), work, context, drop_context);
    } else {
      (void)sinew_node_post(node.get(), work, context, drop_context);
    }
  }
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
inline void convert(const sinew_incompatible_qos & from, QOSIncompatibleQoSInfo & to) noexcept
{
  to = {
    count(from.total), count(from.total_change), static_cast<QosPolicyKind>(from.last_policy)};
}
inline void convert(const sinew_incompatible_type & from, IncompatibleTypeInfo & to) noexcept
{
  to = {count(from.total), count(from.total_change)};
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

/// One event of an endpoint, with the callback for it.
template<class Endpoint, class Status>
class EventHandler : public std::enable_shared_from_this<EventHandler<Endpoint, Status>>
{
public:
  using Take = sinew_status (*)(const Endpoint *, Status *);
  using Callback = std::function<void (const Status &)>;

  EventHandler(
    std::weak_ptr<Endpoint> endpoint, EventPlace place, Take take, Callback callback)
  : endpoint_(std::move(endpoint)), place_(std::move(place)), take_(take),
    callback_(std::move(callback)) {}

  /// Sees to it that the callback runs for this event.
  template<class SetListener>
  Result<void> listen(SetListener set_listener, sinew_event event)
  {
    using Self = std::shared_ptr<EventHandler>;
    const auto endpoint = endpoint_.lock();
    return result(
      set_listener(
        endpoint.get(), event,
        [](void * self, std::uint64_t) {(*static_cast<Self *>(self))->post();},
        context_of(this->shared_from_this()), &drop_context<Self>));
  }

private:
  /// The listener runs on the thread of the event, so it leaves the callback to an executor.
  void post()
  {
    using Self = std::shared_ptr<EventHandler>;
    place_.post(
      [](void * self) {return guarded([self] {(*static_cast<Self *>(self))->run();});},
      context_of(this->shared_from_this()), &drop_context<Self>);
  }

  void run()
  {
    const auto endpoint = endpoint_.lock();
    auto status = options<Status>();
    if (endpoint && take_(endpoint.get(), &status) == SINEW_OK && has_changed(status)) {
      callback_(status);
    }
  }

  std::weak_ptr<Endpoint> endpoint_;
  EventPlace place_;
  Take take_;
  Callback callback_;
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
      add_raw(
        event, take,
        [callback](const Status & status) {
          Info info{};
          convert(status, info);
          callback(info);
        });
    }
  }

  /// Has a warning logged for an incompatible QoS, as if there were no callbacks at all.
  void add_warning(sinew_status (* take)(const Endpoint *, sinew_incompatible_qos *))
  {
    add_raw<sinew_incompatible_qos>(
      SINEW_EVENT_INCOMPATIBLE_QOS, take,
      [node = place_.node](const sinew_incompatible_qos & status) {
        Handle<sinew_logger, sinew_logger_free> logger;
        if (sinew_node_logger(node.get(), Out(logger)) == SINEW_OK) {
          (void)sinew_log(
            logger.get(), SINEW_LOG_LEVEL_WARN, nullptr, nullptr, 0, status.last_reason);
        }
      });
  }

  Result<void> result() const {return result_;}

private:
  template<class Status>
  void add_raw(
    sinew_event event, sinew_status (* take)(const Endpoint *, Status *),
    typename EventHandler<Endpoint, Status>::Callback callback)
  {
    using Handler = EventHandler<Endpoint, Status>;
    if (result_) {
      result_ = std::make_shared<Handler>(endpoint_, place_, take, std::move(callback))
        ->listen(set_listener, event);
    }
  }

  std::shared_ptr<Endpoint> endpoint_;
  EventPlace place_;
  Result<void> result_;
};

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_EVENT_HANDLER_HPP
