/// Managed nodes: their state decides which resources they have, and whether they work.
///
///     class Talker : public sinew::LifecycleNode
///     {
///     public:
///       Talker() : LifecycleNode("talker") {}
///
///       CallbackReturn on_configure(const sinew::lifecycle::State &) override
///       {
///         chatter_ = create_publisher<std_msgs::msg::String>("chatter", 10);
///         return CallbackReturn::SUCCESS;
///       }
///
///     private:
///       sinew::lifecycle::LifecyclePublisher<std_msgs::msg::String>::SharedPtr chatter_;
///     };
#ifndef SINEW_LIFECYCLE_NODE_HPP
#define SINEW_LIFECYCLE_NODE_HPP

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sinew/detail/callback.hpp"
#include "sinew/lifecycle_publisher.hpp"
#include "sinew/lifecycle_state.hpp"
#include "sinew/node.hpp"

namespace sinew::lifecycle
{

namespace node_interfaces
{

/// The callbacks of a managed node. `previous_state` is the one in which the transition began.
///
/// A callback runs on the thread that makes the transition, for a request of the service that of an
/// executor; one of a node at a time. An exception is an error, with its sentence.
class LifecycleNodeInterface
{
public:
  enum class CallbackReturn : std::uint8_t
  {
    SUCCESS = SINEW_CALLBACK_SUCCESS,
    /// The transition is not possible now: the node returns to its state.
    FAILURE = SINEW_CALLBACK_FAILURE,
    /// The transition failed: `on_error` is called.
    ERROR = SINEW_CALLBACK_ERROR,
  };

  /// Makes the node's resources.
  virtual CallbackReturn on_configure(const State &) {return CallbackReturn::SUCCESS;}
  /// Releases them.
  virtual CallbackReturn on_cleanup(const State &) {return CallbackReturn::SUCCESS;}
  /// Ends the node.
  virtual CallbackReturn on_shutdown(const State &) {return CallbackReturn::SUCCESS;}
  /// Starts work.
  virtual CallbackReturn on_activate(const State &) {return CallbackReturn::SUCCESS;}
  /// Stops work.
  virtual CallbackReturn on_deactivate(const State &) {return CallbackReturn::SUCCESS;}
  /// Follows an error: after `SUCCESS` the node is unconfigured, otherwise finalized.
  virtual CallbackReturn on_error(const State &) {return CallbackReturn::FAILURE;}

  virtual ~LifecycleNodeInterface() = default;

protected:
  LifecycleNodeInterface() = default;
  LifecycleNodeInterface(const LifecycleNodeInterface &) = default;
  LifecycleNodeInterface & operator=(const LifecycleNodeInterface &) = default;
};

}  // namespace node_interfaces

/// A managed node, as a base class. Others see and change its state by ROS 2's services, with
/// `ros2 lifecycle` or `sinew lifecycle`. Its publishers drop their messages while it is not
/// active.
///
/// The destructor waits for a transition that another thread makes for a request, which then calls
/// the callbacks of this class only.
class LifecycleNode : public Node, public node_interfaces::LifecycleNodeInterface
{
public:
  using SharedPtr = std::shared_ptr<LifecycleNode>;
  using ConstSharedPtr = std::shared_ptr<const LifecycleNode>;
  using WeakPtr = std::weak_ptr<LifecycleNode>;
  using UniquePtr = std::unique_ptr<LifecycleNode>;
  using Callback = std::function<CallbackReturn(const State &)>;

  explicit LifecycleNode(
    const std::string & node_name, const NodeOptions & options = NodeOptions())
  : LifecycleNode(node_name, "", options) {}
  LifecycleNode(
    const std::string & node_name, const std::string & node_namespace,
    const NodeOptions & options = NodeOptions())
  : Node(node_name, node_namespace, options) {manage().value();}

  ~LifecycleNode() override
  {
    if (lifecycle_) {
      (void)sinew_lifecycle_node_close(lifecycle_.get());
    }
  }

  template<class ... Arguments>
  static SharedPtr make_shared(Arguments && ... arguments)
  {
    return std::make_shared<LifecycleNode>(std::forward<Arguments>(arguments)...);
  }

  /// Makes a managed node, or returns why it can't.
  static Result<SharedPtr> try_make(
    const std::string & node_name, const std::string & node_namespace = "",
    const NodeOptions & options = NodeOptions())
  {
    auto parts = try_parts(node_name, node_namespace, options);
    if (!parts) {
      return parts.error();
    }
    SharedPtr node(new LifecycleNode(*std::move(parts)));
    if (const auto managed = node->manage(); !managed) {
      return managed.error();
    }
    return node;
  }

