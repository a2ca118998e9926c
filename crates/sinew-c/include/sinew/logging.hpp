/// Macros with which programs log.
///
/// `SINEW_INFO(logger, "battery at %f V", volts)` and its forms of `sinew.h` accept a
/// `sinew::Logger`. Here are those with a stream: `SINEW_INFO_STREAM(logger, "at " << position)`,
/// with DEBUG, INFO, WARN, ERROR or FATAL. The arguments are evaluated only if the line is logged.
/// `.._STREAM_ONCE` logs the first time only, `.._STREAM_SKIPFIRST` each time but the first, and
/// `.._STREAM_THROTTLE(logger, period, ..)` at most once in a period in nanoseconds. Each statement
/// of the program has its own memory.
#ifndef SINEW_LOGGING_HPP
#define SINEW_LOGGING_HPP

#include <sstream>

#include "sinew/logger.hpp"
#include "sinew/sinew.h"

/// As `SINEW_LOG_IF`, with a stream.
#define SINEW_LOG_STREAM_IF(logger, level, condition, ...) \
  do { \
    if (sinew_logger_is_enabled((logger), (level)) && (condition)) { \
      ::std::ostringstream sinew_line; \
      sinew_line << __VA_ARGS__; \
      (void)sinew_log((logger), (level), __FILE__, __func__, __LINE__, sinew_line.str().c_str()); \
    } \
  } while (0)

// `log_if` is `SINEW_LOG_IF` or `SINEW_LOG_STREAM_IF`.

#define SINEW_LOG_ONCE_BY(log_if, logger, level, ...) \
  do { \
    static sinew_log_memory sinew_said = {0}; \
    log_if(logger, level, sinew_log_is_first(&sinew_said), __VA_ARGS__); \
  } while (0)

#define SINEW_LOG_SKIPFIRST_BY(log_if, logger, level, ...) \
  do { \
    static sinew_log_memory sinew_said = {0}; \
    log_if(logger, level, !sinew_log_is_first(&sinew_said), __VA_ARGS__); \
  } while (0)

#define SINEW_LOG_THROTTLE_BY(log_if, logger, level, period, ...) \
  do { \
    static sinew_log_memory sinew_said = {0}; \
    log_if(logger, level, sinew_log_is_due((logger), &sinew_said, (period)), __VA_ARGS__); \
  } while (0)

#define SINEW_DEBUG_STREAM(logger, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_DEBUG, true, __VA_ARGS__)
#define SINEW_DEBUG_STREAM_ONCE(logger, ...) \
  SINEW_LOG_ONCE_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define SINEW_DEBUG_STREAM_SKIPFIRST(logger, ...) \
  SINEW_LOG_SKIPFIRST_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define SINEW_DEBUG_STREAM_THROTTLE(logger, period, ...) \
  SINEW_LOG_THROTTLE_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_DEBUG, period, __VA_ARGS__)

#define SINEW_INFO_STREAM(logger, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_INFO, true, __VA_ARGS__)
#define SINEW_INFO_STREAM_ONCE(logger, ...) \
  SINEW_LOG_ONCE_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_INFO, __VA_ARGS__)
#define SINEW_INFO_STREAM_SKIPFIRST(logger, ...) \
  SINEW_LOG_SKIPFIRST_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_INFO, __VA_ARGS__)
#define SINEW_INFO_STREAM_THROTTLE(logger, period, ...) \
  SINEW_LOG_THROTTLE_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_INFO, period, __VA_ARGS__)

#define SINEW_WARN_STREAM(logger, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_WARN, true, __VA_ARGS__)
#define SINEW_WARN_STREAM_ONCE(logger, ...) \
  SINEW_LOG_ONCE_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_WARN, __VA_ARGS__)
#define SINEW_WARN_STREAM_SKIPFIRST(logger, ...) \
  SINEW_LOG_SKIPFIRST_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_WARN, __VA_ARGS__)
#define SINEW_WARN_STREAM_THROTTLE(logger, period, ...) \
  SINEW_LOG_THROTTLE_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_WARN, period, __VA_ARGS__)

#define SINEW_ERROR_STREAM(logger, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_ERROR, true, __VA_ARGS__)
#define SINEW_ERROR_STREAM_ONCE(logger, ...) \
  SINEW_LOG_ONCE_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_ERROR, __VA_ARGS__)
#define SINEW_ERROR_STREAM_SKIPFIRST(logger, ...) \
  SINEW_LOG_SKIPFIRST_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_ERROR, __VA_ARGS__)
#define SINEW_ERROR_STREAM_THROTTLE(logger, period, ...) \
  SINEW_LOG_THROTTLE_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_ERROR, period, __VA_ARGS__)

#define SINEW_FATAL_STREAM(logger, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_FATAL, true, __VA_ARGS__)
#define SINEW_FATAL_STREAM_ONCE(logger, ...) \
  SINEW_LOG_ONCE_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_FATAL, __VA_ARGS__)
#define SINEW_FATAL_STREAM_SKIPFIRST(logger, ...) \
  SINEW_LOG_SKIPFIRST_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_FATAL, __VA_ARGS__)
#define SINEW_FATAL_STREAM_THROTTLE(logger, period, ...) \
  SINEW_LOG_THROTTLE_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_FATAL, period, __VA_ARGS__)

#endif  // SINEW_LOGGING_HPP
