/// Clients of actions.
#ifndef SINEW_ACTION_CLIENT_HPP
#define SINEW_ACTION_CLIENT_HPP

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "sinew/action.hpp"
#include "sinew/callback_group.hpp"
#include "sinew/client_goal_handle.hpp"
#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/detail/node_of.hpp"
#include "sinew/duration.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"
#include "sinew/time.hpp"

namespace sinew::action
{

/// Sends goals to the server of an action. `create_client` makes it.
///
/// An executor runs all callbacks in the client's group, and fulfils the futures there. A goal's
/// callbacks run in this order: its response, feedback, its result. None begins once the client is
/// destroyed, and futures that are not fulfilled then never are (`std::future_error`).
template<class ActionT>
class Client
{
public:
  using SharedPtr = std::shared_ptr<Client>;
  using Goal = typename ActionT::Goal;
  using Feedback = typename ActionT::Feedback;
  using GoalHandle = ClientGoalHandle<ActionT>;
  using WrappedResult = typename GoalHandle::WrappedResult;
  using FeedbackCallback = typename GoalHandle::FeedbackCallback;
  using ResultCallback = typename GoalHandle::ResultCallback;
  using CancelRequest = typename ActionT::Impl::CancelGoalService::Request;
  using CancelResponse = typename ActionT::Impl::CancelGoalService::Response;

  /// Gets the goal, or null if it was not accepted.
  using GoalResponseCallback = std::function<void(typename GoalHandle::SharedPtr)>;
  using CancelCallback = std::function<void(std::shared_ptr<CancelResponse>)>;

  /// The callbacks of a goal; each may be empty.
  struct SendGoalOptions
  {
    GoalResponseCallback goal_response_callback;
    FeedbackCallback feedback_callback;
    ResultCallback result_callback;
  };

  static Result<SharedPtr> try_make(
    const sinew_node * node, const std::string & name,
    const CallbackGroup::SharedPtr & group = nullptr,
    std::size_t feedback_depth = 0)
  {
    const auto type = sinew::detail::try_action_type<ActionT>();
    if (!type) {
      return type.error();
    }
    auto options = sinew::detail::options<sinew_action_client_options>();
    options.group = sinew::detail::handle_of(group);
    options.feedback_depth = feedback_depth;
    ClientHandle handle;
    const auto status =
      sinew_action_client_new(node, name.c_str(), *type, &options, sinew::detail::Out(handle));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return SharedPtr(new Client(std::move(handle)));
  }

  /// Drops the callbacks of its goals, which go on. Waits for a callback that runs on another
  /// thread, but not when called by a callback of the client; no callback runs afterwards.
  ~Client() {(void)sinew_action_client_close(handle());}
  Client(const Client &) = delete;
  Client & operator=(const Client &) = delete;

  /// The action's full name, after remapping.
  const char * get_action_name() const noexcept {return sinew_action_client_name(handle());}

  bool action_server_is_ready() const noexcept
  {
    return sinew_action_client_is_server_ready(handle());
  }

  /// Waits for a server; a negative timeout is for ever. Returns whether there is one. Not for
  /// callbacks: the thread does nothing else meanwhile.
  template<class Rep = std::int64_t, class Period = std::nano>
  bool wait_for_action_server(
    std::chrono::duration<Rep, Period> timeout = std::chrono::duration<Rep, Period>(-1)) const
  {
    return sinew_action_client_wait_for_server(handle(), Duration(timeout).nanoseconds());
  }

  /// Sends a goal, which is copied; if there is no server, the goal waits for one. The future gets
  /// the goal, or null if it was not accepted, or the server went before it answered.
  std::shared_future<typename GoalHandle::SharedPtr> async_send_goal(
    const Goal & goal, const SendGoalOptions & options = SendGoalOptions())
  {
    return try_async_send_goal(goal, options).value();
  }
  Result<std::shared_future<typename GoalHandle::SharedPtr>> try_async_send_goal(
    Goal goal, const SendGoalOptions & options = SendGoalOptions())
  {
    auto request = std::make_unique<sinew::detail::GoalRequest<ActionT>>();
    request->goal = std::move(goal);
    auto message = sinew::detail::try_adopt(std::move(request));
    if (!message) {
      return message.error();
    }
    auto callbacks = sinew::detail::options<sinew_goal_callbacks>();
    callbacks.response = &Sent::response;
    callbacks.feedback = options.feedback_callback ? &Sent::feedback : nullptr;
    callbacks.result = &Sent::result;
    auto * sent = new Sent{goals_, options, {}, {}};
    auto future = sent->promise.get_future().share();
    const auto status = sinew_action_client_send_goal(
      handle(), message->release(), &callbacks, sent, &sinew::detail::drop_context<Sent>, nullptr);
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return future;
  }

