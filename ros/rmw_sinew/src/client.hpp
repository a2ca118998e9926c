// Clients of services.
#pragma once

#include <rmw/types.h>
#include <sinew/detail/handle.hpp>
#include <sinew/sinew.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include "encoded_message.hpp"
#include "service_qos.hpp"
#include "type_support.hpp"
#include "waitable.hpp"

namespace rmw_sinew {

/// What `data` of a `rmw_client_t` points to, as an `Entity`.
class Client : public Entity {
public:
  /// Throws a `std::exception` or `Failure`. So do all functions.
  Client(
    const sinew_node * node, const rosidl_service_type_support_t * type_support,
    const char * name, const rmw_qos_profile_t & profile);

  const sinew_client * get() const noexcept { return handle_.get(); }

  /// The service's name. It lives as long as the client.
  const char * name() const noexcept { return name_.c_str(); }

  /// Sends a request and returns its number. Without a server the request is lost, as it is with
  /// any other middleware; so is a request for which the server has no place.
  std::int64_t send_request(const void * request);

  /// Takes the response that came first of those that were not taken yet. Returns false if there
  /// is none. Calls that failed, for example since their server went away, have no response.
  bool take_response(void * response, rmw_service_info_t & info);

  const rmw_qos_profile_t & profile() const noexcept { return qos_.profile(); }

private:
  struct Response {
    MessageHandle message;
    sinew_response_info about;

    explicit operator bool() const noexcept { return static_cast<bool>(message); }
  };

  /// Takes the oldest response of those that the history keeps; without a message if there is none.
  Response take_kept();

  /// Takes a response from Sinew. Passes over calls that failed.
  Response take_from_sinew(Waitable::Take & take);

  /// Takes a request back, unless a server has it. Returns whether it did.
  bool take_back(sinew_request_id id);

  bool give_up_oldest();

  /// Returns a number for a request that is lost: Sinew's begin at 1, these at the other end.
  std::int64_t number_of_lost();

  void remember(sinew_request_id id);
  void forget(sinew_request_id id);

  ServiceSupport support_;
  std::string name_;
  ServiceQos qos_;
  sinew::detail::Handle<sinew_client, sinew_client_free> handle_;
  std::mutex mutex_;
  /// Requests without a response, the oldest first; and a few that have one.
  std::deque<sinew_request_id> sent_;
  std::atomic<std::int64_t> lost_{0};
  /// Taken from Sinew and not by the program. Used during a `Waitable::Take`.
  std::deque<Response> kept_;
};

}  // namespace rmw_sinew
