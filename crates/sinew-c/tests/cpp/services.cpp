// Services and clients in all their forms, coroutines, and the graph.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"
#include "example_interfaces/srv/add_two_ints.hpp"
#include "sinew/sinew.hpp"
#include "std_srvs/srv/set_bool.hpp"

namespace
{

using example_interfaces::srv::AddTwoInts;
using std_srvs::srv::SetBool;
using Request = AddTwoInts::Request;
using Response = AddTwoInts::Response;
using AddClient = sinew::Client<AddTwoInts>;
using AddService = sinew::Service<AddTwoInts>;

std::unique_ptr<Request> numbers(int a, int b)
{
  auto request = std::make_unique<Request>();
  request->a = a;
  request->b = b;
  return request;
}

/// An executor of C with a node: the room of executors tests those of C++.
class Executor
{
public:
  explicit Executor(const sinew::Node & node)
  {
    auto settings = sinew::detail::options<sinew_executor_options>();
    settings.on_error = SINEW_FAULT_STOP;
    sinew::detail::check(sinew_executor_new(&settings, sinew::detail::Out(handle_)));
    sinew::detail::check(sinew_executor_add_node(handle_.get(), node.handle()));
  }

  void spin_some() {sinew::detail::check_spin(sinew_executor_spin_some(handle_.get(), nullptr));}

  template<class F>
  void spin_until(F && is_over)
  {
    while (!is_over()) {
      sinew::detail::check_spin(sinew_executor_spin_once(handle_.get(), 1000000, nullptr));
    }
  }

  template<class Future>
  void complete(const Future & future)
  {
    spin_until([&future] {
        return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
      });
  }

