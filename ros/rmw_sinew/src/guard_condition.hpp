// Guard conditions: a program triggers them to wake a wait set.
#pragma once

#include "waitable.hpp"

namespace rmw_sinew {

/// The `data` of a `rmw_guard_condition_t`. It counts triggers as arrivals; a wait set that reports
/// it takes all of them.
class GuardCondition : public Entity {
public:
  void trigger() { waitable().notify(1); }
};

}  // namespace rmw_sinew
