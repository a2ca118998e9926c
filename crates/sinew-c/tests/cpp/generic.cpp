// Publishers, subscriptions and clients of types that a program knows by their names.
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "example_interfaces/srv/add_two_ints.hpp"
#include "runner.hpp"
#include "sinew/sinew.hpp"
#include "std_msgs/msg/string.hpp"

using example_interfaces::srv::AddTwoInts;
using sinew::GenericClient;
using sinew::SerializedMessage;
using std_msgs::msg::String;
using namespace std::chrono_literals;

namespace
{

/// A type that only the other process knows at first.
constexpr const char * thing = "made_up/msg/Thing";
constexpr const char * thing_hash =
  "RIHS01_00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

template<class T>
SerializedMessage encoded(const T & message)
{
  SerializedMessage bytes;
  sinew::Serialization<T>::try_serialize(message, bytes).value();
  return bytes;
}

template<class T>
T decoded(const SerializedMessage & bytes)
{
  T message;
  sinew::Serialization<T>::try_deserialize(bytes, message).value();
  return message;
}

String text(const std::string & data)
{
  String message;
  message.data = data;
  return message;
}

/// A node with a bound member function, as in ROS 2's sources.
class Recorder : public sinew::Node
{
public:
  Recorder()
  : Node("recorder")
  {
    subscription_ = create_generic_subscription(
      "chatter", "std_msgs/msg/String", 10,
      std::bind(&Recorder::on_message, this, std::placeholders::_1));
  }

  std::vector<std::string> seen;

private:
  void on_message(std::shared_ptr<SerializedMessage> message)
  {
    seen.push_back(decoded<String>(*message).data);
  }

