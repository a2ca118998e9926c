/// Loggers. `sinew/logging.hpp` has the macros with which programs log.
#ifndef SINEW_LOGGER_HPP
#define SINEW_LOGGER_HPP

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "sinew/detail/handle.hpp"
#include "sinew/detail/nanoseconds.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// A logger: a name under which lines are logged, with a level. That of node `/robot/arm` is
/// `robot.arm`; lines of a node's logger and of those below it are published on `/rosout` too.
/// Copies are the same logger. Any thread may use it.
class Logger
{
public:
  enum class Level
  {
    /// No level of its own: that of the closest logger above it, else `Info`.
    Unset = SINEW_LOG_LEVEL_UNSET,
    Debug = SINEW_LOG_LEVEL_DEBUG,
    Info = SINEW_LOG_LEVEL_INFO,
    Warn = SINEW_LOG_LEVEL_WARN,
    Error = SINEW_LOG_LEVEL_ERROR,
    Fatal = SINEW_LOG_LEVEL_FATAL,
  };

  /// Makes a logger without a node.
  static Result<Logger> try_make(const std::string & name)
  {
    return made([&name](sinew_logger ** logger) {return sinew_logger_new(name.c_str(), logger);});
  }

  /// Returns the logger of a node.
  static Result<Logger> try_make(const sinew_node * node)
  {
    return made([node](sinew_logger ** logger) {return sinew_node_logger(node, logger);});
  }

  const char * get_name() const noexcept {return sinew_logger_name(handle());}

  /// Returns a logger below this one: `hand` below `robot.arm` is `robot.arm.hand`.
  Logger get_child(const std::string & suffix) const {return try_get_child(suffix).value();}
  Result<Logger> try_get_child(const std::string & suffix) const
  {
    return made(
      [this, &suffix](sinew_logger ** logger) {
        return sinew_logger_child(handle(), suffix.c_str(), logger);
      });
  }

  /// Sets its level in the whole process.
  void set_level(Level level)
  {
    detail::check(sinew_logger_set_level(handle(), static_cast<sinew_log_level>(level)));
  }

  /// Returns the level from which on it logs: its own, else that of the closest logger above it.
  Level get_effective_level() const noexcept
  {
    return static_cast<Level>(sinew_logger_level(handle()));
  }

  /// The handle of the C interface.
  sinew_logger * handle() const noexcept {return handle_.get();}

  /// A logger is accepted by the functions and macros of the C interface: `SINEW_INFO(logger, ..)`.
  operator const sinew_logger *() const noexcept {return handle();}  // NOLINT(runtime/explicit)

private:
  explicit Logger(std::shared_ptr<sinew_logger> handle) noexcept
  : handle_(std::move(handle)) {}

  template<class Make>
  static Result<Logger> made(Make make)
  {
    detail::Handle<sinew_logger, sinew_logger_free> handle;
    if (const auto status = make(detail::Out(handle)); status != SINEW_OK) {
      return Error::last(status);
    }
    return Logger(std::shared_ptr<sinew_logger>(std::move(handle)));
  }

  std::shared_ptr<sinew_logger> handle_;
};

/// Returns a logger without a node: its lines are not on `/rosout`, unless a node has the name.
inline Logger get_logger(const std::string & name) {return Logger::try_make(name).value();}

/// Waits until all earlier lines are written, for at most `timeout` (negative: for ever). Returns
/// whether they are.
template<class Rep, class Period>
bool flush_logs(const std::chrono::duration<Rep, Period> & timeout)
{
  return sinew_logging_flush(detail::saturated(timeout));
}

}  // namespace sinew

#endif  // SINEW_LOGGER_HPP
