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

/// What generated code calls plain as well, though `count` has another place when it is encoded: 9.
struct Gap {
  struct Detection {
    float x = 0;
    float y = 0;
    std::uint8_t label = 0;
  };
  Detection best;
  std::uint8_t count = 0;
  double stamp = 0;
};

/// The same place for each number, in types within types.
struct Track {
  struct Point {
    double x = 0;
    std::uint32_t id = 0;
    std::array<std::uint16_t, 2> sizes{};
  };
  std::array<Point, 2> points;
  std::uint8_t count = 0;
  std::int32_t state = 0;
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

/// The same type as far as anyone knows, with requests that are cut off.
const rosidl_service_type_support_t * broken_add_type();
