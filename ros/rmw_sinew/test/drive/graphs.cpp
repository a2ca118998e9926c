// Queries of the graph: what is there, of this process and of others, also after a death.
#include <rmw/get_node_info_and_types.h>
#include <rmw/get_service_names_and_types.h>
#include <rmw/get_topic_names_and_types.h>

#include <cstring>
#include <set>

#include "drive.hpp"

namespace {

using NamesAndTypes = std::map<std::string, std::set<std::string>>;

/// The answer of a query of names and types; `query` gets the allocator and the result.
template <class Query>
NamesAndTypes names_and_types(Query query)
{
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_names_and_types_t all = rmw_get_zero_initialized_names_and_types();
  OK(query(&allocator, &all));
  NamesAndTypes answer;
  for (std::size_t index = 0; index < all.names.size; ++index) {
    const rcutils_string_array_t & types = all.types[index];
    answer[all.names.data[index]].insert(types.data, types.data + types.size);
  }
  OK(rmw_names_and_types_fini(&all));
  return answer;
}

std::size_t count(
  rmw_ret_t (* count_all)(const rmw_node_t *, const char *, std::size_t *), const Node & node,
  const char * name)
{
  std::size_t counted = 0;
  OK(count_all(node.rmw, name, &counted));
  return counted;
}

/// The nodes as namespace, name and enclave.
std::multiset<std::string> nodes(const Node & node)
{
  rcutils_string_array_t names = rcutils_get_zero_initialized_string_array();
  rcutils_string_array_t spaces = names, enclaves = names;
  OK(rmw_get_node_names_with_enclaves(node.rmw, &names, &spaces, &enclaves));
  CHECK(names.size == spaces.size && names.size == enclaves.size);
  std::multiset<std::string> all;
  for (std::size_t index = 0; index < names.size; ++index) {
    all.insert(
      std::string(spaces.data[index]) + " " + names.data[index] + " " + enclaves.data[index]);
  }
  for (rcutils_string_array_t * texts : {&names, &spaces, &enclaves}) {
    CHECK(rcutils_string_array_fini(texts) == RCUTILS_RET_OK);
  }
  OK(rmw_get_node_names(node.rmw, &names, &spaces));
  CHECK(names.size == all.size() && spaces.size == all.size());
  CHECK(rcutils_string_array_fini(&names) == RCUTILS_RET_OK);
  CHECK(rcutils_string_array_fini(&spaces) == RCUTILS_RET_OK);
  return all;
}

void what_is_there_is_found(Node & node)
{
  const rmw_node_t * own = node.rmw;
  CHECK((nodes(node) == std::multiset<std::string>{"/ node /drive", "/far bystander /"}));
  const NamesAndTypes topics = names_and_types([&](auto * allocator, auto * all) {
      return rmw_get_topic_names_and_types(own, allocator, false, all);
    });
  CHECK((topics == NamesAndTypes{
    {"/bystander/publisher", {"std_msgs/msg/String"}},
    {"/bystander/subscription", {"drive_msgs/msg/Image"}}}));
  const NamesAndTypes services = names_and_types([&](auto * allocator, auto * all) {
      return rmw_get_service_names_and_types(own, allocator, all);
    });
  CHECK((services == NamesAndTypes{
    {"/bystander/add", {"drive_msgs/srv/Add"}}, {"/bystander/client", {"drive_msgs/srv/Add"}}}));
  const auto only = [](const char * name, const char * type) {
      return NamesAndTypes{{name, {type}}};
    };
  CHECK(names_and_types([&](auto * allocator, auto * all) {
      return rmw_get_publisher_names_and_types_by_node(
        own, allocator, "bystander", "/far", false, all);
    }) == only("/bystander/publisher", "std_msgs/msg/String"));
  CHECK(names_and_types([&](auto * allocator, auto * all) {
      return rmw_get_subscriber_names_and_types_by_node(
        own, allocator, "bystander", "/far", false, all);
    }) == only("/bystander/subscription", "drive_msgs/msg/Image"));
  CHECK(names_and_types([&](auto * allocator, auto * all) {
      return rmw_get_service_names_and_types_by_node(own, allocator, "bystander", "/far", all);
    }) == only("/bystander/add", "drive_msgs/srv/Add"));
  CHECK(names_and_types([&](auto * allocator, auto * all) {
      return rmw_get_client_names_and_types_by_node(own, allocator, "bystander", "/far", all);
    }) == only("/bystander/client", "drive_msgs/srv/Add"));
  CHECK(count(rmw_count_publishers, node, "/bystander/publisher") == 1);
  CHECK(count(rmw_count_subscribers, node, "/bystander/subscription") == 1);
  CHECK(count(rmw_count_services, node, "/bystander/add") == 1);
  CHECK(count(rmw_count_clients, node, "/bystander/client") == 1);
  CHECK(count(rmw_count_publishers, node, "/bystander/subscription") == 0);
}

void endpoints_are_described(Node & node)
{
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_topic_endpoint_info_array_t all = rmw_get_zero_initialized_topic_endpoint_info_array();
  OK(rmw_get_subscriptions_info_by_topic(
      node.rmw, &allocator, "/bystander/subscription", false, &all));
  CHECK(all.size == 1);
  const rmw_topic_endpoint_info_t & far = all.info_array[0];
  CHECK(std::string(far.node_name) == "bystander" && std::string(far.node_namespace) == "/far");
  CHECK(std::string(far.topic_type) == "drive_msgs/msg/Image");
  CHECK(far.endpoint_type == RMW_ENDPOINT_SUBSCRIPTION && far.qos_profile.depth == 3);
  CHECK(far.qos_profile.reliability == RMW_QOS_POLICY_RELIABILITY_RELIABLE);
  const auto * type = type_of<Image>();
  const rosidl_type_hash_t * hash = type->get_type_hash_func(type);
  CHECK(far.topic_type_hash.version == 1);
  CHECK(std::memcmp(far.topic_type_hash.value, hash->value, sizeof hash->value) == 0);
  OK(rmw_topic_endpoint_info_array_fini(&all, &allocator));

  Publisher publisher(node, type_of<Text>(), "/own", keep_all());
  rmw_gid_t gid{};
  OK(rmw_get_gid_for_publisher(publisher.rmw, &gid));
  OK(rmw_get_publishers_info_by_topic(node.rmw, &allocator, "/own", false, &all));
  CHECK(all.size == 1 && all.info_array[0].endpoint_type == RMW_ENDPOINT_PUBLISHER);
  CHECK(std::memcmp(all.info_array[0].endpoint_gid, gid.data, sizeof gid.data) == 0);
  CHECK(all.info_array[0].qos_profile.history == RMW_QOS_POLICY_HISTORY_KEEP_ALL);
  CHECK(all.info_array[0].topic_type_hash.value[0] == 0xdf);
  OK(rmw_topic_endpoint_info_array_fini(&all, &allocator));
  OK(rmw_get_publishers_info_by_topic(node.rmw, &allocator, "/nobody", false, &all));
  CHECK(all.size == 0);
  OK(rmw_topic_endpoint_info_array_fini(&all, &allocator));
}

/// A gid is the same for the publisher and for those that get its messages elsewhere.
void gids_are_the_same_everywhere(Node & node)
{
  Subscription subscription(node, type_of<Fixed>(), "/numbers");
  Peer peer({"counting", "1"});
  rmw_message_info_t info{};
  subscription.next<Fixed>(&info);
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_topic_endpoint_info_array_t all = rmw_get_zero_initialized_topic_endpoint_info_array();
  OK(rmw_get_publishers_info_by_topic(node.rmw, &allocator, "/numbers", false, &all));
  CHECK(all.size == 1);
  CHECK(std::memcmp(all.info_array[0].endpoint_gid, info.publisher_gid.data, 16) == 0);
  OK(rmw_topic_endpoint_info_array_fini(&all, &allocator));
}

/// Two nodes of one name, and two services of one name in a process.
void names_may_be_taken_twice(Context & context, Node & node)
{
  Node twin(context, "node");
  Service one(node, "/twice"), two(node, "/twice");
  CHECK(count(rmw_count_services, node, "/twice") == 2);
  Client client(node, "/twice");
  wait_until(node, [&] {return client.is_available();});
  CHECK(count(rmw_count_clients, node, "/twice") == 1);
  CHECK(nodes(node).count("/ node /drive") == 2);
}

struct Budget {
  std::size_t left;

