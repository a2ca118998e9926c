/// The parameters of other nodes. Needs the generated headers of `rcl_interfaces`.
#ifndef SINEW_PARAMETER_CLIENT_HPP
#define SINEW_PARAMETER_CLIENT_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rcl_interfaces/msg/parameter_event.hpp"
#include "rcl_interfaces/srv/describe_parameters.hpp"
#include "rcl_interfaces/srv/get_parameter_types.hpp"
#include "rcl_interfaces/srv/get_parameters.hpp"
#include "rcl_interfaces/srv/list_parameters.hpp"
#include "rcl_interfaces/srv/set_parameters.hpp"
#include "rcl_interfaces/srv/set_parameters_atomically.hpp"
#include "sinew/callback_group.hpp"
#include "sinew/client.hpp"
#include "sinew/detail/node_arguments.hpp"
#include "sinew/detail/parameter_list.hpp"
#include "sinew/detail/parameter_questions.hpp"
#include "sinew/error.hpp"
#include "sinew/node.hpp"
#include "sinew/parameter.hpp"
#include "sinew/qos.hpp"
#include "sinew/subscription.hpp"
#include "sinew/subscription_options.hpp"

namespace sinew
{

/// Reads and sets the parameters of a node, here or in another process, without blocking: an
/// executor of the asking node ends the futures and runs the callbacks.
///
/// The other node's parameter services needn't be there yet. A future throws if the node ends or
/// refuses to answer.
///
/// A template of the kind of its clients, `Client`, so that a program that asks no questions
/// doesn't pay for their messages when it is compiled.
template<template<class> class ServiceClient>
class BasicAsyncParametersClient
{
public:
  using SharedPtr = std::shared_ptr<BasicAsyncParametersClient>;
  using WeakPtr = std::weak_ptr<BasicAsyncParametersClient>;
  using ListParametersResult = rcl_interfaces::msg::ListParametersResult;
  using ParameterDescriptor = rcl_interfaces::msg::ParameterDescriptor;
  using SetParametersResult = rcl_interfaces::msg::SetParametersResult;
  template<class T>
  using Callback = std::function<void (std::shared_future<T>)>;

  /// Makes the clients of another node's parameter services. `remote_node_name` is a full name, or
  /// one in the namespace of `node`; by default the node itself.
  explicit BasicAsyncParametersClient(
    const Node & node, const std::string & remote_node_name = "",
    const QoS & qos = ParametersQoS(), const CallbackGroup::SharedPtr & group = nullptr)
  : node_(node.shared_handle()),
    name_(remote_node_name.empty() ? node.get_fully_qualified_name() : remote_node_name),
    questions_(*node_, name_, group)
  {
    (void)qos;  // services are reliable in any case
  }
  template<class N>
  explicit BasicAsyncParametersClient(
    const std::shared_ptr<N> & node, const std::string & remote_node_name = "",
    const QoS & qos = ParametersQoS(), const CallbackGroup::SharedPtr & group = nullptr)
  : BasicAsyncParametersClient(*node, remote_node_name, qos, group) {}
  explicit BasicAsyncParametersClient(
    const Node * node, const std::string & remote_node_name = "",
    const QoS & qos = ParametersQoS(), const CallbackGroup::SharedPtr & group = nullptr)
  : BasicAsyncParametersClient(*node, remote_node_name, qos, group) {}

  /// Gets parameters, in the order of the names; none if one of them is not declared.
  std::shared_future<std::vector<Parameter>> get_parameters(
    const std::vector<std::string> & names, Callback<std::vector<Parameter>> callback = nullptr)
  {
    return questions_.send(detail::GetQuestion{names}, std::move(callback));
  }

  std::shared_future<std::vector<ParameterDescriptor>> describe_parameters(
    const std::vector<std::string> & names,
    Callback<std::vector<ParameterDescriptor>> callback = nullptr)
  {
    return questions_.send(detail::DescribeQuestion{names}, std::move(callback));
  }

