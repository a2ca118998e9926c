/// Publishers of a type that is known when the program runs.
#ifndef SINEW_GENERIC_PUBLISHER_HPP
#define SINEW_GENERIC_PUBLISHER_HPP

#include <memory>
#include <string>
#include <utility>

#include "sinew/error.hpp"
#include "sinew/publisher.hpp"
#include "sinew/publisher_options.hpp"
#include "sinew/qos.hpp"
#include "sinew/serialized_message.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// Sends encoded messages of a type that the program names. Subscriptions with the same type get
/// them, in this and in other processes. Nodes make them: `Node::create_generic_publisher`.
class GenericPublisher : public PublisherBase
{
public:
  using SharedPtr = std::shared_ptr<GenericPublisher>;
  using WeakPtr = std::weak_ptr<GenericPublisher>;

  static Result<SharedPtr> try_make(
    const std::shared_ptr<sinew_node> & node, const std::string & topic,
    const sinew_message_type * type, const QoS & qos, const PublisherOptions & options = {})
  {
    auto parts = try_parts(node, topic, type, qos, options);
    if (!parts) {
      return parts.error();
    }
    return SharedPtr(new GenericPublisher(*std::move(parts)));
  }

  /// For rclcpp's users: as `publish`, which writes to where subscriptions read.
  void publish_as_loaned_msg(const SerializedMessage & message) {publish(message);}

private:
  explicit GenericPublisher(Parts parts) noexcept
  : PublisherBase(std::move(parts)) {}
};

}  // namespace sinew

#endif  // SINEW_GENERIC_PUBLISHER_HPP
