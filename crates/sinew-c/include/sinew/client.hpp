/// Clients: the way to call a service.
#ifndef SINEW_CLIENT_HPP
#define SINEW_CLIENT_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinew/callback_group.hpp"
#include "sinew/clock.hpp"
#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/detail/listener.hpp"
#include "sinew/detail/pending_requests.hpp"
#include "sinew/detail/service_message.hpp"
#include "sinew/error.hpp"
#include "sinew/future_and_request_id.hpp"
#include "sinew/qos.hpp"
#include "sinew/serialized_message.hpp"
#include "sinew/service_introspection.hpp"
#include "sinew/sinew.h"
#include "sinew/task.hpp"
#include "sinew/type_support.hpp"

namespace sinew
{

/// What all clients have, whatever their type.
class ClientBase
{
public:
  using SharedPtr = std::shared_ptr<ClientBase>;
  using WeakPtr = std::weak_ptr<ClientBase>;

  /// Drops the callbacks of requests that have no response. Waits for one that runs on another
  /// thread, but not when called by a callback of the client; no callback runs afterwards.
  virtual ~ClientBase()
  {
    if (handle_) {
      (void)sinew_client_close(handle_.get());
    }
  }
  ClientBase(const ClientBase &) = delete;
  ClientBase & operator=(const ClientBase &) = delete;

  /// Returns the full name, after remapping. The text lives as long as the client.
  const char * get_service_name() const noexcept {return sinew_client_name(handle());}

  /// The QoS of its requests and responses.
  QoS get_request_publisher_actual_qos() const {return detail::qos_of(handle(), sinew_client_qos);}
  QoS get_response_subscription_actual_qos() const {return get_request_publisher_actual_qos();}

  /// Whether there is a service with the client's type.
  bool service_is_ready() const {return sinew_client_is_server_ready(handle());}

  /// Blocks until there is a service with the client's type. Returns false if none came in time
  /// (negative: no limit), or if the context was shut down.
  template<class Rep = std::int64_t, class Period = std::milli>
  bool wait_for_service(
    std::chrono::duration<Rep, Period> timeout = std::chrono::duration<Rep, Period>(-1))
  {
    return sinew_client_wait_for_server(
      handle(), std::chrono::duration_cast<std::chrono::nanoseconds>(timeout).count());
  }

  /// Gives up a request, by its number: its callback is dropped, and the response as well. Returns
  /// false if it has a response already.
  bool remove_pending_request(std::int64_t request_id)
  {
    return give_up([request_id](std::int64_t number, auto) {return number == request_id;}) > 0;
  }
  template<class F>
  bool remove_pending_request(const detail::FutureAndRequestId<F> & future)
  {
    return remove_pending_request(future.request_id);
  }

  /// Gives up all requests. Returns their number.
  std::size_t prune_pending_requests() {return give_up([](std::int64_t, auto) {return true;});}

  /// Gives up the requests that were sent before a time. Returns their number, and adds their ids
  /// to `pruned` if that isn't null.
  std::size_t prune_requests_older_than(
    detail::PendingRequests::TimePoint time, std::vector<std::int64_t> * pruned = nullptr)
  {
    return give_up([time](std::int64_t, auto sent) {return sent < time;}, pruned);
  }

  /// Has a function called with the number of new responses that wait for their callback or future:
  /// with 1 for each that arrives, on the thread that answers or receives, and at once with the
  /// number of those that wait. Several threads may call it at once: it should only wake others.
  /// Null clears it. An exception is logged.
  void set_on_new_response_callback(std::function<void (std::size_t)> callback)
  {
    detail::set_listener(
      handle(), sinew_client_set_listener, sinew_client_clear_listener, std::move(callback));
  }
  void clear_on_new_response_callback() {set_on_new_response_callback(nullptr);}

