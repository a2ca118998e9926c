// What sources for rclcpp write and rely on, beyond the ported programs of `examples/cpp`.
#include <cstdio>
#include <string>
#include <vector>

#include "rclcpp/create_publisher.hpp"
#include "rclcpp/executors/static_single_threaded_executor.hpp"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_action/rclcpp_action.hpp"
#include "rclcpp_lifecycle/lifecycle_node.hpp"
#include "tf2/utils.h"
#include "tf2_ros/transform_broadcaster.h"

#include "check.hpp"
#include "example_interfaces/action/fibonacci.hpp"
#include "std_msgs/msg/string.hpp"
#include "std_srvs/srv/trigger.hpp"

namespace
{

using namespace std::chrono_literals;
using Fibonacci = example_interfaces::action::Fibonacci;
using Goal = std::shared_ptr<rclcpp_action::ServerGoalHandle<Fibonacci>>;
using Text = std_msgs::msg::String;
using std_srvs::srv::Trigger;

/// Functions take a node, a pointer to one, or the interfaces of one.
class Maker : public rclcpp::Node
{
public:
  Maker()
  : Node("maker"), broadcaster_(*this)
  {
    topics_ = declare_parameter<std::vector<std::string>>("topics", {"a", "b"});
    timer_ = rclcpp::create_timer(this, get_clock(), 1s, [] {});
    publisher_ = rclcpp::create_publisher<Text>(*this, "chatter", 10);
    subscription_ = rclcpp::create_subscription<Text>(this, "chatter", 10, [](const Text &) {});
    group_ = create_callback_group(rclcpp::CallbackGroupType::Reentrant, false);
    server_ = rclcpp_action::create_server<Fibonacci>(
      get_node_base_interface(), get_node_clock_interface(), get_node_logging_interface(),
      get_node_waitables_interface(), "fibonacci",
      [](const rclcpp_action::GoalUUID &, std::shared_ptr<const Fibonacci::Goal>) {
        return rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
      },
      [](Goal) {return rclcpp_action::CancelResponse::ACCEPT;}, [](Goal) {});
    client_ = rclcpp_action::create_client<Fibonacci>(this, "fibonacci");
  }

