// A program's own types on topics of ROS 2, by type adapters.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "builtin_interfaces/msg/duration.hpp"
#include "check.hpp"
#include "runner.hpp"
#include "sinew/lifecycle_publisher.hpp"
#include "sinew/sinew.hpp"
#include "std_msgs/msg/string.hpp"

using std_msgs::msg::String;

namespace
{

/// Conversions so far.
int to_ros = 0;
int to_custom = 0;

/// A type without an adapter of its own name: it stands for its adapter.
struct Interval
{
  std::int64_t nanoseconds = 0;
};

/// A type that can be moved and not copied.
struct Unique
{
  std::unique_ptr<std::string> text;
};

}  // namespace

template<>
struct sinew::TypeAdapter<Unique, String>
{
  using is_specialized = std::true_type;
  using custom_type = Unique;
  using ros_message_type = String;

  static void convert_to_ros_message(const custom_type & value, ros_message_type & message)
  {
    message.data = *value.text;
  }

  static void convert_to_custom(const ros_message_type & message, custom_type & value)
  {
    value.text = std::make_unique<std::string>(message.data);
  }
};

template<>
struct sinew::TypeAdapter<std::string, String>
{
  using is_specialized = std::true_type;
  using custom_type = std::string;
  using ros_message_type = String;

  static void convert_to_ros_message(const custom_type & text, ros_message_type & message)
  {
    ++to_ros;
    CHECK(message.data.empty());
    if (text == "throw") {
      throw std::runtime_error("no message for this");
    }
    message.data = text;
  }

  static void convert_to_custom(const ros_message_type & message, custom_type & text)
  {
    ++to_custom;
    CHECK(text.empty());
    if (message.data == "refuse") {
      throw std::runtime_error("no value for this");
    }
    text = message.data;
  }
};

template<>
struct sinew::TypeAdapter<Interval, builtin_interfaces::msg::Duration>
{
  using is_specialized = std::true_type;
  using custom_type = Interval;
  using ros_message_type = builtin_interfaces::msg::Duration;

