// A shared library with components of C++: nodes, one that has a node, and one that refuses.
#include <memory>
#include <stdexcept>
#include <string>

#include "sinew/component.hpp"

namespace drivers
{

class Camera : public sinew::Node
{
public:
  explicit Camera(const sinew::NodeOptions & options)
  : Node("camera", "own", options) {}
};

/// Has a node, as rclcpp's components may.
class Lidar
{
public:
  explicit Lidar(const sinew::NodeOptions & options)
  : node_(std::make_shared<sinew::Node>("lidar", options)) {}

  sinew::Node::SharedPtr get_node_base_interface() const {return node_;}

private:
  sinew::Node::SharedPtr node_;
};

/// Uses the default context, which is that of the container.
class Radar : public sinew::Node
{
public:
  explicit Radar(const sinew::NodeOptions & options)
  : Node("radar", options), echo_("echo")
  {
    if (!sinew::ok() || sinew::contexts::get_global_default_context() != echo_.get_context()) {
      throw std::logic_error("the container's context isn't the default one");
    }
  }

private:
  sinew::Node echo_;
};

class Refuser : public sinew::Node
{
public:
  explicit Refuser(const sinew::NodeOptions & options)
  : Node("refuser", options)
  {
    throw std::runtime_error("no camera is connected");
  }
};

}  // namespace drivers

SINEW_COMPONENTS_REGISTER_NODE(drivers::Camera)
SINEW_COMPONENTS_REGISTER_NODE(drivers::Lidar)
RCLCPP_COMPONENTS_REGISTER_NODE(drivers::Radar)
RCLCPP_COMPONENTS_REGISTER_NODE(drivers::Refuser)
