// The very exception that a callback throws comes out of the spin that ran it, whatever the callback
// is for, and the next spin goes on.
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "example_interfaces/action/fibonacci.hpp"
#include "rcl_interfaces/msg/parameter_event.hpp"
#include "rcl_interfaces/msg/set_parameters_result.hpp"
#include "sinew/parameter_event_handler.hpp"
#include "sinew/rclcpp_action.hpp"
#include "sinew/sinew.hpp"
#include "std_msgs/msg/string.hpp"
#include "std_srvs/srv/trigger.hpp"

namespace
{

using namespace std::chrono_literals;  // NOLINT(build/namespaces)
using example_interfaces::action::Fibonacci;
using std_msgs::msg::String;
using std_srvs::srv::Trigger;

/// What callbacks of these tests throw: no other one has its text.
struct Thrown : std::runtime_error
{
  using std::runtime_error::runtime_error;
};

/// Spins until an exception comes out, which is the one with this text. Callbacks that don't throw
/// may run before. `spin` runs callbacks, and waits for one.
void comes_out(const std::string & text, const std::function<void ()> & spin)
{
  std::string thrown;
  while (thrown.empty()) {
    try {
      spin();
    } catch (const Thrown & exception) {
      thrown = exception.what();
    }
  }
  CHECK_EQ(thrown, text);
}

/// A node with an executor of one kind.
template<class ExecutorT>
class Stage
{
public:
  Stage() {executor.add_node(node);}

  void comes_out(const std::string & text)
  {
    ::comes_out(text, [this] {executor.spin_once(60s);});
  }

  /// Whether callbacks still run.
  void goes_on()
  {
    bool has_run = false;
    node->post([&has_run] {has_run = true;});
    while (!has_run) {
      executor.spin_once(60s);
    }
  }

