/// Callbacks for changes of parameters of any node. Needs the generated headers of
/// `rcl_interfaces`.
#ifndef SINEW_PARAMETER_EVENT_HANDLER_HPP
#define SINEW_PARAMETER_EVENT_HANDLER_HPP

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "rcl_interfaces/msg/parameter_event.hpp"
#include "sinew/error.hpp"
#include "sinew/node.hpp"
#include "sinew/parameter.hpp"
#include "sinew/qos.hpp"
#include "sinew/subscription.hpp"

namespace sinew
{

/// A callback for one parameter, which runs as long as the handle lives.
struct ParameterCallbackHandle
{
  using SharedPtr = std::shared_ptr<ParameterCallbackHandle>;
  using WeakPtr = std::weak_ptr<ParameterCallbackHandle>;
  using ParameterCallbackType = std::function<void (const Parameter &)>;

  std::string parameter_name;
  /// The full name of its node.
  std::string node_name;
  ParameterCallbackType callback;
};

/// A callback for all changes, which runs as long as the handle lives.
struct ParameterEventCallbackHandle
{
  using SharedPtr = std::shared_ptr<ParameterEventCallbackHandle>;
  using WeakPtr = std::weak_ptr<ParameterEventCallbackHandle>;
  using ParameterEventCallbackType =
    std::function<void (const rcl_interfaces::msg::ParameterEvent &)>;

  ParameterEventCallbackType callback;
};

/// Runs callbacks when nodes declare, set or remove parameters: by the executor of the node with
/// which it is made. `SubscriptionOf` is the kind of its subscription.
///
/// A template, so that a program without a handler doesn't pay for it when it is compiled.
template<template<class> class SubscriptionOf>
class BasicParameterEventHandler
{
public:
  using SharedPtr = std::shared_ptr<BasicParameterEventHandler>;
  using ParameterCallbackType = ParameterCallbackHandle::ParameterCallbackType;
  using ParameterEventCallbackType = ParameterEventCallbackHandle::ParameterEventCallbackType;
  using ParameterEvent = rcl_interfaces::msg::ParameterEvent;

  /// Subscribes to `/parameter_events`. `node` is a pointer to a node.
  template<class N>
  explicit BasicParameterEventHandler(const N & node, const QoS & qos = ParameterEventsQoS())
  : node_name_(node->get_fully_qualified_name()), node_namespace_(node->get_namespace()),
    callbacks_(std::make_shared<Callbacks>()),
    subscription_(
      SubscriptionOf<ParameterEvent>::try_make(
        node->shared_handle(), "/parameter_events", qos,
        [callbacks = callbacks_](const ParameterEvent & event) {callbacks->run(event);},
        {}).value())
  {
  }

  /// Adds a callback for a parameter: of a node, by its full name or one in the namespace of this
  /// node, by default of this node.
  [[nodiscard]] ParameterCallbackHandle::SharedPtr add_parameter_callback(
    const std::string & parameter_name, ParameterCallbackType callback,
    const std::string & node_name = "")
  {
    return callbacks_->of_parameters.add(
      ParameterCallbackHandle{parameter_name, full_name(node_name), std::move(callback)});
  }
  void remove_parameter_callback(const ParameterCallbackHandle::SharedPtr & handle)
  {
    callbacks_->of_parameters.remove(handle);
  }

  /// Adds a callback for all changes of all nodes.
  [[nodiscard]] ParameterEventCallbackHandle::SharedPtr add_parameter_event_callback(
    ParameterEventCallbackType callback)
  {
    return callbacks_->of_events.add(ParameterEventCallbackHandle{std::move(callback)});
  }
  void remove_parameter_event_callback(const ParameterEventCallbackHandle::SharedPtr & handle)
  {
    callbacks_->of_events.remove(handle);
  }

