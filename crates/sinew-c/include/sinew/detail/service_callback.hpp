/// The forms of a service's callback.
#ifndef SINEW_DETAIL_SERVICE_CALLBACK_HPP
#define SINEW_DETAIL_SERVICE_CALLBACK_HPP

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/detail/service_message.hpp"
#include "sinew/error.hpp"
#include "sinew/request_id.hpp"
#include "sinew/sinew.h"

namespace sinew::detail
{

using ResponderHandle = Handle<sinew_responder, sinew_responder_free>;

/// The requests that are answered after their callback: the way to answer each. Any thread.
class RequestsInHand
{
public:
  void put(const RequestId & id, ResponderHandle responder)
  {
    const std::lock_guard lock(mutex_);
    responders_[id] = std::move(responder);
  }

  /// Returns null if there is no such request.
  ResponderHandle take(const RequestId & id)
  {
    const std::lock_guard lock(mutex_);
    const auto found = responders_.find(id);
    if (found == responders_.end()) {
      return nullptr;
    }
    auto responder = std::move(found->second);
    responders_.erase(found);
    return responder;
  }

private:
  std::mutex mutex_;
  std::map<RequestId, ResponderHandle> responders_;
};

/// Answers with a message.
inline Result<void> try_respond(ResponderHandle responder, MessageHandle message)
{
  return result(sinew_responder_respond(responder.release(), message.release()));
}

/// Answers with a response in one of the forms of `try_into_message`.
template<class Response, class Given>
Result<void> try_respond(ResponderHandle responder, Given && given)
{
  auto message = try_into_message<Response>(
    std::forward<Given>(given), [&responder](sinew_uninit_message ** place) {
      return sinew_responder_uninit_response(responder.get(), place);
    });
  if (!message) {
    return message.error();
  }
  return try_respond(std::move(responder), *std::move(message));
}

/// Answers with an error. Gives the responder up only once it has answered: the caller of one that
/// hasn't would wait for ever.
inline Result<void> try_fail(ResponderHandle responder, const char * sentence)
{
  const auto outcome = result(sinew_responder_fail(responder.get(), sentence));
  if (outcome) {
    (void)responder.release();
  }
  return outcome;
}

/// A caller that no longer waits is no failure of the callback.
inline void answered(const Result<void> & outcome)
{
  if (!outcome && outcome.error().code() != SINEW_ERROR_RESPONSE_UNCLAIMED) {
    outcome.error().raise();
  }
}

/// A callback with all that its forms need. The service owns it.
template<class Service, class F>
class ServiceCallback
{
  using Request = typename Service::Request;
  using Response = typename Service::Response;
  using SharedRequest = std::shared_ptr<Request>;
  using SharedResponse = std::shared_ptr<Response>;
  using SharedId = std::shared_ptr<RequestId>;

  template<class ... Arguments>
  static constexpr bool takes = std::is_invocable_v<F &, Arguments...>;

public:
  template<class G>
  ServiceCallback(
    G && function, const std::shared_ptr<Service> & service,
    std::shared_ptr<RequestsInHand> in_hand)
  : function_(std::forward<G>(function)), service_(service), in_hand_(std::move(in_hand)) {}

  static sinew_status run(
    void * context, sinew_message * request, const sinew_request_info * info,
    sinew_responder * responder)
  {
    MessageHandle message(request);
    ResponderHandle answer(responder);
    auto & self = *static_cast<ServiceCallback *>(context);
    const RequestId id(info->key);
    const auto status = guarded([&] {self.call(std::move(message), id, answer);});
#ifdef __cpp_exceptions
    if (status != SINEW_OK && !answer) {
      answer = self.in_hand_->take(id);  // it was to be answered later
    }
    if (status != SINEW_OK && answer) {
      const KeptFailure failure(status);  // that of the callback, which the spin throws
      (void)try_fail(std::move(answer), failure.sentence());
      failure.restore();
    }
#endif
    return status;
  }

private:
  void call(MessageHandle message, const RequestId & id, ResponderHandle & answer)
  {
    auto request = try_share<Request>(std::move(message)).value();
    // `std::bind` accepts more arguments than it needs, so few come before many.
    if constexpr (takes<SharedRequest, SharedResponse>) {
      fill(
        answer, [&](SharedResponse response) {function_(std::move(request), std::move(response));});
    } else if constexpr (takes<const Request &, Response &>) {
      auto response = new_response(answer);
      function_(*request, *static_cast<Response *>(sinew_message_value_mut(response.get())));
      answered(try_respond(std::move(answer), std::move(response)));
    } else if constexpr (takes<const Request &>) {
      answer_by_return(*request, answer);
    } else if constexpr (takes<SharedId, SharedRequest>) {
      in_hand_->put(id, std::move(answer));
      function_(std::make_shared<RequestId>(id), std::move(request));
    } else if constexpr (takes<SharedId, SharedRequest, SharedResponse>) {
      fill(answer, [&](SharedResponse response) {
          function_(std::make_shared<RequestId>(id), std::move(request), std::move(response));
        });
    } else {
      static_assert(
        takes<std::shared_ptr<Service>, SharedId, SharedRequest>,
        "the callback of a service has none of the forms that sinew::Service lists");
      if (auto service = service_.lock()) {
        in_hand_->put(id, std::move(answer));
        function_(std::move(service), std::make_shared<RequestId>(id), std::move(request));
      }
    }
  }

  void answer_by_return(const Request & request, ResponderHandle & answer)
  {
    using Returned = std::invoke_result_t<F &, const Request &>;
    if constexpr (std::is_same_v<Returned, Result<Response>>) {
      Result<Response> outcome = function_(request);
      if (!outcome) {
        try_fail(std::move(answer), outcome.error().what()).value();
        return;
      }
      answered(try_respond<Response>(std::move(answer), *std::move(outcome)));
    } else {
      static_assert(
        std::is_same_v<Returned, Response>,
        "a callback of a service with one parameter returns its Response or a Result<Response>");
      UninitHandle place;
      check(sinew_responder_uninit_response(answer.get(), Out(place)));
      auto message = make_in<Response>(std::move(place), [&] {return function_(request);}).value();
      answered(try_respond(std::move(answer), std::move(message)));
    }
  }

  static MessageHandle new_response(const ResponderHandle & answer)
  {
    UninitHandle place;
    check(sinew_responder_uninit_response(answer.get(), Out(place)));
    return make_in<Response>(std::move(place), [] {return Response();}).value();
  }

  /// Answers with a response that a function fills in, and of which it may keep the pointer: then
  /// the caller gets a copy.
  template<class Fill>
  static void fill(ResponderHandle & answer, Fill && fill_in)
  {
    auto owner = std::make_shared<MessageHandle>(new_response(answer));
    auto * const value = static_cast<Response *>(sinew_message_value_mut(owner->get()));
    fill_in(SharedResponse(owner, value));
    MessageHandle message;
    if (owner.use_count() == 1) {
      message = std::move(*owner);
    } else {
      check(sinew_message_duplicate(owner->get(), Out(message)));
    }
    answered(try_respond(std::move(answer), std::move(message)));
  }

  F function_;
  std::weak_ptr<Service> service_;
  std::shared_ptr<RequestsInHand> in_hand_;
};

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_SERVICE_CALLBACK_HPP
