/// The buffer of frames.
#ifndef SINEW_TF2_ROS_BUFFER_HPP
#define SINEW_TF2_ROS_BUFFER_HPP

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "geometry_msgs/msg/transform_stamped.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/duration.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"
#include "sinew/tf2/convert.hpp"
#include "sinew/tf2/exceptions.hpp"
#include "sinew/tf2/time.hpp"
#include "sinew/time.hpp"

namespace tf2_ros
{

/// The time of a query: of tf2, or of a clock. 0 is the latest time that all frames on the way
/// have.
class QueryTime
{
public:
  QueryTime(tf2::TimePoint time)  // NOLINT(runtime/explicit)
  : nanoseconds_(time.time_since_epoch().count()) {}
  QueryTime(const sinew::Time & time)  // NOLINT(runtime/explicit)
  : nanoseconds_(time.nanoseconds()) {}
  template<class Allocator>
  QueryTime(const builtin_interfaces::msg::Time_<Allocator> & time)  // NOLINT(runtime/explicit)
  : nanoseconds_(tf2::nanoseconds_of(time)) {}

  sinew_time nanoseconds() const noexcept {return nanoseconds_;}

private:
  sinew_time nanoseconds_;
};

/// The frames, and their transforms over the last seconds. A `TransformListener` fills it.
///
/// Any thread may use it. Lookups run in parallel, and don't need an executor; one that waits
/// blocks its thread, while the buffer is filled by the threads that deliver the messages.
class Buffer
{
public:
  using SharedPtr = std::shared_ptr<Buffer>;
  using TransformStamped = geometry_msgs::msg::TransformStamped;

  /// Keeps transforms for this time before a frame's latest one.
  explicit Buffer(tf2::Duration cache_time = std::chrono::seconds(10))
  {
    auto settings = sinew::detail::options<sinew_tf_buffer_options>();
    settings.history = cache_time.count();
    sinew::detail::check(sinew_tf_buffer_new(&settings, sinew::detail::Out(handle_)));
  }

  /// As above. The clock is that of the listener's node in any case.
  template<class Clock>
  explicit Buffer(
    const std::shared_ptr<Clock> &, tf2::Duration cache_time = std::chrono::seconds(10))
  : Buffer(cache_time) {}

  Buffer(const Buffer &) = delete;
  Buffer & operator=(const Buffer &) = delete;

  /// Returns the transform from coordinates in the frame `source` to coordinates in `target`; waits
  /// for it up to the timeout, negative for ever. The stamp is 0 if all frames on the way are
  /// fixed.
  ///
  /// Throws `LookupException`, `ConnectivityException`, `ExtrapolationException` or
  /// `InvalidArgumentException`, which are `TransformException`s.
  TransformStamped lookupTransform(
    const std::string & target, const std::string & source, QueryTime time,
    const sinew::Duration & timeout = {}) const
  {
    return tf2::detail::value(tryLookupTransform(target, source, time, timeout));
  }
  sinew::Result<TransformStamped> tryLookupTransform(
    const std::string & target, const std::string & source, QueryTime time,
    const sinew::Duration & timeout = {}) const
  {
    sinew_transform transform{};
    sinew_time stamp = 0;
    const auto status = sinew_tf_buffer_lookup(
      handle(), target.c_str(), source.c_str(), time.nanoseconds(), timeout.nanoseconds(),
      &transform, &stamp);
    return made(status, target, source, transform, stamp);
  }

  /// As above, between two times, with the frame `fixed` at rest: for example a robot's motion.
  TransformStamped lookupTransform(
    const std::string & target, QueryTime target_time, const std::string & source,
    QueryTime source_time, const std::string & fixed, const sinew::Duration & timeout = {}) const
  {
    return tf2::detail::value(
      tryLookupTransform(target, target_time, source, source_time, fixed, timeout));
  }
  sinew::Result<TransformStamped> tryLookupTransform(
    const std::string & target, QueryTime target_time, const std::string & source,
    QueryTime source_time, const std::string & fixed, const sinew::Duration & timeout = {}) const
  {
    auto query = sinew::detail::options<sinew_tf_query>();
    query.target = target.c_str();
    query.target_time = target_time.nanoseconds();
    query.source = source.c_str();
    query.source_time = source_time.nanoseconds();
    query.fixed = fixed.c_str();
    query.wait_for = timeout.nanoseconds();
    sinew_transform transform{};
    sinew_time stamp = 0;
    const auto status = sinew_tf_buffer_lookup_over_time(handle(), &query, &transform, &stamp);
    return made(status, target, source, transform, stamp);
  }

