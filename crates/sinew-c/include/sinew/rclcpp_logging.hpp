/// The logging macros of rclcpp: `RCLCPP_INFO(node->get_logger(), "battery at %f V", volts)`, with
/// DEBUG, INFO, WARN, ERROR or FATAL, and these forms, also with `_STREAM` before them:
///
/// | | logs |
/// |---|---|
/// | `_ONCE(logger, ..)` | the first time |
/// | `_SKIPFIRST(logger, ..)` | each time but the first |
/// | `_THROTTLE(logger, clock, milliseconds, ..)` | at most once in a period of a clock |
/// | `_SKIPFIRST_THROTTLE(logger, clock, milliseconds, ..)` | as `_THROTTLE`, but not the first time |
/// | `_EXPRESSION(logger, expression, ..)` | if the expression is true |
/// | `_FUNCTION(logger, function, ..)` | if the function returns true |
///
/// The arguments, expressions and functions are evaluated only if the level is enabled.
#ifndef SINEW_RCLCPP_LOGGING_HPP
#define SINEW_RCLCPP_LOGGING_HPP

#include <cstdint>

#include "sinew/logging.hpp"
#include "sinew/sinew.h"

namespace sinew::detail
{

/// Returns milliseconds in nanoseconds.
template<class Number>
constexpr std::int64_t milliseconds(Number number)
{
  return static_cast<std::int64_t>(static_cast<long double>(number) * 1e6L);
}

}  // namespace sinew::detail

// `log_if` is `SINEW_LOG_IF` or `SINEW_LOG_STREAM_IF`; a clock is a `sinew::Clock &`.

#define SINEW_IS_DUE_BY(clock, period_ms) \
  sinew_log_is_due_at( \
    &sinew_said, (clock).now().nanoseconds(), ::sinew::detail::milliseconds(period_ms))

#define SINEW_LOG_CLOCK_THROTTLE_BY(log_if, logger, level, clock, period_ms, ...) \
  do { \
    static sinew_log_memory sinew_said = {0}; \
    log_if(logger, level, SINEW_IS_DUE_BY(clock, period_ms), __VA_ARGS__); \
  } while (0)

#define SINEW_LOG_SKIPFIRST_THROTTLE_BY(log_if, logger, level, clock, period_ms, ...) \
  do { \
    static sinew_log_memory sinew_came = {0}; \
    static sinew_log_memory sinew_said = {0}; \
    log_if( \
      logger, level, !sinew_log_is_first(&sinew_came) && SINEW_IS_DUE_BY(clock, period_ms), \
      __VA_ARGS__); \
  } while (0)

#define RCLCPP_DEBUG(logger, ...) \
  SINEW_LOG_IF(logger, SINEW_LOG_LEVEL_DEBUG, true, __VA_ARGS__)
#define RCLCPP_DEBUG_ONCE(logger, ...) \
  SINEW_LOG_ONCE_BY(SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define RCLCPP_DEBUG_SKIPFIRST(logger, ...) \
  SINEW_LOG_SKIPFIRST_BY(SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define RCLCPP_DEBUG_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_CLOCK_THROTTLE_BY( \
    SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_DEBUG, clock, period_ms, __VA_ARGS__)
#define RCLCPP_DEBUG_SKIPFIRST_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_SKIPFIRST_THROTTLE_BY( \
    SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_DEBUG, clock, period_ms, __VA_ARGS__)
#define RCLCPP_DEBUG_EXPRESSION(logger, expression, ...) \
  SINEW_LOG_IF(logger, SINEW_LOG_LEVEL_DEBUG, (expression), __VA_ARGS__)
#define RCLCPP_DEBUG_FUNCTION(logger, function, ...) \
  SINEW_LOG_IF(logger, SINEW_LOG_LEVEL_DEBUG, (function)(), __VA_ARGS__)

#define RCLCPP_DEBUG_STREAM(logger, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_DEBUG, true, __VA_ARGS__)
#define RCLCPP_DEBUG_STREAM_ONCE(logger, ...) \
  SINEW_LOG_ONCE_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define RCLCPP_DEBUG_STREAM_SKIPFIRST(logger, ...) \
  SINEW_LOG_SKIPFIRST_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define RCLCPP_DEBUG_STREAM_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_CLOCK_THROTTLE_BY( \
    SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_DEBUG, clock, period_ms, __VA_ARGS__)
#define RCLCPP_DEBUG_STREAM_SKIPFIRST_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_SKIPFIRST_THROTTLE_BY( \
    SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_DEBUG, clock, period_ms, __VA_ARGS__)
#define RCLCPP_DEBUG_STREAM_EXPRESSION(logger, expression, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_DEBUG, (expression), __VA_ARGS__)
#define RCLCPP_DEBUG_STREAM_FUNCTION(logger, function, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_DEBUG, (function)(), __VA_ARGS__)