  /// Makes a publisher that is activated and deactivated with the node.
  template<class T>
  typename LifecyclePublisher<T>::SharedPtr create_publisher(
    const std::string & topic, const QoS & qos, const PublisherOptions & options = {})
  {
    return try_create_publisher<T>(topic, qos, options).value();
  }
  template<class T>
  Result<typename LifecyclePublisher<T>::SharedPtr> try_create_publisher(
    const std::string & topic, const QoS & qos, const PublisherOptions & options = {})
  {
    auto made = LifecyclePublisher<T>::try_make(shared_handle(), topic, qos, options);
    if (made) {
      add_managed_entity(*made);
    }
    return made;
  }

  /// Adds something that the node activates and deactivates, as long as it exists.
  void add_managed_entity(std::weak_ptr<ManagedEntityInterface> entity)
  {
    const std::lock_guard lock(entities_mutex_);
    entities_.push_back(std::move(entity));
  }

  State get_current_state() const {return State::of(sinew_lifecycle_node_state(lifecycle_.get()));}

  /// All states that a node may be in, and the transitions out of the current one, and all.
  std::vector<State> get_available_states() const
  {
    std::vector<State> states;
    for (const sinew_lifecycle_state id : {0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15}) {
      states.push_back(State::of(id));
    }
    return states;
  }
  std::vector<Transition> get_available_transitions() const
  {
    return transitions_from(sinew_lifecycle_node_state(lifecycle_.get()));
  }
  std::vector<Transition> get_transition_graph() const {return transitions_from(0);}

  /// Makes a transition on the calling thread, with its callbacks. Returns the state that it has
  /// led to, which after a failure is the former one or that of the error. `callback_return` is
  /// what the transition's callback returned, `ERROR` if the transition can't begin now.
  State trigger_transition(std::uint8_t transition_id)
  {
    CallbackReturn ignored = CallbackReturn::SUCCESS;
    return trigger_transition(transition_id, ignored);
  }
  State trigger_transition(std::uint8_t transition_id, CallbackReturn & callback_return)
  {
    const auto changed = try_trigger_transition(transition_id);
    callback_return = changed ? CallbackReturn::SUCCESS : CallbackReturn::ERROR;
    if (!changed && changed.error().code() == SINEW_ERROR_TRANSITION_FAILED) {
      callback_return = returned_.load();
    }
    return changed ? *changed : get_current_state();
  }
  State trigger_transition(const Transition & transition)
  {
    return trigger_transition(id_of(transition));
  }
  State trigger_transition(const Transition & transition, CallbackReturn & callback_return)
  {
    return trigger_transition(id_of(transition), callback_return);
  }

  /// As `trigger_transition`, but a transition that didn't succeed is an error, which says why.
  Result<State> try_trigger_transition(std::uint8_t transition_id)
  {
    sinew_lifecycle_state reached = 0;
    const auto status = sinew_lifecycle_node_change(lifecycle_.get(), transition_id, &reached);
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return State::of(reached);
  }

  State configure() {return trigger_transition(SINEW_TRANSITION_CONFIGURE);}
  State configure(CallbackReturn & returned)
  {
    return trigger_transition(SINEW_TRANSITION_CONFIGURE, returned);
  }
  State cleanup() {return trigger_transition(SINEW_TRANSITION_CLEANUP);}
  State cleanup(CallbackReturn & returned)
  {
    return trigger_transition(SINEW_TRANSITION_CLEANUP, returned);
  }
  State activate() {return trigger_transition(SINEW_TRANSITION_ACTIVATE);}
  State activate(CallbackReturn & returned)
  {
    return trigger_transition(SINEW_TRANSITION_ACTIVATE, returned);
  }
  State deactivate() {return trigger_transition(SINEW_TRANSITION_DEACTIVATE);}
  State deactivate(CallbackReturn & returned)
  {
    return trigger_transition(SINEW_TRANSITION_DEACTIVATE, returned);
  }
  State shutdown() {return trigger_transition(SINEW_TRANSITION_SHUTDOWN);}
  State shutdown(CallbackReturn & returned)
  {
    return trigger_transition(SINEW_TRANSITION_SHUTDOWN, returned);
  }