  sinew::GenericSubscription::SharedPtr subscription_;
};

/// Typed and generic endpoints of one topic meet.
void topics()
{
  const auto node = std::make_shared<Recorder>();
  Runner runner(*node);
  std::vector<std::string> seen;
  const auto typed = node->create_subscription<String>(
    "chatter", 10, [&](const String & message) {seen.push_back("typed " + message.data);});
  std::vector<sinew::GenericSubscription::SharedPtr> all;
  const auto add = [&](auto callback) {
      all.push_back(
        node->create_generic_subscription("chatter", "std_msgs/msg/String", 10, std::move(callback)));
    };
  const auto see = [&](const char * form, const SerializedMessage & message) {
      seen.push_back(form + decoded<String>(message).data);
    };
  add([&](std::shared_ptr<const SerializedMessage> message) {see("shared ", *message);});
  add([&](std::unique_ptr<SerializedMessage> message) {see("unique ", *message);});
  add([&](const auto & message) {see("any ", *message);});
  add([&](const SerializedMessage & message, const sinew::MessageInfo & info) {
      see(std::to_string(info.publication_sequence()).c_str(), message);
    });
  const auto by_hand = node->create_generic_subscription("chatter", "std_msgs/msg/String", 10);

  const auto publisher = node->create_generic_publisher("chatter", "std_msgs/msg/String", 10);
  CHECK_EQ(publisher->get_subscription_count(), 7u);
  CHECK_EQ(std::string(publisher->get_topic_name()), "/chatter");
  publisher->publish(encoded(text("a")));
  runner.run();
  const std::vector<std::string> first = {"typed a", "shared a", "unique a", "any a", "1a"};
  CHECK(seen == first);

  node->create_publisher<String>("chatter", 10)->publish(text("b"));
  publisher->publish_as_loaned_msg(encoded(text("c")));
  const auto bytes = encoded(text("d"));
  auto draft = publisher->draft(bytes.size());
  std::copy_n(bytes.bytes().data(), bytes.size(), draft.data());
  publisher->publish(std::move(draft));
  runner.run();
  CHECK_EQ(seen.size(), 20u);
  CHECK(node->seen == std::vector<std::string>({"a", "b", "c", "d"}));

  SerializedMessage taken;
  sinew::MessageInfo info;
  for (const char * expected : {"a", "b", "c", "d"}) {
    CHECK(by_hand->take_serialized(taken, info));
    CHECK_EQ(decoded<String>(taken).data, expected);
  }
  CHECK(!by_hand->take_serialized(taken, info));
}

/// Bytes that are no message: no form at all is refused; others are reported by who can't decode
/// them.
void wrong_bytes()
{
  const auto node = std::make_shared<sinew::Node>("wrong_bytes");
  const auto publisher = node->create_generic_publisher("wrong", "std_msgs/msg/String", 10);
  const auto typed = node->create_subscription<String>("wrong", 10);
  const auto refused = publisher->try_publish(SerializedMessage());
  CHECK(!refused && !refused.error().sentence().empty());
  SerializedMessage wrong;
  wrong.resize(8);
  std::fill_n(wrong.bytes().data(), 8, std::uint8_t(0xff));
  publisher->publish(wrong);
  publisher->publish(encoded(text("right")));
  String message;
  sinew::MessageInfo info;
  CHECK(!typed->try_take(message, info));
  CHECK(typed->take(message, info));
  CHECK_EQ(message.data, "right");
}

void unknown_names()
{
  const auto node = std::make_shared<sinew::Node>("unknown");
  for (const char * name : {thing, "std_msgs/msg/Sring", "std_msgs/String", "", "std_srvs/srv/Trigger"}) {
    const auto publisher = node->try_create_generic_publisher("things", name, 10);
    CHECK_EQ(publisher.error().code(), SINEW_ERROR_UNKNOWN_TYPE);
    CHECK(publisher.error().sentence().find(name) != std::string::npos);
    CHECK_EQ(
      node->try_create_generic_subscription("things", name, 10).error().code(),
      SINEW_ERROR_UNKNOWN_TYPE);
  }
  const auto client = node->try_create_generic_client("calls", "std_msgs/msg/String");
  CHECK_EQ(client.error().code(), SINEW_ERROR_UNKNOWN_TYPE);
  CHECK_EQ(
    node->try_create_generic_publisher("no name", "std_msgs/msg/String", 10).error().code(),
    SINEW_ERROR_INVALID_NAME);
  CHECK_EQ(
    node->try_create_generic_client("no name", "std_srvs/srv/Trigger").error().code(),
    SINEW_ERROR_INVALID_NAME);
}

AddTwoInts::Request sum(std::int64_t a, std::int64_t b)
{
  AddTwoInts::Request request;
  request.a = a;
  request.b = b;
  return request;
}

void clients()
{
  const auto node = std::make_shared<sinew::Node>("clients");
  Runner runner(*node);
  const auto service = node->create_service<AddTwoInts>(
    "add", [](const AddTwoInts::Request & request) -> sinew::Result<AddTwoInts::Response> {
      if (request.a < 0) {
        return sinew::Error(SINEW_ERROR_CALLBACK_FAILED, "a is negative");
      }
      AddTwoInts::Response response;
      response.sum = request.a + request.b;
      return response;
    });
  const auto client = node->create_generic_client("add", "example_interfaces/srv/AddTwoInts");
  CHECK(client->wait_for_service(30s));
  const auto sum_of = [](const SerializedMessage & response) {
      return decoded<AddTwoInts::Response>(response).sum;
    };

  // By a future; a pointer; a callback; waiting.
  const auto result_of = [&](auto & sent) {
      runner.run_until([&] {return sent.wait_for(0s) == std::future_status::ready;});
      return sum_of(*sent.get());
    };
  auto future = client->async_send_request(encoded(sum(1, 2)));
  CHECK_EQ(result_of(future), 3);
  std::int64_t seen = 0;
  client->async_send_request(
    std::make_shared<SerializedMessage>(encoded(sum(3, 4))),
    [&](GenericClient::SharedFuture done) {seen = sum_of(*done.get());});
  runner.run_until([&] {return seen != 0;});
  CHECK_EQ(seen, 7);
  auto owned = client->async_send_request(std::make_unique<SerializedMessage>(encoded(sum(4, 4))));
  CHECK_EQ(result_of(owned), 8);
  std::thread spinning([&] {runner.run_until([&] {return seen == 0;});});
  CHECK_EQ(sum_of(*client->call(encoded(sum(5, 6)), 30s)), 11);
  const auto wrong = client->try_call(encoded(sum(-1, 0)), 30s);
  CHECK(wrong.error().sentence().find("a is negative") != std::string::npos);

  // Bytes that are no request; no message.
  SerializedMessage garbage;
  garbage.resize(6);
  std::fill_n(garbage.bytes().data(), 6, std::uint8_t(0));
  CHECK(!client->try_call(garbage, 30s));
  CHECK(!client->try_call(SerializedMessage(), 30s));
  CHECK_EQ(
    client->try_call(std::shared_ptr<SerializedMessage>(), 30s).error().code(),
    SINEW_ERROR_NULL_ARGUMENT);
  node->post([&] {seen = 0;});
  spinning.join();

  // A type that clients and the service don't share.
  const auto other = node->create_generic_client("add", "std_srvs/srv/Trigger");
  CHECK(!other->service_is_ready());
}

/// Publishes a thing until its input ends.
int publish_thing()
{
  const auto node = std::make_shared<sinew::Node>("other");
  const sinew_message_type * type = nullptr;
  CHECK_EQ(sinew_message_type_known(thing, thing_hash, &type), SINEW_OK);
  const auto publisher = node->create_generic_publisher("things", thing, sinew::QoS(1).transient_local());
  publisher->publish(encoded(text("thing")));
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {}
  return 0;
}

/// The graph says which type has the name.
void another_process(const char * program)
{
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl(program, program, "publish_thing", nullptr);
    _exit(127);
  }
  close(ends[0]);
  const auto node = std::make_shared<sinew::Node>("reader");
  const auto event = node->get_graph_event();
  while (node->count_publishers("things") == 0) {
    node->wait_for_graph_change(event, 30s);
    (void)event->check_and_clear();
  }
  std::string seen;
  const auto subscription = node->create_generic_subscription(
    "things", thing, sinew::QoS(1).transient_local(),
    [&](std::shared_ptr<const SerializedMessage> message) {seen = decoded<String>(*message).data;});
  Runner(*node).run_until([&] {return !seen.empty();});
  CHECK_EQ(seen, "thing");
  close(ends[1]);
  int status = 0;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace

int main(int argc, char ** argv)
{
  if (argc > 1 && std::string(argv[1]) == "publish_thing") {
    return publish_thing();
  }
  sinew::init(argc, argv);
  unknown_names();
  topics();
  wrong_bytes();
  clients();
  another_process(argv[0]);
}