  /// Gets the new value of a parameter from an event. Returns false if it isn't in there.
  static bool get_parameter_from_event(
    const ParameterEvent & event, Parameter & parameter, const std::string & parameter_name,
    const std::string & node_name = "")
  {
    if (!node_name.empty() && event.node != node_name) {
      return false;
    }
    for (const auto * messages : {&event.new_parameters, &event.changed_parameters}) {
      for (const auto & message : *messages) {
        if (message.name == parameter_name) {
          parameter = Parameter::from_parameter_msg(message);
          return true;
        }
      }
    }
    return false;
  }

  /// As above, but throws if the parameter isn't in there.
  static Parameter get_parameter_from_event(
    const ParameterEvent & event, const std::string & parameter_name,
    const std::string & node_name = "")
  {
    Parameter parameter;
    if (!get_parameter_from_event(event, parameter, parameter_name, node_name)) {
      Error(
        SINEW_ERROR_PARAMETER_NOT_DECLARED,
        "the event of node " + event.node + " has no parameter '" + parameter_name + "'").raise();
    }
    return parameter;
  }

  /// Returns all new values of an event.
  static std::vector<Parameter> get_parameters_from_event(const ParameterEvent & event)
  {
    std::vector<Parameter> parameters;
    for (const auto * messages : {&event.new_parameters, &event.changed_parameters}) {
      for (const auto & message : *messages) {
        parameters.push_back(Parameter::from_parameter_msg(message));
      }
    }
    return parameters;
  }

private:
  /// Callbacks that live as long as the handles of others. Any thread.
  template<class Handle>
  class Handles
  {
public:
    std::shared_ptr<Handle> add(Handle handle)
    {
      auto added = std::make_shared<Handle>(std::move(handle));
      const std::lock_guard lock(mutex_);
      handles_.push_back(added);
      return added;
    }

    void remove(const std::shared_ptr<Handle> & handle)
    {
      const std::lock_guard lock(mutex_);
      remove_if([&handle](const std::shared_ptr<Handle> & one) {return !one || one == handle;});
    }

    /// Returns those that live, the one that was added last first.
    std::vector<std::shared_ptr<Handle>> living()
    {
      std::vector<std::shared_ptr<Handle>> living;
      const std::lock_guard lock(mutex_);
      remove_if([](const std::shared_ptr<Handle> & one) {return !one;});
      for (auto one = handles_.rbegin(); one != handles_.rend(); ++one) {
        if (auto handle = one->lock()) {
          living.push_back(std::move(handle));
        }
      }
      return living;
    }

private:
    template<class Predicate>
    void remove_if(Predicate && predicate)
    {
      handles_.erase(
        std::remove_if(
          handles_.begin(), handles_.end(),
          [&predicate](const std::weak_ptr<Handle> & one) {return predicate(one.lock());}),
        handles_.end());
    }

    std::mutex mutex_;
    std::vector<std::weak_ptr<Handle>> handles_;
  };

  struct Callbacks
  {
    Handles<ParameterCallbackHandle> of_parameters;
    Handles<ParameterEventCallbackHandle> of_events;

    void run(const ParameterEvent & event)
    {
      for (const auto & one : of_parameters.living()) {
        Parameter parameter;
        if (get_parameter_from_event(event, parameter, one->parameter_name, one->node_name)) {
          one->callback(parameter);
        }
      }
      for (const auto & one : of_events.living()) {
        one->callback(event);
      }
    }
  };

  std::string full_name(const std::string & node_name) const
  {
    if (node_name.empty()) {
      return node_name_;
    }
    if (node_name.front() == '/') {
      return node_name;
    }
    return (node_namespace_ == "/" ? "" : node_namespace_) + "/" + node_name;
  }

  std::string node_name_;
  std::string node_namespace_;
  std::shared_ptr<Callbacks> callbacks_;
  typename SubscriptionOf<ParameterEvent>::SharedPtr subscription_;
};

using ParameterEventHandler = BasicParameterEventHandler<Subscription>;

}  // namespace sinew

#endif  // SINEW_PARAMETER_EVENT_HANDLER_HPP
