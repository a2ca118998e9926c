// A robot's graph, as a file of `sinew bench topology` describes it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

struct Graph
{
  struct Publisher
  {
    std::string topic;
    std::size_t bytes;
    double period_seconds;
  };

  struct Node
  {
    std::string name;
    std::vector<Publisher> publishers;
    std::vector<std::string> subscriptions;
  };

  std::vector<Node> nodes;

  /// Reads one of the graphs that come with the benchmarks: `mont_blanc`, `sierra_nevada`. Throws if
  /// there is none of that name.
  static Graph load(const std::string & name);

  std::size_t publishers_of(const std::string & topic) const;
  std::size_t subscriptions_of(const std::string & topic) const;
};
