// Actions: a server and a client as ROS 2's tutorial has them, and what else their goals can do.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"
#include "example_interfaces/action/fibonacci.hpp"
#include "sinew/rclcpp_action.hpp"
#include "sinew/sinew.hpp"

namespace
{

using example_interfaces::action::Fibonacci;
using namespace std::chrono_literals;  // NOLINT(build/namespaces)
using GoalHandleFibonacci = rclcpp_action::ServerGoalHandle<Fibonacci>;
using FibonacciClient = rclcpp_action::Client<Fibonacci>;
using ClientGoal = rclcpp_action::ClientGoalHandle<Fibonacci>;

/// Two nodes in one context, and an executor for both.
class World
{
public:
  World()
  : context(sinew::Context::try_make().value()),
    server_node(sinew::Node::make_shared("server")), client_node(sinew::Node::make_shared("client"))
  {
    auto options = sinew::detail::options<sinew_executor_options>();
    options.on_error = SINEW_FAULT_STOP;
    sinew::detail::check(sinew_executor_new(&options, sinew::detail::Out(executor_)));
    sinew::detail::check(sinew_executor_add_node(executor_.get(), server_node->handle()));
    sinew::detail::check(sinew_executor_add_node(executor_.get(), client_node->handle()));
  }

  /// Runs callbacks until there is what the caller waits for.
  template<class Condition>
  void until(Condition && condition)
  {
    while (!condition()) {
      sinew::detail::check_spin(sinew_executor_spin_once(executor_.get(), 60'000'000'000, nullptr));
    }
  }

  template<class T>
  T get(const std::shared_future<T> & future)
  {
    until([&] {return future.wait_for(0s) == std::future_status::ready;});
    return future.get();
  }

  sinew::Context::SharedPtr context;
  sinew::Node::SharedPtr server_node;
  sinew::Node::SharedPtr client_node;

private:
  sinew::detail::Handle<sinew_executor, sinew_executor_free> executor_;
};

Fibonacci::Goal order(std::int32_t number)
{
  Fibonacci::Goal goal;
  goal.order = number;
  return goal;
}

/// The server of the tutorial: `this` and std::bind, and a thread for each goal.
class FibonacciActionServer
{
public:
  explicit FibonacciActionServer(sinew::Node * node)
  {
    using std::placeholders::_1;
    using std::placeholders::_2;
    action_server_ = rclcpp_action::create_server<Fibonacci>(
      node, "fibonacci",
      std::bind(&FibonacciActionServer::handle_goal, this, _1, _2),
      std::bind(&FibonacciActionServer::handle_cancel, this, _1),
      std::bind(&FibonacciActionServer::handle_accepted, this, _1));
  }
  ~FibonacciActionServer()
  {
    for (std::thread & thread : threads_) {
      thread.join();
    }
  }

private:
  rclcpp_action::GoalResponse handle_goal(
    const rclcpp_action::GoalUUID & uuid, std::shared_ptr<const Fibonacci::Goal> goal)
  {
    CHECK(rclcpp_action::to_string(uuid).size() == 32);
    return goal->order > 46 ?
           rclcpp_action::GoalResponse::REJECT : rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
  }

  rclcpp_action::CancelResponse handle_cancel(
    const std::shared_ptr<GoalHandleFibonacci> goal_handle)
  {
    CHECK(goal_handle->is_active());
    return rclcpp_action::CancelResponse::ACCEPT;
  }

  void handle_accepted(const std::shared_ptr<GoalHandleFibonacci> goal_handle)
  {
    using std::placeholders::_1;
    threads_.emplace_back(std::bind(&FibonacciActionServer::execute, this, _1), goal_handle);
  }

  void execute(const std::shared_ptr<GoalHandleFibonacci> goal_handle)
  {
    const auto goal = goal_handle->get_goal();
    auto feedback = std::make_shared<Fibonacci::Feedback>();
    auto & sequence = feedback->sequence;
    sequence.push_back(0);
    sequence.push_back(1);
    auto result = std::make_shared<Fibonacci::Result>();
    for (std::int32_t i = 1; i < goal->order || goal->order < 0; ++i) {
      if (goal_handle->is_canceling()) {
        result->sequence = sequence;
        goal_handle->canceled(result);
        return;
      }
      if (goal->order > 0) {
        sequence.push_back(sequence[static_cast<std::size_t>(i)] + sequence[static_cast<std::size_t>(i) - 1]);
        goal_handle->publish_feedback(feedback);
      } else {
        std::this_thread::yield();  // until it is cancelled
      }
    }
    result->sequence = sequence;
    goal_handle->succeed(result);
  }

  rclcpp_action::Server<Fibonacci>::SharedPtr action_server_;
  std::vector<std::thread> threads_;
};

void a_goal_is_executed(World & world)
{
  FibonacciActionServer server(world.server_node.get());
  const auto client = rclcpp_action::create_client<Fibonacci>(world.client_node, "fibonacci");
  CHECK(std::string(client->get_action_name()) == "/fibonacci");
  CHECK(client->wait_for_action_server(60s) && client->action_server_is_ready());

  std::vector<std::string> seen;
  std::vector<std::int32_t> last;
  auto options = FibonacciClient::SendGoalOptions();
  options.goal_response_callback = [&](const ClientGoal::SharedPtr & goal) {
      CHECK(goal && goal->get_goal_stamp().nanoseconds() > 0 && goal->is_feedback_aware());
      seen.push_back("response");
    };
  options.feedback_callback =
    [&](ClientGoal::SharedPtr, const std::shared_ptr<const Fibonacci::Feedback> feedback) {
      CHECK(feedback->sequence.size() > last.size());
      last = feedback->sequence;
      seen.push_back("feedback");
    };
  options.result_callback = [&](const ClientGoal::WrappedResult & result) {
      CHECK(result.code == rclcpp_action::ResultCode::SUCCEEDED);
      CHECK(result.result->sequence == (std::vector<std::int32_t>{0, 1, 1, 2, 3, 5}));
      seen.push_back("result");
    };
  const auto goal = world.get(client->async_send_goal(order(5), options));
  const auto result = world.get(client->async_get_result(goal, options.result_callback));
  CHECK(seen == (std::vector<std::string>{
      "response", "feedback", "feedback", "feedback", "feedback", "result"}));
  CHECK(result.goal_id == goal->get_goal_id() && result.result->sequence.size() == 6);
  CHECK(goal->get_status() == rclcpp_action::GoalStatus::STATUS_SUCCEEDED && goal->get_lost_feedback() == 0);
  // One that has ended has its result at once.
  bool is_called = false;
  client->async_get_result(goal, [&](const auto &) {is_called = true;});
  CHECK(is_called);

  CHECK(world.get(client->async_send_goal(order(47))) == nullptr);

  const auto endless = world.get(client->async_send_goal(order(-1)));
  const auto canceled = world.get(client->async_cancel_goal(endless));
  CHECK(canceled->return_code == action_msgs::srv::CancelGoal::Response::ERROR_NONE);
  CHECK(canceled->goals_canceling.size() == 1);
  CHECK(canceled->goals_canceling[0].goal_id.uuid == endless->get_goal_id());
  const auto ended = world.get(client->async_get_result(endless));
  CHECK(ended.code == rclcpp_action::ResultCode::CANCELED && ended.result->sequence.size() == 2);
  const auto late = world.get(client->async_cancel_goal(endless));
  CHECK(late->return_code == action_msgs::srv::CancelGoal::Response::ERROR_GOAL_TERMINATED);
}

/// A server that keeps its goals.
struct Keeper
{
  using Server = rclcpp_action::Server<Fibonacci>;

  Keeper(World & world, const char * name, rclcpp_action::GoalResponse response)
  {
    auto options = rcl_action_server_get_default_options();
    options.max_goals = 3;
    options.result_timeout.nanoseconds = -1;
    server = sinew::action::try_create_server<Fibonacci>(
      world.server_node, name,
      [response](const auto &, auto goal) {
        if (goal->order == 13) {
          throw std::domain_error("an unlucky number");
        }
        return response;
      },
      [this](auto) {
        return may_cancel ?
               rclcpp_action::CancelResponse::ACCEPT : rclcpp_action::CancelResponse::REJECT;
      },
      [this](auto goal) {goals.push_back(std::move(goal));}, options).value();
  }

  bool may_cancel = true;
  std::vector<std::shared_ptr<GoalHandleFibonacci>> goals;
  Server::SharedPtr server;
};

/// The request to cancel waits in the group's queue before the callback that gets the goal.
void a_goal_is_canceled_before_the_program_gets_it(World & world)
{
  Keeper keeper(world, "early", rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE);
  const auto client = rclcpp_action::create_client<Fibonacci>(world.client_node, "early");
  auto sending = client->async_send_goal(order(1));
  const auto answer = world.get(client->async_cancel_all_goals());
  CHECK(answer->return_code == action_msgs::srv::CancelGoal::Response::ERROR_NONE);
  CHECK_EQ(answer->goals_canceling.size(), 1u);
  const auto sent = world.get(std::move(sending));
  CHECK(keeper.goals.at(0)->is_canceling());
  keeper.goals[0]->canceled(std::make_shared<Fibonacci::Result>());
  CHECK(world.get(client->async_get_result(sent)).code == rclcpp_action::ResultCode::CANCELED);
}

void goals_are_deferred(World & world)
{
  Keeper keeper(world, "deferred", rclcpp_action::GoalResponse::ACCEPT_AND_DEFER);
  CHECK(std::string(keeper.server->get_action_name()) == "/deferred");
  const auto client = rclcpp_action::create_client<Fibonacci>(world.client_node, "deferred");
  const auto sent = world.get(client->async_send_goal(order(1)));
  world.until([&] {return keeper.goals.size() == 1;});
  const auto goal = keeper.goals[0];
  CHECK(goal->is_active() && !goal->is_executing() && goal->get_goal()->order == 1);
  CHECK(sent->get_status() == rclcpp_action::goal_status::ACCEPTED);
  CHECK(goal->try_succeed(Fibonacci::Result()).error().code() == SINEW_ERROR_GOAL_STATE);
  goal->execute();
  CHECK(goal->is_executing() && goal->get_goal_id() == sent->get_goal_id());
  CHECK(goal->try_execute().error().code() == SINEW_ERROR_GOAL_STATE);

  keeper.may_cancel = false;
  auto answer = world.get(client->async_cancel_all_goals());
  CHECK(answer->return_code == action_msgs::srv::CancelGoal::Response::ERROR_REJECTED);
  CHECK(!goal->is_canceling());
  keeper.may_cancel = true;
  int calls = 0;
  answer = world.get(client->async_cancel_goals_before(
        sent->get_goal_stamp(), [&](auto response) {calls += response->goals_canceling.size() == 1;}));
  world.until([&] {return calls == 1;});
  CHECK(goal->is_canceling() && !goal->is_executing() && goal->is_active());
  auto result = std::make_unique<Fibonacci::Result>();
  result->sequence = {7};
  goal->abort(std::move(result));
  CHECK(!goal->is_active());
  const auto ended = world.get(client->async_get_result(sent));
  CHECK(ended.code == rclcpp_action::ResultCode::ABORTED && ended.result->sequence.at(0) == 7);

  // No more than the options allow.
  std::vector<ClientGoal::SharedPtr> several;
  for (std::int32_t i = 0; i < 4; ++i) {
    several.push_back(world.get(client->async_send_goal(order(i))));
  }
  CHECK(several[2] != nullptr && several[3] == nullptr);
  world.until([&] {return keeper.goals.size() == 4;});
  keeper.goals.resize(1);

  // A goal that is destroyed is canceled; one whose server is destroyed has no result.
  const auto dropped = world.get(client->async_send_goal(order(2)));
  world.until([&] {return keeper.goals.size() == 2;});
  keeper.goals.pop_back();
  CHECK(world.get(client->async_get_result(dropped)).code == rclcpp_action::ResultCode::CANCELED);
  const auto orphan = world.get(client->async_send_goal(order(3)));
  world.until([&] {return keeper.goals.size() == 2;});
  keeper.server.reset();
  const auto none = world.get(client->async_get_result(orphan));
  CHECK(none.code == rclcpp_action::ResultCode::UNKNOWN && none.result->sequence.empty());
  CHECK(keeper.goals[1]->is_canceling());
}

void failures_are_exceptions(World & world)
{
  Keeper keeper(world, "failing", rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE);
  const auto client = rclcpp_action::create_client<Fibonacci>(world.client_node, "failing");
  const auto sent = client->async_send_goal(order(13));
  CHECK_THROWS(world.get(sent), std::domain_error);  // that of the callback
  CHECK(world.get(sent) == nullptr);  // rejected
  CHECK_THROWS(
    client->async_get_result(nullptr), rclcpp_action::exceptions::UnknownGoalHandleError);
  CHECK_THROWS(
    rclcpp_action::create_client<Fibonacci>(world.client_node, "no spaces"),
    sinew::exceptions::NameValidationError);
  const auto taken = sinew::action::try_create_server<Fibonacci>(
    world.server_node, "failing", nullptr, nullptr, nullptr);
  CHECK(taken.error().code() == SINEW_ERROR_SERVICE_TAKEN);
}

}  // namespace

int main()
{
  sinew::init(0, nullptr);
  {
    World world;
    a_goal_is_executed(world);
    a_goal_is_canceled_before_the_program_gets_it(world);
    goals_are_deferred(world);
    failures_are_exceptions(world);
  }
  sinew::shutdown();
  return 0;
}
