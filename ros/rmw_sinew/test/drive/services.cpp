// Services and clients, in one process and in several.
#include <cstring>
#include <memory>

#include "drive.hpp"

namespace {

void responses_find_their_clients(Node & node)
{
  Service service(node, "/add");
  Client one(node, "/add"), two(node, "/add");
  wait_until(node, [&] {return one.is_available() && two.is_available();});
  const std::int64_t first = one.send(1, 2), second = two.send(3, 4), third = one.send(5, 6);
  CHECK(first != third);
  std::vector<std::pair<AddRequest, rmw_service_info_t>> requests;
  for (int number = 0; number < 3; ++number) {
    rmw_service_info_t info{};
    const AddRequest request = service.next(info);
    CHECK(info.source_timestamp > 0 && info.source_timestamp <= info.received_timestamp);
    requests.emplace_back(request, info);
  }
  while (!requests.empty()) { // in another order
    auto & last = requests.back();
    service.answer(last.second, last.first.a + last.first.b);
    service.answer(last.second, 0); // only the first counts
    requests.pop_back();
  }
  rmw_gid_t gid{};
  rmw_service_info_t info{};
  OK(rmw_get_gid_for_client(one.rmw, &gid));
  std::int64_t sums[] = {11, 3}, sequences[] = {third, first};
  for (int number = 0; number < 2; ++number) {
    CHECK(one.next(info).sum == sums[number]);
    CHECK(info.request_id.sequence_number == sequences[number]);
    CHECK(std::memcmp(info.request_id.writer_guid, gid.data, sizeof gid.data) == 0);
  }
  CHECK(two.next(info).sum == 7 && info.request_id.sequence_number == second);
  AddResponse response;
  CHECK(!one.take(response, info) && !two.take(response, info));
}

void an_end_may_go(Node & node)
{
  auto service = std::make_unique<Service>(node, "/going");
  auto client = std::make_unique<Client>(node, "/going");
  wait_until(node, [&] {return client->is_available();});
  client->send(1, 1);
  rmw_service_info_t info{};
  service->next(info);
  client.reset();
  service->answer(info, 2); // to a client that is gone
  client = std::make_unique<Client>(node, "/going");
  client->send(1, 1);
  service.reset();
  wait_until(node, [&] {return !client->is_available();});
  AddResponse response;
  CHECK(!client->take(response, info));
  const std::int64_t lost = client->send(2, 2);
  CHECK(client->send(2, 2) != lost);
  service = std::make_unique<Service>(node, "/going");
  wait_until(node, [&] {return client->is_available();});
  client->send(3, 3);
  CHECK(service->next(info).a == 3); // what found no server is lost
}

/// A service keeps the newest requests, as many as its depth says.
void old_requests_give_way(Node & node)
{
  Service service(node, "/depth", keep_last(2));
  Client client(node, "/depth");
  wait_until(node, [&] {return client.is_available();});
  for (std::int64_t number = 1; number <= 4; ++number) {
    client.send(number, 0);
  }
  rmw_service_info_t info{};
  CHECK(service.next(info).a == 3 && service.next(info).a == 4);
  AddRequest request;
  CHECK(!service.take(request, info));
}

void across_processes(Node & node)
{
  Client client(node, "/far/add");
  CHECK(!client.is_available());
  for (int round = 0; round < 2; ++round) {
    Peer peer({"adding", "/far/add"});
    wait_until(node, [&] {return client.is_available();});
    rmw_service_info_t info{};
    for (std::int64_t number = 0; number < 100; ++number) {
      const std::int64_t sequence = client.send(number, round);
      CHECK(client.next(info).sum == number + round);
      CHECK(info.request_id.sequence_number == sequence);
    }
    peer.kill();
    client.send(1, 1); // may go to the dead one
    wait_until(node, [&] {return !client.is_available();});
    AddResponse response;
    CHECK(!client.take(response, info));
  }
}

void a_client_dies(Node & node)
{
  Service service(node, "/of/the/dead");
  Peer peer({"asking", "/of/the/dead"});
  rmw_service_info_t info{};
  CHECK(service.next(info).a == 1);
  peer.kill();
  service.answer(info, 1);
  std::size_t count = 1;
  wait_until(node, [&] {
    OK(rmw_count_clients(node.rmw, "/of/the/dead", &count));
    return count == 0;
  });
  Client client(node, "/of/the/dead");
  wait_until(node, [&] {return client.is_available();});
  client.send(5, 5);
  CHECK(service.next(info).a == 5);
  service.answer(info, 10);
  CHECK(client.next(info).sum == 10);
}

void profiles_are_as_asked(Node & node)
{
  Service service(node, "/profile", keep_last(7));
  Client client(node, "/profile", rmw_qos_profile_best_available);
  rmw_qos_profile_t actual{};
  OK(rmw_service_request_subscription_get_actual_qos(service.rmw, &actual));
  CHECK(actual.depth == 7 && actual.reliability == RMW_QOS_POLICY_RELIABILITY_RELIABLE);
  OK(rmw_service_response_publisher_get_actual_qos(service.rmw, &actual));
  CHECK(actual.depth == 7);
  OK(rmw_client_request_publisher_get_actual_qos(client.rmw, &actual));
  CHECK(actual.durability == RMW_QOS_POLICY_DURABILITY_VOLATILE);
  OK(rmw_client_response_subscription_get_actual_qos(client.rmw, &actual));
  CHECK(actual.reliability == RMW_QOS_POLICY_RELIABILITY_RELIABLE);
}

}  // namespace

/// Answers requests for sums, until it is killed.
PROGRAM(adding)
{
  Context context;
  Node node(context, "adding");
  Service service(node, arguments.at(0).c_str());
  for (;; ) {
    rmw_service_info_t info{};
    const AddRequest request = service.next(info);
    service.answer(info, request.a + request.b);
  }
}

/// Asks once, and waits for the end.
PROGRAM(asking)
{
  Context context;
  Node node(context, "asking");
  Client client(node, arguments.at(0).c_str());
  wait_until(node, [&] {return client.is_available();});
  client.send(1, 0);
  std::string line;
  while (listen(line)) {
  }
}

PROGRAM(services)
{
  Context context;
  Node node(context, "node");
  responses_find_their_clients(node);
  an_end_may_go(node);
  old_requests_give_way(node);
  across_processes(node);
  a_client_dies(node);
  profiles_are_as_asked(node);
}
