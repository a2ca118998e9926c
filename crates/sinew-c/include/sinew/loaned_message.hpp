/// Messages in memory of the library, to be filled in and published.
#ifndef SINEW_LOANED_MESSAGE_HPP
#define SINEW_LOANED_MESSAGE_HPP

#include <utility>

#include "sinew/detail/handle.hpp"
#include "sinew/detail/message_handle.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// A message from a publisher's pool, made by `Publisher::borrow_loaned_message`. If subscriptions
/// of other processes match, a plain message lies in shared memory, where they read it: nothing is
/// copied.
template<class T>
class LoanedMessage
{
public:
  /// Returns a message that holds the content of an earlier one, with all its capacity, or that of
  /// a new one.
  static Result<LoanedMessage> try_make(const sinew_publisher * publisher)
  {
    detail::MessageHandle message;
    const auto status = sinew_publisher_loan(publisher, detail::Out(message));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return LoanedMessage(std::move(message));
  }

  /// Whether there is a message: it wasn't published or moved elsewhere.
  bool is_valid() const noexcept {return value_ != nullptr;}

  T & get() const noexcept {return *value_;}
  T & operator*() const noexcept {return *value_;}
  T * operator->() const noexcept {return value_;}

  LoanedMessage(LoanedMessage && other) noexcept
  : message_(std::move(other.message_)), value_(std::exchange(other.value_, nullptr)) {}
  LoanedMessage & operator=(LoanedMessage && other) noexcept
  {
    message_ = std::move(other.message_);
    value_ = std::exchange(other.value_, nullptr);
    return *this;
  }

  /// Gives the message of the C interface away.
  detail::MessageHandle release() noexcept
  {
    value_ = nullptr;
    return std::move(message_);
  }

private:
  explicit LoanedMessage(detail::MessageHandle message) noexcept
  : message_(std::move(message)),
    value_(static_cast<T *>(sinew_message_value_mut(message_.get()))) {}

  detail::MessageHandle message_;
  T * value_;
};

}  // namespace sinew

#endif  // SINEW_LOANED_MESSAGE_HPP
