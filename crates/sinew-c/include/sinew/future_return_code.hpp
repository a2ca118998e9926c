/// How a wait for a future ended.
#ifndef SINEW_FUTURE_RETURN_CODE_HPP
#define SINEW_FUTURE_RETURN_CODE_HPP

#include <ostream>
#include <string>

namespace sinew
{

enum class FutureReturnCode
{
  /// The future is ready.
  SUCCESS,
  /// The executor was stopped, or a context was shut down.
  INTERRUPTED,
  /// It was not ready in time.
  TIMEOUT,
};

inline std::string to_string(FutureReturnCode code)
{
  switch (code) {
    case FutureReturnCode::SUCCESS:
      return "SUCCESS (0)";
    case FutureReturnCode::INTERRUPTED:
      return "INTERRUPTED (1)";
    case FutureReturnCode::TIMEOUT:
      return "TIMEOUT (2)";
  }
  return "Unknown enum value";
}

inline std::ostream & operator<<(std::ostream & stream, FutureReturnCode code)
{
  return stream << to_string(code);
}

}  // namespace sinew

#endif  // SINEW_FUTURE_RETURN_CODE_HPP