  std::shared_future<std::vector<ParameterType>> get_parameter_types(
    const std::vector<std::string> & names, Callback<std::vector<ParameterType>> callback = nullptr)
  {
    return questions_.send(detail::TypesQuestion{names}, std::move(callback));
  }

  /// Sets parameters one after the other.
  std::shared_future<std::vector<SetParametersResult>> set_parameters(
    const std::vector<Parameter> & parameters,
    Callback<std::vector<SetParametersResult>> callback = nullptr)
  {
    return questions_.send(detail::SetQuestion{parameters}, std::move(callback));
  }

  /// Sets all of the parameters, or none, with one event.
  std::shared_future<SetParametersResult> set_parameters_atomically(
    const std::vector<Parameter> & parameters, Callback<SetParametersResult> callback = nullptr)
  {
    return questions_.send(detail::SetAtomicallyQuestion{parameters}, std::move(callback));
  }

  /// Removes the values of parameters: for dynamic ones.
  std::shared_future<std::vector<SetParametersResult>> delete_parameters(
    const std::vector<std::string> & names)
  {
    return set_parameters(detail::without_values(names));
  }

  /// Sets the parameters that a file has for the node.
  std::shared_future<std::vector<SetParametersResult>> load_parameters(const std::string & file)
  {
    return set_parameters(detail::try_load(file, name_).value());
  }

  /// Lists names of parameters, as `Node::list_parameters`.
  std::shared_future<ListParametersResult> list_parameters(
    const std::vector<std::string> & prefixes, std::uint64_t depth,
    Callback<ListParametersResult> callback = nullptr)
  {
    return questions_.send(detail::ListQuestion{prefixes, depth}, std::move(callback));
  }

  /// Subscribes to the changes of parameters of all nodes: `void (const ParameterEvent &)`, or any
  /// other form of a subscription's callback.
  template<class F>
  Subscription<rcl_interfaces::msg::ParameterEvent>::SharedPtr on_parameter_event(
    F && callback, const QoS & qos = ParameterEventsQoS(), const SubscriptionOptions & options = {})
  {
    return Subscription<rcl_interfaces::msg::ParameterEvent>::try_make(
      node_, "/parameter_events", qos, std::forward<F>(callback), options).value();
  }

  bool service_is_ready() const {return questions_.are_ready();}

  /// Blocks until the node's parameter services are there. Returns false if they didn't come in
  /// time (negative: no limit), or if the context was shut down.
  bool wait_for_service(std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1))
  {
    return questions_.wait(timeout);
  }

  /// The clients, for questions that block.
  const detail::ParameterQuestions<ServiceClient> & questions() const noexcept {return questions_;}
  const std::string & remote_node_name() const noexcept {return name_;}

private:
  std::shared_ptr<sinew_node> node_;
  std::string name_;
  detail::ParameterQuestions<ServiceClient> questions_;
};

using AsyncParametersClient = BasicAsyncParametersClient<Client>;

/// Reads and sets the parameters of a node, here or in another process. Each function waits for the
/// answer, for at most its timeout (negative: no limit); no executor has to run for it, here or
/// there. They throw if there is no such node, or no answer in time.
template<template<class> class ServiceClient>
class BasicSyncParametersClient
{
public:
  using SharedPtr = std::shared_ptr<BasicSyncParametersClient>;
  using WeakPtr = std::weak_ptr<BasicSyncParametersClient>;
  using ListParametersResult = rcl_interfaces::msg::ListParametersResult;
  using ParameterDescriptor = rcl_interfaces::msg::ParameterDescriptor;
  using SetParametersResult = rcl_interfaces::msg::SetParametersResult;
  using Timeout = std::chrono::nanoseconds;

  /// As of `AsyncParametersClient`: `node` is a `Node`, a `std::shared_ptr` or a pointer to one.
  template<class N>
  explicit BasicSyncParametersClient(
    const N & node, const std::string & remote_node_name = "", const QoS & qos = ParametersQoS())
  : async_client_(std::make_shared<BasicAsyncParametersClient<ServiceClient>>(
      node, remote_node_name, qos)) {}

