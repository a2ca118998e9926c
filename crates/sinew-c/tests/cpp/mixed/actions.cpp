// One side of an action in a process of its own; the other one is of Rust: `actions server`
// serves until its input ends, `actions client` sends its goals.
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "check.hpp"
#include "example_interfaces/action/fibonacci.hpp"
#include "sinew/rclcpp_action.hpp"
#include "sinew/sinew.hpp"

namespace
{

using example_interfaces::action::Fibonacci;
using namespace std::chrono_literals;  // NOLINT(build/namespaces)
using ServerGoal = rclcpp_action::ServerGoalHandle<Fibonacci>;
using ClientGoal = rclcpp_action::ClientGoalHandle<Fibonacci>;

/// A negative order is rejected; one of 100 runs until it is cancelled.
void serve()
{
  const auto node = sinew::Node::make_shared("cpp_server");
  const auto server = rclcpp_action::create_server<Fibonacci>(
    node.get(), "fibonacci",
    [](const rclcpp_action::GoalUUID &, std::shared_ptr<const Fibonacci::Goal> goal) {
      return goal->order < 0 ?
             rclcpp_action::GoalResponse::REJECT : rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
    },
    [](const std::shared_ptr<ServerGoal>) {return rclcpp_action::CancelResponse::ACCEPT;},
    [](const std::shared_ptr<ServerGoal> handle) {
      std::thread([handle] {
        auto result = std::make_shared<Fibonacci::Result>();
        if (handle->get_goal()->order == 100) {
          while (!handle->is_canceling()) {
            std::this_thread::yield();
          }
          handle->canceled(result);
          return;
        }
        auto feedback = std::make_shared<Fibonacci::Feedback>();
        feedback->sequence = {0, 1};
        for (std::int32_t i = 1; i < handle->get_goal()->order; ++i) {
          const std::size_t last = feedback->sequence.size() - 1;
          feedback->sequence.push_back(feedback->sequence[last] + feedback->sequence[last - 1]);
          handle->publish_feedback(feedback);
        }
        result->sequence = feedback->sequence;
        handle->succeed(result);
      }).detach();
    });
  sinew::executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  std::thread input([&executor] {
      while (std::getchar() != EOF) {
      }
      executor.cancel();
    });
  executor.spin();
  input.join();
}

Fibonacci::Goal order(std::int32_t number)
{
  Fibonacci::Goal goal;
  goal.order = number;
  return goal;
}

void ask()
{
  const auto node = sinew::Node::make_shared("cpp_client");
  const auto client = rclcpp_action::create_client<Fibonacci>(node, "fibonacci");
  CHECK(client->wait_for_action_server(60s));
  const auto get = [&node](auto future) {
      CHECK(sinew::spin_until_future_complete(node, future, 60s) == sinew::FutureReturnCode::SUCCESS);
      return future.get();
    };
  std::size_t pieces = 0;
  rclcpp_action::Client<Fibonacci>::SendGoalOptions options;
  options.feedback_callback =
    [&](ClientGoal::SharedPtr, const std::shared_ptr<const Fibonacci::Feedback> feedback) {
      ++pieces;
      CHECK_EQ(feedback->sequence.size(), pieces + 2);
    };
  const auto goal = get(client->async_send_goal(order(5), options));
  CHECK(goal != nullptr);
  const auto result = get(client->async_get_result(goal));
  CHECK(result.code == rclcpp_action::ResultCode::SUCCEEDED);
  CHECK(result.result->sequence == (std::vector<std::int32_t>{0, 1, 1, 2, 3, 5}));
  CHECK_EQ(pieces, 4u);

  CHECK(get(client->async_send_goal(order(-1))) == nullptr);

  const auto endless = get(client->async_send_goal(order(100)));
  CHECK_EQ(get(client->async_cancel_goal(endless))->goals_canceling.size(), 1u);
  CHECK(get(client->async_get_result(endless)).code == rclcpp_action::ResultCode::CANCELED);
}

}  // namespace

int main(int argc, char ** argv)
{
  sinew::init(argc, argv);
  CHECK(argc > 1);
  std::string(argv[1]) == "server" ? serve() : ask();
  sinew::shutdown();
}
