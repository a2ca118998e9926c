// `sinew-peer-ros2`: rclcpp in the peers' report, with each middleware that is installed. `../README.md`
// describes `systems` and `run`; `figures` is for what the report has no scenario for.
//
// It is written with rclcpp's public interface, so it is the same program over `sinew/rclcpp.hpp`, by
// which a test of `sinew-c` compiles it.
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "middleware.hpp"
#include "scenarios.hpp"

namespace
{

constexpr int NO_PART = 3;

using Scenarios = std::map<std::string, std::function<Figures(const Case &)>>;

/// The scenarios of a system, by their names.
Scenarios scenarios_of(const System & system)
{
  const auto one_process = [&system](const Case & work) {return chain(work, system.intra_process);};
  if (system.intra_process) {
    return {{"chain", one_process}};
  }
  return {{"chain", one_process}, {"process-chain", process_chain}, {"service-chain", service_chain},
    {"pingpong", pingpong}, {"requests", requests}, {"big", big}, {"entities", entities},
    {"topology", topology}};
}

/// The same for `figures`.
Scenarios figures_of()
{
  return {{"node", [](const Case &) {return many_nodes();}},
    {"discovery", [](const Case &) {return discovery();}},
    {"mont_blanc", [](const Case &) {return topology_over_processes("mont_blanc", 6);}}};
}

/// Returns the system of this name, or by default the first.
System system_of(const std::string & name)
{
  const auto systems = all_systems();
  for (const System & system : systems) {
    if (system.name == name || name.empty()) {
      if (!system.is_installed()) {
        throw std::runtime_error(system.middleware + " is not installed");
      }
      return system;
    }
  }
  throw std::runtime_error("there is no system " + name);
}

int run(const System & system, const Scenarios & scenarios, const std::string & name, const Case & work)
{
  const auto scenario = scenarios.find(name);
  // Both sides always sleep: nothing in rclcpp polls a middleware without a wait.
  if (scenario == scenarios.end() || work.text("wait") == "poll") {
    return NO_PART;
  }
  const Environment environment(system);
  std::puts(scenario->second(work).json().c_str());
  return 0;
}

}  // namespace

int main(int argc, char ** argv)
{
  const std::string command = argc > 1 ? argv[1] : "";
  try {
    if (command == "systems") {
      std::puts(description(all_systems()).c_str());
      return 0;
    }
    if (command == "run" && argc == 3) {
      const Case work(argv[2]);
      const System system = system_of(work.text("system"));
      return run(system, scenarios_of(system), work.text("scenario"), work);
    }
    if (command == "figures" && argc == 4) {
      const System system = system_of(std::string("ros2 ") + argv[3]);
      return run(system, figures_of(), argv[2], Case("{}"));
    }
  } catch (const std::exception & error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::fprintf(
    stderr, "usage: %s systems | run CASE | figures node|discovery|mont_blanc MIDDLEWARE\n", argv[0]);
  return 2;
}
