// A robot's graph: every publisher with a timer of its own, no message causes another.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph.hpp"
#include "messages.hpp"
#include "party.hpp"
#include "process.hpp"
#include "scenarios.hpp"
#include "usage.hpp"

namespace
{

/// Of a run, nothing counts before `warm_up`.
struct Span
{
  explicit Span(double seconds)
  : warm_up(std::min(1.0, seconds / 2)), end(seconds) {}

  double warm_up;
  double end;

  /// The messages that count of a publisher with this period, numbered from 1: those that are due
  /// after the warm-up.
  std::int64_t first(double period) const {return static_cast<std::int64_t>(warm_up / period) + 1;}
  std::int64_t last(double period) const {return static_cast<std::int64_t>(end / period);}
};

struct Source
{
  Graph::Publisher plan;
  rclcpp::Publisher<Bytes>::SharedPtr publisher;
  rclcpp::Node::SharedPtr node;
  rclcpp::TimerBase::SharedPtr timer;
  std::int64_t number = 0;
};

/// The nodes of the graph from `first` to before `end`, in this process.
class Part
{
public:
  Part(const Graph & graph, std::size_t first, std::size_t end, Span span)
  : graph_(graph), span_(span)
  {
    for (std::size_t index = first; index < end; ++index) {
      add(graph.nodes[index]);
    }
    party_.start();
  }

  ~Part() {party_.stop();}

  /// Waits until all of this process knows all that it has to do with.
  void await_matches() const
  {
    for (const auto & is_matched : matches_) {
      if (!wait_for(is_matched, 60, 0.01)) {
        throw std::runtime_error("two nodes of the graph don't find each other");
      }
    }
  }

  void start_timers()
  {
    for (const auto & source : sources_) {
      Source & one = *source;
      one.timer = one.node->create_wall_timer(
        period_of(1 / one.plan.period_seconds), [&one, last = span_.last(one.plan.period_seconds)] {
          if (one.number < last) {
            publish(one);
          }
        });
    }
  }

  /// Ends the timers. Returns how many messages that count were to come from here, to all
  /// subscriptions.
  std::int64_t stop_timers()
  {
    std::int64_t expected = 0;
    for (const auto & source : sources_) {
      source->timer->cancel();
      const std::int64_t counted =
        source->number - span_.first(source->plan.period_seconds) + 1;
      const auto to = static_cast<std::int64_t>(graph_.subscriptions_of(source->plan.topic));
      expected += std::max<std::int64_t>(0, counted) * to;
    }
    return expected;
  }

  /// The latencies of the messages that came and count; no callback runs any more.
  const Samples & finish()
  {
    party_.stop();
    return seen_;
  }

private:
  static void publish(Source & source)
  {
    auto message = std::make_unique<Bytes>();
    message->data.resize(2 * WORD + source.plan.bytes);
    set_word(*message, 1, ++source.number);
    set_word(*message, 0, now_ns());
    source.publisher->publish(std::move(message));
  }

  void add(const Graph::Node & plan)
  {
    const auto node = party_.node(plan.name);
    for (const Graph::Publisher & publisher : plan.publishers) {
      auto source = std::make_unique<Source>();
      source->plan = publisher;
      source->node = node;
      source->publisher = node->create_publisher<Bytes>(publisher.topic, 10);
      matches_.push_back(
        [made = source->publisher, count = graph_.subscriptions_of(publisher.topic)] {
          return made->get_subscription_count() >= count;
        });
      sources_.push_back(std::move(source));
    }
    for (const std::string & topic : plan.subscriptions) {
      subscribe(*node, topic);
    }
  }

  void subscribe(rclcpp::Node & node, const std::string & topic)
  {
    const std::int64_t first = span_.first(period_on(topic));
    const auto made = node.create_subscription<Bytes>(
      topic, 10, [this, first](std::unique_ptr<Bytes> message) {
        const std::int64_t now = now_ns();
        if (word_of(*message, 1) >= first) {
          seen_.record(now - word_of(*message, 0));
        }
      });
    matches_.push_back(
      [made, count = graph_.publishers_of(topic)] {return made->get_publisher_count() >= count;});
    party_.keep(made);
  }

  /// The publishers of a topic have one period in all graphs.
  double period_on(const std::string & topic) const
  {
    for (const Graph::Node & node : graph_.nodes) {
      for (const Graph::Publisher & publisher : node.publishers) {
        if (publisher.topic == topic) {
          return publisher.period_seconds;
        }
      }
    }
    return 1;
  }

  const Graph & graph_;
  Span span_;
  Party party_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<std::function<bool()>> matches_;
  Samples seen_;
};

void serve(Line & line, const Graph & graph, std::size_t first, std::size_t end, Span span)
{
  Part part(graph, first, end, span);
  part.await_matches();
  line.send({});
  line.expect();
  part.start_timers();
  line.expect();
  const Meter meter;
  line.expect();
  const Usage usage = meter.usage();
  line.send({part.stop_timers(), usage.cpu, usage.rss});
  line.expect();
  line.send(part.finish().times());
}

/// Runs the graph with this many nodes in each process.
Figures run(const Graph & graph, std::size_t nodes_of_a_process, double seconds)
{
  const Span span(seconds);
  std::vector<std::unique_ptr<Child>> parts;
  for (std::size_t first = 0; first < graph.nodes.size(); first += nodes_of_a_process) {
    const std::size_t end = std::min(graph.nodes.size(), first + nodes_of_a_process);
    parts.push_back(
      std::make_unique<Child>([&, first, end](Line & line) {serve(line, graph, first, end, span);}));
  }
  const auto each = [&](auto does) {
      for (const auto & part : parts) {
        does(part->line());
      }
    };
  const auto go_on = [](Line & line) {line.send({});};
  each([](Line & line) {line.expect();});
  each(go_on);
  sleep_seconds(span.warm_up);
  const std::int64_t start = now_ns();
  each(go_on);
  sleep_seconds(span.end - span.warm_up + 0.02);
  each(go_on);
  Usage usage;
  std::int64_t expected = 0;
  each(
    [&](Line & line) {
      const auto counts = line.expect();
      expected += counts.at(0);
      usage.cpu += counts.at(1);
      usage.rss += counts.at(2);
    });
  usage.time_ns = now_ns() - start;
  sleep_seconds(0.5);  // what is on its way
  each(go_on);
  Samples all;
  each(
    [&](Line & line) {
      for (const std::int64_t time : line.expect()) {
        all.record(time);
      }
    });
  if (all.count() == 0) {
    throw std::runtime_error("no message came");
  }
  double sum = 0;
  for (const std::int64_t time : all.times()) {
    sum += static_cast<double>(time);
  }
  Figures figures;
  figures.add("mean_ns", sum / static_cast<double>(all.count())).add("p50_ns", all.percentile(50));
  figures.add("p99_ns", all.percentile(99)).add("messages", static_cast<double>(all.count()));
  const std::int64_t lost = expected - static_cast<std::int64_t>(all.count());
  figures.add("lost", static_cast<double>(std::max<std::int64_t>(0, lost))).add("reordered", 0);
  figures.add("cpu_percent", usage.cpu_percent());
  return figures.add("rss_bytes", static_cast<double>(usage.rss));
}

}  // namespace

Figures topology(const Case & work)
{
  const Graph graph = Graph::load(work.text("name"));
  return run(graph, graph.nodes.size(), work.seconds());
}

Figures topology_over_processes(const std::string & name, double seconds)
{
  return run(Graph::load(name), 1, seconds);
}
