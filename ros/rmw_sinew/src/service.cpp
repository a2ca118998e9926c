#include "service.hpp"

#include <rmw/allocators.h>
#include <rmw/rmw.h>

#include <cstring>
#include <memory>
#include <utility>

#include "arrival.hpp"
#include "check.hpp"
#include "names.hpp"
#include "node.hpp"

namespace rmw_sinew {

Service::Service(
  const Node & node, const rosidl_service_type_support_t * type_support, const char * name,
  const rmw_qos_profile_t & profile)
: support_(type_support), name_(name), qos_(profile)
{
  auto options = sinew::detail::options<sinew_server_options>();
  options.qos = &qos_.of_sinew();
  const auto make = [&](const sinew_node * owner) {
    return sinew_pulled_server_new(
      owner, name, support_.type(), &options, sinew::detail::Out(handle_));
  };
  sinew_status status = make(node.get());
  if (status == SINEW_ERROR_SERVICE_TAKEN) {
    // In ROS 2 that is allowed. Clients of this process go on calling the first server.
    const sinew::detail::Handle<sinew_node, sinew_node_free> twin(node.make_twin());
    status = make(twin.get());
  }
  require(status);
  require(
    sinew_pulled_server_set_listener(
      handle_.get(), on_arrival, listener_context(), drop_listener));
}

bool Service::take_request(void * request, rmw_service_info_t & info)
{
  const Request taken = take_kept();
  if (!taken) {
    return false;
  }
  const sinew_request_info & about = taken.about;
  try {
    const Encoded encoded = encoded_of(taken.message);
    support_.request().decode(encoded.bytes, encoded.length, request);
  } catch (...) {
    // No callback will answer it, and until then it would count among those that Sinew lets wait.
    (void)sinew_pulled_server_fail(handle_.get(), &about.key, "the server can't read the request");
    throw;
  }
  info.source_timestamp = about.source_time;
  info.received_timestamp = arrival_of(about);
  static_assert(sizeof(info.request_id.writer_guid) == sizeof(sinew_gid), "16 bytes in both");
  std::memcpy(info.request_id.writer_guid, about.key.client.bytes, sizeof(sinew_gid));
  info.request_id.sequence_number = static_cast<std::int64_t>(about.key.sequence);
  return true;
}

Service::Request Service::take_kept()
{
  std::vector<Request> over;
  Request taken = take_kept(over);
  // Not during the take, since callers in this process learn of it here and now. Callers of Sinew
  // fail with this sentence; programs of ROS 2 go on waiting. A caller that has gone meanwhile is
  // no failure.
  for (const Request & request : over) {
    (void)sinew_pulled_server_fail(
      handle_.get(), &request.about.key,
      "the request gave way to newer ones, as the service's depth says");
  }
  return taken;
}

Service::Request Service::take_kept(std::vector<Request> & over)
{
  Waitable::Take take(waitable());
  if (qos_.is_over_depth(waitable().waiting())) {
    // Fewer may wait than that says, so they are counted.
    while (Request request = take_from_sinew()) {
      kept_.push_back(std::move(request));
    }
    for (; qos_.is_over_depth(kept_.size()); take.took_one()) {
      over.push_back(std::move(kept_.front()));
      kept_.pop_front();
    }
  }
  Request taken;
  if (kept_.empty()) {
    taken = take_from_sinew();
  } else {
    taken = std::move(kept_.front());
    kept_.pop_front();
  }
  if (taken) {
    take.took_one();
  } else {
    take.found_nothing(); // callers may have taken requests back
  }
  return taken;
}

Service::Request Service::take_from_sinew()
{
  Request request{{}, sinew::detail::options<sinew_request_info>()};
  require(
    sinew_pulled_server_take_request(
      handle_.get(), sinew::detail::Out(request.message), &request.about));
  return request;
}

void Service::send_response(const rmw_request_id_t & id, const void * response)
{
  sinew_request_key key{};
  std::memcpy(key.client.bytes, id.writer_guid, sizeof(sinew_gid));
  key.sequence = static_cast<std::uint64_t>(id.sequence_number);
  MessageHandle message = message_of(support_.response(), response);
  const sinew_status status =
    sinew_pulled_server_respond(handle_.get(), &key, message.release());
  switch (status) {
    case SINEW_ERROR_RESPONSE_UNCLAIMED: // with the client gone, the response is lost
    case SINEW_ERROR_REQUEST_NOT_IN_HAND: // only the first response counts
      return;
    default:
      require(status);
  }
}

namespace {

Service & service_of(const rmw_service_t * service)
{
  return entity_of<Service>(service->data);
}

struct FreeService {
  void operator()(rmw_service_t * service) const { rmw_service_free(service); }
};

rmw_service_t * create(
  const rmw_node_t * node, const rosidl_service_type_support_t * type_support, const char * name,
  const rmw_qos_profile_t & profile)
{
  require_full_name(name, profile);
  auto service = std::make_unique<Service>(node_of(*node), type_support, name, profile);
  std::unique_ptr<rmw_service_t, FreeService> made(rmw_service_allocate());
  if (made == nullptr) {
    throw std::bad_alloc();
  }
  *made = rmw_service_t{};
  made->implementation_identifier = identifier;
  made->service_name = service->name();
  made->data = entity_data(service.release());
  return made.release();
}

rmw_ret_t actual_qos(const rmw_service_t * service, rmw_qos_profile_t * qos)
{
  SINEW_CHECK_HANDLE(service);
  SINEW_CHECK_ARGUMENT(qos);
  *qos = service_of(service).profile();
  return RMW_RET_OK;
}

}  // namespace
}  // namespace rmw_sinew

