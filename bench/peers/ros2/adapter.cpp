// `sinew-peer-ros2`: rclcpp in the peers' report, for the scenario `chain`: ten relays, each a node, composed in one
// process, with intra-process communication and the events executor. `../README.md` describes the two ways in which
// it is run.
//
// It is written with rclcpp's public interface, so it is the same program over `sinew/rclcpp.hpp`, by which a test of
// `sinew-c` compiles it.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rclcpp/experimental/executors/events_executor/events_executor.hpp"
#include "rclcpp/rclcpp.hpp"
#include "unique_identifier_msgs/msg/uuid.hpp"

// 16 bytes: when the message was made, in nanoseconds, and its number, which counts from 1.
using Timing = unique_identifier_msgs::msg::UUID;

namespace
{

constexpr char systems[] =
  R"({"peer": "ros2", "version": "rclcpp", "systems": [{"name": "ros2, events executor", "how": )"
  R"("one node per relay, composed in one process, intra-process communication, unique_ptr", "link": )"
  R"("https://docs.ros.org/en/jazzy/", "scenarios": ["chain"]}]})";

std::int64_t now_ns()
{
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void write(Timing & timing, std::int64_t stamp, std::uint64_t number)
{
  std::memcpy(timing.uuid.data(), &stamp, sizeof stamp);
  std::memcpy(timing.uuid.data() + sizeof stamp, &number, sizeof number);
}

std::pair<std::int64_t, std::uint64_t> read(const Timing & timing)
{
  std::pair<std::int64_t, std::uint64_t> content;
  std::memcpy(&content.first, timing.uuid.data(), sizeof content.first);
  std::memcpy(&content.second, timing.uuid.data() + sizeof content.first, sizeof content.second);
  return content;
}

// The number of an option of the case, which is flat JSON.
double option(const std::string & json, const std::string & name)
{
  const auto place = json.find('"' + name + '"');
  const auto colon = place == std::string::npos ? place : json.find(':', place);
  if (colon == std::string::npos) {
    std::fprintf(stderr, "the case has no %s\n", name.c_str());
    std::exit(1);
  }
  return std::strtod(json.c_str() + colon + 1, nullptr);
}

double percentile(const std::vector<double> & sorted, double percent)
{
  const auto rank = static_cast<std::size_t>(percent / 100 * static_cast<double>(sorted.size()));
  return sorted[std::min(rank, sorted.size() - 1)];
}

double cpu_seconds()
{
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval & time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int chain(const std::string & json)
{
  const auto relays = static_cast<int>(option(json, "relays"));
  const double rate = option(json, "rate");
  const auto messages =
    std::max(std::uint64_t{2}, static_cast<std::uint64_t>(rate * option(json, "seconds")));
  const std::uint64_t warm_up = std::max(std::uint64_t{1}, messages / 10);

  rclcpp::experimental::executors::EventsExecutor executor;
  const auto options = rclcpp::NodeOptions().use_intra_process_comms(true);
  std::vector<rclcpp::Node::SharedPtr> nodes;
  std::vector<std::shared_ptr<void>> ends;
  const auto node = [&](const std::string & name) {
      nodes.push_back(std::make_shared<rclcpp::Node>(name, options));
      executor.add_node(nodes.back());
      return nodes.back();
    };
  const auto hop = [](int number) {return "hop_" + std::to_string(number);};
  for (int number = 0; number < relays; ++number) {
    const auto relay = node("relay_" + std::to_string(number));
    const auto next = relay->create_publisher<Timing>(hop(number + 1), 10);
    ends.push_back(
      relay->create_subscription<Timing>(
        hop(number), 10, [next](std::unique_ptr<Timing> timing) {next->publish(std::move(timing));}));
  }

  std::vector<double> times;
  times.reserve(messages);
  std::uint64_t received = 0;
  std::uint64_t reordered = 0;
  std::uint64_t last = 0;
  ends.push_back(
    node("sink")->create_subscription<Timing>(
      hop(relays), 10, [&](const Timing & timing) {
        const std::int64_t now = now_ns();
        const auto [stamp, number] = read(timing);
        ++received;
        reordered += number <= last ? 1 : 0;
        last = number;
        if (number > warm_up) {
          times.push_back(static_cast<double>(now - stamp) / (relays + 1));
        }
        if (number >= messages) {
          executor.cancel();
        }
      }));
  const auto source = node("source");
  const auto first = source->create_publisher<Timing>(hop(0), 10);
  std::uint64_t number = 0;
  const auto timer = source->create_wall_timer(
    std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / rate)), [&] {
      auto timing = std::make_unique<Timing>();
      write(*timing, now_ns(), ++number);
      first->publish(std::move(timing));
    });

  const double cpu = cpu_seconds();
  const std::int64_t start = now_ns();
  executor.spin();
  const double passed = static_cast<double>(now_ns() - start) / 1e9;
  const double used = 100 * (cpu_seconds() - cpu) / passed;
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  if (times.empty()) {
    std::fprintf(stderr, "no message came\n");
    return 1;
  }
  std::sort(times.begin(), times.end());
  std::printf(
    "{\"p50_ns\": %.1f, \"p90_ns\": %.1f, \"messages\": %zu, \"lost\": %llu, \"reordered\": %llu, "
    "\"cpu_percent\": %.2f, \"rss_bytes\": %lld}\n",
    percentile(times, 50), percentile(times, 90), times.size(),
    static_cast<unsigned long long>(messages - std::min(messages, received)),
    static_cast<unsigned long long>(reordered), used, static_cast<long long>(usage.ru_maxrss) * 1024);
  return 0;
}

}  // namespace

int main(int argc, char ** argv)
{
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "systems") {
    std::puts(systems);
    return 0;
  }
  if (command != "run" || argc < 3) {
    std::fprintf(stderr, "usage: %s systems | run CASE\n", argv[0]);
    return 2;
  }
  const std::string json = argv[2];
  if (json.find("\"chain\"") == std::string::npos) {
    return 3;  // it has no part in other scenarios
  }
  rclcpp::init(argc, argv);
  const int code = chain(json);
  rclcpp::shutdown();
  return code;
}
