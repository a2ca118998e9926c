// A few types of messages, and one of services, as generated code describes them.
#pragma once

#include <rosidl_runtime_c/message_type_support_struct.h>
#include <rosidl_runtime_c/service_type_support_struct.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

/// 64 bytes.
struct Fixed {
  std::uint64_t number = 0;
  std::array<double, 7> values{};
};

/// Plain, but not every byte is a boolean.
struct Flags {
  std::array<bool, 8> values{};
};

/// std_msgs/msg/String, with its hash and description.
struct Text {
  std::string data;
};

struct Image {
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::vector<std::uint8_t> data;
};

struct AddRequest {
  std::int64_t a = 0;
  std::int64_t b = 0;
};

struct AddResponse {
  std::int64_t sum = 0;
};

template <class Message>
const rosidl_message_type_support_t * type_of();

/// AddRequest and AddResponse.
const rosidl_service_type_support_t * add_type();
