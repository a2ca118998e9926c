// What a process needs to take part: rclcpp, an events executor on a thread of its own, nodes.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rclcpp/experimental/executors/events_executor/events_executor.hpp"
#include "rclcpp/rclcpp.hpp"

/// rclcpp, from its start to its shutdown.
class Ros
{
public:
  Ros() {rclcpp::init(0, nullptr);}
  Ros(const Ros &) = delete;
  Ros & operator=(const Ros &) = delete;
  ~Ros() {rclcpp::shutdown();}
};

class Party
{
public:
  explicit Party(bool intra_process = false)
  : options_(rclcpp::NodeOptions().use_intra_process_comms(intra_process)) {}
  ~Party() {stop();}

  /// Makes a node of the executor.
  rclcpp::Node::SharedPtr node(const std::string & name)
  {
    nodes_.push_back(std::make_shared<rclcpp::Node>(name, options_));
    executor_.add_node(nodes_.back());
    return nodes_.back();
  }

  /// Keeps a subscription, service or timer until the end.
  void keep(std::shared_ptr<void> end) {ends_.push_back(std::move(end));}

  /// Starts the thread that runs all callbacks.
  void start()
  {
    thread_ = std::thread([this] {executor_.spin();});
  }

  /// Ends it. No callback runs any more.
  void stop()
  {
    if (thread_.joinable()) {
      executor_.cancel();
      thread_.join();
    }
  }

private:
  Ros ros_;
  rclcpp::NodeOptions options_;
  rclcpp::experimental::executors::EventsExecutor executor_;
  std::vector<rclcpp::Node::SharedPtr> nodes_;
  std::vector<std::shared_ptr<void>> ends_;
  std::thread thread_;
};
