/// The callback groups of a node.
#ifndef SINEW_DETAIL_NODE_GROUPS_HPP
#define SINEW_DETAIL_NODE_GROUPS_HPP

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sinew/callback_group.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew::detail
{

/// The groups that a node and its sub-nodes have made, and the default one. Any thread may call.
class NodeGroups
{
public:
  void add(const CallbackGroup::SharedPtr & group)
  {
    const std::lock_guard lock(mutex_);
    const auto is_gone = [](const CallbackGroup::WeakPtr & one) {return one.expired();};
    others_.erase(std::remove_if(others_.begin(), others_.end(), is_gone), others_.end());
    others_.push_back(group);
  }

  Result<CallbackGroup::SharedPtr> default_group(const sinew_node * node)
  {
    const std::lock_guard lock(mutex_);
    if (!default_) {
      auto made = CallbackGroup::try_default_of(node);
      if (!made) {
        return made;
      }
      default_ = *made;
    }
    return default_;
  }

  /// Returns the groups that exist, without the default one.
  std::vector<CallbackGroup::SharedPtr> others()
  {
    const std::lock_guard lock(mutex_);
    std::vector<CallbackGroup::SharedPtr> groups;
    for (const auto & weak : others_) {
      if (auto group = weak.lock()) {
        groups.push_back(std::move(group));
      }
    }
    return groups;
  }

  /// Notes the executor to which the node was added last.
  void set_executor(const std::shared_ptr<sinew_executor> & executor)
  {
    const std::lock_guard lock(mutex_);
    executor_ = executor;
  }

  /// Takes a group out of the node's executor, if that serves it: it may have another one.
  void take_out(const CallbackGroup & group)
  {
    std::shared_ptr<sinew_executor> executor;
    {
      const std::lock_guard lock(mutex_);
      executor = executor_.lock();
    }
    if (executor) {
      (void)sinew_executor_remove_group(executor.get(), group.handle());
    }
  }

private:
  std::mutex mutex_;
  CallbackGroup::SharedPtr default_;
  std::vector<CallbackGroup::WeakPtr> others_;
  std::weak_ptr<sinew_executor> executor_;
};

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_NODE_GROUPS_HPP
