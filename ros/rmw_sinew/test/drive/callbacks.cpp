// Callbacks of an events executor: set late, they report what is unread; cleared, they stop.
#include <atomic>

#include "drive.hpp"

namespace {

using Counter = std::atomic<std::size_t>;

void add(const void * user_data, std::size_t count)
{
  CHECK(count > 0);
  *static_cast<Counter *>(const_cast<void *>(user_data)) += count;
}

void of_messages(Node & node)
{
  Publisher publisher(node, type_of<Text>(), "/topic");
  Subscription subscription(node, type_of<Text>(), "/topic");
  const auto set = [&](rmw_event_callback_t callback, Counter * counter) {
      OK(rmw_subscription_set_on_new_message_callback(subscription.rmw, callback, counter));
    };
  Counter first{0}, second{0};
  for (int number = 0; number < 3; ++number) {
    publisher.publish(Text{"early"});
  }
  subscription.next<Text>();
  set(add, &first);
  CHECK(first == 2);
  publisher.publish(Text{"on time"});
  wait_until(node, [&] {return first == 3;});
  set(nullptr, nullptr);
  publisher.publish(Text{"unnoticed"});
  set(add, &second);
  wait_until(node, [&] {return second == 1;});
  CHECK(first == 3);
  set(nullptr, nullptr);
}

void of_another_process(Node & node)
{
  Subscription subscription(node, type_of<Fixed>(), "/numbers", keep_last(200));
  Counter counter{0};
  OK(rmw_subscription_set_on_new_message_callback(subscription.rmw, add, &counter));
  Peer peer({"counting", "100"});
  wait_until(node, [&] {return counter == 100;});
  for (std::uint64_t number = 0; number < 100; ++number) {
    CHECK(subscription.next<Fixed>().number == number);
  }
  OK(rmw_subscription_set_on_new_message_callback(subscription.rmw, nullptr, nullptr));
}

void of_calls(Node & node)
{
  Service service(node, "/add");
  Client client(node, "/add");
  wait_until(node, [&] {return client.is_available();});
  Counter requests{0}, responses{0};
  client.send(1, 1);
  client.send(2, 2);
  rmw_service_info_t info{};
  CHECK(service.next(info).a == 1);
  OK(rmw_service_set_on_new_request_callback(service.rmw, add, &requests));
  wait_until(node, [&] {return requests == 1;});
  service.answer(info, 2);
  OK(rmw_client_set_on_new_response_callback(client.rmw, add, &responses));
  wait_until(node, [&] {return responses == 1;});
  CHECK(service.next(info).a == 2);
  service.answer(info, 4);
  wait_until(node, [&] {return responses == 2;});
  CHECK(client.next(info).sum == 2 && client.next(info).sum == 4);
  OK(rmw_service_set_on_new_request_callback(service.rmw, nullptr, nullptr));
  OK(rmw_client_set_on_new_response_callback(client.rmw, nullptr, nullptr));
  CHECK(requests == 1 && responses == 2);
}

/// A callback may clear itself, take, and publish.
void from_within(Node & node)
{
  struct State {
    Publisher * publisher;
    Subscription * subscription;
    Counter calls{0};
  };
  Publisher publisher(node, type_of<Text>(), "/within");
  Subscription subscription(node, type_of<Text>(), "/within");
  State state{&publisher, &subscription};
  OK(rmw_subscription_set_on_new_message_callback(
      subscription.rmw, [](const void * user_data, std::size_t) {
        State & own = *static_cast<State *>(const_cast<void *>(user_data));
        Text text;
        CHECK(own.subscription->take(text));
        if (++own.calls == 3) {
          OK(rmw_subscription_set_on_new_message_callback(own.subscription->rmw, nullptr, nullptr));
        }
        own.publisher->publish(text);
      }, &state));
  publisher.publish(Text{"again"});
  wait_until(node, [&] {return state.calls == 3;});
  CHECK(subscription.next<Text>().data == "again" && state.calls == 3);
}

}  // namespace

/// Publishes as many numbers as its argument says.
PROGRAM(counting)
{
  Context context;
  Node node(context, "counting");
  Publisher publisher(node, type_of<Fixed>(), "/numbers");
  wait_until(node, [&] {return publisher.matched() == 1;});
  Fixed fixed;
  for (; fixed.number < std::stoul(arguments.at(0)); ++fixed.number) {
    publisher.publish(fixed);
  }
  std::string line;
  while (listen(line)) {
  }
}

PROGRAM(callbacks)
{
  Context context;
  Node node(context, "node");
  of_messages(node);
  of_another_process(node);
  of_calls(node);
  from_within(node);
}
