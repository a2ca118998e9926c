/// Why a message could not be encoded or decoded.
#ifndef SINEW_CDR_ERROR_HPP
#define SINEW_CDR_ERROR_HPP

#include <cstddef>
#include <cstdint>
#include <string>

namespace sinew::cdr
{

/// The reason why a message could not be encoded or decoded, or none: then it converts to `false`.
class [[nodiscard]] Error
{
public:
  enum class Kind : std::uint8_t
  {
    /// There is no error.
    NONE,
    /// The bytes end before the value does. `count()`: where the field would end; `limit()`:
    /// length.
    TRUNCATED,
    /// A sequence claims more elements (`count()`) than the remaining bytes can hold (`limit()`).
    TOO_LONG,
    /// A bounded string or sequence has more elements (`count()`) than its bound (`limit()`).
    BOUND,
    /// A field has a value that its type does not allow, at byte `count()`.
    INVALID,
    /// The header names a representation (`count()`) that is not read.
    REPRESENTATION,
    /// A string or sequence has more elements (`count()`) than CDR can count (`limit()`).
    UNCOUNTABLE,
    /// The buffer for the encoded form has `limit()` bytes, but the message needs `count()`.
    BUFFER,
  };

  Error() = default;

  Error(Kind kind, std::size_t count, std::size_t limit, const char * problem = "") noexcept
  : kind_(kind), count_(count), limit_(limit), problem_(problem) {}

  /// Returns whether there is an error.
  explicit operator bool() const noexcept {return kind_ != Kind::NONE;}

  Kind kind() const noexcept {return kind_;}
  std::size_t count() const noexcept {return count_;}
  std::size_t limit() const noexcept {return limit_;}

  /// The innermost message type with the field, e.g. `sensor_msgs/msg/Image`.
  const char * type_name() const noexcept {return type_name_ == nullptr ? "" : type_name_;}

  /// The field.
  const char * field() const noexcept {return field_ == nullptr ? "" : field_;}

  /// Says what is wrong, and where. Allocates.
  std::string sentence() const
  {
    const std::string place = std::string("`") + field() + "` of " + type_name();
    const std::string count = std::to_string(count_);
    const std::string limit = std::to_string(limit_);
    switch (kind_) {
      case Kind::NONE:
        return "no error";
      case Kind::TRUNCATED:
        return place + " needs bytes up to " + count + ", but the message ends at byte " + limit;
      case Kind::TOO_LONG:
        return place + " claims " + count +
               " elements, but the rest of the message has room for " + limit + " at most";
      case Kind::BOUND:
        return place + " has " + count + " elements, but its type allows " + limit + " at most";
      case Kind::INVALID:
        return place + " at byte " + count + " is not valid: " + problem_;
      case Kind::REPRESENTATION:
        return std::string("the encoded ") + type_name() + " has representation " + count +
               ", but only plain CDR is read (0 and 1); let its writer use XCDR version 1";
      case Kind::UNCOUNTABLE:
        return place + " has " + count + " elements, but CDR can count " + limit + " at most";
      case Kind::BUFFER:
        return std::string("the encoded ") + type_name() + " has " + count +
               " bytes, but its buffer " + limit + "; give it a buffer of encoded_size() bytes";
    }
    return "unknown error";
  }

  /// Names the field, unless a nested message has named its own.
  void in_field(const char * name) noexcept
  {
    if (field_ == nullptr) {
      field_ = name;
    }
  }

  /// Names the type, unless a nested message has named its own.
  void in_type(const char * name) noexcept
  {
    if (type_name_ == nullptr) {
      type_name_ = name;
    }
  }

private:
  Kind kind_ = Kind::NONE;
  std::size_t count_ = 0;
  std::size_t limit_ = 0;
  const char * problem_ = "";
  const char * type_name_ = nullptr;
  const char * field_ = nullptr;
};

}  // namespace sinew::cdr

#endif  // SINEW_CDR_ERROR_HPP
