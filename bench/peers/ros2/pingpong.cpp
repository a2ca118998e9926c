// A message forth and one back between two processes, each on a core of its own; both sleep.
#include <memory>
#include <string>

#include "messages.hpp"
#include "rally.hpp"
#include "scenarios.hpp"

namespace
{

constexpr int DEPTH = 10;

/// Waits until both ends know the other process.
template<class Publisher, class Subscription>
void await_match(const Publisher & publisher, const Subscription & subscription)
{
  const auto is_matched = [&] {
      return publisher->get_subscription_count() > 0 && subscription->get_publisher_count() > 0;
    };
  if (!wait_for(is_matched)) {
    throw std::runtime_error("the two processes don't find each other");
  }
}

/// Answers whole messages with the time at which they were read, others with themselves.
void serve(Line & line, int core, bool whole)
{
  pin_to(core);
  Party party;
  const auto node = party.node("pong");
  const auto play = [&](const auto & pongs, auto answer) {
      const auto pings = node->create_subscription<Bytes>("ping", DEPTH, answer);
      await_match(pongs, pings);
      party.start();
      answer_until_the_end(party, line);
    };
  if (whole) {
    const auto pongs = node->create_publisher<Timing>("pong", DEPTH);
    play(
      pongs, [pongs](std::unique_ptr<Bytes> ping) {
        const std::int64_t number = number_of(*ping);
        Timing pong;
        write(pong, now_ns(), number);
        pongs->publish(pong);
      });
  } else {
    const auto pongs = node->create_publisher<Bytes>("pong", DEPTH);
    play(pongs, [pongs](std::unique_ptr<Bytes> ping) {pongs->publish(std::move(ping));});
  }
}

/// The side that begins. `answered` calls the rally with an answer of the type `Answer`.
template<class Answer, class Answered>
Figures begin(const Case & work, Line & other, bool whole, Answered answered)
{
  Party party;
  const auto node = party.node("ping");
  const auto pings = node->create_publisher<Bytes>("ping", DEPTH);
  Bytes message;
  message.data.resize(static_cast<std::size_t>(work.number("size")));
  Rally rally(
    work, whole ? 1 : 2, [&](std::int64_t number) {
      if (whole) {
        fill(message, number);
      } else {
        set_word(message, 0, number);
      }
      pings->publish(message);
    });
  const auto pongs = node->create_subscription<Answer>(
    "pong", DEPTH, [&](std::unique_ptr<Answer> answer) {answered(rally, *answer);});
  await_match(pings, pongs);
  other.expect();
  return rally.play(party, *node, other);
}

}  // namespace

Figures pingpong(const Case & work)
{
  const bool whole = work.text("mode") == "whole";
  const Cores cores = two_cores();
  Child other([&](Line & line) {serve(line, cores.second, whole);});
  pin_to(cores.first);
  if (whole) {
    return begin<Timing>(
      work, other.line(), whole, [](Rally & rally, const Timing & answer) {
        const auto [end, number] = read(answer);
        rally.answered(number, end);
      });
  }
  return begin<Bytes>(
    work, other.line(), whole, [](Rally & rally, const Bytes & answer) {
      rally.answered(word_of(answer, 0), now_ns());
    });
}
