/// Publishers that rest while their node is inactive.
#ifndef SINEW_LIFECYCLE_PUBLISHER_HPP
#define SINEW_LIFECYCLE_PUBLISHER_HPP

#include <atomic>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "sinew/detail/log_line.hpp"
#include "sinew/publisher.hpp"

namespace sinew::lifecycle
{

/// Something of a managed node that is activated and deactivated with it.
class ManagedEntityInterface
{
public:
  virtual ~ManagedEntityInterface() = default;
  virtual void on_activate() = 0;
  virtual void on_deactivate() = 0;

protected:
  ManagedEntityInterface() = default;
  ManagedEntityInterface(const ManagedEntityInterface &) = default;
  ManagedEntityInterface & operator=(const ManagedEntityInterface &) = default;
};

/// An entity with a switch, which is off at first. Any thread may call any function.
class SimpleManagedEntity : public ManagedEntityInterface
{
public:
  // Relaxed: nothing is published by the switch; a message beside it may go either way.
  void on_activate() override {activated_.store(true, std::memory_order_relaxed);}
  void on_deactivate() override {activated_.store(false, std::memory_order_relaxed);}
  bool is_activated() const noexcept {return activated_.load(std::memory_order_relaxed);}

private:
  std::atomic<bool> activated_{false};
};

/// A publisher that drops its messages until it is activated, and after it is deactivated. Its node
/// does both in `LifecycleNode::on_activate` and `on_deactivate`, which an override calls, or it
/// calls those of the publisher. The first message that is dropped after each deactivation is
/// logged.
template<class T>
class LifecyclePublisher : public SimpleManagedEntity, public Publisher<T>
{
public:
  using SharedPtr = std::shared_ptr<LifecyclePublisher>;
  using ConstSharedPtr = std::shared_ptr<const LifecyclePublisher>;
  using WeakPtr = std::weak_ptr<LifecyclePublisher>;
  using UniquePtr = std::unique_ptr<LifecyclePublisher>;

  static Result<SharedPtr> try_make(
    const std::shared_ptr<sinew_node> & node, const std::string & topic, const QoS & qos,
    const PublisherOptions & options = {})
  {
    const auto type = detail::try_message_type<T>();
    if (!type) {
      return type.error();
    }
    auto parts = PublisherBase::try_parts(node, topic, *type, qos, options);
    if (!parts) {
      return parts.error();
    }
    return SharedPtr(new LifecyclePublisher(*std::move(parts), node));
  }

  void on_deactivate() override
  {
    SimpleManagedEntity::on_deactivate();
    is_logged_.store(false, std::memory_order_relaxed);
  }

private:
  LifecyclePublisher(PublisherBase::Parts parts, std::shared_ptr<sinew_node> node) noexcept
  : Publisher<T>(std::move(parts)), node_(std::move(node)) {}

  bool admits() override
  {
    const bool activated = this->is_activated();
    if (!activated && !is_logged_.exchange(true, std::memory_order_relaxed)) {
      log_drop();
    }
    return activated;
  }

  void log_drop() const
  {
    const std::string sentence = std::string("messages to ") + this->get_topic_name() +
      " are dropped: the publisher is not activated";
    detail::log_line(node_.get(), SINEW_LOG_LEVEL_WARN, sentence.c_str());
  }

  std::shared_ptr<sinew_node> node_;
  /// Whether a dropped message was logged since the last deactivation.
  std::atomic<bool> is_logged_{false};
};

}  // namespace sinew::lifecycle

#endif  // SINEW_LIFECYCLE_PUBLISHER_HPP
