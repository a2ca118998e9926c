#include "rmw/rmw.h"

#include "check.hpp"

using namespace rmw_sinew; // of this file's functions, which are rmw's

extern "C" {

// The numbers of both sides are the same. Sinew's own lines are below its root logger.
rmw_ret_t rmw_set_log_severity(rmw_log_severity_t severity)
{
  static_assert(
    static_cast<int>(RMW_LOG_SEVERITY_DEBUG) == SINEW_LOG_LEVEL_DEBUG &&
    static_cast<int>(RMW_LOG_SEVERITY_FATAL) == SINEW_LOG_LEVEL_FATAL, "the same numbers");
  switch (severity) {
    case RMW_LOG_SEVERITY_DEBUG:
    case RMW_LOG_SEVERITY_INFO:
    case RMW_LOG_SEVERITY_WARN:
    case RMW_LOG_SEVERITY_ERROR:
    case RMW_LOG_SEVERITY_FATAL:
      break;
    default:
      return fail(RMW_RET_INVALID_ARGUMENT, "there is no such severity");
  }
  return guarded([&] {
    sinew_logger * root = nullptr;
    require(sinew_logger_new("", &root));
    const sinew_status status =
      sinew_logger_set_level(root, static_cast<sinew_log_level>(severity));
    sinew_logger_free(root);
    return result(status);
  });
}

}  // extern "C"
