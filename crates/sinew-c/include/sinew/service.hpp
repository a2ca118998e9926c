/// Services: a name under which a node answers requests.
#ifndef SINEW_SERVICE_HPP
#define SINEW_SERVICE_HPP

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include "sinew/callback_group.hpp"
#include "sinew/clock.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/detail/listener.hpp"
#include "sinew/detail/service_callback.hpp"
#include "sinew/detail/service_message.hpp"
#include "sinew/error.hpp"
#include "sinew/qos.hpp"
#include "sinew/request_id.hpp"
#include "sinew/service_introspection.hpp"
#include "sinew/sinew.h"
#include "sinew/type_support.hpp"

namespace sinew
{

/// What all services have, whatever their type.
class ServiceBase
{
public:
  using SharedPtr = std::shared_ptr<ServiceBase>;
  using WeakPtr = std::weak_ptr<ServiceBase>;

  /// Ends the service: callers that wait fail. Waits for a callback that runs on another thread,
  /// but not when called by the callback itself; no callback runs afterwards.
  virtual ~ServiceBase()
  {
    if (handle_) {
      (void)sinew_server_close(handle_.get());
    }
  }
  ServiceBase(const ServiceBase &) = delete;
  ServiceBase & operator=(const ServiceBase &) = delete;

  /// Returns the full name, after remapping. The text lives as long as the service.
  const char * get_service_name() const noexcept {return sinew_server_name(handle_.get());}

  /// The QoS of its requests and responses.
  QoS get_request_subscription_actual_qos() const
  {
    return detail::qos_of(handle(), sinew_server_qos);
  }
  QoS get_response_publisher_actual_qos() const {return get_request_subscription_actual_qos();}

  /// Has a function called with the number of new requests: with 1 for each that arrives, on the
  /// thread that calls or receives, and at once with the number of those that wait for the
  /// callback. Several threads may call it at once: it should only wake others. Null clears it. An
  /// exception is logged.
  void set_on_new_request_callback(std::function<void (std::size_t)> callback)
  {
    detail::set_listener(
      handle(), sinew_server_set_listener, sinew_server_clear_listener, std::move(callback));
  }
  void clear_on_new_request_callback() {set_on_new_request_callback(nullptr);}

  /// Publishes events of its requests and responses on `<service>/_service_event`, in place of the
  /// former setting. Their type is `package/srv/Name_Event`, their stamps are of ROS time; the
  /// clock is accepted for rclcpp's users. Fails with `SINEW_ERROR_NO_ROS_TYPE` for a service
  /// without a known description.
  void configure_introspection(
    const Clock::SharedPtr & clock, const QoS & qos, ServiceIntrospectionState state)
  {
    (void)clock;
    try_configure_introspection(qos, state).value();
  }
  Result<void> try_configure_introspection(const QoS & qos, ServiceIntrospectionState state)
  {
    return detail::result(
      sinew_server_configure_introspection(
        handle(), static_cast<sinew_service_introspection>(state), &qos.get_rmw_qos_profile()));
  }

  /// The handle of the C interface.
  sinew_server * handle() const noexcept {return handle_.get();}

protected:
  ServiceBase() = default;

  detail::Handle<sinew_server, sinew_server_free> handle_;
};

/// A service of type `S`. Nodes make them: `Node::create_service`.
///
/// The callback has one of these forms, with `Request` and `Response` of `S`:
///
/// | callback | answer |
/// |---|---|
/// | `void (std::shared_ptr<Request>, std::shared_ptr<Response>)` | the response that it filled in |
/// | `void (std::shared_ptr<RequestId>, std::shared_ptr<Request>, std::shared_ptr<Response>)` | the same |
/// | `void (const Request &, Response &)` | the same |
/// | `Response (const Request &)` | what it returns |
/// | `Result<Response> (const Request &)` | the same; an error makes the call fail with its sentence |
/// | `void (std::shared_ptr<RequestId>, std::shared_ptr<Request>)` | later, by `send_response` |
/// | `void (std::shared_ptr<Service>, std::shared_ptr<RequestId>, std::shared_ptr<Request>)` | later |
///
/// Inside a process neither request nor response is copied. An exception of the callback makes the
/// call fail with its sentence, and comes out of the spin that ran the callback.
template<class S>
class Service : public ServiceBase
{
public:
  using SharedPtr = std::shared_ptr<Service>;
  using WeakPtr = std::weak_ptr<Service>;
  using Request = typename S::Request;
  using Response = typename S::Response;

  /// Makes a service in a group, by default the node's default group. It holds up to 1000 requests,
  /// or the depth of the QoS if that is more; callers beyond it fail.
  template<class F>
  static Result<SharedPtr> try_make(
    const sinew_node * node, const std::string & name, F && callback,
    const CallbackGroup::SharedPtr & group = nullptr, const QoS & qos = ServicesQoS())
  {
    const auto type = detail::try_service_type<S>();
    if (!type) {
      return type.error();
    }
    auto settings = detail::options<sinew_server_options>();
    settings.group = detail::handle_of(group);
    settings.qos = &qos.get_rmw_qos_profile();
    SharedPtr made(new Service);
    using Callback = detail::ServiceCallback<Service, std::decay_t<F>>;
    const auto status = sinew_server_new(
      node, name.c_str(), *type, &settings, Callback::run,
      new Callback(std::forward<F>(callback), made, made->in_hand_), detail::drop_context<Callback>,
      detail::Out(made->handle_));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return made;
  }

  /// Answers a request of which the callback didn't, on any thread. The response is copied; one
  /// that is moved or a `std::unique_ptr` is not. Throws if the request was answered before, or if
  /// its caller waits no more (`SINEW_ERROR_RESPONSE_UNCLAIMED`).
  template<class R, class = std::enable_if_t<detail::is_message_like<Response, R>>>
  void send_response(const RequestId & id, R && response)
  {
    try_send_response(id, std::forward<R>(response)).value();
  }
  template<class R, class = std::enable_if_t<detail::is_message_like<Response, R>>>
  Result<void> try_send_response(const RequestId & id, R && response)
  {
    auto responder = in_hand_->take(id);
    if (!responder) {
      return Error(
        SINEW_ERROR_REQUEST_NOT_IN_HAND,
        "service " + std::string(get_service_name()) + " has no such request to answer: it never " +
        "came, or was answered before");
    }
    return detail::try_respond<Response>(std::move(responder), std::forward<R>(response));
  }

  /// Makes the call of such a request fail, with a sentence for its caller.
  Result<void> try_send_error(const RequestId & id, const std::string & sentence)
  {
    auto responder = in_hand_->take(id);
    if (!responder) {
      return Error(
        SINEW_ERROR_REQUEST_NOT_IN_HAND, "the request was answered before, or never came");
    }
    return detail::try_fail(std::move(responder), sentence.c_str());
  }

private:
  Service() = default;

  std::shared_ptr<detail::RequestsInHand> in_hand_ = std::make_shared<detail::RequestsInHand>();
};

}  // namespace sinew

#endif  // SINEW_SERVICE_HPP
