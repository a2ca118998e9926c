/// Namespaces of sub-nodes.
#ifndef SINEW_DETAIL_SUB_NAMESPACE_HPP
#define SINEW_DETAIL_SUB_NAMESPACE_HPP

#include <cstddef>
#include <string>

#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew::detail
{

/// Returns the names beneath a namespace: `a` and `b` make `a/b`.
inline std::string joined(const std::string & name_space, const std::string & name)
{
  const bool needs_slash = !name_space.empty() && name_space.back() != '/';
  return name_space + (needs_slash ? "/" : "") + name;
}

/// Returns the name of a topic or service for the node that a sub-node stands for. A name that
/// begins with `/` or `~` stays as it is.
inline std::string extended(const std::string & sub_namespace, const std::string & name)
{
  const bool is_relative = !name.empty() && name.front() != '/' && name.front() != '~';
  return is_relative && !sub_namespace.empty() ? joined(sub_namespace, name) : name;
}

/// Checks the namespace of a sub-node.
inline Result<void> try_check_sub_namespace(const std::string & sub_namespace)
{
  std::size_t at = 0;
  std::string problem;
  if (sub_namespace.empty()) {
    problem = "it is empty";
  } else if (sub_namespace.front() == '/') {
    problem = "it begins with '/': a sub-namespace is relative to its node";
  } else {
    const bool is_digit = sub_namespace.front() >= '0' && sub_namespace.front() <= '9';
    at = is_digit ? 0 : sub_namespace.find_first_not_of(
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/");
    if (at == std::string::npos) {
      at = sub_namespace.find("//");
    }
    if (at == std::string::npos && sub_namespace.back() == '/') {
      at = sub_namespace.size() - 1;
    }
    if (at == std::string::npos) {
      return {};
    }
    problem = "it has no name of letters, digits and '_' at byte " + std::to_string(at);
  }
  return Error(
    "the sub-namespace '" + sub_namespace + "' can't be used: " + problem,
    InvalidName{SINEW_NAME_NAMESPACE, sub_namespace, at});
}

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_SUB_NAMESPACE_HPP
