// Messages between processes: large ones, retained ones, and bytes that are read where they lie.
#include <rmw/serialized_message.h>

#include <atomic>
#include <memory>

#include "drive.hpp"

namespace {

Image image_of(std::size_t size, std::uint8_t first)
{
  Image image;
  image.height = 1;
  image.width = static_cast<std::uint32_t>(size);
  image.data.resize(size);
  for (std::size_t index = 0; index < size; ++index) {
    image.data[index] = static_cast<std::uint8_t>(first + index % 251);
  }
  return image;
}

void messages_come_back(Node & node)
{
  Publisher there(node, type_of<Image>(), "/there");
  Subscription back(node, type_of<Image>(), "/back");
  Peer peer({"echoing"});
  wait_until(node, [&] {return there.matched() == 1 && back.matched() == 1;});
  for (const std::size_t size : {0, 1, 5000, 3000000}) {
    const Image image = image_of(size, 7);
    there.publish(image);
    const Image same = back.next<Image>();
    CHECK(same.height == 1 && same.width == size && same.data == image.data);
  }
}

/// A subscription that comes later gets what is retained, and what follows.
void late_joiners(Node & node)
{
  Publisher publisher(node, type_of<Text>(), "/retained", transient_local(2));
  for (const char * text : {"too old", "first", "second"}) {
    publisher.publish(Text{text});
  }
  Peer peer({"listening", "/retained"});
  CHECK(peer.hear() == "first" && peer.hear() == "second");
  publisher.publish(Text{"third"});
  CHECK(peer.hear() == "third");
  OK(rmw_publisher_wait_for_all_acked(publisher.rmw, {60, 0}));
}

/// With keep all, a publisher waits for a slow process, and nothing is lost.
void keep_all_across_processes(Node & node)
{
  Subscription subscription(node, type_of<Fixed>(), "/all", keep_all());
  Peer peer({"flooding", "3000"});
  CHECK(peer.hear() == "full");
  for (std::uint64_t number = 0; number < 3000; ++number) {
    CHECK(subscription.next<Fixed>().number == number);
  }
  CHECK(peer.hear() == "acknowledged");
}

/// Messages that are overwritten in the ring of another process were never notified. After them,
/// each message still wakes a wait, and is reported.
void messages_wake_after_an_overrun(Node & node)
{
  struct Reader {
    Peer peer{{"overrunning"}};
    std::atomic<bool> is_behind{false};
  };
  Subscription subscription(node, type_of<Fixed>(), "/overrun", keep_last(10));
  Reader reader;
  const auto set = [&](rmw_event_callback_t callback, void * user_data) {
      OK(rmw_subscription_set_on_new_message_callback(subscription.rmw, callback, user_data));
    };
  // Has the thread that reads wait until the peer has published everything.
  set([](const void * user_data, std::size_t) {
      Reader & own = *static_cast<Reader *>(const_cast<void *>(user_data));
      if (!own.is_behind) {
        CHECK(own.peer.hear() == "flooded");
        own.is_behind = true;
      }
    }, &reader);
  wait_until(node, [&] {return reader.is_behind.load();});
  set(nullptr, nullptr);
  Fixed fixed;
  std::uint64_t last = 0;
  do {
    while (subscription.take(fixed)) {
      last = fixed.number;
    }
    Waiting waiting;
    waiting.subscriptions = {subscription.rmw->data};
    constexpr rmw_time_t QUIET = {0, 200000000};
    if (waiting.wait(node.rmw->context, &QUIET) == RMW_RET_TIMEOUT) {
      CHECK(last == 100);
      break;
    }
  } while (true);
  for (int number = 0; number < 3; ++number) {
    reader.peer.say("next");
    do {
      subscription.wait();
    } while (!subscription.take(fixed));
    CHECK(fixed.number == ++last);
  }
  std::atomic<std::size_t> reported{0};
  set([](const void * user_data, std::size_t count) {
      *static_cast<std::atomic<std::size_t> *>(const_cast<void *>(user_data)) += count;
    }, &reported);
  for (std::size_t number = 1; number <= 3; ++number) {
    reader.peer.say("next");
    wait_until(node, [&] {return reported >= number;});
    CHECK(reported == number && subscription.take(fixed) && fixed.number == ++last);
  }
  set(nullptr, nullptr);
}

/// Holds serialized messages, and returns how many of them lie where they were published.
class Held {
public:
  ~Held() { clear(); }

  void take(const Subscription & subscription)
  {
    auto bytes = std::make_unique<rmw_serialized_message_t>();
    const rcutils_allocator_t allocator = rcutils_get_default_allocator();
    CHECK(rcutils_uint8_array_init(bytes.get(), 1, &allocator) == RCUTILS_RET_OK);
    for (bool taken = false; !taken; ) {
      OK(rmw_take_serialized_message(subscription.rmw, bytes.get(), &taken, nullptr));
      if (!taken) {
        subscription.wait();
      }
    }
    held_.push_back(std::move(bytes));
  }

  std::size_t lent() const
  {
    std::size_t count = 0;
    for (const auto & bytes : held_) {
      count += bytes->allocator.deallocate != rcutils_get_default_allocator().deallocate ? 1 : 0;
    }
    return count;
  }

  rmw_serialized_message_t & at(std::size_t index) { return *held_.at(index); }

