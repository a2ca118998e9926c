// Checks of arguments, and the way from failures to rmw's return values.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "rcutils/error_handling.h"
#include "rmw/check_type_identifiers_match.h"
#include "rmw/error_handling.h"
#include "rmw/macros.h"
#include "rmw/ret_types.h"
#include "sinew/sinew.h"

#include "identifier.hpp"

/// Returns `failure` with a sentence if `argument` is null.
#define SINEW_CHECK_NOT_NULL(argument, failure) \
  RCUTILS_CHECK_FOR_NULL_WITH_MSG(argument, #argument " is null", return failure)

/// Returns `failure` with a sentence if the handle was made by another rmw.
#define SINEW_CHECK_OURS(handle, failure) \
  RMW_CHECK_TYPE_IDENTIFIERS_MATCH( \
    handle, (handle)->implementation_identifier, rmw_sinew::identifier, return failure)

/// Checks a handle in a function that returns a `rmw_ret_t`.
#define SINEW_CHECK_HANDLE(handle) \
  do { \
    SINEW_CHECK_NOT_NULL(handle, RMW_RET_INVALID_ARGUMENT); \
    SINEW_CHECK_OURS(handle, RMW_RET_INCORRECT_RMW_IMPLEMENTATION); \
  } while (false)

/// Checks a handle in a function that returns a pointer.
#define SINEW_CHECK_HANDLE_OR_NULL(handle) \
  do { \
    SINEW_CHECK_NOT_NULL(handle, nullptr); \
    SINEW_CHECK_OURS(handle, nullptr); \
  } while (false)

/// Checks an argument in a function that returns a `rmw_ret_t`.
#define SINEW_CHECK_ARGUMENT(argument) SINEW_CHECK_NOT_NULL(argument, RMW_RET_INVALID_ARGUMENT)

namespace rmw_sinew {

/// Sets rmw's error message to a sentence and returns `ret`.
inline rmw_ret_t fail(rmw_ret_t ret, const char * sentence)
{
  RMW_SET_ERROR_MSG(sentence);
  return ret;
}

/// Sets a sentence if there is none: rmw's own libraries say nothing when memory runs out.
inline rmw_ret_t explained(rmw_ret_t ret)
{
  return ret == RMW_RET_BAD_ALLOC && !rcutils_error_is_set() ? fail(ret, "out of memory") : ret;
}

/// Returns the rmw value of a status of Sinew; unless that is `SINEW_OK`, sets rmw's error message
/// to Sinew's sentence.
inline rmw_ret_t result(sinew_status status)
{
  switch (status) {
    case SINEW_OK:
      return RMW_RET_OK;
    case SINEW_ERROR_TIMEOUT:
      return fail(RMW_RET_TIMEOUT, sinew_error_message());
    case SINEW_ERROR_NO_MEMORY:
      return fail(RMW_RET_BAD_ALLOC, sinew_error_message());
    case SINEW_ERROR_NULL_ARGUMENT:
    case SINEW_ERROR_INVALID_HANDLE:
    case SINEW_ERROR_INVALID_NAME:
    case SINEW_ERROR_INVALID_QOS:
      return fail(RMW_RET_INVALID_ARGUMENT, sinew_error_message());
    default:
      return fail(RMW_RET_ERROR, sinew_error_message());
  }
}

/// A failure that travels as an exception inside the library, with its sentence already set.
struct Failure {
  rmw_ret_t ret;
};

/// Throws unless `status` is `SINEW_OK`.
inline void require(sinew_status status)
{
  if (status != SINEW_OK) {
    throw Failure{result(status)};
  }
}

/// Runs the body of a function of rmw; no exception leaves it. Returns the body's value, or the
/// value of the failure.
template <class Body>
rmw_ret_t guarded(Body && body) noexcept
{
  try {
    return explained(std::forward<Body>(body)());
  } catch (const Failure & failure) {
    return explained(failure.ret);
  } catch (const std::bad_alloc &) {
    return fail(RMW_RET_BAD_ALLOC, "out of memory");
  } catch (const std::exception & error) {
    return fail(RMW_RET_ERROR, error.what());
  } catch (...) {
    return fail(RMW_RET_ERROR, "unknown exception");
  }
}

/// As `guarded`, for a function that returns a pointer: null after a failure.
template <class Body>
auto guarded_pointer(Body && body) noexcept -> decltype(body())
{
  decltype(body()) pointer = nullptr;
  (void)guarded([&] {
    pointer = std::forward<Body>(body)();
    return RMW_RET_OK;
  });
  return pointer;
}

}  // namespace rmw_sinew
