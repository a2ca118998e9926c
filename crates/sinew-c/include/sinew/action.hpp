/// What servers and clients of actions share. Names are rclcpp_action's, in `sinew::action`.
#ifndef SINEW_ACTION_HPP
#define SINEW_ACTION_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "sinew/detail/action_type.hpp"
#include "sinew/detail/message_handle.hpp"
#include "sinew/error.hpp"
#include "sinew/exceptions.hpp"
#include "sinew/sinew.h"

namespace sinew::action
{

/// The id of a goal, which its client chooses.
using GoalUUID = std::array<std::uint8_t, 16>;

/// Returns the id as 32 hexadecimal digits.
inline std::string to_string(const GoalUUID & id)
{
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * id.size());
  for (const std::uint8_t byte : id) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

/// A server's decision on a goal.
enum class GoalResponse : std::int8_t
{
  REJECT = SINEW_GOAL_REJECT,
  /// Accepts the goal, which begins at once.
  ACCEPT_AND_EXECUTE = SINEW_GOAL_ACCEPT_AND_EXECUTE,
  /// Accepts the goal, which begins by `ServerGoalHandle::execute`.
  ACCEPT_AND_DEFER = SINEW_GOAL_ACCEPT_AND_DEFER,
};

/// A server's decision on a request to end a goal early.
enum class CancelResponse : std::int8_t
{
  REJECT = SINEW_CANCEL_REJECT,
  ACCEPT = SINEW_CANCEL_ACCEPT,
};

/// How a goal ended.
enum class ResultCode : std::int8_t
{
  /// There is no result: the server is gone, or doesn't know the goal.
  UNKNOWN = SINEW_GOAL_UNKNOWN,
  SUCCEEDED = SINEW_GOAL_SUCCEEDED,
  CANCELED = SINEW_GOAL_CANCELED,
  ABORTED = SINEW_GOAL_ABORTED,
};

/// The state of a goal: a number of `action_msgs::msg::GoalStatus`.
namespace goal_status
{
inline constexpr std::int8_t UNKNOWN = SINEW_GOAL_UNKNOWN;
inline constexpr std::int8_t ACCEPTED = SINEW_GOAL_ACCEPTED;
inline constexpr std::int8_t EXECUTING = SINEW_GOAL_EXECUTING;
inline constexpr std::int8_t CANCELING = SINEW_GOAL_CANCELING;
inline constexpr std::int8_t SUCCEEDED = SINEW_GOAL_SUCCEEDED;
inline constexpr std::int8_t CANCELED = SINEW_GOAL_CANCELED;
inline constexpr std::int8_t ABORTED = SINEW_GOAL_ABORTED;
}  // namespace goal_status

#ifdef __cpp_exceptions
namespace exceptions
{

/// The client doesn't know the goal.
class UnknownGoalHandleError : public std::invalid_argument
{
public:
  UnknownGoalHandleError()
  : std::invalid_argument("the goal handle is null, or of another client") {}
};

/// The goal has no result to wait for.
class UnawareGoalHandleError : public std::runtime_error
{
public:
  explicit UnawareGoalHandleError(const std::string & why = "the goal's outcome is unknown")
  : std::runtime_error(why) {}
};

}  // namespace exceptions
#endif

namespace detail
{

inline GoalUUID uuid_of(const sinew_goal_id & id)
{
  GoalUUID uuid;
  std::copy(std::begin(id.bytes), std::end(id.bytes), uuid.begin());
  return uuid;
}

inline sinew_goal_id id_of(const GoalUUID & uuid)
{
  sinew_goal_id id;
  std::copy(uuid.begin(), uuid.end(), std::begin(id.bytes));
  return id;
}

/// For tables by id: ids are random.
struct HashOfId
{
  std::size_t operator()(const GoalUUID & id) const noexcept
  {
    std::size_t hash = 0;
    for (std::size_t i = 0; i < sizeof hash; ++i) {
      hash = hash << 8 | id[i];
    }
    return hash;
  }
};

/// Returns a part of a message that keeps the message. The reference is given up.
template<class T>
std::shared_ptr<const T> part_of(sinew_message * message, const void * part)
{
  return sinew::detail::share(
    sinew::detail::MessageHandle(message), static_cast<const T *>(part));
}

}  // namespace detail

}  // namespace sinew::action

#endif  // SINEW_ACTION_HPP