  void clear()
  {
    for (const auto & bytes : held_) {
      CHECK(rcutils_uint8_array_fini(bytes.get()) == RCUTILS_RET_OK);
    }
    held_.clear();
  }

private:
  std::vector<std::unique_ptr<rmw_serialized_message_t>> held_;
};

void bytes_are_read_where_they_lie(Node & node)
{
  constexpr std::size_t COUNT = 80;
  Subscription subscription(node, type_of<Image>(), "/images", keep_last(COUNT));
  Peer peer({"imaging", std::to_string(COUNT), "5000"});
  Held held;
  for (int round = 0; round < 2; ++round) { // what is given back may be lent again
    peer.say("go");
    for (std::size_t number = 0; number < COUNT; ++number) {
      held.take(subscription);
    }
    CHECK(held.lent() == 64);
    for (std::size_t number = 0; number < COUNT; ++number) {
      Image image;
      OK(rmw_deserialize(&held.at(number), type_of<Image>(), &image));
      CHECK(image.data == image_of(5000, static_cast<std::uint8_t>(number)).data);
    }
    // Writing into it takes a buffer of its own; growing copies.
    const Text text{"written"};
    OK(rmw_serialize(&text, type_of<Text>(), &held.at(0)));
    Text read;
    OK(rmw_deserialize(&held.at(0), type_of<Text>(), &read));
    CHECK(read.data == "written");
    CHECK(rcutils_uint8_array_resize(&held.at(1), 6000) == RCUTILS_RET_OK);
    held.at(1).buffer[5999] = 1;
    Image image;
    OK(rmw_deserialize(&held.at(1), type_of<Image>(), &image));
    CHECK(image.data == image_of(5000, 1).data);
    held.clear();
  }
  // Short messages are always copied.
  Publisher publisher(node, type_of<Image>(), "/short");
  Subscription of_short(node, type_of<Image>(), "/short");
  publisher.publish(image_of(100, 1));
  held.take(of_short);
  CHECK(held.lent() == 0);
}

/// What is held outlives its subscription and its publisher's process.
void bytes_outlive_their_publisher(Node & node)
{
  Held held;
  {
    Subscription subscription(node, type_of<Image>(), "/images");
    Peer peer({"imaging", "1", "100000"});
    peer.say("go");
    held.take(subscription);
    CHECK(held.lent() == 1);
    peer.kill();
    wait_until(node, [&] {return subscription.matched() == 0;});
  }
  Image image;
  OK(rmw_deserialize(&held.at(0), type_of<Image>(), &image));
  CHECK(image.data == image_of(100000, 0).data);
}

}  // namespace

/// Sends images back.
PROGRAM(echoing)
{
  Context context;
  Node node(context, "echoing");
  Publisher back(node, type_of<Image>(), "/back");
  Subscription there(node, type_of<Image>(), "/there");
  wait_until(node, [&] {return back.matched() == 1;});
  for (const std::size_t size : {0, 1, 5000, 3000000}) {
    const Image image = there.next<Image>();
    CHECK(image.data.size() == size);
    back.publish(image);
  }
  std::string line;
  while (listen(line)) {
  }
}

/// Reports three texts.
PROGRAM(listening)
{
  Context context;
  Node node(context, "listening");
  Subscription subscription(node, type_of<Text>(), arguments.at(0).c_str(), transient_local(10));
  for (int number = 0; number < 3; ++number) {
    report(subscription.next<Text>().data);
  }
}

/// Publishes numbers as fast as it may, and reports the first that finds no room in time. A refused
/// number is published again: under valgrind, a subscription takes longer to read a full history than
/// a publisher waits. A publisher that didn't wait would be refused far more often.
PROGRAM(flooding)
{
  Context context;
  Node node(context, "flooding");
  Publisher publisher(node, type_of<Fixed>(), "/all", keep_all());
  wait_until(node, [&] {return publisher.matched() == 1;});
  Fixed fixed;
  int refusals = 0;
  for (; fixed.number < std::stoul(arguments.at(0)); ++fixed.number) {
    while (rmw_publish(publisher.rmw, &fixed, nullptr) != RMW_RET_OK) {
      CHECK(rcutils_error_is_set() && refusals < 50);
      rcutils_reset_error();
      if (++refusals == 1) {
        report("full");
      }
    }
  }
  OK(rmw_publisher_wait_for_all_acked(publisher.rmw, {60, 0}));
  report("acknowledged");
}

/// Publishes far more than a subscription of depth 10 keeps, and then one message for each line.
PROGRAM(overrunning)
{
  Context context;
  Node node(context, "overrunning");
  Publisher publisher(node, type_of<Fixed>(), "/overrun", keep_last(10));
  wait_until(node, [&] {return publisher.matched() == 1;});
  Fixed fixed;
  while (fixed.number < 100) {
    ++fixed.number;
    publisher.publish(fixed);
  }
  report("flooded");
  std::string line;
  while (listen(line)) {
    ++fixed.number;
    publisher.publish(fixed);
  }
}

/// Publishes images whenever a line comes: their number and size.
PROGRAM(imaging)
{
  Context context;
  Node node(context, "imaging");
  Publisher publisher(node, type_of<Image>(), "/images", keep_last(std::stoul(arguments.at(0))));
  wait_until(node, [&] {return publisher.matched() == 1;});
  std::string line;
  while (listen(line)) {
    for (std::size_t number = 0; number < std::stoul(arguments.at(0)); ++number) {
      publisher.publish(image_of(std::stoul(arguments.at(1)), static_cast<std::uint8_t>(number)));
    }
  }
}

PROGRAM(processes)
{
  Context context;
  Node node(context, "node");
  messages_come_back(node);
  late_joiners(node);
  keep_all_across_processes(node);
  messages_wake_after_an_overrun(node);
  bytes_are_read_where_they_lie(node);
  bytes_outlive_their_publisher(node);
}
