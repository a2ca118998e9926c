// One message forth and one back, again and again: its pace, its times, its losses.
#pragma once

#include <atomic>
#include <functional>
#include <stdexcept>
#include <utility>

#include "case.hpp"
#include "clock.hpp"
#include "party.hpp"
#include "process.hpp"
#include "usage.hpp"

/// Each message is sent as soon as the one before was answered, or at a rate. The first messages, and
/// then a tenth of the time, warm up. All of it runs on the executor's thread.
class Rally
{
public:
  /// `send` sends a message with this number. A sample is divided by `parts`.
  Rally(const Case & work, double parts, std::function<void(std::int64_t)> send)
  : rate_(work.number_or("rate", 0)), seconds_(work.seconds()), parts_(parts), send_(std::move(send))
  {
    samples_.reserve(1 << 20);
  }

  /// Plays until the time is over. `node` is for timers.
  Figures play(Party & party, rclcpp::Node & node, Line & other)
  {
    const auto resends = node.create_wall_timer(std::chrono::seconds(1), [this] {go_on();});
    const auto paces = rate_ > 0 ? node.create_wall_timer(period_of(rate_), [this] {
          if (!is_over_ && answered_ == number_ && number_ >= WARM_AFTER) {
            send();
          }
        }) : nullptr;
    other.send({});
    const Meter meter;
    const auto first = node.create_wall_timer(
      std::chrono::milliseconds(1), [this] {
        if (number_ == 0) {
          send();
        }
      });
    party.start();
    if (!wait_for([this] {return is_over_.load();}, seconds_ + 20, 0.02)) {
      party.stop();
      throw std::runtime_error("no answer came");
    }
    first->cancel();
    const Usage usage = meter.usage();
    party.stop();
    other.send({});
    const auto of_other = other.expect();
    Figures figures;
    figures.add_times(samples_, parts_);
    figures.add("lost", static_cast<double>(lost_)).add("reordered", static_cast<double>(wrong_));
    const Usage both{usage.time_ns, usage.cpu + of_other.at(0), usage.rss + of_other.at(1)};
    figures.add("cpu_percent", both.cpu_percent());
    return figures.add("rss_bytes", static_cast<double>(both.rss));
  }

  /// Records an answer; `end` is where its sample ends.
  void answered(std::int64_t number, std::int64_t end)
  {
    if (number == answered_) {
      return;  // a message of the warm-up that was sent twice
    }
    wrong_ += number == number_ ? 0 : 1;
    answered_ = number_;
    if (number_ == WARM_AFTER) {
      begin_ = now_ns();
    }
    if (number_ > WARM_AFTER && start_ >= begin_ + static_cast<std::int64_t>(seconds_ * 1e8)) {
      samples_.record(end - start_);
    }
    const bool is_time_over = end > begin_ + static_cast<std::int64_t>(seconds_ * 1e9);
    if (number_ > WARM_AFTER && is_time_over && samples_.count() >= 3) {
      is_over_ = true;
    } else if (rate_ <= 0 || number_ < WARM_AFTER) {
      send();
    }
  }

private:
  static constexpr std::int64_t WARM_AFTER = 24;

  void send()
  {
    ++number_;
    start_ = now_ns();
    send_(number_);
  }

  /// Sends again if nothing came for a second. Later than in the warm-up that is a loss.
  void go_on()
  {
    if (!is_over_ && answered_ != number_ && now_ns() - start_ > 500'000'000) {
      lost_ += number_ > WARM_AFTER ? 1 : 0;
      start_ = now_ns();
      send_(number_);
    }
  }

  double rate_;
  double seconds_;
  double parts_;
  std::function<void(std::int64_t)> send_;
  std::int64_t number_ = 0;
  std::int64_t answered_ = 0;
  std::int64_t start_ = 0;
  std::int64_t begin_ = 0;
  std::int64_t lost_ = 0;
  std::int64_t wrong_ = 0;
  std::atomic<bool> is_over_{false};
  Samples samples_;
};

/// In the other process, whose executor answers: until the round is over.
inline void answer_until_the_end(Party & party, Line & line)
{
  line.send({});
  line.expect();
  const Meter meter;
  line.expect();
  const Usage usage = meter.usage();
  party.stop();
  line.send({usage.cpu, usage.rss});
}
