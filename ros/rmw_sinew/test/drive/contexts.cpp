// Options, contexts and nodes: how they begin and end.
#include <rcutils/strdup.h>
#include <rmw/discovery_options.h>
#include <rmw/domain_id.h>
#include <rmw/init_options.h>

#include <memory>

#include "drive.hpp"

namespace {

/// An allocator that fails at one allocation, and counts what is not freed.
struct Failing {
  int left;
  int held = 0;

  static void * allocate(std::size_t size, void * state)
  {
    return take(state) ? std::malloc(size) : nullptr;
  }
  static void * zero_allocate(std::size_t count, std::size_t size, void * state)
  {
    return take(state) ? std::calloc(count, size) : nullptr;
  }
  static void * reallocate(void *, std::size_t, void *) { return nullptr; }
  static void deallocate(void * memory, void * state)
  {
    static_cast<Failing *>(state)->held -= memory == nullptr ? 0 : 1;
    std::free(memory);
  }

  rcutils_allocator_t allocator()
  {
    rcutils_allocator_t made = rcutils_get_default_allocator();
    made.allocate = allocate;
    made.zero_allocate = zero_allocate;
    made.reallocate = reallocate;
    made.deallocate = deallocate;
    made.state = this;
    return made;
  }

private:
  static bool take(void * state)
  {
    Failing & failing = *static_cast<Failing *>(state);
    const bool gives = failing.left-- != 0;
    failing.held += gives ? 1 : 0;
    return gives;
  }
};

void options_are_copied()
{
  Options options;
  options.rmw.domain_id = 3;
  FAILS(
    rmw_init_options_init(&options.rmw, rcutils_get_default_allocator()),
    RMW_RET_INVALID_ARGUMENT);
  rmw_init_options_t copy = rmw_get_zero_initialized_init_options();
  OK(rmw_init_options_copy(&options.rmw, &copy));
  CHECK(copy.domain_id == 3 && copy.enclave != options.rmw.enclave);
  CHECK(std::string(copy.enclave) == options.rmw.enclave);
  FAILS(rmw_init_options_copy(&options.rmw, &copy), RMW_RET_INVALID_ARGUMENT);
  OK(rmw_init_options_fini(&copy));
  CHECK(copy.implementation_identifier == nullptr);
}

/// Whichever allocation fails, nothing of the copy is left.
void memory_may_run_out()
{
  bool failed = true;
  for (int number = 0; failed; ++number) {
    Failing failing{-1};
    rmw_init_options_t options = rmw_get_zero_initialized_init_options();
    OK(rmw_init_options_init(&options, failing.allocator()));
    options.enclave = rcutils_strdup("/some", options.allocator);
    const int held = failing.held;
    rmw_init_options_t copy = rmw_get_zero_initialized_init_options();
    failing.left = number;
    const rmw_ret_t ret = rmw_init_options_copy(&options, &copy);
    failing.left = -1;
    failed = ret != RMW_RET_OK;
    if (failed) {
      CHECK(ret == RMW_RET_BAD_ALLOC && copy.implementation_identifier == nullptr);
      CHECK(failing.held == held && rcutils_error_is_set());
      rcutils_reset_error();
    } else {
      CHECK(number > 0);
      OK(rmw_init_options_fini(&copy));
    }
    OK(rmw_init_options_fini(&options));
    CHECK(failing.held == 0);
  }
}

void a_context_ends_in_two_steps()
{
  Options options;
  rmw_context_t context = rmw_get_zero_initialized_context();
  FAILS(rmw_shutdown(&context), RMW_RET_INVALID_ARGUMENT);
  FAILS(rmw_context_fini(&context), RMW_RET_INVALID_ARGUMENT);
  OK(rmw_init(&options.rmw, &context));
  CHECK(context.actual_domain_id == 0 && context.instance_id == options.rmw.instance_id);
  FAILS(rmw_init(&options.rmw, &context), RMW_RET_INVALID_ARGUMENT);
  FAILS(rmw_context_fini(&context), RMW_RET_INVALID_ARGUMENT);
  OK(rmw_shutdown(&context));
  OK(rmw_shutdown(&context));
  MAKES_NOTHING(rmw_create_node(&context, "late", "/"));
  OK(rmw_context_fini(&context));
  CHECK(context.impl == nullptr && context.implementation_identifier == nullptr);
  OK(rmw_init(&options.rmw, &context)); // once more
  OK(rmw_shutdown(&context));
  OK(rmw_context_fini(&context));
}

void what_sinew_has_not_is_refused()
{
  Options options;
  rmw_context_t context = rmw_get_zero_initialized_context();
  options.rmw.security_options.enforce_security = RMW_SECURITY_ENFORCEMENT_ENFORCE;
  FAILS(rmw_init(&options.rmw, &context), RMW_RET_UNSUPPORTED);
  options.rmw.security_options.enforce_security = RMW_SECURITY_ENFORCEMENT_PERMISSIVE;
  options.rmw.domain_id = std::size_t{1} << 40;
  FAILS(rmw_init(&options.rmw, &context), RMW_RET_INVALID_ARGUMENT);
  options.rmw.domain_id = RMW_DEFAULT_DOMAIN_ID;
  rcutils_allocator_t allocator = options.rmw.allocator;
  allocator.deallocate(options.rmw.enclave, allocator.state);
  options.rmw.enclave = nullptr;
  FAILS(rmw_init(&options.rmw, &context), RMW_RET_INVALID_ARGUMENT);
  CHECK(context.implementation_identifier == nullptr && context.impl == nullptr);
}

void domains_are_apart()
{
  const auto in_domain = [](std::size_t domain) {
      return [=](rmw_init_options_t & options) {options.domain_id = domain;};
    };
  Context one(in_domain(1)), two(in_domain(2)), too(in_domain(2));
  CHECK(one.rmw.actual_domain_id == 1);
  Node in_one(one, "one"), in_two(two, "two"), in_too(too, "too");
  Publisher publisher(in_two, type_of<Text>(), "/topic");
  Subscription near(in_too, type_of<Text>(), "/topic"), far(in_one, type_of<Text>(), "/topic");
  wait_until(in_two, [&] {return publisher.matched() == 1;});
  publisher.publish(Text{"two"});
  CHECK(near.next<Text>().data == "two");
  CHECK(far.matched() == 0);
}

/// With discovery off, contexts of a process meet only within themselves.
void discovery_may_be_off()
{
  Context off([](rmw_init_options_t & options) {
      options.discovery_options.automatic_discovery_range = RMW_AUTOMATIC_DISCOVERY_RANGE_OFF;
    });
  Context on;
  Node hidden(off, "hidden"), node(on, "node");
  Publisher publisher(hidden, type_of<Text>(), "/topic");
  Subscription own(hidden, type_of<Text>(), "/topic"), other(node, type_of<Text>(), "/topic");
  wait_until(hidden, [&] {return publisher.matched() == 1;});
  std::size_t count = 1;
  OK(rmw_count_publishers(node.rmw, "/topic", &count));
  CHECK(count == 0);
}

/// rcl and client libraries use and destroy what they have after the shutdown.
void entities_work_after_the_shutdown()
{
  Context context;
  auto node = std::make_unique<Node>(context, "node");
  auto publisher = std::make_unique<Publisher>(*node, type_of<Text>(), "/topic");
  auto subscription = std::make_unique<Subscription>(*node, type_of<Text>(), "/topic");
  auto service = std::make_unique<Service>(*node, "/add");
  auto client = std::make_unique<Client>(*node, "/add");
  wait_until(*node, [&] {return publisher->matched() == 1 && client->is_available();});
  OK(rmw_shutdown(&context.rmw));
  publisher->publish(Text{"late"});
  CHECK(subscription->next<Text>().data == "late");
  client->send(1, 2);
  service.reset(); // with a request that waits
  publisher.reset();
  CHECK(subscription->matched() == 0);
  client.reset();
  subscription.reset();
  node.reset();
}

void names_are_checked()
{
  Context context;
  for (const char * name : {"", "1st", "a/b", "with space"}) {
    MAKES_NOTHING(rmw_create_node(&context.rmw, name, "/"));
  }
  for (const char * name_space : {"", "relative", "/ends/", "//"}) {
    MAKES_NOTHING(rmw_create_node(&context.rmw, "node", name_space));
  }
  Node node(context, "node", "/in/space");
  CHECK(std::string(node.rmw->name) == "node" && std::string(node.rmw->namespace_) == "/in/space");
  const rmw_qos_profile_t profile = qos();
  rmw_publisher_options_t options = rmw_get_default_publisher_options();
  for (const char * topic : {"", "relative", "/ends/", "/with space", "/a//b"}) {
    MAKES_NOTHING(rmw_create_publisher(node.rmw, type_of<Text>(), topic, &profile, &options));
    MAKES_NOTHING(rmw_create_service(node.rmw, add_type(), topic, &profile));
    MAKES_NOTHING(rmw_create_client(node.rmw, add_type(), topic, &profile));
    std::size_t count = 0;
    FAILS(rmw_count_publishers(node.rmw, topic, &count), RMW_RET_INVALID_ARGUMENT);
  }
  rmw_qos_profile_t unknown = rmw_qos_profile_unknown;
  MAKES_NOTHING(rmw_create_publisher(node.rmw, type_of<Text>(), "/topic", &unknown, &options));
  options.require_unique_network_flow_endpoints =
    RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED;
  MAKES_NOTHING(rmw_create_publisher(node.rmw, type_of<Text>(), "/topic", &profile, &options));
  rmw_qos_profile_t native = qos();
  native.avoid_ros_namespace_conventions = true;
  Publisher publisher(node, type_of<Text>(), "relative", native);
  rmw_qos_profile_t actual{};
  OK(rmw_publisher_get_actual_qos(publisher.rmw, &actual));
  CHECK(actual.avoid_ros_namespace_conventions);
}

}  // namespace

PROGRAM(contexts)
{
  options_are_copied();
  memory_may_run_out();
  a_context_ends_in_two_steps();
  what_sinew_has_not_is_refused();
  domains_are_apart();
  discovery_may_be_off();
  entities_work_after_the_shutdown();
  names_are_checked();
}
