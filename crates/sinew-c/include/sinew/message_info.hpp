/// What is known about a message that was received.
#ifndef SINEW_MESSAGE_INFO_HPP
#define SINEW_MESSAGE_INFO_HPP

#include <array>
#include <cstdint>
#include <cstring>

#include "sinew/duration.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// The identity of an endpoint, unique among all participants.
using Gid = std::array<std::uint8_t, sizeof(sinew_gid)>;

namespace detail
{

inline Gid gid(const sinew_gid & from) noexcept
{
  Gid gid;
  std::memcpy(gid.data(), from.bytes, gid.size());
  return gid;
}

}  // namespace detail

/// What ROS 2's `rmw_message_info_t` says about a message.
struct RmwMessageInfo
{
  /// Wall time of its publication, in nanoseconds since 1970.
  std::int64_t source_timestamp;
  /// Wall time at which it was taken from the subscription's buffer, in nanoseconds since 1970.
  std::int64_t received_timestamp;
  /// Its number among its publisher's messages, from 1.
  std::uint64_t publication_sequence_number;
  /// Its number among those that reached this subscription's buffer, from 1.
  std::uint64_t reception_sequence_number;
  struct
  {
    std::uint8_t data[sizeof(sinew_gid)];
  } publisher_gid;
  /// Whether it never left the process.
  bool from_intra_process;
};

/// The transport that brought a message to its subscription.
enum class Transport
{
  /// Inside the process.
  Intra = SINEW_TRANSPORT_INTRA,
  /// Between processes of one host, through shared memory.
  SharedMemory = SINEW_TRANSPORT_SHM,
  /// From another host, through a gateway.
  Network = SINEW_TRANSPORT_NETWORK,
};

/// What is known about a message that was received: a second argument of callbacks that ask for it.
class MessageInfo
{
public:
  MessageInfo() noexcept {info_.size = sizeof info_;}
  explicit MessageInfo(const sinew_message_info & info) noexcept
  : info_(info) {}

  RmwMessageInfo get_rmw_message_info() const noexcept
  {
    RmwMessageInfo info{
      info_.source_time, info_.reception_time, info_.publication_sequence, info_.reception_sequence,
      {}, info_.transport == SINEW_TRANSPORT_INTRA};
    std::memcpy(info.publisher_gid.data, info_.publisher.bytes, sizeof info.publisher_gid.data);
    return info;
  }

  /// The number of the message among its publisher's, from 1. Gaps are messages that this
  /// subscription never got, or lost to newer ones.
  std::uint64_t publication_sequence() const noexcept {return info_.publication_sequence;}
  std::uint64_t reception_sequence() const noexcept {return info_.reception_sequence;}

  /// The time from publication to reception; for a message from another host, from its arrival at
  /// this one.
  Duration latency() const noexcept {return Duration::from_nanoseconds(info_.latency);}

  /// The time from the publication of the first message of the chain that led to this one: a
  /// message that a callback publishes continues the chain of the callback's message.
  Duration chain_latency() const noexcept {return Duration::from_nanoseconds(info_.chain_latency);}

  Gid publisher() const noexcept {return detail::gid(info_.publisher);}
  Transport transport() const noexcept {return static_cast<Transport>(info_.transport);}

  /// The structure of the C interface.
  sinew_message_info & get() noexcept {return info_;}
  const sinew_message_info & get() const noexcept {return info_;}

private:
  sinew_message_info info_{};
};

}  // namespace sinew

#endif  // SINEW_MESSAGE_INFO_HPP
