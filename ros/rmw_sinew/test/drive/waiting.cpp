// Wait sets and guard conditions.
#include <thread>

#include "drive.hpp"

namespace {

constexpr rmw_time_t AT_ONCE = {0, 0};

class Condition {
public:
  explicit Condition(Context & context) : rmw(rmw_create_guard_condition(&context.rmw))
  {
    CHECK(rmw != nullptr);
  }
  ~Condition() { OK(rmw_destroy_guard_condition(rmw)); }
  Condition(const Condition &) = delete;
  Condition & operator=(const Condition &) = delete;

  void trigger() const { OK(rmw_trigger_guard_condition(rmw)); }

  rmw_guard_condition_t * const rmw;
};

void only_what_is_ready_stays(Context & context, Node & node)
{
  Publisher publisher(node, type_of<Text>(), "/second");
  Subscription first(node, type_of<Text>(), "/first"), second(node, type_of<Text>(), "/second");
  Service service(node, "/add");
  Client client(node, "/add");
  Condition quiet(context), triggered(context);
  wait_until(node, [&] {return client.is_available();});
  const auto all = [&] {
      Waiting waiting;
      waiting.subscriptions = {first.rmw->data, nullptr, second.rmw->data};
      waiting.conditions = {quiet.rmw->data, triggered.rmw->data};
      waiting.services = {service.rmw->data};
      waiting.clients = {client.rmw->data};
      return waiting;
    };
  Waiting none = all();
  CHECK(none.wait(&context.rmw, &AT_ONCE) == RMW_RET_TIMEOUT);
  for (const auto & entries : {none.subscriptions, none.conditions, none.services, none.clients}) {
    for (const void * entry : entries) {
      CHECK(entry == nullptr);
    }
  }
  publisher.publish(Text{"1"});
  publisher.publish(Text{"2"});
  triggered.trigger();
  client.send(1, 2);
  Waiting some = all();
  some.must_end(&context.rmw);
  // The request may take a moment longer.
  CHECK(some.subscriptions[0] == nullptr && some.subscriptions[2] == second.rmw->data);
  CHECK(some.conditions[0] == nullptr && some.conditions[1] == triggered.rmw->data);
  CHECK(some.clients[0] == nullptr);
  // A guard condition is reset by being reported; a subscription is ready while it has messages.
  Text text;
  for (const bool ready : {true, true, false}) {
    Waiting again = all();
    again.services.clear();
    CHECK(again.wait(&context.rmw, &AT_ONCE) == (ready ? RMW_RET_OK : RMW_RET_TIMEOUT));
    CHECK(again.conditions[1] == nullptr);
    CHECK((again.subscriptions[2] != nullptr) == ready);
    CHECK(second.take(text) == ready);
  }
  Waiting for_request;
  for_request.services = {service.rmw->data};
  for_request.must_end(&context.rmw);
  CHECK(for_request.services[0] == service.rmw->data);
}

/// Triggers between, before and during waits of another thread: each is noticed.
void a_thread_is_woken(Context & context)
{
  constexpr int ROUNDS = 2000;
  Condition there(context), back(context);
  std::thread thread([&] {
      for (int round = 0; round < ROUNDS; ++round) {
        Waiting waiting;
        waiting.conditions = {there.rmw->data};
        CHECK(waiting.wait(&context.rmw, nullptr) == RMW_RET_OK);
        back.trigger();
      }
    });
  for (int round = 0; round < ROUNDS; ++round) {
    there.trigger();
    Waiting waiting;
    waiting.conditions = {back.rmw->data};
    const rmw_time_t infinite = RMW_DURATION_INFINITE;
    CHECK(waiting.wait(&context.rmw, &infinite) == RMW_RET_OK);
  }
  thread.join();
}

void a_wait_ends(Context & context)
{
  rmw_wait_set_t * set = rmw_create_wait_set(&context.rmw, 0);
  CHECK(set != nullptr);
  const rmw_time_t soon = {0, 1000000};
  CHECK(rmw_wait(nullptr, nullptr, nullptr, nullptr, nullptr, set, &soon) == RMW_RET_TIMEOUT);
  CHECK(rmw_wait(nullptr, nullptr, nullptr, nullptr, nullptr, set, &AT_ONCE) == RMW_RET_TIMEOUT);
  OK(rmw_destroy_wait_set(set));
}

/// A wait without an end returns with nothing ready, one with an end times out early.
void the_shutdown_ends_waits()
{
  Context context;
  Condition condition(context);
  const auto waits = [&](const rmw_time_t * timeout, rmw_ret_t result) {
      Waiting waiting;
      waiting.conditions = {condition.rmw->data};
      CHECK(waiting.wait(&context.rmw, timeout) == result);
      CHECK(waiting.conditions[0] == nullptr);
    };
  std::thread thread([&] {waits(nullptr, RMW_RET_OK);});
  OK(rmw_shutdown(&context.rmw));
  thread.join();
  const rmw_time_t infinite = RMW_DURATION_INFINITE;
  waits(nullptr, RMW_RET_OK);
  waits(&infinite, RMW_RET_OK);
  const rmw_time_t hour = {3600, 0};
  waits(&hour, RMW_RET_TIMEOUT);
  condition.trigger();
  Waiting waiting;
  waiting.conditions = {condition.rmw->data};
  CHECK(waiting.wait(&context.rmw, &hour) == RMW_RET_OK && waiting.conditions[0] != nullptr);
}

/// The arrays of a foreign wait set are left as they are.
void a_foreign_wait_set_is_refused(Context & context)
{
  Condition condition(context);
  rmw_wait_set_t * set = rmw_create_wait_set(&context.rmw, 1);
  rmw_wait_set_t foreign = *set;
  foreign.implementation_identifier = "other";
  void * entries[] = {condition.rmw->data};
  rmw_guard_conditions_t conditions{1, entries};
  FAILS(
    rmw_wait(nullptr, &conditions, nullptr, nullptr, nullptr, &foreign, &AT_ONCE),
    RMW_RET_INCORRECT_RMW_IMPLEMENTATION);
  CHECK(entries[0] == condition.rmw->data);
  OK(rmw_destroy_wait_set(set));
}

/// The graph guard condition of a node, for each change of the graph.
void changes_of_the_graph_wake(Context & context, Node & node)
{
  const auto drain = [&] {
      Waiting waiting;
      do {
        waiting.conditions = {rmw_node_get_graph_guard_condition(node.rmw)->data};
      } while (waiting.wait(&context.rmw, &AT_ONCE) == RMW_RET_OK);
    };
  const auto is_woken = [&] {
      Waiting waiting;
      waiting.conditions = {rmw_node_get_graph_guard_condition(node.rmw)->data};
      waiting.must_end(&context.rmw);
    };
  drain();
  {
    Publisher publisher(node, type_of<Text>(), "/wakes");
    is_woken();
    drain();
  }
  is_woken();
  drain();
  {
    Peer peer({"bystander"});
    CHECK(peer.hear() == "ready");
    const auto servers = [&] {
        std::size_t count = 0;
        OK(rmw_count_services(node.rmw, "/bystander/add", &count));
        return count;
      };
    while (servers() == 0) {
      is_woken();
    }
    peer.kill();
    while (servers() != 0) {
      is_woken();
    }
  }
}

}  // namespace

/// A process with one of everything.
PROGRAM(bystander)
{
  Context context;
  Node node(context, "bystander", "/far");
  Publisher publisher(node, type_of<Text>(), "/bystander/publisher");
  Subscription subscription(node, type_of<Image>(), "/bystander/subscription", keep_last(3));
  Service service(node, "/bystander/add");
  Client client(node, "/bystander/client");
  report("ready");
  std::string line;
  while (listen(line)) {
  }
}

PROGRAM(waiting)
{
  Context context;
  Node node(context, "node");
  only_what_is_ready_stays(context, node);
  a_thread_is_woken(context);
  a_wait_ends(context);
  the_shutdown_ends_waits();
  a_foreign_wait_set_is_refused(context);
  changes_of_the_graph_wake(context, node);
}