#define RCLCPP_INFO(logger, ...) \
  SINEW_LOG_IF(logger, SINEW_LOG_LEVEL_INFO, true, __VA_ARGS__)
#define RCLCPP_INFO_ONCE(logger, ...) \
  SINEW_LOG_ONCE_BY(SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_INFO, __VA_ARGS__)
#define RCLCPP_INFO_SKIPFIRST(logger, ...) \
  SINEW_LOG_SKIPFIRST_BY(SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_INFO, __VA_ARGS__)
#define RCLCPP_INFO_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_CLOCK_THROTTLE_BY( \
    SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_INFO, clock, period_ms, __VA_ARGS__)
#define RCLCPP_INFO_SKIPFIRST_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_SKIPFIRST_THROTTLE_BY( \
    SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_INFO, clock, period_ms, __VA_ARGS__)
#define RCLCPP_INFO_EXPRESSION(logger, expression, ...) \
  SINEW_LOG_IF(logger, SINEW_LOG_LEVEL_INFO, (expression), __VA_ARGS__)
#define RCLCPP_INFO_FUNCTION(logger, function, ...) \
  SINEW_LOG_IF(logger, SINEW_LOG_LEVEL_INFO, (function)(), __VA_ARGS__)

#define RCLCPP_INFO_STREAM(logger, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_INFO, true, __VA_ARGS__)
#define RCLCPP_INFO_STREAM_ONCE(logger, ...) \
  SINEW_LOG_ONCE_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_INFO, __VA_ARGS__)
#define RCLCPP_INFO_STREAM_SKIPFIRST(logger, ...) \
  SINEW_LOG_SKIPFIRST_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_INFO, __VA_ARGS__)
#define RCLCPP_INFO_STREAM_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_CLOCK_THROTTLE_BY( \
    SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_INFO, clock, period_ms, __VA_ARGS__)
#define RCLCPP_INFO_STREAM_SKIPFIRST_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_SKIPFIRST_THROTTLE_BY( \
    SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_INFO, clock, period_ms, __VA_ARGS__)
#define RCLCPP_INFO_STREAM_EXPRESSION(logger, expression, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_INFO, (expression), __VA_ARGS__)
#define RCLCPP_INFO_STREAM_FUNCTION(logger, function, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_INFO, (function)(), __VA_ARGS__)

#define RCLCPP_WARN(logger, ...) \
  SINEW_LOG_IF(logger, SINEW_LOG_LEVEL_WARN, true, __VA_ARGS__)
#define RCLCPP_WARN_ONCE(logger, ...) \
  SINEW_LOG_ONCE_BY(SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_WARN, __VA_ARGS__)
#define RCLCPP_WARN_SKIPFIRST(logger, ...) \
  SINEW_LOG_SKIPFIRST_BY(SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_WARN, __VA_ARGS__)
#define RCLCPP_WARN_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_CLOCK_THROTTLE_BY( \
    SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_WARN, clock, period_ms, __VA_ARGS__)
#define RCLCPP_WARN_SKIPFIRST_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_SKIPFIRST_THROTTLE_BY( \
    SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_WARN, clock, period_ms, __VA_ARGS__)
#define RCLCPP_WARN_EXPRESSION(logger, expression, ...) \
  SINEW_LOG_IF(logger, SINEW_LOG_LEVEL_WARN, (expression), __VA_ARGS__)
#define RCLCPP_WARN_FUNCTION(logger, function, ...) \
  SINEW_LOG_IF(logger, SINEW_LOG_LEVEL_WARN, (function)(), __VA_ARGS__)

#define RCLCPP_WARN_STREAM(logger, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_WARN, true, __VA_ARGS__)
#define RCLCPP_WARN_STREAM_ONCE(logger, ...) \
  SINEW_LOG_ONCE_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_WARN, __VA_ARGS__)
#define RCLCPP_WARN_STREAM_SKIPFIRST(logger, ...) \
  SINEW_LOG_SKIPFIRST_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_WARN, __VA_ARGS__)
#define RCLCPP_WARN_STREAM_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_CLOCK_THROTTLE_BY( \
    SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_WARN, clock, period_ms, __VA_ARGS__)
#define RCLCPP_WARN_STREAM_SKIPFIRST_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_SKIPFIRST_THROTTLE_BY( \
    SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_WARN, clock, period_ms, __VA_ARGS__)
#define RCLCPP_WARN_STREAM_EXPRESSION(logger, expression, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_WARN, (expression), __VA_ARGS__)
#define RCLCPP_WARN_STREAM_FUNCTION(logger, function, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_WARN, (function)(), __VA_ARGS__)

#define RCLCPP_ERROR(logger, ...) \
  SINEW_LOG_IF(logger, SINEW_LOG_LEVEL_ERROR, true, __VA_ARGS__)
#define RCLCPP_ERROR_ONCE(logger, ...) \
  SINEW_LOG_ONCE_BY(SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_ERROR, __VA_ARGS__)
