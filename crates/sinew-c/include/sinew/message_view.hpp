/// Messages where they lie, whatever their form.
#ifndef SINEW_MESSAGE_VIEW_HPP
#define SINEW_MESSAGE_VIEW_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "sinew/detail/message_handle.hpp"
#include "sinew/error.hpp"
#include "sinew/loaned_message.hpp"
#include "sinew/message.hpp"
#include "sinew/serialized_message.hpp"
#include "sinew/sinew.h"
#include "sinew/span.hpp"
#include "sinew/type_support.hpp"

namespace sinew
{

/// A message where it lies, in the form in which it came: the value, for messages of this process
/// and plain ones, or the encoded form, where another process wrote it. Nothing is copied or
/// decoded. The memory stays as long as a view of it; copying a view increments a count.
///
///     node->create_subscription<Image>("image", 10, [display](sinew::MessageView<Image> image) {
///       if (image.is_encoded()) {
///         inspect(image.bytes());
///       }
///       display->publish(std::move(image));  // passes it on as it is
///     });
template<class T>
class MessageView
{
public:
  explicit MessageView(detail::MessageHandle message) noexcept
  : message_(std::move(message))
  {
    const std::uint8_t * bytes = nullptr;
    std::size_t length = 0;
    if (!sinew_message_is_encoded(message_.get())) {
      value_ = static_cast<const T *>(sinew_message_value(message_.get()));
    } else if (sinew_message_encoded(message_.get(), &bytes, &length) == SINEW_OK) {
      bytes_ = Span<const std::uint8_t>(bytes, length);
    }
  }

  /// Makes a message of a value where it lies, to be published and kept.
  static MessageView adopt(std::unique_ptr<T> value) {return try_adopt(std::move(value)).value();}
  static Result<MessageView> try_adopt(std::unique_ptr<T> value)
  {
    auto message = detail::try_adopt(std::move(value));
    if (!message) {
      return message.error();
    }
    return MessageView(*std::move(message));
  }

  MessageView(const MessageView & other) noexcept
  : message_(sinew_message_clone(other.handle())), value_(other.value_), bytes_(other.bytes_) {}
  MessageView & operator=(const MessageView & other) noexcept
  {
    return *this = MessageView(other);
  }
  MessageView(MessageView &&) noexcept = default;
  MessageView & operator=(MessageView &&) noexcept = default;
  ~MessageView() = default;

  /// Whether there is only the encoded form.
  bool is_encoded() const noexcept {return value_ == nullptr;}

  /// The value; null for an encoded message.
  const T * value() const noexcept {return value_;}

  /// The encoded form of an encoded message, with its header of 4 bytes; otherwise empty. It may
  /// come from another process, so its content has to be checked.
  Span<const std::uint8_t> bytes() const noexcept {return bytes_;}

  /// Copies or decodes the message; the memory of `message` is used again.
  Result<void> try_read(T & message) const
  {
    if constexpr (detail::is_generated<T>) {
      if (is_encoded()) {
        const auto error = MessageTraits<T>::decode(bytes_.data(), bytes_.size(), message);
        return error ? Error(SINEW_ERROR_UNDECODABLE, error.sentence()) : Result<void>();
      }
    }
    message = *value_;
    return {};
  }
  T read() const
  {
    T message;
    try_read(message).value();
    return message;
  }

  /// The reference of the C interface.
  sinew_message * handle() const noexcept {return message_.get();}

  /// Gives the reference away.
  detail::MessageHandle release() noexcept {return std::move(message_);}

private:
  detail::MessageHandle message_;
  const T * value_ = nullptr;
  Span<const std::uint8_t> bytes_;
};

namespace detail
{

/// Writes the encoded form of a message that was received.
inline Result<void> encode_into(const sinew_message * message, SerializedMessage & serialized)
{
  serialized.resize(sinew_message_encoded_length(message));
  std::size_t length = 0;
  return result(
    sinew_message_encode_into(message, serialized.bytes().data(), serialized.size(), &length));
}

/// Returns the encoded form of a message that was received, as bytes of its own.
inline SerializedMessage serialized(const sinew_message * message)
{
  SerializedMessage serialized;
  encode_into(message, serialized).value();
  return serialized;
}

}  // namespace detail

}  // namespace sinew

#endif  // SINEW_MESSAGE_VIEW_HPP
