/// Failures: as values (`Error`, `Result`), and as exceptions where the compiler has them.
///
/// Every operation that can fail has two forms: `f(..)` throws an exception, and `try_f(..)`
/// returns a `Result`. In a program without exceptions (`-fno-exceptions`) the first prints the
/// sentence of the failure and aborts.
///
///     auto publisher = node->try_create_publisher<std_msgs::msg::String>("~", 10);
///     if (!publisher) {
///       std::cerr << publisher.error().what() << '\n';
///     }
#ifndef SINEW_ERROR_HPP
#define SINEW_ERROR_HPP

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "sinew/exceptions.hpp"
#include "sinew/invalid_name.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// Why an operation failed: a number, `SINEW_ERROR_..`, and a sentence that says what failed,
/// where, the limit and the remedy.
class [[nodiscard]] Error
{
public:
  Error(sinew_status code, std::string sentence)
  : code_(code), sentence_(std::move(sentence)) {}

  /// The failure of an invalid name.
  Error(std::string sentence, InvalidName name)
  : code_(SINEW_ERROR_INVALID_NAME), sentence_(std::move(sentence)),
    name_(std::make_shared<const InvalidName>(std::move(name))) {}

  /// Returns the failure of a function of the C interface that this thread called last.
  static Error last(sinew_status code)
  {
    Error error(code, sinew_error_message());
    if (code == SINEW_ERROR_INVALID_NAME) {
      sinew_invalid_name name{};
      name.size = sizeof name;
      if (sinew_error_invalid_name(&name)) {
        error.name_ = std::make_shared<const InvalidName>(
          InvalidName{name.kind, name.name, name.index});
      }
    }
    return error;
  }

  /// The number, which keeps its meaning in later versions.
  sinew_status code() const noexcept {return code_;}

  const std::string & sentence() const noexcept {return sentence_;}

  /// The sentence.
  const char * what() const noexcept {return sentence_.c_str();}

  /// The invalid name of `SINEW_ERROR_INVALID_NAME`; null for other failures.
  const InvalidName * invalid_name() const noexcept {return name_.get();}

  /// Throws the exception that stands for the code; without exceptions, prints the sentence and
  /// aborts.
  [[noreturn]] void raise() const
  {
#ifdef __cpp_exceptions
    detail::throw_exception(code_, sentence_, name_ ? *name_ : InvalidName());
#else
    std::fprintf(stderr, "%s\n", sentence_.c_str());
    std::abort();
#endif
  }

private:
  sinew_status code_;
  std::string sentence_;
  std::shared_ptr<const InvalidName> name_;
};

/// A value, or why there is none. As `std::expected<T, Error>` of C++23: moved and copied as a `T`.
///
/// A union written out, because each `std::variant` costs a compiler many times as much.
template<class T>
class [[nodiscard]] Result
{
  class NotCopied;
  using Copied = std::conditional_t<std::is_copy_constructible_v<T>, Result, NotCopied>;

public:
  using value_type = T;
  using error_type = Error;

  Result(T value)  // NOLINT(runtime/explicit)
  : value_(std::move(value)), has_value_(true) {}
  Result(Error error)  // NOLINT(runtime/explicit)
  : error_(std::move(error)), has_value_(false) {}

  Result(Result && other) noexcept(std::is_nothrow_move_constructible_v<T>)
  : has_value_(other.has_value_) {construct(std::move(other));}
  Result(const Copied & other)  // NOLINT(runtime/explicit)
  : has_value_(other.has_value_) {construct(other);}
  ~Result() {destroy();}

  Result & operator=(Result && other) noexcept
  {
    static_assert(std::is_nothrow_move_constructible_v<T>, "the value may not be lost on the way");
    if (this != &other) {
      destroy();
      has_value_ = other.has_value_;
      construct(std::move(other));
    }
    return *this;
  }
  Result & operator=(const Copied & other) {return *this = Result(other);}

  bool has_value() const noexcept {return has_value_;}
  explicit operator bool() const noexcept {return has_value();}

  /// Returns the value, or throws the exception of the error.
  T & value() & {check(); return **this;}
  const T & value() const & {check(); return **this;}
  T && value() && {check(); return *std::move(*this);}

  /// Returns the value, which must be there.
  T & operator*() & noexcept {return value_;}
  const T & operator*() const & noexcept {return value_;}
  T && operator*() && noexcept {return std::move(value_);}
  T * operator->() noexcept {return std::addressof(value_);}
  const T * operator->() const noexcept {return std::addressof(value_);}

  /// Returns the value, or another one.
  template<class U>
  T value_or(U && otherwise) const &
  {
    return has_value() ? **this : static_cast<T>(std::forward<U>(otherwise));
  }
  template<class U>
  T value_or(U && otherwise) &&
  {
    return has_value() ? *std::move(*this) : static_cast<T>(std::forward<U>(otherwise));
  }

  /// Returns the error, which must be there.
  const Error & error() const noexcept {return error_;}

private:
  void check() const
  {
    if (!has_value()) {
      error().raise();
    }
  }

  /// Makes what another result has, of the kind of `has_value_`.
  template<class R>
  void construct(R && other)
  {
    if (has_value_) {
      ::new (static_cast<void *>(std::addressof(value_))) T(std::forward<R>(other).value_);
    } else {
      ::new (static_cast<void *>(&error_)) Error(std::forward<R>(other).error_);
    }
  }

  void destroy() noexcept
  {
    if (has_value_) {
      value_.~T();
    } else {
      error_.~Error();
    }
  }

  union
  {
    T value_;
    Error error_;
  };
  bool has_value_;
};

/// Success, or why there is none.
template<>
class [[nodiscard]] Result<void>
{
public:
  using value_type = void;
  using error_type = Error;

  Result() = default;
  Result(Error error)  // NOLINT(runtime/explicit)
  : error_(std::move(error)) {}

  bool has_value() const noexcept {return !error_;}
  explicit operator bool() const noexcept {return has_value();}

  /// Throws the exception of the error, if there is one.
  void value() const
  {
    if (error_) {
      error_->raise();
    }
  }

  /// Returns the error, which must be there.
  const Error & error() const noexcept {return *error_;}

private:
  std::optional<Error> error_;
};

namespace detail
{

/// Turns the outcome of a function of the C interface into a result.
inline Result<void> result(sinew_status status)
{
  if (status == SINEW_OK) {
    return {};
  }
  return Error::last(status);
}

/// Throws if a function of the C interface failed.
inline void check(sinew_status status)
{
  if (status != SINEW_OK) {
    Error::last(status).raise();
  }
}

/// Returns whether a wait of the C interface ended in time; throws if it failed otherwise.
inline bool in_time(sinew_status status)
{
  if (status != SINEW_ERROR_TIMEOUT) {
    check(status);
  }
  return status == SINEW_OK;
}

}  // namespace detail

}  // namespace sinew

#endif  // SINEW_ERROR_HPP
