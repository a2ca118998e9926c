// A chain of ten relays, each a node, with one executor of one thread: FORM RATE MESSAGES WARM_UP.
//
// As `src/languages/chain.rs` in Rust.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "measuring.h"
#include "sinew/sinew.hpp"
#include "sinew_bench_msgs/msg/timing.hpp"

using sinew_bench_msgs::msg::Timing;

namespace
{

constexpr int relays = 10;

std::string hop(int number) {return "hop_" + std::to_string(number);}

std::shared_ptr<void> relay(
  const std::shared_ptr<sinew::Node> & node, int number, const std::string & form)
{
  const auto publisher = node->create_publisher<Timing>(hop(number + 1), 10);
  if (form == "unique_ptr") {
    return node->create_subscription<Timing>(
      hop(number), 10, [publisher](std::unique_ptr<Timing> timing) {
        publisher->publish(std::move(timing));
      });
  }
  if (form == "shared_ptr") {
    return node->create_subscription<Timing>(
      hop(number), 10, [publisher](std::shared_ptr<const Timing> timing) {
        publisher->publish(*timing);
      });
  }
  return node->create_subscription<Timing>(
    hop(number), 10, [publisher](const Timing & timing) {publisher->publish(timing);});
}

}  // namespace

int main(int argc, char ** argv)
{
  if (argc != 5) {
    return 2;
  }
  end_with_parent();
  const std::string form = argv[1];
  const double rate = std::stod(argv[2]);
  const std::uint64_t messages = std::stoull(argv[3]);
  const std::uint64_t warm_up = std::stoull(argv[4]);
  sinew::init();
  sinew::executors::SingleThreadedExecutor executor;
  std::vector<std::shared_ptr<sinew::Node>> nodes;
  const auto node = [&](const std::string & name) {
      nodes.push_back(std::make_shared<sinew::Node>(name));
      executor.add_node(nodes.back());
      return nodes.back();
    };

  std::vector<std::shared_ptr<void>> ends;
  for (int number = 0; number < relays; ++number) {
    ends.push_back(relay(node("relay_" + std::to_string(number)), number, form));
  }
  auto samples = samples_with_room_for(messages);
  std::uint64_t received = 0;
  const auto sink = node("sink");
  ends.push_back(
    sink->create_subscription<Timing>(
      hop(relays), 10, [&](const Timing & timing) {
        const std::int64_t took = now_ns() - timing.stamp;
        ++received;
        if (timing.number > warm_up) {
          record(&samples, took);
        }
        if (timing.number == messages) {
          executor.cancel();
        }
      }));
  const auto source = node("source");
  const auto publisher = source->create_publisher<Timing>(hop(0), 10);
  const auto period = std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / rate));
  std::uint64_t number = 0;
  ends.push_back(
    source->create_wall_timer(
      period, [&] {
        auto timing = std::make_unique<Timing>();
        timing->number = ++number;
        timing->stamp = now_ns();
        publisher->publish(std::move(timing));
      }));
  executor.spin();
  print_measured(&samples, messages - received);
}
