// The messages of all scenarios.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "sensor_msgs/msg/image.hpp"
#include "unique_identifier_msgs/msg/uuid.hpp"

/// 16 bytes: when the message was made, in nanoseconds, and its number, from 1.
using Timing = unique_identifier_msgs::msg::UUID;

/// Bytes of any length are the data of an image; its other fields are empty.
using Bytes = sensor_msgs::msg::Image;

inline void write(Timing & timing, std::int64_t stamp, std::int64_t number)
{
  std::memcpy(timing.uuid.data(), &stamp, sizeof stamp);
  std::memcpy(timing.uuid.data() + sizeof stamp, &number, sizeof number);
}

inline std::pair<std::int64_t, std::int64_t> read(const Timing & timing)
{
  std::pair<std::int64_t, std::int64_t> content;
  std::memcpy(&content.first, timing.uuid.data(), sizeof content.first);
  std::memcpy(&content.second, timing.uuid.data() + sizeof content.first, sizeof content.second);
  return content;
}

constexpr std::size_t WORD = sizeof(std::int64_t);

inline std::int64_t word_of(const Bytes & bytes, std::size_t index)
{
  std::int64_t word = 0;
  if ((index + 1) * WORD <= bytes.data.size()) {
    std::memcpy(&word, bytes.data.data() + index * WORD, WORD);
  }
  return word;
}

inline void set_word(Bytes & bytes, std::size_t index, std::int64_t word)
{
  std::memcpy(bytes.data.data() + index * WORD, &word, WORD);
}

/// Writes message `number` whole: every word holds it.
inline void fill(Bytes & bytes, std::int64_t number)
{
  for (std::size_t index = 0; index < bytes.data.size() / WORD; ++index) {
    set_word(bytes, index, number);
  }
}

/// Reads a message whole, and returns its number, or 0 if any word differs.
inline std::int64_t number_of(const Bytes & bytes)
{
  const std::int64_t number = word_of(bytes, 0);
  std::int64_t differences = 0;
  for (std::size_t index = 0; index < bytes.data.size() / WORD; ++index) {
    std::int64_t word;
    std::memcpy(&word, bytes.data.data() + index * WORD, WORD);
    differences |= word ^ number;
  }
  return differences == 0 ? number : 0;
}
