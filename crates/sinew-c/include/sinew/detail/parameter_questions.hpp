/// The requests to a node's parameter services, and what their responses mean.
#ifndef SINEW_DETAIL_PARAMETER_QUESTIONS_HPP
#define SINEW_DETAIL_PARAMETER_QUESTIONS_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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
#include "sinew/error.hpp"
#include "sinew/parameter.hpp"
#include "sinew/sinew.h"

namespace sinew::detail
{

/// Each question has a service, its request, and the answer in a response. All of them are
/// templates, so that a program that asks no questions doesn't pay for their messages when it is
/// compiled.
struct GetQuestion
{
  using Service = rcl_interfaces::srv::GetParameters;
  using Answer = std::vector<Parameter>;
  static constexpr const char * service_name = "/get_parameters";

  std::vector<std::string> names;

  template<class Request>
  void fill(Request & request) const {request.names = names;}
  template<class Response>
  Answer read(Response & response) const
  {
    Answer parameters;
    for (std::size_t i = 0; i < std::min(names.size(), response.values.size()); ++i) {
      parameters.emplace_back(names[i], ParameterValue(response.values[i]));
    }
    return parameters;
  }
};

struct DescribeQuestion
{
  using Service = rcl_interfaces::srv::DescribeParameters;
  using Answer = std::vector<rcl_interfaces::msg::ParameterDescriptor>;
  static constexpr const char * service_name = "/describe_parameters";

  std::vector<std::string> names;

  template<class Request>
  void fill(Request & request) const {request.names = names;}
  template<class Response>
  Answer read(Response & response) const {return std::move(response.descriptors);}
};

struct TypesQuestion
{
  using Service = rcl_interfaces::srv::GetParameterTypes;
  using Answer = std::vector<ParameterType>;
  static constexpr const char * service_name = "/get_parameter_types";

  std::vector<std::string> names;

  template<class Request>
  void fill(Request & request) const {request.names = names;}
  template<class Response>
  Answer read(Response & response) const
  {
    Answer types;
    for (const std::uint8_t type : response.types) {
      types.push_back(static_cast<ParameterType>(type));
    }
    return types;
  }
};

template<class Request>
void fill_parameters(const std::vector<Parameter> & parameters, Request & request)
{
  for (const Parameter & one : parameters) {
    request.parameters.push_back(one.to_parameter_msg<rcl_interfaces::msg::Parameter>());
  }
}

struct SetQuestion
{
  using Service = rcl_interfaces::srv::SetParameters;
  using Answer = std::vector<rcl_interfaces::msg::SetParametersResult>;
  static constexpr const char * service_name = "/set_parameters";

  std::vector<Parameter> parameters;

  template<class Request>
  void fill(Request & request) const {fill_parameters(parameters, request);}
  template<class Response>
  Answer read(Response & response) const {return std::move(response.results);}
};

struct SetAtomicallyQuestion
{
  using Service = rcl_interfaces::srv::SetParametersAtomically;
  using Answer = rcl_interfaces::msg::SetParametersResult;
  static constexpr const char * service_name = "/set_parameters_atomically";

  std::vector<Parameter> parameters;

  template<class Request>
  void fill(Request & request) const {fill_parameters(parameters, request);}
  template<class Response>
  Answer read(Response & response) const {return std::move(response.result);}
};

struct ListQuestion
{
  using Service = rcl_interfaces::srv::ListParameters;
  using Answer = rcl_interfaces::msg::ListParametersResult;
  static constexpr const char * service_name = "/list_parameters";

  std::vector<std::string> prefixes;
  std::uint64_t depth;

