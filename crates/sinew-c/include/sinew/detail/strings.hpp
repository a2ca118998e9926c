/// Lists of texts, to and from C.
#ifndef SINEW_DETAIL_STRINGS_HPP
#define SINEW_DETAIL_STRINGS_HPP

#include <cstddef>
#include <string>
#include <vector>

#include "sinew/detail/handle.hpp"
#include "sinew/sinew.h"

namespace sinew::detail
{

using StringsHandle = Handle<sinew_strings, sinew_strings_free>;

inline std::vector<std::string> strings_from(const StringsHandle & handle)
{
  std::vector<std::string> strings;
  const std::size_t length = sinew_strings_length(handle.get());
  strings.reserve(length);
  for (std::size_t i = 0; i < length; ++i) {
    const char * const one = sinew_strings_at(handle.get(), i);
    strings.emplace_back(one ? one : "");
  }
  return strings;
}

/// Returns the texts as C reads them, for as long as the strings live.
inline std::vector<const char *> texts_of(const std::vector<std::string> & strings)
{
  std::vector<const char *> texts;
  texts.reserve(strings.size());
  for (const std::string & one : strings) {
    texts.push_back(one.c_str());
  }
  return texts;
}

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_STRINGS_HPP
