// What destroying an object with callbacks waits for: the callback that runs on another thread, and
// not the one that destroys it.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"
#include "example_interfaces/action/fibonacci.hpp"
#include "example_interfaces/srv/add_two_ints.hpp"
#include "rcl_interfaces/msg/set_parameters_result.hpp"
#include "sinew/sinew.hpp"

namespace
{

using namespace std::chrono_literals;  // NOLINT(build/namespaces)
using example_interfaces::action::Fibonacci;
using example_interfaces::srv::AddTwoInts;
using Goal = sinew::action::ServerGoalHandle<Fibonacci>;

/// A callback that runs while its object is destroyed on another thread.
class Overlap
{
public:
  /// The callback: it ends long after the destruction has begun.
  void run()
  {
    is_running_ = true;
    while (!is_destroying_) {
      std::this_thread::yield();
    }
    for (int i = 0; i < 3000; ++i) {
      std::this_thread::yield();
    }
    is_over_ = true;
  }

  /// Destroys the object while the callback runs, which must be over afterwards.
  void destroy(const std::function<void ()> & reset)
  {
    while (!is_running_) {
      std::this_thread::yield();
    }
    is_destroying_ = true;
    reset();
    CHECK(is_over_);
  }

private:
  std::atomic<bool> is_running_{false};
  std::atomic<bool> is_destroying_{false};
  std::atomic<bool> is_over_{false};
};

/// A node that three threads spin. Its groups let callbacks run beside each other.
class Robot
{
public:
  Robot()
  : node(sinew::Node::make_shared("robot")),
    group(node->create_callback_group(sinew::CallbackGroupType::Reentrant)),
    executor_(sinew::ExecutorOptions(), 3)
  {
    executor_.add_node(node);
    thread_ = std::thread([this] {executor_.spin();});
  }
  ~Robot()
  {
    executor_.cancel();
    thread_.join();
  }

  sinew::Node::SharedPtr node;
  sinew::CallbackGroup::SharedPtr group;

private:
  sinew::executors::MultiThreadedExecutor executor_;
  std::thread thread_;
};

void wait_until(const std::atomic<bool> & flag)
{
  while (!flag) {
    std::this_thread::yield();
  }
}

void test_client(Robot & robot)
{
  const auto service = robot.node->create_service<AddTwoInts>(
    "add", [](const AddTwoInts::Request &) {return AddTwoInts::Response();});
  const auto request = std::make_shared<AddTwoInts::Request>();
  using Future = sinew::Client<AddTwoInts>::SharedFuture;
  const auto make = [&robot] {
      return robot.node->create_client<AddTwoInts>("add", sinew::ServicesQoS(), robot.group);
    };
  auto client = make();
  Overlap overlap;
  client->async_send_request(request, [&overlap](Future) {overlap.run();});
  overlap.destroy([&client] {client.reset();});

  // In its own callback.
  client = make();
  std::atomic<bool> is_over{false};
  client->async_send_request(
    request, [&](Future) {
      client.reset();
      is_over = true;
    });
  wait_until(is_over);

  // The future of a client that is closed throws.
  const auto deaf = robot.node->create_client<AddTwoInts>("nothing");
  auto waiting = deaf->async_send_request(request);
  CHECK_EQ(sinew_client_close(deaf->handle()), SINEW_OK);
  CHECK_EQ(deaf->try_call(request, 0ns).error().code(), SINEW_ERROR_CLOSED);
  CHECK_EQ(deaf->try_async_send_request(request).error().code(), SINEW_ERROR_CLOSED);
}

/// A client whose thread waits for a response when another one closes the client.
void test_waiting_caller(Robot & robot)
{
  const auto client = robot.node->create_client<AddTwoInts>("nothing");
  std::thread closing([&client] {
      while (sinew_client_close(client->handle()) != SINEW_OK) {}
    });
  const auto answer = client->try_call(AddTwoInts::Request());
  CHECK_EQ(answer.error().code(), SINEW_ERROR_CLOSED);
  closing.join();
}

void test_actions(Robot & robot)
{
  namespace action = sinew::action;
  const auto decide = [](const action::GoalUUID &, std::shared_ptr<const Fibonacci::Goal>) {
      return action::GoalResponse::ACCEPT_AND_EXECUTE;
    };
  const auto cancel = [](const std::shared_ptr<Goal> &) {return action::CancelResponse::ACCEPT;};
  const auto make_server = [&](std::function<void (std::shared_ptr<Goal>)> accepted) {
      return action::create_server<Fibonacci>(
        robot.node, "fibonacci", decide, cancel, std::move(accepted), {}, robot.group);
    };
  auto client = action::create_client<Fibonacci>(robot.node, "fibonacci", robot.group);
  Overlap served;
  auto server = make_server([&served](const std::shared_ptr<Goal> &) {served.run();});
  client->async_send_goal(Fibonacci::Goal());
  served.destroy([&server] {server.reset();});

  std::atomic<bool> is_over{false};
  server = make_server(
    [&](const std::shared_ptr<Goal> &) {
      server.reset();
      is_over = true;
    });
  client->async_send_goal(Fibonacci::Goal());
  wait_until(is_over);

  server = make_server(
    [](const std::shared_ptr<Goal> & goal) {
      (void)goal->try_succeed(Fibonacci::Result());  // perhaps after the server's end
    });
  Overlap answered;
  action::Client<Fibonacci>::SendGoalOptions options;
  options.goal_response_callback = [&answered](auto) {answered.run();};
  client->async_send_goal(Fibonacci::Goal(), options);
  answered.destroy([&client] {client.reset();});

  client = action::create_client<Fibonacci>(robot.node, "fibonacci", robot.group);
  is_over = false;
  options.goal_response_callback = [&](auto) {
      client.reset();
      is_over = true;
    };
  client->async_send_goal(Fibonacci::Goal(), options);
  wait_until(is_over);
}

void test_parameter_callbacks(Robot & robot)
{
  const auto node = robot.node;
  node->declare_parameter("rate", 1);
  Overlap overlap;
  auto callback = node->add_on_set_parameters_callback(
    [&overlap](const std::vector<sinew::Parameter> &) {
      overlap.run();
      rcl_interfaces::msg::SetParametersResult result;
      result.successful = true;
      return result;
    });
  std::thread setting([&node] {CHECK(node->try_set_parameter(sinew::Parameter("rate", 2)));});
  overlap.destroy([&callback] {callback.reset();});
  setting.join();

  auto own = node->add_post_set_parameters_callback([](const std::vector<sinew::Parameter> &) {});
  const auto removing = node->add_post_set_parameters_callback(
    [&own](const std::vector<sinew::Parameter> &) {own.reset();});
  CHECK(node->try_set_parameter(sinew::Parameter("rate", 3)));
  CHECK(own == nullptr);
}

}  // namespace

int main()
{
  sinew::init();
  Robot robot;
  test_client(robot);
  test_waiting_caller(robot);
  test_actions(robot);
  test_parameter_callbacks(robot);
}
