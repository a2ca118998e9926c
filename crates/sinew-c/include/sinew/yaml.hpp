/// Messages as YAML text, in the forms of ROS 2's `to_yaml`.
///
/// Both forms are visitors, as those in `sinew/cdr.hpp`. The text is for people: numbers have six
/// significant digits.
#ifndef SINEW_YAML_HPP
#define SINEW_YAML_HPP

#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <type_traits>

#include "sinew/cdr.hpp"

namespace sinew::yaml
{

inline void value(bool value, std::ostream & out) {out << (value ? "true" : "false");}

/// Writes a number.
template<class T, class = std::enable_if_t<cdr::kind::is_number<T>>>
void value(T value, std::ostream & out)
{
  const auto flags = out.flags();
  out << std::showpoint << +value;  // `+`: a number of 8 bits is no character
  out.flags(flags);
}

/// Writes a `byte`.
inline void octet(unsigned char value, std::ostream & out)
{
  const auto flags = out.flags();
  const auto fill = out.fill();
  out << "0x" << std::hex << std::setw(2) << std::setfill('0') << +value;
  out.fill(fill);
  out.flags(flags);
}

/// Writes a text in quotes.
template<class Unit, class Traits, class Allocator>
void value(const std::basic_string<Unit, Traits, Allocator> & text, std::ostream & out)
{
  const auto flags = out.flags();
  const auto fill = out.fill();
  out << '"' << std::hex << std::setfill('0');
  for (const Unit unit : text) {
    const auto number = static_cast<std::make_unsigned_t<Unit>>(unit);
    if (unit == Unit('"') || unit == Unit('\\')) {
      out << '\\';
    }
    if (sizeof(Unit) == 1 || number < 0x80) {
      out << static_cast<char>(unit);
    } else if (number < 0x100) {
      out << "\\x" << std::setw(2) << +number;
    } else {
      out << "\\u" << std::setw(4) << +number;
    }
  }
  out << '"';
  out.fill(fill);
  out.flags(flags);
}

/// Writes a message in one line: `{x: 1.00000, y: 2.00000}`.
class Flow
{
public:
  explicit Flow(std::ostream & out)
  : out_(out) {}

  template<class T>
  void message(const T & message)
  {
    Flow inner(out_);
    MessageTraits<T>::visit(message, inner);
    out_ << (inner.is_first_ ? "null" : "}");
  }

  template<class T>
  bool field(const char * name, const T & value) {return write(name, value, false);}

  template<class T>
  bool octet(const char * name, const T & value) {return write(name, value, true);}

  template<class T>
  bool text(const char * name, const T & value, std::size_t) {return write(name, value, false);}

  bool empty_message() {return true;}

private:
  template<class T>
  bool write(const char * name, const T & value, bool is_octet)
  {
    out_ << (is_first_ ? "{" : ", ") << name << ": ";
    is_first_ = false;
    if constexpr (cdr::kind::is_sequence<T> || cdr::kind::is_array<T>) {
      out_ << '[';
      const char * separator = "";
      for (const auto & item : value) {
        out_ << separator;
        separator = ", ";
        element(static_cast<const typename T::value_type &>(item), is_octet);
      }
      out_ << ']';
    } else {
      element(value, is_octet);
    }
    return true;
  }

  template<class T>
  void element(const T & value, bool is_octet)
  {
    if constexpr (cdr::kind::is_message<T>) {
      message(value);
    } else if constexpr (std::is_same_v<T, unsigned char>) {
      is_octet ? yaml::octet(value, out_) : yaml::value(value, out_);
    } else {
      yaml::value(value, out_);
    }
  }

  std::ostream & out_;
  bool is_first_ = true;
};

/// Writes a message with a line for each value, as `ros2 topic echo` does.
class Block
{
public:
  Block(std::ostream & out, std::size_t indentation)
  : out_(out), indentation_(indentation) {}

  template<class T>
  void message(const T & message)
  {
    MessageTraits<T>::visit(message, *this);
  }

  template<class T>
  bool field(const char * name, const T & value) {return write(name, value, false);}

  template<class T>
  bool octet(const char * name, const T & value) {return write(name, value, true);}

  template<class T>
  bool text(const char * name, const T & value, std::size_t) {return write(name, value, false);}

  bool empty_message()
  {
    out_ << "null\n";
    return true;
  }

private:
  template<class T>
  bool write(const char * name, const T & value, bool is_octet)
  {
    indent() << name << ':';
    if constexpr (cdr::kind::is_sequence<T> || cdr::kind::is_array<T>) {
      out_ << (value.size() == 0 ? " []\n" : "\n");
      for (const auto & item : value) {
        indent() << '-';
        element(static_cast<const typename T::value_type &>(item), is_octet);
      }
    } else {
      element(value, is_octet);
    }
    return true;
  }

  template<class T>
  void element(const T & value, bool is_octet)
  {
    if constexpr (cdr::kind::is_message<T>) {
      out_ << '\n';
      Block(out_, indentation_ + 2).message(value);
    } else {
      out_ << ' ';
      if constexpr (std::is_same_v<T, unsigned char>) {
        is_octet ? yaml::octet(value, out_) : yaml::value(value, out_);
      } else {
        yaml::value(value, out_);
      }
      out_ << '\n';
    }
  }

  std::ostream & indent()
  {
    return out_ << std::string(indentation_, ' ');
  }

  std::ostream & out_;
  std::size_t indentation_;
};

/// Returns the text of a message.
template<class T>
std::string text(const T & message, bool use_flow_style)
{
  std::ostringstream out;
  if (use_flow_style) {
    Flow(out).message(message);
  } else {
    Block(out, 0).message(message);
  }
  return out.str();
}

}  // namespace sinew::yaml

#endif  // SINEW_YAML_HPP
