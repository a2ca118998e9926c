/// The options of a node.
#ifndef SINEW_NODE_OPTIONS_HPP
#define SINEW_NODE_OPTIONS_HPP

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sinew/context.hpp"
#include "sinew/error.hpp"
#include "sinew/parameter.hpp"
#include "sinew/qos.hpp"
#include "sinew/sinew.h"
#include "sinew/time.hpp"

namespace sinew
{

/// The options of a node. Each setter returns the options:
/// `NodeOptions().automatically_declare_parameters_from_overrides(true)`.
class NodeOptions
{
public:
  NodeOptions() = default;

  /// The options of a component's node: what a container asks for takes precedence over what the
  /// component sets.
  static Result<NodeOptions> try_from_request(const sinew_node_request * request)
  {
    sinew_node_request * copy = nullptr;
    if (const auto status = sinew_node_request_copy(request, &copy); status != SINEW_OK) {
      return Error::last(status);
    }
    NodeOptions options;
    options.request_.reset(copy, sinew_node_request_free);
    sinew_context * context = nullptr;
    if (const auto status = sinew_node_request_context(request, &context); status != SINEW_OK) {
      return Error::last(status);
    }
    options.context_ = Context::adopt(context);
    return options;
  }

  /// The settings of a container; null for other nodes.
  const sinew_node_request * request() const noexcept {return request_.get();}

  /// The context; by default the default one.
  Context::SharedPtr context() const
  {
    return context_ ? context_ : contexts::get_global_default_context();
  }
  NodeOptions & context(Context::SharedPtr context)
  {
    context_ = std::move(context);
    return *this;
  }

  /// The node's own part of a command line: `{"--ros-args", "-r", "chatter:=/news"}` or, for short,
  /// `{"chatter:=/news"}`. Of it, rules that rename, parameters (`-p rate:=10`) and parameter files
  /// (`--params-file robot.yaml`) are used; they come before those of the process.
  const std::vector<std::string> & arguments() const noexcept {return arguments_;}
  NodeOptions & arguments(std::vector<std::string> arguments)
  {
    arguments_ = std::move(arguments);
    return *this;
  }

  /// Values of parameters instead of their default values and those of command line and files.
  const std::vector<Parameter> & parameter_overrides() const noexcept {return overrides_;}
  std::vector<Parameter> & parameter_overrides() noexcept {return overrides_;}
  NodeOptions & parameter_overrides(std::vector<Parameter> overrides)
  {
    overrides_ = std::move(overrides);
    return *this;
  }
  template<class T>
  NodeOptions & append_parameter_override(const std::string & name, const T & value)
  {
    overrides_.emplace_back(name, value);
    return *this;
  }

  /// Whether parameters can be set that were not declared. By default they can't.
  bool allow_undeclared_parameters() const noexcept {return allow_undeclared_parameters_;}
  NodeOptions & allow_undeclared_parameters(bool wanted)
  {
    allow_undeclared_parameters_ = wanted;
    return *this;
  }

  /// Whether parameters of the command line and of files are declared by themselves. By default
  /// they aren't.
  bool automatically_declare_parameters_from_overrides() const noexcept {return declare_overrides_;}
  NodeOptions & automatically_declare_parameters_from_overrides(bool wanted)
  {
    declare_overrides_ = wanted;
    return *this;
  }

  /// Whether the node has the services with which others read and set its parameters. By default it
  /// has.
  bool start_parameter_services() const noexcept {return start_parameter_services_;}
  NodeOptions & start_parameter_services(bool wanted)
  {
    start_parameter_services_ = wanted;
    return *this;
  }

  /// Whether the node publishes changes of its parameters. By default it does.
  bool start_parameter_event_publisher() const noexcept {return start_parameter_event_publisher_;}
  NodeOptions & start_parameter_event_publisher(bool wanted)
  {
    start_parameter_event_publisher_ = wanted;
    return *this;
  }

  /// The QoS of these changes.
  const QoS & parameter_event_qos() const noexcept {return parameter_event_qos_;}
  NodeOptions & parameter_event_qos(const QoS & qos)
  {
    parameter_event_qos_ = qos;
    return *this;
  }

  /// Whether names, remapping and parameters of the context's command line are used. By default
  /// they are; without them, `arguments` and `parameter_overrides` count.
  bool use_global_arguments() const noexcept {return use_global_arguments_;}
  NodeOptions & use_global_arguments(bool wanted)
  {
    use_global_arguments_ = wanted;
    return *this;
  }

  /// Whether log lines of the node go to `/rosout`. By default they do, unless the command line has
  /// `--disable-rosout-logs`.
  bool enable_rosout() const noexcept {return enable_rosout_;}
  NodeOptions & enable_rosout(bool wanted)
  {
    enable_rosout_ = wanted;
    return *this;
  }
  const QoS & rosout_qos() const noexcept {return rosout_qos_;}
  NodeOptions & rosout_qos(const QoS & qos)
  {
    rosout_qos_ = qos;
    return *this;
  }

  /// Whether other processes read and set levels of this process's loggers through services of the
  /// node. By default they don't.
  bool enable_logger_service() const noexcept {return enable_logger_service_;}
  NodeOptions & enable_logger_service(bool wanted)
  {
    enable_logger_service_ = wanted;
    return *this;
  }

  /// Whether subscriptions publish statistics of their messages, unless their own options say
  /// otherwise. By default they don't.
  bool enable_topic_statistics() const noexcept {return enable_topic_statistics_;}
  NodeOptions & enable_topic_statistics(bool wanted)
  {
    enable_topic_statistics_ = wanted;
    return *this;
  }

  /// The clock of `get_clock`, `now` and `create_timer`. By default ROS time.
  ClockType clock_type() const noexcept {return clock_type_;}
  NodeOptions & clock_type(ClockType type)
  {
    clock_type_ = type;
    return *this;
  }

  /// The QoS of the subscription to `/clock`. That belongs to the context and serves all its nodes:
  /// a node with another QoS than the default can't be made.
  const QoS & clock_qos() const noexcept {return clock_qos_;}
  NodeOptions & clock_qos(const QoS & qos)
  {
    clock_qos_ = qos;
    return *this;
  }

  /// Accepted for rclcpp's users; time follows `/clock` without a thread of the node and without an
  /// executor in any case.
  bool use_clock_thread() const noexcept {return use_clock_thread_;}
  NodeOptions & use_clock_thread(bool wanted) noexcept
  {
    use_clock_thread_ = wanted;
    return *this;
  }

  /// Accepted for rclcpp's users; messages inside a process move by pointer in any case.
  bool use_intra_process_comms() const noexcept {return true;}
  NodeOptions & use_intra_process_comms(bool) noexcept {return *this;}

private:
  Context::SharedPtr context_;
  std::shared_ptr<sinew_node_request> request_;
  std::vector<std::string> arguments_;
  std::vector<Parameter> overrides_;
  bool allow_undeclared_parameters_ = false;
  bool declare_overrides_ = false;
  bool start_parameter_services_ = true;
  bool start_parameter_event_publisher_ = true;
  bool use_global_arguments_ = true;
  bool enable_rosout_ = true;
  bool enable_logger_service_ = false;
  bool enable_topic_statistics_ = false;
  bool use_clock_thread_ = true;
  ClockType clock_type_ = RCL_ROS_TIME;
  QoS clock_qos_ = ClockQoS();
  QoS parameter_event_qos_ = ParameterEventsQoS();
  QoS rosout_qos_ = RosoutQoS();
};

}  // namespace sinew

#endif  // SINEW_NODE_OPTIONS_HPP