  std::vector<Parameter> get_parameters(
    const std::vector<std::string> & names, Timeout timeout = Timeout(-1))
  {
    return ask(detail::GetQuestion{names}, timeout).value();
  }
  Result<std::vector<Parameter>> try_get_parameters(
    const std::vector<std::string> & names, Timeout timeout = Timeout(-1))
  {
    return ask(detail::GetQuestion{names}, timeout);
  }

  bool has_parameter(const std::string & name)
  {
    const auto listed = list_parameters({name}, 0);
    return !listed.names.empty() && listed.names.front() == name;
  }

  /// Returns the value of a parameter. Throws if it has none, or one of another type.
  template<class T>
  T get_parameter(const std::string & name)
  {
    const std::vector<Parameter> parameters = get_parameters({name});
    if (parameters.empty() || parameters.front().get_type() == PARAMETER_NOT_SET) {
      Error(
        SINEW_ERROR_PARAMETER_NOT_DECLARED, "parameter '" + name + "' of node " +
        async_client_->remote_node_name() + " is not declared, or has no value").raise();
    }
    return static_cast<T>(parameters.front().get_value<T>());
  }

  /// As above, or another value if it has none.
  template<class T>
  T get_parameter(const std::string & name, const T & otherwise)
  {
    const std::vector<Parameter> parameters = get_parameters({name});
    const bool has_value =
      !parameters.empty() && parameters.front().get_type() != PARAMETER_NOT_SET;
    return has_value ? static_cast<T>(parameters.front().get_value<T>()) : otherwise;
  }

  std::vector<ParameterDescriptor> describe_parameters(
    const std::vector<std::string> & names, Timeout timeout = Timeout(-1))
  {
    return ask(detail::DescribeQuestion{names}, timeout).value();
  }

  std::vector<ParameterType> get_parameter_types(
    const std::vector<std::string> & names, Timeout timeout = Timeout(-1))
  {
    return ask(detail::TypesQuestion{names}, timeout).value();
  }

  std::vector<SetParametersResult> set_parameters(
    const std::vector<Parameter> & parameters, Timeout timeout = Timeout(-1))
  {
    return try_set_parameters(parameters, timeout).value();
  }
  Result<std::vector<SetParametersResult>> try_set_parameters(
    const std::vector<Parameter> & parameters, Timeout timeout = Timeout(-1))
  {
    return ask(detail::SetQuestion{parameters}, timeout);
  }

  SetParametersResult set_parameters_atomically(
    const std::vector<Parameter> & parameters, Timeout timeout = Timeout(-1))
  {
    return ask(detail::SetAtomicallyQuestion{parameters}, timeout).value();
  }

  std::vector<SetParametersResult> delete_parameters(
    const std::vector<std::string> & names, Timeout timeout = Timeout(-1))
  {
    return set_parameters(detail::without_values(names), timeout);
  }

  std::vector<SetParametersResult> load_parameters(
    const std::string & file, Timeout timeout = Timeout(-1))
  {
    return set_parameters(
      detail::try_load(file, async_client_->remote_node_name()).value(), timeout);
  }

  ListParametersResult list_parameters(
    const std::vector<std::string> & prefixes, std::uint64_t depth, Timeout timeout = Timeout(-1))
  {
    return ask(detail::ListQuestion{prefixes, depth}, timeout).value();
  }

  template<class F>
  Subscription<rcl_interfaces::msg::ParameterEvent>::SharedPtr on_parameter_event(F && callback)
  {
    return async_client_->on_parameter_event(std::forward<F>(callback));
  }

  bool service_is_ready() const {return async_client_->service_is_ready();}
  bool wait_for_service(Timeout timeout = Timeout(-1))
  {
    return async_client_->wait_for_service(timeout);
  }

private:
  template<class Question>
  Result<typename Question::Answer> ask(const Question & question, Timeout timeout) const
  {
    return async_client_->questions().ask(question, timeout);
  }

  std::shared_ptr<BasicAsyncParametersClient<ServiceClient>> async_client_;
};

using SyncParametersClient = BasicSyncParametersClient<Client>;

}  // namespace sinew

#endif  // SINEW_PARAMETER_CLIENT_HPP
