// A client in one process, a server in another, each on a core of its own; both sleep.
#include <memory>

#include "rally.hpp"
#include "scenarios.hpp"
#include "service.hpp"

namespace
{

void serve(Line & line, int core)
{
  pin_to(core);
  Party party;
  party.keep(
    party.node("server")->create_service<Add>(
      "add", [](std::shared_ptr<Add::Request> request, std::shared_ptr<Add::Response> response) {
        response->sum = request->a;
      }));
  party.start();
  answer_until_the_end(party, line);
}

}  // namespace

Figures requests(const Case & work)
{
  const Cores cores = two_cores();
  Child other([&](Line & line) {serve(line, cores.second);});
  pin_to(cores.first);
  Party party;
  const auto node = party.node("client");
  const auto client = node->create_client<Add>("add");
  Rally * rally = nullptr;
  Rally calls(
    work, 2, [&](std::int64_t number) {
      client->async_send_request(
        request_of(number), [&](rclcpp::Client<Add>::SharedFuture response) {
          rally->answered(response.get()->sum, now_ns());
        });
    });
  rally = &calls;
  other.line().expect();
  if (!client->wait_for_service(std::chrono::seconds(15))) {
    throw std::runtime_error("the client doesn't find its server");
  }
  return calls.play(party, *node, other.line());
}