#define RCLCPP_ERROR_SKIPFIRST(logger, ...) \
  SINEW_LOG_SKIPFIRST_BY(SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_ERROR, __VA_ARGS__)
#define RCLCPP_ERROR_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_CLOCK_THROTTLE_BY( \
    SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_ERROR, clock, period_ms, __VA_ARGS__)
#define RCLCPP_ERROR_SKIPFIRST_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_SKIPFIRST_THROTTLE_BY( \
    SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_ERROR, clock, period_ms, __VA_ARGS__)
#define RCLCPP_ERROR_EXPRESSION(logger, expression, ...) \
  SINEW_LOG_IF(logger, SINEW_LOG_LEVEL_ERROR, (expression), __VA_ARGS__)
#define RCLCPP_ERROR_FUNCTION(logger, function, ...) \
  SINEW_LOG_IF(logger, SINEW_LOG_LEVEL_ERROR, (function)(), __VA_ARGS__)

#define RCLCPP_ERROR_STREAM(logger, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_ERROR, true, __VA_ARGS__)
#define RCLCPP_ERROR_STREAM_ONCE(logger, ...) \
  SINEW_LOG_ONCE_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_ERROR, __VA_ARGS__)
#define RCLCPP_ERROR_STREAM_SKIPFIRST(logger, ...) \
  SINEW_LOG_SKIPFIRST_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_ERROR, __VA_ARGS__)
#define RCLCPP_ERROR_STREAM_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_CLOCK_THROTTLE_BY( \
    SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_ERROR, clock, period_ms, __VA_ARGS__)
#define RCLCPP_ERROR_STREAM_SKIPFIRST_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_SKIPFIRST_THROTTLE_BY( \
    SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_ERROR, clock, period_ms, __VA_ARGS__)
#define RCLCPP_ERROR_STREAM_EXPRESSION(logger, expression, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_ERROR, (expression), __VA_ARGS__)
#define RCLCPP_ERROR_STREAM_FUNCTION(logger, function, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_ERROR, (function)(), __VA_ARGS__)

#define RCLCPP_FATAL(logger, ...) \
  SINEW_LOG_IF(logger, SINEW_LOG_LEVEL_FATAL, true, __VA_ARGS__)
#define RCLCPP_FATAL_ONCE(logger, ...) \
  SINEW_LOG_ONCE_BY(SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_FATAL, __VA_ARGS__)
#define RCLCPP_FATAL_SKIPFIRST(logger, ...) \
  SINEW_LOG_SKIPFIRST_BY(SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_FATAL, __VA_ARGS__)
#define RCLCPP_FATAL_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_CLOCK_THROTTLE_BY( \
    SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_FATAL, clock, period_ms, __VA_ARGS__)
#define RCLCPP_FATAL_SKIPFIRST_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_SKIPFIRST_THROTTLE_BY( \
    SINEW_LOG_IF, logger, SINEW_LOG_LEVEL_FATAL, clock, period_ms, __VA_ARGS__)
#define RCLCPP_FATAL_EXPRESSION(logger, expression, ...) \
  SINEW_LOG_IF(logger, SINEW_LOG_LEVEL_FATAL, (expression), __VA_ARGS__)
#define RCLCPP_FATAL_FUNCTION(logger, function, ...) \
  SINEW_LOG_IF(logger, SINEW_LOG_LEVEL_FATAL, (function)(), __VA_ARGS__)

#define RCLCPP_FATAL_STREAM(logger, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_FATAL, true, __VA_ARGS__)
#define RCLCPP_FATAL_STREAM_ONCE(logger, ...) \
  SINEW_LOG_ONCE_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_FATAL, __VA_ARGS__)
#define RCLCPP_FATAL_STREAM_SKIPFIRST(logger, ...) \
  SINEW_LOG_SKIPFIRST_BY(SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_FATAL, __VA_ARGS__)
#define RCLCPP_FATAL_STREAM_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_CLOCK_THROTTLE_BY( \
    SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_FATAL, clock, period_ms, __VA_ARGS__)
#define RCLCPP_FATAL_STREAM_SKIPFIRST_THROTTLE(logger, clock, period_ms, ...) \
  SINEW_LOG_SKIPFIRST_THROTTLE_BY( \
    SINEW_LOG_STREAM_IF, logger, SINEW_LOG_LEVEL_FATAL, clock, period_ms, __VA_ARGS__)
#define RCLCPP_FATAL_STREAM_EXPRESSION(logger, expression, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_FATAL, (expression), __VA_ARGS__)
#define RCLCPP_FATAL_STREAM_FUNCTION(logger, function, ...) \
  SINEW_LOG_STREAM_IF(logger, SINEW_LOG_LEVEL_FATAL, (function)(), __VA_ARGS__)

#endif  // SINEW_RCLCPP_LOGGING_HPP
