// Who gets which copy of a message, by address and by counting copies: in a process, and between
// two.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "check.hpp"
#include "geometry_msgs/msg/pose_with_covariance.hpp"
#include "runner.hpp"
#include "sensor_msgs/msg/image.hpp"
#include "sinew/sinew.hpp"

/// A message that knows which instance it is: the original is 1, and every copy gets the next
/// number.
struct Witness
{
  struct Counts
  {
    int copies = 0;
    int alive = 0;
  };

  explicit Witness(Counts & all)
  : counts(&all) {++counts->alive;}
  Witness(const Witness & other)
  : instance(2 + other.counts->copies++), counts(other.counts) {++counts->alive;}
  Witness(Witness && other) noexcept
  : instance(other.instance), counts(other.counts) {++counts->alive;}
  Witness & operator=(const Witness & other) = delete;
  ~Witness() {--counts->alive;}

  int instance = 1;
  Counts * counts;
};

template<>
struct sinew::TypeSupport<Witness>
{
  static constexpr const char * name = "copies/Witness";
};

namespace
{

struct Seen
{
  int instance = 0;
  const Witness * address = nullptr;
};

/// What readers saw, and the messages that they keep until the end.
struct Log
{
  std::map<std::size_t, Seen> seen;
  std::vector<std::shared_ptr<const void>> kept;

  void write(std::size_t reader, const Witness & message)
  {
    CHECK(seen.count(reader) == 0);
    seen[reader] = {message.instance, &message};
  }

