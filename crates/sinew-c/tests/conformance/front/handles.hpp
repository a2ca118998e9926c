// How the front end of C++ says failures, calls functions of the suite, and keeps its objects.
#ifndef HANDLES_HPP
#define HANDLES_HPP

#include <exception>
#include <memory>
#include <utility>

#include "front.h"
#include "sinew/sinew.hpp"

namespace
{

// ---- failures ----

sinew_status failed(const sinew::Error & error)
{
  sinew_error_set(error.code(), error.what(), nullptr, nullptr);
  return error.code();
}

template<class T>
sinew_status status_of(const sinew::Result<T> & result)
{
  return result ? static_cast<sinew_status>(SINEW_OK) : failed(result.error());
}

/// The status of an exception that is being handled.
sinew::Error current_error()
{
  try {
    throw;
  } catch (const std::exception & exception) {
    const auto * const own = dynamic_cast<const sinew::Exception *>(&exception);
    return sinew::Error(own ? own->code() : SINEW_ERROR_CALLBACK_FAILED, exception.what());
  }
}

/// The status of something that throws if it fails.
template<class Body>
sinew_status attempt(Body && body)
{
  try {
    std::forward<Body>(body)();
    return SINEW_OK;
  } catch (...) {
    return failed(current_error());
  }
}

// ---- callbacks ----

/// A function of the suite with its context. One that fails throws.
template<class Function>
class Callback
{
public:
  Callback(Function function, front_context_of context)
  : function_(function), context_(context.context, context.drop) {}

  template<class ... Arguments>
  auto call(Arguments ... arguments) const {return function_(context_.get(), arguments...);}

  template<class ... Arguments>
  void operator()(Arguments ... arguments) const
  {
    if (const sinew_status status = call(arguments...); status != SINEW_OK) {
      sinew::Error::last(status).raise();
    }
  }

private:
  Function function_;
  std::shared_ptr<void> context_;
};

// ---- handles ----

/// Returns what a handle of the front end is: a pointer of C++, which the handle owns.
template<class T>
const std::shared_ptr<T> & in(const void * handle)
{
  return *static_cast<const std::shared_ptr<T> *>(handle);
}

template<class T>
void drop(void * handle)
{
  delete static_cast<std::shared_ptr<T> *>(handle);
}

/// Ends an object. Its handle remains.
template<class T>
void close(const void * handle)
{
  const_cast<std::shared_ptr<T> &>(in<T>(handle)).reset();
}

template<class T, class Made>
sinew_status put(sinew::Result<Made> made, void ** handle)
{
  if (made) {
    *handle = new std::shared_ptr<T>(*std::move(made));
  }
  return status_of(made);
}

sinew::CallbackGroup::SharedPtr group_in(const void * group)
{
  return group == nullptr ? nullptr : in<sinew::CallbackGroup>(group);
}

}  // namespace

#endif  // HANDLES_HPP
