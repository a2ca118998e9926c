// Managed nodes of C++: callbacks by overriding and by functions, states, publishers, exceptions.
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "sinew/lifecycle_node.hpp"
#include "sinew/rclcpp_lifecycle.hpp"
#include "sinew/sinew.hpp"
#include "std_msgs/msg/string.hpp"

namespace
{

using Text = std_msgs::msg::String;
using rclcpp_lifecycle::State;
using rclcpp_lifecycle::Transition;

/// Notes its calls: a letter and the previous state each.
class Talker : public rclcpp_lifecycle::LifecycleNode
{
public:
  explicit Talker(const std::string & name)
  : LifecycleNode(name) {}

  CallbackReturn on_configure(const State & previous) override
  {
    publisher = create_publisher<Text>("chatter", 10);
    return called('c', previous);
  }
  CallbackReturn on_activate(const State & previous) override
  {
    LifecycleNode::on_activate(previous);
    return called('a', previous);
  }
  CallbackReturn on_deactivate(const State & previous) override
  {
    LifecycleNode::on_deactivate(previous);
    return called('d', previous);
  }
  rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface::CallbackReturn on_cleanup(
    const rclcpp_lifecycle::State & previous) override
  {
    publisher.reset();
    return called('l', previous);
  }
  CallbackReturn on_shutdown(const State & previous) override {return called('s', previous);}
  CallbackReturn on_error(const State & previous) override
  {
    (void)called('e', previous);
    return recovers ? CallbackReturn::SUCCESS : CallbackReturn::FAILURE;
  }