  template<class Pointer>
  void keep(std::size_t reader, Pointer message)
  {
    write(reader, *message);
    kept.push_back(std::shared_ptr<const void>(std::move(message)));
  }
};

/// A way to read messages.
enum class Reader {Unique, MutableShared, Value, Reference, Shared, View, Taken};

const std::vector<Reader> owners = {Reader::Unique, Reader::MutableShared, Reader::Value};
const std::vector<Reader> sharers = {Reader::Reference, Reader::Shared, Reader::View, Reader::Taken};

sinew::Subscription<Witness>::SharedPtr subscribe(
  sinew::Node & node, Reader reader, std::size_t index, Log & log)
{
  const auto with = [&](auto callback) {
      return node.create_subscription<Witness>("witness", 10, callback);
    };
  switch (reader) {
    case Reader::Unique:
      return with([&log, index](std::unique_ptr<Witness> message) {log.keep(index, std::move(message));});
    case Reader::MutableShared:
      return with([&log, index](std::shared_ptr<Witness> message) {log.keep(index, message);});
    case Reader::Value:
      return with([&log, index](Witness message) {log.write(index, message);});
    case Reader::Reference:
      return with([&log, index](const Witness & message) {log.write(index, message);});
    case Reader::Shared:
      return with([&log, index](std::shared_ptr<const Witness> message) {log.keep(index, message);});
    case Reader::View:
      return with(
        [&log, index](sinew::MessageView<Witness> message) {
          log.write(index, *message.value());
          log.kept.push_back(std::make_shared<sinew::MessageView<Witness>>(message));
        });
    case Reader::Taken:
      return node.create_subscription<Witness>("witness", 10);
  }
  return nullptr;
}

/// How a message is published.
enum class Form {Unique, Moved, Copied, View, KeptView};

struct Published
{
  const Witness * address = nullptr;
  int instance = 1;
  std::shared_ptr<void> kept;
};

Published publish(sinew::Publisher<Witness> & publisher, Form form, Witness::Counts & counts)
{
  Published published;
  auto message = std::make_unique<Witness>(counts);
  published.address = message.get();
  switch (form) {
    case Form::Unique:
      publisher.publish(std::move(message));
      break;
    case Form::Moved:
      publisher.publish(std::move(*message));
      published.address = nullptr;
      break;
    case Form::Copied:
      publisher.publish(*message);
      published.address = nullptr;
      published.instance = 2;  // the one copy that is made first
      break;
    case Form::View: {
        // Another owner has it until it is published.
        const auto view = sinew::MessageView<Witness>::adopt(std::move(message));
        publisher.publish(view);
        break;
      }
    case Form::KeptView: {
        const auto view = sinew::MessageView<Witness>::adopt(std::move(message));
        publisher.publish(view);
        published.kept = std::make_shared<sinew::MessageView<Witness>>(view);
        break;
      }
  }
  return published;
}

/// Publishes one message to these readers, in this order, and says who got what: `@1` is what was
/// published, the others are numbered as they appear.
std::string deliver(
  sinew::Node & node, Runner & runner, Form form, const std::vector<Reader> & readers,
  const sinew::QoS & qos)
{
  Witness::Counts counts;
  std::ostringstream text;
  {
    Log log;
    std::vector<sinew::Subscription<Witness>::SharedPtr> subscriptions;
    for (std::size_t i = 0; i < readers.size(); ++i) {
      subscriptions.push_back(subscribe(node, readers[i], i, log));
    }
    const auto publisher = node.create_publisher<Witness>("witness", qos);
    const Published published = publish(*publisher, form, counts);
    for (std::size_t i = 0; i < readers.size(); ++i) {
      sinew::MessageInfo info;
      if (readers[i] == Reader::Taken) {
        log.keep(i, subscriptions[i]->take_shared(info));
        CHECK_EQ(info.publication_sequence(), 1u);
      }
    }
    runner.run();
    CHECK_EQ(log.seen.size(), readers.size());

    std::vector<int> numbers = {published.instance};
    for (std::size_t i = 0; i < readers.size(); ++i) {
      const Seen & seen = log.seen[i];
      const auto found = std::find(numbers.begin(), numbers.end(), seen.instance);
      const auto number = found - numbers.begin();
      if (found == numbers.end()) {
        numbers.push_back(seen.instance);
      }
      text << (i == 0 ? "" : " ") << '@' << number + 1;
      // (The memory of an original that is gone may be that of a copy by now.)
      const bool is_original = seen.instance == published.instance;
      if (is_original && published.address != nullptr && readers[i] != Reader::Value) {
        CHECK_EQ(seen.address, published.address);
      }
    }
    // No copy was made that nothing got, and the counters say how many were made.
    CHECK_EQ(static_cast<std::size_t>(counts.copies), numbers.size() - 1 + (published.instance == 2));
    std::uint64_t counted = publisher->get_statistics().copies;
    for (const auto & subscription : subscriptions) {
      counted += subscription->get_statistics().copies;
    }
    CHECK_EQ(counted, static_cast<std::uint64_t>(counts.copies));
  }
  CHECK_EQ(counts.alive, 0);
  return text.str();
}

/// Numbers in order of appearance, as `deliver` gives them.
std::string by_appearance(const std::string & row)
{
  std::vector<std::string> known = {"@1"};
  std::istringstream words(row);
  std::string text;
  for (std::string word; words >> word; ) {
    auto found = std::find(known.begin(), known.end(), word);
    const auto number = found - known.begin() + 1;
    if (found == known.end()) {
      known.push_back(word);
    }
    text += (text.empty() ? "@" : " @") + std::to_string(number);
  }
  return text;
}

/// Readers for a row; `turn` counts through all kinds.
std::vector<Reader> readers_of(const std::string & row, std::size_t turn)
{
  std::vector<Reader> readers;
  std::istringstream words(row);
  for (std::string word; words >> word; ++turn) {
    const auto & kinds = word == "u" ? owners : sharers;
    readers.push_back(kinds[turn % kinds.size()]);
  }
  return readers;
}

struct Row
{
  const char * buffers;
  const char * unique;
  const char * shared;
};

/// What is published lies at @1; `u` owns, `s` shares. As in the test of the library itself.
const Row table[] = {
  {"u", "@1", "@2"},
  {"u u", "@1 @2", "@2 @3"},
  {"s", "@1", "@1"},
  {"s s", "@1 @1", "@1 @1"},
  {"u s", "@1 @2", "@2 @1"},
  {"u s s", "@1 @2 @2", "@2 @1 @1"},
  {"u u s s", "@1 @2 @3 @3", "@2 @3 @1 @1"},
};

void the_table_holds(sinew::Node & node)
{
  Runner runner(node);
  const sinew::QoS latched = sinew::QoS(10).transient_local();
  for (const Row & row : table) {
    for (std::size_t turn = 0; turn < 12; ++turn) {
      const auto readers = readers_of(row.buffers, turn);
      const auto deliver_as = [&](Form form, const sinew::QoS & qos) {
          return deliver(node, runner, form, readers, qos);
        };
      for (const Form form : {Form::Unique, Form::Moved, Form::Copied}) {
        CHECK_EQ(deliver_as(form, 10), by_appearance(row.unique));
        CHECK_EQ(deliver_as(form, latched), by_appearance(row.shared));
      }
      for (const Form form : {Form::View, Form::KeptView}) {
        CHECK_EQ(deliver_as(form, 10), by_appearance(row.shared));
      }
    }
  }
  CHECK_EQ(deliver(node, runner, Form::Unique, {}, 10), "");
}

using geometry_msgs::msg::PoseWithCovariance;
using sensor_msgs::msg::Image;
constexpr std::size_t image_size = 8'000'000;

/// The other process: reads both messages where they lie.
void read_in_place()
{
  const auto node = sinew::Node::make_shared("reader");
  Runner runner(*node);
  bool has_pose = false;
  bool has_image = false;
  const auto poses = node->create_subscription<PoseWithCovariance>(
    "pose", 1, [&](const PoseWithCovariance & pose, const sinew::MessageInfo & info) {
      CHECK_EQ(pose.covariance[35], 7.5);
      CHECK(info.transport() == sinew::Transport::SharedMemory);
      has_pose = true;
    });
  const auto images = node->create_subscription<Image>(
    "image", 1, [&](sinew::MessageView<Image> image) {
      CHECK(image.is_encoded());
      CHECK(image.bytes().size() > image_size);
      CHECK_EQ(static_cast<int>(image.bytes()[image.bytes().size() - 1]), 9);
      CHECK_EQ(image.read().data.size(), image_size);
      has_image = true;
    });
  bool has_copy = false;
  const auto copies = node->create_subscription<Image>(
    "copied_image", 1, [&](const Image & image) {
      CHECK_EQ(image.data.size(), image_size);
      has_copy = true;
    });
  runner.run_until([&] {return has_pose && has_image && has_copy;});
  const auto of_poses = poses->get_statistics();
  CHECK_EQ(of_poses.copies + of_poses.decodings, 0u);
  const auto of_images = images->get_statistics();
  CHECK_EQ(of_images.copies + of_images.decodings, 0u);
  CHECK_EQ(of_images.views, 1u);
  const auto of_copies = copies->get_statistics();
  CHECK(of_copies.decodings >= 1);
  CHECK_EQ(of_copies.copies, 0u);
}

void between_processes_nothing_is_copied(sinew::Node & node, char * program)
{
  const auto poses = node.create_publisher<PoseWithCovariance>("pose", 1);
  const auto images = node.create_publisher<Image>("image", 1);
  const auto copies = node.create_publisher<Image>("copied_image", 1);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    char role[] = "read";
    char * arguments[] = {program, role, nullptr};
    execv(program, arguments);
    _exit(127);
  }
  const sinew::Duration patience = std::chrono::seconds(30);
  CHECK(poses->wait_for_subscriptions(1, patience));
  CHECK(images->wait_for_subscriptions(1, patience) && copies->wait_for_subscriptions(1, patience));

