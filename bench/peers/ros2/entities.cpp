// Publishers, each with one subscription on a topic of its own: what it takes to make a pair.
#include <cstdint>
#include <string>
#include <vector>

#include "messages.hpp"
#include "party.hpp"
#include "process.hpp"
#include "scenarios.hpp"
#include "usage.hpp"

namespace
{

using Publishers = std::vector<rclcpp::Publisher<Timing>::SharedPtr>;

/// The number of a pair that isn't counted: two processes find each other by it.
constexpr int FIRST = 1000000;

std::string topic(int number)
{
  return "topic_" + std::to_string(number);
}

void subscribe(Party & party, rclcpp::Node & node, int number)
{
  party.keep(node.create_subscription<Timing>(topic(number), 10, [](const Timing &) {}));
}

void publish(Publishers & publishers, rclcpp::Node & node, int number)
{
  publishers.push_back(node.create_publisher<Timing>(topic(number), 10));
}

void await_matches(const Publishers & publishers)
{
  for (const auto & publisher : publishers) {
    if (!wait_for([&] {return publisher->get_subscription_count() > 0;}, 60, 0.0002)) {
      throw std::runtime_error("a publisher doesn't find its subscription");
    }
  }
}

/// What this process used since `before`.
struct Cost
{
  std::int64_t time = now_ns();
  std::int64_t cpu = cpu_ns();
  std::int64_t rss = rss_bytes();

  static Cost since(const Cost & before)
  {
    return {now_ns() - before.time, cpu_ns() - before.cpu, rss_bytes() - before.rss};
  }
};

Figures figures_of(const Cost & cost, int pairs)
{
  Figures figures;
  const auto each = [pairs](std::int64_t all) {return static_cast<double>(all) / pairs;};
  figures.add("create_ns_per_pair", each(cost.time)).add("rss_bytes_per_pair", each(cost.rss));
  return figures.add("create_cpu_ns_per_pair", each(cost.cpu));
}

Figures within(int pairs)
{
  Party party;
  const auto node = party.node("pairs");
  party.start();
  Publishers publishers;
  const Cost before;
  for (int number = 0; number < pairs; ++number) {
    publish(publishers, *node, number);
    subscribe(party, *node, number);
  }
  await_matches(publishers);
  const Cost cost = Cost::since(before);
  party.stop();
  return figures_of(cost, pairs);
}

void serve(Line & line, int pairs)
{
  Party party;
  const auto node = party.node("subscriptions");
  subscribe(party, *node, FIRST);
  party.start();
  const Cost before;
  line.send({});
  line.expect();
  for (int number = 0; number < pairs; ++number) {
    subscribe(party, *node, number);
  }
  line.expect();
  const Cost cost = Cost::since(before);
  line.send({cost.cpu, cost.rss});
  line.receive();  // until the publishers are counted
}

Figures between(int pairs)
{
  Child other([&](Line & line) {serve(line, pairs);});
  Party party;
  const auto node = party.node("publishers");
  party.start();
  Publishers first;
  publish(first, *node, FIRST);
  other.line().expect();
  await_matches(first);
  Publishers publishers;
  const Cost before;
  other.line().send({});
  for (int number = 0; number < pairs; ++number) {
    publish(publishers, *node, number);
  }
  await_matches(publishers);
  Cost cost = Cost::since(before);
  other.line().send({});
  const auto of_other = other.line().expect();
  cost.cpu += of_other.at(0);
  cost.rss += of_other.at(1);
  party.stop();
  return figures_of(cost, pairs);
}

}  // namespace

Figures entities(const Case & work)
{
  const int pairs = static_cast<int>(work.number("pairs"));
  return work.text("path") == "shm" ? between(pairs) : within(pairs);
}
