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
#include "sinew/sinew.h"

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

  /// Whether parameters of the command line and of files are declared by themselves. By default they
  /// aren't.
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
};

}  // namespace sinew

#endif  // SINEW_NODE_OPTIONS_HPP
