// Source => relays => sink, in one process, or with every hop from one of two processes to the other.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "messages.hpp"
#include "party.hpp"
#include "process.hpp"
#include "scenarios.hpp"
#include "usage.hpp"

namespace
{

struct Shape
{
  explicit Shape(const Case & work)
  : relays(static_cast<int>(work.number("relays"))), rate(work.number("rate")),
    messages(std::max(std::int64_t{2}, static_cast<std::int64_t>(rate * work.seconds())))
  {}

  int relays;
  double rate;
  std::int64_t messages;
};

/// The nodes of a chain that are in this process. Node 0 is the source, the one after the last relay
/// the sink; hop `n` leads from node `n` to the next.
class Links
{
public:
  using IsHere = std::function<bool (int)>;

  Links(const Shape & shape, bool intra_process, const IsHere & is_here)
  : shape_(shape), party_(intra_process)
  {
    arrivals_.warm_up = std::max(std::int64_t{1}, shape.messages / 10);
    arrivals_.samples.reserve(static_cast<std::size_t>(shape.messages));
    for (int number = 1; number <= shape.relays; ++number) {
      if (is_here(number)) {
        add_relay(number);
      }
    }
    if (is_here(shape.relays + 1)) {
      add_sink();
    }
    if (is_here(0)) {
      source_ = party_.node("source");
      first_ = publisher(source_, 0);
    }
    party_.start();
  }

  ~Links() {party_.stop();}

  /// Waits until every publisher and subscription here has its other side.
  void await_matches() const
  {
    for (const auto & is_matched : matches_) {
      if (!wait_for(is_matched)) {
        throw std::runtime_error("two nodes of the chain don't find each other");
      }
    }
  }

  /// Publishes all messages, and waits until that is done.
  void publish_all()
  {
    const auto timer = source_->create_wall_timer(
      period_of(shape_.rate), [this] {
        if (published_ < shape_.messages) {
          auto timing = std::make_unique<Timing>();
          write(*timing, now_ns(), published_ + 1);
          first_->publish(std::move(timing));
          ++published_;
        }
      });
    const double whole = static_cast<double>(shape_.messages) / shape_.rate;
    if (!wait_for([this] {return published_ >= shape_.messages;}, 2 * whole + 10, 0.02)) {
      throw std::runtime_error("the source's timer is too slow");
    }
    timer->cancel();
  }

  void await_messages() const
  {
    await_all(shape_.messages, [this] {return received_.load();});
  }

  /// What the sink saw; no callback runs any more.
  const Arrivals & finish()
  {
    party_.stop();
    return arrivals_;
  }

private:
  static std::string hop(int number) {return "hop_" + std::to_string(number);}

  rclcpp::Publisher<Timing>::SharedPtr publisher(const rclcpp::Node::SharedPtr & node, int number)
  {
    const auto made = node->create_publisher<Timing>(hop(number), 10);
    matches_.push_back([made] {return made->get_subscription_count() > 0;});
    return made;
  }

  template<class Callback>
  void subscribe(const rclcpp::Node::SharedPtr & node, int number, Callback callback)
  {
    const auto made = node->create_subscription<Timing>(hop(number), 10, std::move(callback));
    matches_.push_back([made] {return made->get_publisher_count() > 0;});
    party_.keep(made);
  }

  void add_relay(int number)
  {
    const auto relay = party_.node("relay_" + std::to_string(number));
    const auto next = publisher(relay, number);
    subscribe(
      relay, number - 1,
      [next](std::unique_ptr<Timing> timing) {next->publish(std::move(timing));});
  }

  void add_sink()
  {
    subscribe(
      party_.node("sink"), shape_.relays, [this](const Timing & timing) {
        const std::int64_t now = now_ns();
        const auto [stamp, number] = read(timing);
        arrivals_.note(number, now - stamp);
        ++received_;
      });
  }

  Shape shape_;
  Party party_;
  Arrivals arrivals_;
  std::atomic<std::int64_t> received_{0};
  std::atomic<std::int64_t> published_{0};
  rclcpp::Node::SharedPtr source_;
  rclcpp::Publisher<Timing>::SharedPtr first_;
  std::vector<std::function<bool()>> matches_;
};

Figures figures_of(const Shape & shape, const Arrivals & seen, double cpu, std::int64_t rss)
{
  Figures figures;
  figures.add_times(seen.samples, shape.relays + 1);
  figures.add("lost", static_cast<double>(std::max<std::int64_t>(0, shape.messages - seen.received)));
  figures.add("reordered", static_cast<double>(seen.reordered));
  return figures.add("cpu_percent", cpu).add("rss_bytes", static_cast<double>(rss));
}

/// The other process: every second node, and the sink if its number is odd.
void serve(Line & line, const Shape & shape, bool has_sink)
{
  Links links(shape, false, [](int number) {return number % 2 == 1;});
  links.await_matches();
  line.send({});
  line.expect();
  const Meter meter;
  line.expect();
  const Usage usage = meter.usage();
  if (has_sink) {
    links.await_messages();
  }
  const Arrivals & seen = links.finish();
  line.send({usage.cpu, usage.rss, seen.received, seen.reordered});
  line.send(seen.samples.times());
}

}  // namespace

Figures chain(const Case & work, bool intra_process)
{
  const Shape shape(work);
  Links links(shape, intra_process, [](int) {return true;});
  links.await_matches();
  const Meter meter;
  links.publish_all();
  const Usage usage = meter.usage();
  links.await_messages();
  return figures_of(shape, links.finish(), usage.cpu_percent(), usage.rss);
}

Figures process_chain(const Case & work)
{
  const Shape shape(work);
  const bool has_sink = shape.relays % 2 == 1;
  Child other([&](Line & line) {serve(line, shape, !has_sink);});
  Links links(shape, false, [](int number) {return number % 2 == 0;});
  links.await_matches();
  other.line().expect();
  other.line().send({});
  const Meter meter;
  links.publish_all();
  Usage usage = meter.usage();
  if (has_sink) {
    links.await_messages();
  }
  other.line().send({});
  const auto counts = other.line().expect();
  Arrivals seen = links.finish();
  auto times = other.line().expect();
  usage.cpu += counts.at(0);
  usage.rss += counts.at(1);
  if (!has_sink) {
    seen.received = counts.at(2);
    seen.reordered = counts.at(3);
    seen.samples = Samples(std::move(times));
  }
  return figures_of(shape, seen, usage.cpu_percent(), usage.rss);
}
