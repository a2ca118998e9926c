// The options of nodes: each has its effect, or is refused.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "check.hpp"
#include "sinew/sinew.hpp"
#include "std_msgs/msg/string.hpp"

namespace
{

using namespace std::chrono_literals;  // NOLINT(build/namespaces)
using sinew::NodeOptions;
using std_msgs::msg::String;

/// The defaults are those of rclcpp.
void test_defaults()
{
  const NodeOptions options;
  CHECK(options.use_global_arguments() && options.enable_rosout() && options.use_clock_thread());
  CHECK(options.start_parameter_services() && options.start_parameter_event_publisher());
  CHECK(!options.enable_topic_statistics() && !options.enable_logger_service());
  CHECK(!options.allow_undeclared_parameters());
  CHECK(!options.automatically_declare_parameters_from_overrides());
  CHECK(options.clock_type() == sinew::RCL_ROS_TIME);
  CHECK(options.clock_qos() == sinew::ClockQoS() && options.rosout_qos() == sinew::RosoutQoS());
  CHECK(options.parameter_event_qos() == sinew::ParameterEventsQoS());
  CHECK(options.arguments().empty() && options.parameter_overrides().empty());
}

/// The command line names all nodes, except for one that doesn't want it.
void test_global_arguments()
{
  const char * line[] = {
    "program", "--ros-args", "-r", "__ns:=/robot", "-r", "image:=left", "-p", "rate:=7"};
  const auto context = sinew::Context::make(8, line);
  sinew::Node with("camera", NodeOptions().context(context));
  CHECK_EQ(std::string(with.get_fully_qualified_name()), "/robot/camera");
  CHECK_EQ(with.declare_parameter("rate", 1), 7);
  sinew::Node without(
    "camera", NodeOptions().context(context).use_global_arguments(false).arguments({"image:=own"}));
  CHECK_EQ(std::string(without.get_fully_qualified_name()), "/camera");
  CHECK_EQ(without.declare_parameter("rate", 1), 1);
  CHECK_EQ(
    std::string(without.create_publisher<String>("image", 1)->get_topic_name()), "/own");
}

/// The nodes that publish log lines, each after it has logged one.
std::vector<std::string> publishers_of_lines(const sinew::Node & node)
{
  std::vector<std::string> names;
  for (const auto & publisher : node.get_publishers_info_by_topic("/rosout")) {
    names.push_back(publisher.node_name());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void test_rosout()
{
  sinew::Node quiet("quiet", NodeOptions().enable_rosout(false));
  sinew::Node loud("loud");
  sinew::Node unreliable("unreliable", NodeOptions().rosout_qos(sinew::RosoutQoS().best_effort()));
  for (const sinew::Node * node : {&quiet, &loud, &unreliable}) {
    SINEW_WARN(node->get_logger().handle(), "a line");
  }
  CHECK(sinew_logging_flush(60'000'000'000));
  const auto names = publishers_of_lines(quiet);
  CHECK((names == std::vector<std::string>{"loud", "unreliable"}));
  for (const auto & publisher : quiet.get_publishers_info_by_topic("/rosout")) {
    const bool is_reliable =
      publisher.qos_profile().reliability() == sinew::ReliabilityPolicy::Reliable;
    CHECK_EQ(is_reliable, publisher.node_name() == "loud");
  }
}

void test_parameters()
{
  sinew::Node none(
    "none", NodeOptions().start_parameter_event_publisher(false).start_parameter_services(false));
  (void)none.declare_parameter("rate", 1);
  CHECK(none.get_publishers_info_by_topic("/parameter_events").empty());
  CHECK_EQ(none.get_service_names_and_types_by_node("none", "/").size(), 0u);

  auto late = sinew::ParameterEventsQoS().transient_local();
  sinew::Node node(
    "node", NodeOptions().parameter_event_qos(late).allow_undeclared_parameters(true)
    .append_parameter_override("given", 4).automatically_declare_parameters_from_overrides(true));
  CHECK_EQ(node.get_parameter("given").as_int(), 4);
  CHECK(node.try_set_parameter(sinew::Parameter("other", 3)));
  const auto events = node.get_publishers_info_by_topic("/parameter_events");
  CHECK_EQ(events.size(), 1u);
  CHECK(events[0].qos_profile().durability() == sinew::DurabilityPolicy::TransientLocal);
}

void test_clock()
{
  sinew::Node node("clock", NodeOptions().clock_type(sinew::RCL_STEADY_TIME).use_clock_thread(false));
  CHECK(node.get_clock()->get_clock_type() == sinew::RCL_STEADY_TIME);
  CHECK(node.now().get_clock_type() == sinew::RCL_STEADY_TIME);
  const auto timer = node.create_timer(1ms, [] {});
  CHECK(!timer->is_canceled());
  const auto refused =
    sinew::Node::try_make("clock", "", NodeOptions().clock_qos(sinew::ClockQoS().reliable()));
  CHECK_EQ(refused.error().code(), SINEW_ERROR_INVALID_QOS);
  CHECK(refused.error().sentence().find("clock_qos") != std::string::npos);
}

void test_statistics()
{
  const auto node = sinew::Node::make_shared("measured", NodeOptions().enable_topic_statistics(true));
  const auto ignore = [](const String &) {};
  const auto measured = node->create_subscription<String>("text", 1, ignore);
  CHECK_EQ(node->get_publishers_info_by_topic("/statistics").size(), 1u);
  sinew::SubscriptionOptions options;
  options.topic_stats_options.state = sinew::TopicStatisticsState::Disable;
  const auto other = node->create_subscription<String>("text", 1, ignore, options);
  CHECK_EQ(node->get_publishers_info_by_topic("/statistics").size(), 1u);
}

/// The services of loggers end with the node.
void test_logger_service()
{
  const sinew::Node asker("asker");
  const auto services = [&asker] {
      return asker.get_service_names_and_types().count("/spoken/set_logger_levels");
    };
  {
    const sinew::Node node("spoken", NodeOptions().enable_logger_service(true));
    CHECK_EQ(services(), 1u);
  }
  CHECK_EQ(services(), 0u);
}

void test_refused_qos()
{
  auto none = sinew::RosoutQoS();
  none.deadline(sinew::Duration(1s)).lifespan(sinew::Duration(1s));
  none.get_rmw_qos_profile().depth = SIZE_MAX;
  const auto node = sinew::Node::try_make("node", "", NodeOptions().rosout_qos(none));
  CHECK(!node && node.error().sentence().find("/rosout") != std::string::npos);
  CHECK(sinew::Node::try_make("node", "", NodeOptions().rosout_qos(none).enable_rosout(false)));
}

}  // namespace

int main()
{
  sinew::init();
  test_defaults();
  test_global_arguments();
  test_rosout();
  test_parameters();
  test_clock();
  test_statistics();
  test_logger_service();
  test_refused_qos();
}
