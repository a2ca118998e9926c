/// Clients of a service that is known when the program runs.
#ifndef SINEW_GENERIC_CLIENT_HPP
#define SINEW_GENERIC_CLIENT_HPP

#include "sinew/client.hpp"
#include "sinew/serialized_message.hpp"

namespace sinew
{

/// The service of a `GenericClient`: requests and responses are encoded messages.
struct GenericService
{
  using Request = SerializedMessage;
  using Response = SerializedMessage;
};

/// Calls a service of a type that the program names, with encoded requests, and gets encoded
/// responses. Nodes make them: `Node::create_generic_client`. Otherwise as all clients.
using GenericClient = Client<GenericService>;

}  // namespace sinew

#endif  // SINEW_GENERIC_CLIENT_HPP