  static void * allocate(std::size_t size, void * state)
  {
    std::size_t & left = static_cast<Budget *>(state)->left;
    return left == 0 ? nullptr : (--left, std::malloc(size));
  }
  static void * zero_allocate(std::size_t number, std::size_t size, void * state)
  {
    void * const made = allocate(number * size, state);
    return made == nullptr ? nullptr : std::memset(made, 0, number * size);
  }
};

/// Whichever allocation fails, a query says so; a sanitizer looks for what is left.
template <class Query>
void survives_without_memory(Query query)
{
  for (std::size_t number = 0;; ++number) {
    CHECK(number < 100);
    Budget budget{number};
    rcutils_allocator_t allocator = rcutils_get_default_allocator();
    allocator.allocate = Budget::allocate;
    allocator.zero_allocate = Budget::zero_allocate;
    allocator.state = &budget;
    const rmw_ret_t ret = query(allocator);
    if (ret == RMW_RET_OK) {
      CHECK(number > 0);
      return;
    }
    CHECK(ret == RMW_RET_BAD_ALLOC && rcutils_error_is_set());
    rcutils_reset_error();
  }
}

void memory_may_run_out(Node & node)
{
  survives_without_memory([&](rcutils_allocator_t & allocator) {
      rmw_names_and_types_t all = rmw_get_zero_initialized_names_and_types();
      const rmw_ret_t ret = rmw_get_topic_names_and_types(node.rmw, &allocator, false, &all);
      if (ret == RMW_RET_OK) {
        OK(rmw_names_and_types_fini(&all));
      }
      return ret;
    });
  survives_without_memory([&](rcutils_allocator_t & allocator) {
      rmw_topic_endpoint_info_array_t all = rmw_get_zero_initialized_topic_endpoint_info_array();
      const rmw_ret_t ret = rmw_get_publishers_info_by_topic(
        node.rmw, &allocator, "/bystander/publisher", false, &all);
      if (ret == RMW_RET_OK) {
        OK(rmw_topic_endpoint_info_array_fini(&all, &allocator));
      }
      return ret;
    });
}

}  // namespace

PROGRAM(graphs)
{
  Context context;
  Node node(context, "node");
  Peer peer({"bystander"});
  CHECK(peer.hear() == "ready");
  wait_until(node, [&] {return count(rmw_count_clients, node, "/bystander/client") == 1;});
  what_is_there_is_found(node);
  endpoints_are_described(node);
  gids_are_the_same_everywhere(node);
  memory_may_run_out(node);
  names_may_be_taken_twice(context, node);
  peer.kill();
  wait_until(node, [&] {return nodes(node).count("/far bystander /") == 0;});
  for (const auto count_all :
    {rmw_count_publishers, rmw_count_subscribers, rmw_count_services, rmw_count_clients})
  {
    for (const char * name : {"publisher", "subscription", "add", "client"}) {
      CHECK(count(count_all, node, (std::string("/bystander/") + name).c_str()) == 0);
    }
  }
}
