/// Function objects as callbacks of the C interface.
#ifndef SINEW_DETAIL_CALLBACK_HPP
#define SINEW_DETAIL_CALLBACK_HPP

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew::detail
{

/// Returns a function object as the context of a callback, which `drop_context<F>` deletes.
template<class F>
void * context_of(F && function)
{
  return new std::decay_t<F>(std::forward<F>(function));
}

template<class F>
void drop_context(void * context) noexcept
{
  delete static_cast<F *>(context);
}

#ifdef __cpp_exceptions

inline void drop_exception(void * exception) noexcept
{
  delete static_cast<std::exception_ptr *>(exception);
}

/// Sets the exception that is being handled as this thread's failure, and returns its status.
inline sinew_status fail_with_current_exception() noexcept
{
  const sinew_status status = SINEW_ERROR_CALLBACK_FAILED;
  std::exception_ptr * kept = nullptr;
  const auto set = [&kept](const char * sentence) {
      sinew_error_set(status, sentence, kept, drop_exception);
    };
  try {
    kept = new std::exception_ptr(std::current_exception());
    throw;
  } catch (const std::exception & exception) {
    set(exception.what());
  } catch (...) {
    set("an exception that is no std::exception was thrown");
  }
  return status;
}

/// This thread's failure, which functions that are called meanwhile may replace: they run functions
/// of the program.
class KeptFailure
{
public:
  explicit KeptFailure(sinew_status status)
  : status_(status), sentence_(sinew_error_message())
  {
    if (const auto * thrown = static_cast<const std::exception_ptr *>(sinew_error_payload())) {
      exception_ = *thrown;
    }
  }

  const char * sentence() const noexcept {return sentence_.c_str();}

  void restore() const
  {
    auto * const kept = exception_ ? new std::exception_ptr(exception_) : nullptr;
    sinew_error_set(status_, sentence_.c_str(), kept, drop_exception);
  }

private:
  sinew_status status_;
  std::string sentence_;
  std::exception_ptr exception_;
};

#endif  // __cpp_exceptions

/// Runs the body of a callback, from which no exception may pass into C: one that is thrown becomes
/// this thread's failure, which a spin throws again (`check_spin`).
template<class Body>
sinew_status guarded(Body && body) noexcept
{
#ifdef __cpp_exceptions
  try {
    std::forward<Body>(body)();
  } catch (...) {
    return fail_with_current_exception();
  }
#else
  std::forward<Body>(body)();
#endif
  return SINEW_OK;
}

/// A function object that is posted, as `sinew_work`.
template<class F>
sinew_status run_work(void * context)
{
  return guarded([context] {std::invoke(*static_cast<F *>(context));});
}

/// As `check`, for functions that run callbacks: throws the very exception that a callback threw.
inline void check_spin(sinew_status status)
{
#ifdef __cpp_exceptions
  if (status == SINEW_ERROR_CALLBACK_FAILED) {
    if (const auto * thrown = static_cast<const std::exception_ptr *>(sinew_error_payload())) {
      std::rethrow_exception(*thrown);
    }
  }
#endif
  check(status);
}

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_CALLBACK_HPP
