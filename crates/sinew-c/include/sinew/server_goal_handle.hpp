/// The goals of an action's server.
#ifndef SINEW_SERVER_GOAL_HANDLE_HPP
#define SINEW_SERVER_GOAL_HANDLE_HPP

#include <memory>
#include <utility>

#include "sinew/action.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew::action
{

/// A goal that a server has accepted. Any thread may use it. Destroyed before it has ended, it is
/// canceled, with an empty result.
template<class ActionT>
class ServerGoalHandle
{
public:
  using Goal = typename ActionT::Goal;
  using Result = typename ActionT::Result;
  using Feedback = typename ActionT::Feedback;
  using SharedPtr = std::shared_ptr<ServerGoalHandle>;

  /// Takes over a handle of the C interface.
  explicit ServerGoalHandle(sinew_server_goal * handle)
  : handle_(handle)
  {
    sinew_goal_id id{};
    (void)sinew_server_goal_id(handle, &id);
    id_ = detail::uuid_of(id);
    goal_ = detail::part_of<Goal>(
      sinew_message_clone(sinew_server_goal_request(handle)), sinew_server_goal_value(handle));
  }

  const GoalUUID & get_goal_id() const noexcept {return id_;}

  /// The goal that the client sent; it may be kept.
  std::shared_ptr<const Goal> get_goal() const noexcept {return goal_;}

  /// Whether a client has asked to end the goal early, or the server is gone. Never blocks.
  bool is_canceling() const noexcept {return sinew_server_goal_is_canceling(handle());}

  /// Whether the goal has not ended.
  bool is_active() const noexcept {return sinew_server_goal_is_active(handle());}

  /// Whether the goal has begun, and no client has asked to cancel it.
  bool is_executing() const noexcept
  {
    return sinew_server_goal_status(handle()) == SINEW_GOAL_EXECUTING;
  }

  /// Begins a goal that was deferred.
  void execute() {try_execute().value();}
  sinew::Result<void> try_execute()
  {
    return sinew::detail::result(sinew_server_goal_execute(handle()));
  }

  /// Publishes feedback to the clients. It is copied unless it is a `std::unique_ptr`.
  void publish_feedback(const std::shared_ptr<Feedback> & feedback)
  {
    try_publish_feedback(*feedback).value();
  }
  void publish_feedback(const Feedback & feedback) {try_publish_feedback(feedback).value();}
  void publish_feedback(std::unique_ptr<Feedback> feedback)
  {
    try_publish_feedback(std::move(*feedback)).value();
  }
  sinew::Result<void> try_publish_feedback(Feedback feedback)
  {
    auto message = std::make_unique<sinew::detail::FeedbackMessage<ActionT>>();
    message->feedback = std::move(feedback);
    auto adopted = sinew::detail::try_adopt(std::move(message));
    if (!adopted) {
      return adopted.error();
    }
    return sinew::detail::result(sinew_server_goal_publish_feedback(handle(), adopted->release()));
  }

  /// Ends the goal: it has reached its aim. The result is copied unless it is a `std::unique_ptr`.
  /// Fails with `SINEW_ERROR_GOAL_STATE` if the goal has not begun, or has ended.
  void succeed(const std::shared_ptr<Result> & result) {try_succeed(*result).value();}
  void succeed(std::unique_ptr<Result> result) {try_succeed(std::move(*result)).value();}
  sinew::Result<void> try_succeed(Result result)
  {
    return try_end(sinew_server_goal_succeed, std::move(result));
  }

  /// Ends the goal: the server gives it up.
  void abort(const std::shared_ptr<Result> & result) {try_abort(*result).value();}
  void abort(std::unique_ptr<Result> result) {try_abort(std::move(*result)).value();}
  sinew::Result<void> try_abort(Result result)
  {
    return try_end(sinew_server_goal_abort, std::move(result));
  }

  /// Ends the goal early, at the request of a client or of the server's own accord.
  void canceled(const std::shared_ptr<Result> & result) {try_canceled(*result).value();}
  void canceled(std::unique_ptr<Result> result) {try_canceled(std::move(*result)).value();}
  sinew::Result<void> try_canceled(Result result)
  {
    return try_end(sinew_server_goal_canceled, std::move(result));
  }

  /// The handle of the C interface.
  sinew_server_goal * handle() const noexcept {return handle_.get();}

private:
  using End = sinew_status (const sinew_server_goal *, sinew_message *);

  sinew::Result<void> try_end(End * end, Result result)
  {
    auto message = std::make_unique<sinew::detail::ResultResponse<ActionT>>();
    message->result = std::move(result);
    auto adopted = sinew::detail::try_adopt(std::move(message));
    if (!adopted) {
      return adopted.error();
    }
    return sinew::detail::result(end(handle(), adopted->release()));
  }

  sinew::detail::Handle<sinew_server_goal, sinew_server_goal_free> handle_;
  GoalUUID id_{};
  std::shared_ptr<const Goal> goal_;
};

}  // namespace sinew::action

#endif  // SINEW_SERVER_GOAL_HANDLE_HPP