  std::shared_ptr<sinew::Node> node = sinew::Node::make_shared("thrower");
  ExecutorT executor;
};

template<class StageT>
void topics(StageT & stage)
{
  const auto publisher = stage.node->template create_publisher<String>("text", 10);
  const auto throws = [&](auto callback) {
      const auto subscription = stage.node->template create_subscription<String>("text", 10, callback);
      String message;
      message.data = "text";
      publisher->publish(message);
      stage.comes_out("text");
    };
  throws([](const String & message) {throw Thrown(message.data);});
  throws([](std::shared_ptr<const String> message) {throw Thrown(message->data);});
  throws([](std::unique_ptr<String> message) {throw Thrown(message->data);});
  throws([](String message) {throw Thrown(message.data);});
  throws([](sinew::MessageView<String> message) {throw Thrown(message.read().data);});
  stage.goes_on();
}

template<class StageT>
void events(StageT & stage)
{
  sinew::SubscriptionOptions options;
  options.event_callbacks.matched_callback = [](sinew::MatchedInfo &) {throw Thrown("matched");};
  const auto subscription =
    stage.node->template create_subscription<String>("seen", 10, [](const String &) {}, options);
  const auto publisher = stage.node->template create_publisher<String>("seen", 10);
  stage.comes_out("matched");
  stage.goes_on();
}

template<class StageT>
void timers_and_others(StageT & stage)
{
  {
    const auto timer = stage.node->create_wall_timer(1ms, [] {throw Thrown("timer");});
    stage.comes_out("timer");
    stage.comes_out("timer");
  }
  const auto guard = stage.node->create_guard_condition([] {throw Thrown("guard");});
  guard->trigger();
  stage.comes_out("guard");
  stage.node->post([] {throw Thrown("posted");});
  stage.comes_out("posted");
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  CHECK_EQ(write(ends[1], "x", 1), 1);
  {
    const auto source =
      stage.node->create_descriptor_source(ends[0], [] {throw Thrown("descriptor");});
    stage.comes_out("descriptor");
  }
  close(ends[0]);
  close(ends[1]);
  stage.goes_on();
}

template<class StageT>
void services(StageT & stage)
{
  using Client = sinew::Client<Trigger>;
  const auto client = stage.node->template create_client<Trigger>("pull");
  const auto request = std::make_shared<Trigger::Request>();
  {
    const auto service = stage.node->template create_service<Trigger>(
      "pull", [](const Trigger::Request &) -> Trigger::Response {throw Thrown("service");});
    auto answer = client->async_send_request(request);
    stage.comes_out("service");
    stage.executor.spin_until_future_complete(answer);
    CHECK_THROWS(answer.get(), sinew::exceptions::RCLError);
  }
  const auto service = stage.node->template create_service<Trigger>(
    "pull", [](const Trigger::Request &, Trigger::Response &) {});
  client->async_send_request(request, [](Client::SharedFuture) {throw Thrown("client");});
  stage.comes_out("client");
  stage.goes_on();
}

template<class StageT>
void parameters(StageT & stage)
{
  sinew::ParameterEventHandler handler(stage.node);
  const auto callback = handler.add_parameter_callback(
    "speed", [](const sinew::Parameter &) {throw Thrown("parameter");});
  stage.node->declare_parameter("speed", 1);
  stage.comes_out("parameter");
  stage.goes_on();

  // Callbacks that decide about values belong to who sets them: it gets a reason.
  const auto on_set = stage.node->add_on_set_parameters_callback(
    [](const std::vector<sinew::Parameter> &) -> rcl_interfaces::msg::SetParametersResult {
      throw Thrown("too fast");
    });
  const auto result = stage.node->set_parameter(sinew::Parameter("speed", 2));
  CHECK(!result.successful && result.reason.find("too fast") != std::string::npos);
}

/// An exception in each callback of a goal's server, and of its client.
template<class StageT>
void actions(StageT & stage)
{
  using Goal = std::shared_ptr<rclcpp_action::ServerGoalHandle<Fibonacci>>;
  using Client = rclcpp_action::Client<Fibonacci>;
  std::string where = "goal";
  Goal accepted;
  const auto at = [&where](const std::string & here) {
      if (where == here) {
        where.clear();
        throw Thrown(here);
      }
    };
  const auto server = rclcpp_action::create_server<Fibonacci>(
    stage.node, "fibonacci",
    [&](const rclcpp_action::GoalUUID &, std::shared_ptr<const Fibonacci::Goal>) {
      at("goal");
      return rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
    },
    [&](Goal) {
      at("cancel");
      return rclcpp_action::CancelResponse::ACCEPT;
    },
    [&](Goal goal) {
      accepted = std::move(goal);
      at("accepted");
    });
  const auto client = rclcpp_action::create_client<Fibonacci>(stage.node, "fibonacci");
  typename Client::SendGoalOptions options;
  options.goal_response_callback = [&](typename Client::GoalHandle::SharedPtr) {at("response");};
  options.feedback_callback =
    [&](typename Client::GoalHandle::SharedPtr, std::shared_ptr<const Fibonacci::Feedback>) {
      at("feedback");
    };
  options.result_callback = [&](const typename Client::GoalHandle::WrappedResult &) {at("result");};
  for (const std::string here : {"goal", "accepted", "response"}) {
    where = here;
    client->async_send_goal(Fibonacci::Goal(), options);
    stage.comes_out(here);
  }
  auto sent = client->async_send_goal(Fibonacci::Goal(), options);
  CHECK(
    stage.executor.spin_until_future_complete(sent) == sinew::FutureReturnCode::SUCCESS && sent.get());
  where = "feedback";
  accepted->publish_feedback(std::make_shared<Fibonacci::Feedback>());
  stage.comes_out("feedback");
  where = "cancel";
  client->async_cancel_goal(sent.get());
  stage.comes_out("cancel");
  where = "result";
  accepted->succeed(std::make_shared<Fibonacci::Result>());
  stage.comes_out("result");
  accepted.reset();
  stage.goes_on();
}

template<class ExecutorT>
void in_all_callbacks()
{
  Stage<ExecutorT> stage;
  topics(stage);
  events(stage);
  timers_and_others(stage);
  services(stage);
  parameters(stage);
  actions(stage);
}

/// From another thread of the executor as well.
void out_of_a_spin_of_threads()
{
  Stage<sinew::executors::MultiThreadedExecutor> stage;
  const auto group = stage.node->create_callback_group(sinew::CallbackGroupType::Reentrant);
  const auto publisher = stage.node->create_publisher<String>("text", 10);
  sinew::SubscriptionOptions options;
  options.callback_group = group;
  const auto subscription = stage.node->create_subscription<String>(
    "text", 10, [](const String & message) {throw Thrown(message.data);}, options);
  for (int i = 0; i < 10; ++i) {
    String message;
    message.data = "text " + std::to_string(i);
    publisher->publish(message);
    comes_out(message.data, [&stage] {stage.executor.spin();});
  }
}

/// Callbacks that a wait set runs.
void out_of_a_wait_set()
{
  const auto node = sinew::Node::make_shared("waiter");
  const auto guard = node->create_guard_condition([] {throw Thrown("guard");});
  sinew::WaitSet set;
  set.add_node(node);
  guard->trigger();
  comes_out(
    "guard", [&set] {
      for (const auto ready : set.wait(60s)) {
        ready.run();
      }
    });
}

/// The forms that don't throw return the sentence, which names the callback.
void as_values()
{
  Stage<sinew::executors::SingleThreadedExecutor> stage;
  const auto guard = stage.node->create_guard_condition([] {throw Thrown("as a value");});
  const auto fails = [&](auto spin) {
      guard->trigger();
      const auto outcome = spin();
      CHECK(!outcome && outcome.error().code() == SINEW_ERROR_CALLBACK_FAILED);
      const std::string & sentence = outcome.error().sentence();
      CHECK(sentence.find("/thrower") != std::string::npos);
      CHECK(sentence.find("as a value") != std::string::npos);
    };
  auto & executor = stage.executor;
  fails([&] {return executor.try_spin();});
  fails([&] {return executor.try_spin_some();});
  fails([&] {return executor.try_spin_all(0s);});
  fails([&] {return executor.try_spin_once(0s);});
  const auto none = executor.try_spin_once(0s);
  CHECK(none && !*none);
  executor.remove_node(stage.node);
  sinew::WaitSet set;
  set.add_node(stage.node);
  fails([&] {return set.wait(60s)[0].try_run();});
}

/// The names of a failure, by their kinds.
template<class Expected, class F>
void check_name(F make, const char * type, const std::string & name, std::size_t index)
{
  try {
    make();
  } catch (const Expected & error) {
    CHECK_EQ(error.name_type, type);
    CHECK_EQ(error.name, name);
    CHECK_EQ(error.invalid_index, index);
    CHECK_EQ(error.error_msg, error.what());
    CHECK_EQ(error.code(), SINEW_ERROR_INVALID_NAME);
    const sinew::exceptions::NameValidationError & base = error;
    CHECK_EQ(base.name, name);
    return;
  }
  check_failed(__FILE__, __LINE__, "nothing was thrown");
}

void about_names()
{
  using namespace sinew::exceptions;  // NOLINT(build/namespaces)
  sinew::Node node("names");
  check_name<InvalidNodeNameError>([] {sinew::Node("a b");}, "node name", "a b", 1);
  check_name<InvalidNamespaceError>([] {sinew::Node("a", "/b//c");}, "namespace", "/b//c", 3);
  check_name<InvalidTopicNameError>(
    [&node] {node.create_publisher<std_msgs::msg::String>("te xt", 1);}, "topic name", "te xt", 2);
  check_name<InvalidServiceNameError>(
    [&node] {node.create_client<std_srvs::srv::Trigger>("/1st");}, "service name", "/1st",
    1);
  const auto failed = sinew::Node::try_make("");
  CHECK(failed.error().invalid_name() != nullptr && failed.error().invalid_name()->name.empty());
  CHECK(sinew::Error(SINEW_ERROR_TIMEOUT, "late").invalid_name() == nullptr);
  sinew_invalid_name name = sinew::detail::options<sinew_invalid_name>();
  CHECK(sinew_error_invalid_name(&name));
  CHECK(!sinew_error_invalid_name(nullptr));
  CHECK_EQ(sinew_context_shutdown(nullptr), SINEW_ERROR_NULL_ARGUMENT);
  CHECK(!sinew_error_invalid_name(&name));
}

}  // namespace

int main(int argc, char ** argv)
{
  sinew::init(argc, argv);
  in_all_callbacks<sinew::executors::SingleThreadedExecutor>();
  in_all_callbacks<sinew::executors::MultiThreadedExecutor>();
  out_of_a_spin_of_threads();
  out_of_a_wait_set();
  as_values();
  about_names();
  sinew::shutdown();
}
