// What a program has borrowed.
#pragma once

#include <mutex>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "check.hpp"

namespace rmw_sinew {

/// Values on loan, by their address, with the handle that keeps each. Any thread may use it.
template <class Handle>
class Loans {
public:
  void add(const void * value, Handle handle)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    loans_.emplace(value, std::move(handle));
  }

  /// Ends a loan, and returns its handle. Throws if the value isn't on loan.
  Handle remove(const void * value)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = loans_.find(value);
    if (found == loans_.end()) {
      throw Failure{fail(RMW_RET_ERROR, "the message is not on loan from here")};
    }
    Handle handle = std::move(found->second);
    loans_.erase(found);
    return handle;
  }

private:
  std::mutex mutex_;
  std::unordered_map<const void *, Handle> loans_;
};

}  // namespace rmw_sinew