  /// Publishes events of its requests and responses, as `Service::configure_introspection`.
  void configure_introspection(
    const Clock::SharedPtr & clock, const QoS & qos, ServiceIntrospectionState state)
  {
    (void)clock;
    try_configure_introspection(qos, state).value();
  }
  Result<void> try_configure_introspection(const QoS & qos, ServiceIntrospectionState state)
  {
    return detail::result(
      sinew_client_configure_introspection(
        handle(), static_cast<sinew_service_introspection>(state), &qos.get_rmw_qos_profile()));
  }

  /// The handle of the C interface.
  sinew_client * handle() const noexcept {return handle_.get();}

protected:
  ClientBase() = default;

  detail::Handle<sinew_client, sinew_client_free> handle_;
  std::shared_ptr<detail::PendingRequests> pending_ = std::make_shared<detail::PendingRequests>();

private:
  template<class Predicate>
  std::size_t give_up(Predicate && is_taken, std::vector<std::int64_t> * numbers = nullptr)
  {
    const auto taken = pending_->take_if(is_taken);
    for (const auto & [number, id] : taken) {
      (void)sinew_client_give_up(handle(), id);
      if (numbers != nullptr) {
        numbers->push_back(number);
      }
    }
    return taken.size();
  }
};

/// A client of services of type `S`. Nodes make them: `Node::create_client`.
///
/// A request is a `std::shared_ptr<Request>`, a `std::unique_ptr<Request>` or a `Request`. Inside a
/// process neither request nor response is copied, unless the program keeps a `std::shared_ptr` to
/// the request.
///
/// Any thread may call any function. A call with which something is wrong, also because the service
/// ends or its callback throws, fails with the reason: its future throws.
template<class S>
class Client : public ClientBase
{
public:
  using SharedPtr = std::shared_ptr<Client>;
  using WeakPtr = std::weak_ptr<Client>;
  using Request = typename S::Request;
  using Response = typename S::Response;
  using SharedRequest = std::shared_ptr<Request>;
  using SharedResponse = std::shared_ptr<Response>;
  using Promise = std::promise<SharedResponse>;
  using SharedPromise = std::shared_ptr<Promise>;
  using PromiseWithRequest = std::promise<std::pair<SharedRequest, SharedResponse>>;
  using Future = std::future<SharedResponse>;
  using SharedFuture = std::shared_future<SharedResponse>;
  using SharedFutureWithRequest = std::shared_future<std::pair<SharedRequest, SharedResponse>>;
  using CallbackType = std::function<void (SharedFuture)>;
  using CallbackWithRequestType = std::function<void (SharedFutureWithRequest)>;

  struct FutureAndRequestId : detail::FutureAndRequestId<Future>
  {
    using detail::FutureAndRequestId<Future>::FutureAndRequestId;
    SharedFuture share() noexcept {return this->future.share();}
  };
  struct SharedFutureAndRequestId : detail::FutureAndRequestId<SharedFuture>
  {
    using detail::FutureAndRequestId<SharedFuture>::FutureAndRequestId;
    auto get() const {return this->future.get();}
  };
  struct SharedFutureWithRequestAndRequestId : detail::FutureAndRequestId<SharedFutureWithRequest>
  {
    using detail::FutureAndRequestId<SharedFutureWithRequest>::FutureAndRequestId;
    auto get() const {return this->future.get();}
  };

  /// Makes a client. Its callbacks run in a group, by default the node's default group.
  static Result<SharedPtr> try_make(
    const sinew_node * node, const std::string & name,
    const CallbackGroup::SharedPtr & group = nullptr, const QoS & qos = ServicesQoS())
  {
    const auto type = detail::try_service_type<S>();
    if (!type) {
      return type.error();
    }
    return try_make_of(*type, node, name, group, qos);
  }

