// How programs end: with nodes and more as global objects, by exit() while threads spin; and what a
// forked child can do.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "check.hpp"
#include "sinew/sinew.hpp"
#include "std_msgs/msg/string.hpp"

extern char ** environ;

/// LeakSanitizer can't judge a forked child: what the parent's threads held looks lost there.
static bool is_forked_child = false;
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() {return is_forked_child ? 1 : 0;}

namespace
{

using namespace std::chrono_literals;  // NOLINT(build/namespaces)
using std_msgs::msg::String;

class Robot : public sinew::Node
{
public:
  explicit Robot(std::function<void ()> on_text)
  : Node("robot"),
    publisher_(create_publisher<String>("text", 10)),
    subscription_(
      create_subscription<String>("text", 10, [on_text](const String &) {on_text();})),
    timer_(create_wall_timer(1ms, [this] {publisher_->publish(String());})) {}

private:
  sinew::Publisher<String>::SharedPtr publisher_;
  sinew::Subscription<String>::SharedPtr subscription_;
  sinew::TimerBase::SharedPtr timer_;
};

/// What is destroyed after main. It is made there, before the static objects of the library.
std::shared_ptr<Robot> robot;
std::unique_ptr<sinew::executors::MultiThreadedExecutor> executor;

void make_globals(std::function<void ()> on_text)
{
  robot = std::make_shared<Robot>(std::move(on_text));
  executor = std::make_unique<sinew::executors::MultiThreadedExecutor>(sinew::ExecutorOptions(), 3);
  executor->add_node(robot);
}

/// Objects that main leaves behind, also the context, which nobody shuts down.
int left_to_the_end()
{
  int texts = 0;
  make_globals([&texts] {++texts;});
  while (texts == 0) {
    executor->spin_once(60s);
  }
  return 11;
}

/// Objects that are destroyed after a shutdown.
int destroyed_after_a_shutdown()
{
  (void)left_to_the_end();
  CHECK(sinew::shutdown());
  return 12;
}

/// exit() in a callback, while other threads of the executor run. It is on the stack: exit destroys
/// no executor that spins.
int exits_in_a_callback()
{
  std::atomic<bool> is_leaving{false};
  robot = std::make_shared<Robot>(
    [&is_leaving] {
      if (!is_leaving.exchange(true)) {
        std::exit(13);
      }
    });
  sinew::executors::MultiThreadedExecutor spins(sinew::ExecutorOptions(), 3);
  spins.add_node(robot);
  spins.spin();
  return 1;
}

/// exit() by a thread beside those that spin. What they run is called until the end, so it lives as
/// long as the process.
int exits_while_threads_spin()
{
  auto & started = *new std::promise<void>;
  auto & has_started = *new std::atomic<bool>(false);
  make_globals(
    [&] {
      if (!has_started.exchange(true)) {
        started.set_value();
      }
    });
  auto * const spins = executor.release();
  std::thread([spins] {spins->spin();}).detach();
  started.get_future().wait();
  std::exit(14);
}

/// In a forked child every call is an error, and what it inherited can be destroyed. It makes its
/// own context. The parent doesn't notice.
int forked()
{
  int texts = 0;
  make_globals([&texts] {++texts;});
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    is_forked_child = true;
    const auto refused = sinew::Node::try_make("child");
    CHECK(!refused && refused.error().code() == SINEW_ERROR_PARTICIPANT_LEFT);
    CHECK_THROWS(robot->create_publisher<String>("other", 1), sinew::exceptions::RCLError);
    sinew::shutdown();
    sinew::init();
    const auto own = sinew::Node::make_shared("child");
    bool has_run = false;
    own->post([&has_run] {has_run = true;});
    sinew::spin_some(own);
    CHECK(has_run);
    std::exit(16);  // destroys what it inherited
  }
  int how = 0;
  CHECK(waitpid(child, &how, 0) == child);
  CHECK(WIFEXITED(how));
  CHECK_EQ(WEXITSTATUS(how), 16);
  while (texts == 0) {
    executor->spin_once(60s);
  }
  return 15;
}

int run(const char * program, const std::string & ending)
{
  std::string name = program;
  std::string argument = ending;
  char * const arguments[] = {name.data(), argument.data(), nullptr};
  pid_t child = 0;
  CHECK(posix_spawn(&child, program, nullptr, nullptr, arguments, environ) == 0);
  int how = 0;
  CHECK(waitpid(child, &how, 0) == child);
  CHECK(WIFEXITED(how));
  return WEXITSTATUS(how);
}

}  // namespace

int main(int argc, char ** argv)
{
  using Ending = int (*)();
  const std::pair<const char *, Ending> endings[] = {
    {"left", left_to_the_end}, {"shut", destroyed_after_a_shutdown},
    {"exit", exits_in_a_callback}, {"thread", exits_while_threads_spin}, {"fork", forked}};
  if (argc == 1) {
    int code = 11;
    for (const auto & ending : endings) {
      CHECK_EQ(run(argv[0], ending.first), code);
      ++code;
    }
    return 0;
  }
  sinew::init(argc, argv);
  for (const auto & [name, function] : endings) {
    if (std::string(argv[1]) == name) {
      return function();
    }
  }
  return 1;
}
