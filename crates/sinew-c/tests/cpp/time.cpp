// Durations, times, clocks, rates and timers.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "builtin_interfaces/msg/duration.hpp"
#include "check.hpp"
#include "sinew/sinew.hpp"
#include "std_msgs/msg/header.hpp"

namespace
{

using namespace std::chrono_literals;
using sinew::Duration;
using sinew::Time;

constexpr std::int64_t MOST = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t LEAST = std::numeric_limits<std::int64_t>::min();

void durations()
{
  CHECK_EQ(Duration().nanoseconds(), 0);
  CHECK_EQ(Duration(1, 5).nanoseconds(), 1'000'000'005);
  CHECK_EQ(Duration(-1, 5).nanoseconds(), -999'999'995);
  CHECK_EQ(Duration(1500us).nanoseconds(), 1'500'000);
  CHECK_EQ(Duration::from_seconds(-0.25).nanoseconds(), -250'000'000);
  CHECK_EQ(Duration::from_nanoseconds(7).nanoseconds(), 7);
  CHECK_EQ(Duration(2s).seconds(), 2.0);
  CHECK(Duration(2500ms).to_chrono<std::chrono::seconds>() == 2s);
  CHECK_EQ(Duration::max().nanoseconds(), MOST);
  const Duration one = 1s;
  CHECK(one + 500ms == Duration(1500ms) && one - 1500ms == Duration(-500ms) && -one == Duration(-1s));
  CHECK(one * 2.5 == Duration(2500ms) && 2 * one == Duration(2s) && one / 4 == Duration(250ms));
  CHECK(one < Duration(2s) && one <= one && one > Duration() && one >= one && one != Duration());
  Duration changed = one;
  changed += 1s;
  changed *= 3;
  changed -= 2s;
  changed /= 2;
  CHECK_EQ(changed.nanoseconds(), 2'000'000'000);

  CHECK_THROWS(Duration::max() + Duration::from_nanoseconds(1), std::overflow_error);
  CHECK_THROWS(Duration::from_nanoseconds(LEAST) - Duration(1s), std::underflow_error);
  CHECK_THROWS(-Duration::from_nanoseconds(LEAST), std::overflow_error);
  CHECK_THROWS(Duration::max() * 2, std::overflow_error);
  CHECK_THROWS(Duration::max() * -2, std::underflow_error);
  CHECK_THROWS(one * std::nan(""), std::runtime_error);
  CHECK_THROWS(one * HUGE_VAL, std::runtime_error);
  CHECK_THROWS(one / 0, std::runtime_error);
  CHECK_THROWS(Duration::from_seconds(1e10), std::overflow_error);
  CHECK_THROWS(Duration::from_seconds(-1e10), std::underflow_error);
  CHECK_THROWS(Duration::from_seconds(std::nan("")), std::runtime_error);
}

void durations_and_messages()
{
  builtin_interfaces::msg::Duration message = Duration(-1500ms);
  CHECK(message.sec == -2 && message.nanosec == 500'000'000);
  CHECK(Duration(message) == Duration(-1500ms) && Duration(message) == message);
  message = Duration::max();
  CHECK(message.sec == std::numeric_limits<std::int32_t>::max() && message.nanosec == 999'999'999);
  message = Duration::from_nanoseconds(LEAST);
  CHECK(message.sec == std::numeric_limits<std::int32_t>::min() && message.nanosec == 0);
  message.sec = std::numeric_limits<std::int32_t>::min();
  message.nanosec = std::numeric_limits<std::uint32_t>::max();  // more than a second: added
  CHECK_EQ(Duration(message).nanoseconds(), -2'147'483'648'000'000'000 + 4'294'967'295);
}

void times()
{
  const Time time(3, 4, sinew::RCL_ROS_TIME);
  CHECK_EQ(time.nanoseconds(), 3'000'000'004);
  CHECK_EQ(Time(2'500'000'000).seconds(), 2.5);
  CHECK_EQ(Time().get_clock_type(), sinew::RCL_SYSTEM_TIME);
  CHECK(time + 1s == Time(4, 4, sinew::RCL_ROS_TIME) && 1s + time == time + 1s);
  CHECK(time - 1s < time && time > time - 1s && time <= time && time >= time && time != time + 1ns);
  CHECK((time + 2s) - time == Duration(2s));
  Time changed = time;
  changed += 2s;
  changed -= 1s;
  CHECK(changed == time + 1s);
  CHECK_EQ(Time::max(sinew::RCL_STEADY_TIME).nanoseconds(), MOST);
  CHECK_EQ(Time::max(sinew::RCL_STEADY_TIME).get_clock_type(), sinew::RCL_STEADY_TIME);

  CHECK_THROWS(Time(-1, 0), std::runtime_error);
  CHECK_THROWS((void)(time == Time(3, 4)), std::runtime_error);
  CHECK_THROWS((void)(time < Time(3, 4)), std::runtime_error);
  CHECK_THROWS(time - Time(3, 4), std::runtime_error);
  CHECK_THROWS(Time::max() + 1ns, std::overflow_error);
  CHECK_THROWS(Time(LEAST) - 1ns, std::underflow_error);

  std_msgs::msg::Header header;
  header.stamp = time;
  CHECK(header.stamp.sec == 3 && header.stamp.nanosec == 4);
  CHECK(header.stamp == time && time == header.stamp && !(time != header.stamp));
  CHECK(time - header.stamp == Duration() && time + 1s > header.stamp);
  CHECK_EQ(Time(header.stamp, sinew::RCL_STEADY_TIME).get_clock_type(), sinew::RCL_STEADY_TIME);
  header.stamp = Time(-1);
  CHECK(header.stamp.sec == -1 && header.stamp.nanosec == 999'999'999);
  CHECK_THROWS(Time(header.stamp), std::runtime_error);
}

void clocks(const sinew::Node::SharedPtr & node)
{
  const sinew::Clock system;
  CHECK_EQ(system.get_clock_type(), sinew::RCL_SYSTEM_TIME);
  CHECK(system.now().seconds() > 1e9);
  const sinew::Clock steady(sinew::RCL_STEADY_TIME);
  const Time begin = steady.now();
  CHECK_EQ(begin.get_clock_type(), sinew::RCL_STEADY_TIME);
  CHECK(steady.sleep_for(1ms) && steady.now() >= begin + 1ms);
  CHECK(steady.sleep_until(begin) && steady.sleep_for(-1s));
  CHECK_THROWS(steady.sleep_until(Time()), std::runtime_error);
  CHECK(sinew::sleep_for(1us));
  CHECK(!steady.ros_time_is_active() && !node->get_clock()->ros_time_is_active());
  CHECK(!steady.try_create_jump_callback(nullptr, nullptr, {}));
  CHECK_EQ(node->now().get_clock_type(), sinew::RCL_ROS_TIME);
}

/// ROS time as a replay sets it: the clock, jumps, sleeping.
void simulated_time(const sinew::Node::SharedPtr & node)
{
  const auto * context = node->get_context()->handle();
  const auto set = [context](std::int64_t time) {
      sinew::detail::check(sinew_context_set_ros_time(context, time));
    };
  const auto clock = node->get_clock();
  std::vector<sinew::TimeJump> jumps;
  std::string order;
  sinew::JumpThreshold threshold;
  threshold.on_clock_change = true;
  threshold.min_forward.nanoseconds = 1'000;
  threshold.min_backward.nanoseconds = -10;
  auto handler = clock->create_jump_callback(
    [&order] {order += '<';},
    [&order, &jumps](const sinew::TimeJump & jump) {
      order += '>';
      jumps.push_back(jump);
    }, threshold);
  set(5'000);
  CHECK(clock->ros_time_is_active() && clock->now().nanoseconds() == 5'000);
  set(5'999);
  set(7'000);
  set(6'991);
  set(6'981);
  CHECK_EQ(order, "<><><>");
  CHECK_EQ(jumps[0].clock_change, sinew::RCL_ROS_TIME_ACTIVATED);
  CHECK(jumps[1].clock_change == sinew::RCL_ROS_TIME_NO_CHANGE && jumps[1].delta.nanoseconds == 1'001);
  CHECK_EQ(jumps[2].delta.nanoseconds, -10);

  bool has_slept = false;
  std::thread sleeper([&clock, &has_slept] {
      has_slept = clock->sleep_until(Time(0, 9'000, sinew::RCL_ROS_TIME));
    });
  set(9'000);
  sleeper.join();
  CHECK(has_slept);
  // A change of the source ends a sleep, unless it ended before the sleep began.
  std::thread interrupted([&clock] {(void)clock->sleep_for(std::chrono::hours(24 * 365 * 100));});
  std::thread changes([&] {
      for (;;) {
        sinew::detail::check(sinew_context_clear_ros_time(context));
        set(1);
        if (order.size() > 200) {
          break;
        }
      }
      sinew::detail::check(sinew_context_shutdown(context));
    });
  interrupted.join();
  changes.join();
  handler.reset();
}

void rates()
{
  sinew::WallRate rate(1000.0);
  CHECK(rate.period() == Duration(1ms));
  CHECK_EQ(rate.get_type(), sinew::RCL_STEADY_TIME);
  const sinew::Clock steady(sinew::RCL_STEADY_TIME);
  const Time begin = steady.now();
  rate.reset();
  for (int round = 0; round < 3; ++round) {
    (void)rate.sleep();
  }
  CHECK(steady.now() >= begin + 3ms);
  // A round that is over is not waited for.
  sinew::WallRate late(1ns);
  CHECK(sinew::sleep_for(1us));
  CHECK(!late.sleep());
  CHECK(sinew::Rate(10ms).period() == Duration(10ms));
  CHECK_EQ(sinew::Rate(10).get_type(), sinew::RCL_SYSTEM_TIME);
  CHECK_THROWS(sinew::Rate(0.0), std::invalid_argument);
  CHECK_THROWS(sinew::Rate(-1.0), std::invalid_argument);
  CHECK_THROWS(sinew::WallRate(0ms), std::invalid_argument);
}

/// Timers in virtual time, which the program advances: order, options, what callbacks may do.
void timers()
{
  sinew_virtual_clock * clock = nullptr;
  sinew::detail::check(sinew_virtual_clock_new(&clock));
  auto settings = sinew::detail::options<sinew_context_options>();
  settings.virtual_clock = clock;
  sinew::detail::Handle<sinew_context, sinew_context_free> context;
  sinew::detail::check(sinew_context_new(&settings, sinew::detail::Out(context)));
  sinew::detail::Handle<sinew_node, sinew_node_free> node;
  sinew::detail::check(sinew_node_new(context.get(), "ticker", nullptr, sinew::detail::Out(node)));
  sinew::executors::SingleThreadedExecutor executor;
  sinew::detail::check(sinew_executor_add_node(executor.handle(), node.get()));
  const auto advance = [&executor](std::chrono::nanoseconds duration) {
      sinew::detail::check_spin(sinew_executor_advance(executor.handle(), duration.count(), nullptr));
    };

  std::string order;
  const auto letter = [&order](char which) {return [&order, which] {order += which;};};
  auto fast = sinew::WallTimer<decltype(letter('f'))>::try_make(node.get(), 10ms, letter('f')).value();
  auto slow = sinew::WallTimer<decltype(letter('s'))>::try_make(node.get(), 25ms, letter('s')).value();
  advance(50ms);
  CHECK_EQ(order, "ffsffsf");
  CHECK(fast->period() == 10ms && fast->time_until_trigger() == 10ms && fast->is_steady());
  fast->cancel();
  CHECK(fast->is_canceled() && fast->time_until_trigger() == std::chrono::nanoseconds::max());
  advance(25ms);
  CHECK_EQ(order, "ffsffsfs");
  fast->reset();
  CHECK(!fast->is_canceled() && !fast->is_ready());
  sinew::detail::check(sinew_virtual_clock_advance(clock, 10'000'000));
  CHECK(fast->is_ready());
  fast.reset();  // none of its callbacks runs any more
  slow.reset();
  advance(100ms);
  CHECK_EQ(order, "ffsffsfs");

  // Callbacks that take the timer, or when they were due. One destroys itself.
  int calls = 0;
  const auto twice = [&calls](sinew::TimerBase & timer) {
      if (++calls == 2) {
        timer.cancel();
      }
    };
  auto limited =
    sinew::GenericTimer<decltype(twice)>::try_make(node.get(), 1ms, twice, sinew::RCL_ROS_TIME).value();
  Time due, actual;
  std::uint64_t skipped = 0;
  const auto look = [&](const sinew::TimerInfo & info) {
      due = info.expected_call_time;
      actual = info.actual_call_time;
      skipped += info.skipped;
    };
  auto looking =
    sinew::GenericTimer<decltype(look)>::try_make(node.get(), 2ms, look, sinew::RCL_SYSTEM_TIME).value();
  sinew::TimerBase::SharedPtr once;
  const auto kept = std::make_shared<int>(0);
  const auto end = [&once, kept] {
      once.reset();
      ++*kept;  // the function object lives until it returns
    };
  once = sinew::WallTimer<decltype(end)>::try_make(node.get(), 3ms, end, nullptr, false).value();
  advance(10ms);
  CHECK_EQ(*kept, 0);
  once->reset();
  advance(10ms);
  CHECK(calls == 2 && limited->is_canceled() && *kept == 1 && kept.use_count() == 2);
  CHECK(due == actual && due.get_clock_type() == sinew::RCL_SYSTEM_TIME && skipped == 0);
  sinew::detail::check(sinew_virtual_clock_advance(clock, 7'000'000));
  executor.spin_some();
  CHECK(skipped == 2 && looking->skipped() == 2 && actual - due == Duration(5ms));

  CHECK_EQ(
    sinew::WallTimer<decltype(end)>::try_make(node.get(), -1ms, end).error().code(),
    SINEW_ERROR_INVALID_PERIOD);
  CHECK(!sinew::WallTimer<decltype(end)>::try_make(node.get(), std::chrono::hours::max(), end));
  CHECK_EQ(kept.use_count(), 2);
  sinew_virtual_clock_free(clock);
}

/// The functions of a node, on real clocks.
void timers_of_a_node(const sinew::Node::SharedPtr & node)
{
  int wall = 0, ros = 0, other = 0;
  const auto group = node->create_callback_group(sinew::CallbackGroupType::MutuallyExclusive);
  auto wall_timer = node->create_wall_timer(1us, [&wall] {++wall;}, group);
  sinew::TimerBase::SharedPtr ros_timer = node->create_timer(0ms, [&ros] {++ros;});
  auto other_timer = sinew::create_timer(
    node, std::make_shared<sinew::Clock>(sinew::RCL_SYSTEM_TIME), Duration(1us), [&other] {++other;});
  CHECK_EQ(other_timer->get_clock_type(), sinew::RCL_SYSTEM_TIME);
  auto waiting = node->create_wall_timer(1us, [] {std::abort();}, nullptr, false);
  CHECK(waiting->is_canceled() && ros_timer->is_steady());
  sinew::executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  while (wall < 3 || ros < 3 || other < 3) {
    executor.spin_once(10s);
  }
  CHECK_THROWS(node->create_wall_timer(-1s, [] {}), std::invalid_argument);
}

}  // namespace

int main(int argc, char ** argv)
{
  sinew::init(argc, argv);
  durations();
  durations_and_messages();
  times();
  const auto node = sinew::Node::make_shared("clocks");
  clocks(node);
  rates();
  timers();
  timers_of_a_node(node);
  const auto apart = sinew::Context::make();
  simulated_time(sinew::Node::make_shared("replay", sinew::NodeOptions().context(apart)));
  CHECK(sinew::shutdown());
  CHECK(!sinew::sleep_for(1h));
  CHECK(!node->get_clock()->sleep_for(1h));
}
