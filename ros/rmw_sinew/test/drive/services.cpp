// Services and clients, in one process and in several.
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <set>
#include <thread>

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

/// A client keeps the newest responses, as many as its depth says.
void old_responses_give_way(Node & node)
{
  Service service(node, "/responses");
  Client client(node, "/responses", keep_last(2));
  wait_until(node, [&] {return client.is_available();});
  rmw_service_info_t info{};
  for (std::int64_t number = 1; number <= 4; ++number) {
    client.send(number, 0);
    const AddRequest request = service.next(info);
    service.answer(info, request.a);
  }
  CHECK(client.next(info).sum == 3 && client.next(info).sum == 4);
  AddResponse response;
  CHECK(!client.take(response, info));
  client.send(5, 0);
  CHECK(service.next(info).a == 5);
  service.answer(info, 5);
  CHECK(client.next(info).sum == 5);
}

/// Requests for which the server has no place are lost; all others are answered.
void a_full_service_loses_requests(Node & node)
{
  Service service(node, "/full", keep_all());
  Client one(node, "/full", keep_all()), other(node, "/full", keep_all());
  wait_until(node, [&] {return one.is_available() && other.is_available();});
  std::set<std::int64_t> numbers;
  for (std::int64_t number = 0; number < 600; ++number) {
    one.send(number, 0);
    CHECK(numbers.insert(other.send(number, 1)).second);
  }
  std::size_t answered = 0, of_other = 0;
  AddRequest request;
  AddResponse response;
  rmw_service_info_t info{};
  for (; service.take(request, info); ++answered) {
    service.answer(info, request.a + request.b);
  }
  CHECK(answered == 1000);
  for (; other.take(response, info); ++of_other) {
    CHECK(response.sum == static_cast<std::int64_t>(of_other) + 1);
    CHECK(numbers.erase(info.request_id.sequence_number) == 1);
  }
  CHECK(of_other == 500);
  CHECK(numbers.count(other.send(1, 2)) == 0);
  CHECK(service.next(info).b == 2);
  service.answer(info, 3);
  CHECK(other.next(info).sum == 3);
}

/// Requests that can't be read fill no place of the service.
void unreadable_requests_leave(Node & node)
{
  Service service(node, "/unreadable");
  Client client(node, "/unreadable"), broken(node, "/unreadable", qos(), broken_add_type());
  wait_until(node, [&] {return client.is_available() && broken.is_available();});
  AddRequest request;
  AddResponse response;
  rmw_service_info_t info{};
  for (int number = 0; number < 1100; ++number) {
    broken.send(1, 1);
    bool taken = true;
    FAILS(rmw_take_request(service.rmw, &info, &request, &taken), RMW_RET_ERROR);
    CHECK(!taken && !broken.take(response, info));
  }
  client.send(1, 1);
  CHECK(service.next(info).b == 1);
  service.answer(info, 2);
  CHECK(client.next(info).sum == 2);
}

/// Two threads that take from one service, and two from one client, overlook nothing.
void two_threads_take(Node & node)
{
  constexpr std::int64_t ROUNDS = 50, COUNT = 100;
  Service service(node, "/both", keep_all());
  Client client(node, "/both", keep_all());
  wait_until(node, [&] {return client.is_available();});
  std::atomic<std::int64_t> answered{0};
  const auto answer = [&] {
      AddRequest request;
      rmw_service_info_t info{};
      const bool taken = service.take(request, info);
      if (taken) {
        service.answer(info, request.a + request.b);
      }
      return taken;
    };
  const auto take = [&] {
      AddResponse response;
      rmw_service_info_t info{};
      const bool taken = client.take(response, info);
      answered += taken ? 1 : 0;
      return taken;
    };
  const auto of_service = [&](Waiting & waiting) {waiting.services = {service.rmw->data};};
  const auto of_client = [&](Waiting & waiting) {waiting.clients = {client.rmw->data};};
  Takers servers(node, of_service, answer), clients(node, of_client, take);
  for (std::int64_t round = 1; round <= ROUNDS; ++round) {
    for (std::int64_t number = 0; number < COUNT; ++number) {
      client.send(round, number);
    }
    while (answered < round * COUNT) {
      std::this_thread::yield();
    }
  }
  servers.stop();
  clients.stop();
  CHECK(!answer() && !take() && answered == ROUNDS * COUNT);
  client.send(1, 1);
  Waiting for_request, for_response;
  of_service(for_request);
  for_request.must_end(node.rmw->context);
  CHECK(answer());
  of_client(for_response);
  for_response.must_end(node.rmw->context);
  CHECK(take());
}

/// A request and a response were received when they came.
void calls_are_received_when_they_come(Node & node)
{
  constexpr auto PAUSE = std::chrono::milliseconds(200);
  const rmw_time_point_value_t pause = std::chrono::nanoseconds(PAUSE).count();
  Service service(node, "/received");
  Client client(node, "/received");
  wait_until(node, [&] {return client.is_available();});
  client.send(1, 2);
  std::this_thread::sleep_for(PAUSE);
  rmw_service_info_t info{};
  service.next(info);
  CHECK(info.received_timestamp >= info.source_timestamp);
  CHECK(info.received_timestamp < info.source_timestamp + pause);
  service.answer(info, 3);
  std::this_thread::sleep_for(PAUSE);
  client.next(info);
  CHECK(info.received_timestamp >= info.source_timestamp);
  CHECK(info.received_timestamp < info.source_timestamp + pause);
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
  old_responses_give_way(node);
  a_full_service_loses_requests(node);
  unreadable_requests_leave(node);
  two_threads_take(node);
  calls_are_received_when_they_come(node);
  across_processes(node);
  a_client_dies(node);
  profiles_are_as_asked(node);
}
