#include <cinttypes>
#include <memory>

#include "composition/components.hpp"

using AddTwoInts = example_interfaces::srv::AddTwoInts;

namespace composition
{

Server::Server(const rclcpp::NodeOptions & options)
: Node("server", options)
{
  auto add = [this](
    const std::shared_ptr<AddTwoInts::Request> request,
    std::shared_ptr<AddTwoInts::Response> response) -> void {
      RCLCPP_INFO(
        this->get_logger(), "Incoming request: [a: %" PRId64 ", b: %" PRId64 "]", request->a, request->b);
      response->sum = request->a + request->b;
    };
  service_ = create_service<AddTwoInts>("add_two_ints", add);
}

}  // namespace composition

#include "rclcpp_components/register_node_macro.hpp"

RCLCPP_COMPONENTS_REGISTER_NODE(composition::Server)
