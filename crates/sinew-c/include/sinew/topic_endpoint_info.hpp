/// Publishers and subscriptions as the graph shows them.
#ifndef SINEW_TOPIC_ENDPOINT_INFO_HPP
#define SINEW_TOPIC_ENDPOINT_INFO_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "sinew/qos.hpp"
#include "sinew/sinew.h"

namespace sinew
{

enum class EndpointType
{
  Invalid = SINEW_ENDPOINT_ANY,
  Publisher = SINEW_ENDPOINT_PUBLISHER,
  Subscription = SINEW_ENDPOINT_SUBSCRIPTION,
};

/// A publisher or a subscription of any node.
class TopicEndpointInfo
{
public:
  explicit TopicEndpointInfo(const sinew_endpoint_info & info)
  : type_(static_cast<EndpointType>(info.kind)), topic_type_(info.type_name ? info.type_name : ""),
    topic_type_hash_(info.type_hash ? info.type_hash : ""), qos_(10)
  {
    const std::string full_name = info.node_name ? info.node_name : "";
    const auto end = full_name.rfind('/');
    node_name_ = full_name.substr(end == std::string::npos ? 0 : end + 1);
    node_namespace_ = end == std::string::npos || end == 0 ? "/" : full_name.substr(0, end);
    std::copy_n(info.gid.bytes, gid_.size(), gid_.begin());
    if (info.qos != nullptr) {
      qos_.get_rmw_qos_profile() = *info.qos;
    }
  }

  const std::string & node_name() const noexcept {return node_name_;}
  const std::string & node_namespace() const noexcept {return node_namespace_;}

  /// The name of the type: `std_msgs/msg/String`.
  const std::string & topic_type() const noexcept {return topic_type_;}
  /// The hash of the type, `RIHS01_..`; empty if it is unknown.
  const std::string & topic_type_hash() const noexcept {return topic_type_hash_;}

  EndpointType endpoint_type() const noexcept {return type_;}
  const std::array<std::uint8_t, 16> & endpoint_gid() const noexcept {return gid_;}
  const QoS & qos_profile() const noexcept {return qos_;}

private:
  EndpointType type_;
  std::string node_name_;
  std::string node_namespace_;
  std::string topic_type_;
  std::string topic_type_hash_;
  std::array<std::uint8_t, 16> gid_{};
  QoS qos_;
};

}  // namespace sinew

#endif  // SINEW_TOPIC_ENDPOINT_INFO_HPP