  /// Returns a future for the goal's end. The callback is called for it instead of the one with
  /// which the goal was sent; if the goal has ended, at once, on this thread.
  std::shared_future<WrappedResult> async_get_result(
    const typename GoalHandle::SharedPtr & goal, ResultCallback result_callback = nullptr)
  {
    check(goal);
    if (goal->set_result_callback(result_callback) && result_callback) {
      result_callback(goal->result_.get());
    }
    return goal->result_;
  }

  /// Asks the server to end a goal early.
  std::shared_future<std::shared_ptr<CancelResponse>> async_cancel_goal(
    const typename GoalHandle::SharedPtr & goal, CancelCallback cancel_callback = nullptr)
  {
    check(goal);
    const sinew_goal_id id = detail::id_of(goal->get_goal_id());
    return cancel(
      std::move(cancel_callback), [&](auto ... callback) {
        return sinew_action_client_cancel_goal(handle(), &id, callback ...);
      });
  }

  /// Asks the server to end all goals early, also those of other clients.
  std::shared_future<std::shared_ptr<CancelResponse>> async_cancel_all_goals(
    CancelCallback cancel_callback = nullptr)
  {
    return cancel(
      std::move(cancel_callback), [&](auto ... callback) {
        return sinew_action_client_cancel_all(handle(), callback ...);
      });
  }

  /// Asks the server to end the goals early that it accepted at this time of its clock or before.
  std::shared_future<std::shared_ptr<CancelResponse>> async_cancel_goals_before(
    const Time & stamp, CancelCallback cancel_callback = nullptr)
  {
    return cancel(
      std::move(cancel_callback), [&](auto ... callback) {
        return sinew_action_client_cancel_before(handle(), stamp.nanoseconds(), callback ...);
      });
  }

  /// Drops the callbacks for feedback and for the result of a goal; one may be running.
  void stop_callbacks(const typename GoalHandle::SharedPtr & goal)
  {
    check(goal);
    goal->stop_callbacks();
  }

  /// The handle of the C interface.
  sinew_action_client * handle() const noexcept {return handle_.get();}

private:
  using ClientHandle = sinew::detail::Handle<sinew_action_client, sinew_action_client_free>;

  /// The goals that were accepted and have not ended. The client owns it: no callback runs for a
  /// goal of a client that was destroyed.
  struct Goals
  {
    std::mutex mutex;
    std::unordered_map<GoalUUID, typename GoalHandle::SharedPtr, detail::HashOfId> all;

    void add(const typename GoalHandle::SharedPtr & goal)
    {
      const std::lock_guard<std::mutex> lock(mutex);
      all.insert_or_assign(goal->get_goal_id(), goal);
    }

    typename GoalHandle::SharedPtr find(const GoalUUID & id)
    {
      const std::lock_guard<std::mutex> lock(mutex);
      const auto found = all.find(id);
      return found == all.end() ? nullptr : found->second;
    }

    typename GoalHandle::SharedPtr take(const GoalUUID & id)
    {
      const std::lock_guard<std::mutex> lock(mutex);
      const auto node = all.extract(id);
      return node.empty() ? nullptr : node.mapped();
    }
  };

  /// The context of a goal's callbacks, of which one runs at a time.
  struct Sent
  {
    std::weak_ptr<Goals> goals;
    SendGoalOptions options;
    std::promise<typename GoalHandle::SharedPtr> promise;
    GoalUUID id;

    static sinew_status response(void * context, sinew_status status, sinew_client_goal * handle)
    {
      auto & sent = *static_cast<Sent *>(context);
      return sinew::detail::guarded(
        [&] {
          typename GoalHandle::SharedPtr goal;
          if (status == SINEW_OK) {
            goal.reset(new GoalHandle(handle));
          }
          const auto goals = sent.goals.lock();
          if (!goals) {
            return;
          }
          if (goal) {
            sent.id = goal->get_goal_id();
            goal->on_feedback_ = std::move(sent.options.feedback_callback);
            goal->on_result_ = std::move(sent.options.result_callback);
            goals->add(goal);
          }
          // Not kept: it would keep the goal.
          std::promise<typename GoalHandle::SharedPtr>(std::move(sent.promise)).set_value(goal);
          if (sent.options.goal_response_callback) {
            sent.options.goal_response_callback(std::move(goal));
          }
        });
    }

