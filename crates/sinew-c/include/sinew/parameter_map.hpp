/// Parameter files for programs that read one themselves.
#ifndef SINEW_PARAMETER_MAP_HPP
#define SINEW_PARAMETER_MAP_HPP

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sinew/detail/node_arguments.hpp"
#include "sinew/detail/parameter_list.hpp"
#include "sinew/error.hpp"
#include "sinew/parameter.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// The parameters of a file by the names and patterns of nodes under which they stand: `/camera`,
/// `/**`.
using ParameterMap = std::unordered_map<std::string, std::vector<Parameter>>;

namespace detail
{

using StringsHandle = Handle<sinew_strings, sinew_strings_free>;

/// Adds parameters to others: of several with the same name, the last one counts.
inline void merge_parameters(std::vector<Parameter> & all, std::vector<Parameter> more)
{
  for (auto & parameter : more) {
    const auto is_same =
      [&](const Parameter & one) {return one.get_name() == parameter.get_name();};
    const auto place = std::find_if(all.begin(), all.end(), is_same);
    if (place == all.end()) {
      all.push_back(std::move(parameter));
    } else {
      *place = std::move(parameter);
    }
  }
}

}  // namespace detail

/// Reads a parameter file. With the full name of a node, only what stands under patterns that match
/// it.
inline Result<ParameterMap> try_parameter_map_from_yaml_file(
  const std::string & yaml_filename, const char * node_fqn = nullptr)
{
  const auto text = detail::try_read_file(yaml_filename);
  if (!text) {
    return text.error();
  }
  const auto failed = [&](sinew_status status) {
      return Error(status, "file '" + yaml_filename + "': " + Error::last(status).sentence());
    };
  detail::StringsHandle patterns;
  if (const auto status = sinew_parameter_file_patterns(text->c_str(), detail::Out(patterns));
    status != SINEW_OK)
  {
    return failed(status);
  }
  ParameterMap map;
  for (std::size_t i = 0; i < sinew_strings_length(patterns.get()); ++i) {
    const char * const pattern = sinew_strings_at(patterns.get(), i);
    if (node_fqn != nullptr && !sinew_parameter_file_pattern_matches(pattern, node_fqn)) {
      continue;
    }
    detail::ParameterListHandle list;
    const auto status = sinew_parameter_list_parse_under(text->c_str(), pattern, detail::Out(list));
    if (status != SINEW_OK) {
      return failed(status);
    }
    map[pattern] = detail::parameters_from(list.get());
  }
  return map;
}
inline ParameterMap parameter_map_from_yaml_file(
  const std::string & yaml_filename, const char * node_fqn = nullptr)
{
  return try_parameter_map_from_yaml_file(yaml_filename, node_fqn).value();
}

/// Returns the parameters of a map: with the full name of a node, those under patterns that match
/// it. Of several with the same name, one remains: the map has no order.
inline std::vector<Parameter> parameters_from_map(
  const ParameterMap & map, const char * node_fqn = nullptr)
{
  std::vector<Parameter> parameters;
  for (const auto & [pattern, values] : map) {
    if (node_fqn == nullptr || sinew_parameter_file_pattern_matches(pattern.c_str(), node_fqn)) {
      detail::merge_parameters(parameters, values);
    }
  }
  return parameters;
}

}  // namespace sinew

#endif  // SINEW_PARAMETER_MAP_HPP
