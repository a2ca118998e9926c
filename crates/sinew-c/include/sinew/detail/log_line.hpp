/// One line in the log.
#ifndef SINEW_DETAIL_LOG_LINE_HPP
#define SINEW_DETAIL_LOG_LINE_HPP

#include "sinew/detail/handle.hpp"
#include "sinew/sinew.h"

namespace sinew::detail
{

/// Logs a line by the logger of a node; without one, by that of the library.
inline void log_line(const sinew_node * node, sinew_log_level level, const char * sentence)
{
  Handle<sinew_logger, sinew_logger_free> logger;
  const auto status =
    node ? sinew_node_logger(node, Out(logger)) : sinew_logger_new("sinew", Out(logger));
  if (status == SINEW_OK) {
    (void)sinew_log(logger.get(), level, nullptr, nullptr, 0, sentence);
  }
}

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_LOG_LINE_HPP
