/// Timers of any clock.
#ifndef SINEW_CREATE_TIMER_HPP
#define SINEW_CREATE_TIMER_HPP

#include <chrono>
#include <memory>
#include <utility>

#include "sinew/callback_group.hpp"
#include "sinew/clock.hpp"
#include "sinew/detail/node_of.hpp"
#include "sinew/duration.hpp"
#include "sinew/error.hpp"
#include "sinew/timer.hpp"

namespace sinew
{

/// Makes a timer of a clock's kind: simulated time while that is used, else steady time; system
/// time; or steady time. `node` is a node or a pointer to one. Otherwise as `Node::create_timer`.
template<class NodeT, class F>
Result<typename GenericTimer<F>::SharedPtr> try_create_timer(
  NodeT && node, const Clock::ConstSharedPtr & clock, const Duration & period,
  F callback, const CallbackGroup::SharedPtr & group = nullptr, bool autostart = true)
{
  return GenericTimer<F>::try_make(
    detail::node_of(node).handle(), period.to_chrono<std::chrono::nanoseconds>(),
    std::move(callback),
    clock->get_clock_type(), group, autostart);
}

template<class NodeT, class F>
typename GenericTimer<F>::SharedPtr create_timer(
  NodeT && node, const Clock::ConstSharedPtr & clock, const Duration & period,
  F callback, const CallbackGroup::SharedPtr & group = nullptr, bool autostart = true)
{
  return try_create_timer(node, clock, period, std::move(callback), group, autostart).value();
}

}  // namespace sinew

#endif  // SINEW_CREATE_TIMER_HPP