  template<class Request>
  void fill(Request & request) const
  {
    request.prefixes = prefixes;
    request.depth = depth;
  }
  template<class Response>
  Answer read(Response & response) const {return std::move(response.result);}
};

/// Returns parameters that have no value, which removes those of a node.
inline std::vector<Parameter> without_values(const std::vector<std::string> & names)
{
  return std::vector<Parameter>(names.begin(), names.end());
}

/// Returns what a parameter file has for a node.
inline Result<std::vector<Parameter>> try_load(
  const std::string & file, const std::string & node_name)
{
  ParameterListHandle list;
  if (const auto status = sinew_parameter_list_new(Out(list)); status != SINEW_OK) {
    return Error::last(status);
  }
  const std::string full_name = node_name.front() == '/' ? node_name : "/" + node_name;
  if (const auto read = fill_from_file(list.get(), file, full_name); !read) {
    return read.error();
  }
  return parameters_from(list.get());
}

/// The clients of a node's parameter services, which are of the kind `ServiceClient`.
template<template<class> class ServiceClient>
class ParameterQuestions
{
public:
  ParameterQuestions(
    const sinew_node & node, const std::string & remote_name,
    const CallbackGroup::SharedPtr & group)
  : get_(make<GetQuestion>(node, remote_name, group)),
    describe_(make<DescribeQuestion>(node, remote_name, group)),
    types_(make<TypesQuestion>(node, remote_name, group)),
    set_(make<SetQuestion>(node, remote_name, group)),
    set_atomically_(make<SetAtomicallyQuestion>(node, remote_name, group)),
    list_(make<ListQuestion>(node, remote_name, group)) {}

  bool are_ready() const
  {
    return get_->service_is_ready() && describe_->service_is_ready() &&
           types_->service_is_ready() && set_->service_is_ready() &&
           set_atomically_->service_is_ready() && list_->service_is_ready();
  }

  bool wait(std::chrono::nanoseconds timeout) const
  {
    // A node makes all of its parameter services at once, the list last.
    return get_->wait_for_service(timeout) && set_->wait_for_service(timeout) &&
           list_->wait_for_service(timeout) && are_ready();
  }

  /// Asks, and waits for the answer.
  template<class Question>
  Result<typename Question::Answer> ask(
    const Question & question, std::chrono::nanoseconds timeout) const
  {
    const auto response = client(question)->try_call(request_of(question), timeout);
    if (!response) {
      return response.error();
    }
    return question.read(**response);
  }

  /// Asks. An executor ends the future and runs the callback, which may be null.
  template<class Question>
  std::shared_future<typename Question::Answer> send(
    Question question,
    std::function<void(std::shared_future<typename Question::Answer>)> callback) const
  {
    using SharedResponse = std::shared_ptr<typename Question::Service::Response>;
    std::promise<typename Question::Answer> promise;
    auto future = promise.get_future().share();
    auto request = request_of(question);
    const auto & asked = client(question);
    (void)asked->try_send(
      std::move(request),
      [promise = std::move(promise), future, question = std::move(question),
      callback = std::move(callback)](Result<SharedResponse> response) mutable {
        settle(
          promise, std::move(response), [&question](const SharedResponse & one) {
            return question.read(*one);
          });
        if (callback) {
          callback(future);
        }
      }).value();
    return future;
  }

private:
  template<class Question>
  using ClientOf = typename ServiceClient<typename Question::Service>::SharedPtr;

  template<class Question>
  static ClientOf<Question> make(
    const sinew_node & node, const std::string & remote_name,
    const CallbackGroup::SharedPtr & group)
  {
    return ServiceClient<typename Question::Service>::try_make(
      &node, remote_name + Question::service_name, group).value();
  }

  template<class Question>
  static std::unique_ptr<typename Question::Service::Request> request_of(const Question & question)
  {
    auto request = std::make_unique<typename Question::Service::Request>();
    question.fill(*request);
    return request;
  }

  const ClientOf<GetQuestion> & client(const GetQuestion &) const {return get_;}
  const ClientOf<DescribeQuestion> & client(const DescribeQuestion &) const {return describe_;}
  const ClientOf<TypesQuestion> & client(const TypesQuestion &) const {return types_;}
  const ClientOf<SetQuestion> & client(const SetQuestion &) const {return set_;}
  const ClientOf<SetAtomicallyQuestion> & client(const SetAtomicallyQuestion &) const
  {
    return set_atomically_;
  }
  const ClientOf<ListQuestion> & client(const ListQuestion &) const {return list_;}

  ClientOf<GetQuestion> get_;
  ClientOf<DescribeQuestion> describe_;
  ClientOf<TypesQuestion> types_;
  ClientOf<SetQuestion> set_;
  ClientOf<SetAtomicallyQuestion> set_atomically_;
  ClientOf<ListQuestion> list_;
};

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_PARAMETER_QUESTIONS_HPP
