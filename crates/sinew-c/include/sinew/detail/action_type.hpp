/// What the library knows of a C++ type of actions.
#ifndef SINEW_DETAIL_ACTION_TYPE_HPP
#define SINEW_DETAIL_ACTION_TYPE_HPP

#include <atomic>
#include <cstddef>
#include <type_traits>

#include "sinew/detail/handle.hpp"
#include "sinew/error.hpp"
#include "sinew/message.hpp"
#include "sinew/sinew.h"
#include "sinew/type_support.hpp"

namespace sinew::detail
{

/// The messages that carry an action's goals, results and feedback.
template<class A>
using GoalRequest = typename A::Impl::SendGoalService::Request;
template<class A>
using ResultResponse = typename A::Impl::GetResultService::Response;
template<class A>
using FeedbackMessage = typename A::Impl::FeedbackMessage;

/// Returns the types of an action for the C interface. They live as long as the process; shared
/// libraries with the same action get the same ones.
template<class A>
Result<const sinew_action_type *> try_action_type()
{
  static std::atomic<const sinew_action_type *> known{nullptr};
  if (const auto * type = known.load(std::memory_order_acquire)) {
    return type;
  }
  const auto request = try_message_type<GoalRequest<A>>();
  if (!request) {
    return request.error();
  }
  const auto response = try_message_type<ResultResponse<A>>();
  if (!response) {
    return response.error();
  }
  const auto feedback = try_message_type<FeedbackMessage<A>>();
  if (!feedback) {
    return feedback.error();
  }
  using Id = decltype(GoalRequest<A>::goal_id);
  static_assert(
    std::is_standard_layout_v<GoalRequest<A>> && std::is_standard_layout_v<ResultResponse<A>> &&
    std::is_standard_layout_v<FeedbackMessage<A>> && sizeof(Id::uuid) == 16);
  auto parts = options<sinew_action_parts>();
  parts.name = ActionTraits<A>::name.data();
  parts.send_goal_hash = ServiceTraits<typename A::Impl::SendGoalService>::hash_text.data();
  parts.get_result_hash = ServiceTraits<typename A::Impl::GetResultService>::hash_text.data();
  parts.request = *request;
  parts.response = *response;
  parts.feedback = *feedback;
  parts.request_goal_id = offsetof(GoalRequest<A>, goal_id) + offsetof(Id, uuid);
  parts.request_goal = offsetof(GoalRequest<A>, goal);
  parts.response_status = offsetof(ResultResponse<A>, status);
  parts.response_result = offsetof(ResultResponse<A>, result);
  parts.feedback_goal_id = offsetof(FeedbackMessage<A>, goal_id) + offsetof(Id, uuid);
  parts.feedback_feedback = offsetof(FeedbackMessage<A>, feedback);
  const sinew_action_type * type = nullptr;
  if (const auto status = sinew_action_type_new(&parts, &type); status != SINEW_OK) {
    return Error::last(status);
  }
  known.store(type, std::memory_order_release);
  return type;
}

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_ACTION_TYPE_HPP
