// Loggers, and the macros: what is logged, how often, and that nothing else is evaluated.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "check.hpp"
#include "sinew/sinew.hpp"

namespace
{

using namespace std::chrono_literals;
using Level = sinew::Logger::Level;

/// Returns the lines that were logged since the last call, without their beginning.
std::string logged()
{
  static std::size_t seen = 0;
  CHECK(sinew::flush_logs(-1s));
  std::ostringstream text;
  const std::string directory = std::getenv("ROS_LOG_DIR");
  if (!std::filesystem::exists(directory)) {
    return "";  // no line yet
  }
  for (const auto & entry : std::filesystem::directory_iterator(directory)) {
    text << std::ifstream(entry.path()).rdbuf();
  }
  const std::string all = text.str();
  std::istringstream fresh(all.substr(std::exchange(seen, all.size())));
  std::string lines, line;
  while (std::getline(fresh, line)) {
    const auto place = line.find("]: ");
    lines += (place == std::string::npos ? line : line.substr(0, line.find(']') + 1) + line.substr(place + 3));
    lines += '\n';
  }
  return lines;
}

void loggers(const sinew::Node::SharedPtr & node)
{
  CHECK_EQ(node->get_logger().get_name(), std::string("arm.hand"));
  auto logger = sinew::get_logger("tools");
  CHECK_EQ(logger.get_name(), std::string("tools"));
  const auto child = logger.get_child("saw");
  CHECK_EQ(child.get_name(), std::string("tools.saw"));
  CHECK(child.get_effective_level() == Level::Info);
  logger.set_level(Level::Warn);
  CHECK(child.get_effective_level() == Level::Warn);
  const sinew::Logger copy = logger;
  logger.set_level(Level::Unset);
  CHECK(copy.get_effective_level() == Level::Info);
  CHECK(sinew::Logger::try_make(std::string("\xff")).error().code() == SINEW_ERROR_INVALID_UTF8);
}

void levels(const sinew::Node::SharedPtr & node)
{
  auto logger = node->get_logger();
  (void)logged();
  SINEW_INFO(logger, "%s %d", "one", 1);
  SINEW_WARN(node->get_logger(), "two");
  SINEW_ERROR_STREAM(logger, "three " << 3);
  RCLCPP_FATAL(node->get_logger(), "four %s", "words");
  RCLCPP_DEBUG(logger, "not logged");
  CHECK_EQ(logged(), "[INFO]one 1\n[WARN]two\n[ERROR]three 3\n[FATAL]four words\n");
  int evaluated = 0;
  const auto value = [&evaluated] {return ++evaluated;};
  RCLCPP_DEBUG(logger, "%d", value());
  RCLCPP_DEBUG_STREAM(logger, value());
  RCLCPP_DEBUG_EXPRESSION(logger, value() > 0, "%d", value());
  RCLCPP_INFO_EXPRESSION(logger, false, "%d", value());
  SINEW_DEBUG_STREAM(logger, value());
  SINEW_DEBUG_STREAM_ONCE(logger, value());
  CHECK(evaluated == 0 && logged().empty());
  logger.set_level(Level::Debug);
  RCLCPP_DEBUG(logger, "%d", value());
  RCLCPP_DEBUG_STREAM(logger, std::string("stream ") << value() << std::pair<int, int>(1, 2).second);
  CHECK_EQ(logged(), "[DEBUG]1\n[DEBUG]stream 22\n");
  logger.set_level(Level::Unset);
}

void conditions(const sinew::Node::SharedPtr & node)
{
  const auto & logger = node->get_logger();
  (void)logged();
  for (int i = 0; i < 3; ++i) {
    RCLCPP_INFO_ONCE(logger, "once %d", i);
    RCLCPP_INFO_STREAM_ONCE(logger, "once " << i);
    SINEW_INFO_STREAM_ONCE(logger, "its own " << i);
  }
  CHECK_EQ(logged(), "[INFO]once 0\n[INFO]once 0\n[INFO]its own 0\n");
  for (int i = 0; i < 3; ++i) {
    RCLCPP_WARN_SKIPFIRST(logger, "skip %d", i);
    SINEW_WARN_STREAM_SKIPFIRST(logger, "skip " << i);
  }
  CHECK_EQ(logged(), "[WARN]skip 1\n[WARN]skip 1\n[WARN]skip 2\n[WARN]skip 2\n");
  for (int i = 0; i < 4; ++i) {
    RCLCPP_ERROR_EXPRESSION(logger, i % 2 == 1, "odd %d", i);
    RCLCPP_ERROR_STREAM_FUNCTION(logger, [i] {return i == 2;}, "two " << i);
  }
  CHECK_EQ(logged(), "[ERROR]odd 1\n[ERROR]two 2\n[ERROR]odd 3\n");
}

/// By a clock that the program sets.
void throttle()
{
  const auto context = sinew::Context::make();
  const auto node = sinew::Node::make_shared("throttle", sinew::NodeOptions().context(context));
  const auto & logger = node->get_logger();
  (void)logged();
  sinew::Clock & clock = *node->get_clock();
  for (int milliseconds = 0; milliseconds < 40; milliseconds += 4) {
    sinew::detail::check(
      sinew_context_set_ros_time(context->handle(), milliseconds * std::int64_t{1'000'000}));
    RCLCPP_INFO_THROTTLE(logger, clock, 10, "at %d", milliseconds);
    RCLCPP_INFO_STREAM_THROTTLE(logger, *node->get_clock(), 20, "stream at " << milliseconds);
    RCLCPP_INFO_SKIPFIRST_THROTTLE(logger, clock, 30.0, "later at %d", milliseconds);
    SINEW_INFO_STREAM_THROTTLE(logger, 36'000'000, "by the node's clock at " << milliseconds);
  }
  CHECK_EQ(
    logged(),
    "[INFO]at 0\n[INFO]stream at 0\n[INFO]by the node's clock at 0\n[INFO]later at 4\n[INFO]at 12\n"
    "[INFO]stream at 20\n[INFO]at 24\n[INFO]at 36\n[INFO]later at 36\n[INFO]by the node's clock at 36\n");
}

}  // namespace

int main(int argc, char ** argv)
{
  sinew::init(argc, argv);
  const auto node = sinew::Node::make_shared("hand", "arm");
  loggers(node);
  levels(node);
  conditions(node);
  throttle();
  CHECK(sinew::shutdown());
  // A process has one logger; a program may have its own.
  sinew::init(argc, argv, sinew::InitOptions().auto_initialize_logging(false));
  CHECK(sinew::shutdown());
  sinew::init(argc, argv);
  CHECK(sinew::shutdown());
}
