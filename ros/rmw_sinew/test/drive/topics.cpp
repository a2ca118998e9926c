// Publishing and taking in one process: values, their order and what is known about them.
#include <rmw/qos_profiles.h>
#include <rmw/serialized_message.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "drive.hpp"

namespace {

void messages_come_in_order(Node & node)
{
  Publisher publisher(node, type_of<Fixed>(), "/fixed");
  Subscription subscription(node, type_of<Fixed>(), "/fixed");
  CHECK(publisher.matched() == 1 && subscription.matched() == 1);
  Fixed fixed;
  fixed.number = 77;
  CHECK(!subscription.take(fixed) && fixed.number == 77); // untouched
  rmw_gid_t gid{};
  OK(rmw_get_gid_for_publisher(publisher.rmw, &gid));
  for (std::uint64_t number = 1; number <= 3; ++number) {
    fixed.number = number;
    fixed.values.fill(static_cast<double>(number) / 2);
    publisher.publish(fixed);
  }
  rmw_time_point_value_t before = 0;
  for (std::uint64_t number = 1; number <= 3; ++number) {
    rmw_message_info_t info = rmw_get_zero_initialized_message_info();
    const Fixed taken = subscription.next<Fixed>(&info);
    CHECK(taken.number == number && taken.values[6] == static_cast<double>(number) / 2);
    CHECK(info.publication_sequence_number == number && info.reception_sequence_number == number);
    CHECK(info.source_timestamp > before && info.source_timestamp <= info.received_timestamp);
    before = info.source_timestamp;
    bool equal = false;
    OK(rmw_compare_gids_equal(&gid, &info.publisher_gid, &equal));
    CHECK(equal && !info.from_intra_process);
  }
  bool taken = true;
  OK(rmw_take(subscription.rmw, &fixed, &taken, nullptr));
  CHECK(!taken);
}

void plain_messages_are_loaned(Node & node)
{
  Publisher publisher(node, type_of<Fixed>(), "/loaned");
  Subscription subscription(node, type_of<Fixed>(), "/loaned");
  CHECK(publisher.rmw->can_loan_messages && subscription.rmw->can_loan_messages);
  void * loan = nullptr;
  bool taken = true;
  OK(rmw_take_loaned_message(subscription.rmw, &loan, &taken, nullptr));
  CHECK(!taken && loan == nullptr);
  OK(rmw_borrow_loaned_message(publisher.rmw, type_of<Fixed>(), &loan));
  FAILS(
    rmw_borrow_loaned_message(publisher.rmw, type_of<Fixed>(), &loan), RMW_RET_INVALID_ARGUMENT);
  void * other = nullptr;
  FAILS(
    rmw_borrow_loaned_message(publisher.rmw, type_of<Text>(), &other), RMW_RET_INVALID_ARGUMENT);
  Fixed fixed;
  fixed.number = 9;
  fixed.values.fill(2.5);
  FAILS(rmw_publish_loaned_message(publisher.rmw, &fixed, nullptr), RMW_RET_ERROR);
  *static_cast<Fixed *>(loan) = fixed;
  OK(rmw_publish_loaned_message(publisher.rmw, loan, nullptr));
  FAILS(rmw_publish_loaned_message(publisher.rmw, loan, nullptr), RMW_RET_ERROR);

  const void * published = loan;
  loan = nullptr;
  rmw_message_info_t info = rmw_get_zero_initialized_message_info();
  OK(rmw_take_loaned_message_with_info(subscription.rmw, &loan, &taken, &info, nullptr));
  CHECK(taken && loan == published); // where it was written
  CHECK(static_cast<const Fixed *>(loan)->number == 9 && info.publication_sequence_number == 1);
  FAILS(
    rmw_take_loaned_message(subscription.rmw, &loan, &taken, nullptr), RMW_RET_INVALID_ARGUMENT);
  OK(rmw_return_loaned_message_from_subscription(subscription.rmw, loan));
  FAILS(rmw_return_loaned_message_from_subscription(subscription.rmw, loan), RMW_RET_ERROR);

  loan = nullptr;
  OK(rmw_borrow_loaned_message(publisher.rmw, type_of<Fixed>(), &loan));
  OK(rmw_return_loaned_message_from_publisher(publisher.rmw, loan));
  FAILS(rmw_return_loaned_message_from_publisher(publisher.rmw, loan), RMW_RET_ERROR);
  CHECK(!subscription.take(fixed)); // what was returned isn't published
  publisher.publish(fixed); // and what is copied can be taken as a loan
  loan = nullptr;
  OK(rmw_take_loaned_message(subscription.rmw, &loan, &taken, nullptr));
  CHECK(taken && static_cast<const Fixed *>(loan)->values[6] == 2.5);
  // One loan is left for the subscription to release.
}

void types_with_booleans_are_not_loaned(Node & node)
{
  Publisher publisher(node, type_of<Flags>(), "/flags");
  Subscription subscription(node, type_of<Flags>(), "/flags");
  CHECK(!publisher.rmw->can_loan_messages && !subscription.rmw->can_loan_messages);
  Flags flags;
  flags.values[7] = true;
  publisher.publish(flags);
  CHECK(subscription.next<Flags>().values == flags.values);
}

/// A message whose bytes differ from its encoded form is encoded field by field, also if the
/// generated code doesn't see the difference.
void messages_with_gaps_are_encoded(Node & node)
{
  Publisher publisher(node, type_of<Gap>(), "/gap");
  Subscription subscription(node, type_of<Gap>(), "/gap");
  CHECK(!publisher.rmw->can_loan_messages && !subscription.rmw->can_loan_messages);
  Gap gap;
  gap.best.label = 3;
  gap.count = 4;
  gap.stamp = 0.5;
  const rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_serialized_message_t bytes = rcutils_get_zero_initialized_uint8_array();
  CHECK(rcutils_uint8_array_init(&bytes, 0, &allocator) == RCUTILS_RET_OK);
  OK(rmw_serialize(&gap, type_of<Gap>(), &bytes));
  CHECK(bytes.buffer_length == 4 + 24 && bytes.buffer[4 + 8] == 3 && bytes.buffer[4 + 9] == 4);
  CHECK(rcutils_uint8_array_fini(&bytes) == RCUTILS_RET_OK);
  publisher.publish(gap);
  const Gap taken = subscription.next<Gap>();
  CHECK(taken.best.label == 3 && taken.count == 4 && taken.stamp == 0.5);
}

/// Types within types may be plain, with padding that both forms have.
void plain_messages_may_be_nested(Node & node)
{
  Publisher publisher(node, type_of<Track>(), "/track");
  CHECK(publisher.rmw->can_loan_messages);
  Track track;
  track.points[1].id = 0x01020304;
  track.points[1].sizes = {5, 6};
  track.state = 7;
  const rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_serialized_message_t bytes = rcutils_get_zero_initialized_uint8_array();
  CHECK(rcutils_uint8_array_init(&bytes, 0, &allocator) == RCUTILS_RET_OK);
  OK(rmw_serialize(&track, type_of<Track>(), &bytes));
  CHECK(bytes.buffer_length == 4 + sizeof track && bytes.buffer[4 + 16 + 8] == 4);
  CHECK(bytes.buffer[4 + 16 + 14] == 6 && bytes.buffer[4 + 36] == 7);
  CHECK(rcutils_uint8_array_fini(&bytes) == RCUTILS_RET_OK);
}

void plain_messages_are_read_in_both_byte_orders()
{
  const rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_serialized_message_t bytes = rcutils_get_zero_initialized_uint8_array();
  CHECK(rcutils_uint8_array_init(&bytes, 0, &allocator) == RCUTILS_RET_OK);
  Fixed fixed;
  fixed.number = 0x0102030405060708;
  fixed.values.fill(0.1);
  OK(rmw_serialize(&fixed, type_of<Fixed>(), &bytes));
  CHECK(bytes.buffer_length == 4 + sizeof fixed && bytes.buffer[4] == 8);
  Fixed read;
  OK(rmw_deserialize(&bytes, type_of<Fixed>(), &read));
  CHECK(read.number == fixed.number && read.values == fixed.values);
  bytes.buffer[1] = 0;
  for (std::size_t field = 4; field < bytes.buffer_length; field += 8) {
    std::reverse(bytes.buffer + field, bytes.buffer + field + 8);
  }
  OK(rmw_deserialize(&bytes, type_of<Fixed>(), &read));
  CHECK(read.number == fixed.number && read.values == fixed.values);
  for (const std::uint8_t byte_order : {0, 1}) {
    bytes.buffer[1] = byte_order;
    --bytes.buffer_length;
    FAILS(rmw_deserialize(&bytes, type_of<Fixed>(), &read), RMW_RET_ERROR);
  }
  CHECK(rcutils_uint8_array_fini(&bytes) == RCUTILS_RET_OK);
}

void the_depth_is_kept(Node & node)
{
  Publisher publisher(node, type_of<Text>(), "/depth");
  Subscription subscription(node, type_of<Text>(), "/depth", keep_last(2));
  for (const char * text : {"1", "2", "3", "4", "5"}) {
    publisher.publish(Text{text});
  }
  CHECK(subscription.next<Text>().data == "4");
  CHECK(subscription.next<Text>().data == "5");
  Text text;
  CHECK(!subscription.take(text));
}

void sequences_are_taken(Node & node)
{
  Publisher publisher(node, type_of<Text>(), "/sequence");
  Subscription subscription(node, type_of<Text>(), "/sequence");
  for (const char * text : {"a", "b", "c"}) {
    publisher.publish(Text{text});
  }
  Text texts[4];
  void * places[] = {&texts[0], &texts[1], &texts[2], &texts[3]};
  rmw_message_info_t infos[4];
  rmw_message_sequence_t messages{places, 0, 4, nullptr};
  rmw_message_info_sequence_t all_infos{infos, 0, 4, nullptr};
  std::size_t taken = 0;
  const auto take = [&](std::size_t count) {
      return rmw_take_sequence(subscription.rmw, count, &messages, &all_infos, &taken, nullptr);
    };
  FAILS(take(0), RMW_RET_INVALID_ARGUMENT);
  FAILS(take(5), RMW_RET_INVALID_ARGUMENT);
  OK(take(2));
  CHECK(taken == 2 && messages.size == 2 && all_infos.size == 2);
  CHECK(texts[0].data == "a" && texts[1].data == "b");
  OK(take(4));
  CHECK(taken == 1 && messages.size == 1 && texts[0].data == "c");
  CHECK(infos[0].reception_sequence_number == 3);
}

void bytes_are_published_and_taken(Node & node)
{
  Publisher publisher(node, type_of<Text>(), "/bytes");
  Subscription subscription(node, type_of<Text>(), "/bytes");
  const rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_serialized_message_t out = rcutils_get_zero_initialized_uint8_array(), in = out;
  CHECK(rcutils_uint8_array_init(&out, 0, &allocator) == RCUTILS_RET_OK);
  CHECK(rcutils_uint8_array_init(&in, 1, &allocator) == RCUTILS_RET_OK);
  const Text text{"as bytes"};
  OK(rmw_serialize(&text, type_of<Text>(), &out));
  CHECK(out.buffer_length == 4 + 4 + 9 && out.buffer[1] == 1 && out.buffer[4] == 9);
  OK(rmw_publish_serialized_message(publisher.rmw, &out, nullptr));
  OK(rmw_publish_serialized_message(publisher.rmw, &out, nullptr));
  CHECK(subscription.next<Text>().data == "as bytes");
  bool taken = false;
  rmw_message_info_t info = rmw_get_zero_initialized_message_info();
  OK(rmw_take_serialized_message_with_info(subscription.rmw, &in, &taken, &info, nullptr));
  CHECK(taken && in.buffer_length == out.buffer_length && info.publication_sequence_number == 2);
  CHECK(std::memcmp(in.buffer, out.buffer, in.buffer_length) == 0);
  Text read;
  OK(rmw_deserialize(&in, type_of<Text>(), &read));
  CHECK(read.data == "as bytes");
  in.buffer_length = 10; // cut off
  FAILS(rmw_deserialize(&in, type_of<Text>(), &read), RMW_RET_ERROR);
  in.buffer_length = 2;
  FAILS(rmw_deserialize(&in, type_of<Text>(), &read), RMW_RET_ERROR);
  std::uint8_t big_endian[] = {0, 0, 0, 0, 0, 0, 0, 3, 'h', 'i', 0};
  const rmw_serialized_message_t other{big_endian, sizeof big_endian, sizeof big_endian, allocator};
  OK(rmw_deserialize(&other, type_of<Text>(), &read));
  CHECK(read.data == "hi");
  OK(rmw_take_serialized_message(subscription.rmw, &in, &taken, nullptr));
  CHECK(!taken);
  CHECK(rcutils_uint8_array_fini(&in) == RCUTILS_RET_OK);
  CHECK(rcutils_uint8_array_fini(&out) == RCUTILS_RET_OK);
}

void own_messages_may_be_ignored(Context & context, Node & node)
{
  Node other(context, "other");
  Publisher publisher(node, type_of<Text>(), "/own");
  Subscription ignores(node, type_of<Text>(), "/own", qos(), true);
  Subscription hears(other, type_of<Text>(), "/own");
  wait_until(node, [&] {return publisher.matched() >= 1;});
  publisher.publish(Text{"mine"});
  CHECK(hears.next<Text>().data == "mine");
  Text text;
  CHECK(!ignores.take(text));
}

void profiles_are_resolved(Node & node)
{
  rmw_qos_profile_t actual{};
  {
    Publisher publisher(node, type_of<Text>(), "/system", rmw_qos_profile_system_default);
    OK(rmw_publisher_get_actual_qos(publisher.rmw, &actual));
    CHECK(actual.reliability == RMW_QOS_POLICY_RELIABILITY_RELIABLE);
    CHECK(actual.durability == RMW_QOS_POLICY_DURABILITY_VOLATILE);
    CHECK(actual.history == RMW_QOS_POLICY_HISTORY_KEEP_LAST && actual.depth > 0);
    CHECK(actual.liveliness == RMW_QOS_POLICY_LIVELINESS_AUTOMATIC);
    CHECK(actual.deadline.sec == 9223372036); // infinite
  }
  Publisher retains(node, type_of<Text>(), "/best", transient_local(1));
  Subscription best(node, type_of<Text>(), "/best", rmw_qos_profile_best_available);
  OK(rmw_subscription_get_actual_qos(best.rmw, &actual));
  CHECK(actual.reliability == RMW_QOS_POLICY_RELIABILITY_RELIABLE);
  CHECK(actual.durability == RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL);
  Subscription alone(node, type_of<Text>(), "/alone", rmw_qos_profile_best_available);
  OK(rmw_subscription_get_actual_qos(alone.rmw, &actual));
  CHECK(actual.reliability != RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE);
}

void profiles_are_compared()
{
  rmw_qos_profile_t reliable = qos();
  reliable.liveliness = RMW_QOS_POLICY_LIVELINESS_AUTOMATIC; // nothing is left open
  rmw_qos_profile_t best_effort = reliable;
  best_effort.reliability = RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT;
  rmw_qos_compatibility_type_t verdict = RMW_QOS_COMPATIBILITY_OK;
  char reason[200] = "?";
  OK(rmw_qos_profile_check_compatible(reliable, best_effort, &verdict, reason, sizeof reason));
  CHECK(verdict == RMW_QOS_COMPATIBILITY_OK && reason[0] == '\0');
  OK(rmw_qos_profile_check_compatible(best_effort, reliable, &verdict, reason, sizeof reason));
  CHECK(verdict == RMW_QOS_COMPATIBILITY_ERROR && std::strncmp(reason, "ERROR: ", 7) == 0);
  OK(rmw_qos_profile_check_compatible(rmw_qos_profile_system_default, qos(), &verdict, reason, 4));
  CHECK(verdict == RMW_QOS_COMPATIBILITY_WARNING && std::string(reason) == "WAR");
  OK(rmw_qos_profile_check_compatible(best_effort, reliable, &verdict, nullptr, 0));
  CHECK(verdict == RMW_QOS_COMPATIBILITY_ERROR);
  FAILS(
    rmw_qos_profile_check_compatible(qos(), qos(), &verdict, nullptr, 9), RMW_RET_INVALID_ARGUMENT);
}

void late_joiners_get_what_is_retained(Node & node)
{
  Publisher publisher(node, type_of<Text>(), "/retained", transient_local(2));
  for (const char * text : {"old", "1", "2"}) {
    publisher.publish(Text{text});
  }
  Subscription late(node, type_of<Text>(), "/retained", transient_local(10));
  CHECK(late.next<Text>().data == "1" && late.next<Text>().data == "2");
  Subscription not_interested(node, type_of<Text>(), "/retained");
  Text text;
  CHECK(!not_interested.take(text));
}

/// What has expired is not taken, and a wait set does not report it for ever.
void messages_expire(Node & node)
{
  const rmw_qos_profile_t short_lived =
    qos([](rmw_qos_profile_t & profile) {profile.lifespan = {0, 1};});
  Publisher publisher(node, type_of<Text>(), "/expires", short_lived);
  Subscription subscription(node, type_of<Text>(), "/expires");
  publisher.publish(Text{"gone"});
  Text text;
  CHECK(!subscription.take(text));
  Waiting waiting;
  waiting.subscriptions = {subscription.rmw->data};
  const rmw_time_t at_once = {0, 0};
  CHECK(waiting.wait(node.rmw->context, &at_once) == RMW_RET_TIMEOUT);
}

/// However long a message waits, it was received when it came; what was retained came with the
/// subscription.
void messages_are_received_when_they_come(Node & node)
{
  constexpr auto PAUSE = std::chrono::milliseconds(200);
  const rmw_time_point_value_t pause = std::chrono::nanoseconds(PAUSE).count();
  Publisher publisher(node, type_of<Text>(), "/received", transient_local(1));
  Subscription subscription(node, type_of<Text>(), "/received");
  publisher.publish(Text{"early"});
  std::this_thread::sleep_for(PAUSE);
  Subscription late(node, type_of<Text>(), "/received", transient_local(1));
  std::this_thread::sleep_for(PAUSE);
  rmw_message_info_t info = rmw_get_zero_initialized_message_info();
  subscription.next<Text>(&info);
  CHECK(info.received_timestamp >= info.source_timestamp);
  CHECK(info.received_timestamp < info.source_timestamp + pause);
  late.next<Text>(&info);
  const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
  CHECK(info.received_timestamp >= info.source_timestamp + pause);
  CHECK(info.received_timestamp < now.count() - pause / 2);
}

/// With keep all, a publisher waits for a slow subscription, and nothing is lost.
void keep_all_waits(Node & node)
{
  constexpr std::uint64_t COUNT = 3000;
  Publisher publisher(node, type_of<Fixed>(), "/all", keep_all());
  Subscription subscription(node, type_of<Fixed>(), "/all", keep_all());
  std::thread thread([&] {
      Fixed fixed;
      for (fixed.number = 0; fixed.number < COUNT; ++fixed.number) {
        publisher.publish(fixed);
      }
    });
  for (std::uint64_t number = 0; number < COUNT; ++number) {
    CHECK(subscription.next<Fixed>().number == number);
  }
  thread.join();
  OK(rmw_publisher_wait_for_all_acked(publisher.rmw, {60, 0}));
}

/// Two threads that take from one subscription overlook no message.
void two_threads_take(Node & node)
{
  constexpr std::uint64_t ROUNDS = 100, COUNT = 100;
  Publisher publisher(node, type_of<Fixed>(), "/both", keep_last(1000));
  Subscription subscription(node, type_of<Fixed>(), "/both", keep_last(1000));
  std::atomic<std::uint64_t> taken{0};
  const auto take = [&] {
      Fixed fixed;
      const bool is_taken = subscription.take(fixed);
      taken += is_taken ? 1 : 0;
      return is_taken;
    };
  const auto what = [&](Waiting & waiting) {waiting.subscriptions = {subscription.rmw->data};};
  Takers takers(node, what, take);
  for (std::uint64_t round = 1; round <= ROUNDS; ++round) {
    for (std::uint64_t number = 0; number < COUNT; ++number) {
      publisher.publish(Fixed{});
    }
    while (taken < round * COUNT) {
      std::this_thread::yield();
    }
  }
  takers.stop();
  CHECK(!take());
  publisher.publish(Fixed{});
  subscription.wait();
  CHECK(take());
}

}  // namespace

PROGRAM(topics)
{
  Context context;
  Node node(context, "node");
  messages_come_in_order(node);
  plain_messages_are_loaned(node);
  types_with_booleans_are_not_loaned(node);
  messages_with_gaps_are_encoded(node);
  plain_messages_may_be_nested(node);
  plain_messages_are_read_in_both_byte_orders();
  the_depth_is_kept(node);
  sequences_are_taken(node);
  bytes_are_published_and_taken(node);
  own_messages_may_be_ignored(context, node);
  profiles_are_resolved(node);
  profiles_are_compared();
  late_joiners_get_what_is_retained(node);
  messages_expire(node);
  messages_are_received_when_they_come(node);
  keep_all_waits(node);
  two_threads_take(node);
}
