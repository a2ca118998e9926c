/// What `Length`, `Writer` and `Reader` share, and the check of bounds.
#ifndef SINEW_CDR_VISITOR_HPP
#define SINEW_CDR_VISITOR_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "sinew/cdr/error.hpp"
#include "sinew/cdr/kind.hpp"

namespace sinew::cdr
{

/// Returns the number of characters in a text. Invalid UTF-8 counts as it is displayed: each U+FFFD
/// is one character (the "maximal subparts" of the Unicode Standard, section 3.9).
inline std::size_t characters(std::string_view text) noexcept
{
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    const auto byte = [&](std::size_t index) {return static_cast<unsigned char>(text[index]);};
    const unsigned first = byte(at);
    const int more = first < 0xc2 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 0;
    // The second byte of some sequences has a smaller range: no surrogates, nothing overlong.
    unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    ++at;
    for (int i = 0; i < more && at < text.size() && byte(at) >= least && byte(at) <= most; ++i) {
      least = 0x80;
      most = 0xbf;
      ++at;
    }
  }
  return count;
}

/// The same for UTF-16: an unpaired surrogate counts as one character.
inline std::size_t characters(std::u16string_view text) noexcept
{
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    const auto is = [&](std::size_t index, unsigned kind) {
        return index < text.size() && (text[index] & 0xfc00u) == kind;
      };
    at += is(at, 0xd800) && is(at + 1, 0xdc00) ? 2u : 1u;
  }
  return count;
}

/// What the visitors share: a field is dispatched by its kind to the methods of the visitor.
template<class Visitor>
class FieldVisitor
{
public:
  /// Visits a field.
  template<class T>
  bool field(const char * name, T & value)
  {
    if (self().value(value)) {
      return true;
    }
    error_.in_field(name);
    return false;
  }

  /// Visits a field of type `byte`, or several.
  template<class T>
  bool octet(const char * name, T & value) {return field(name, value);}

  /// Visits a string of at most `bound` characters, or several.
  template<class T>
  bool text(const char * name, T & value, std::size_t bound)
  {
    bound_ = bound;
    const bool done = field(name, value);
    bound_ = SIZE_MAX;
    return done;
  }

  /// Visits the fields of a message.
  template<class T>
  bool message(T & value)
  {
    using Traits = MessageTraits<std::remove_const_t<T>>;
    if (Traits::visit(value, self())) {
      return true;
    }
    error_.in_type(Traits::name.data());
    return false;
  }

  const Error & error() const noexcept {return error_;}

protected:
  /// Notes an error. Not inline: this is rare.
#if defined(__GNUC__)
  __attribute__((cold, noinline))
#endif
  bool fail(Error::Kind kind, std::size_t count, std::size_t limit, const char * problem = "")
  {
    error_ = Error(kind, count, limit, problem);
    return false;
  }

  /// Checks a string against the bound of its field.
  template<class Text>
  bool is_within_bound(const Text & text)
  {
    if (text.size() <= bound_) {
      return true;  // every character has at least one unit
    }
    using View = std::basic_string_view<typename Text::value_type>;
    const std::size_t count = characters(View(text.data(), text.size()));
    return count <= bound_ || fail(Error::Kind::BOUND, count, bound_);
  }

  Error error_;

private:
  Visitor & self() noexcept {return static_cast<Visitor &>(*this);}

  /// The bound of the string field that is being visited.
  std::size_t bound_ = SIZE_MAX;
};

/// Checks strings against their bounds.
class BoundChecker : public FieldVisitor<BoundChecker>
{
public:
  template<class T>
  bool value(const T & value)
  {
    if constexpr (kind::is_text<T>) {
      return is_within_bound(value);
    } else if constexpr (kind::is_sequence<T> || kind::is_array<T>) {
      using Element = typename T::value_type;
      if constexpr (kind::is_text<Element> || kind::is_message<Element>) {
        for (const Element & element : value) {
          if (!this->value(element)) {
            return false;
          }
        }
      }
    } else if constexpr (kind::is_message<T>) {
      return message(value);
    }
    return true;
  }

  bool empty_message() noexcept {return true;}
};

}  // namespace sinew::cdr

#endif  // SINEW_CDR_VISITOR_HPP