  /// As above, with types that are known when the program runs.
  static Result<SharedPtr> try_make_of(
    const sinew_service_type * type, const sinew_node * node, const std::string & name,
    const CallbackGroup::SharedPtr & group, const QoS & qos)
  {
    auto settings = detail::options<sinew_client_options>();
    settings.group = detail::handle_of(group);
    settings.qos = &qos.get_rmw_qos_profile();
    SharedPtr made(new Client(sinew_service_type_request(type)));
    const auto status =
      sinew_client_new(node, name.c_str(), type, &settings, detail::Out(made->handle_));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return made;
  }

  /// Calls the service, and returns a future that gets the response when an executor runs the
  /// client's group: `spin_until_future_complete(node, future)`. Never blocks.
  template<class R, class = std::enable_if_t<detail::is_message_like<Request, R>>>
  FutureAndRequestId async_send_request(R && request)
  {
    return try_async_send_request(std::forward<R>(request)).value();
  }
  template<class R, class = std::enable_if_t<detail::is_message_like<Request, R>>>
  Result<FutureAndRequestId> try_async_send_request(R && request)
  {
    Promise promise;
    Future future = promise.get_future();
    const auto number = try_send(
      std::forward<R>(request),
      [promise = std::move(promise)](Result<SharedResponse> response) mutable {
        detail::settle(promise, std::move(response), [](SharedResponse one) {return one;});
      });
    if (!number) {
      return number.error();
    }
    return FutureAndRequestId(std::move(future), *number);
  }

  /// As above; the executor also runs the callback, with the future: `void (SharedFuture)`.
  template<
    class R, class F,
    class = std::enable_if_t<
      detail::is_message_like<Request, R>&& std::is_invocable_v<F, SharedFuture>>>
  SharedFutureAndRequestId async_send_request(R && request, F && callback)
  {
    Promise promise;
    SharedFuture future = promise.get_future().share();
    const auto number = try_send(
      std::forward<R>(request),
      [promise = std::move(promise), future, callback = std::decay_t<F>(std::forward<F>(callback))](
        Result<SharedResponse> response) mutable {
        detail::settle(promise, std::move(response), [](SharedResponse one) {return one;});
        callback(future);
      });
    return SharedFutureAndRequestId(std::move(future), number.value());
  }

  /// As above, for callbacks that get the request as well: `void (SharedFutureWithRequest)`. The
  /// request is copied.
  template<
    class F, class = std::enable_if_t<
      !std::is_invocable_v<F, SharedFuture>&& std::is_invocable_v<F, SharedFutureWithRequest>>>
  SharedFutureWithRequestAndRequestId async_send_request(SharedRequest request, F && callback)
  {
    PromiseWithRequest promise;
    SharedFutureWithRequest future = promise.get_future().share();
    const auto number = try_send(
      request,
      [promise = std::move(promise), future, request,
      callback = std::decay_t<F>(std::forward<F>(callback))]
      (Result<SharedResponse> response) mutable {
        detail::settle(promise, std::move(response), [&request](SharedResponse one) {
            return std::make_pair(request, std::move(one));
        });
        callback(future);
      });
    return SharedFutureWithRequestAndRequestId(std::move(future), number.value());
  }

  /// Calls the service and waits for the response, for at most `timeout` (negative: no limit). Also
  /// for callbacks: the waiting thread runs the service itself if it can. Calls can be nested 64
  /// deep.
  ///
  /// Fails with `SINEW_ERROR_NO_SERVER`, `SINEW_ERROR_TIMEOUT`, `SINEW_ERROR_SERVER_GONE`,
  /// `SINEW_ERROR_CALLBACK_FAILED`, `SINEW_ERROR_WOULD_DEADLOCK` and so on.
  template<class R, class = std::enable_if_t<detail::is_message_like<Request, R>>>
  SharedResponse call(R && request, std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1))
  {
    return try_call(std::forward<R>(request), timeout).value();
  }
  template<class R, class = std::enable_if_t<detail::is_message_like<Request, R>>>
  Result<SharedResponse> try_call(
    R && request, std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1))
  {
    auto message = into_message(std::forward<R>(request));
    if (!message) {
      return message.error();
    }
    detail::MessageHandle response;
    const auto status =
      sinew_client_call(handle(), message->release(), timeout.count(), detail::Out(response));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return detail::try_share<Response>(std::move(response));
  }

