// Calls the service that adds two numbers; its answer goes to a callback.
#include <chrono>
#include <cinttypes>
#include <memory>
#include <utility>

#include "example_interfaces/srv/add_two_ints.hpp"
#include "rclcpp/rclcpp.hpp"

using namespace std::chrono_literals;
using AddTwoInts = example_interfaces::srv::AddTwoInts;

class ClientNode : public rclcpp::Node
{
public:
  ClientNode()
  : Node("add_two_ints_client")
  {
    client_ = this->create_client<AddTwoInts>("add_two_ints");
  }

  bool wait_for_server()
  {
    while (!client_->wait_for_service(1s)) {
      if (!rclcpp::ok()) {
        RCLCPP_ERROR(this->get_logger(), "Interrupted while waiting for the service. Exiting.");
        return false;
      }
      RCLCPP_INFO(this->get_logger(), "service not available, waiting again...");
    }
    return true;
  }

  void call()
  {
    auto request = std::make_shared<AddTwoInts::Request>();
    request->a = 2;
    request->b = 3;

    // Both forms: the response alone, and the response with its request.
    using ResponseFuture = rclcpp::Client<AddTwoInts>::SharedFuture;
    client_->async_send_request(
      request, [this](ResponseFuture future) {
        RCLCPP_INFO(this->get_logger(), "Got result: [%" PRId64 "]", future.get()->sum);
      });
    using PairFuture = rclcpp::Client<AddTwoInts>::SharedFutureWithRequest;
    client_->async_send_request(
      request, [this](PairFuture future) {
        auto pair = future.get();
        RCLCPP_INFO(
          this->get_logger(), "Got result: [%" PRId64 " + %" PRId64 " = %" PRId64 "]",
          pair.first->a, pair.first->b, pair.second->sum);
        rclcpp::shutdown();
      });
  }

private:
  rclcpp::Client<AddTwoInts>::SharedPtr client_;
};

int main(int argc, char * argv[])
{
  rclcpp::init(argc, argv);
  auto node = std::make_shared<ClientNode>();
  if (!node->wait_for_server()) {
    return 1;
  }
  node->call();
  rclcpp::spin(node);
  rclcpp::shutdown();
  return 0;
}
