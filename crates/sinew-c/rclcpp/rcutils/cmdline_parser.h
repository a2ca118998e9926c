/// Options of the command line, as rcutils has them: `if (rcutils_cli_option_exist(argv, argv + argc, "-h"))`.
#ifndef RCUTILS__CMDLINE_PARSER_H_
#define RCUTILS__CMDLINE_PARSER_H_

#include <algorithm>
#include <string_view>

/// Whether one of the arguments is this option.
inline bool rcutils_cli_option_exist(char ** begin, char ** end, const char * option)
{
  return std::find(begin, end, std::string_view(option)) != end;
}

/// Returns the argument after this option, or null.
inline char * rcutils_cli_get_option(char ** begin, char ** end, const char * option)
{
  const auto found = std::find(begin, end, std::string_view(option));
  return found != end && found + 1 != end ? *(found + 1) : nullptr;
}

#endif  // RCUTILS__CMDLINE_PARSER_H_
