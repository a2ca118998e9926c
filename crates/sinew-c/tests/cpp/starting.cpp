// How programs begin and end: options of contexts, arguments, signals, reasons, callbacks.
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "check.hpp"
#include "sinew/sinew.hpp"
#include "std_msgs/msg/string.hpp"

namespace
{

using namespace std::chrono_literals;  // NOLINT(build/namespaces)
using sinew::InitOptions;
using sinew::SignalHandlerOptions;
using std_msgs::msg::String;

void test_init_options()
{
  InitOptions options;
  CHECK(options.shutdown_on_signal && options.auto_initialize_logging());
  CHECK_EQ(options.get_domain_id(), SIZE_MAX);
  options.auto_initialize_logging(false).set_domain_id(7);
  CHECK_EQ(options.get_domain_id(), 7u);
  CHECK_EQ(sinew::Context::make(0, nullptr, options)->get_domain_id(), 7u);
  options.use_default_domain_id();
  CHECK_EQ(options.get_domain_id(), SIZE_MAX);
}

void test_arguments()
{
  const char * line[] = {"program", "--rate", "--ros-args", "-r", "a:=b", "--", "last"};
  const std::vector<std::string> rest{"program", "--rate", "last"};
  CHECK(sinew::remove_ros_arguments(7, line) == rest);
  const char * bad[] = {"program", "--ros-args", "-r", "none"};
  CHECK_EQ(sinew::try_remove_ros_arguments(4, bad).error().code(), SINEW_ERROR_INVALID_REMAPPING);
  CHECK(sinew::init_and_remove_ros_arguments(7, line) == rest);
  CHECK(sinew::ok());
  CHECK_THROWS(sinew::init(7, line), sinew::ContextAlreadyInitialized);
  CHECK_EQ(sinew::try_init(7, line).error().code(), SINEW_ERROR_ALREADY_INITIALIZED);
  CHECK(sinew::shutdown(nullptr, "the arguments were tested"));
  CHECK(!sinew::shutdown() && !sinew::ok());
  CHECK_EQ(
    sinew::contexts::get_global_default_context()->shutdown_reason(), "the arguments were tested");
}

/// A context that is made before it begins, and that begins twice.
void test_contexts()
{
  const auto context = std::make_shared<sinew::Context>();
  CHECK(!context->is_valid() && context->handle() == nullptr && !context->shutdown());
  CHECK_EQ(context->shutdown_reason(), "");
  const auto early = sinew::Node::try_make("early", "", sinew::NodeOptions().context(context));
  CHECK_EQ(early.error().code(), SINEW_ERROR_INVALID_ARGUMENT);
  CHECK(!context->try_add_on_shutdown_callback([] {}));

  context->init(0, nullptr, InitOptions().set_domain_id(5));
  CHECK(context->is_valid() && context->sleep_for(0ns));
  CHECK_EQ(context->get_domain_id(), 5u);
  CHECK_EQ(context->get_init_options().get_domain_id(), 5u);
  CHECK(!sinew::signal_handlers_installed());
  CHECK_THROWS(context->init(0, nullptr), sinew::ContextAlreadyInitialized);
  const auto node = sinew::Node::make_shared("node", sinew::NodeOptions().context(context));

  std::string order;
  sinew::Subscription<String>::SharedPtr texts =
    node->create_subscription<String>("text", 1, nullptr);
  const auto last_words = node->create_publisher<String>("text", 1);
  const auto pre = context->add_pre_shutdown_callback(
    [&] {
      order += context->is_valid() ? "before, " : "late, ";
      last_words->publish(String());
    });
  const auto removed = context->add_pre_shutdown_callback([&order] {order += "never, ";});
  CHECK(context->remove_pre_shutdown_callback(removed));
  CHECK(!context->remove_pre_shutdown_callback(removed));
  const auto after = context->add_on_shutdown_callback(
    [&] {order += context->is_valid() ? "early" : "after";});
  CHECK(context->shutdown("it is time"));
  CHECK(!context->shutdown("once more"));
  CHECK_EQ(order, "before, after");
  CHECK_EQ(context->shutdown_reason(), "it is time");
  CHECK(!context->sleep_for(1h));
  String text;
  sinew::MessageInfo info;
  CHECK(texts->take(text, info));

  context->init(0, nullptr);
  CHECK(context->is_valid());
  CHECK_EQ(context->shutdown_reason(), "");
  CHECK(!node->try_create_publisher<String>("text", 1));
  CHECK(sinew::Node::try_make("later", "", sinew::NodeOptions().context(context)));
}

void test_handlers()
{
  sinew::init(0, nullptr, InitOptions(), SignalHandlerOptions::None);
  CHECK(!sinew::signal_handlers_installed());
  CHECK(sinew::install_signal_handlers(SignalHandlerOptions::SigTerm));
  CHECK(sinew::get_current_signal_handler_options() == SignalHandlerOptions::SigTerm);
  CHECK(!sinew::install_signal_handlers());
  CHECK(sinew::uninstall_signal_handlers());
  CHECK(!sinew::uninstall_signal_handlers());
  sinew::shutdown();
  InitOptions none;
  none.shutdown_on_signal = false;
  sinew::init(0, nullptr, none);
  CHECK(!sinew::signal_handlers_installed());
  sinew::shutdown();
  sinew::init();
  CHECK(sinew::get_current_signal_handler_options() == SignalHandlerOptions::All);
}

/// A signal shuts down what wants it.
void test_signal()
{
  const auto other = std::make_shared<sinew::Context>();
  other->init(0, nullptr);
  const auto deaf = std::make_shared<sinew::Context>();
  InitOptions none;
  none.shutdown_on_signal = false;
  deaf->init(0, nullptr, none);
  std::promise<void> is_over;
  sinew::on_shutdown([&is_over] {is_over.set_value();});
  std::promise<void> is_other_over;
  other->on_shutdown([&is_other_over] {is_other_over.set_value();});
  CHECK_EQ(std::raise(SIGTERM), 0);
  is_over.get_future().wait();
  is_other_over.get_future().wait();
  CHECK(!sinew::ok() && !other->is_valid() && deaf->is_valid());
  CHECK_EQ(other->shutdown_reason(), "SIGTERM");
}

}  // namespace

int main()
{
  test_init_options();
  CHECK(sinew::uninstall_signal_handlers());
  test_arguments();
  CHECK(sinew::uninstall_signal_handlers());
  test_contexts();
  test_handlers();
  test_signal();
}