  static void convert_to_ros_message(const custom_type & interval, ros_message_type & message)
  {
    message.sec = static_cast<std::int32_t>(interval.nanoseconds / 1'000'000'000);
    message.nanosec = static_cast<std::uint32_t>(interval.nanoseconds % 1'000'000'000);
  }

  static void convert_to_custom(const ros_message_type & message, custom_type & interval)
  {
    interval.nanoseconds = message.sec * std::int64_t{1'000'000'000} + message.nanosec;
  }
};
SINEW_USING_CUSTOM_TYPE_AS_ROS_MESSAGE_TYPE(Interval, builtin_interfaces::msg::Duration)

namespace
{

using Text = sinew::TypeAdapter<std::string, String>;
static_assert(std::is_same_v<Text, sinew::adapt_type<std::string>::as<String>>);
static_assert(sinew::is_type_adapter<Text>::value && !sinew::is_type_adapter<String>::value);
static_assert(std::is_same_v<sinew::Publisher<Text>::PublishedType, std::string>);
static_assert(std::is_same_v<sinew::Publisher<Text>::ROSMessageType, String>);
static_assert(std::is_same_v<sinew::Subscription<Text>::SubscribedType, std::string>);
static_assert(std::is_same_v<sinew::Publisher<String>::PublishedType, String>);

using Lines = std::vector<std::string>;

/// Subscriptions run in any order.
Lines sorted(Lines lines)
{
  std::sort(lines.begin(), lines.end());
  return lines;
}

String message_of(const std::string & data)
{
  String message;
  message.data = data;
  return message;
}

/// Between equal adapters values are passed on as they are.
void nothing_is_converted_in_the_process(sinew::Node & node)
{
  to_ros = to_custom = 0;
  Lines seen;
  const std::string * kept = nullptr;
  const auto publisher = node.create_publisher<Text>("own", 10);
  const auto lent = node.create_subscription<Text>(
    "own", 10, [&](const std::string & text) {seen.push_back("lent " + text);});
  const auto shared = node.create_subscription<Text>(
    "own", 10, [&](std::shared_ptr<const std::string> text) {kept = text.get();});
  const auto generic = node.create_subscription<Text>(
    "own", 10, [&](auto text) {seen.push_back("generic " + std::string(text));});
  Runner runner(node);
  publisher->publish(std::string("a"));
  const std::string constant = "b";
  publisher->publish(constant);
  auto owned = std::make_unique<std::string>("c");
  const std::string * address = owned.get();
  publisher->publish(std::move(owned));
  auto loan = publisher->borrow_loaned_message();
  loan.get() = "d";
  publisher->publish(std::move(loan));
  runner.run();
  CHECK_EQ(seen.size(), 8u);
  CHECK_EQ(seen[0], "lent a");
  CHECK(kept != nullptr);
  CHECK_EQ(to_ros + to_custom, 0);

  const auto sole_publisher = node.create_publisher<Text>("sole", 10);
  std::unique_ptr<std::string> got;
  const auto sole = node.create_subscription<Text>(
    "sole", 10, [&](std::unique_ptr<std::string> text) {got = std::move(text);});
  owned = std::make_unique<std::string>("e");
  address = owned.get();
  sole_publisher->publish(std::move(owned));
  runner.run();
  CHECK(got.get() == address);
  CHECK_EQ(to_ros + to_custom, 0);
}

/// Others see the message: it is converted at most once for each of them, and each of their messages once.
void others_see_the_message(sinew::Node & node)
{
  to_ros = to_custom = 0;
  Lines seen;
  const auto publisher = node.create_publisher<Text>("others", 10);
  const auto plain = node.create_subscription<String>(
    "others", 10, [&](const String & message) {seen.push_back("plain " + message.data);});
  const auto another = node.create_subscription<String>(
    "others", 10, [&](const String & message) {seen.push_back("another " + message.data);});
  const auto adapted = node.create_subscription<Text>(
    "others", 10, [&](const String & message) {seen.push_back("adapted " + message.data);});
  Runner runner(node);
  publisher->publish(std::string("abc"));
  runner.run();
  CHECK(sorted(seen) == Lines({"adapted abc", "another abc", "plain abc"}));
  CHECK(to_ros >= 1 && to_ros <= 3);
  CHECK_EQ(to_custom, 0);

  // Who wants the encoded form gets that of the message.
  seen.clear();
  const auto encoded = node.create_subscription<Text>(
    "others", 10, [&](std::shared_ptr<const sinew::SerializedMessage> message) {
      seen.push_back("encoded " + std::to_string(message->size()));
    });
  publisher->publish(std::string("abc"));
  runner.run();
  CHECK(sorted(seen) == Lines({"adapted abc", "another abc", "encoded 12", "plain abc"}));
  CHECK_EQ(to_custom, 0);

  // And the other way.
  seen.clear();
  const auto from_others = node.create_publisher<String>("from_others", 10);
  const auto values = node.create_subscription<Text>(
    "from_others", 10, [&](const std::string & text) {seen.push_back("value " + text);});
  to_ros = 0;
  from_others->publish(message_of("def"));
  runner.run();
  CHECK_EQ(seen.size(), 1u);
  CHECK_EQ(seen[0], "value def");
  CHECK_EQ(to_custom, 1);
  CHECK_EQ(to_ros, 0);

  // A publisher with an adapter takes messages as well.
  const auto taken = node.create_subscription<Text>("others", 10);
  to_custom = 0;
  publisher->publish(message_of("ghi"));
  publisher->publish(std::make_unique<String>(message_of("jkl")));
  CHECK_EQ(to_custom, 2);
  std::string text;
  sinew::MessageInfo info;
  CHECK(taken->take(text, info));
  CHECK_EQ(text, "ghi");
  CHECK_EQ(*taken->take_shared(info), "jkl");
  CHECK(!taken->take(text, info));
  CHECK_EQ(to_custom, 2);
}

/// A conversion that throws costs the message where it is needed, and nothing else.
void conversions_that_throw(sinew::Node & node)
{
  Lines seen;
  const auto publisher = node.create_publisher<Text>("throwing", 10);
  const auto own = node.create_subscription<Text>(
    "throwing", 10, [&](const std::string & text) {seen.push_back(text);});
  const auto plain = node.create_subscription<String>(
    "throwing", 10, [&](const String & message) {seen.push_back("plain " + message.data);});
  Runner runner(node);
  publisher->publish(std::string("throw"));
  publisher->publish(std::string("after"));
  runner.run();
  CHECK(sorted(seen) == Lines({"after", "plain after", "throw"}));

  seen.clear();
  const auto from_others = node.create_publisher<String>("refusing", 10);
  const auto refusing = node.create_subscription<Text>(
    "refusing", 10, [&](const std::string & text) {seen.push_back(text);});
  from_others->publish(message_of("refuse"));
  from_others->publish(message_of("accept"));
  runner.run();
  CHECK_EQ(seen.size(), 1u);
  CHECK_EQ(seen[0], "accept");
  CHECK_THROWS(publisher->publish(message_of("refuse")), std::runtime_error);
}

/// A type that stands for its adapter.
void implicit_adapters(sinew::Node & node)
{
  const auto publisher = node.create_publisher<Interval>("span", 10);
  std::int64_t seen = 0;
  const auto spans = node.create_subscription<Interval>(
    "span", 10, [&](const Interval & interval) {seen += interval.nanoseconds;});
  const auto explicitly = node.create_subscription<
    sinew::TypeAdapter<Interval, builtin_interfaces::msg::Duration>>(
    "span", 10, [&](const Interval & interval) {seen += interval.nanoseconds;});
  const auto plain = node.create_subscription<builtin_interfaces::msg::Duration>(
    "span", 10, [&](const builtin_interfaces::msg::Duration & message) {seen += message.nanosec;});
  Runner runner(node);
  publisher->publish(Interval{1'000'000'007});
  runner.run();
  CHECK_EQ(seen, 2'000'000'014 + 7);
}

/// Values that can't be copied are taken by hand while no other subscription has them.
void moved_values(sinew::Node & node)
{
  using Moved = sinew::TypeAdapter<Unique, String>;
  const auto publisher = node.create_publisher<Moved>("moved", 10);
  const auto taken = node.create_subscription<Moved>("moved", 10);
  publisher->publish(std::make_unique<Unique>(Unique{std::make_unique<std::string>("one")}));
  Unique value;
  sinew::MessageInfo info;
  CHECK(taken->take(value, info));
  CHECK_EQ(*value.text, "one");
  CHECK(!taken->take(value, info));
  const auto other = node.create_subscription<Moved>("moved", 10);
  publisher->publish(std::make_unique<Unique>(Unique{std::make_unique<std::string>("two")}));
  CHECK_EQ(taken->try_take(value, info).error().code(), SINEW_ERROR_NOT_SOLE);
  const auto shared = other->take_shared(info);
  CHECK_EQ(*shared->text, "two");
}

/// A publisher that rests drops messages before they are converted.
void publishers_that_rest(const std::shared_ptr<sinew_node> & node)
{
  using Publisher = sinew::lifecycle::LifecyclePublisher<Text>;
  const auto publisher = Publisher::try_make(node, "resting", 10).value();
  to_custom = 0;
  publisher->publish(message_of("dropped"));
  CHECK_EQ(to_custom, 0);
  publisher->on_activate();
  publisher->publish(message_of("sent"));
  CHECK_EQ(to_custom, 1);
}

}  // namespace

int main(int argc, char ** argv)
{
  sinew::init(argc, argv);
  const auto node = sinew::Node::make_shared("adapters");
  nothing_is_converted_in_the_process(*node);
  others_see_the_message(*node);
  conversions_that_throw(*node);
  implicit_adapters(*node);
  moved_values(*node);
  publishers_that_rest(node->shared_handle());
  sinew::shutdown();
}
