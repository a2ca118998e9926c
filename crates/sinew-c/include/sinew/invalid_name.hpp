/// The name in a failure.
#ifndef SINEW_INVALID_NAME_HPP
#define SINEW_INVALID_NAME_HPP

#include <cstddef>
#include <string>

#include "sinew/sinew.h"

namespace sinew
{

/// An invalid name of a node, a namespace, a topic or a service.
struct InvalidName
{
  /// `SINEW_NAME_..`
  sinew_name_kind kind = SINEW_NAME_OTHER;
  std::string name;
  /// The byte at which the first problem starts: in the name, or in what it expands to.
  std::size_t index = 0;

  const char * type_name() const noexcept
  {
    switch (kind) {
      case SINEW_NAME_NODE:
        return "node name";
      case SINEW_NAME_NAMESPACE:
        return "namespace";
      case SINEW_NAME_TOPIC:
        return "topic name";
      case SINEW_NAME_SERVICE:
        return "service name";
      default:
        return "name";
    }
  }
};

}  // namespace sinew

#endif  // SINEW_INVALID_NAME_HPP
