/// Callback groups that own the state of their callbacks.
#ifndef SINEW_GROUP_HPP
#define SINEW_GROUP_HPP

#include <chrono>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "sinew/callback_group.hpp"
#include "sinew/detail/function_traits.hpp"
#include "sinew/error.hpp"
#include "sinew/node.hpp"
#include "sinew/qos.hpp"
#include "sinew/subscription.hpp"
#include "sinew/subscription_options.hpp"
#include "sinew/timer.hpp"

namespace sinew
{

namespace detail
{

/// A function that gets a group's state before its other arguments.
template<class State, class F>
struct WithState
{
  std::shared_ptr<State> state;
  F function;

  template<class ... Arguments>
  auto operator()(Arguments && ... arguments)
  -> decltype(this->function(*this->state, std::forward<Arguments>(arguments)...))
  {
    return function(*state, std::forward<Arguments>(arguments)...);
  }
};

template<class Parameters>
struct WithoutFirst
{
  using type = Parameters;
};
template<class First, class ... Others>
struct WithoutFirst<TypeList<First, Others...>>
{
  using type = TypeList<Others...>;
};

template<class State, class F>
struct FunctionTraits<WithState<State, F>>
{
  using parameters = typename WithoutFirst<parameters_t<F>>::type;
};

}  // namespace detail

/// A mutually exclusive callback group that owns the state of its callbacks. Each callback gets the
/// state as its first argument, and no two of them run at once, on any number of threads: the state
/// needs no lock.
///
///     struct Odometry {double distance = 0;};
///     sinew::Group<Odometry> group(*node);
///     auto speeds = group.create_subscription<std_msgs::msg::Float64>(
///       "speed", 10, [](Odometry & state, const std_msgs::msg::Float64 & speed) {
///         state.distance += 0.01 * speed.data;
///       });
///
/// The state lives as long as the group or one of the callbacks.
template<class State>
class Group
{
public:
  /// Makes a group; the arguments are those of the state's constructor.
  template<class ... Arguments>
  explicit Group(Node & node, Arguments && ... arguments)
  : Group(try_make(node, std::forward<Arguments>(arguments)...).value()) {}

  template<class ... Arguments>
  static Result<Group> try_make(Node & node, Arguments && ... arguments)
  {
    auto group = node.try_create_callback_group(CallbackGroupType::MutuallyExclusive);
    if (!group) {
      return group.error();
    }
    return Group(
      node.shared_handle(), *std::move(group), std::shared_ptr<State>(
        new State{std::forward<Arguments>(arguments)...}));
  }

  /// As `Node::create_subscription`, with the state as the first argument of the callback. The
  /// group in the options has no effect.
  template<class T, class F>
  typename Subscription<T>::SharedPtr create_subscription(
    const std::string & topic, const QoS & qos, F && callback, SubscriptionOptions options = {})
  {
    return try_create_subscription<T>(
      topic, qos, std::forward<F>(callback), std::move(options)).value();
  }
  template<class T, class F>
  Result<typename Subscription<T>::SharedPtr> try_create_subscription(
    const std::string & topic, const QoS & qos, F && callback, SubscriptionOptions options = {})
  {
    options.callback_group = group_;
    return Subscription<T>::try_make(
      node_, topic, qos, with_state(std::forward<F>(callback)), options);
  }

  /// As `Node::create_wall_timer` and `Node::create_timer`, with the state as the first argument of
  /// the callback.
  template<class Rep, class Period, class F>
  auto create_wall_timer(
    std::chrono::duration<Rep, Period> period, F && callback, bool autostart = true)
  {
    using Timer = WallTimer<Bound<F>>;
    return Timer::try_make(
      node_.get(), period, with_state(std::forward<F>(callback)), group_, autostart).value();
  }
  template<class Rep, class Period, class F>
  auto create_timer(
    std::chrono::duration<Rep, Period> period, F && callback, bool autostart = true)
  {
    using Timer = GenericTimer<Bound<F>>;
    return Timer::try_make(
      node_.get(), period, with_state(std::forward<F>(callback)), RCL_ROS_TIME, group_,
      autostart).value();
  }

  /// Has an executor run a function with the state, once.
  template<class F>
  void post(F && function) {try_post(std::forward<F>(function)).value();}
  template<class F>
  Result<void> try_post(F && function)
  {
    return group_->try_post(with_state(std::forward<F>(function)));
  }

  /// The group, for executors and for entities that don't need the state.
  const CallbackGroup::SharedPtr & callback_group() const noexcept {return group_;}

private:
  Group(
    std::shared_ptr<sinew_node> node, CallbackGroup::SharedPtr group,
    std::shared_ptr<State> state) noexcept
  : node_(std::move(node)), group_(std::move(group)), state_(std::move(state)) {}

  template<class F>
  using Bound = detail::WithState<State, std::decay_t<F>>;

  template<class F>
  Bound<F> with_state(F && function) const
  {
    return {state_, std::forward<F>(function)};
  }

  std::shared_ptr<sinew_node> node_;
  CallbackGroup::SharedPtr group_;
  std::shared_ptr<State> state_;
};

}  // namespace sinew

#endif  // SINEW_GROUP_HPP
