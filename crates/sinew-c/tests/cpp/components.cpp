// Components of C++ in a container: those of the program, and those of a shared library.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "check.hpp"
#include "sinew/component.hpp"
#include "sinew/sinew.hpp"

namespace
{

int living = 0;

class Counted : public sinew::Node
{
public:
  explicit Counted(const sinew::NodeOptions & options)
  : Node("counted", options) {++living;}
  ~Counted() override {--living;}
};

using Container = sinew::detail::Handle<sinew_container, sinew_container_free>;

Container container_with(const sinew_component * components)
{
  auto settings = sinew::detail::options<sinew_container_options>();
  settings.components = components;
  const auto context = sinew::contexts::get_global_default_context();
  Container container;
  sinew::detail::check(
    sinew_container_new(context->handle(), "container", &settings, sinew::detail::Out(container)));
  return container;
}

/// Loads a component; returns its number, or 0 after a failure.
std::uint64_t load(
  const Container & container, const char * type, const char * name = nullptr,
  const char * package = nullptr)
{
  auto settings = sinew::detail::options<sinew_load_node_options>();
  settings.node_name = name;
  settings.package = package;
  std::uint64_t id = 0;
  return sinew_container_load_node(container.get(), type, &settings, &id) == SINEW_OK ? id : 0;
}

std::string nodes(const Container & container)
{
  sinew::detail::Handle<sinew_strings, sinew_strings_free> names;
  sinew::detail::check(
    sinew_container_nodes(container.get(), sinew::detail::Out(names), nullptr, 0));
  std::string all;
  for (std::size_t i = 0; i < sinew_strings_length(names.get()); ++i) {
    all.append(sinew_strings_at(names.get(), i)).append(" ");
  }
  return all;
}

void of_the_program()
{
  const auto container = container_with(sinew_components()->components);
  CHECK_EQ(load(container, "Counted"), 1U);
  CHECK_EQ(load(container, "Counted", "other"), 2U);
  CHECK_EQ(nodes(container), "/counted /other ");
  CHECK_EQ(living, 2);
  CHECK_EQ(sinew_container_unload_node(container.get(), 1), SINEW_OK);
  CHECK_EQ(living, 1);
}

void of_a_library(const char * library)
{
  const auto container = container_with(nullptr);
  CHECK_EQ(load(container, "drivers::Camera", "left", library), 1U);
  CHECK_EQ(load(container, "drivers::Camera"), 2U);
  CHECK_EQ(load(container, "drivers::Lidar"), 3U);
  CHECK_EQ(load(container, "drivers::Radar"), 4U);
  CHECK_EQ(nodes(container), "/own/left /own/camera /lidar /radar ");
  CHECK_EQ(load(container, "drivers::Refuser"), 0U);
  CHECK(std::string(sinew_error_message()) == "drivers::Refuser refused: no camera is connected");
  CHECK_EQ(load(container, "Counted"), 0U);
  CHECK_EQ(sinew_container_unload_node(container.get(), 2), SINEW_OK);
  CHECK_EQ(nodes(container), "/own/left /lidar /radar ");
}

}  // namespace

SINEW_COMPONENTS_REGISTER_NODE(Counted)

int main(int argc, char ** argv)
{
  sinew::init(argc, argv);
  of_the_program();
  CHECK_EQ(living, 0);
  if (const char * library = std::getenv("COMPONENT_LIBRARY")) {
    of_a_library(library);
  }
  sinew::shutdown();
}
