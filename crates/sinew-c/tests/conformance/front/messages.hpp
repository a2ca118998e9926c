// The messages of the scenarios in C++, with what the generator writes for a definition.
#ifndef MESSAGES_HPP
#define MESSAGES_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "sinew/message.hpp"

namespace test_msgs
{

struct Number
{
  std::uint64_t data = 0;

  Number() = default;
  explicit Number(sinew::MessageInitialization) {}
  explicit Number(std::uint64_t number)
  : data(number) {}
};

struct Text
{
  std::string data;

  Text() = default;
  explicit Text(sinew::MessageInitialization) {}
};

struct Numbers
{
  using Request = Number;
  using Response = Number;
};

}  // namespace test_msgs

template<>
struct sinew::MessageTraits<test_msgs::Number>: sinew::MessageCodec<test_msgs::Number>
{
  static constexpr std::string_view name = "test_msgs/msg/Number";
  static constexpr std::string_view hash_text =
    "RIHS01_0808080808080808080808080808080808080808080808080808080808080808";
  static constexpr TypeHash hash = type_hash(hash_text);
  static constexpr std::string_view description{};
  static constexpr std::size_t alignment = 8;
  static constexpr std::size_t least = 8;
  static constexpr bool is_plain = true;

  template<class Message, class Visitor>
  static bool visit(Message & message, Visitor & visitor)
  {
    return visitor.field("data", message.data);
  }
};

template<>
struct sinew::MessageTraits<test_msgs::Text>: sinew::MessageCodec<test_msgs::Text>
{
  static constexpr std::string_view name = "test_msgs/msg/Text";
  static constexpr std::string_view hash_text =
    "RIHS01_0909090909090909090909090909090909090909090909090909090909090909";
  static constexpr TypeHash hash = type_hash(hash_text);
  static constexpr std::string_view description{};
  static constexpr std::size_t alignment = 4;
  static constexpr std::size_t least = 4;
  static constexpr bool is_plain = false;

  template<class Message, class Visitor>
  static bool visit(Message & message, Visitor & visitor)
  {
    return visitor.field("data", message.data);
  }
};

template<>
struct sinew::ServiceTraits<test_msgs::Numbers>
{
  static constexpr std::string_view name = "test_msgs/srv/Numbers";
  static constexpr std::string_view hash_text =
    "RIHS01_0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a";
};

/// From bytes to messages, and back.
namespace
{

template<class T>
T message_of(const std::uint8_t * bytes, std::size_t length);

template<>
test_msgs::Number message_of<test_msgs::Number>(const std::uint8_t * bytes, std::size_t)
{
  test_msgs::Number number;
  std::memcpy(&number.data, bytes, sizeof number.data);
  return number;
}

template<>
test_msgs::Text message_of<test_msgs::Text>(const std::uint8_t * bytes, std::size_t length)
{
  test_msgs::Text text;
  text.data.assign(reinterpret_cast<const char *>(bytes), length);
  return text;
}

template<class Receive>
auto hand_over(const Receive & receive, const test_msgs::Number & number)
{
  return receive(reinterpret_cast<const std::uint8_t *>(&number.data), sizeof number.data);
}

template<class Receive>
auto hand_over(const Receive & receive, const test_msgs::Text & text)
{
  return receive(reinterpret_cast<const std::uint8_t *>(text.data.data()), text.data.size());
}

}  // namespace

#endif  // MESSAGES_HPP
