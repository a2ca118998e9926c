// Several nodes in one process, made by hand, with one executor.
#include <memory>

#include "composition/components.hpp"
#include "rclcpp/rclcpp.hpp"

int main(int argc, char * argv[])
{
  rclcpp::init(argc, argv);
  rclcpp::executors::SingleThreadedExecutor executor;
  rclcpp::NodeOptions options;

  auto talker = std::make_shared<composition::Talker>(options);
  executor.add_node(talker);
  auto listener = std::make_shared<composition::Listener>(options);
  executor.add_node(listener);
  auto server = std::make_shared<composition::Server>(options);
  executor.add_node(server);
  auto client = std::make_shared<composition::Client>(options);
  executor.add_node(client);

  executor.spin();
  rclcpp::shutdown();
  return 0;
}