  /// Replaces the callback of a transition. To be called while no transition is going on. Returns
  /// `true`.
  bool register_on_configure(Callback callback) {return replace(CONFIGURE, std::move(callback));}
  bool register_on_cleanup(Callback callback) {return replace(CLEANUP, std::move(callback));}
  bool register_on_shutdown(Callback callback) {return replace(SHUTDOWN, std::move(callback));}
  bool register_on_activate(Callback callback) {return replace(ACTIVATE, std::move(callback));}
  bool register_on_deactivate(Callback callback) {return replace(DEACTIVATE, std::move(callback));}
  bool register_on_error(Callback callback) {return replace(ERRORS, std::move(callback));}

  /// Activates and deactivates the publishers and other managed entities.
  CallbackReturn on_activate(const State &) override
  {
    for (const auto & entity : entities()) {
      entity->on_activate();
    }
    return CallbackReturn::SUCCESS;
  }
  CallbackReturn on_deactivate(const State &) override
  {
    for (const auto & entity : entities()) {
      entity->on_deactivate();
    }
    return CallbackReturn::SUCCESS;
  }

private:
  enum Which : std::size_t {CONFIGURE, CLEANUP, SHUTDOWN, ACTIVATE, DEACTIVATE, ERRORS, COUNT};

  explicit LifecycleNode(Parts parts) noexcept
  : Node(std::move(parts)) {}

  Result<void> manage()
  {
    auto callbacks = detail::options<sinew_lifecycle_callbacks>();
    callbacks.on_configure = call<CONFIGURE>;
    callbacks.on_cleanup = call<CLEANUP>;
    callbacks.on_shutdown = call<SHUTDOWN>;
    callbacks.on_activate = call<ACTIVATE>;
    callbacks.on_deactivate = call<DEACTIVATE>;
    callbacks.on_error = call<ERRORS>;
    return detail::result(
      sinew_lifecycle_node_new(handle(), &callbacks, this, nullptr, detail::Out(lifecycle_)));
  }

  template<Which which>
  static sinew_status call(void * context, sinew_lifecycle_state previous) noexcept
  {
    auto & self = *static_cast<LifecycleNode *>(context);
    CallbackReturn returned = CallbackReturn::ERROR;
    const auto status = detail::guarded([&] {returned = self.call(which, State::of(previous));});
    if constexpr (which != ERRORS) {
      self.returned_ = returned;
    }
    return status == SINEW_OK ? static_cast<sinew_status>(returned) : status;
  }

  CallbackReturn call(Which which, const State & previous)
  {
    if (callbacks_[which]) {
      return callbacks_[which](previous);
    }
    switch (which) {
      case CONFIGURE:
        return on_configure(previous);
      case CLEANUP:
        return on_cleanup(previous);
      case SHUTDOWN:
        return on_shutdown(previous);
      case ACTIVATE:
        return on_activate(previous);
      case DEACTIVATE:
        return on_deactivate(previous);
      default:
        return on_error(previous);
    }
  }

  bool replace(Which which, Callback callback)
  {
    callbacks_[which] = std::move(callback);
    return true;
  }

  /// Returns the entities that exist, and forgets the others.
  std::vector<std::shared_ptr<ManagedEntityInterface>> entities()
  {
    std::vector<std::shared_ptr<ManagedEntityInterface>> living;
    const std::lock_guard lock(entities_mutex_);
    for (std::size_t i = 0; i < entities_.size(); ) {
      if (auto entity = entities_[i].lock()) {
        living.push_back(std::move(entity));
        ++i;
      } else {
        entities_.erase(entities_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    return living;
  }

  /// Returns the number of a transition, by its label if it has no number.
  std::uint8_t id_of(const Transition & transition) const
  {
    if (transition.id() == 0) {
      for (const Transition & known : get_available_transitions()) {
        if (known.label() == transition.label()) {
          return known.id();
        }
      }
    }
    return transition.id();
  }

  std::mutex entities_mutex_;
  std::vector<std::weak_ptr<ManagedEntityInterface>> entities_;
  std::array<Callback, COUNT> callbacks_;
  /// What the callback of the last transition returned.
  std::atomic<CallbackReturn> returned_{CallbackReturn::SUCCESS};
  /// The last field: no callback runs once it is gone.
  detail::Handle<sinew_lifecycle_node, sinew_lifecycle_node_free> lifecycle_;
};

}  // namespace sinew::lifecycle

namespace sinew
{

using lifecycle::LifecycleNode;

}  // namespace sinew

#endif  // SINEW_LIFECYCLE_NODE_HPP
