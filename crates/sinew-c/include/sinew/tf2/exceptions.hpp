/// The exceptions of tf2. Each of them is also a `sinew::Exception`.
#ifndef SINEW_TF2_EXCEPTIONS_HPP
#define SINEW_TF2_EXCEPTIONS_HPP

#include <string>
#include <utility>

#include "sinew/error.hpp"
#include "sinew/exceptions.hpp"

#ifdef __cpp_exceptions

namespace tf2
{

/// A transform can't be used, or there is none: a base of all exceptions of tf2.
class TransformException : public sinew::Exception, public std::runtime_error
{
public:
  TransformException(sinew_status code, const std::string & sentence)
  : Exception(code), std::runtime_error(sentence) {}
  explicit TransformException(const std::string & sentence)
  : TransformException(SINEW_ERROR_UNKNOWN_FRAME, sentence) {}
};

/// The frames are in two trees.
class ConnectivityException : public TransformException
{
public:
  using TransformException::TransformException;
};

/// A frame is unknown.
class LookupException : public TransformException
{
public:
  using TransformException::TransformException;
};

/// The time is outside of what is kept.
class ExtrapolationException : public TransformException
{
public:
  using TransformException::TransformException;
};

/// A name or a number is invalid.
class InvalidArgumentException : public TransformException
{
public:
  using TransformException::TransformException;
};

/// The transform didn't come in time.
class TimeoutException : public TransformException
{
public:
  using TransformException::TransformException;
};

}  // namespace tf2

#endif  // __cpp_exceptions

namespace tf2::detail
{

/// Throws the exception that stands for a failure; without exceptions, prints the sentence and
/// aborts.
[[noreturn]] inline void raise(const sinew::Error & error)
{
#ifdef __cpp_exceptions
  switch (error.code()) {
    case SINEW_ERROR_UNKNOWN_FRAME:
    case SINEW_ERROR_FRAME_LOOP:
      throw LookupException(error.code(), error.sentence());
    case SINEW_ERROR_NOT_CONNECTED:
      throw ConnectivityException(error.code(), error.sentence());
    case SINEW_ERROR_EXTRAPOLATION:
      throw ExtrapolationException(error.code(), error.sentence());
    case SINEW_ERROR_INVALID_FRAME_NAME:
    case SINEW_ERROR_INVALID_TRANSFORM:
      throw InvalidArgumentException(error.code(), error.sentence());
    default:
      break;
  }
#endif
  error.raise();
}

/// Returns the value, or throws tf2's exception.
template<class T>
T value(sinew::Result<T> result)
{
  if (!result) {
    raise(result.error());
  }
  return *std::move(result);
}

}  // namespace tf2::detail

#endif  // SINEW_TF2_EXCEPTIONS_HPP