#ifdef SINEW_HAS_COROUTINES

  /// Calls the service from a coroutine, which the executor of the client's group resumes:
  /// `auto response = co_await client->call_async(request);`. It throws if the call fails.
  ///
  /// The client lives until then. If it ends before, a `Task` that waits is destroyed.
  template<class R, class = std::enable_if_t<detail::is_message_like<Request, R>>>
  auto call_async(R && request)
  {
    return detail::CallAwaiter<Client, true>(*this, into_message(std::forward<R>(request)));
  }

  /// As above, but returns a `Result<SharedResponse>`.
  template<class R, class = std::enable_if_t<detail::is_message_like<Request, R>>>
  auto try_call_async(R && request)
  {
    return detail::CallAwaiter<Client, false>(*this, into_message(std::forward<R>(request)));
  }

#endif  // SINEW_HAS_COROUTINES

  /// Calls the service. The executor of the client's group runs the function with the
  /// `Result<SharedResponse>`, once. Returns the number of the request. Never blocks.
  template<class R, class F>
  Result<std::int64_t> try_send(R && request, F && then)
  {
    auto message = into_message(std::forward<R>(request));
    if (!message) {
      return message.error();
    }
    return try_send_message(*std::move(message), std::forward<F>(then));
  }

  /// As above, for a message of C.
  template<class F>
  Result<std::int64_t> try_send_message(detail::MessageHandle request, F && then)
  {
    using Call = SentCall<std::decay_t<F>>;
    const auto pending = pending_;  // the callback may end this client before the call returns
    const std::int64_t number = pending->add();
    auto call = std::make_unique<Call>(pending, number, std::forward<F>(then));
    sinew_request_id id{};
    const auto status = sinew_client_call_then(
      handle(), request.release(), Call::run, call.release(), detail::drop_context<Call>, &id);
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    pending->set_id(number, id);
    return number;
  }

private:
  explicit Client(const sinew_message_type * request_type) noexcept
  : request_type_(request_type) {}

  template<class R>
  Result<detail::MessageHandle> into_message(R && request) const
  {
    if constexpr (std::is_same_v<Request, SerializedMessage>) {
      return detail::try_into_message(request_type_, std::forward<R>(request));
    } else {
      return detail::try_into_message<Request>(
        std::forward<R>(request),
        [this](sinew_uninit_message ** place) {return sinew_client_uninit(handle(), place);});
    }
  }

  /// A request that was sent, as the context of its callback.
  template<class F>
  class SentCall
  {
public:
    template<class G>
    SentCall(std::shared_ptr<detail::PendingRequests> pending, std::int64_t number, G && then)
    : pending_(std::move(pending)), number_(number), then_(std::forward<G>(then)) {}
    ~SentCall() {pending_->remove(number_);}
    SentCall(const SentCall &) = delete;
    SentCall & operator=(const SentCall &) = delete;

    static sinew_status run(void * context, sinew_status status, sinew_message * response)
    {
      detail::MessageHandle message(response);
      auto & self = *static_cast<SentCall *>(context);
      self.pending_->remove(self.number_);
      auto outcome = status == SINEW_OK ?
        detail::try_share<Response>(std::move(message)) :
        Result<SharedResponse>(Error::last(status));
      return detail::guarded([&] {self.then_(std::move(outcome));});
    }

private:
    std::shared_ptr<detail::PendingRequests> pending_;
    std::int64_t number_;
    F then_;
  };

  const sinew_message_type * request_type_;
};

}  // namespace sinew

#endif  // SINEW_CLIENT_HPP
