// Events: their totals, what changed since they were taken, and how they wake.
#include <rmw/event.h>
#include <rmw/events_statuses/events_statuses.h>

#include <atomic>

#include "drive.hpp"

namespace {

class Event {
public:
  Event(const Publisher & publisher, rmw_event_type_t type)
  {
    OK(rmw_publisher_event_init(&rmw, publisher.rmw, type));
  }
  Event(const Subscription & subscription, rmw_event_type_t type)
  {
    OK(rmw_subscription_event_init(&rmw, subscription.rmw, type));
  }

  /// Waits until it is ready.
  void wait(Context & context)
  {
    Waiting waiting;
    waiting.events = {&rmw};
    waiting.must_end(&context.rmw);
    CHECK(waiting.events[0] == &rmw);
  }

  bool is_ready(Context & context)
  {
    Waiting waiting;
    waiting.events = {&rmw};
    const rmw_time_t at_once = {0, 0};
    return waiting.wait(&context.rmw, &at_once) == RMW_RET_OK;
  }

  template <class Status>
  Status take()
  {
    Status status{};
    bool taken = false;
    OK(rmw_take_event(&rmw, &status, &taken));
    CHECK(taken);
    return status;
  }

  rmw_event_t rmw = rmw_get_zero_initialized_event();
};

void ends_match(Context & context, Node & node)
{
  Publisher publisher(node, type_of<Text>(), "/matched");
  Event event(publisher, RMW_EVENT_PUBLICATION_MATCHED);
  CHECK(!event.is_ready(context));
  {
    Subscription one(node, type_of<Text>(), "/matched"), two(node, type_of<Text>(), "/matched");
    Event other(one, RMW_EVENT_SUBSCRIPTION_MATCHED);
    event.wait(context);
    auto status = event.take<rmw_matched_status_t>();
    CHECK(status.total_count == 2 && status.total_count_change == 2);
    CHECK(status.current_count == 2 && status.current_count_change == 2);
    CHECK(!event.is_ready(context));
    status = event.take<rmw_matched_status_t>();
    CHECK(status.total_count == 2 && status.total_count_change == 0);
    const auto other_status = other.take<rmw_matched_status_t>();
    CHECK(other_status.total_count == 1 && other_status.current_count == 1);
  }
  event.wait(context);
  const auto status = event.take<rmw_matched_status_t>();
  CHECK(status.total_count == 2 && status.total_count_change == 0);
  CHECK(status.current_count == 0 && status.current_count_change == -2);
}

void profiles_do_not_match(Context & context, Node & node)
{
  const rmw_qos_profile_t best_effort = qos([](rmw_qos_profile_t & profile) {
      profile.reliability = RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT;
    });
  Publisher publisher(node, type_of<Text>(), "/qos", best_effort);
  Event offered(publisher, RMW_EVENT_OFFERED_QOS_INCOMPATIBLE);
  std::atomic<std::size_t> called{0};
  OK(rmw_event_set_callback(
      &offered.rmw, [](const void * user_data, std::size_t count) {
        *static_cast<std::atomic<std::size_t> *>(const_cast<void *>(user_data)) += count;
      }, &called));
  Subscription subscription(node, type_of<Text>(), "/qos");
  Event requested(subscription, RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE);
  offered.wait(context);
  requested.wait(context);
  for (Event * event : {&offered, &requested}) {
    const auto status = event->take<rmw_qos_incompatible_event_status_t>();
    CHECK(status.total_count == 1 && status.total_count_change == 1);
    CHECK(status.last_policy_kind == RMW_QOS_POLICY_RELIABILITY);
  }
  wait_until(node, [&] {return called == 1;});
  OK(rmw_event_set_callback(&offered.rmw, nullptr, nullptr));
  CHECK(publisher.matched() == 0 && subscription.matched() == 0);
}

void types_do_not_match(Context & context, Node & node)
{
  Publisher publisher(node, type_of<Text>(), "/types");
  Event of_publisher(publisher, RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE);
  Subscription subscription(node, type_of<Image>(), "/types");
  Event of_subscription(subscription, RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE);
  for (Event * event : {&of_publisher, &of_subscription}) {
    event->wait(context);
    CHECK(event->take<rmw_incompatible_type_status_t>().total_count == 1);
  }
}

void deadlines_are_missed(Context & context, Node & node)
{
  const rmw_qos_profile_t hasty =
    qos([](rmw_qos_profile_t & profile) {profile.deadline = {0, 5000000};});
  Publisher publisher(node, type_of<Text>(), "/deadline", hasty);
  Subscription subscription(node, type_of<Text>(), "/deadline", hasty);
  Event offered(publisher, RMW_EVENT_OFFERED_DEADLINE_MISSED);
  Event requested(subscription, RMW_EVENT_REQUESTED_DEADLINE_MISSED);
  publisher.publish(Text{"once"});
  offered.wait(context);
  const auto first = offered.take<rmw_offered_deadline_missed_status_t>();
  CHECK(first.total_count >= 1 && first.total_count_change == first.total_count);
  offered.wait(context); // and again
  const auto second = offered.take<rmw_offered_deadline_missed_status_t>();
  CHECK(second.total_count == first.total_count + second.total_count_change);
  requested.wait(context);
  const auto status = requested.take<rmw_requested_deadline_missed_status_t>();
  CHECK(status.total_count >= 1 && status.total_count_change == status.total_count);
}

void liveliness_is_lost_and_asserted(Context & context, Node & node)
{
  const rmw_qos_profile_t manual = qos([](rmw_qos_profile_t & profile) {
      profile.liveliness = RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC;
      profile.liveliness_lease_duration = {0, 20000000};
    });
  Publisher publisher(node, type_of<Text>(), "/lease", manual);
  Subscription subscription(node, type_of<Text>(), "/lease", manual);
  Event lost(publisher, RMW_EVENT_LIVELINESS_LOST);
  Event changed(subscription, RMW_EVENT_LIVELINESS_CHANGED);
  OK(rmw_publisher_assert_liveliness(publisher.rmw));
  lost.wait(context);
  CHECK(lost.take<rmw_liveliness_lost_status_t>().total_count >= 1);
  rmw_liveliness_changed_status_t status{};
  const auto until = [&](std::int32_t alive, std::int32_t not_alive) {
      do {
        changed.wait(context);
        status = changed.take<rmw_liveliness_changed_status_t>();
      } while (status.alive_count != alive || status.not_alive_count != not_alive);
    };
  until(0, 1);
  CHECK(status.not_alive_count_change == 1);
  // Once more, by a publisher of another process, which then dies.
  const rmw_qos_profile_t automatic = qos([](rmw_qos_profile_t & profile) {
      profile.liveliness_lease_duration = {100, 0};
    });
  Subscription far(node, type_of<Text>(), "/automatic", automatic);
  Event of_far(far, RMW_EVENT_LIVELINESS_CHANGED);
  Peer peer({"living"});
  CHECK(peer.hear() == "ready");
  of_far.wait(context);
  status = of_far.take<rmw_liveliness_changed_status_t>();
  CHECK(status.alive_count == 1 && status.alive_count_change == 1);
  peer.kill();
  do {
    of_far.wait(context);
    status = of_far.take<rmw_liveliness_changed_status_t>();
  } while (status.alive_count != 0);
  CHECK(status.alive_count_change == -1);
}

void messages_are_lost(Context & context, Node & node)
{
  Publisher publisher(node, type_of<Text>(), "/lost");
  Subscription subscription(node, type_of<Text>(), "/lost", keep_last(1));
  Event event(subscription, RMW_EVENT_MESSAGE_LOST);
  for (const char * text : {"1", "2", "3"}) {
    publisher.publish(Text{text});
  }
  CHECK(subscription.next<Text>().data == "3");
  event.wait(context);
  const auto status = event.take<rmw_message_lost_status_t>();
  CHECK(status.total_count == 2 && status.total_count_change == 2);
}

}  // namespace

PROGRAM(living)
{
  Context context;
  Node node(context, "living");
  Publisher publisher(node, type_of<Text>(), "/automatic", qos([](rmw_qos_profile_t & profile) {
      profile.liveliness_lease_duration = {100, 0};
    }));
  wait_until(node, [&] {return publisher.matched() == 1;});
  report("ready");
  std::string line;
  while (listen(line)) {
  }
}

PROGRAM(events)
{
  Context context;
  Node node(context, "node");
  ends_match(context, node);
  profiles_do_not_match(context, node);
  types_do_not_match(context, node);
  deadlines_are_missed(context, node);
  liveliness_is_lost_and_asserted(context, node);
  messages_are_lost(context, node);
}
