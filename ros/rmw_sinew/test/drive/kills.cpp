// Programs that are killed at any instruction: those that live go on, lose nothing among
// themselves, and forget the dead.
#include <random>

#include "drive.hpp"

namespace {

constexpr const char * HEADS = "/survivors";

std::size_t count_of_kills()
{
  const char * asked = std::getenv("SINEW_RMW_KILLS");
  return asked == nullptr ? 10 : std::stoul(asked);
}

std::size_t nodes(const Node & node)
{
  rcutils_string_array_t names = rcutils_get_zero_initialized_string_array(), spaces = names;
  OK(rmw_get_node_names(node.rmw, &names, &spaces));
  const std::size_t count = names.size;
  CHECK(rcutils_string_array_fini(&names) == RCUTILS_RET_OK);
  CHECK(rcutils_string_array_fini(&spaces) == RCUTILS_RET_OK);
  return count;
}

/// Two survivors: numbers there and back, and a call each.
class Survivors {
public:
  explicit Survivors(Node & node)
  : there_(node, type_of<Fixed>(), "/there", keep_all()),
    back_(node, type_of<Fixed>(), "/back", keep_all()), client_(node, HEADS)
  {
    wait_until(node, [&] {
      return there_.matched() == 1 && back_.matched() == 1 && client_.is_available();
    });
  }

  void exchange()
  {
    Fixed fixed;
    fixed.number = next_;
    there_.publish(fixed);
    rmw_service_info_t info{};
    const auto number = static_cast<std::int64_t>(next_);
    const std::int64_t sequence = client_.send(number, 1);
    CHECK(client_.next(info).sum == number + 1 && info.request_id.sequence_number == sequence);
    CHECK(back_.next<Fixed>().number == next_);
    ++next_;
  }

private:
  Publisher there_;
  Subscription back_;
  Client client_;
  std::uint64_t next_ = 0;
};

}  // namespace

/// Sends numbers back and answers calls.
PROGRAM(surviving)
{
  Context context;
  Node node(context, "surviving");
  Publisher back(node, type_of<Fixed>(), "/back", keep_all());
  Subscription there(node, type_of<Fixed>(), "/there", keep_all());
  Service service(node, HEADS, keep_all()); // victims flood it
  wait_until(node, [&] {return back.matched() == 1;});
  std::uint64_t next = 0;
  // Ends when the other survivor has gone.
  while (there.matched() > 0 || next == 0) {
    Waiting waiting;
    waiting.subscriptions = {there.rmw->data};
    waiting.services = {service.rmw->data};
    waiting.conditions = {rmw_node_get_graph_guard_condition(node.rmw)->data};
    waiting.must_end(&context.rmw);
    Fixed fixed;
    while (there.take(fixed)) {
      CHECK(fixed.number == next++);
      back.publish(fixed);
    }
    AddRequest request;
    rmw_service_info_t info{};
    while (service.take(request, info)) {
      service.answer(info, request.a + request.b);
    }
  }
}

/// Does everything that may leave something half done, until it is killed.
PROGRAM(victim)
{
  for (std::int64_t round = 0;; ++round) {
    Context context;
    Node node(context, "victim");
    Publisher chatter(node, type_of<Image>(), "/chatter", transient_local(3));
    Subscription heard(node, type_of<Image>(), "/chatter", transient_local(3));
    Service service(node, "/victims");
    Client of_survivor(node, HEADS), of_victim(node, "/victims");
    if (round == 0) {
      report("ready");
    }
    for (int step = 0; step < 50; ++step) {
      Image image;
      image.data.resize(static_cast<std::size_t>(step) * 1000);
      chatter.publish(image);
      heard.take(image);
      of_survivor.send(round, step);
      of_victim.send(round, step);
      rmw_service_info_t info{};
      AddRequest request;
      while (service.take(request, info)) {
        service.answer(info, request.a);
      }
      AddResponse response;
      while (of_survivor.take(response, info) || of_victim.take(response, info)) {
      }
    }
  }
}

PROGRAM(kills)
{
  Context context;
  Node node(context, "node");
  Peer survivor({"surviving"});
  Survivors survivors(node);
  std::mt19937 random(1);
  for (std::size_t kill = 0; kill < count_of_kills(); ++kill) {
    Peer victim({"victim"}), other({"victim"});
    if (kill % 4 != 0) { // else while they start
      CHECK(victim.hear() == "ready");
    }
    for (std::size_t exchange = random() % 40; exchange > 0; --exchange) {
      survivors.exchange();
    }
    victim.kill();
    survivors.exchange();
    other.kill();
    survivors.exchange();
    wait_until(node, [&] {return nodes(node) == 2;});
  }
  for (const auto count_all : {rmw_count_services, rmw_count_clients}) {
    std::size_t count = 1;
    OK(count_all(node.rmw, "/victims", &count));
    CHECK(count == 0);
  }
}
