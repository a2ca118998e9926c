#include "event.hpp"

#include <algorithm>
#include <limits>

#include "rmw/event.h"
#include "rmw/rmw.h"

#include "check.hpp"
#include "publisher.hpp"
#include "subscription.hpp"

namespace rmw_sinew {
namespace {

/// Counts of rmw have 32 bits; they stop at the end.
template <class Count>
std::int32_t count_of(Count count)
{
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::min<Count>(count, most));
}

/// Takes a status of Sinew and fills rmw's from it.
template <class Endpoint, class Status, class RmwStatus,
  sinew_status (* TakeStatus)(const Endpoint *, Status *),
  void (* Fill)(const Status &, RmwStatus &)>
rmw_ret_t take(const void * endpoint, void * rmw_status)
{
  Status status{};
  status.size = sizeof status;
  const rmw_ret_t ret = result(TakeStatus(static_cast<const Endpoint *>(endpoint), &status));
  if (ret == RMW_RET_OK) {
    Fill(status, *static_cast<RmwStatus *>(rmw_status));
  }
  return ret;
}

void fill_matched(const sinew_matched & status, rmw_matched_status_t & filled)
{
  filled.total_count = status.total;
  filled.total_count_change = status.total_change;
  filled.current_count = status.current;
  filled.current_count_change = count_of(status.current_change);
}

void fill_incompatible_qos(
  const sinew_incompatible_qos & status, rmw_qos_incompatible_event_status_t & filled)
{
  filled.total_count = count_of(status.total);
  filled.total_count_change = count_of(status.total_change);
  switch (status.last_policy) {
    case 0: // nothing was incompatible yet
      filled.last_policy_kind = RMW_QOS_POLICY_INVALID;
      break;
    case SINEW_QOS_POLICY_LEASE: // ROS 2 counts it as a part of the liveliness
      filled.last_policy_kind = RMW_QOS_POLICY_LIVELINESS;
      break;
    default: // the numbers are the same
      filled.last_policy_kind = static_cast<rmw_qos_policy_kind_t>(status.last_policy);
  }
}

void fill_message_lost(const sinew_message_lost & status, rmw_message_lost_status_t & filled)
{
  filled.total_count = status.total;
  filled.total_count_change = status.total_change;
}

void fill_liveliness_changed(
  const sinew_liveliness_changed & status, rmw_liveliness_changed_status_t & filled)
{
  filled.alive_count = count_of(status.alive);
  filled.not_alive_count = count_of(status.not_alive);
  filled.alive_count_change = count_of(status.alive_change);
  filled.not_alive_count_change = count_of(status.not_alive_change);
}

/// Statuses that have a total and its change.
template <class Status, class RmwStatus>
void fill_total(const Status & status, RmwStatus & filled)
{
  filled.total_count = count_of(status.total);
  filled.total_count_change = count_of(status.total_change);
}

}  // namespace

rmw_ret_t Event::take(void * status)
{
  // A change that comes between these two is taken, and the event is ready once more.
  const std::uint64_t seen = waitable().arrived();
  const rmw_ret_t ret = take_(endpoint_, status);
  if (ret == RMW_RET_OK) {
    waitable().took_up_to(seen);
  }
  return ret;
}

/// An event of rmw in Sinew.
struct Events::Kind {
  rmw_event_type_t type;
  sinew_event event;
  bool is_of_publisher;
  Event::Take take;
};

const Events::Kind * Events::kind_of(rmw_event_type_t type)
{
  static const Kind kinds[] = {
    {RMW_EVENT_LIVELINESS_CHANGED, SINEW_EVENT_LIVELINESS_CHANGED, false,
      take<sinew_subscription, sinew_liveliness_changed, rmw_liveliness_changed_status_t,
        sinew_subscription_take_liveliness_changed, fill_liveliness_changed>},
    {RMW_EVENT_REQUESTED_DEADLINE_MISSED, SINEW_EVENT_DEADLINE_MISSED, false,
      take<sinew_subscription, sinew_deadline_missed, rmw_requested_deadline_missed_status_t,
        sinew_subscription_take_deadline_missed, fill_total>},
    {RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE, SINEW_EVENT_INCOMPATIBLE_QOS, false,
      take<sinew_subscription, sinew_incompatible_qos, rmw_qos_incompatible_event_status_t,
        sinew_subscription_take_incompatible_qos, fill_incompatible_qos>},
    {RMW_EVENT_MESSAGE_LOST, SINEW_EVENT_MESSAGE_LOST, false,
      take<sinew_subscription, sinew_message_lost, rmw_message_lost_status_t,
        sinew_subscription_take_message_lost, fill_message_lost>},
    {RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE, SINEW_EVENT_INCOMPATIBLE_TYPE, false,
      take<sinew_subscription, sinew_incompatible_type, rmw_incompatible_type_status_t,
        sinew_subscription_take_incompatible_type, fill_total>},
    {RMW_EVENT_SUBSCRIPTION_MATCHED, SINEW_EVENT_MATCHED, false,
      take<sinew_subscription, sinew_matched, rmw_matched_status_t,
        sinew_subscription_take_matched, fill_matched>},
    {RMW_EVENT_LIVELINESS_LOST, SINEW_EVENT_LIVELINESS_LOST, true,
      take<sinew_publisher, sinew_liveliness_lost, rmw_liveliness_lost_status_t,
        sinew_publisher_take_liveliness_lost, fill_total>},
    {RMW_EVENT_OFFERED_DEADLINE_MISSED, SINEW_EVENT_DEADLINE_MISSED, true,
      take<sinew_publisher, sinew_deadline_missed, rmw_offered_deadline_missed_status_t,
        sinew_publisher_take_deadline_missed, fill_total>},
    {RMW_EVENT_OFFERED_QOS_INCOMPATIBLE, SINEW_EVENT_INCOMPATIBLE_QOS, true,
      take<sinew_publisher, sinew_incompatible_qos, rmw_qos_incompatible_event_status_t,
        sinew_publisher_take_incompatible_qos, fill_incompatible_qos>},
    {RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE, SINEW_EVENT_INCOMPATIBLE_TYPE, true,
      take<sinew_publisher, sinew_incompatible_type, rmw_incompatible_type_status_t,
        sinew_publisher_take_incompatible_type, fill_total>},
    {RMW_EVENT_PUBLICATION_MATCHED, SINEW_EVENT_MATCHED, true,
      take<sinew_publisher, sinew_matched, rmw_matched_status_t,
        sinew_publisher_take_matched, fill_matched>},
  };
  for (const Kind & kind : kinds) {
    if (kind.type == type) {
      return &kind;
    }
  }
  return nullptr;
}

