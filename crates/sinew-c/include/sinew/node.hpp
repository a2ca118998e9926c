/// Nodes.
#ifndef SINEW_NODE_HPP
#define SINEW_NODE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinew/callback_group.hpp"
#include "sinew/client.hpp"
#include "sinew/clock.hpp"
#include "sinew/context.hpp"
#include "sinew/descriptor_source.hpp"
#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/detail/node_arguments.hpp"
#include "sinew/detail/node_groups.hpp"
#include "sinew/detail/parameter_list.hpp"
#include "sinew/detail/sub_namespace.hpp"
#include "sinew/error.hpp"
#include "sinew/guard_condition.hpp"
#include "sinew/logger.hpp"
#include "sinew/node_generic.hpp"
#include "sinew/node_graph.hpp"
#include "sinew/node_options.hpp"
#include "sinew/node_parameter_callbacks.hpp"
#include "sinew/node_parameter_declarations.hpp"
#include "sinew/node_parameters.hpp"
#include "sinew/publisher.hpp"
#include "sinew/qos.hpp"
#include "sinew/service.hpp"
#include "sinew/sinew.h"
#include "sinew/subscription.hpp"
#include "sinew/task.hpp"
#include "sinew/time.hpp"
#include "sinew/timer.hpp"

namespace sinew
{

/// A node: a name under which publishers, subscriptions, services, timers and parameters are made.
/// A program uses it as it is, or as a base class.
///
/// What a node makes keeps the node's name alive, not the object: destroy in any order.
class Node : public std::enable_shared_from_this<Node>,
  public NodeGeneric<Node>,
  public NodeGraph<Node>,
  public NodeParameterCallbacks<Node>,
  public NodeParameterDeclarations<Node>,
  public NodeParameters<Node>
{
public:
  using SharedPtr = std::shared_ptr<Node>;
  using ConstSharedPtr = std::shared_ptr<const Node>;
  using WeakPtr = std::weak_ptr<Node>;
  using UniquePtr = std::unique_ptr<Node>;

  /// Makes a node, in the namespace `/` or that of the command line.
  explicit Node(const std::string & name, const NodeOptions & options = NodeOptions())
  : Node(name, "", options) {}

  /// Makes a node in a namespace; its first slash may be left out.
  Node(
    const std::string & name, const std::string & node_namespace,
    const NodeOptions & options = NodeOptions())
  : Node(try_parts(name, node_namespace, options).value()) {}

  virtual ~Node() = default;
  Node(const Node &) = delete;
  Node & operator=(const Node &) = delete;

  template<class ... Arguments>
  static SharedPtr make_shared(Arguments && ... arguments)
  {
    return std::make_shared<Node>(std::forward<Arguments>(arguments)...);
  }

  /// Makes a node, or returns why it can't.
  static Result<SharedPtr> try_make(
    const std::string & name, const std::string & node_namespace = "",
    const NodeOptions & options = NodeOptions())
  {
    auto parts = try_parts(name, node_namespace, options);
    if (!parts) {
      return parts.error();
    }
    return SharedPtr(new Node(*std::move(parts)));
  }

  const char * get_name() const noexcept {return sinew_node_name(handle());}
  const char * get_namespace() const noexcept {return sinew_node_namespace(handle());}
  const char * get_fully_qualified_name() const noexcept {return sinew_node_full_name(handle());}

  /// Makes a sub-node: the same node, but relative names of topics and services lie in a namespace
  /// of it. `node->create_sub_node("left")->create_publisher<..>("image", ..)` is on the topic
  /// `left/image` of the node. Sub-nodes can have sub-nodes. What a sub-node makes doesn't need it.
  /// Parameters, graph and executors are those of the node: it is the node that an executor gets.
  SharedPtr create_sub_node(const std::string & sub_namespace)
  {
    return try_create_sub_node(sub_namespace).value();
  }
  Result<SharedPtr> try_create_sub_node(const std::string & sub_namespace)
  {
    if (const auto checked = detail::try_check_sub_namespace(sub_namespace); !checked) {
      return checked.error();
    }
    auto parts = parts_;
    parts.sub_namespace = detail::joined(get_sub_namespace(), sub_namespace);
    return SharedPtr(new Node(std::move(parts)));
  }

  /// Returns the namespace of a sub-node beneath its node's; of other nodes, an empty text.
  const std::string & get_sub_namespace() const noexcept {return parts_.sub_namespace;}

  /// Returns the namespace of relative names: that of the node, and of the sub-node.
  std::string get_effective_namespace() const
  {
    return get_sub_namespace().empty() ?
           get_namespace() : detail::joined(get_namespace(), get_sub_namespace());
  }

  /// Returns a topic's or service's name, with a sub-node's namespace before a relative one.
  std::string extended_name(const std::string & name) const
  {
    return detail::extended(get_sub_namespace(), name);
  }

  const NodeOptions & get_node_options() const noexcept {return parts_.options;}
  const Context::SharedPtr & get_context() const noexcept {return parts_.context;}

  CallbackGroup::SharedPtr create_callback_group(CallbackGroupType type, std::int32_t priority = 0)
  {
    return try_create_callback_group(type, priority).value();
  }
  Result<CallbackGroup::SharedPtr> try_create_callback_group(
    CallbackGroupType type, std::int32_t priority = 0)
  {
    auto made = CallbackGroup::try_make(handle(), type, priority);
    if (made) {
      parts_.groups->add(*made);
    }
    return made;
  }

  /// Returns the group in which everything is that was made without one. It is always there; the
  /// object is made by the first call.
  CallbackGroup::SharedPtr get_default_callback_group()
  {
    return parts_.groups->default_group(handle()).value();
  }

  /// Calls a function with each callback group that was made by the node and exists, and with the
  /// default group. No lock is held.
  template<class F>
  void for_each_callback_group(F && function)
  {
    function(get_default_callback_group());
    for (const auto & group : parts_.groups->others()) {
      function(group);
    }
  }

  /// Whether the callback group is one of this node.
  bool callback_group_in_node(const CallbackGroup::SharedPtr & group)
  {
    bool is_found = false;
    for_each_callback_group([&](const CallbackGroup::SharedPtr & one) {is_found |= one == group;});
    return is_found;
  }

  /// As in rclcpp: whether the node's executor serves the group, too. With `false` the executor to
  /// which the node was added doesn't. One to which the node is added later does, unless the group
  /// has another executor by then.
  template<class Bool, std::enable_if_t<std::is_same_v<Bool, bool>, int> = 0>
  CallbackGroup::SharedPtr create_callback_group(
    CallbackGroupType type, Bool automatically_add_to_executor_with_node)
  {
    auto made = create_callback_group(type);
    if (!automatically_add_to_executor_with_node) {
      parts_.groups->take_out(*made);
    }
    return made;
  }

  /// Notes the node's executor. Executors call it.
  void set_executor(const std::shared_ptr<sinew_executor> & executor) const
  {
    parts_.groups->set_executor(executor);
  }

  // Time, waiting, logging

  /// The node's logger: that of node `/robot/arm` is `robot.arm`.
  const Logger & get_logger() const noexcept {return parts_.logger;}

  /// The node's clock, which shows ROS time unless the node's options say otherwise.
  Clock::SharedPtr get_clock() noexcept {return parts_.clock;}
  Clock::ConstSharedPtr get_clock() const noexcept {return parts_.clock;}

  /// Returns the present time of its clock, which belongs into the stamps of messages.
  Time now() const noexcept {return parts_.clock->now();}

  /// Makes a timer of steady time. The callback takes nothing, a `TimerBase &`, or a
  /// `const TimerInfo &`; it runs in the group, by default that of the node. Without `autostart`
  /// the timer waits for `reset`.
  template<class Rep, class Period, class F>
  typename WallTimer<F>::SharedPtr create_wall_timer(
    std::chrono::duration<Rep, Period> period, F callback, CallbackGroup::SharedPtr group = nullptr,
    bool autostart = true)
  {
    return try_create_wall_timer(period, std::move(callback), std::move(group), autostart).value();
  }
  template<class Rep, class Period, class F>
  Result<typename WallTimer<F>::SharedPtr> try_create_wall_timer(
    std::chrono::duration<Rep, Period> period, F callback, CallbackGroup::SharedPtr group = nullptr,
    bool autostart = true)
  {
    return WallTimer<F>::try_make(handle(), period, std::move(callback), group, autostart);
  }

  /// Makes a timer of the node's clock: simulated time while that is used, else steady time.
  template<class Rep, class Period, class F>
  typename GenericTimer<F>::SharedPtr create_timer(
    std::chrono::duration<Rep, Period> period, F callback, CallbackGroup::SharedPtr group = nullptr,
    bool autostart = true)
  {
    return try_create_timer(period, std::move(callback), std::move(group), autostart).value();
  }
  template<class Rep, class Period, class F>
  Result<typename GenericTimer<F>::SharedPtr> try_create_timer(
    std::chrono::duration<Rep, Period> period, F callback, CallbackGroup::SharedPtr group = nullptr,
    bool autostart = true)
  {
    return GenericTimer<F>::try_make(
      handle(), period, std::move(callback), parts_.clock->get_clock_type(), group, autostart);
  }

  /// Makes a guard condition: any thread that triggers it has an executor run the callback, which
  /// takes nothing, or the number of triggers since it last ran.
  template<class F>
  GuardCondition::SharedPtr create_guard_condition(
    F callback, CallbackGroup::SharedPtr group = nullptr)
  {
    return GuardCondition::try_make(handle(), std::move(callback), group).value();
  }

  /// Runs a callback whenever a file descriptor is ready; it takes nothing or a
  /// `const Readiness &`.
  template<class F>
  DescriptorSource::SharedPtr create_descriptor_source(
    int descriptor, F callback, DescriptorEvent event = DescriptorEvent::Readable,
    CallbackGroup::SharedPtr group = nullptr)
  {
    return DescriptorSource::try_make(
      handle(), descriptor, std::move(callback), event, group).value();
  }

  /// Runs a function object once in the node's default group: `CallbackGroup::post`.
  template<class F>
  void post(F work) {try_post(std::move(work)).value();}
  template<class F>
  Result<void> try_post(F work)
  {
    return detail::result(
      sinew_node_post(
        handle(), &detail::run_work<F>, detail::context_of(std::move(work)),
        detail::drop_context<F>));
  }

  /// Accepted for rclcpp's users, who pass them to executors and functions: the node itself. In its
  /// constructor the pointer doesn't own it.
  SharedPtr get_node_base_interface() {return self();}
  SharedPtr get_node_clock_interface() {return self();}
  SharedPtr get_node_graph_interface() {return self();}
  SharedPtr get_node_logging_interface() {return self();}
  SharedPtr get_node_parameters_interface() {return self();}
  SharedPtr get_node_services_interface() {return self();}
  SharedPtr get_node_timers_interface() {return self();}
  SharedPtr get_node_topics_interface() {return self();}
  SharedPtr get_node_waitables_interface() {return self();}

  /// The handle of the C interface.
  sinew_node * handle() const noexcept {return parts_.handle.get();}
  const std::shared_ptr<sinew_node> & shared_handle() const noexcept {return parts_.handle;}

  // Topics

  /// Makes a publisher: `create_publisher<std_msgs::msg::String>("chatter", 10)`.
  template<class T>
  typename Publisher<T>::SharedPtr create_publisher(
    const std::string & topic, const QoS & qos, const PublisherOptions & options = {})
  {
    return try_create_publisher<T>(topic, qos, options).value();
  }
  template<class T>
  Result<typename Publisher<T>::SharedPtr> try_create_publisher(
    const std::string & topic, const QoS & qos, const PublisherOptions & options = {})
  {
    return Publisher<T>::try_make(shared_handle(), extended_name(topic), qos, options);
  }

  /// Makes a subscription; `Subscription` says what the callback may take. Without one, messages
  /// are taken by hand.
  template<class T, class F = std::nullptr_t>
  typename Subscription<T>::SharedPtr create_subscription(
    const std::string & topic, const QoS & qos, F && callback = nullptr,
    const SubscriptionOptions & options = {})
  {
    return try_create_subscription<T>(topic, qos, std::forward<F>(callback), options).value();
  }
  template<class T, class F = std::nullptr_t>
  Result<typename Subscription<T>::SharedPtr> try_create_subscription(
    const std::string & topic, const QoS & qos, F && callback = nullptr,
    const SubscriptionOptions & options = {})
  {
    return Subscription<T>::try_make(
      shared_handle(), extended_name(topic), qos, std::forward<F>(callback),
      with_defaults(options));
  }

  /// Returns a subscription's options with the node's for what they leave to it.
  SubscriptionOptions with_defaults(const SubscriptionOptions & options) const
  {
    using State = TopicStatisticsState;
    auto whole = options;
    auto & state = whole.topic_stats_options.state;
    if (state == State::NodeDefault && get_node_options().enable_topic_statistics()) {
      state = State::Enable;
    }
    return whole;
  }

  // Services

  /// Makes a service; `Service` says what the callback may take. Services are reliable, also where
  /// the QoS asks for less, and hold up to 1000 requests; a greater depth makes one hold more. A
  /// QoS that is transient local, or has a deadline, lifespan or lease, is refused.
  template<class S, class F>
  typename Service<S>::SharedPtr create_service(
    const std::string & name, F && callback, const QoS & qos = ServicesQoS(),
    const CallbackGroup::SharedPtr & group = nullptr)
  {
    return try_create_service<S>(name, std::forward<F>(callback), qos, group).value();
  }
  template<class S, class F>
  Result<typename Service<S>::SharedPtr> try_create_service(
    const std::string & name, F && callback, const QoS & qos = ServicesQoS(),
    const CallbackGroup::SharedPtr & group = nullptr)
  {
    return Service<S>::try_make(
      handle(), extended_name(name), std::forward<F>(callback), group, qos);
  }

  /// Makes a client. There needn't be a service yet. The QoS is as that of a service.
  template<class S>
  typename Client<S>::SharedPtr create_client(
    const std::string & name, const QoS & qos = ServicesQoS(),
    const CallbackGroup::SharedPtr & group = nullptr)
  {
    return try_create_client<S>(name, qos, group).value();
  }
  template<class S>
  Result<typename Client<S>::SharedPtr> try_create_client(
    const std::string & name, const QoS & qos = ServicesQoS(),
    const CallbackGroup::SharedPtr & group = nullptr)
  {
    return Client<S>::try_make(handle(), extended_name(name), group, qos);
  }

#ifdef SINEW_HAS_COROUTINES

  /// Has the executor of the node begin a coroutine, in the node's default group. An exception that
  /// leaves it comes out of the spin that ran it.
  void spawn(Task<void> task) {try_spawn(std::move(task)).value();}
  Result<void> try_spawn(Task<void> task)
  {
    return detail::try_spawn(sinew_node_post, handle(), std::move(task));
  }

#endif  // SINEW_HAS_COROUTINES

protected:
  struct Parts
  {
    NodeOptions options;
    Context::SharedPtr context;
    /// Shared with what runs callbacks of the node.
    std::shared_ptr<sinew_node> handle;
    Logger logger;
    Clock::SharedPtr clock;
    /// Shared with its sub-nodes.
    std::shared_ptr<detail::NodeGroups> groups = std::make_shared<detail::NodeGroups>();
    std::string sub_namespace = {};
  };

  explicit Node(Parts parts) noexcept
  : parts_(std::move(parts)) {}

  static Result<Parts> try_parts(
    const std::string & name, const std::string & node_namespace, const NodeOptions & options)
  {
    if (options.clock_qos() != ClockQoS()) {
      return Error(
        SINEW_ERROR_INVALID_QOS,
        "node " + name + " can't have a clock_qos of its own: the context has one subscription to "
        "/clock for all nodes, with ClockQoS; leave the option at its default");
    }
    const auto context = options.context();
    if (context->handle() == nullptr) {
      return Error(
        SINEW_ERROR_INVALID_ARGUMENT,
        "node " + name + " can't be made in a context that was not initialised: call its init");
    }
    std::string full_namespace = node_namespace;
    if (!full_namespace.empty() && full_namespace.front() != '/') {
      full_namespace.insert(0, "/");
    }
    const auto arguments =
      detail::NodeArguments::try_parse(options.arguments(), full_namespace + "/" + name);
    if (!arguments) {
      return arguments.error();
    }
    const auto & rules = arguments->rules;
    const auto & overrides = arguments->overrides;
    if (auto filled = detail::fill_list(overrides.get(), options.parameter_overrides()); !filled) {
      return filled.error();
    }
    auto settings = detail::options<sinew_node_options>();
    settings.node_namespace = full_namespace.empty() ? nullptr : full_namespace.c_str();
    settings.remap = rules.data();
    settings.remap_count = rules.size();
    settings.allow_undeclared_parameters =
      options.allow_undeclared_parameters() ? SINEW_YES : SINEW_DEFAULT;
    settings.declare_overrides =
      options.automatically_declare_parameters_from_overrides() ? SINEW_YES : SINEW_DEFAULT;
    settings.parameter_overrides = overrides.get();
    settings.parameter_services = options.start_parameter_services() ? SINEW_DEFAULT : SINEW_NO;
    settings.parameter_events =
      options.start_parameter_event_publisher() ? SINEW_DEFAULT : SINEW_NO;
    settings.request = options.request();
    settings.use_global_arguments = options.use_global_arguments() ? SINEW_DEFAULT : SINEW_NO;
    settings.rosout = options.enable_rosout() ? SINEW_DEFAULT : SINEW_NO;
    settings.rosout_qos = &options.rosout_qos().get_rmw_qos_profile();
    settings.parameter_event_qos = &options.parameter_event_qos().get_rmw_qos_profile();
    settings.logger_services = options.enable_logger_service() ? SINEW_YES : SINEW_DEFAULT;
    detail::Handle<sinew_node, sinew_node_free> handle;
    const auto status =
      sinew_node_new(context->handle(), name.c_str(), &settings, detail::Out(handle));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    auto logger = Logger::try_make(handle.get());
    if (!logger) {
      return logger.error();
    }
    auto clock = std::make_shared<Clock>(options.clock_type(), context);
    Parts parts{options, context, std::move(handle), *std::move(logger), std::move(clock)};
    return parts;
  }

private:
  SharedPtr self()
  {
    auto owner = weak_from_this().lock();
    return owner ? owner : SharedPtr(SharedPtr(), this);
  }

  Parts parts_;
};

}  // namespace sinew

#endif  // SINEW_NODE_HPP
