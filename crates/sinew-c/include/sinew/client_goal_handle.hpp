/// The goals of an action's client.
#ifndef SINEW_CLIENT_GOAL_HANDLE_HPP
#define SINEW_CLIENT_GOAL_HANDLE_HPP

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "sinew/action.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"
#include "sinew/time.hpp"

namespace sinew::action
{

template<class ActionT>
class Client;

/// A goal that its server has accepted. It keeps its client; destroying it doesn't stop the goal.
template<class ActionT>
class ClientGoalHandle
{
public:
  using SharedPtr = std::shared_ptr<ClientGoalHandle>;
  using Feedback = typename ActionT::Feedback;
  using Result = typename ActionT::Result;

  /// The end of a goal.
  struct WrappedResult
  {
    GoalUUID goal_id{};
    ResultCode code = ResultCode::UNKNOWN;
    /// Never null; without a result it is empty.
    std::shared_ptr<Result> result;
  };

  using FeedbackCallback = std::function<void (SharedPtr, std::shared_ptr<const Feedback>)>;
  using ResultCallback = std::function<void (const WrappedResult &)>;

  const GoalUUID & get_goal_id() const noexcept {return id_;}

  /// The time at which the server accepted the goal, by its clock.
  Time get_goal_stamp() const
  {
    sinew_time stamp = 0;
    sinew::detail::check(sinew_client_goal_stamp(handle(), &stamp));
    return Time(stamp);
  }

  /// The last state that the client has received, of `goal_status`.
  std::int8_t get_status() const noexcept
  {
    return static_cast<std::int8_t>(sinew_client_goal_status(handle()));
  }

  /// Whether there is a callback for feedback.
  bool is_feedback_aware() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<bool>(on_feedback_);
  }

  /// Whether the result is asked for: it always is.
  bool is_result_aware() const noexcept {return true;}

  /// The number of feedback messages that were lost, as far as is known.
  std::uint64_t get_lost_feedback() const noexcept
  {
    return sinew_client_goal_feedback_lost(handle());
  }

  /// The handle of the C interface.
  sinew_client_goal * handle() const noexcept {return handle_.get();}

private:
  friend class Client<ActionT>;

  explicit ClientGoalHandle(sinew_client_goal * handle)
  : handle_(handle), result_(promise_.get_future().share())
  {
    sinew_goal_id id{};
    (void)sinew_client_goal_id(handle, &id);
    id_ = detail::uuid_of(id);
  }

  FeedbackCallback feedback_callback() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return on_feedback_;
  }

  /// Sets the end, and calls the callback that waits for it.
  void end(const WrappedResult & ended)
  {
    ResultCallback callback;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      promise_.set_value(ended);
      has_ended_ = true;
      callback.swap(on_result_);
      on_feedback_ = nullptr;
    }
    if (callback) {
      callback(ended);
    }
  }

  /// Sets the callback for the end. Returns whether the end is there already.
  bool set_result_callback(ResultCallback & callback)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!has_ended_ && callback) {
      on_result_ = std::move(callback);
    }
    return has_ended_;
  }

  void stop_callbacks()
  {
    FeedbackCallback feedback;  // destroyed without the lock
    ResultCallback result;
    const std::lock_guard<std::mutex> lock(mutex_);
    feedback.swap(on_feedback_);
    result.swap(on_result_);
  }

  sinew::detail::Handle<sinew_client_goal, sinew_client_goal_free> handle_;
  GoalUUID id_{};
  mutable std::mutex mutex_;
  std::promise<WrappedResult> promise_;
  std::shared_future<WrappedResult> result_;
  bool has_ended_ = false;
  FeedbackCallback on_feedback_;
  ResultCallback on_result_;
};

}  // namespace sinew::action

#endif  // SINEW_CLIENT_GOAL_HANDLE_HPP
