/// Empties messages, with their memory.
#ifndef SINEW_DETAIL_CLEAR_HPP
#define SINEW_DETAIL_CLEAR_HPP

#include "sinew/cdr/kind.hpp"
#include "sinew/cdr/visitor.hpp"

namespace sinew::detail
{

/// Clears strings and sequences, which keep their capacity. Other fields stay as they are.
class Clearer : public cdr::FieldVisitor<Clearer>
{
public:
  template<class T>
  bool value(T & value)
  {
    namespace kind = cdr::kind;
    if constexpr (kind::is_text<T> || kind::is_sequence<T>) {
      value.clear();
    } else if constexpr (kind::is_array<T>) {
      using Element = typename T::value_type;
      if constexpr (kind::is_text<Element> || kind::is_message<Element>) {
        for (Element & element : value) {
          (void)this->value(element);
        }
      }
    } else if constexpr (kind::is_message<T>) {
      return message(value);
    }
    return true;
  }

  bool empty_message() noexcept {return true;}
};

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_CLEAR_HPP
