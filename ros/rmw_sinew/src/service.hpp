// Services.
#pragma once

#include <rmw/types.h>
#include <sinew/detail/handle.hpp>
#include <sinew/sinew.h>

#include <deque>
#include <string>
#include <vector>

#include "encoded_message.hpp"
#include "service_qos.hpp"
#include "type_support.hpp"
#include "waitable.hpp"

namespace rmw_sinew {

class Node;

/// What `data` of a `rmw_service_t` points to, as an `Entity`.
class Service : public Entity {
public:
  /// Throws a `std::exception` or `Failure`. So do all functions.
  Service(
    const Node & node, const rosidl_service_type_support_t * type_support,
    const char * name, const rmw_qos_profile_t & profile);

  /// Its name. It lives as long as the service.
  const char * name() const noexcept { return name_.c_str(); }

  /// Takes the oldest request that was not taken yet. Returns false if there is none.
  bool take_request(void * request, rmw_service_info_t & info);

  /// Answers a request that was taken.
  void send_response(const rmw_request_id_t & id, const void * response);

  const rmw_qos_profile_t & profile() const noexcept { return qos_.profile(); }

private:
  struct Request {
    MessageHandle message;
    sinew_request_info about;

    explicit operator bool() const noexcept { return static_cast<bool>(message); }
  };

  /// Takes the oldest request of those that the history keeps; without a message if there is none.
  Request take_kept();

  /// The same, and adds those that give way to `over`.
  Request take_kept(std::vector<Request> & over);

  /// Takes a request from Sinew.
  Request take_from_sinew();

  ServiceSupport support_;
  std::string name_;
  ServiceQos qos_;
  sinew::detail::Handle<sinew_pulled_server, sinew_pulled_server_free> handle_;
  /// Taken from Sinew and not by the program. Used during a `Waitable::Take`.
  std::deque<Request> kept_;
};

}  // namespace rmw_sinew
