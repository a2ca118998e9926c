/// The requests of a client that have no response yet.
#ifndef SINEW_DETAIL_PENDING_REQUESTS_HPP
#define SINEW_DETAIL_PENDING_REQUESTS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "sinew/sinew.h"

namespace sinew::detail
{

/// Requests by their number, so that a program can give up old ones. Any thread.
class PendingRequests
{
public:
  using TimePoint = std::chrono::time_point<std::chrono::system_clock>;

  /// Adds a request that is about to be sent, as its response may come before its id.
  std::int64_t add()
  {
    const std::lock_guard lock(mutex_);
    requests_[++last_].sent = std::chrono::system_clock::now();
    return last_;
  }

  /// Adds the id of the C interface, unless the response is here already.
  void set_id(std::int64_t number, sinew_request_id id)
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = requests_.find(number); found != requests_.end()) {
      found->second.id = id;
    }
  }

  void remove(std::int64_t number)
  {
    const std::lock_guard lock(mutex_);
    requests_.erase(number);
  }

  /// Returns the requests for which a predicate holds, and forgets them. One that another thread is
  /// just sending is left out.
  template<class Predicate>
  std::vector<std::pair<std::int64_t, sinew_request_id>> take_if(Predicate && is_taken)
  {
    std::vector<std::pair<std::int64_t, sinew_request_id>> taken;
    const std::lock_guard lock(mutex_);
    for (auto at = requests_.begin(); at != requests_.end(); ) {
      if (at->second.id.sequence != 0 && is_taken(at->first, at->second.sent)) {
        taken.emplace_back(at->first, at->second.id);
        at = requests_.erase(at);
      } else {
        ++at;
      }
    }
    return taken;
  }

private:
  struct Request
  {
    TimePoint sent;
    sinew_request_id id{};
  };

  std::mutex mutex_;
  std::int64_t last_ = 0;
  std::map<std::int64_t, Request> requests_;
};

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_PENDING_REQUESTS_HPP
