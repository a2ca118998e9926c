// Publishers and subscriptions: the forms of callbacks, QoS, options, events, groups with state,
// bad input.
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "geometry_msgs/msg/point.hpp"
#include "runner.hpp"
#include "sensor_msgs/msg/joint_state.hpp"
#include "sinew/sinew.hpp"
#include "std_msgs/msg/string.hpp"
#include "test_msgs/msg/arrays.hpp"
#include "test_msgs/msg/strings.hpp"

using geometry_msgs::msg::Point;
using std_msgs::msg::String;
using namespace std::chrono_literals;

namespace
{

String text(const std::string & data)
{
  String message;
  message.data = data;
  return message;
}

std::string of_function;
void on_text(const String & message) {of_function = message.data;}

/// A node whose callbacks are member functions, bound as in ROS 2's tutorials.
class Listener : public sinew::Node
{
public:
  Listener()
  : Node("listener")
  {
    using std::placeholders::_1;
    using std::placeholders::_2;
    add(std::bind(&Listener::on_reference, this, _1));
    add(std::bind(&Listener::on_shared, this, _1));
    add(std::bind(&Listener::on_mutable, this, _1));
    add(std::bind(&Listener::on_unique, this, _1));
    add(std::bind(&Listener::on_serialized, this, _1));
    add(std::bind(&Listener::on_info, this, _1, _2));
    add([this](auto message) {seen.push_back("generic " + String(message).data);});
  }

  std::vector<std::string> seen;

private:
  template<class F>
  void add(F callback)
  {
    subscriptions_.push_back(create_subscription<String>("chatter", 10, callback));
  }

  void on_reference(const String & message) {seen.push_back("reference " + message.data);}
  void on_shared(const String::ConstSharedPtr message) {seen.push_back("shared " + message->data);}
  void on_mutable(const String::SharedPtr message) {seen.push_back("mutable " + message->data);}
  void on_unique(String::UniquePtr message) {seen.push_back("unique " + message->data);}
  void on_serialized(std::shared_ptr<const sinew::SerializedMessage> message)
  {
    seen.push_back("serialized " + std::to_string(message->size()));
  }
  void on_info(const String & message, const sinew::MessageInfo & info)
  {
    seen.push_back(message.data + std::to_string(info.publication_sequence()));
  }

