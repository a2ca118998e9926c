// What the report has no scenario for: default nodes by the hundred, and discovery.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "party.hpp"
#include "process.hpp"
#include "scenarios.hpp"
#include "usage.hpp"

namespace
{

constexpr int NODES = 100;
constexpr double REST_SECONDS = 5;

constexpr int PROCESSES = 50;
constexpr int NODES_OF_A_PROCESS = 3;

/// Reports once this process sees all nodes, and its resources when asked.
void see_all(Line & line, int process)
{
  Party party;
  rclcpp::Node::SharedPtr node;
  for (int number = 0; number < NODES_OF_A_PROCESS; ++number) {
    node = party.node("node_" + std::to_string(process * NODES_OF_A_PROCESS + number));
  }
  party.start();
  const auto sees_all = [&] {
      return node->get_node_names().size() >= PROCESSES * NODES_OF_A_PROCESS;
    };
  const bool saw_all = wait_for(sees_all, 120, 0.02);
  line.send({saw_all ? 1 : 0});
  line.expect();
  line.send({cpu_ns(), rss_bytes()});
  line.receive();
}

}  // namespace

Figures many_nodes()
{
  Party party;
  const std::int64_t start = now_ns();
  const std::int64_t cpu = cpu_ns();
  const std::int64_t rss = rss_bytes();
  for (int number = 0; number < NODES; ++number) {
    party.node("node_" + std::to_string(number));
  }
  const auto each = [](std::int64_t all) {return static_cast<double>(all) / NODES;};
  Figures figures;
  figures.add("create_ns_per_node", each(now_ns() - start));
  figures.add("create_cpu_ns_per_node", each(cpu_ns() - cpu));
  figures.add("rss_bytes_per_node", each(rss_bytes() - rss));
  party.start();
  sleep_seconds(1);
  const Meter meter;
  sleep_seconds(REST_SECONDS);
  figures.add("rest_cpu_percent", meter.usage().cpu_percent());
  party.stop();
  return figures;
}

Figures discovery()
{
  const std::int64_t start = now_ns();
  std::vector<std::unique_ptr<Child>> processes;
  for (int number = 0; number < PROCESSES; ++number) {
    processes.push_back(
      std::make_unique<Child>([number](Line & line) {see_all(line, number);}));
  }
  std::int64_t blind = 0;
  for (const auto & process : processes) {
    blind += 1 - process->line().expect().at(0);
  }
  const std::int64_t time = now_ns() - start;
  std::int64_t cpu = 0;
  std::int64_t rss = 0;
  for (const auto & process : processes) {
    process->line().send({});
    const auto of_it = process->line().expect();
    cpu += of_it.at(0);
    rss += of_it.at(1);
  }
  Figures figures;
  figures.add("all_see_all_ns", static_cast<double>(time)).add("cpu_ns", static_cast<double>(cpu));
  figures.add("rss_bytes", static_cast<double>(rss));
  return figures.add("processes_that_never_saw_all", static_cast<double>(blind));
}
