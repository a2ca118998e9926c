// A client calls the first server, each server calls the next one before it answers, all in one
// process. Calls are asynchronous: the executor has one thread.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "clock.hpp"
#include "party.hpp"
#include "scenarios.hpp"
#include "service.hpp"
#include "usage.hpp"

namespace
{

using Server = rclcpp::Service<Add>;
using Client = rclcpp::Client<Add>;
using Header = std::shared_ptr<rmw_request_id_t>;
using Request = std::shared_ptr<Add::Request>;

void answer(Server & server, const Header & header, std::int64_t number)
{
  Add::Response response;
  response.sum = number;
  server.send_response(*header, response);
}

/// The servers, of which each but the last calls the next, and the client of the first.
class Servers
{
public:
  explicit Servers(int count)
  {
    for (int number = 0; number < count; ++number) {
      const auto node = party_.node("server_" + std::to_string(number));
      if (number + 1 < count) {
        add_relay(node, number);
      } else {
        add_last(node, number);
      }
    }
    caller_ = party_.node("client");
    first_ = client(caller_, 0);
  }

  ~Servers() {party_.stop();}

  /// Makes calls for `seconds`, of which a tenth warms up.
  void call_for(double seconds, double rate)
  {
    party_.start();
    for (const auto & made : clients_) {
      if (!made->wait_for_service(std::chrono::seconds(15))) {
        throw std::runtime_error("a client doesn't find its server");
      }
    }
    counts_from_ = now_ns() + static_cast<std::int64_t>(seconds * 1e8);
    const auto timer = caller_->create_wall_timer(period_of(rate), [this] {call();});
    sleep_seconds(seconds);
    is_over_ = true;  // a tick of the timer may be on its way
    timer->cancel();
    wait_for([this] {return !pending_.load();}, 2);
    party_.stop();
  }

  Figures figures(int hops, const Usage & usage) const
  {
    Figures figures;
    figures.add_times(there_, hops).add("roundtrip_p50_ns", whole_.percentile(50) / (2 * hops));
    figures.add("lost", pending_ ? 1 : 0).add("reordered", static_cast<double>(wrong_));
    figures.add("cpu_percent", usage.cpu_percent());
    return figures.add("rss_bytes", static_cast<double>(usage.rss));
  }

private:
  static std::string name_of(int number) {return "service_" + std::to_string(number);}

  Client::SharedPtr client(const rclcpp::Node::SharedPtr & node, int number)
  {
    clients_.push_back(node->create_client<Add>(name_of(number)));
    return clients_.back();
  }

  void add_relay(const rclcpp::Node::SharedPtr & node, int number)
  {
    const auto next = client(node, number + 1);
    party_.keep(
      node->create_service<Add>(
        name_of(number), [next](std::shared_ptr<Server> server, Header header, Request request) {
          next->async_send_request(
            request, [server, header](Client::SharedFuture response) {
              answer(*server, header, response.get()->sum);
            });
        }));
  }

  void add_last(const rclcpp::Node::SharedPtr & node, int number)
  {
    party_.keep(
      node->create_service<Add>(
        name_of(number), [this](std::shared_ptr<Server> server, Header header, Request request) {
          called_ = now_ns();
          answer(*server, header, request->a);
        }));
  }

  void call()
  {
    if (pending_) {
      return;  // the one before takes longer than a period
    }
    pending_ = true;
    if (is_over_) {
      pending_ = false;
      return;
    }
    const std::int64_t number = ++made_;
    const std::int64_t start = now_ns();
    first_->async_send_request(
      request_of(number), [this, number, start](Client::SharedFuture response) {
        const std::int64_t now = now_ns();
        wrong_ += response.get()->sum == number ? 0 : 1;
        if (start >= counts_from_) {
          there_.record(called_ - start);
          whole_.record(now - start);
        }
        pending_ = false;
      });
  }

  Party party_;
  std::vector<Client::SharedPtr> clients_;
  rclcpp::Node::SharedPtr caller_;
  Client::SharedPtr first_;
  std::atomic<bool> pending_{false};
  std::atomic<bool> is_over_{false};
  std::int64_t counts_from_ = 0;
  std::int64_t made_ = 0;
  std::int64_t called_ = 0;
  std::int64_t wrong_ = 0;
  Samples there_;
  Samples whole_;
};

}  // namespace

Figures service_chain(const Case & work)
{
  const int hops = static_cast<int>(work.number("relays")) + 1;
  Servers servers(hops);
  const Meter meter;
  servers.call_for(work.seconds(), work.number("rate"));
  return servers.figures(hops, meter.usage());
}
