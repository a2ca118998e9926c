/// A program's own types on topics of ROS 2.
#ifndef SINEW_TYPE_ADAPTER_HPP
#define SINEW_TYPE_ADAPTER_HPP

#include <type_traits>

namespace sinew
{

/// Converts between a type of the program and a message. The program specialises it:
///
///     template<>
///     struct sinew::TypeAdapter<std::string, std_msgs::msg::String>
///     {
///       using is_specialized = std::true_type;
///       using custom_type = std::string;
///       using ros_message_type = std_msgs::msg::String;
///
///       static void convert_to_ros_message(const custom_type & text, ros_message_type & message)
///       {
///         message.data = text;
///       }
///       static void convert_to_custom(const ros_message_type & message, custom_type & text)
///       {
///         text = message.data;
///       }
///     };
///
///     using Text = sinew::TypeAdapter<std::string, std_msgs::msg::String>;
///     auto publisher = node->create_publisher<Text>("text", 10);
///     publisher->publish(std::string("hello"));
///
/// Others see the message. Inside a process, publishers and subscriptions with the same adapter
/// pass values of the program's type on, as they pass messages, without any conversion. A value is
/// converted once for all other processes, and at most once for each subscription of its process
/// with another type.
///
/// Both types need a default constructor, and conversions get a destination that was just made.
/// They run on any thread, several at once. If one throws, the subscriptions that need it lose the
/// message, and report that.
template<class Custom, class Ros = void, class Enable = void>
struct TypeAdapter
{
  using is_specialized = std::false_type;
  using custom_type = Custom;
  using ros_message_type = Custom;
};

/// Whether `T` is a `TypeAdapter`.
template<class T>
struct is_type_adapter : std::false_type {};
template<class ... Parts>
struct is_type_adapter<TypeAdapter<Parts...>>: std::true_type {};

/// Names an adapter: `adapt_type<std::string>::as<std_msgs::msg::String>`.
template<class Custom>
struct adapt_type
{
  template<class Ros>
  using as = TypeAdapter<Custom, Ros>;
};

/// The adapter of a type that stands for it wherever a message type is expected; see
/// `SINEW_USING_CUSTOM_TYPE_AS_ROS_MESSAGE_TYPE`.
template<class Custom, class Enable = void>
struct ImplicitTypeAdapter
{
  using is_specialized = std::false_type;
};

namespace detail
{

/// The adapter of a type of publishers and subscriptions; of a type of messages it is `void`.
template<class T, class = void>
struct AdapterOf
{
  using type = void;
};
template<class Custom, class Ros>
struct AdapterOf<TypeAdapter<Custom, Ros>>
{
  static_assert(
    TypeAdapter<Custom, Ros>::is_specialized::value,
    "specialise sinew::TypeAdapter for this type and message, with is_specialized, custom_type, "
    "ros_message_type, convert_to_ros_message and convert_to_custom");
  using type = TypeAdapter<Custom, Ros>;
};
template<class T>
struct AdapterOf<T, std::enable_if_t<ImplicitTypeAdapter<T>::is_specialized::value>>
{
  using Implicit = ImplicitTypeAdapter<T>;
  using type = TypeAdapter<typename Implicit::custom_type, typename Implicit::ros_message_type>;
};

template<class T>
inline constexpr bool is_adapted = !std::is_void_v<typename AdapterOf<T>::type>;

/// The types that stand behind a type of publishers and subscriptions. A message type is all three.
template<class T, bool adapted = is_adapted<T>>
struct Adapted
{
  /// The type that is registered.
  using Registered = T;
  /// The type of the values that publishers and subscriptions handle.
  using Value = T;
  /// The type of the messages that others see.
  using Ros = T;
};
template<class T>
struct Adapted<T, true>
{
  using Registered = typename AdapterOf<T>::type;
  using Value = typename Registered::custom_type;
  using Ros = typename Registered::ros_message_type;
};

}  // namespace detail

}  // namespace sinew

/// Has a type stand for its adapter: `create_publisher<Custom>` is `create_publisher<TypeAdapter<
/// Custom, Ros>>`. Outside all namespaces, after the specialisation of `TypeAdapter`.
#define SINEW_USING_CUSTOM_TYPE_AS_ROS_MESSAGE_TYPE(Custom, Ros) \
  template<> \
  struct sinew::ImplicitTypeAdapter<Custom>: public sinew::TypeAdapter<Custom, Ros> \
  { \
    static_assert( \
      is_specialized::value, "specialise sinew::TypeAdapter for these types, above this line"); \
  };

#endif  // SINEW_TYPE_ADAPTER_HPP
