// What programs written for ROS 2 use of a message: a check for each, whose line is printed if it fails.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "action_msgs/srv/cancel_goal.hpp"
#include "arm_msgs/msg/default.hpp"
#include "arm_msgs/msg/joint.hpp"
#include "arm_msgs/msg/limits.hpp"
#include "builtin_interfaces/msg/time.hpp"
#include "example_interfaces/action/fibonacci.hpp"
#include "example_interfaces/srv/add_two_ints.hpp"
#include "geometry_msgs/msg/point.hpp"
#include "geometry_msgs/msg/point_stamped.hpp"
#include "keyword_msgs/msg/keywords.hpp"
#include "sensor_msgs/msg/image.hpp"
#include "std_msgs/msg/empty.hpp"
#include "std_msgs/msg/string.hpp"
#include "test_msgs/msg/bounded_sequences.hpp"
#include "test_msgs/msg/defaults.hpp"
#include "test_msgs/msg/strings.hpp"

namespace
{

int failures = 0;

void check(bool is_right, const char * what, int line)
{
  if (!is_right) {
    std::fprintf(stderr, "shape.cpp:%d: %s\n", line, what);
    ++failures;
  }
}

#define CHECK(condition) check(condition, #condition, __LINE__)

template<class T>
std::vector<std::uint8_t> encoded(const T & message)
{
  std::vector<std::uint8_t> bytes(sinew::MessageTraits<T>::encoded_size(message));
  CHECK(!sinew::MessageTraits<T>::encode(message, bytes.data(), bytes.size()));
  return bytes;
}

template<class T>
std::string encode_error(const T & message)
{
  std::vector<std::uint8_t> bytes(sinew::MessageTraits<T>::encoded_size(message));
  return sinew::MessageTraits<T>::encode(message, bytes.data(), bytes.size()).sentence();
}

template<class T>
std::string decode_error(const std::vector<std::uint8_t> & bytes)
{
  T message;
  return sinew::MessageTraits<T>::decode(bytes.data(), bytes.size(), message).sentence();
}

using geometry_msgs::msg::Point;
using sensor_msgs::msg::Image;
using Text = std_msgs::msg::String;
using sinew::MessageInitialization;

void members()
{
  Image image;
  image.header.frame_id = "camera";
  image.data.resize(6);
  image.set__height(2).set__width(3).set__encoding("mono8");
  CHECK(image.height == 2 && image.width == 3 && image.encoding == "mono8" && image.step == 0);
  const Image::SharedPtr shared = std::make_shared<Image>(image);
  const Image::ConstSharedPtr constant = shared;
  Image::UniquePtr unique = std::make_unique<Image>();
  CHECK(*constant == image && *unique != image);
  const Image::_data_type & data = constant->data;
  CHECK(data.size() == 6);
  static_assert(std::is_same_v<Image::_data_type, std::vector<std::uint8_t>>);
  static_assert(std::is_same_v<Text::_data_type, std::string>);
  static_assert(std::is_same_v<test_msgs::msg::BoundedSequences::_bool_values_type,
    rosidl_runtime_cpp::BoundedVector<bool, 3>>);
  static_assert(std::is_same_v<Image, sensor_msgs::msg::Image_<std::allocator<void>>>);
  const Image with_allocator(std::allocator<void>{});
  CHECK(with_allocator == Image());
}

// Counts in a variable of the caller.
template<class T>
struct Counting
{
  using value_type = T;

  Counting() = default;
  explicit Counting(int * to)
  : count(to) {}
  template<class U>
  Counting(const Counting<U> & other)
  : count(other.count) {}

  T * allocate(std::size_t length)
  {
    if (count != nullptr) {
      ++*count;
    }
    return std::allocator<T>().allocate(length);
  }

  void deallocate(T * memory, std::size_t length) {std::allocator<T>().deallocate(memory, length);}

  friend bool operator==(const Counting & a, const Counting & b) {return a.count == b.count;}
  friend bool operator!=(const Counting & a, const Counting & b) {return a.count != b.count;}