    static sinew_status feedback(
      void * context, const sinew_message * message, const void * feedback)
    {
      auto & sent = *static_cast<Sent *>(context);
      return sinew::detail::guarded(
        [&] {
          const auto goals = sent.goals.lock();
          const auto goal = goals ? goals->find(sent.id) : nullptr;
          const auto callback = goal ? goal->feedback_callback() : nullptr;
          if (callback) {
            callback(goal, detail::part_of<Feedback>(sinew_message_clone(message), feedback));
          }
        });
    }

    static sinew_status result(
      void * context, sinew_status status, sinew_goal_status how, sinew_message * message,
      const void * result)
    {
      auto & sent = *static_cast<Sent *>(context);
      using ResultT = typename ActionT::Result;
      return sinew::detail::guarded(
        [&] {
          const auto part = detail::part_of<ResultT>(message, result);
          const auto goals = sent.goals.lock();
          const auto goal = goals ? goals->take(sent.id) : nullptr;
          if (goal) {
            goal->end(
              WrappedResult{
              goal->get_goal_id(), static_cast<ResultCode>(how),
              status == SINEW_OK ? std::make_shared<ResultT>(*part) : std::make_shared<ResultT>()});
          }
        });
    }
  };

  /// The context of a cancel request's callback.
  struct Canceling
  {
    std::promise<std::shared_ptr<CancelResponse>> promise;
    CancelCallback callback;

    static sinew_status answered(
      void * context, sinew_status status, sinew_cancel_outcome outcome,
      const sinew_goal_info * goals, std::size_t count)
    {
      auto & canceling = *static_cast<Canceling *>(context);
      return sinew::detail::guarded(
        [&] {
          auto response = std::make_shared<CancelResponse>();
          response->return_code = status == SINEW_OK ?
          static_cast<std::int8_t>(outcome) : CancelResponse::ERROR_REJECTED;
          for (std::size_t i = 0; i < count; ++i) {
            auto & info = response->goals_canceling.emplace_back();
            info.goal_id.uuid = detail::uuid_of(goals[i].id);
            info.stamp = Time(goals[i].stamp);
          }
          canceling.promise.set_value(response);
          if (canceling.callback) {
            canceling.callback(std::move(response));
          }
        });
    }
  };

  explicit Client(ClientHandle handle)
  : handle_(std::move(handle)) {}

  template<class Send>
  static std::shared_future<std::shared_ptr<CancelResponse>> cancel(
    CancelCallback callback, Send && send)
  {
    auto * canceling = new Canceling{{}, std::move(callback)};
    auto future = canceling->promise.get_future().share();
    sinew::detail::check(
      send(
        &Canceling::answered, static_cast<void *>(canceling),
        &sinew::detail::drop_context<Canceling>));
    return future;
  }

  static void check(const typename GoalHandle::SharedPtr & goal)
  {
    if (!goal) {
#ifdef __cpp_exceptions
      throw exceptions::UnknownGoalHandleError();
#else
      Error(SINEW_ERROR_UNKNOWN_GOAL, "the goal handle is null").raise();
#endif
    }
  }

  ClientHandle handle_;
  std::shared_ptr<Goals> goals_ = std::make_shared<Goals>();
};

/// Makes a client of an action. `node` is a node or a pointer to one; callbacks run in the group,
/// or in the node's default group.
template<class ActionT, class NodeT>
Result<typename Client<ActionT>::SharedPtr> try_create_client(
  NodeT && node, const std::string & name, CallbackGroup::SharedPtr group = nullptr)
{
  return Client<ActionT>::try_make(sinew::detail::node_of(node).handle(), name, group);
}

/// As `try_create_client`, with an exception for a failure.
template<class ActionT, class NodeT>
typename Client<ActionT>::SharedPtr create_client(
  NodeT && node, const std::string & name, CallbackGroup::SharedPtr group = nullptr)
{
  return try_create_client<ActionT>(node, name, std::move(group)).value();
}

}  // namespace sinew::action

#endif  // SINEW_ACTION_CLIENT_HPP
