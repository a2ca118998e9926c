#include <chrono>
#include <cinttypes>
#include <memory>

#include "composition/components.hpp"

using namespace std::chrono_literals;
using AddTwoInts = example_interfaces::srv::AddTwoInts;

namespace composition
{

Client::Client(const rclcpp::NodeOptions & options)
: Node("client", options)
{
  client_ = create_client<AddTwoInts>("add_two_ints");
  timer_ = create_wall_timer(200ms, [this]() {return this->on_timer();});
}

void Client::on_timer()
{
  if (!client_->service_is_ready()) {
    RCLCPP_INFO(this->get_logger(), "Waiting for the service to appear...");
    return;
  }
  auto request = std::make_shared<AddTwoInts::Request>();
  request->a = 2;
  request->b = 3;
  RCLCPP_INFO(
    this->get_logger(), "Going to add: [a: %" PRId64 ", b: %" PRId64 "]", request->a, request->b);
  // The answer goes to a callback: a timer that waited for it would keep the executor from it.
  auto respond = [this](rclcpp::Client<AddTwoInts>::SharedFuture future) {
      RCLCPP_INFO(this->get_logger(), "Got result: [%" PRId64 "]", future.get()->sum);
    };
  client_->async_send_request(request, respond);
}

}  // namespace composition

#include "rclcpp_components/register_node_macro.hpp"

RCLCPP_COMPONENTS_REGISTER_NODE(composition::Client)
