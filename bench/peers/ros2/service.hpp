// The service of all scenarios: 16 bytes to the server, 8 bytes back.
#pragma once

#include <cstdint>
#include <memory>

#include "example_interfaces/srv/add_two_ints.hpp"

using Add = example_interfaces::srv::AddTwoInts;

/// A request with this number. Its response has the same.
inline std::shared_ptr<Add::Request> request_of(std::int64_t number)
{
  auto request = std::make_shared<Add::Request>();
  request->a = number;
  return request;
}
