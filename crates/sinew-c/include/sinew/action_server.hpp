/// Servers of actions.
#ifndef SINEW_ACTION_SERVER_HPP
#define SINEW_ACTION_SERVER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "sinew/action.hpp"
#include "sinew/callback_group.hpp"
#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/detail/node_of.hpp"
#include "sinew/error.hpp"
#include "sinew/server_goal_handle.hpp"
#include "sinew/sinew.h"

namespace sinew::action
{

/// Settings of a server.
struct ServerOptions
{
  /// The time for which a result is kept for later requests, from the end of its goal; negative:
  /// until newer ones reach a limit. (As a structure, since rcl has one.)
  struct
  {
    std::int64_t nanoseconds = 10'000'000'000;
  } result_timeout;
  /// The number of goals that may be active, further ones are rejected; 0: 1000.
  std::size_t max_goals = 0;
  /// The number of ended goals with a result that is kept; 0: 1000.
  std::size_t max_results = 0;
  /// The bytes of all kept results in encoded form; 0: 64 MiB.
  std::size_t max_result_bytes = 0;
};

/// Executes the goals of an action. `create_server` makes it.
///
/// An executor runs the three callbacks in the server's group, one at a time in an exclusive group.
/// So the callback for accepted goals should hand a long goal to a thread, or no goal is accepted
/// or cancelled meanwhile. The server ends when the last pointer to it is destroyed: then its goals
/// are asked to end.
template<class ActionT>
class Server
{
public:
  using SharedPtr = std::shared_ptr<Server>;
  using GoalHandle = ServerGoalHandle<ActionT>;

  /// Decides on each goal.
  using GoalCallback =
    std::function<GoalResponse(const GoalUUID &, std::shared_ptr<const typename ActionT::Goal>)>;
  /// Decides on each request to end a goal early, once the callback for accepted goals has been
  /// called for it.
  using CancelCallback = std::function<CancelResponse(std::shared_ptr<GoalHandle>)>;
  /// Gets each goal that was accepted; it has begun, unless it was deferred.
  using AcceptedCallback = std::function<void(std::shared_ptr<GoalHandle>)>;

  static Result<SharedPtr> try_make(
    const sinew_node * node, const std::string & name, GoalCallback handle_goal,
    CancelCallback handle_cancel, AcceptedCallback handle_accepted,
    const ServerOptions & options = ServerOptions(),
    const CallbackGroup::SharedPtr & group = nullptr)
  {
    const auto type = sinew::detail::try_action_type<ActionT>();
    if (!type) {
      return type.error();
    }
    auto settings = sinew::detail::options<sinew_action_server_options>();
    settings.group = sinew::detail::handle_of(group);
    settings.result_timeout =
      options.result_timeout.nanoseconds == 0 ? 1 : options.result_timeout.nanoseconds;
    settings.max_goals = options.max_goals;
    settings.max_results = options.max_results;
    settings.max_result_bytes = options.max_result_bytes;
    auto callbacks = sinew::detail::options<sinew_action_server_callbacks>();
    callbacks.goal = &Program::decide;
    callbacks.cancel = &Program::may_cancel;
    callbacks.accepted = &Program::accepted;
    auto * program = new Program{
      std::move(handle_goal), std::move(handle_cancel), std::move(handle_accepted), {}, {}, 16};
    ServerHandle handle;
    const auto status = sinew_action_server_new(
      node, name.c_str(), *type, &settings, &callbacks, program,
      &sinew::detail::drop_context<Program>, sinew::detail::Out(handle));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return SharedPtr(new Server(std::move(handle)));
  }

  /// Ends the server: its goals are asked to end. Waits for a callback that runs on another thread,
  /// but not when called by a callback of the server; no callback runs afterwards.
  ~Server() {(void)sinew_action_server_close(handle());}
  Server(const Server &) = delete;
  Server & operator=(const Server &) = delete;

  /// The action's full name, after remapping.
  const char * get_action_name() const noexcept {return sinew_action_server_name(handle());}

  /// The handle of the C interface.
  sinew_action_server * handle() const noexcept {return handle_.get();}

private:
  using ServerHandle = sinew::detail::Handle<sinew_action_server, sinew_action_server_free>;

