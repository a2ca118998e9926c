/// The options with which contexts begin, and the signals that end them.
#ifndef SINEW_INIT_OPTIONS_HPP
#define SINEW_INIT_OPTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// The options of `init` and of contexts.
class InitOptions
{
public:
  /// The domain. By default that of the environment: `SINEW_DOMAIN_ID`, else `ROS_DOMAIN_ID`, else
  /// 0.
  std::optional<std::uint32_t> domain_id;

  /// The directory in which each domain has its own. By default `SINEW_DIR` of the environment,
  /// else `/dev/shm/sinew-<uid>`.
  std::optional<std::string> directory;

  /// Whether its nodes reach those of other processes of the host.
  bool shared_memory = true;

  /// Whether the signals with handlers (`install_signal_handlers`) shut the context down.
  bool shutdown_on_signal = true;

  /// Whether `init` sends log lines to the console, a file and `/rosout`, unless the process has a
  /// logger already.
  bool initialize_logging = true;

  bool auto_initialize_logging() const noexcept {return initialize_logging;}
  InitOptions & auto_initialize_logging(bool wanted)
  {
    initialize_logging = wanted;
    return *this;
  }

  InitOptions & set_domain_id(std::size_t domain)
  {
    domain_id = static_cast<std::uint32_t>(domain);
    return *this;
  }
  /// Returns the domain that was set; otherwise `SIZE_MAX`, rcl's `RCL_DEFAULT_DOMAIN_ID`.
  std::size_t get_domain_id() const noexcept {return domain_id ? *domain_id : SIZE_MAX;}
  /// Has the environment choose the domain, as by default.
  void use_default_domain_id() noexcept {domain_id.reset();}
};

/// The signals that shut contexts down.
enum class SignalHandlerOptions
{
  /// SIGINT (Ctrl-C) and SIGTERM.
  All = SINEW_SIGNALS_ALL,
  SigInt = SINEW_SIGNALS_INT,
  SigTerm = SINEW_SIGNALS_TERM,
  None = SINEW_SIGNALS_NONE,
};

/// Has signals shut down all contexts with `InitOptions::shutdown_on_signal`; a second signal ends
/// the process. Returns false, and changes nothing, if there are handlers already.
inline bool install_signal_handlers(SignalHandlerOptions signals = SignalHandlerOptions::All)
{
  bool installed = false;
  const auto status = sinew_signals_install(static_cast<sinew_signals>(signals), &installed);
  if (status != SINEW_OK) {
    Error::last(status).raise();
  }
  return installed;
}

/// Gives the signals back the effect that they had before. Returns false if there are no handlers.
inline bool uninstall_signal_handlers() noexcept {return sinew_signals_uninstall();}

/// The signals with handlers.
inline SignalHandlerOptions get_current_signal_handler_options() noexcept
{
  return static_cast<SignalHandlerOptions>(sinew_signals_installed());
}
inline bool signal_handlers_installed() noexcept
{
  return get_current_signal_handler_options() != SignalHandlerOptions::None;
}

}  // namespace sinew

#endif  // SINEW_INIT_OPTIONS_HPP
