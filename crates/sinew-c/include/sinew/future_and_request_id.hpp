/// The futures that clients return.
#ifndef SINEW_FUTURE_AND_REQUEST_ID_HPP
#define SINEW_FUTURE_AND_REQUEST_ID_HPP

#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <utility>

#include "sinew/error.hpp"

namespace sinew
{

namespace detail
{

/// A future, and the number of its request: for `Client::remove_pending_request`.
template<class F>
struct FutureAndRequestId
{
  F future;
  std::int64_t request_id;

  FutureAndRequestId(F of_request, std::int64_t id)
  : future(std::move(of_request)), request_id(id) {}

  operator F &() {return future;}  // NOLINT(runtime/explicit)

  /// As of the future.
  auto get() {return future.get();}
  bool valid() const noexcept {return future.valid();}
  void wait() const {future.wait();}
  template<class Rep, class Period>
  std::future_status wait_for(const std::chrono::duration<Rep, Period> & timeout) const
  {
    return future.wait_for(timeout);
  }
  template<class Clock, class Duration>
  std::future_status wait_until(const std::chrono::time_point<Clock, Duration> & time) const
  {
    return future.wait_until(time);
  }
};

/// Ends a promise with the outcome of a call. Without exceptions, a failure breaks the promise.
template<class P, class T, class Convert>
void settle(P & promise, Result<T> outcome, Convert && convert)
{
  if (outcome) {
    promise.set_value(convert(*std::move(outcome)));
    return;
  }
#ifdef __cpp_exceptions
  try {
    outcome.error().raise();
  } catch (...) {
    promise.set_exception(std::current_exception());
  }
#endif
}

}  // namespace detail

}  // namespace sinew

#endif  // SINEW_FUTURE_AND_REQUEST_ID_HPP
