// Images of 8 MB, ten a second, to another process that sleeps. The first word of an image is the
// time at which it was complete, all others are its number.
#include <atomic>
#include <memory>

#include "messages.hpp"
#include "party.hpp"
#include "process.hpp"
#include "scenarios.hpp"
#include "usage.hpp"

namespace
{

constexpr std::size_t BYTES = 8 << 20;
constexpr double RATE = 10;
constexpr std::int64_t WARM_AFTER = 24;

void serve(Line & line)
{
  Party party;
  Arrivals seen;
  seen.warm_up = WARM_AFTER;
  std::atomic<std::int64_t> received{0};
  const auto images = party.node("viewer")->create_subscription<Bytes>(
    "images", 10, [&](std::unique_ptr<Bytes> image) {
      const std::int64_t now = now_ns();
      constexpr std::size_t words = BYTES / WORD;
      const std::int64_t number = word_of(*image, 1);
      if (word_of(*image, words / 2) == number && word_of(*image, words - 1) == number) {
        seen.note(number, now - word_of(*image, 0));
        ++received;
      }
    });
  party.start();
  if (!wait_for([&] {return images->get_publisher_count() > 0;})) {
    throw std::runtime_error("the viewer doesn't find the camera");
  }
  line.send({});
  const Meter meter;
  const std::int64_t count = line.expect().at(0);
  const Usage usage = meter.usage();
  await_all(count, [&] {return received.load();});
  party.stop();
  line.send({usage.cpu, usage.rss, seen.received, seen.reordered});
  line.send(seen.samples.times());
}

}  // namespace

Figures big(const Case & work)
{
  Child other(serve);
  Party party;
  const auto images = party.node("camera")->create_publisher<Bytes>("images", 10);
  party.start();
  other.line().expect();
  if (!wait_for([&] {return images->get_subscription_count() > 0;})) {
    throw std::runtime_error("the camera doesn't find the viewer");
  }
  Bytes image;
  image.data.resize(BYTES);
  const auto send = [&](std::int64_t number) {
      fill(image, number);
      const std::int64_t start = now_ns();
      set_word(image, 0, start);
      images->publish(image);
      return now_ns() - start;
    };
  for (std::int64_t number = 1; number <= WARM_AFTER; ++number) {
    send(number);
    sleep_seconds(0.02);
  }
  const std::int64_t last = WARM_AFTER + std::max<std::int64_t>(
    2, static_cast<std::int64_t>(RATE * work.seconds()));
  Samples inside;
  const Meter meter;
  std::int64_t due = now_ns();
  for (std::int64_t number = WARM_AFTER + 1; number <= last; ++number) {
    due += period_of(RATE).count();
    sleep_until_ns(due);
    inside.record(send(number));
  }
  const Usage usage = meter.usage();
  other.line().send({last});
  const auto counts = other.line().expect();
  const Samples times(other.line().expect());
  Figures figures;
  figures.add_times(times).add("publish_p50_ns", inside.percentile(50));
  figures.add("lost", static_cast<double>(std::max<std::int64_t>(0, last - counts.at(2))));
  figures.add("reordered", static_cast<double>(counts.at(3)));
  const Usage both{usage.time_ns, usage.cpu + counts.at(0), usage.rss + counts.at(1)};
  figures.add("cpu_percent", both.cpu_percent());
  return figures.add("rss_bytes", static_cast<double>(both.rss));
}
