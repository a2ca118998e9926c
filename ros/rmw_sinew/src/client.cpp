#include "client.hpp"

#include <rcutils/logging_macros.h>
#include <rmw/allocators.h>
#include <rmw/rmw.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "arrival.hpp"
#include "check.hpp"
#include "names.hpp"
#include "node.hpp"

namespace rmw_sinew {
namespace {

/// The most requests that are remembered. Sinew refuses more before that.
constexpr std::size_t MOST_SENT = 100000;

}  // namespace

Client::Client(
  const sinew_node * node, const rosidl_service_type_support_t * type_support, const char * name,
  const rmw_qos_profile_t & profile)
: support_(type_support), name_(name), qos_(profile)
{
  auto options = sinew::detail::options<sinew_client_options>();
  options.qos = &qos_.of_sinew();
  require(
    sinew_client_new(node, name, support_.type(), &options, sinew::detail::Out(handle_)));
  require(
    sinew_client_set_listener(get(), on_arrival, listener_context(), drop_listener));
}

std::int64_t Client::send_request(const void * request)
{
  const bool is_lost = !sinew_client_is_server_ready(get());
  for (;; ) {
    MessageHandle message = message_of(support_.request(), request);
    sinew_request_id id{};
    const sinew_status status = sinew_client_send(get(), message.release(), &id);
    switch (status) {
      case SINEW_ERROR_TOO_MANY_RESPONSES:
        // Programs of ROS 2 just stop waiting for a response. Newer requests take the place.
        if (!give_up_oldest()) {
          require(status);
        }
        break;
      case SINEW_ERROR_TOO_MANY_REQUESTS:
        // Giving up others would free no place, as the server has them in hand until it answers.
        return number_of_lost();
      default:
        require(status);
        // Without a server, Sinew would keep it for one that comes later, which may be much later.
        if (is_lost) {
          sinew_client_give_up(get(), id);
        } else if (sinew_client_is_server_ready(get()) || !take_back(id)) {
          remember(id);
        }
        return static_cast<std::int64_t>(id.sequence);
    }
  }
}

bool Client::take_response(void * response, rmw_service_info_t & info)
{
  const Response taken = take_kept();
  if (!taken) {
    return false;
  }
  const sinew_response_info & about = taken.about;
  const Encoded encoded = encoded_of(taken.message);
  support_.response().decode(encoded.bytes, encoded.length, response);
  sinew_gid gid{};
  require(sinew_client_gid(get(), &gid));
  info.source_timestamp = about.source_time;
  info.received_timestamp = arrival_of(about);
  std::memcpy(info.request_id.writer_guid, gid.bytes, sizeof(gid.bytes));
  info.request_id.sequence_number = static_cast<std::int64_t>(about.id.sequence);
  return true;
}

Client::Response Client::take_kept()
{
  Waitable::Take take(waitable());
  if (qos_.is_over_depth(waitable().waiting())) {
    // Fewer may wait than that says, so they are counted.
    while (Response response = take_from_sinew(take)) {
      kept_.push_back(std::move(response));
    }
    for (; qos_.is_over_depth(kept_.size()); take.took_one()) {
      kept_.pop_front();
    }
  }
  Response taken;
  if (kept_.empty()) {
    taken = take_from_sinew(take);
  } else {
    taken = std::move(kept_.front());
    kept_.pop_front();
  }
  if (taken) {
    take.took_one();
  } else {
    take.found_nothing();
  }
  return taken;
}

Client::Response Client::take_from_sinew(Waitable::Take & take)
{
  for (;; ) {
    Response response{{}, sinew::detail::options<sinew_response_info>()};
    bool taken = false;
    require(
      sinew_client_take_response(
        get(), &taken, sinew::detail::Out(response.message), &response.about));
    if (taken) {
      forget(response.about.id);
    }
    if (!taken || response) {
      return response;
    }
    take.took_one();
  }
}

std::int64_t Client::number_of_lost()
{
  const std::int64_t before = lost_.fetch_add(1);
  if (before == 0) {
    RCUTILS_LOG_WARN_NAMED(
      "rmw_sinew",
      "requests to %s are lost, as too many wait for its server or are being answered", name());
  }
  return std::numeric_limits<std::int64_t>::max() - before;
}

bool Client::take_back(sinew_request_id id)
{
  MessageHandle request;
  require(sinew_client_withdraw(get(), id, sinew::detail::Out(request)));
  return static_cast<bool>(request);
}

bool Client::give_up_oldest()
{
  const std::lock_guard<std::mutex> lock(mutex_);
  while (!sent_.empty()) {
    const sinew_request_id oldest = sent_.front();
    sent_.pop_front();
    if (sinew_client_give_up(get(), oldest)) {
      return true;
    }
  }
  return false;
}

void Client::remember(sinew_request_id id)
{
  // The response may have been taken meanwhile. Then nothing forgets the request, and it leaves
  // with the oldest.
  const std::lock_guard<std::mutex> lock(mutex_);
  if (sent_.size() == MOST_SENT) {
    sent_.pop_front();
  }
  sent_.push_back(id);
}

void Client::forget(sinew_request_id id)
{
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(
    sent_.begin(), sent_.end(),
    [&](const sinew_request_id & sent) {return sent.sequence == id.sequence;});
  if (found != sent_.end()) {
    sent_.erase(found);
  }
}

namespace {

Client & client_of(const rmw_client_t * client)
{
  return entity_of<Client>(client->data);
}

struct FreeClient {
  void operator()(rmw_client_t * client) const { rmw_client_free(client); }
};

rmw_client_t * create(
  const rmw_node_t * node, const rosidl_service_type_support_t * type_support, const char * name,
  const rmw_qos_profile_t & profile)
{
  require_full_name(name, profile);
  auto client = std::make_unique<Client>(node_of(*node).get(), type_support, name, profile);
  std::unique_ptr<rmw_client_t, FreeClient> made(rmw_client_allocate());
  if (made == nullptr) {
    throw std::bad_alloc();
  }
  *made = rmw_client_t{};
  made->implementation_identifier = identifier;
  made->service_name = client->name();
  made->data = entity_data(client.release());
  return made.release();
}

rmw_ret_t actual_qos(const rmw_client_t * client, rmw_qos_profile_t * qos)
{
  SINEW_CHECK_HANDLE(client);
  SINEW_CHECK_ARGUMENT(qos);
  *qos = client_of(client).profile();
  return RMW_RET_OK;
}

}  // namespace
}  // namespace rmw_sinew

