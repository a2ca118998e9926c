/// Messages that are written in their encoded form, where they are published.
#ifndef SINEW_DRAFT_HPP
#define SINEW_DRAFT_HPP

#include <cstddef>
#include <cstdint>
#include <utility>

#include "sinew/detail/handle.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"
#include "sinew/span.hpp"

namespace sinew
{

/// A message to be written in its encoded form, made by `Publisher::draft`: a header of 4 bytes,
/// then plain CDR. If subscriptions of other processes match, it lies in shared memory, where they
/// read it: nothing is copied. A draft that is destroyed publishes nothing.
class Draft
{
public:
  static Result<Draft> try_make(const sinew_publisher * publisher, std::size_t length)
  {
    DraftHandle handle;
    const auto status = sinew_publisher_draft(publisher, length, detail::Out(handle));
    if (status != SINEW_OK) {
      return Error::last(status);
    }
    return Draft(std::move(handle), length);
  }

  /// The bytes, with old content.
  std::uint8_t * data() const noexcept {return data_;}
  std::size_t size() const noexcept {return size_;}
  Span<std::uint8_t> bytes() const noexcept {return {data_, size_};}
  std::uint8_t * begin() const noexcept {return data_;}
  std::uint8_t * end() const noexcept {return data_ + size_;}
  std::uint8_t & operator[](std::size_t index) const noexcept {return data_[index];}

  /// Cuts the message to its first bytes, for a writer that reserved the maximum. Fails if it has
  /// fewer.
  void truncate(std::size_t length) {try_truncate(length).value();}
  Result<void> try_truncate(std::size_t length)
  {
    auto done = detail::result(sinew_draft_truncate(handle_.get(), length));
    if (done) {
      size_ = length;
    }
    return done;
  }

  /// Gives the draft of the C interface away.
  sinew_draft * release() noexcept
  {
    data_ = nullptr;
    size_ = 0;
    return handle_.release();
  }

  Draft(Draft && other) noexcept
  : handle_(std::move(other.handle_)), data_(std::exchange(other.data_, nullptr)),
    size_(std::exchange(other.size_, 0)) {}
  Draft & operator=(Draft && other) noexcept
  {
    handle_ = std::move(other.handle_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

private:
  using DraftHandle = detail::Handle<sinew_draft, sinew_draft_free>;

  Draft(DraftHandle handle, std::size_t size) noexcept
  : handle_(std::move(handle)), data_(sinew_draft_bytes(handle_.get())), size_(size) {}

  DraftHandle handle_;
  std::uint8_t * data_;
  std::size_t size_;
};

}  // namespace sinew

#endif  // SINEW_DRAFT_HPP
