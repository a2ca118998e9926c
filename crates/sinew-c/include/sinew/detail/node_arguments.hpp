/// A node's own part of a command line.
#ifndef SINEW_DETAIL_NODE_ARGUMENTS_HPP
#define SINEW_DETAIL_NODE_ARGUMENTS_HPP

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sinew/detail/handle.hpp"
#include "sinew/detail/parameter_list.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew::detail
{

/// Returns the content of a file.
inline Result<std::string> try_read_file(const std::string & path)
{
  struct Close
  {
    void operator()(std::FILE * file) const noexcept {std::fclose(file);}
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  std::string text;
  char part[4096];
  std::size_t length = file ? 1 : 0;
  while (length > 0) {
    length = std::fread(part, 1, sizeof part, file.get());
    text.append(part, length);
  }
  if (!file || std::ferror(file.get()) != 0) {
    return Error(
      SINEW_ERROR_INVALID_ARGUMENT,
      "the file '" + path + "' can't be read: check that it exists and may be read");
  }
  return text;
}

/// Sets the values that a parameter file has for a node.
inline Result<void> fill_from_file(
  sinew_parameter_list * list, const std::string & path, const std::string & node_name)
{
  auto text = try_read_file(path);
  if (!text) {
    return text.error();
  }
  ParameterListHandle read;
  const auto status = sinew_parameter_list_parse(text->c_str(), node_name.c_str(), Out(read));
  if (status != SINEW_OK) {
    return Error(status, "file '" + path + "': " + Error::last(status).sentence());
  }
  return fill_list(list, parameters_from(read.get()));
}

/// What a node's own arguments say.
struct NodeArguments
{
  /// Rules that rename, as texts of the arguments.
  std::vector<const char *> rules;
  /// Values of parameters.
  ParameterListHandle overrides;

  /// Reads `{"--ros-args", "-r", "a:=b", "-p", "rate:=10", "--params-file", "robot.yaml"}`. A rule
  /// without `-r` before it is one as well.
  static Result<NodeArguments> try_parse(
    const std::vector<std::string> & arguments, const std::string & node_name)
  {
    NodeArguments parsed;
    if (const auto status = sinew_parameter_list_new(Out(parsed.overrides)); status != SINEW_OK) {
      return Error::last(status);
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string & argument = arguments[i];
      const bool has_next = i + 1 < arguments.size();
      Result<void> outcome;
      if ((argument == "-p" || argument == "--param") && has_next) {
        outcome = parsed.set(arguments[++i]);
      } else if (argument == "--params-file" && has_next) {
        outcome = fill_from_file(parsed.overrides.get(), arguments[++i], node_name);
      } else if (argument.find(":=") != std::string::npos) {
        parsed.rules.push_back(argument.c_str());
      }
      if (!outcome) {
        return outcome.error();
      }
    }
    return parsed;
  }

private:
  Result<void> set(const std::string & assignment)
  {
    const auto at = assignment.find(":=");
    if (at == std::string::npos) {
      return Error(
        SINEW_ERROR_INVALID_ARGUMENT,
        "the argument '-p " + assignment + "' has no ':=': write it as '-p name:=value'");
    }
    return result(
      sinew_parameter_list_set_text(
        overrides.get(), assignment.substr(0, at).c_str(), assignment.substr(at + 2).c_str()));
  }
};

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_NODE_ARGUMENTS_HPP
