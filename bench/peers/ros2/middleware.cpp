#include "middleware.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "clock.hpp"

namespace
{

std::string variable(const char * name)
{
  const char * value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

/// Returns the first of `AMENT_PREFIX_PATH` that has this file, or nothing.
std::string prefix_with(const std::string & file)
{
  std::istringstream prefixes(variable("AMENT_PREFIX_PATH"));
  for (std::string prefix; std::getline(prefixes, prefix, ':'); ) {
    if (std::filesystem::exists(prefix + "/" + file)) {
      return prefix;
    }
  }
  return {};
}

std::string make_directory()
{
  const std::string base = variable("TMPDIR");
  std::string name = base.empty() ? "/dev/shm" : base;
  name = (std::filesystem::is_directory(name) ? name : "/tmp") + "/ros2-peer-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("no directory " + name);
  }
  return name;
}

constexpr char router[] = "lib/rmw_zenoh_cpp/rmw_zenohd";

/// Starts the router of rmw_zenoh, on a port of this run.
pid_t start_router()
{
  const std::string prefix = prefix_with(router);
  if (prefix.empty()) {
    throw std::runtime_error("rmw_zenoh_cpp has no rmw_zenohd");
  }
  const std::string program = prefix + "/" + router;
  const std::string address = "tcp/127.0.0.1:" + std::to_string(20000 + ::getpid() % 10000);
  ::setenv("ZENOH_CONFIG_OVERRIDE", ("listen/endpoints=[\"" + address + "\"]").c_str(), 1);
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() == parent) {
      ::dup2(STDERR_FILENO, STDOUT_FILENO);  // the last line of the output is the answer
      ::execl(program.c_str(), program.c_str(), nullptr);
    }
    std::_Exit(1);
  }
  ::setenv("ZENOH_CONFIG_OVERRIDE", ("connect/endpoints=[\"" + address + "\"]").c_str(), 1);
  ::setenv("ZENOH_ROUTER_CHECK_ATTEMPTS", "100", 1);  // every session waits for the router
  return process;
}

}  // namespace

bool System::is_installed() const
{
  const std::string index = "share/ament_index/resource_index/rmw_typesupport/";
  return middleware.empty() || !prefix_with(index + middleware).empty();
}

std::vector<System> all_systems()
{
  std::vector<System> systems{{
      "ros2, events executor",
      "one node per relay, composed in one process, intra-process communication, unique_ptr", "",
      true}};
  for (const char * name :
    {"rmw_sinew", "rmw_cyclonedds_cpp", "rmw_fastrtps_cpp", "rmw_zenoh_cpp"})
  {
    systems.push_back(
      {std::string("ros2 ") + name,
        "rclcpp with the events executor, one node per relay, intra-process communication off", name});
  }
  return systems;
}

std::string description(const std::vector<System> & systems)
{
  const char * most =
    R"(["chain", "process-chain", "service-chain", "pingpong", "requests", "big", "entities", "topology"])";
  const char * differs =
    R"([["service-chain", "calls are asynchronous, as a blocking call in a callback would wait for itself"], )"
    R"(["requests", "the response has 8 bytes"], )"
    R"(["pingpong", "the bytes are the data of a sensor_msgs/Image, which has 44 bytes more"], )"
    R"(["topology", "the bytes are the data of a sensor_msgs/Image; late messages count"]])";
  std::string line = R"({"peer": "ros2", "version": "rclcpp", "systems": [)";
  for (const System & system : systems) {
    line += &system == systems.data() ? "" : ", ";
    line += R"({"name": ")" + system.name + R"(", "how": ")" + system.how +
      R"(", "link": "https://docs.ros.org/en/jazzy/", "scenarios": )" +
      (system.intra_process ? R"(["chain"])" : std::string(most) + R"(, "differs": )" + differs);
    if (!system.is_installed()) {
      line += R"(, "unavailable": ")" + system.middleware + R"( is not installed")";
    }
    line += "}";
  }
  return line + "]}";
}

Environment::Environment(const System & system)
: directory_(make_directory())
{
  if (!system.middleware.empty()) {
    ::setenv("RMW_IMPLEMENTATION", system.middleware.c_str(), 1);
  }
  ::setenv("SINEW_DIR", directory_.c_str(), 1);
  ::setenv("ROS_LOG_DIR", directory_.c_str(), 1);
  ::setenv("ROS_DOMAIN_ID", std::to_string(1 + ::getpid() % 100).c_str(), 1);
  ::setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST", 1);
  if (system.middleware == "rmw_zenoh_cpp") {
    router_ = start_router();
  }
}

Environment::~Environment()
{
  if (router_ > 0) {
    ::kill(router_, SIGTERM);
    if (!wait_for([&] {return ::waitpid(router_, nullptr, WNOHANG) != 0;}, 1)) {
      ::kill(router_, SIGKILL);
      ::waitpid(router_, nullptr, 0);
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}