  sinew_executor * handle() const {return handle_.get();}

private:
  sinew::detail::Handle<sinew_executor, sinew_executor_free> handle_;
};

/// A thread that spins an executor.
class Spinner
{
public:
  explicit Spinner(const sinew::Node & node)
  : executor_(node),
    thread_([this] {sinew::detail::check(sinew_executor_spin(executor_.handle()));}) {}
  ~Spinner()
  {
    (void)sinew_executor_stop(executor_.handle());
    thread_.join();
  }

private:
  Executor executor_;
  std::thread thread_;
};

void add(const std::shared_ptr<Request> request, std::shared_ptr<Response> response)
{
  response->sum = request->a + request->b;
}

struct Adder
{
  void with_id(
    std::shared_ptr<sinew::RequestId> id, std::shared_ptr<Request> request,
    std::shared_ptr<Response> response)
  {
    CHECK(id->sequence_number > 0);
    add(request, response);
  }
};

/// Each form of a callback answers.
void forms_of_callbacks()
{
  const auto node = sinew::Node::make_shared("forms");
  Executor executor(*node);
  const auto client = node->create_client<AddTwoInts>("add");
  const auto answers = [&](auto && callback) {
      const auto service = node->create_service<AddTwoInts>("add", callback);
      CHECK_EQ(std::string(service->get_service_name()), "/add");
      CHECK(client->wait_for_service(std::chrono::seconds(20)) && client->service_is_ready());
      auto future = client->async_send_request(numbers(1, 2));
      executor.complete(future);
      CHECK(future.get()->sum == 3);
    };
  using std::placeholders::_1;
  using std::placeholders::_2;
  using std::placeholders::_3;
  Adder adder;
  answers(add);
  answers(&add);
  answers(std::bind(add, _1, _2));
  answers(std::bind(&Adder::with_id, &adder, _1, _2, _3));
  answers([](auto request, auto response) {response->sum = request->a + request->b;});
  answers([](std::shared_ptr<const Request> request, std::shared_ptr<Response> response) {
      response->sum = request->a + request->b;
    });
  answers([](const Request & request, Response & response) {response.sum = request.a + request.b;});
  answers([](const Request & request) {
      Response response;
      response.sum = request.a + request.b;
      return response;
    });
  answers([](const Request & request) -> sinew::Result<Response> {
      Response response;
      response.sum = request.a + request.b;
      return response;
    });
  std::shared_ptr<Response> kept;
  answers([&kept](std::shared_ptr<Request> request, std::shared_ptr<Response> response) {
      kept = response;
      response->sum = request->a + request->b;
    });
  CHECK_EQ(kept->sum, 3);
  answers([](std::shared_ptr<AddService> service, std::shared_ptr<sinew::RequestId> id,
    std::shared_ptr<Request> request) {
      Response response;
      response.sum = request->a + request->b;
      service->send_response(*id, response);
    });
  CHECK(!client->service_is_ready());
  CHECK(!sinew::Service<AddTwoInts>::try_make(node->handle(), "bad name", add));
}

/// Inside a process, what is sent arrives where it lies.
void nothing_is_copied()
{
  const auto node = sinew::Node::make_shared("ownership");
  const Spinner spinner(*node);
  const void * request_place = nullptr;
  const void * response_place = nullptr;
  const char * text_place = nullptr;
  const auto service = node->create_service<SetBool>(
    "switch", [&](std::shared_ptr<SetBool::Request> request, std::shared_ptr<SetBool::Response> response) {
      request_place = request.get();
      response_place = response.get();
      response->message = std::string(1000, 'x');
      text_place = response->message.data();
    });
  const auto client = node->create_client<SetBool>("switch");
  auto request = std::make_unique<SetBool::Request>();
  const void * const sent = request.get();
  const auto response = client->call(std::move(request));
  CHECK(request_place == sent && response_place == response.get());
  CHECK(text_place == response->message.data() && response->message.size() == 1000);

  // A shared request is copied, as the program may send it again; moved, if the program gives it up.
  auto shared = std::make_shared<SetBool::Request>();
  shared->data = true;
  (void)client->call(shared);
  CHECK(request_place != shared.get() && shared->data);
  (void)client->call(std::move(shared));
  (void)client->call(SetBool::Request());
  const SetBool::Request constant;
  (void)client->call(constant);
  const auto nothing = client->try_call(std::shared_ptr<SetBool::Request>());
  CHECK(!nothing && nothing.error().code() == SINEW_ERROR_NULL_ARGUMENT);
}

/// Answers that come later, from another thread, and in another order.
void deferred_answers()
{
  const auto node = sinew::Node::make_shared("deferred");
  Executor executor(*node);
  std::vector<sinew::RequestId> waiting;
  const auto service = node->create_service<AddTwoInts>(
    "later", [&](std::shared_ptr<sinew::RequestId> id, std::shared_ptr<Request>) {
      waiting.push_back(*id);
    });
  const auto client = node->create_client<AddTwoInts>("later");
  auto first = client->async_send_request(numbers(1, 1));
  auto second = client->async_send_request(numbers(2, 2));
  auto third = client->async_send_request(numbers(3, 3));
  executor.spin_until([&] {return waiting.size() == 3;});
  CHECK(waiting[0] != waiting[1] && waiting[0] < waiting[1]);
  std::thread([&] {
      Response response;
      response.sum = 20;
      service->send_response(waiting[1], response);
      response.sum = 10;
      service->send_response(waiting[0], std::make_unique<Response>(response));
    }).join();
  CHECK(service->try_send_error(waiting[2], "out of numbers"));
  executor.complete(first);
  executor.complete(second);
  executor.complete(third);
  CHECK(first.get()->sum == 10 && second.get()->sum == 20);
  CHECK_THROWS(third.get(), sinew::exceptions::RCLError);
  const auto again = service->try_send_response(waiting[0], Response());
  CHECK(!again && again.error().code() == SINEW_ERROR_REQUEST_NOT_IN_HAND);
  CHECK(!service->try_send_error(waiting[0], "again"));

  // A callback that throws before anyone has answered fails the call.
  const auto failing = node->create_service<AddTwoInts>(
    "unlucky", [](std::shared_ptr<sinew::RequestId>, std::shared_ptr<Request>) {
      throw std::out_of_range("thirteen");
    });
  const auto caller = node->create_client<AddTwoInts>("unlucky");
  auto unlucky = caller->async_send_request(numbers(13, 13));
  CHECK_THROWS(executor.complete(unlucky), std::out_of_range);
  executor.complete(unlucky);
  CHECK_THROWS(unlucky.get(), sinew::exceptions::RCLError);
}

/// Callbacks of clients, and requests that are given up.
void callbacks_of_clients()
{
  const auto node = sinew::Node::make_shared("callbacks");
  Executor executor(*node);
  const auto group = node->create_callback_group(sinew::CallbackGroupType::Reentrant);
  const auto client = node->create_client<AddTwoInts>("sum", sinew::ServicesQoS(), group);
  std::vector<std::int64_t> sums;
  const auto keep = [&sums](AddClient::SharedFuture future) {sums.push_back(future.get()->sum);};
  const auto request = std::make_shared<Request>();
  request->a = 40;
  const auto with_callback = client->async_send_request(request, keep);
  const auto with_request = client->async_send_request(
    request, [&sums](AddClient::SharedFutureWithRequest future) {
      sums.push_back(future.get().first->a + future.get().second->sum);
    });
  CHECK(with_callback.request_id != with_request.request_id);
  auto dropped = std::make_shared<int>();
  const std::weak_ptr<int> alive = dropped;
  auto given_up = client->async_send_request(
    numbers(1, 1), [dropped = std::move(dropped)](AddClient::SharedFuture) {CHECK(false);});
  CHECK(client->remove_pending_request(given_up) && alive.expired());
  CHECK(!client->remove_pending_request(given_up.request_id));
  const auto service = node->create_service<AddTwoInts>("sum", add, sinew::ServicesQoS(), group);
  executor.spin_until([&sums] {return sums.size() == 2;});
  CHECK_EQ(sums[0] + sums[1], 40 + 40 + 40);
  CHECK(with_callback.get()->sum == 40);
  CHECK_EQ(client->prune_pending_requests(), 0u);

  const auto lonely = node->create_client<AddTwoInts>("nobody");
  CHECK(!lonely->wait_for_service(std::chrono::milliseconds(0)));
  (void)lonely->async_send_request(numbers(1, 1));
  const auto later = lonely->async_send_request(numbers(1, 1));
  std::vector<std::int64_t> pruned;
  CHECK_EQ(lonely->prune_requests_older_than(std::chrono::system_clock::time_point()), 0u);
  CHECK_EQ(
    lonely->prune_requests_older_than(std::chrono::system_clock::time_point::max(), &pruned), 2u);
  CHECK_EQ(pruned.back(), later.request_id);
}

/// A callback that fails makes the call fail with its sentence, and throws out of the spin.
void failures()
{
  const auto node = sinew::Node::make_shared("failures");
  Executor executor(*node);
  auto service = node->create_service<AddTwoInts>(
    "fail", [](const Request & request) -> sinew::Result<Response> {
      if (request.a == 0) {
        throw std::out_of_range("zero");
      }
      return sinew::Error(SINEW_ERROR_REFUSED, "not today");
    });
  const auto client = node->create_client<AddTwoInts>("fail");
  auto refused = client->async_send_request(numbers(1, 1));
  executor.complete(refused);
  try {
    (void)refused.get();
    CHECK(false);
  } catch (const sinew::exceptions::RCLError & error) {
    CHECK(std::string(error.what()).find("not today") != std::string::npos);
  }
  auto thrown = client->async_send_request(numbers(0, 0));
  CHECK_THROWS(executor.complete(thrown), std::out_of_range);
  executor.complete(thrown);
  CHECK_THROWS(thrown.get(), sinew::exceptions::RCLError);
  auto left = client->async_send_request(numbers(1, 1));
  service.reset();
  executor.spin_some();
  const auto late = client->try_call(numbers(1, 1), std::chrono::nanoseconds(0));
  CHECK(!late);
  CHECK(client->prune_pending_requests() <= 1);
}

/// The sentence of a failure may be no UTF-8, such as the name of a file, and what the client's
/// listener does on the thread of the callback hides no exception.
void failures_that_are_no_text()
{
  const auto node = sinew::Node::make_shared("no_text");
  Executor executor(*node);
  std::vector<sinew::RequestId> waiting;
  const auto service = node->create_service<AddTwoInts>(
    "no_text", [&waiting](std::shared_ptr<sinew::RequestId> id, std::shared_ptr<Request> request) {
      if (request->a == 0) {
        throw std::out_of_range("caf\xe9");
      }
      waiting.push_back(*id);
    });
  const auto returning = node->create_service<AddTwoInts>(
    "returning", [](const Request &) -> sinew::Result<Response> {
      return sinew::Error(SINEW_ERROR_REFUSED, "caf\xe9");
    });
  const auto fails_with = [](auto & future, const std::string & sentence) {
      try {
        (void)future.get();
        return false;
      } catch (const sinew::exceptions::RCLError & error) {
        return std::string(error.what()).find(sentence) != std::string::npos;
      }
    };
  const std::string displayed = "caf\xef\xbf\xbd";

  const auto client = node->create_client<AddTwoInts>("no_text");
  bool is_called = false;
  client->set_on_new_response_callback([&](std::size_t) {
      is_called = true;
      CHECK(!node->try_create_publisher<example_interfaces::srv::AddTwoInts_Event>("bad name", 1));
    });
  auto thrown = client->async_send_request(numbers(0, 0));
  CHECK_THROWS(executor.complete(thrown), std::out_of_range);
  CHECK(is_called);
  executor.complete(thrown);
  CHECK(fails_with(thrown, displayed));

  auto later = client->async_send_request(numbers(1, 1));
  executor.spin_until([&waiting] {return !waiting.empty();});
  CHECK(service->try_send_error(waiting[0], "caf\xe9"));
  executor.complete(later);
  CHECK(fails_with(later, displayed));

  const auto other = node->create_client<AddTwoInts>("returning");
  auto refused = other->async_send_request(numbers(1, 1));
  executor.complete(refused);
  CHECK(fails_with(refused, displayed));
  sinew_server_statistics counters{};
  counters.size = sizeof counters;
  CHECK_EQ(sinew_server_read_statistics(service->handle(), &counters), SINEW_OK);
  CHECK(counters.in_hand == 0 && counters.failed == 2);
}

/// A service that ends while another thread runs its callback waits for that.
void ends_with_its_callback()
{
  const auto node = sinew::Node::make_shared("ending");
  const Spinner spinner(*node);
  std::atomic<bool> runs{false}, may_end{false}, has_ended{false};
  auto service = node->create_service<AddTwoInts>(
    "slow", [&](const Request &) {
      runs = true;
      while (!may_end) {
        std::this_thread::yield();
      }
      has_ended = true;
      return Response();
    });
  const auto client = node->create_client<AddTwoInts>("slow");
  std::thread caller([&] {(void)client->try_call(numbers(1, 1));});
  while (!runs) {
    std::this_thread::yield();
  }
  std::thread ender([&] {
      may_end = true;
      service.reset();
      CHECK(has_ended);
    });
  ender.join();
  caller.join();
}

#ifdef SINEW_HAS_COROUTINES

sinew::Task<std::int64_t> sum_of(AddClient & client, int a, int b)
{
  const auto response = co_await client.call_async(numbers(a, b));
  co_return response->sum;
}

sinew::Task<> sum_of_three(AddClient & client, std::int64_t & sum)
{
  sum = co_await sum_of(client, static_cast<int>(co_await sum_of(client, 1, 2)), 3);
}

sinew::Task<> fails(AddClient & client, int & caught)
{
  const auto result = co_await client.try_call_async(numbers(0, 0));
  CHECK(!result && result.error().sentence().find("zero") != std::string::npos);
  try {
    (void)co_await sum_of(client, 0, 0);
  } catch (const sinew::exceptions::RCLError &) {
    ++caught;
  }
  const auto null = co_await client.try_call_async(std::shared_ptr<Request>());
  CHECK(!null);
  throw std::domain_error("the task");
}

sinew::Task<> waits(AddClient & client, std::shared_ptr<int> owned, bool & is_resumed)
{
  (void)co_await sum_of(client, 1, *owned);
  is_resumed = true;
}

void coroutines()
{
  const auto node = sinew::Node::make_shared("tasks");
  Executor executor(*node);
  const auto client = node->create_client<AddTwoInts>("add");
  const auto service = node->create_service<AddTwoInts>(
    "add", [](const Request & request) -> sinew::Result<Response> {
      Response response;
      response.sum = request.a + request.b;
      return response.sum == 0 ? sinew::Result<Response>(sinew::Error(SINEW_ERROR_REFUSED, "zero")) :
             sinew::Result<Response>(response);
    });
  std::int64_t sum = 0;
  node->spawn(sum_of_three(*client, sum));
  executor.spin_until([&sum] {return sum == 6;});

  int caught = 0;
  node->spawn(fails(*client, caught));
  CHECK_THROWS(executor.spin_until([] {return false;}), std::domain_error);
  CHECK_EQ(caught, 1);

  // A task that waits in vain is destroyed; one that never began, too.
  bool is_resumed = false;
  auto owned = std::make_shared<int>(1);
  auto lonely = node->create_client<AddTwoInts>("nobody");
  node->spawn(waits(*lonely, owned, is_resumed));
  executor.spin_until([&owned] {return owned.use_count() == 2;});
  executor.spin_some();
  lonely.reset();
  CHECK(owned.use_count() == 1 && !is_resumed);
  {
    const auto task = waits(*client, owned, is_resumed);
    CHECK_EQ(owned.use_count(), 2);
  }
  CHECK_EQ(owned.use_count(), 1);
}

#endif  // SINEW_HAS_COROUTINES

void graph()
{
  const auto node = sinew::Node::make_shared("grapher", "arm");
  const auto event = node->get_graph_event();
  const auto other = sinew::Node::make_shared("other");
  node->wait_for_graph_change(event, std::chrono::seconds(20));
  CHECK(event->check() && event->check_and_clear());
  const auto names = node->get_node_names();
  CHECK(std::find(names.begin(), names.end(), "/arm/grapher") != names.end());
  CHECK(std::find(names.begin(), names.end(), "/other") != names.end());
  const auto service = node->create_service<AddTwoInts>("add", add);
  const auto client = other->create_client<AddTwoInts>("/arm/add");
  CHECK_EQ(node->count_services("add"), 1u);
  CHECK_EQ(node->count_clients("/arm/add"), 1u);
  CHECK_EQ(other->count_services("add"), 0u);
  const auto services = node->get_service_names_and_types();
  CHECK(services.at("/arm/add") == (std::vector<std::string>{"example_interfaces/srv/AddTwoInts"}));
  CHECK_EQ(node->get_service_names_and_types_by_node("grapher", "/arm").count("/arm/add"), 1u);
  CHECK_EQ(node->get_service_names_and_types_by_node("other", "/").count("/arm/add"), 0u);
  node->declare_parameter("a", 1);  // which makes the publisher of its events
  other->declare_parameter("a", 1);
  const auto topics = node->get_topic_names_and_types();
  CHECK(topics.at("/parameter_events") == (std::vector<std::string>{"rcl_interfaces/msg/ParameterEvent"}));
  CHECK_EQ(node->count_publishers("/parameter_events"), 2u);
  CHECK_EQ(node->count_subscribers("/parameter_events"), 0u);
  const auto publishers = node->get_publishers_info_by_topic("/parameter_events");
  CHECK_EQ(publishers.size(), 2u);
  for (const auto & one : publishers) {
    CHECK(one.node_name() == "grapher" ? one.node_namespace() == "/arm" : one.node_name() == "other");
    CHECK(one.topic_type() == "rcl_interfaces/msg/ParameterEvent");
    CHECK(one.endpoint_type() == sinew::EndpointType::Publisher);
    CHECK(one.topic_type_hash().substr(0, 7) == "RIHS01_");
    CHECK(one.qos_profile().reliability() == sinew::ReliabilityPolicy::Reliable);
  }
  CHECK(publishers[0].endpoint_gid() != publishers[1].endpoint_gid());
  CHECK(node->get_subscriptions_info_by_topic("/parameter_events").empty());
  node->wait_for_graph_change(event, std::chrono::seconds(20));
  CHECK(event->check_and_clear());
}

/// Listeners of both ends count; events of both ends say what they exchange.
void seen_from_outside()
{
  const auto node = sinew::Node::make_shared("seen");
  Executor executor(*node);
  const auto service = node->create_service<AddTwoInts>("seen", add);
  const auto client = node->create_client<AddTwoInts>("seen");
  std::atomic<std::size_t> requests{0};
  std::atomic<std::size_t> responses{0};
  auto early = client->async_send_request(numbers(1, 1));
  service->set_on_new_request_callback([&](std::size_t count) {requests += count;});
  CHECK_EQ(requests.load(), 1u);
  client->set_on_new_response_callback([&](std::size_t count) {responses += count;});
  auto late = client->async_send_request(numbers(2, 2));
  CHECK_EQ(requests.load(), 2u);
  CHECK_EQ(responses.load(), 0u);
  executor.complete(early);
  executor.complete(late);
  CHECK_EQ(responses.load(), 2u);
  CHECK_EQ(late.get()->sum, 4);
  service->clear_on_new_request_callback();
  client->clear_on_new_response_callback();

  using Event = example_interfaces::srv::AddTwoInts_Event;
  const auto events = node->create_subscription<Event>("seen/_service_event", 10);
  using State = sinew::ServiceIntrospectionState;
  service->configure_introspection(node->get_clock(), sinew::QoS(10), State::Contents);
  client->configure_introspection(node->get_clock(), sinew::QoS(10), State::Metadata);
  auto call = client->async_send_request(numbers(40, 2));
  executor.complete(call);
  CHECK_EQ(requests.load(), 2u);
  CHECK_EQ(responses.load(), 2u);
  Event event;
  sinew::MessageInfo info;
  CHECK(events->take(event, info) && event.info.event_type == 0 && event.request.empty());
  CHECK(events->take(event, info) && event.info.event_type == 1 && event.response.empty());
  CHECK(event.request.at(0).a == 40 && event.info.sequence_number == 3);
  CHECK(events->take(event, info) && event.info.event_type == 2 && event.request.empty());
  CHECK_EQ(event.response.at(0).sum, 42);
  CHECK(events->take(event, info) && event.info.event_type == 3 && event.response.empty());
  CHECK(service->try_configure_introspection(sinew::QoS(10), State::Off));
  CHECK(client->try_configure_introspection(sinew::QoS(10), State::Off));
  executor.complete(client->async_send_request(numbers(0, 0)));
  CHECK(!events->take(event, info));
}

/// Relative names of topics and services lie in the sub-node's namespace.
void sub_nodes()
{
  const auto node = sinew::Node::make_shared("arm", "robot");
  const auto left = node->create_sub_node("left");
  const auto finger = left->create_sub_node("hand/finger");
  CHECK(node->get_sub_namespace().empty() && node->get_effective_namespace() == "/robot");
  CHECK(left->get_sub_namespace() == "left" && left->get_effective_namespace() == "/robot/left");
  CHECK(finger->get_sub_namespace() == "left/hand/finger");
  CHECK(finger->get_effective_namespace() == "/robot/left/hand/finger");
  CHECK(std::string(finger->get_fully_qualified_name()) == "/robot/arm");
  CHECK(sinew::Node::make_shared("root")->create_sub_node("a")->get_effective_namespace() == "/a");

  const auto service = left->create_service<AddTwoInts>("add", add);
  CHECK(std::string(service->get_service_name()) == "/robot/left/add");
  CHECK(std::string(left->create_client<AddTwoInts>("add")->get_service_name()) == "/robot/left/add");
  CHECK(std::string(left->create_client<AddTwoInts>("/add")->get_service_name()) == "/add");
  CHECK(std::string(left->create_client<AddTwoInts>("~/add")->get_service_name()) == "/robot/arm/add");
  const std::string type = "example_interfaces/srv/AddTwoInts";
  CHECK(std::string(finger->create_generic_client("add", type)->get_service_name()) ==
    "/robot/left/hand/finger/add");
  using Event = example_interfaces::srv::AddTwoInts_Event;
  const auto publisher = finger->create_publisher<Event>("events", 1);
  CHECK(std::string(publisher->get_topic_name()) == "/robot/left/hand/finger/events");
  const auto subscription = node->create_subscription<Event>("left/hand/finger/events", 1);
  publisher->publish(Event());
  Event event;
  sinew::MessageInfo info;
  CHECK(subscription->take(event, info));

  // The same parameters and groups.
  node->declare_parameter("gain", 1.5);
  CHECK(finger->get_parameter("gain").as_double() == 1.5);
  const auto group = left->create_callback_group(sinew::CallbackGroupType::Reentrant);
  CHECK(node->callback_group_in_node(group));
  const auto default_group = node->get_default_callback_group();
  CHECK(default_group == finger->get_default_callback_group());
  CHECK(node->callback_group_in_node(default_group));
  CHECK(default_group->type() == sinew::CallbackGroupType::MutuallyExclusive);
  std::size_t groups = 0;
  node->for_each_callback_group([&](const sinew::CallbackGroup::SharedPtr &) {++groups;});
  CHECK_EQ(groups, 2u);
  bool has_run = false;
  default_group->post([&] {has_run = true;});
  Executor(*node).spin_some();
  CHECK(has_run);

  for (const char * name : {"", "/left", "le ft", "left//hand", "left/", "1st"}) {
    const auto made = node->try_create_sub_node(name);
    CHECK(!made && made.error().code() == SINEW_ERROR_INVALID_NAME);
    CHECK_THROWS(node->create_sub_node(name), sinew::exceptions::NameValidationError);
  }
}

/// The history of a QoS counts; what services can't do is refused.
void qualities()
{
  const auto node = sinew::Node::make_shared("qualities");
  const auto service = node->create_service<AddTwoInts>("qualities", add, sinew::QoS(2000));
  CHECK_EQ(service->get_request_subscription_actual_qos().depth(), 2000u);
  CHECK(service->get_response_publisher_actual_qos() == sinew::ServicesQoS().keep_last(2000));
  const auto client =
    node->create_client<AddTwoInts>("qualities", sinew::SensorDataQoS().keep_last(3));
  CHECK(client->get_request_publisher_actual_qos() == sinew::ServicesQoS().keep_last(3));
  CHECK(client->get_response_subscription_actual_qos() == sinew::ServicesQoS().keep_last(3));
  const auto lasting = sinew::ServicesQoS().transient_local();
  CHECK_EQ(
    node->try_create_client<AddTwoInts>("qualities", lasting).error().code(),
    SINEW_ERROR_INVALID_QOS);
  CHECK_EQ(
    node->try_create_service<AddTwoInts>("lasting", add, lasting).error().code(),
    SINEW_ERROR_INVALID_QOS);
}

}  // namespace

int main(int argc, char ** argv)
{
  sinew::init(argc, argv);
  graph();
  forms_of_callbacks();
  nothing_is_copied();
  deferred_answers();
  callbacks_of_clients();
  failures();
  failures_that_are_no_text();
  ends_with_its_callback();
  qualities();
  seen_from_outside();
  sub_nodes();
#ifdef SINEW_HAS_COROUTINES
  coroutines();
#endif
  sinew::shutdown();
}
