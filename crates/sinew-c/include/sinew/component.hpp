/// Components: nodes that a container loads from a shared library while it runs.
///
///     namespace drivers
///     {
///     class Camera : public sinew::Node
///     {
///     public:
///       explicit Camera(const sinew::NodeOptions & options)
///       : Node("camera", options) {}
///     };
///     }  // namespace drivers
///
///     SINEW_COMPONENTS_REGISTER_NODE(drivers::Camera)
///
/// The library links with the shared library `sinew`. The program `sinew-container` loads it:
/// `sinew-container --library ./libdrivers.so --component drivers::Camera`; so do launch files, and
/// `sinew component load CONTAINER ./libdrivers.so drivers::Camera`.
///
/// A library stays in its process to the end, also after `dlclose`: the message types that it has
/// registered point into it, and the inline variables of these headers are unique in the process
/// (`STB_GNU_UNIQUE`), as the default context has to be.
#ifndef SINEW_COMPONENT_HPP
#define SINEW_COMPONENT_HPP

#include <memory>
#include <type_traits>
#include <utility>

#include "sinew/detail/callback.hpp"
#include "sinew/init.hpp"
#include "sinew/node.hpp"
#include "sinew/node_options.hpp"
#include "sinew/sinew.h"

namespace sinew::detail
{

/// The components of the shared library into which this is compiled, and of no other.
__attribute__((visibility("hidden"))) inline const sinew_component * components = nullptr;

/// A kind of node that containers make: a class with a constructor for `const NodeOptions &` that
/// is a `Node`, or has one (`get_node_base_interface()`).
template<class T>
class ComponentRegistration
{
public:
  explicit ComponentRegistration(const char * type_name) noexcept
  : component_{sizeof(sinew_component), type_name, create, destroy, nullptr, components}
  {
    components = &component_;
  }
  ComponentRegistration(const ComponentRegistration &) = delete;
  ComponentRegistration & operator=(const ComponentRegistration &) = delete;

private:
  using Owner = std::shared_ptr<T>;

  static sinew_status create(
    void *, const sinew_node_request * request, void ** component,
    const sinew_node ** node) noexcept
  {
    return guarded(
      [&] {
        const auto options = NodeOptions::try_from_request(request).value();
        offer_default_context(options.context());
        auto made = std::make_shared<T>(options);
        if constexpr (std::is_base_of_v<Node, T>) {
          *node = made->handle();
        } else {
          *node = made->get_node_base_interface()->handle();
        }
        *component = new Owner(std::move(made));
      });
  }

  static void destroy(void * component) noexcept {delete static_cast<Owner *>(component);}

  sinew_component component_;
};

}  // namespace sinew::detail

/// What a container calls.
extern "C" __attribute__((visibility("default"), used)) inline const sinew_component_library *
sinew_components() noexcept
{
  static sinew_component_library library{};
  library.size = sizeof library;
  library.abi = SINEW_COMPONENT_ABI;
  library.version = sinew_version;
  library.components = sinew::detail::components;
  return &library;
}

#define SINEW_DETAIL_JOIN_AGAIN(one, other) one ## other
#define SINEW_DETAIL_JOIN(one, other) SINEW_DETAIL_JOIN_AGAIN(one, other)

/// Registers a class with all containers that load the library, under its name as it is written
/// here. To be used outside of namespaces, any number of times in a library, on a line of its own.
#define SINEW_COMPONENTS_REGISTER_NODE(Class) \
  namespace \
  { \
  const ::sinew::detail::ComponentRegistration<Class> \
  SINEW_DETAIL_JOIN(sinew_component_, __LINE__){#Class}; \
  }

#ifndef RCLCPP_COMPONENTS_REGISTER_NODE
#define RCLCPP_COMPONENTS_REGISTER_NODE(Class) SINEW_COMPONENTS_REGISTER_NODE(Class)
#endif

#endif  // SINEW_COMPONENT_HPP
