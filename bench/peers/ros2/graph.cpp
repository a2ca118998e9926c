#include "graph.hpp"

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace
{

/// Returns the bytes of a type's data: `stamped9_float32` has nine numbers, `stamped250kb` 256000. The
/// size of a `stamped_vector` follows it.
std::size_t bytes_of(const std::string & type)
{
  static const std::regex form("(?:stamped)?_?([0-9]*)_?([a-z]+[0-9]*)");
  std::smatch parts;
  if (!std::regex_match(type, parts, form)) {
    throw std::runtime_error("the graph has a type " + type);
  }
  const std::size_t count = parts[1].length() == 0 ? 1 : std::stoul(parts[1]);
  const std::string unit = parts[2];
  if (unit == "vector") {
    return 0;
  }
  if (unit == "int32" || unit == "float32") {
    return count * 4;
  }
  if (unit == "int64" || unit == "float64") {
    return count * 8;
  }
  if (unit == "b" || unit == "kb" || unit == "mb") {
    return count * (unit == "b" ? 1 : unit == "kb" ? 1024 : 1024000);
  }
  throw std::runtime_error("the graph has a type " + type);
}

template<class Has>
std::size_t count(const std::vector<Graph::Node> & nodes, Has has)
{
  std::size_t all = 0;
  for (const Graph::Node & node : nodes) {
    all += has(node);
  }
  return all;
}

}  // namespace

Graph Graph::load(const std::string & name)
{
#ifdef SINEW_TOPOLOGIES
  std::ifstream file(std::string(SINEW_TOPOLOGIES "/") + name + ".json");
#else
  std::ifstream file(name + ".json");
#endif
  if (!file) {
    throw std::runtime_error("there is no graph " + name);
  }
  std::stringstream text;
  text << file.rdbuf();
  // Those files are ours, and flat: a name is followed by its text or number.
  static const std::regex entry("\"(node_name|topic_name|msg_type|msg_size|period_ms)\": *\"?([^\",} ]+)");
  const std::string whole = text.str();
  Graph graph;
  std::string topic;
  std::size_t bytes = 0;
  for (std::sregex_iterator found(whole.begin(), whole.end(), entry), end; found != end; ++found) {
    const std::string key = (*found)[1];
    const std::string value = (*found)[2];
    if (key == "node_name") {
      graph.nodes.push_back({value, {}, {}});
    } else if (key == "topic_name") {
      topic = value;
      graph.nodes.back().subscriptions.push_back(topic);  // unless a period follows
    } else if (key == "msg_type") {
      bytes = bytes_of(value);
    } else if (key == "msg_size") {
      bytes = std::stoul(value);
    } else {
      graph.nodes.back().subscriptions.pop_back();
      graph.nodes.back().publishers.push_back({topic, bytes, std::stod(value) / 1000});
    }
  }
  return graph;
}

std::size_t Graph::publishers_of(const std::string & topic) const
{
  return count(
    nodes, [&](const Node & node) {
      return static_cast<std::size_t>(
        std::count_if(
          node.publishers.begin(), node.publishers.end(),
          [&](const Publisher & publisher) {return publisher.topic == topic;}));
    });
}

std::size_t Graph::subscriptions_of(const std::string & topic) const
{
  return count(
    nodes, [&](const Node & node) {
      return static_cast<std::size_t>(
        std::count(node.subscriptions.begin(), node.subscriptions.end(), topic));
    });
}
