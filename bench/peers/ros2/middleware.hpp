// The middlewares of this machine, and the environment in which one of them runs.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

/// One way to use ROS 2, as the report names it.
struct System
{
  std::string name;
  std::string how;
  /// `RMW_IMPLEMENTATION`; empty for the one that is set already.
  std::string middleware;
  bool intra_process = false;

  bool is_installed() const;
};

/// Returns all ways, also those that this machine doesn't have.
std::vector<System> all_systems();

/// Describes all of them, as a line of JSON.
std::string description(const std::vector<System> & systems);

/// The environment of one run, for this process and those that it starts: a domain of its own, this
/// host alone, a directory for files, and a router if the middleware needs one. Make it before
/// rclcpp is initialised. Its end removes the directory and ends the router.
class Environment
{
public:
  explicit Environment(const System & system);
  Environment(const Environment &) = delete;
  Environment & operator=(const Environment &) = delete;
  ~Environment();

private:
  std::string directory_;
  pid_t router_ = -1;
};