  /// The context of the callbacks.
  struct Program
  {
    GoalCallback handle_goal;
    CancelCallback handle_cancel;
    AcceptedCallback handle_accepted;
    std::mutex mutex;
    /// The goals that the program may have.
    std::unordered_map<GoalUUID, std::weak_ptr<GoalHandle>, detail::HashOfId> goals;
    /// The number of goals at which those that were destroyed are looked for.
    std::size_t most;

    static sinew_status decide(
      void * context, const sinew_goal_id * id, const sinew_message * request,
      sinew_goal_response * response)
    {
      auto & program = *static_cast<Program *>(context);
      return sinew::detail::guarded(
        [&] {
          using Request = sinew::detail::GoalRequest<ActionT>;
          const auto * whole = static_cast<const Request *>(sinew_message_value(request));
          auto goal =
            detail::part_of<typename ActionT::Goal>(sinew_message_clone(request), &whole->goal);
          const GoalResponse answer = program.handle_goal(detail::uuid_of(*id), std::move(goal));
          *response = static_cast<sinew_goal_response>(answer);
        });
    }

    static sinew_status may_cancel(
      void * context, const sinew_goal_id * id, sinew_cancel_response * response)
    {
      auto & program = *static_cast<Program *>(context);
      return sinew::detail::guarded(
        [&] {
          const auto goal = program.find(detail::uuid_of(*id));
          // A goal that the program has destroyed has ended, so the server won't ask again.
          *response = goal ? static_cast<sinew_cancel_response>(program.handle_cancel(goal)) :
            SINEW_CANCEL_LATER;
        });
    }

    static sinew_status accepted(void * context, sinew_server_goal * handle)
    {
      auto & program = *static_cast<Program *>(context);
      return sinew::detail::guarded(
        [&] {
          auto goal = std::make_shared<GoalHandle>(handle);
          program.keep(goal);
          program.handle_accepted(std::move(goal));
        });
    }

    std::shared_ptr<GoalHandle> find(const GoalUUID & id)
    {
      const std::lock_guard<std::mutex> lock(mutex);
      const auto found = goals.find(id);
      return found == goals.end() ? nullptr : found->second.lock();
    }

    /// Keeps a goal. Forgets those that the program has destroyed, if they may be half of all.
    void keep(const std::shared_ptr<GoalHandle> & goal)
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (goals.size() >= most) {
        for (auto at = goals.begin(); at != goals.end(); ) {
          at = at->second.expired() ? goals.erase(at) : std::next(at);
        }
        most = std::max<std::size_t>(16, 2 * goals.size());
      }
      goals.insert_or_assign(goal->get_goal_id(), goal);
    }
  };

  explicit Server(ServerHandle handle) noexcept
  : handle_(std::move(handle)) {}

  ServerHandle handle_;
};

/// Makes a server of an action. `node` is a node or a pointer to one; the callbacks run in the
/// group, or in the node's default group.
template<class ActionT, class NodeT>
Result<typename Server<ActionT>::SharedPtr> try_create_server(
  NodeT && node, const std::string & name,
  typename Server<ActionT>::GoalCallback handle_goal,
  typename Server<ActionT>::CancelCallback handle_cancel,
  typename Server<ActionT>::AcceptedCallback handle_accepted,
  const ServerOptions & options = ServerOptions(),
  CallbackGroup::SharedPtr group = nullptr)
{
  return Server<ActionT>::try_make(
    sinew::detail::node_of(node).handle(), name, std::move(handle_goal), std::move(handle_cancel),
    std::move(handle_accepted), options, std::move(group));
}

/// As `try_create_server`, with an exception for a failure.
template<class ActionT, class NodeT>
typename Server<ActionT>::SharedPtr create_server(
  NodeT && node, const std::string & name,
  typename Server<ActionT>::GoalCallback handle_goal,
  typename Server<ActionT>::CancelCallback handle_cancel,
  typename Server<ActionT>::AcceptedCallback handle_accepted,
  const ServerOptions & options = ServerOptions(),
  CallbackGroup::SharedPtr group = nullptr)
{
  return try_create_server<ActionT>(
    node, name, std::move(handle_goal), std::move(handle_cancel), std::move(handle_accepted),
    options, std::move(group)).value();
}

}  // namespace sinew::action

#endif  // SINEW_ACTION_SERVER_HPP