  Image image;
  image.encoding = "rgb8";
  image.data.assign(image_size, 9);
  // A message that the program keeps is encoded where it is, without a copy in between; except for
  // the first one after a change of the graph, which may not be over yet.
  bool is_encoded_in_place = false;
  for (int i = 0; i < 100 && !is_encoded_in_place; ++i) {
    const auto before = copies->get_statistics();
    copies->publish(image);
    const auto after = copies->get_statistics();
    CHECK_EQ(after.encodings, before.encodings + 1);
    is_encoded_in_place = after.copies == before.copies;
  }
  CHECK(is_encoded_in_place);

  auto pose = poses->borrow_loaned_message();
  pose->covariance[35] = 7.5;
  poses->publish(std::move(pose));
  CHECK_EQ(poses->get_statistics().copies + poses->get_statistics().encodings, 0u);

  auto draft = images->draft(sinew::MessageTraits<Image>::encoded_size(image));
  CHECK(!sinew::MessageTraits<Image>::encode(image, draft.data(), draft.size()));
  images->publish(std::move(draft));
  CHECK_EQ(images->get_statistics().copies + images->get_statistics().encodings, 0u);
  CHECK_EQ(images->get_statistics().drafts, 1u);

  int status = 0;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
}

}  // namespace

int main(int argc, char ** argv)
{
  sinew::init(argc, argv);
  if (argc > 1) {
    read_in_place();
    return 0;
  }
  const auto node = sinew::Node::make_shared("copies");
  the_table_holds(*node);
  between_processes_nothing_is_copied(*node, argv[0]);
}
