/// Types of messages and services that a program knows by their names alone.
#ifndef SINEW_DETAIL_NAMED_TYPE_HPP
#define SINEW_DETAIL_NAMED_TYPE_HPP

#include <string>

#include "sinew/detail/graph.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew::detail
{

/// Returns the type with this name: by its name alone, or with the hash that it has at an endpoint
/// of a topic or service.
template<class T, auto resolve, auto named, auto known>
Result<const T *> try_named(
  const sinew_node * node, const std::string & name, const std::string & type)
{
  const T * found = nullptr;
  sinew_status status = named(type.c_str(), &found);
  if (status == SINEW_ERROR_UNKNOWN_TYPE) {
    const auto unknown = Error::last(status);
    const auto full_name = try_resolve<resolve>(node, name);
    const auto snapshot = GraphSnapshot::try_make(node);
    if (!full_name || !snapshot) {
      return full_name ? snapshot.error() : full_name.error();
    }
    const auto hash = snapshot->hash_of(*full_name, type);
    if (!hash) {
      return hash.error();
    }
    if (hash->empty()) {
      return unknown;
    }
    status = known(type.c_str(), hash->c_str(), &found);
  }
  if (status != SINEW_OK) {
    return Error::last(status);
  }
  return found;
}

inline Result<const sinew_message_type *> try_named_message_type(
  const sinew_node * node, const std::string & topic, const std::string & type)
{
  return try_named<
    sinew_message_type, sinew_node_resolve_topic_name, sinew_message_type_named,
    sinew_message_type_known>(node, topic, type);
}

inline Result<const sinew_service_type *> try_named_service_type(
  const sinew_node * node, const std::string & service, const std::string & type)
{
  return try_named<
    sinew_service_type, sinew_node_resolve_service_name, sinew_service_type_named,
    sinew_service_type_known>(node, service, type);
}

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_NAMED_TYPE_HPP
