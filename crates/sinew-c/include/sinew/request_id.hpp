/// The identity of a request.
#ifndef SINEW_REQUEST_ID_HPP
#define SINEW_REQUEST_ID_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>

#include "sinew/sinew.h"

namespace sinew
{

/// Identifies a request at its server: the client, and the request's number at this client, from 1.
struct RequestId
{
  /// The client's gid.
  std::array<std::uint8_t, 16> writer_guid{};
  std::int64_t sequence_number = 0;

  RequestId() = default;
  explicit RequestId(const sinew_request_key & key)
  : sequence_number(static_cast<std::int64_t>(key.sequence))
  {
    static_assert(sizeof(key.client.bytes) == sizeof(writer_guid), "a gid has 16 bytes");
    std::copy_n(key.client.bytes, writer_guid.size(), writer_guid.begin());
  }

  friend bool operator==(const RequestId & one, const RequestId & other)
  {
    return one.sequence_number == other.sequence_number && one.writer_guid == other.writer_guid;
  }
  friend bool operator!=(const RequestId & one, const RequestId & other) {return !(one == other);}
  friend bool operator<(const RequestId & one, const RequestId & other)
  {
    return std::tie(one.writer_guid, one.sequence_number) <
           std::tie(other.writer_guid, other.sequence_number);
  }
};

}  // namespace sinew

#endif  // SINEW_REQUEST_ID_HPP
