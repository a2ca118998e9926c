#include "borrowed_bytes.hpp"

#include <rcutils/allocator.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace rmw_sinew {
namespace {

/// Shorter messages are copied: that is faster than keeping a list.
constexpr std::size_t SHORTEST = 4096;

/// The most messages that a process holds in this way, for example in the cache of a recorder.
/// Beyond it they are copied, so that publishers get their memory back.
constexpr std::size_t MOST = 64;

/// The messages that are lent, by the address of their bytes. Several subscriptions of a process
/// may have one message.
class Loans {
public:
  /// Returns false if there are too many already; then the message is still the caller's.
  bool add(const void * bytes, MessageHandle & message)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (messages_.size() >= MOST) {
      return false;
    }
    messages_.emplace(bytes, std::move(message));
    return true;
  }

  /// Ends the loan of these bytes. Returns false if they are not lent.
  bool end(const void * bytes)
  {
    MessageHandle message; // is freed under no lock
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = messages_.find(bytes);
    if (found == messages_.end()) {
      return false;
    }
    message = std::move(found->second);
    messages_.erase(found);
    return true;
  }

  /// Returns the length of what is lent, or 0.
  std::size_t length(const void * bytes)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = messages_.find(bytes);
    return found == messages_.end() ? 0 : sinew_message_encoded_length(found->second.get());
  }

private:
  std::mutex mutex_;
  std::unordered_multimap<const void *, MessageHandle> messages_;
};

/// Is never destroyed, as messages of rmw may be freed at the very end of a program.
Loans & loans()
{
  static Loans & all = *new Loans;
  return all;
}

void * allocate(std::size_t size, void *)
{
  return std::malloc(size);
}

void deallocate(void * pointer, void *)
{
  if (pointer != nullptr && !loans().end(pointer)) {
    std::free(pointer);
  }
}

void * reallocate(void * pointer, std::size_t size, void *)
{
  const std::size_t lent = pointer == nullptr ? 0 : loans().length(pointer);
  if (lent == 0) {
    return std::realloc(pointer, size);
  }
  void * const made = std::malloc(size);
  if (made != nullptr) {
    std::memcpy(made, pointer, std::min(size, lent));
    loans().end(pointer);
  }
  return made;
}

void * zero_allocate(std::size_t count, std::size_t size, void *)
{
  return std::calloc(count, size);
}

/// Has no state, so copies of a message of rmw may keep it as long as they like.
rcutils_allocator_t allocator()
{
  rcutils_allocator_t made = rcutils_get_zero_initialized_allocator();
  made.allocate = allocate;
  made.deallocate = deallocate;
  made.reallocate = reallocate;
  made.zero_allocate = zero_allocate;
  return made;
}

bool is_ours(const rcutils_allocator_t & one)
{
  return one.deallocate == deallocate;
}

/// Whether it is the heap, from which ours allocates, too.
bool is_heap(const rcutils_allocator_t & one)
{
  return one.deallocate == rcutils_get_default_allocator().deallocate;
}

}  // namespace

void lend(MessageHandle message, rmw_serialized_message_t & to)
{
  const Encoded encoded = encoded_of(message);
  const bool may_lend = is_ours(to.allocator) || is_heap(to.allocator);
  if (encoded.length < SHORTEST || !may_lend || !loans().add(encoded.bytes, message)) {
    own(to);
    copy_to(to, encoded);
    return;
  }
  to.allocator.deallocate(to.buffer, to.allocator.state);
  to.buffer = const_cast<std::uint8_t *>(encoded.bytes);
  to.buffer_length = encoded.length;
  to.buffer_capacity = encoded.length;
  to.allocator = allocator();
}

void own(rmw_serialized_message_t & message)
{
  if (is_ours(message.allocator) && message.buffer != nullptr && loans().end(message.buffer)) {
    message.buffer = nullptr;
    message.buffer_length = 0;
    message.buffer_capacity = 0;
  }
}

}  // namespace rmw_sinew
