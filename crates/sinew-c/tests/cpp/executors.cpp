// Executors, wait sets, guard conditions, futures, exceptions, threads, shutdown.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"
#include "sinew/sinew.hpp"

namespace
{

using namespace std::chrono_literals;
using sinew::FutureReturnCode;
using sinew::executors::MultiThreadedExecutor;
using sinew::executors::SingleThreadedExecutor;

void spinning()
{
  const auto node = sinew::Node::make_shared("worker");
  SingleThreadedExecutor executor;
  executor.add_node(node);
  std::string order;
  const auto letter = [&order](char which) {return [&order, which] {order += which;};};
  node->post(letter('a'));
  node->post([&] {
      order += 'b';
      node->post(letter('c'));
    });
  executor.spin_some();
  CHECK_EQ(order, "ab");
  executor.spin_once(0ms);
  executor.spin_once(0ms);
  CHECK_EQ(order, "abc");
  node->post([&] {node->post(letter('e')); order += 'd';});
  executor.spin_all(0ms);
  CHECK_EQ(order, "abcde");
  node->post(letter('f'));
  node->post(letter('g'));
  executor.spin_some(1ns);  // over at once, after the first one
  CHECK_EQ(order, "abcdef");
  executor.spin_all(1h);
  CHECK_EQ(order, "abcdefg");
  node->post([&] {executor.cancel();});
  executor.spin();
  executor.cancel();  // the next spin ends
  executor.spin();
  CHECK(executor.descriptor() >= 0 && executor.get_number_of_threads() == 1);

  // A node has one executor, which can give it away.
  SingleThreadedExecutor other;
  CHECK_EQ(other.try_add_node(*node).error().code(), SINEW_ERROR_SERVED_ELSEWHERE);
  CHECK_THROWS(other.add_node(node), std::runtime_error);
  CHECK_THROWS(other.remove_node(node), std::runtime_error);
  executor.remove_node(node);
  node->post(letter('h'));
  executor.spin_some();
  CHECK_EQ(order, "abcdefg");
  other.add_node(node->get_node_base_interface());
  other.spin_some();
  CHECK_EQ(order, "abcdefgh");
  other.remove_node(node);
  node->post(letter('i'));
  executor.spin_node_some(node);
  node->post(letter('j'));
  executor.spin_node_once(node);
  node->post(letter('k'));
  executor.spin_node_all(node, 0ms);
  node->post(letter('l'));
  sinew::spin_some(node);
  node->post(letter('m'));
  sinew::spin_all(node, 1h);
  CHECK_EQ(order, "abcdefghijklm");
  const sinew::executors::experimental::EventsExecutor events;
  CHECK_EQ(events.get_number_of_threads(), 1u);
}

void groups()
{
  const auto node = sinew::Node::make_shared("grouped");
  const auto group = node->create_callback_group(sinew::CallbackGroupType::MutuallyExclusive);
  SingleThreadedExecutor of_group, of_node;
  of_group.add_callback_group(group, node);
  of_node.add_node(node);
  std::string order;
  group->post([&order] {order += 'g';});
  node->post([&order] {order += 'n';});
  of_group.spin_some();
  CHECK_EQ(order, "g");
  of_node.spin_some();
  CHECK_EQ(order, "gn");
  of_group.remove_callback_group(group);
  CHECK_THROWS(of_group.remove_callback_group(group), std::runtime_error);
  group->post([&order] {order += 'G';});
  of_group.spin_some();
  CHECK_EQ(order, "gn");
  of_node.add_node(node);  // with its groups that no executor serves
  of_node.spin_some();
  CHECK_EQ(order, "gnG");

  // Of a node that is served already: one of its executor, one that waits for its own.
  const auto type = sinew::CallbackGroupType::MutuallyExclusive;
  const auto with_node = node->create_callback_group(type, true);
  CHECK_EQ(of_group.try_add_callback_group(*with_node).error().code(), SINEW_ERROR_SERVED_ELSEWHERE);
  const auto without_node = node->create_callback_group(type, false);
  without_node->post([&order] {order += 'w';});
  of_node.spin_some();
  CHECK_EQ(order, "gnG");
  of_group.add_callback_group(without_node, node);
  of_group.spin_some();
  CHECK_EQ(order, "gnGw");
  // The executor is gone, the node remains.
  {
    SingleThreadedExecutor gone;
    of_node.remove_node(node);
    gone.add_node(node);
  }
  CHECK(node->callback_group_in_node(node->create_callback_group(type, false)));
}

void options()
{
  sinew::ExecutorOptions options;
  options.realtime_priority = 100;
  CHECK_EQ(
    SingleThreadedExecutor::try_make(options).error().code(), SINEW_ERROR_INVALID_EXECUTOR_OPTIONS);
  CHECK_THROWS(MultiThreadedExecutor(options, 2), sinew::exceptions::RCLError);
  options.realtime_priority = 0;
  options.placement = sinew::Placement::Cores;
  CHECK(!MultiThreadedExecutor::try_make(options, 2));
  options.placement = sinew::Placement::Off;
  options.timer_thread = true;
  options.caller_runs = true;
  options.spin_before_park = 1us;
  CHECK_EQ(MultiThreadedExecutor::try_make(options, 3).value()->get_number_of_threads(), 3u);
  CHECK(MultiThreadedExecutor().get_number_of_threads() >= 1);
  CHECK_EQ(SingleThreadedExecutor::make_shared()->get_number_of_threads(), 1u);
}

/// An exception that counts itself, so that none is lost or destroyed twice.
struct Counted : std::runtime_error
{
  static std::atomic<int> & alive()
  {
    static std::atomic<int> count{0};
    return count;
  }
  Counted()
  : std::runtime_error("counted") {++alive();}
  Counted(const Counted & other)
  : std::runtime_error(other) {++alive();}
  ~Counted() override {--alive();}
};

void exceptions()
{
  const auto node = sinew::Node::make_shared("thrower");
  const auto timer = node->create_wall_timer(1us, [] {throw std::out_of_range("too far");});
  SingleThreadedExecutor executor;
  executor.add_node(node);
  CHECK_THROWS(executor.spin(), std::out_of_range);
  CHECK_THROWS(executor.spin_once(), std::out_of_range);
  CHECK_EQ(executor.try_spin().error().code(), SINEW_ERROR_CALLBACK_FAILED);
  timer->cancel();
  const auto fails = node->create_guard_condition([] {throw std::string("no std::exception");});
  fails->trigger();
  CHECK_THROWS(executor.spin_some(), std::string);
  fails->trigger();
  CHECK(executor.try_spin().error().sentence().find("no std::exception") != std::string::npos);
  executor.remove_node(node);
  // The executor that only reports goes on.
  sinew::ExecutorOptions options;
  options.on_error = sinew::FaultPolicy::Report;
  SingleThreadedExecutor reporter(options);
  reporter.add_node(node);
  fails->trigger();
  node->post([] {throw 1;});
  bool has_run = false;
  node->post([&has_run] {has_run = true;});
  reporter.spin_some();
  CHECK(has_run);
}

/// Exceptions of several threads: one comes out of each spin, and all are destroyed.
void exceptions_of_threads()
{
  const auto node = sinew::Node::make_shared("throwers");
  const auto reentrant = node->create_callback_group(sinew::CallbackGroupType::Reentrant);
  MultiThreadedExecutor executor({}, 4);
  executor.add_node(node);
  std::atomic<int> thrown{0};
  int caught = 0;
  for (int i = 0; i < 100; ++i) {
    reentrant->post([&thrown] {
        ++thrown;
        throw Counted();
      });
  }
  while (thrown < 100) {
    try {
      executor.spin();
    } catch (const Counted & counted) {
      CHECK_EQ(counted.what(), std::string("counted"));
      ++caught;
    }
  }
  CHECK(caught > 0 && caught <= 100);
  sinew_error_set(SINEW_ERROR_TIMEOUT, "another failure", nullptr, nullptr);  // drops the last one
  CHECK_EQ(Counted::alive(), 0);
  // One that is caught outlives the executor and its thread.
  std::exception_ptr kept;
  reentrant->post([] {throw Counted();});
  std::thread([&executor, &kept] {
      try {
        executor.spin();
      } catch (...) {
        kept = std::current_exception();
      }
    }).join();
  CHECK_EQ(Counted::alive(), 1);
  CHECK_THROWS(std::rethrow_exception(kept), Counted);
  kept = nullptr;
  CHECK_EQ(Counted::alive(), 0);
}

void futures()
{
  const auto node = sinew::Node::make_shared("waiter");
  SingleThreadedExecutor executor;
  executor.add_node(node);
  std::promise<int> promise;
  const std::shared_future<int> future = promise.get_future().share();
  CHECK_EQ(executor.spin_until_future_complete(future, 0ms), FutureReturnCode::TIMEOUT);
  CHECK_EQ(executor.spin_until_future_complete(future, 1ms), FutureReturnCode::TIMEOUT);
  std::promise<void> at_once;
  const std::future<void> done_at_once = at_once.get_future();
  int calls = 0;
  node->post([&calls] {++calls;});
  node->post([&] {
      ++calls;
      at_once.set_value();
    });
  // One callback at least, also if the time is over.
  CHECK_EQ(executor.spin_until_future_complete(done_at_once, 0s), FutureReturnCode::TIMEOUT);
  CHECK_EQ(calls, 1);
  CHECK_EQ(executor.spin_until_future_complete(done_at_once, 0s), FutureReturnCode::SUCCESS);
  CHECK_EQ(calls, 2);
  executor.cancel();
  CHECK_EQ(executor.spin_until_future_complete(future), FutureReturnCode::INTERRUPTED);
  int runs = 0;
  const auto timer = node->create_wall_timer(1us, [&] {
        if (++runs == 3) {
          promise.set_value(3);
        }
      });
  CHECK_EQ(executor.spin_until_future_complete(future), FutureReturnCode::SUCCESS);
  CHECK_EQ(runs, 3);
  timer->cancel();
  CHECK_EQ(executor.spin_until_future_complete(future, 0s), FutureReturnCode::SUCCESS);
  executor.remove_node(node);

  std::promise<void> other;
  const std::future<void> ready = other.get_future();
  node->post([&other] {other.set_value();});
  CHECK_EQ(sinew::spin_until_future_complete(node, ready, 1h), FutureReturnCode::SUCCESS);
  std::promise<void> third;
  node->post([&third] {third.set_value();});
  const std::future<void> late = third.get_future();
  CHECK_EQ(
    sinew::executors::spin_node_until_future_complete(executor, node, late), FutureReturnCode::SUCCESS);
  std::ostringstream text;
  text << FutureReturnCode::TIMEOUT;
  CHECK_EQ(text.str(), "TIMEOUT (2)");
  std::promise<void> never;
  const auto broken = never.get_future();
  node->post([] {throw std::logic_error("while waiting");});
  CHECK_THROWS(sinew::spin_until_future_complete(node, broken), std::logic_error);
}

/// Two callbacks of different groups that wait for each other need two threads.
void threads()
{
  const auto node = sinew::Node::make_shared("parallel");
  MultiThreadedExecutor executor(sinew::ExecutorOptions(), 2);
  executor.add_node(node);
  std::promise<void> here, there;
  const auto first = node->create_callback_group(sinew::CallbackGroupType::MutuallyExclusive);
  const auto second = node->create_callback_group(sinew::CallbackGroupType::MutuallyExclusive);
  first->post([&] {
      here.set_value();
      there.get_future().wait();
    });
  second->post([&] {
      there.set_value();
      here.get_future().wait();
      executor.cancel();
    });
  executor.spin();

  // The destructor of a timer waits for its callback on another thread.
  std::promise<void> begun;
  std::atomic<bool> has_ended{false};
  bool is_first = true;
  auto timer = node->create_wall_timer(1us, [&] {
        if (std::exchange(is_first, false)) {
          begun.set_value();
          std::this_thread::yield();
          has_ended = true;
        }
      });
  std::thread spinner([&executor] {executor.spin();});
  begun.get_future().wait();
  timer.reset();
  CHECK(has_ended);
  executor.cancel();
  spinner.join();
}

void guard_conditions()
{
  const auto node = sinew::Node::make_shared("guarded");
  SingleThreadedExecutor executor;
  executor.add_node(node);
  std::size_t sum = 0, calls = 0;
  auto counted = node->create_guard_condition([&](std::size_t count) {
        sum += count;
        ++calls;
      });
  counted->trigger();
  counted->trigger();
  executor.spin_some();
  CHECK(sum == 2 && calls == 1);
  std::size_t notified = 0;
  const auto kept = std::make_shared<int>(0);
  counted->trigger();
  counted->set_on_trigger_callback([&notified, kept](std::size_t count) {notified += count;});
  CHECK_EQ(notified, 1u);
  counted->trigger();
  CHECK_EQ(notified, 2u);
  counted->set_on_trigger_callback(nullptr);
  counted->trigger();
  CHECK(notified == 2 && kept.use_count() == 1);
  std::thread([&counted] {counted->trigger();}).join();
  executor.spin_some();
  CHECK(sum == 6 && calls == 2);
  counted->trigger();
  counted.reset();
  executor.spin_some();
  CHECK_EQ(calls, 2u);
}

/// Whether an executor spins, and the groups of a node.
void spinning_and_groups()
{
  const auto node = sinew::Node::make_shared("groups");
  sinew::executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  CHECK(!executor.is_spinning());
  int seen = 0;
  node->post([&] {seen += executor.is_spinning();});
  executor.spin_some();
  CHECK(seen == 1 && !executor.is_spinning());
  node->post([] {throw std::runtime_error("it ends the spin");});
  CHECK_THROWS(executor.spin(), std::runtime_error);
  CHECK(!executor.is_spinning());

  const auto kept = node->create_callback_group(sinew::CallbackGroupType::Reentrant);
  node->create_callback_group(sinew::CallbackGroupType::MutuallyExclusive).reset();
  std::vector<sinew::CallbackGroup::SharedPtr> groups;
  node->for_each_callback_group([&](const auto & group) {groups.push_back(group);});
  CHECK(groups.size() == 2 && groups[0] == node->get_default_callback_group() && groups[1] == kept);
  CHECK(node->callback_group_in_node(kept));
  CHECK(!sinew::Node("other").callback_group_in_node(kept));
  CHECK_EQ(node->get_effective_namespace(), "/");
}

void descriptors()
{
  const auto node = sinew::Node::make_shared("reader");
  int pipe_ends[2];
  CHECK(pipe(pipe_ends) == 0);
  std::string text;
  auto source = node->create_descriptor_source(pipe_ends[0], [&](const sinew::Readiness & readiness) {
        CHECK(readiness.readable);
        char letter = 0;
        CHECK(read(pipe_ends[0], &letter, 1) == 1);
        text += letter;
      });
  int writable = 0;
  auto room = node->create_descriptor_source(
    pipe_ends[1], [&writable] {++writable;}, sinew::DescriptorEvent::Writable);
  SingleThreadedExecutor executor;
  executor.add_node(node);
  CHECK(write(pipe_ends[1], "ab", 2) == 2);
  while (text.size() < 2 || writable == 0) {
    executor.spin_once();
  }
  CHECK_EQ(text, "ab");
  source.reset();
  room.reset();
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  CHECK_THROWS(node->create_descriptor_source(-1, [] {}), std::runtime_error);
}

void wait_sets()
{
  const auto node = sinew::Node::make_shared("chooser");
  sinew::WaitSet set;
  CHECK(set.wait().kind() == sinew::WaitResultKind::Empty);
  set.add_node(node);
  CHECK(set.wait(0ms).kind() == sinew::WaitResultKind::Timeout);
  int triggered = 0, ticks = 0;
  const auto guard = node->create_guard_condition([&triggered] {++triggered;});
  const auto timer = node->create_wall_timer(1us, [&ticks] {++ticks;});
  guard->trigger();
  while (ticks == 0 || triggered == 0) {
    const auto result = set.wait();
    CHECK(result.kind() == sinew::WaitResultKind::Ready);
    CHECK(result.size() >= 1 && (result.contains(guard) || result.contains(timer)));
    for (const auto ready : result) {
      CHECK(ready.is(timer) != ready.is(*guard));
      CHECK(ready.describe().find("/chooser") != std::string::npos);
      CHECK(ready.run());
    }
  }
  CHECK_EQ(triggered, 1);
  timer->cancel();
  node->post([] {throw std::domain_error("chosen");});
  const auto failing = set.wait();
  CHECK_EQ(failing.size(), 1u);
  CHECK_THROWS(failing[0].run(), std::domain_error);
  CHECK(!failing[0].run());
  set.stop();
  CHECK(set.wait().kind() == sinew::WaitResultKind::Interrupted);
  CHECK(set.remove_node(node) && !set.remove_node(node));
  guard->trigger();
  CHECK(set.wait(0ms).kind() == sinew::WaitResultKind::Timeout);

  const auto group = node->create_callback_group(sinew::CallbackGroupType::Reentrant);
  sinew::WaitSet reporting(sinew::FaultPolicy::Report);
  reporting.add_callback_group(group);
  CHECK_EQ(set.try_add_callback_group(*group).error().code(), SINEW_ERROR_SERVED_ELSEWHERE);
  group->post([] {throw std::domain_error("reported");});
  CHECK(reporting.wait()[0].run());
  CHECK(reporting.remove_callback_group(group));
}

/// Callbacks for the end of a context, and what a shutdown ends.
void shutdown()
{
  const auto context = sinew::Context::make();
  const auto node = sinew::Node::make_shared("last", sinew::NodeOptions().context(context));
  std::string order;
  context->on_shutdown([&order] {order += 'a';});
  const auto removed = context->add_on_shutdown_callback([&order] {order += 'x';});
  CHECK(context->remove_on_shutdown_callback(removed));
  CHECK(!context->remove_on_shutdown_callback(removed));
  SingleThreadedExecutor executor;
  executor.add_node(node);
  // It may wait for threads that the shutdown ends.
  std::thread spinner([&executor] {executor.spin();});
  context->on_shutdown([&] {
      spinner.join();
      order += 'b';
    });
  std::thread([&context] {CHECK(context->shutdown("it is \xff"));}).join();
  CHECK_EQ(order, "ab");
  CHECK_EQ(context->shutdown_reason(), "it is \xef\xbf\xbd");
  context->shutdown();
  context->on_shutdown([&order] {order += 'c';});
  CHECK_EQ(order, "abc");
  CHECK_EQ(node->try_post([] {}).error().code(), SINEW_ERROR_CLOSED);
  executor.spin();
  executor.spin_some();
  executor.spin_once();
  std::promise<void> never;
  const auto future = never.get_future();
  CHECK_EQ(executor.spin_until_future_complete(future), FutureReturnCode::INTERRUPTED);
  executor.remove_node(node);
  CHECK_EQ(sinew::spin_until_future_complete(node, future), FutureReturnCode::INTERRUPTED);
  sinew::spin(node);
  sinew::spin_some(node);

  // A program that is ended early adds and removes as any other.
  const auto group = node->get_default_callback_group();
  SingleThreadedExecutor late;
  late.add_node(node);
  late.add_callback_group(group);
  late.spin();
  late.remove_node(node);
  late.remove_callback_group(group);
  CHECK_EQ(late.try_remove_node(*node).error().code(), SINEW_ERROR_SERVED_ELSEWHERE);
  CHECK_EQ(late.try_remove_callback_group(*group).error().code(), SINEW_ERROR_SERVED_ELSEWHERE);
}

}  // namespace

int main(int argc, char ** argv)
{
  sinew::init(argc, argv);
  spinning();
  groups();
  options();
  exceptions();
  exceptions_of_threads();
  futures();
  threads();
  guard_conditions();
  descriptors();
  spinning_and_groups();
  wait_sets();
  shutdown();
  std::string order;
  sinew::on_shutdown([&order] {order += 's';});
  CHECK(sinew::shutdown());
  CHECK_EQ(order, "s");
}
