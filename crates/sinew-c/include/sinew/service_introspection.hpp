/// Events of services.
#ifndef SINEW_SERVICE_INTROSPECTION_HPP
#define SINEW_SERVICE_INTROSPECTION_HPP

#include "sinew/sinew.h"

namespace sinew
{

/// The events that a client or a service publishes about its requests and responses.
enum class ServiceIntrospectionState
{
  /// None. The default, which costs nothing.
  Off = SINEW_SERVICE_INTROSPECTION_OFF,
  /// The time, the client and the sequence number.
  Metadata = SINEW_SERVICE_INTROSPECTION_METADATA,
  /// The content of requests and responses as well.
  Contents = SINEW_SERVICE_INTROSPECTION_CONTENTS,
};

}  // namespace sinew

#endif  // SINEW_SERVICE_INTROSPECTION_HPP