  /// Returns whether `lookupTransform` would succeed; if not, `*error` is the reason.
  bool canTransform(
    const std::string & target, const std::string & source, QueryTime time,
    const sinew::Duration & timeout = {}, std::string * error = nullptr) const
  {
    return is_success(tryLookupTransform(target, source, time, timeout), error);
  }
  bool canTransform(
    const std::string & target, const std::string & source, QueryTime time,
    std::string * error) const
  {
    return canTransform(target, source, time, sinew::Duration(), error);
  }
  bool canTransform(
    const std::string & target, QueryTime target_time, const std::string & source,
    QueryTime source_time, const std::string & fixed, const sinew::Duration & timeout = {},
    std::string * error = nullptr) const
  {
    return is_success(
      tryLookupTransform(target, target_time, source, source_time, fixed, timeout), error);
  }

  /// Adds a transform: at its stamp, or for all times. Returns whether it was added;
  /// `trySetTransform` says why not.
  bool setTransform(
    const TransformStamped & transform, const std::string & authority, bool is_static = false)
  {
    return trySetTransform(transform, authority, is_static).has_value();
  }
  sinew::Result<void> trySetTransform(
    const TransformStamped & transform, const std::string & authority, bool is_static = false)
  {
    const auto converted = tf2::stamped_transform_of(transform);
    return sinew::detail::result(
      sinew_tf_buffer_set(handle(), &converted, is_static, authority.c_str()));
  }

  /// Transforms a message with a header, at its stamp: `buffer.transform(point, "map")`. There has
  /// to be a `tf2::doTransform` for its type: see `sinew/tf2/geometry_msgs.hpp`.
  template<class T>
  T transform(const T & in, const std::string & target, const sinew::Duration & timeout = {}) const
  {
    T out;
    transform(in, out, target, timeout);
    return out;
  }
  template<class T>
  T & transform(
    const T & in, T & out, const std::string & target, const sinew::Duration & timeout = {}) const
  {
    tf2::doTransform(
      in, out, lookupTransform(target, in.header.frame_id, in.header.stamp, timeout));
    return out;
  }

  /// Forgets all moving transforms; fixed ones stay.
  void clear() {sinew::detail::check(sinew_tf_buffer_clear(handle()));}

  /// The names of all frames, sorted.
  std::vector<std::string> getAllFrameNames() const
  {
    std::vector<std::string> all;
    for_frames([&all](const char * name, const char *) {all.emplace_back(name);});
    return all;
  }
  bool _frameExists(const std::string & frame) const
  {
    bool exists = false;
    for_frames([&](const char * name, const char *) {exists = exists || frame == name;});
    return exists;
  }
  /// A line for each frame that lies in another one.
  std::string allFramesAsString() const
  {
    std::string all;
    for_frames(
      [&all](const char * name, const char * parent) {
        if (*parent != 0) {
          all.append("Frame ").append(name).append(" exists with parent ").append(parent);
          all.append(".\n");
        }
      });
    return all;
  }

  /// Accepted for users of tf2_ros: waiting needs no thread of the buffer.
  void setUsingDedicatedThread(bool) noexcept {}
  bool isUsingDedicatedThread() const noexcept {return true;}

  /// The handle of the C interface.
  sinew_tf_buffer * handle() const noexcept {return handle_.get();}

private:
  static sinew::Result<TransformStamped> made(
    sinew_status status, const std::string & target, const std::string & source,
    const sinew_transform & transform, sinew_time stamp)
  {
    if (status != SINEW_OK) {
      return sinew::Error::last(status);
    }
    return tf2::message_of(target, source, transform, stamp);
  }

  static bool is_success(const sinew::Result<TransformStamped> & found, std::string * error)
  {
    if (!found && error != nullptr) {
      *error = found.error().sentence();
    }
    return found.has_value();
  }

  template<class F>
  void for_frames(F && call) const
  {
    sinew::detail::Handle<sinew_strings, sinew_strings_free> names;
    sinew::detail::Handle<sinew_strings, sinew_strings_free> parents;
    sinew::detail::check(
      sinew_tf_buffer_frames(handle(), sinew::detail::Out(names), sinew::detail::Out(parents)));
    for (std::size_t i = 0; i < sinew_strings_length(names.get()); ++i) {
      call(sinew_strings_at(names.get(), i), sinew_strings_at(parents.get(), i));
    }
  }

  sinew::detail::Handle<sinew_tf_buffer, sinew_tf_buffer_free> handle_;
};

}  // namespace tf2_ros

namespace tf2
{

/// In ROS 2 the base class of the buffer.
using BufferCore = tf2_ros::Buffer;

}  // namespace tf2

#endif  // SINEW_TF2_ROS_BUFFER_HPP
