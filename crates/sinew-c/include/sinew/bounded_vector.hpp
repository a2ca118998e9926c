/// A sequence of bounded length: `int32[<=3]` in a definition.
#ifndef SINEW_BOUNDED_VECTOR_HPP
#define SINEW_BOUNDED_VECTOR_HPP

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinew
{

/// A `std::vector` of at most `Bound` elements.
///
/// An operation that would exceed the bound throws `std::length_error` and leaves the sequence as
/// it was. In a program without exceptions it prints the same sentence and aborts.
template<class T, std::size_t Bound, class Allocator = std::allocator<T>>
class BoundedVector : private std::vector<T, Allocator>
{
  using Base = std::vector<T, Allocator>;

  template<class Iterator>
  using IfIterator = std::enable_if_t<std::is_convertible_v<
    typename std::iterator_traits<Iterator>::iterator_category, std::input_iterator_tag>>;

public:
  using typename Base::allocator_type;
  using typename Base::const_iterator;
  using typename Base::const_pointer;
  using typename Base::const_reference;
  using typename Base::const_reverse_iterator;
  using typename Base::difference_type;
  using typename Base::iterator;
  using typename Base::pointer;
  using typename Base::reference;
  using typename Base::reverse_iterator;
  using typename Base::size_type;
  using typename Base::value_type;

  /// The largest number of elements.
  static constexpr std::size_t bound = Bound;

  BoundedVector() = default;

  explicit BoundedVector(const Allocator & allocator) noexcept
  : Base(allocator) {}

  explicit BoundedVector(size_type count, const Allocator & allocator = Allocator())
  : Base(checked(count), allocator) {}

  BoundedVector(size_type count, const T & value, const Allocator & allocator = Allocator())
  : Base(checked(count), value, allocator) {}

  BoundedVector(std::initializer_list<T> values, const Allocator & allocator = Allocator())
  : Base(allocator)
  {
    assign(values);
  }

  template<class Iterator, class = IfIterator<Iterator>>
  BoundedVector(Iterator first, Iterator last, const Allocator & allocator = Allocator())
  : Base(allocator)
  {
    assign(first, last);
  }

  BoundedVector & operator=(std::initializer_list<T> values)
  {
    assign(values);
    return *this;
  }

  void assign(size_type count, const T & value) {Base::assign(checked(count), value);}

  void assign(std::initializer_list<T> values)
  {
    checked(values.size());
    Base::assign(values);
  }

  template<class Iterator, class = IfIterator<Iterator>>
  void assign(Iterator first, Iterator last)
  {
    // An input iterator has no length before it is read, hence the second vector.
    Base values(first, last, Base::get_allocator());
    checked(values.size());
    Base::swap(values);
  }

  /// As above, for values in memory: nothing is allocated if the capacity suffices.
  void assign(const T * first, const T * last)
  {
    checked(static_cast<size_type>(last - first));
    Base::assign(first, last);
  }

  using Base::at;
  using Base::back;
  using Base::begin;
  using Base::capacity;
  using Base::cbegin;
  using Base::cend;
  using Base::clear;
  using Base::crbegin;
  using Base::crend;
  using Base::empty;
  using Base::end;
  using Base::erase;
  using Base::front;
  using Base::get_allocator;
  using Base::operator[];
  using Base::pop_back;
  using Base::rbegin;
  using Base::rend;
  using Base::shrink_to_fit;
  using Base::size;

  /// A pointer to the elements. (`bool`s have none: `std::vector<bool>` packs them.)
  template<class U = T, class = std::enable_if_t<!std::is_same_v<U, bool>>>
  U * data() noexcept {return Base::data();}

  template<class U = T, class = std::enable_if_t<!std::is_same_v<U, bool>>>
  const U * data() const noexcept {return Base::data();}

  size_type max_size() const noexcept {return Bound < Base::max_size() ? Bound : Base::max_size();}

  void reserve(size_type count) {Base::reserve(checked(count));}

  void resize(size_type count) {Base::resize(checked(count));}

  void resize(size_type count, const T & value) {Base::resize(checked(count), value);}

  void push_back(const T & value)
  {
    checked_growth(1);
    Base::push_back(value);
  }

  void push_back(T && value)
  {
    checked_growth(1);
    Base::push_back(std::move(value));
  }

  template<class... Arguments>
  reference emplace_back(Arguments &&... arguments)
  {
    checked_growth(1);
    return Base::emplace_back(std::forward<Arguments>(arguments)...);
  }

  template<class... Arguments>
  iterator emplace(const_iterator position, Arguments &&... arguments)
  {
    checked_growth(1);
    return Base::emplace(position, std::forward<Arguments>(arguments)...);
  }

  iterator insert(const_iterator position, const T & value) {return emplace(position, value);}

  iterator insert(const_iterator position, T && value) {return emplace(position, std::move(value));}

  iterator insert(const_iterator position, size_type count, const T & value)
  {
    checked_growth(count);
    return Base::insert(position, count, value);
  }

  iterator insert(const_iterator position, std::initializer_list<T> values)
  {
    checked_growth(values.size());
    return Base::insert(position, values);
  }

  template<class Iterator, class = IfIterator<Iterator>>
  iterator insert(const_iterator position, Iterator first, Iterator last)
  {
    Base values(first, last, Base::get_allocator());
    checked_growth(values.size());
    return Base::insert(
      position, std::make_move_iterator(values.begin()), std::make_move_iterator(values.end()));
  }

  void swap(BoundedVector & other) noexcept(noexcept(std::declval<Base &>().swap(other)))
  {
    Base::swap(other);
  }

  friend void swap(BoundedVector & a, BoundedVector & b) noexcept(noexcept(a.swap(b))) {a.swap(b);}

  friend bool operator==(const BoundedVector & a, const BoundedVector & b)
  {
    return a.base() == b.base();
  }
  friend bool operator!=(const BoundedVector & a, const BoundedVector & b) {return !(a == b);}
  friend bool operator<(const BoundedVector & a, const BoundedVector & b)
  {
    return a.base() < b.base();
  }
  friend bool operator>(const BoundedVector & a, const BoundedVector & b) {return b < a;}
  friend bool operator<=(const BoundedVector & a, const BoundedVector & b) {return !(b < a);}
  friend bool operator>=(const BoundedVector & a, const BoundedVector & b) {return !(a < b);}

private:
  const Base & base() const noexcept {return *this;}

  static size_type checked(size_type count)
  {
    if (count > Bound) {
      exceeded(std::to_string(count));
    }
    return count;
  }

  void checked_growth(size_type more) const
  {
    if (more > Bound - size()) { // not `size() + more`, which may wrap around
      exceeded(std::to_string(size()) + " + " + std::to_string(more));
    }
  }

  [[noreturn]] static void exceeded(const std::string & count)
  {
    const std::string sentence =
      count + " elements are more than the " + std::to_string(Bound) + " that the type allows";
#if defined(__cpp_exceptions)
    throw std::length_error(sentence);
#else
    std::fprintf(stderr, "sinew::BoundedVector: %s\n", sentence.c_str());
    std::abort();
#endif
  }
};

}  // namespace sinew

#endif  // SINEW_BOUNDED_VECTOR_HPP