extern "C" {

using rmw_sinew::guarded;
using rmw_sinew::service_of;

rmw_service_t * rmw_create_service(
  const rmw_node_t * node, const rosidl_service_type_support_t * type_support,
  const char * service_name, const rmw_qos_profile_t * qos_profile)
{
  SINEW_CHECK_HANDLE_OR_NULL(node);
  SINEW_CHECK_NOT_NULL(type_support, nullptr);
  SINEW_CHECK_NOT_NULL(service_name, nullptr);
  SINEW_CHECK_NOT_NULL(qos_profile, nullptr);
  return rmw_sinew::guarded_pointer([&] {
    return rmw_sinew::create(node, type_support, service_name, *qos_profile);
  });
}

rmw_ret_t rmw_destroy_service(rmw_node_t * node, rmw_service_t * service)
{
  SINEW_CHECK_HANDLE(node);
  SINEW_CHECK_HANDLE(service);
  return guarded([&] {
    delete &service_of(service);
    rmw_service_free(service);
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_take_request(
  const rmw_service_t * service, rmw_service_info_t * request_header, void * ros_request,
  bool * taken)
{
  SINEW_CHECK_HANDLE(service);
  SINEW_CHECK_ARGUMENT(request_header);
  SINEW_CHECK_ARGUMENT(ros_request);
  SINEW_CHECK_ARGUMENT(taken);
  *taken = false;
  return guarded([&] {
    *taken = service_of(service).take_request(ros_request, *request_header);
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_send_response(
  const rmw_service_t * service, rmw_request_id_t * request_header, void * ros_response)
{
  SINEW_CHECK_HANDLE(service);
  SINEW_CHECK_ARGUMENT(request_header);
  SINEW_CHECK_ARGUMENT(ros_response);
  return guarded([&] {
    service_of(service).send_response(*request_header, ros_response);
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_service_request_subscription_get_actual_qos(
  const rmw_service_t * service, rmw_qos_profile_t * qos)
{
  return rmw_sinew::actual_qos(service, qos);
}

rmw_ret_t rmw_service_response_publisher_get_actual_qos(
  const rmw_service_t * service, rmw_qos_profile_t * qos)
{
  return rmw_sinew::actual_qos(service, qos);
}

rmw_ret_t rmw_service_set_on_new_request_callback(
  rmw_service_t * service, rmw_event_callback_t callback, const void * user_data)
{
  SINEW_CHECK_HANDLE(service);
  return guarded([&] {
    service_of(service).waitable().set_callback(callback, user_data);
    return RMW_RET_OK;
  });
}

}  // extern "C"