  rclcpp_lifecycle::LifecyclePublisher<Text>::SharedPtr publisher;
  std::string calls;
  CallbackReturn answer = CallbackReturn::SUCCESS;
  bool throws = false;
  bool recovers = true;

private:
  CallbackReturn called(char letter, const State & previous)
  {
    calls += letter + std::string(":") + previous.label() + " ";
    if (throws && letter != 'e') {
      throw std::runtime_error("the motor doesn't answer");
    }
    return answer;
  }
};

using Return = Talker::CallbackReturn;

void transitions()
{
  const auto talker = std::make_shared<Talker>("talker");
  CHECK_EQ(talker->get_current_state().label(), "unconfigured");
  Return returned = Return::ERROR;
  CHECK_EQ(int{talker->configure(returned).id()}, SINEW_STATE_INACTIVE);
  CHECK(returned == Return::SUCCESS);
  CHECK_EQ(talker->activate().label(), "active");
  CHECK_EQ(talker->trigger_transition(Transition(SINEW_TRANSITION_DEACTIVATE)).label(), "inactive");
  CHECK_EQ(talker->trigger_transition(Transition(0, "cleanup")).label(), "unconfigured");
  CHECK_EQ(talker->calls, "c:unconfigured a:inactive d:active l:inactive ");

  talker->calls.clear();
  talker->answer = Return::FAILURE;
  CHECK_EQ(talker->configure(returned).label(), "unconfigured");
  CHECK(returned == Return::FAILURE);
  talker->answer = Return::SUCCESS;
  talker->throws = true;
  CHECK_EQ(talker->configure(returned).label(), "unconfigured");
  CHECK(returned == Return::ERROR);
  const auto changed = talker->try_trigger_transition(SINEW_TRANSITION_CONFIGURE);
  CHECK(!changed && changed.error().code() == SINEW_ERROR_TRANSITION_FAILED);
  CHECK(changed.error().sentence().find("the motor doesn't answer") != std::string::npos);
  CHECK_EQ(talker->calls,
    "c:unconfigured c:unconfigured e:unconfigured c:unconfigured e:unconfigured ");
  CHECK_EQ(talker->activate(returned).label(), "unconfigured");
  CHECK(returned == Return::ERROR);
  CHECK(
    talker->try_trigger_transition(SINEW_TRANSITION_ACTIVATE).error().code() ==
    SINEW_ERROR_TRANSITION_NOT_ALLOWED);
  talker->throws = false;
  CHECK_EQ(talker->shutdown().label(), "finalized");
  CHECK(talker->get_available_transitions().empty());
  CHECK_EQ(talker->get_transition_graph().size(), 25U);
  CHECK_EQ(talker->get_available_states().size(), 11U);

  Talker lost("lost");
  lost.throws = true;
  lost.recovers = false;
  CHECK_EQ(lost.configure().label(), "finalized");
}

void functions_as_callbacks()
{
  const auto node = rclcpp_lifecycle::LifecycleNode::make_shared("plain");
  std::string calls;
  const auto noted = [&calls](char letter, Return returned) {
      return [&calls, letter, returned](const State & previous) {
               calls += letter + std::string(":") + previous.label() + " ";
               return returned;
             };
    };
  CHECK(node->register_on_configure(noted('c', Return::SUCCESS)));
  CHECK(node->register_on_activate(noted('a', Return::ERROR)));
  CHECK(node->register_on_deactivate(noted('d', Return::SUCCESS)));
  CHECK(node->register_on_cleanup(noted('l', Return::SUCCESS)));
  CHECK(node->register_on_shutdown(noted('s', Return::FAILURE)));
  CHECK(node->register_on_error(noted('e', Return::SUCCESS)));
  CHECK_EQ(node->configure().label(), "inactive");
  const auto offered = node->get_available_transitions();
  CHECK_EQ(offered.size(), 3U);
  CHECK_EQ(offered[0].label(), "cleanup");
  CHECK_EQ(offered[0].goal_state().label(), "cleaningup");
  CHECK_EQ(node->activate().label(), "unconfigured");
  CHECK_EQ(node->shutdown().label(), "finalized");
  CHECK_EQ(calls, "c:unconfigured a:inactive e:inactive s:unconfigured ");
  CHECK(!rclcpp_lifecycle::LifecycleNode::try_make("1 bad"));
}

void publishers()
{
  const auto talker = std::make_shared<Talker>("speaker");
  const auto listener = sinew::Node::make_shared("listener");
  const auto subscription = listener->create_subscription<Text>("chatter", 10);
  talker->configure();
  const auto publisher = talker->publisher;
  Text text;
  const auto taken = [&] {
      std::string all;
      sinew::MessageInfo info;
      while (subscription->take(text, info)) {
        all += text.data;
      }
      return all;
    };
  const auto publish_all = [&] {
      text.data = "a";
      publisher->publish(text);
      publisher->publish(Text(text));
      publisher->publish(std::make_unique<Text>(text));
      auto loan = publisher->borrow_loaned_message();
      loan.get().data = "b";
      publisher->publish(std::move(loan));
    };
  CHECK(!publisher->is_activated());
  publish_all();
  CHECK_EQ(taken(), "");
  talker->activate();
  CHECK(publisher->is_activated());
  publish_all();
  CHECK_EQ(taken(), "aaab");
  talker->deactivate();
  publish_all();
  CHECK_EQ(taken(), "");
  publisher->on_activate();
  publish_all();
  CHECK_EQ(taken(), "aaab");
  CHECK_EQ(std::string(publisher->get_topic_name()), "/chatter");
}

/// Like any entity of its own.
class Motor : public rclcpp_lifecycle::ManagedEntityInterface
{
public:
  void on_activate() override {++starts;}
  void on_deactivate() override {++stops;}
  int starts = 0;
  int stops = 0;
};

void managed_entities()
{
  const auto node = rclcpp_lifecycle::LifecycleNode::make_shared("drive");
  const auto motor = std::make_shared<Motor>();
  node->add_managed_entity(motor);
  node->add_managed_entity(std::make_shared<Motor>());  // is gone at once
  node->configure();
  node->activate();
  node->deactivate();
  node->activate();
  CHECK_EQ(motor->starts, 2);
  CHECK_EQ(motor->stops, 1);
}

}  // namespace

int main(int argc, char ** argv)
{
  sinew::init(argc, argv);
  transitions();
  functions_as_callbacks();
  publishers();
  managed_entities();
  sinew::shutdown();
}
