#include "arm_msgs/msg/joint.hpp"
#include "factory_msgs/msg/line.hpp"
#include "sinew/sinew.hpp"

int main(int argc, char ** argv)
{
  sinew::init(argc, argv);
  factory_msgs::msg::Line line;
  line.joints.emplace_back().ranges.resize(1);
  return line.joints.at(0).name == "shoulder" && sinew::ok() ? 0 : 1;
}
