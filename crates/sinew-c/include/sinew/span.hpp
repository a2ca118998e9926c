/// A pointer and a number of elements.
#ifndef SINEW_SPAN_HPP
#define SINEW_SPAN_HPP

#include <cstddef>

#if __cplusplus >= 202002L
#include <span>
#endif

namespace sinew
{

/// Elements that lie elsewhere, one after the other. It is the same class in each version of C++,
/// and converts to `std::span` where that exists.
template<class T>
class Span
{
public:
  constexpr Span() noexcept = default;
  constexpr Span(T * data, std::size_t size) noexcept
  : data_(data), size_(size) {}

  constexpr T * data() const noexcept {return data_;}
  constexpr std::size_t size() const noexcept {return size_;}
  constexpr bool empty() const noexcept {return size_ == 0;}
  constexpr T * begin() const noexcept {return data_;}
  constexpr T * end() const noexcept {return data_ + size_;}
  constexpr T & operator[](std::size_t index) const noexcept {return data_[index];}

#if __cplusplus >= 202002L
  constexpr operator std::span<T>() const noexcept {return {data_, size_};}
#endif

private:
  T * data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace sinew

#endif  // SINEW_SPAN_HPP
