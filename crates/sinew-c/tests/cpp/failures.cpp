// Failures as values and as exceptions, contexts, names of nodes.
#include <stdexcept>
#include <string>

#include "check.hpp"
#include "sinew/detail/callback.hpp"
#include "sinew/sinew.hpp"

namespace
{

class Driver : public sinew::Node
{
public:
  Driver()
  : Node("driver", "arm", sinew::NodeOptions().arguments({"speed:=velocity"})) {}
};

void contexts_and_nodes(int argc, char ** argv)
{
  CHECK(!sinew::ok());
  sinew::init(argc, argv);
  CHECK(sinew::ok());
  const auto second = sinew::try_init(argc, argv);
  CHECK(!second && second.error().code() == SINEW_ERROR_ALREADY_INITIALIZED);
  const auto driver = std::make_shared<Driver>();
  CHECK_EQ(std::string(driver->get_fully_qualified_name()), "/arm/driver");
  CHECK_EQ(driver->get_namespace(), std::string("/arm"));
}

void names()
{
  const auto made = sinew::Node::try_make("1 bad");
  CHECK(!made);
  CHECK_EQ(made.error().code(), SINEW_ERROR_INVALID_NAME);
  CHECK(made.error().sentence().find("`1 bad`") != std::string::npos);
  CHECK_THROWS(made.value(), std::invalid_argument);
  CHECK_THROWS(sinew::Node("1 bad"), sinew::exceptions::InvalidNodeNameError);
  CHECK_THROWS(sinew::Node("good", "bad ns"), sinew::Exception);
}

/// The very exception that a callback threw comes out of the spin.
void exceptions_pass_through_a_spin()
{
  const auto node = sinew::Node::make_shared("thrower");
  auto settings = sinew::detail::options<sinew_executor_options>();
  settings.on_error = SINEW_FAULT_STOP;
  sinew::detail::Handle<sinew_executor, sinew_executor_free> executor;
  sinew::detail::check(sinew_executor_new(&settings, sinew::detail::Out(executor)));
  sinew::detail::check(sinew_executor_add_node(executor.get(), node->handle()));
  const auto post = [&node](sinew_work work) {
      sinew::detail::check(sinew_node_post(node->handle(), work, nullptr, nullptr));
    };
  const auto spin = [&executor] {
      sinew::detail::check_spin(sinew_executor_spin_some(executor.get(), nullptr));
    };
  post([](void *) {
      return sinew::detail::guarded([] {throw std::out_of_range("too far");});
    });
  CHECK_THROWS(spin(), std::out_of_range);
  post([](void *) {return sinew::detail::guarded([] {throw 7;});});
  CHECK_THROWS(spin(), int);
  post([](void *) -> sinew_status {return SINEW_ERROR_TIMEOUT;});
  CHECK_THROWS(spin(), sinew::exceptions::RCLError);
  spin();
}

}  // namespace

int main(int argc, char ** argv)
{
  contexts_and_nodes(argc, argv);
  names();
  exceptions_pass_through_a_spin();
  CHECK(sinew::shutdown());
  CHECK(!sinew::ok() && !sinew::shutdown());
  CHECK_THROWS(sinew::Node("late"), sinew::exceptions::RCLError);
}
