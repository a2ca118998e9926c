#include <iostream>
#include <vector>

#include "arm_msgs/action/reach.hpp"
#include "arm_msgs/msg/joint.hpp"
#include "arm_msgs/srv/stop.hpp"
#include "sinew/sinew.hpp"
#include "std_msgs/msg/string.hpp"

int main(int argc, char ** argv)
{
  sinew::init(argc, argv);
  arm_msgs::msg::Joint joint;
  joint.ranges.resize(2);
  using Traits = sinew::MessageTraits<arm_msgs::msg::Joint>;
  std::vector<std::uint8_t> encoded(Traits::encoded_size(joint));
  arm_msgs::msg::Joint decoded;
  if (
    Traits::encode(joint, encoded.data(), encoded.size()) ||
    Traits::decode(encoded.data(), encoded.size(), decoded) || decoded != joint)
  {
    return 1;
  }
  arm_msgs::action::Reach::Goal goal;
  arm_msgs::srv::Stop::Request request;
  std::cout << to_yaml(joint) << to_yaml(goal) << to_yaml(request);
  return joint.name == "shoulder" && sinew::ok() ? 0 : 1;
}