extern "C" {

using rmw_sinew::client_of;
using rmw_sinew::guarded;

rmw_client_t * rmw_create_client(
  const rmw_node_t * node, const rosidl_service_type_support_t * type_support,
  const char * service_name, const rmw_qos_profile_t * qos_policies)
{
  SINEW_CHECK_HANDLE_OR_NULL(node);
  SINEW_CHECK_NOT_NULL(type_support, nullptr);
  SINEW_CHECK_NOT_NULL(service_name, nullptr);
  SINEW_CHECK_NOT_NULL(qos_policies, nullptr);
  return rmw_sinew::guarded_pointer([&] {
    return rmw_sinew::create(node, type_support, service_name, *qos_policies);
  });
}

rmw_ret_t rmw_destroy_client(rmw_node_t * node, rmw_client_t * client)
{
  SINEW_CHECK_HANDLE(node);
  SINEW_CHECK_HANDLE(client);
  return guarded([&] {
    delete &client_of(client);
    rmw_client_free(client);
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_send_request(
  const rmw_client_t * client, const void * ros_request, int64_t * sequence_id)
{
  SINEW_CHECK_HANDLE(client);
  SINEW_CHECK_ARGUMENT(ros_request);
  SINEW_CHECK_ARGUMENT(sequence_id);
  return guarded([&] {
    *sequence_id = client_of(client).send_request(ros_request);
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_take_response(
  const rmw_client_t * client, rmw_service_info_t * request_header, void * ros_response,
  bool * taken)
{
  SINEW_CHECK_HANDLE(client);
  SINEW_CHECK_ARGUMENT(request_header);
  SINEW_CHECK_ARGUMENT(ros_response);
  SINEW_CHECK_ARGUMENT(taken);
  *taken = false;
  return guarded([&] {
    *taken = client_of(client).take_response(ros_response, *request_header);
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_client_request_publisher_get_actual_qos(
  const rmw_client_t * client, rmw_qos_profile_t * qos)
{
  return rmw_sinew::actual_qos(client, qos);
}

rmw_ret_t rmw_client_response_subscription_get_actual_qos(
  const rmw_client_t * client, rmw_qos_profile_t * qos)
{
  return rmw_sinew::actual_qos(client, qos);
}

rmw_ret_t rmw_service_server_is_available(
  const rmw_node_t * node, const rmw_client_t * client, bool * is_available)
{
  // Tests of ROS 2 want this return value for null, unlike what rmw's header says.
  SINEW_CHECK_NOT_NULL(node, RMW_RET_ERROR);
  SINEW_CHECK_NOT_NULL(client, RMW_RET_ERROR);
  SINEW_CHECK_NOT_NULL(is_available, RMW_RET_ERROR);
  SINEW_CHECK_HANDLE(node);
  SINEW_CHECK_HANDLE(client);
  *is_available = sinew_client_is_server_ready(client_of(client).get());
  return RMW_RET_OK;
}

rmw_ret_t rmw_client_set_on_new_response_callback(
  rmw_client_t * client, rmw_event_callback_t callback, const void * user_data)
{
  SINEW_CHECK_HANDLE(client);
  return guarded([&] {
    client_of(client).waitable().set_callback(callback, user_data);
    return RMW_RET_OK;
  });
}

}  // extern "C"
