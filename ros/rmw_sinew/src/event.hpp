// Events of publishers and subscriptions: what a status says, and when it changes.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "rmw/event.h"
#include "sinew/sinew.h"

#include "waitable.hpp"

namespace rmw_sinew {

/// The `data` of a `rmw_event_t`: an event of one publisher or subscription, which owns it.
class Event : public Entity {
public:
  /// Fills the status of rmw that belongs to the event; the changes in it begin anew.
  using Take = rmw_ret_t (*)(const void * endpoint, void * status);

  Event(const void * endpoint, Take take) : endpoint_(endpoint), take_(take) {}

  rmw_ret_t take(void * status);

private:
  const void * endpoint_;
  Take take_;
};

/// The events of a publisher or subscription that were asked for. A member of it, to be declared
/// after its handle, which must have been made with `keep_events`.
class Events {
public:
  explicit Events(const sinew_publisher * publisher) : publisher_(publisher) {}
  explicit Events(const sinew_subscription * subscription) : subscription_(subscription) {}
  ~Events();
  Events(const Events &) = delete;
  Events & operator=(const Events &) = delete;

  /// Returns the event of this type, which lives as long as this. Throws `Failure` with
  /// `RMW_RET_UNSUPPORTED` for a type that belongs to the other kind of endpoint.
  Event & get(rmw_event_type_t type);

  static bool is_supported(rmw_event_type_t type);

private:
  struct Kind;
  static const Kind * kind_of(rmw_event_type_t type);

  const sinew_publisher * publisher_ = nullptr;
  const sinew_subscription * subscription_ = nullptr;
  std::mutex mutex_;
  std::array<std::unique_ptr<Event>, SINEW_EVENT_MESSAGE_LOST + 1> events_;
};

}  // namespace rmw_sinew