  std::vector<sinew::Subscription<String>::SharedPtr> subscriptions_;
};

void bound_member_functions()
{
  const auto node = std::make_shared<Listener>();
  Runner runner(*node);
  const auto publisher = node->create_publisher<String>("chatter", 10);
  CHECK_EQ(publisher->get_subscription_count(), 7u);
  publisher->publish(text("hi"));
  runner.run();
  const std::vector<std::string> expected = {
    "reference hi", "shared hi", "mutable hi", "unique hi", "serialized 11", "hi1", "generic hi"};
  CHECK(node->seen == expected);
}

void forms_of_callbacks(sinew::Node & node)
{
  Runner runner(node);
  int calls = 0;
  const auto is_hi = [&calls](const String & message) {
      CHECK_EQ(message.data, "hi");
      ++calls;
    };
  const auto check_info = [&calls](const sinew::MessageInfo & info, const sinew::Gid & by) {
      const auto rmw = info.get_rmw_message_info();
      CHECK(info.publisher() == by);
      CHECK(rmw.from_intra_process && rmw.source_timestamp > 0);
      CHECK(rmw.received_timestamp >= rmw.source_timestamp);
      CHECK_EQ(rmw.reception_sequence_number, 1u);
      CHECK(info.transport() == sinew::Transport::Intra);
      CHECK(info.latency() >= sinew::Duration(0s));
      ++calls;
    };
  const auto publisher = node.create_publisher<String>("forms", 10);
  std::vector<sinew::Subscription<String>::SharedPtr> all;
  const auto add = [&](auto callback) {
      all.push_back(node.create_subscription<String>("forms", 10, std::move(callback)));
    };
  using Info = sinew::MessageInfo;
  const auto is_hi_encoded = [&](const sinew::SerializedMessage & message) {
      String decoded;
      sinew::Serialization<String>().deserialize_message(&message, &decoded);
      is_hi(decoded);
    };
  add(&on_text);
  add(std::function<void (const String &)>(is_hi));
  add([=](const String & message, const Info & info) {is_hi(message); check_info(info, publisher->get_gid());});
  add([=](String message, const Info & info) mutable {is_hi(message); check_info(info, publisher->get_gid());});
  add([=](String && message) noexcept {is_hi(message);});
  add([=](std::shared_ptr<const String> message, const Info & info) {is_hi(*message); check_info(info, publisher->get_gid());});
  add([=](const std::shared_ptr<const String> & message) {is_hi(*message);});
  add([=](std::shared_ptr<String> message, const Info & info) {is_hi(*message); check_info(info, publisher->get_gid());});
  add([=](std::unique_ptr<String> message, const Info & info) {is_hi(*message); check_info(info, publisher->get_gid());});
  add([=](sinew::MessageView<String> message, Info info) {is_hi(message.read()); check_info(info, publisher->get_gid());});
  add([=](const sinew::SerializedMessage & message, const Info & info) {
      is_hi_encoded(message);
      check_info(info, publisher->get_gid());
    });
  add([=](std::shared_ptr<sinew::SerializedMessage> message) {is_hi_encoded(*message);});
  add([=](std::unique_ptr<sinew::SerializedMessage> message) {is_hi_encoded(*message);});
  publisher->publish(text("hi"));
  runner.run();
  CHECK_EQ(of_function, "hi");
  CHECK_EQ(calls, 12 + 7);
}

void taking(sinew::Node & node)
{
  const auto publisher = node.create_publisher<String>("taken", 10);
  const auto subscription = node.create_subscription<String>("taken", 10);
  std::atomic<std::size_t> arrived{0};
  publisher->publish(text("0"));
  subscription->set_on_new_message_callback([&](std::size_t count) {arrived += count;});
  CHECK_EQ(arrived.load(), 1u);
  publisher->publish(text("1"));
  publisher->publish(text("2"));
  CHECK_EQ(arrived.load(), 3u);
  subscription->clear_on_new_message_callback();
  publisher->publish(text("3"));
  CHECK_EQ(arrived.load(), 3u);
  const auto kept = std::make_shared<int>(0);
  subscription->set_on_new_message_callback([&, kept](std::size_t count) {arrived = count;});
  CHECK_EQ(arrived.load(), 4u);
  subscription->set_on_new_message_callback(nullptr);
  CHECK(kept.use_count() == 1);
  subscription->set_on_new_message_callback([](std::size_t) {throw std::runtime_error("logged");});
  subscription->clear_on_new_message_callback();

  sinew::MessageInfo info;
  String message;
  CHECK(subscription->take(message, info) && message.data == "0");
  CHECK(subscription->take_shared(info)->data == "1");
  CHECK_EQ(info.publication_sequence(), 2u);
  sinew::SerializedMessage encoded;
  CHECK(subscription->take_serialized(encoded, info));
  CHECK(sinew::Serialization<String>::try_deserialize(encoded, message) && message.data == "2");
  CHECK(subscription->take_view(info)->read().data == "3");
  CHECK(!subscription->take(message, info) && !subscription->take_shared(info));
  CHECK(!subscription->take_view(info) && !subscription->take_serialized(encoded, info));

  // Encoded messages, by their bytes and as drafts; plain ones in place.
  publisher->publish(encoded);
  auto draft = publisher->draft(100);
  CHECK(!sinew::MessageTraits<String>::encode(text("4"), draft.data(), 10));
  draft.truncate(10);
  CHECK_EQ(draft.size(), 10u);
  publisher->publish(std::move(draft));
  CHECK(subscription->take(message, info) && message.data == "2");
  CHECK(subscription->take_shared(info)->data == "4");
  const auto points = node.create_publisher<Point>("points", 1);
  const auto of_points = node.create_subscription<Point>("points", 1);
  auto point = points->borrow_loaned_message();
  CHECK(point.is_valid());
  point->y = 2;
  points->publish(std::move(point));
  CHECK(of_points->take_view(info)->value()->y == 2);

  // Nothing is left of an earlier message's texts and sequences, but their memory.
  const auto names = node.create_publisher<sensor_msgs::msg::JointState>("names", 1);
  const void * places[2] = {};
  for (const void * & place : places) {
    auto names_of = names->borrow_loaned_message();
    CHECK(names_of->header.frame_id.empty() && names_of->name.empty() && names_of->position.empty());
    names_of->header.frame_id = "a";
    names_of->name.push_back("joint");
    names_of->position.assign(100, 1.5);
    place = names_of->position.data();
    names->publish(std::move(names_of));
  }
  CHECK_EQ(places[0], places[1]);
  const auto lists = node.create_publisher<test_msgs::msg::Arrays>("lists", 1);
  for (int i = 0; i < 2; ++i) {
    auto list = lists->borrow_loaned_message();
    CHECK(list->string_values[2].empty());
    list->string_values[2] = "c";
    lists->publish(std::move(list));
  }
}

void qualities()
{
  using sinew::QoS;
  QoS qos(5);
  CHECK(qos.history() == sinew::HistoryPolicy::KeepLast && qos.depth() == 5);
  CHECK(qos.reliability() == sinew::ReliabilityPolicy::Reliable);
  CHECK(qos.durability() == sinew::DurabilityPolicy::Volatile);
  CHECK(qos == QoS(sinew::KeepLast(5)) && qos != QoS(6) && qos != QoS(sinew::KeepAll()));
  qos.best_effort().transient_local().deadline(100ms).lifespan(sinew::Duration(1, 5));
  qos.liveliness(sinew::LivelinessPolicy::ManualByTopic).liveliness_lease_duration(2s).keep_all();
  CHECK(qos.history() == sinew::HistoryPolicy::KeepAll);
  CHECK(qos.reliability() == sinew::ReliabilityPolicy::BestEffort);
  CHECK(qos.durability() == sinew::DurabilityPolicy::TransientLocal);
  CHECK(qos.liveliness() == sinew::LivelinessPolicy::ManualByTopic);
  CHECK(qos.deadline() == sinew::Duration(100ms));
  CHECK_EQ(qos.lifespan().nanoseconds(), 1'000'000'005);
  CHECK(qos.liveliness_lease_duration() == sinew::Duration(2s));
  CHECK(qos.keep_last(3).reliable().durability_volatile().depth() == 3);
  CHECK(sinew::SensorDataQoS().reliability() == sinew::ReliabilityPolicy::BestEffort);
  CHECK_EQ(sinew::SensorDataQoS().depth(), 5u);
  CHECK_EQ(sinew::SensorDataQoS(sinew::KeepLast(2)).depth(), 2u);
  CHECK_EQ(sinew::ParametersQoS().depth(), 1000u);
  CHECK_EQ(sinew::ParameterEventsQoS().depth(), 1000u);
  CHECK_EQ(sinew::ServicesQoS().depth(), 10u);
  CHECK_EQ(sinew::ClockQoS().depth(), 1u);
  CHECK(sinew::RosoutQoS().durability() == sinew::DurabilityPolicy::TransientLocal);
  CHECK(sinew::SystemDefaultsQoS() == QoS(10));
  CHECK(sinew::BestAvailableQoS().reliability() == sinew::ReliabilityPolicy::BestAvailable);
  CHECK(sinew::qos_check_compatible(QoS(1), QoS(1)).compatibility == sinew::QoSCompatibility::Ok);
  const auto not_so = sinew::qos_check_compatible(QoS(1).best_effort(), QoS(1));
  CHECK(not_so.compatibility == sinew::QoSCompatibility::Error && !not_so.reason.empty());
}

void options_of_endpoints(sinew::Node & node)
{
  Runner runner(node);
  int count = 0;
  sinew::SubscriptionOptions options;
  options.ignore_local_publications = true;
  options.callback_group = node.create_callback_group(sinew::CallbackGroupType::Reentrant);
  options.topic_stats_options.state = sinew::TopicStatisticsState::Enable;
  options.topic_stats_options.publish_topic = "/my_statistics";
  const auto deaf = node.create_subscription<String>(
    "own", sinew::SensorDataQoS(), [&](const String &) {++count;}, options);
  CHECK_EQ(deaf->get_topic_name(), std::string("/own"));
  CHECK(deaf->get_actual_qos() == sinew::SensorDataQoS());
  sinew::PublisherOptions pooled;
  pooled.pool_capacity = 1;
  const auto publisher = node.create_publisher<String>("own", sinew::BestAvailableQoS(), pooled);
  CHECK(publisher->get_actual_qos().reliability() == sinew::ReliabilityPolicy::Reliable);
  CHECK_EQ(publisher->get_queue_size(), 10u);
  CHECK_EQ(publisher->get_topic_name(), std::string("/own"));
  publisher->publish(text("x"));
  runner.run();
  CHECK_EQ(count, 0);
  CHECK_EQ(deaf->get_statistics().received, 0u);
  CHECK(publisher->wait_for_all_acked() && publisher->assert_liveliness());
  CHECK(publisher->wait_for_subscriptions(1, 0s) && !publisher->wait_for_subscriptions(9, 0s));
  CHECK(deaf->wait_for_publishers(1, 0s) && !deaf->wait_for_publishers(9, 0s));
  const auto statistics = node.create_publisher<String>("my_statistics", 1);
  CHECK_EQ(statistics->get_subscription_count(), 0u);  // others have another type

  // Parameters that change the QoS.
  std::size_t validated = 0;
  options = sinew::SubscriptionOptions();
  options.qos_overriding_options = sinew::QosOverridingOptions::with_default_policies(
    [&](const sinew::QoS & qos) {
      validated = qos.depth();
      return sinew::QosCallbackResult{qos.depth() < 8, "too deep"};
    }, "camera");
  CHECK(node.try_create_subscription<String>("over", 7, nullptr, options));
  CHECK_EQ(validated, 7u);
  CHECK(sinew_node_has_parameter(node.handle(), "qos_overrides./over.subscription_camera.depth"));
  const auto refused = node.try_create_subscription<String>("over2", 8, nullptr, options);
  CHECK(!refused && refused.error().code() == SINEW_ERROR_INVALID_QOS);
  pooled.qos_overriding_options = sinew::QosOverridingOptions({sinew::QosPolicyKind::Depth});
  CHECK(node.try_create_publisher<String>("over3", 7, pooled));
  CHECK(sinew_node_has_parameter(node.handle(), "qos_overrides./over3.publisher.depth"));
}

void events(sinew::Node & node)
{
  Runner runner(node);
  std::vector<std::string> seen;
  sinew::PublisherOptions options;
  options.event_callbacks.matched_callback = [&](sinew::MatchedInfo & info) {
      seen.push_back("matched " + std::to_string(info.current_count) + " of " + std::to_string(info.total_count));
    };
  options.event_callbacks.incompatible_qos_callback = [&](sinew::QOSOfferedIncompatibleQoSInfo & info) {
      CHECK(info.last_policy_kind == sinew::QosPolicyKind::Durability);
      CHECK(info.last_reason.find("offers") != std::string::npos);
      seen.push_back("other QoS " + std::to_string(info.total_count));
    };
  options.event_callbacks.incompatible_type_callback = [&](sinew::IncompatibleTypeInfo & info) {
      CHECK(info.last_reason.find("std_msgs/msg/String") != std::string::npos);
      seen.push_back("other type " + std::to_string(info.total_count_change));
    };
  auto publisher = node.create_publisher<String>("events", 10, options);
  runner.run();
  CHECK(seen.empty());
  sinew::SubscriptionOptions heard;
  heard.event_callbacks.message_lost_callback = [&](sinew::QOSMessageLostInfo & info) {
      seen.push_back("lost " + std::to_string(info.total_count));
    };
  heard.event_callbacks.liveliness_callback = [&](sinew::QOSLivelinessChangedInfo & info) {
      seen.push_back("alive " + std::to_string(info.alive_count));
    };
  heard.event_callbacks.matched_callback = [&](sinew::MatchedInfo & info) {
      seen.push_back("publishers " + std::to_string(info.current_count));
    };
  auto subscription = node.create_subscription<String>("events", 1, [](const String &) {}, heard);
  const auto late = node.create_subscription<String>("events", sinew::QoS(1).transient_local());
  const auto other = node.create_subscription<Point>("events", 1);
  // A subscription without a callback for it logs a warning.
  const auto lossy = node.create_publisher<String>("events", sinew::QoS(1).best_effort());
  const auto has = [&](const std::string & line) {
      return [&, line] {
          for (const auto & known : seen) {
            if (known == line) {
              return true;
            }
          }
          return false;
        };
    };
  runner.run_until(has("matched 1 of 1"));
  runner.run_until(has("other QoS 1"));
  runner.run_until(has("other type 1"));
  runner.run_until(has("publishers 1"));
  runner.run_until(has("alive 1"));
  for (int i = 0; i < 3; ++i) {
    publisher->publish(text("more than the depth"));
  }
  runner.run_until(has("lost 2"));
  seen.clear();
  subscription.reset();
  runner.run_until(has("matched 0 of 1"));
  publisher.reset();
  runner.run();
}

struct Sum
{
  int value;
  int calls = 0;
};

void groups_own_their_state(sinew::Node & node)
{
  sinew::Group<Sum> group(node, 100);
  const auto of_points = group.create_subscription<Point>(
    "numbers", 1000, [](Sum & sum, const Point & point) {
      sum.value += static_cast<int>(point.x);
      ++sum.calls;
    });
  const auto of_texts = group.create_subscription<String>(
    "words", 1000, [](Sum & sum, std::unique_ptr<String> word, const sinew::MessageInfo & info) {
      sum.value += static_cast<int>(word->data.size() + info.publication_sequence());
      ++sum.calls;
    });
  const auto points = node.create_publisher<Point>("numbers", 1000);
  const auto words = node.create_publisher<String>("words", 1000);
  auto settings = sinew::detail::options<sinew_executor_options>();
  settings.threads = 3;
  sinew::detail::Handle<sinew_executor, sinew_executor_free> executor;
  sinew::detail::check(sinew_executor_new(&settings, sinew::detail::Out(executor)));
  sinew::detail::check(sinew_executor_add_node(executor.get(), node.handle()));
  std::thread spinning([&] {(void)sinew_executor_spin(executor.get());});
  for (int i = 0; i < 500; ++i) {
    Point point;
    point.x = 1;
    points->publish(point);
    words->publish(text("ab"));
  }
  std::promise<void> ticked;
  const auto timer = group.create_wall_timer(
    1ms, [&ticked](Sum & sum, sinew::TimerBase & self) {
      ++sum.value;
      self.cancel();
      ticked.set_value();
    });
  const auto idle = group.create_timer(1h, [](Sum &) {});
  ticked.get_future().wait();
  std::promise<Sum> result;
  const std::function<void (Sum &)> finish = [&](Sum & sum) {
      if (sum.calls == 1000) {
        result.set_value(sum);
      } else {
        group.post(finish);
      }
    };
  group.post(finish);
  CHECK_EQ(result.get_future().get().value, 101 + 500 + 2 * 500 + 500 * 501 / 2);
  (void)sinew_executor_stop(executor.get());
  spinning.join();
}

/// After its destruction no callback runs, also if one ran on another thread.
void destruction_waits(sinew::Node & node)
{
  std::promise<void> started;
  std::promise<void> go;
  std::atomic<bool> has_finished{false};
  auto subscription = node.create_subscription<String>(
    "wait", 1, [&](const String &) {
      started.set_value();
      go.get_future().wait();
      has_finished = true;
    });
  const auto publisher = node.create_publisher<String>("wait", 1);
  publisher->publish(text("x"));
  std::thread other([&node] {Runner(node).run();});
  started.get_future().wait();
  std::thread third([&go] {go.set_value();});
  subscription.reset();
  CHECK(has_finished);
  third.join();
  other.join();

  // In its own callback it doesn't wait; its context is dropped afterwards.
  auto token = std::make_shared<int>();
  subscription = node.create_subscription<String>(
    "wait", 1, [&subscription, token](const String &) {subscription.reset();});
  publisher->publish(text("x"));
  Runner(node).run();
  CHECK(subscription == nullptr);
  CHECK_EQ(token.use_count(), 1);
}

/// The callback for an event is one of its publisher's: no other one runs after its destruction.
void destruction_waits_for_events(sinew::Node & node)
{
  std::promise<void> started;
  std::promise<void> go;
  std::atomic<bool> has_finished{false};
  auto token = std::make_shared<int>();
  sinew::PublisherOptions options;
  options.event_callbacks.matched_callback = [&, token](sinew::MatchedInfo &) {
      started.set_value();
      go.get_future().wait();
      has_finished = true;
    };
  auto publisher = node.create_publisher<String>("seen", 1, options);
  options = {};
  const auto subscription = node.create_subscription<String>("seen", 1);
  std::thread other([&node] {Runner(node).run();});
  started.get_future().wait();
  std::thread third([&go] {go.set_value();});
  publisher.reset();
  CHECK(has_finished);
  third.join();
  other.join();
  CHECK_EQ(token.use_count(), 1);

  // In its own callback it doesn't wait.
  options.event_callbacks.matched_callback = [&publisher, token](sinew::MatchedInfo &) {
      publisher.reset();
    };
  publisher = node.create_publisher<String>("seen", 1, options);
  options = {};
  Runner(node).run();
  CHECK(publisher == nullptr);
  CHECK_EQ(token.use_count(), 1);
}

void filters(sinew::Node & node)
{
  auto token = std::make_shared<int>();
  sinew::SubscriptionOptions options;
  options.filter<String>([token](const String & message) {return message.data.size() > 1;});
  {
    const auto subscription = node.create_subscription<String>("long", 10, nullptr, options);
    const auto publisher = node.create_publisher<String>("long", 10);
    publisher->publish(text("x"));
    publisher->publish(text("xy"));
    String taken;
    sinew::MessageInfo info;
    CHECK(subscription->take(taken, info) && taken.data == "xy" && !subscription->take(taken, info));
  }
  const auto other = node.try_create_subscription<Point>("long", 10, [token](const Point &) {}, options);
  CHECK(!other && other.error().code() == SINEW_ERROR_INVALID_ARGUMENT);
  options = {};
  CHECK_EQ(token.use_count(), 1);
}

void bad_input(sinew::Node & node)
{
  CHECK_THROWS(node.create_publisher<String>("1 bad", 1), sinew::exceptions::InvalidTopicNameError);
  auto token = std::make_shared<int>();
  const auto none = node.try_create_subscription<String>("1 bad", 1, [token](const String &) {});
  CHECK(!none && none.error().code() == SINEW_ERROR_INVALID_NAME);
  CHECK_EQ(token.use_count(), 1);
  const auto deep = node.try_create_publisher<String>("deep", 100'000'000);
  CHECK(!deep && deep.error().code() == SINEW_ERROR_INVALID_QOS);
  CHECK_THROWS(node.create_publisher<String>("deep", 100'000'000), sinew::exceptions::InvalidQosException);

  // A string that is longer than its bound: nothing is published, in whatever form.
  using test_msgs::msg::Strings;
  const auto publisher = node.create_publisher<Strings>("bounded", 10);
  const auto subscription = node.create_subscription<Strings>("bounded", 10);
  Strings strings;
  publisher->publish(strings);
  strings.bounded_string_value.assign(23, 'x');
  const auto refused = publisher->try_publish(strings);
  CHECK(!refused && refused.error().code() == SINEW_ERROR_UNENCODABLE);
  CHECK_EQ(
    refused.error().sentence(),
    "`bounded_string_value` of test_msgs/msg/Strings has 23 elements, but its type allows 22 at most");
  CHECK(!publisher->try_publish(std::make_unique<Strings>(strings)));
  CHECK(!publisher->try_publish(Strings(strings)));
  CHECK(!publisher->try_publish(sinew::MessageView<Strings>::adopt(std::make_unique<Strings>(strings))));
  auto loan = publisher->borrow_loaned_message();
  loan.get() = strings;
  CHECK(!publisher->try_publish(std::move(loan)));
  CHECK(!loan.is_valid());
  sinew::SerializedMessage encoded;
  CHECK(!sinew::Serialization<Strings>::try_serialize(strings, encoded));
  CHECK_EQ(subscription->get_statistics().received, 1u);
  CHECK_EQ(publisher->get_statistics().published, 1u);

  const auto texts = node.create_publisher<String>("texts", 10);
  const auto code_of = [](const sinew::Result<void> & result) {
      return result ? 0 : result.error().code();
    };
  CHECK_EQ(code_of(texts->try_publish(sinew::SerializedMessage())), SINEW_ERROR_UNDECODABLE);
  const auto values = node.create_subscription<String>("texts", 10, [](const String &) {});
  const std::uint8_t broken[] = {0, 1, 0, 0, 200, 0, 0, 0, 'x', 0};
  const sinew::SerializedMessage undecodable(sinew::Span<const std::uint8_t>(broken, sizeof broken));
  CHECK_EQ(code_of(texts->try_publish(undecodable)), SINEW_ERROR_UNDECODABLE);
  CHECK_EQ(code_of(texts->try_publish(texts->draft(3))), SINEW_ERROR_UNDECODABLE);
  CHECK_EQ(code_of(texts->try_publish(std::unique_ptr<String>())), SINEW_ERROR_NULL_ARGUMENT);
  auto draft = texts->draft(8);
  CHECK_EQ(code_of(draft.try_truncate(9)), SINEW_ERROR_INVALID_DRAFT);
  CHECK_EQ(draft.size(), 8u);
  auto moved = std::move(draft);
  CHECK_EQ(code_of(texts->try_publish(std::move(draft))), SINEW_ERROR_NULL_ARGUMENT);
  CHECK_EQ(moved.size(), 8u);
  auto first = texts->borrow_loaned_message();
  auto second = std::move(first);
  CHECK(!first.is_valid() && second.is_valid());
  CHECK_EQ(code_of(texts->try_publish(std::move(first))), SINEW_ERROR_NULL_ARGUMENT);

  // Exceptions of callbacks come out of the executor, and the subscription goes on.
  Runner runner(node);
  int calls = 0;
  const auto thrower = node.create_subscription<String>(
    "texts", 10, [&](const String &) {
      if (++calls == 1) {
        throw std::out_of_range("first");
      }
    });
  texts->publish(text("1"));
  texts->publish(text("2"));
  CHECK_THROWS(runner.run(), std::out_of_range);
  runner.run();
  CHECK_EQ(calls, 2);
}

void serialized_messages()
{
  sinew::SerializedMessage one(16);
  CHECK(one.size() == 0 && one.capacity() >= 16);
  const sinew::Serialization<String> serialization;
  const String message = text("abc");
  serialization.serialize_message(&message, &one);
  CHECK_EQ(one.size(), 12u);
  sinew::SerializedMessage copy = one;
  sinew::SerializedMessage moved = std::move(one);
  CHECK(one.size() == 0 && moved.size() == 12);
  copy = moved;
  one = std::move(copy);
  CHECK_EQ(one.get_rcl_serialized_message().buffer_length, 12u);
  auto raw = one.release_rcl_serialized_message();
  CHECK(one.size() == 0 && raw.buffer[8] == 'a');
  std::free(raw.buffer);
  String decoded;
  serialization.deserialize_message(&moved, &decoded);
  CHECK_EQ(decoded.data, "abc");
  moved.resize(9);
  CHECK_THROWS(serialization.deserialize_message(&moved, &decoded), sinew::exceptions::RCLError);
}

}  // namespace

int main(int argc, char ** argv)
{
  sinew::init(argc, argv);
  const auto node = sinew::Node::make_shared("topics");
  bound_member_functions();
  forms_of_callbacks(*node);
  taking(*node);
  qualities();
  options_of_endpoints(*node);
  events(*node);
  groups_own_their_state(*node);
  destruction_waits(*node);
  destruction_waits_for_events(*node);
  filters(*node);
  bad_input(*node);
  serialized_messages();
  const auto publisher = node->create_publisher<String>("last", 1);
  sinew::shutdown();
  CHECK_EQ(publisher->try_publish(text("x")).error().code(), SINEW_ERROR_SHUTDOWN);
}
