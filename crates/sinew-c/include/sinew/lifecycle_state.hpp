/// The states and transitions of managed nodes.
#ifndef SINEW_LIFECYCLE_STATE_HPP
#define SINEW_LIFECYCLE_STATE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sinew/sinew.h"

namespace sinew::lifecycle
{

/// A state of a managed node, with the number and label of `lifecycle_msgs/msg/State`.
class State
{
public:
  State() = default;
  State(std::uint8_t id, std::string label)
  : id_(id), label_(std::move(label)) {}

  /// The state with this number, `SINEW_STATE_..`.
  static State of(sinew_lifecycle_state id)
  {
    return State(static_cast<std::uint8_t>(id), sinew_lifecycle_state_label(id));
  }

  std::uint8_t id() const noexcept {return id_;}
  std::string label() const {return label_;}

private:
  std::uint8_t id_ = 0;
  std::string label_ = "unknown";
};

/// A step from a state to another, with the number and label of `lifecycle_msgs/msg/Transition`.
class Transition
{
public:
  explicit Transition(std::uint8_t id)
  : Transition(id, sinew_lifecycle_transition_label(id)) {}
  Transition(std::uint8_t id, std::string label)
  : id_(id), label_(std::move(label)) {}
  Transition(std::string label, State start, State goal)
  : Transition(0, std::move(label), std::move(start), std::move(goal)) {}
  Transition(std::uint8_t id, std::string label, State start, State goal)
  : id_(id), label_(std::move(label)), start_(std::move(start)), goal_(std::move(goal)) {}

  std::uint8_t id() const noexcept {return id_;}
  std::string label() const {return label_;}

  /// Where it begins and ends; unknown for a transition that is made of its number or label only.
  State start_state() const {return start_;}
  State goal_state() const {return goal_;}

private:
  std::uint8_t id_;
  std::string label_;
  State start_;
  State goal_;
};

/// Returns the transitions that lead out of a state, or all for 0.
inline std::vector<Transition> transitions_from(sinew_lifecycle_state state)
{
  std::vector<sinew_lifecycle_step> steps(sinew_lifecycle_steps(state, nullptr, 0));
  sinew_lifecycle_steps(state, steps.data(), steps.size());
  std::vector<Transition> transitions;
  transitions.reserve(steps.size());
  for (const sinew_lifecycle_step & step : steps) {
    transitions.emplace_back(
      static_cast<std::uint8_t>(step.id), sinew_lifecycle_transition_label(step.id),
      State::of(step.start), State::of(step.goal));
  }
  return transitions;
}

}  // namespace sinew::lifecycle

#endif  // SINEW_LIFECYCLE_STATE_HPP