bool Events::is_supported(rmw_event_type_t type)
{
  return kind_of(type) != nullptr;
}

Events::~Events()
{
  for (std::size_t event = 0; event < events_.size(); ++event) {
    if (events_[event] == nullptr) {
      continue;
    }
    const auto number = static_cast<sinew_event>(event);
    // Clearing fails only if the endpoint is gone, and its listeners with it.
    (void)(publisher_ != nullptr ?
      sinew_publisher_clear_event_listener(publisher_, number) :
      sinew_subscription_clear_event_listener(subscription_, number));
  }
}

Event & Events::get(rmw_event_type_t type)
{
  const Kind * kind = kind_of(type);
  if (kind == nullptr || kind->is_of_publisher != (publisher_ != nullptr)) {
    throw Failure{fail(RMW_RET_UNSUPPORTED, "this end has no such event")};
  }
  // The listener is set under the lock, so that only the first caller sets it. It takes no lock but
  // the event's own, and no callback is set yet.
  const std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<Event> & event = events_[static_cast<std::size_t>(kind->event)];
  if (event == nullptr) {
    const void * endpoint = publisher_ != nullptr ?
      static_cast<const void *>(publisher_) : static_cast<const void *>(subscription_);
    auto made = std::make_unique<Event>(endpoint, kind->take);
    void * context = made->listener_context();
    require(
      publisher_ != nullptr ?
      sinew_publisher_set_event_listener(
        publisher_, kind->event, Entity::on_arrival, context, Entity::drop_listener) :
      sinew_subscription_set_event_listener(
        subscription_, kind->event, Entity::on_arrival, context, Entity::drop_listener));
    event = std::move(made);
  }
  return *event;
}

namespace {

rmw_ret_t init_event(rmw_event_t * event, Events & events, rmw_event_type_t type)
{
  if (event->implementation_identifier != nullptr) {
    return fail(RMW_RET_INVALID_ARGUMENT, "the event is initialized already");
  }
  event->data = entity_data(&events.get(type));
  event->event_type = type;
  event->implementation_identifier = identifier;
  return RMW_RET_OK;
}

}  // namespace
}  // namespace rmw_sinew

using namespace rmw_sinew; // of this file's functions, which are rmw's

extern "C" {

rmw_ret_t rmw_publisher_event_init(
  rmw_event_t * rmw_event, const rmw_publisher_t * publisher, rmw_event_type_t event_type)
{
  SINEW_CHECK_ARGUMENT(rmw_event);
  SINEW_CHECK_HANDLE(publisher);
  return guarded([&] {
    return init_event(rmw_event, static_cast<Publisher *>(publisher->data)->events(), event_type);
  });
}

rmw_ret_t rmw_subscription_event_init(
  rmw_event_t * rmw_event, const rmw_subscription_t * subscription, rmw_event_type_t event_type)
{
  SINEW_CHECK_ARGUMENT(rmw_event);
  SINEW_CHECK_HANDLE(subscription);
  return guarded([&] {
    return init_event(rmw_event, entity_of<Subscription>(subscription->data).events(), event_type);
  });
}

rmw_ret_t rmw_take_event(const rmw_event_t * event_handle, void * event_info, bool * taken)
{
  SINEW_CHECK_HANDLE(event_handle);
  SINEW_CHECK_ARGUMENT(event_info);
  SINEW_CHECK_ARGUMENT(taken);
  *taken = false;
  return guarded([&] {
    const rmw_ret_t ret = entity_of<Event>(event_handle->data).take(event_info);
    *taken = ret == RMW_RET_OK;
    return ret;
  });
}

rmw_ret_t rmw_event_set_callback(
  rmw_event_t * event, rmw_event_callback_t callback, const void * user_data)
{
  SINEW_CHECK_HANDLE(event);
  return guarded([&] {
    entity_of<Event>(event->data).waitable().set_callback(callback, user_data);
    return RMW_RET_OK;
  });
}

bool rmw_event_type_is_supported(rmw_event_type_t rmw_event_type)
{
  return Events::is_supported(rmw_event_type);
}

}  // extern "C"