  const std::vector<std::string> & topics() const {return topics_;}

private:
  tf2_ros::TransformBroadcaster broadcaster_;
  std::vector<std::string> topics_;
  rclcpp::TimerBase::SharedPtr timer_;
  rclcpp::Publisher<Text>::SharedPtr publisher_;
  rclcpp::Subscription<Text>::SharedPtr subscription_;
  rclcpp::CallbackGroup::SharedPtr group_;
  rclcpp_action::Server<Fibonacci>::SharedPtr server_;
  rclcpp_action::Client<Fibonacci>::SharedPtr client_;
};

void free_functions()
{
  const auto node = std::make_shared<Maker>();
  CHECK_EQ(node->topics().size(), 2u);
  CHECK_EQ(rclcpp::Clock(RCL_STEADY_TIME).get_clock_type(), RCL_STEADY_TIME);
  CHECK_EQ(rclcpp::Time(0, 0, RCL_ROS_TIME).get_clock_type(), RCL_ROS_TIME);
  const auto service = rclcpp::create_service<Trigger>(
    node->get_node_base_interface(), node->get_node_services_interface(), "trigger",
    [](std::shared_ptr<Trigger::Request>, std::shared_ptr<Trigger::Response>) {});
  const auto client = rclcpp::create_client<Trigger>(
    node->get_node_base_interface(), node->get_node_graph_interface(),
    node->get_node_services_interface(), "trigger");
  CHECK(client->wait_for_service(30s));
}

/// Its switch also counts for those who know it as a publisher.
void a_publisher_that_rests()
{
  const auto node = std::make_shared<rclcpp_lifecycle::LifecycleNode>("managed");
  const auto managed = node->create_publisher<Text>("states", 10);
  const std::shared_ptr<rclcpp::Publisher<Text>> publisher = managed;
  const auto subscription = node->create_subscription<Text>("states", 10);
  publisher->publish(Text());
  publisher->publish(std::make_unique<Text>());
  Text text;
  rclcpp::MessageInfo info;
  CHECK(!subscription->take(text, info));
  managed->on_activate();
  publisher->publish(Text());
  CHECK(subscription->take(text, info));
}

/// The executor waits for nodes, and the callback uses its timer after it has destroyed it.
void an_executor_without_nodes()
{
  rclcpp::executors::StaticSingleThreadedExecutor executor;
  std::thread spinning([&executor] {executor.spin();});
  const auto node = std::make_shared<rclcpp::Node>("late");
  rclcpp::TimerBase::SharedPtr timer;
  timer = node->create_wall_timer(
    1ms, [&](rclcpp::TimerBase & self) {
      timer.reset();
      self.cancel();
      executor.cancel();
    });
  executor.add_node(node);
  spinning.join();
  CHECK(!timer);
}

/// A signal may come between `ok` and `publish`.
void after_a_shutdown()
{
  const auto node = std::make_shared<rclcpp::Node>("last");
  const auto publisher = node->create_publisher<Text>("chatter", 10);
  CHECK(rclcpp::shutdown(nullptr, "it is done"));
  publisher->publish(Text());
  publisher->publish(std::make_unique<Text>());
  CHECK_EQ(publisher->try_publish(Text()).error().code(), SINEW_ERROR_SHUTDOWN);
  rclcpp::spin(node);
}

/// Parameter files that a program reads itself.
void parameter_maps(const char * file_name)
{
  std::FILE * file = std::fopen(file_name, "w");
  std::fputs(
    "camera: {ros__parameters: {rate: 30}}\n/**: {ros__parameters: {gain: 0.5}}\n", file);
  std::fclose(file);
  const rclcpp::ParameterMap map = rclcpp::parameter_map_from_yaml_file(file_name);
  CHECK_EQ(map.size(), 2u);
  CHECK(map.at("/camera").at(0) == rclcpp::Parameter("rate", 30));
  CHECK(rclcpp::parameter_map_from_yaml_file(file_name, "/lidar").count("/camera") == 0);
  CHECK_EQ(rclcpp::parameters_from_map(map).size(), 2u);
  const auto of_lidar = rclcpp::parameters_from_map(map, "/lidar");
  CHECK(of_lidar == (std::vector<rclcpp::Parameter>{rclcpp::Parameter("gain", 0.5)}));
  file = std::fopen(file_name, "w");
  std::fputs("camera: [", file);
  std::fclose(file);
  const auto wrong = sinew::try_parameter_map_from_yaml_file(file_name);
  CHECK(!wrong && wrong.error().sentence().find(file_name) != std::string::npos);
  std::remove(file_name);
  CHECK_THROWS(rclcpp::parameter_map_from_yaml_file(file_name), std::exception);
}

/// The names for what nodes and services have in rclcpp.
void parts_of_nodes()
{
  const auto node = std::make_shared<rclcpp::Node>("parts");
  const rclcpp::CallbackGroup::SharedPtr group =
    node->get_node_base_interface()->get_default_callback_group();
  CHECK(node->get_node_base_interface()->callback_group_in_node(group));
  const auto sub_node = node->create_sub_node("inside");
  CHECK(std::string(sub_node->get_effective_namespace()) == "/inside");
  const rcl_service_introspection_state_t states[] = {
    RCL_SERVICE_INTROSPECTION_OFF, RCL_SERVICE_INTROSPECTION_METADATA, RCL_SERVICE_INTROSPECTION_CONTENTS};
  CHECK(static_cast<int>(states[2]) == 2 && states[0] != states[1]);
}

}  // namespace

static_assert(
  std::is_same_v<rclcpp::SubscriptionOptionsWithAllocator<>, rclcpp::SubscriptionOptions>);

int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  free_functions();
  a_publisher_that_rests();
  an_executor_without_nodes();
  parameter_maps((std::string(argv[0]) + ".yaml").c_str());
  parts_of_nodes();
  after_a_shutdown();
}
