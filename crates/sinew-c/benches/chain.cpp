// The chain of `examples/chain_figures.rs` in C++, which starts this: FORM RATE SECONDS.
//
// Prints the nanoseconds of a hop, the median over the messages.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "builtin_interfaces/msg/time.hpp"
#include "sinew/sinew.hpp"

using builtin_interfaces::msg::Time;

namespace
{

constexpr int relays = 10;

std::int64_t now()
{
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string hop(int number) {return "hop_" + std::to_string(number);}

std::shared_ptr<void> relay(
  const std::shared_ptr<sinew::Node> & node, int number, const std::string & form)
{
  const auto publisher = node->create_publisher<Time>(hop(number + 1), 10);
  if (form == "unique") {
    return node->create_subscription<Time>(
      hop(number), 10, [publisher](std::unique_ptr<Time> time) {
        publisher->publish(std::move(time));
      });
  }
  if (form == "shared") {
    return node->create_subscription<Time>(
      hop(number), 10, [publisher](std::shared_ptr<const Time> time) {
        publisher->publish(std::make_unique<Time>(*time));
      });
  }
  return node->create_subscription<Time>(
    hop(number), 10, [publisher](const Time & time) {
      publisher->publish(std::make_unique<Time>(time));
    });
}

}  // namespace

int main(int argc, char ** argv)
{
  if (argc != 4) {
    return 2;
  }
  const std::string form = argv[1];
  const double rate = std::atof(argv[2]);
  const auto messages = static_cast<std::size_t>(rate * std::atof(argv[3]));
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
  std::vector<double> times;
  times.reserve(messages);
  const auto sink = node("sink");
  ends.push_back(
    sink->create_subscription<Time>(
      hop(relays), 10, [&](const Time & time) {
        const std::int64_t start = std::int64_t{time.sec} * 1'000'000'000 + time.nanosec;
        times.push_back(static_cast<double>(now() - start) / (relays + 1));
        if (times.size() == messages) {
          executor.cancel();
        }
      }));
  const auto source = node("source");
  const auto publisher = source->create_publisher<Time>(hop(0), 10);
  const auto period = std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / rate));
  ends.push_back(
    source->create_wall_timer(
      period, [&] {
        auto time = std::make_unique<Time>();
        const std::int64_t start = now();
        time->sec = static_cast<std::int32_t>(start / 1'000'000'000);
        time->nanosec = static_cast<std::uint32_t>(start % 1'000'000'000);
        publisher->publish(std::move(time));
      }));
  executor.spin();
  std::sort(times.begin(), times.end());
  std::printf("%.1f\n", times[times.size() / 2]);
}