  int * count = nullptr;
};

void allocators()
{
  using Counted = sensor_msgs::msg::Image_<Counting<void>>;
  int count = 0;
  Counted image(Counting<void>{&count});
  image.data.resize(100);
  image.header.frame_id = "a name that is too long for the string itself";
  CHECK(count == 2);
  const std::vector<std::uint8_t> bytes = encoded(image);
  CHECK(!sinew::MessageTraits<Counted>::decode(bytes.data(), bytes.size(), image) && count == 2);
  const auto flow = to_yaml(image, true);
  Image same;
  CHECK(!sinew::MessageTraits<Image>::decode(bytes.data(), bytes.size(), same));
  CHECK(to_yaml(same, true) == flow);
  test_msgs::msg::BoundedSequences_<Counting<void>> sequences(Counting<void>{&count});
  sequences.int32_values.resize(3);
  arm_msgs::msg::Joint_<Counting<void>> joint(Counting<void>{&count}, MessageInitialization::ZERO);
  CHECK(joint.name.empty() && encoded(joint).size() > 4 && encoded(sequences).size() > 4);
}

void initial_values()
{
  using test_msgs::msg::Defaults;
  const Defaults all;
  CHECK(all.bool_value && all.int32_value == -30000 && all.float64_value == 1.125);
  const Defaults zero(rosidl_runtime_cpp::MessageInitialization::ZERO);
  CHECK(!zero.bool_value && zero.int32_value == 0 && zero.float64_value == 0.0);
  const Defaults defaults(MessageInitialization::DEFAULTS_ONLY);
  CHECK(defaults == all);
  const test_msgs::msg::Strings texts;
  CHECK(texts.string_value_default1 == "Hello world!" && texts.string_value_default2 == "Hello'world!");
  const arm_msgs::msg::Joint joint;
  CHECK(joint.type == 1 && joint.name == "arm" && joint.raw[3] == 0 && joint.wide == u"\u00e4");
  CHECK(joint.self == (std::vector<double>{1.0, -2.5}) && joint.steps.size() == 2);
  CHECK(joint.flags[0] && !joint.flags[1] && joint.labels[1] == "b" && joint.weights[35] == 0.0f);
  CHECK(joint.position.y == 1.5);
  const arm_msgs::msg::Joint bare(MessageInitialization::ZERO);
  CHECK(bare.type == 0 && bare.name.empty() && bare.self.empty() && bare.position.y == 0.0);
  const arm_msgs::msg::Limits limits;
  CHECK(limits.numbers.size() == 26 && limits.octets[1] == 2 && limits.octet == 3 && limits.wider[2] == u"\u00fc");
}

void constants()
{
  using arm_msgs::msg::Joint;
  static_assert(Joint::REVOLUTE == 1 && Joint::SAFE && Joint::LIMIT == -1.5f);
  CHECK(Joint::UNIT == "rad \"\302\260\"");
  static_assert(action_msgs::srv::CancelGoal::Response::ERROR_REJECTED == 1);
}

void builders()
{
  const Point point = geometry_msgs::build<Point>().x(1.0).y(2.0).z(3.0);
  const Point same = geometry_msgs::msg::build<Point>().x(1).y(2).z(3);
  CHECK(point == same && point.z == 3.0);
  const Text text = std_msgs::build<Text>().data("hello");
  CHECK(text.data == "hello");
  CHECK(std_msgs::build<std_msgs::msg::Empty>() == std_msgs::msg::Empty());
}

void keywords()
{
  keyword_msgs::msg::Keywords message;
  message.set__class(1).set__template("a");
  message.union_ = {1, 2};
  message.other = 5;
  CHECK(message.class_ == 1 && message.template_ == "a" && message.other == 5);
  CHECK(to_yaml(message, true) == "{class: 1, template: \"a\", union: [1, 2], other: 5, message: 0, visitor: 0}");
  CHECK(message != keyword_msgs::msg::Keywords());
  const auto built =
    keyword_msgs::build<keyword_msgs::msg::Keywords>().class_(1).template_("a").union_({1, 2}).other(5).message(0).visitor(0);
  CHECK(built == message);
}

void texts()
{
  geometry_msgs::msg::PointStamped stamped;
  stamped.header.frame_id = "a \"b\"";
  stamped.point.x = 1.5;
  CHECK(
    to_yaml(stamped, true) ==
    "{header: {stamp: {sec: 0, nanosec: 0}, frame_id: \"a \\\"b\\\"\"}, point: {x: 1.50000, y: 0.00000, z: 0.00000}}");
  CHECK(
    geometry_msgs::msg::to_yaml(stamped) ==
    "header:\n  stamp:\n    sec: 0\n    nanosec: 0\n  frame_id: \"a \\\"b\\\"\"\n"
    "point:\n  x: 1.50000\n  y: 0.00000\n  z: 0.00000\n");
  CHECK(to_yaml(std_msgs::msg::Empty(), true) == "null" && to_yaml(std_msgs::msg::Empty()) == "null\n");
  arm_msgs::msg::Joint joint(MessageInitialization::ZERO);
  joint.raw = {{1, 0xff, 0, 0}};
  joint.wide = u"a\u00e4\u3042";
  const std::string text = to_yaml(joint);
  CHECK(text.find("raw:\n- 0x01\n- 0xff\n") != std::string::npos);
  CHECK(text.find("wide: \"a\\xe4\\u3042\"\n") != std::string::npos);
  CHECK(text.find("self: []\nsteps: []\nposition:\n  x: 0.00000\n") != std::string::npos);
  std::ostringstream out;
  to_block_style_yaml(Text(), out, 2);
  to_flow_style_yaml(Text(), out);
  CHECK(out.str() == "  data: \"\"\n{data: \"\"}");
}

void traits()
{
  using namespace rosidl_generator_traits;
  static_assert(is_message<Point>::value && !is_message<int>::value);
  static_assert(has_fixed_size<Point>::value && has_bounded_size<Point>::value);
  static_assert(!has_fixed_size<Image>::value && !has_bounded_size<Image>::value);
  CHECK(std::string(name<Point>()) == "geometry_msgs/msg/Point");
  CHECK(std::string(data_type<Point>()) == "geometry_msgs::msg::Point");
  using example_interfaces::action::Fibonacci;
  using example_interfaces::srv::AddTwoInts;
  static_assert(is_service<AddTwoInts>::value && has_fixed_size<AddTwoInts>::value);
  static_assert(is_service_request<AddTwoInts::Request>::value && is_service_response<AddTwoInts::Response>::value);
  static_assert(is_action<Fibonacci>::value && is_action_goal<Fibonacci::Goal>::value);
  static_assert(is_action_result<Fibonacci::Result>::value && is_action_feedback<Fibonacci::Feedback>::value);
  static_assert(std::is_same_v<Fibonacci::Impl::CancelGoalService, action_msgs::srv::CancelGoal>);
  Fibonacci::Impl::SendGoalService::Request goal;
  goal.goal.order = 5;
  AddTwoInts::Event event;
  event.request.resize(1);
  CHECK(event.request[0].a == 0 && goal.goal_id.uuid[15] == 0);
  static_assert(sinew::ServiceTraits<AddTwoInts>::name == "example_interfaces/srv/AddTwoInts");
  static_assert(sinew::ActionTraits<Fibonacci>::hash_text.size() == 71);
  static_assert(sinew::MessageTraits<Point>::is_plain && !sinew::MessageTraits<Text>::is_plain);
}

void stamps()
{
  geometry_msgs::msg::PointStamped stamped;
  stamped.header.stamp.sec = 2;
  stamped.header.stamp.nanosec = 5;
  CHECK(sinew::MessageTraits<geometry_msgs::msg::PointStamped>::stamp(stamped) == 2000000005);
  CHECK(sinew::type_table<geometry_msgs::msg::PointStamped>.stamp(&stamped) == 2000000005);
  CHECK(sinew::type_table<Point>.stamp == nullptr);
}

template<class Action>
std::string thrown(Action action)
{
  try {
    action();
  } catch (const std::length_error & error) {
    return error.what();
  }
  return "";
}

void bounded_vectors()
{
  using Numbers = sinew::BoundedVector<int, 3>;
  Numbers numbers = {1, 2};
  numbers.push_back(3);
  CHECK(numbers.size() == 3 && numbers.max_size() == 3 && numbers.back() == 3);
  CHECK(thrown([&] {numbers.push_back(4);}) == "3 + 1 elements are more than the 3 that the type allows");
  CHECK(thrown([&] {numbers.resize(4);}) == "4 elements are more than the 3 that the type allows");
  const std::vector<int> many(5, 7);
  const int one = 1;
  CHECK(!thrown([&] {numbers.emplace_back(4);}).empty() && !thrown([&] {numbers.reserve(4);}).empty());
  CHECK(!thrown([&] {numbers.assign(4, one);}).empty() && !thrown([&] {numbers.assign({1, 2, 3, 4});}).empty());
  CHECK(!thrown([&] {numbers.assign(many.begin(), many.end());}).empty());
  CHECK(!thrown([&] {numbers.insert(numbers.begin(), many.begin(), many.begin() + 1);}).empty());
  CHECK(!thrown([&] {numbers.insert(numbers.begin(), 1);}).empty());
  CHECK(!thrown([&] {numbers.insert(numbers.begin(), SIZE_MAX, 1);}).empty());
  CHECK(!thrown([&] {numbers = {1, 2, 3, 4};}).empty() && !thrown([] {Numbers more(4);}).empty());
  CHECK(!thrown([&] {Numbers more(many.begin(), many.end());}).empty());
  CHECK((numbers == Numbers{1, 2, 3}));
  numbers.erase(numbers.begin());
  numbers.insert(numbers.begin(), 0);
  CHECK((numbers == Numbers{0, 2, 3} && numbers < Numbers{1} && numbers != Numbers{}));
  Numbers other;
  swap(numbers, other);
  CHECK(numbers.empty() && other.size() == 3);
}

void encodings()
{
  Text text;
  text.data = "hi";
  const std::vector<std::uint8_t> bytes = {0, 1, 0, 0, 3, 0, 0, 0, 'h', 'i', 0};
  CHECK(encoded(text) == bytes);
  Point point;
  point.x = 1.0;
  const std::vector<std::uint8_t> plain = encoded(point);
  CHECK(plain.size() == 28 && std::memcmp(plain.data() + 4, &point, sizeof point) == 0);
  CHECK(
    sinew::MessageTraits<Point>::encode(point, nullptr, 3).sentence() ==
    "the encoded geometry_msgs/msg/Point has 4 bytes, but its buffer 3; give it a buffer of encoded_size() bytes");
  std::uint8_t buffer[40];
  CHECK(!!sinew::MessageTraits<Point>::encode(point, buffer, 27));
  CHECK(!!sinew::MessageTraits<Point>::encode(point, buffer, 29));
}

void errors()
{
  CHECK(
    decode_error<Text>({0, 1, 0}) ==
    "`(header)` of std_msgs/msg/String needs bytes up to 4, but the message ends at byte 3");
  CHECK(
    decode_error<Text>({0, 1, 0, 0, 9, 0, 0, 0, 'h', 0}) ==
    "`data` of std_msgs/msg/String claims 9 elements, but the rest of the message has room for 2 at most");
  CHECK(
    decode_error<Text>({0, 1, 0, 0, 2, 0, 0, 0, 'h', 'i'}) ==
    "`data` of std_msgs/msg/String at byte 9 is not valid: a string ends with a NUL");
  CHECK(
    decode_error<Text>({0, 7, 0, 0, 0, 0, 0, 0}) ==
    "the encoded std_msgs/msg/String has representation 7, but only plain CDR is read (0 and 1); "
    "let its writer use XCDR version 1");
  CHECK(
    decode_error<geometry_msgs::msg::PointStamped>({0, 1, 0, 0, 0, 0, 0, 0, 0, 0}) ==
    "`nanosec` of builtin_interfaces/msg/Time needs bytes up to 12, but the message ends at byte 10");
  CHECK(
    decode_error<std_msgs::msg::Empty>({0, 1, 0, 0}) ==
    "`structure_needs_at_least_one_member` of std_msgs/msg/Empty needs bytes up to 5, but the message ends at byte 4");
  test_msgs::msg::Strings strings;
  strings.bounded_string_value = std::string(22, 'x');
  CHECK(encode_error(strings) == "no error");
  strings.bounded_string_value += "\xc3\xa4";
  CHECK(
    encode_error(strings) ==
    "`bounded_string_value` of test_msgs/msg/Strings has 23 elements, but its type allows 22 at most");
}

}  // namespace

int main()
{
  members();
  allocators();
  initial_values();
  constants();
  builders();
  keywords();
  texts();
  traits();
  stamps();
  bounded_vectors();
  encodings();
  errors();
  return failures == 0 ? 0 : 1;
}
