// Null and foreign arguments, of every function: each is refused with an error, and nothing else
// happens. A test looks for the name of every function in this file.
#include <rmw/event.h>
#include <rmw/features.h>
#include <rmw/get_network_flow_endpoints.h>
#include <rmw/get_node_info_and_types.h>
#include <rmw/get_service_names_and_types.h>
#include <rmw/get_topic_names_and_types.h>
#include <rmw/init_options.h>
#include <rmw/dynamic_message_type_support.h>

#include "drive.hpp"

#define INVALID(call) FAILS(call, RMW_RET_INVALID_ARGUMENT)
#define FOREIGN(call) FAILS(call, RMW_RET_INCORRECT_RMW_IMPLEMENTATION)
#define UNSUPPORTED(call) FAILS(call, RMW_RET_UNSUPPORTED)

namespace {

/// A copy that another implementation would have made.
template <class Handle>
Handle foreign(const Handle * handle)
{
  Handle made = *handle;
  made.implementation_identifier = "another implementation";
  return made;
}

void of_contexts(Context & context)
{
  CHECK(std::string(rmw_get_implementation_identifier()) == "rmw_sinew");
  CHECK(rmw_get_implementation_identifier() == context.rmw.implementation_identifier);
  CHECK(std::string(rmw_get_serialization_format()) == "cdr");
  Options options;
  rmw_init_options_t other_options = foreign(&options.rmw);
  rmw_init_options_t zero_options = rmw_get_zero_initialized_init_options();
  rmw_context_t other = foreign(&context.rmw), zero = rmw_get_zero_initialized_context();
  INVALID(rmw_init_options_init(nullptr, rcutils_get_default_allocator()));
  INVALID(rmw_init_options_init(&zero_options, rcutils_get_zero_initialized_allocator()));
  INVALID(rmw_init_options_copy(nullptr, &zero_options));
  INVALID(rmw_init_options_copy(&zero_options, &options.rmw));
  INVALID(rmw_init_options_copy(&options.rmw, nullptr));
  FOREIGN(rmw_init_options_copy(&other_options, &zero_options));
  INVALID(rmw_init_options_fini(nullptr));
  INVALID(rmw_init_options_fini(&zero_options));
  FOREIGN(rmw_init_options_fini(&other_options));
  INVALID(rmw_init(nullptr, &zero));
  INVALID(rmw_init(&options.rmw, nullptr));
  INVALID(rmw_init(&zero_options, &zero));
  FOREIGN(rmw_init(&other_options, &zero));
  INVALID(rmw_shutdown(nullptr));
  FOREIGN(rmw_shutdown(&other));
  INVALID(rmw_context_fini(nullptr));
  FOREIGN(rmw_context_fini(&other));
  rmw_context_t * const none = nullptr;
  for (rmw_context_t * const wrong : {none, &zero, &other}) {
    MAKES_NOTHING(rmw_create_node(wrong, "node", "/"));
    MAKES_NOTHING(rmw_create_guard_condition(wrong));
    MAKES_NOTHING(rmw_create_wait_set(wrong, 1));
  }
  MAKES_NOTHING(rmw_create_node(&context.rmw, nullptr, "/"));
  MAKES_NOTHING(rmw_create_node(&context.rmw, "node", nullptr));
  INVALID(rmw_set_log_severity(static_cast<rmw_log_severity_t>(45)));
  OK(rmw_set_log_severity(RMW_LOG_SEVERITY_INFO));
  rmw_guard_condition_t * condition = rmw_create_guard_condition(&context.rmw);
  rmw_guard_condition_t other_condition = foreign(condition);
  INVALID(rmw_trigger_guard_condition(nullptr));
  FOREIGN(rmw_trigger_guard_condition(&other_condition));
  INVALID(rmw_destroy_guard_condition(nullptr));
  FOREIGN(rmw_destroy_guard_condition(&other_condition));
  OK(rmw_destroy_guard_condition(condition));
  rmw_wait_set_t * set = rmw_create_wait_set(&context.rmw, 1);
  rmw_wait_set_t other_set = foreign(set);
  FAILS(rmw_destroy_wait_set(nullptr), RMW_RET_ERROR); // as tests of ROS 2 want it
  FOREIGN(rmw_destroy_wait_set(&other_set));
  INVALID(rmw_wait(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
  FOREIGN(rmw_wait(nullptr, nullptr, nullptr, nullptr, nullptr, &other_set, nullptr));
  OK(rmw_destroy_wait_set(set));
}

void of_nodes(Node & node)
{
  rmw_node_t other = foreign(node.rmw);
  INVALID(rmw_destroy_node(nullptr));
  FOREIGN(rmw_destroy_node(&other));
  MAKES_NOTHING(rmw_node_get_graph_guard_condition(nullptr));
  MAKES_NOTHING(rmw_node_get_graph_guard_condition(&other));
  INVALID(rmw_node_assert_liveliness(nullptr));
  UNSUPPORTED(rmw_node_assert_liveliness(node.rmw));
}

void of_publishers(Node & node)
{
  Publisher publisher(node, type_of<Text>(), "/topic");
  rmw_node_t other_node = foreign(node.rmw);
  rmw_publisher_t other = foreign(publisher.rmw);
  const auto * type = type_of<Text>();
  const rmw_qos_profile_t profile = qos();
  const rmw_publisher_options_t options = rmw_get_default_publisher_options();
  MAKES_NOTHING(rmw_create_publisher(nullptr, type, "/topic", &profile, &options));
  MAKES_NOTHING(rmw_create_publisher(&other_node, type, "/topic", &profile, &options));
  MAKES_NOTHING(rmw_create_publisher(node.rmw, nullptr, "/topic", &profile, &options));
  MAKES_NOTHING(rmw_create_publisher(node.rmw, type, nullptr, &profile, &options));
  MAKES_NOTHING(rmw_create_publisher(node.rmw, type, "/topic", nullptr, &options));
  MAKES_NOTHING(rmw_create_publisher(node.rmw, type, "/topic", &profile, nullptr));
  INVALID(rmw_destroy_publisher(nullptr, publisher.rmw));
  INVALID(rmw_destroy_publisher(node.rmw, nullptr));
  FOREIGN(rmw_destroy_publisher(&other_node, publisher.rmw));
  FOREIGN(rmw_destroy_publisher(node.rmw, &other));
  Text text;
  INVALID(rmw_publish(nullptr, &text, nullptr));
  INVALID(rmw_publish(publisher.rmw, nullptr, nullptr));
  FOREIGN(rmw_publish(&other, &text, nullptr));
  const rmw_serialized_message_t bytes = rcutils_get_zero_initialized_uint8_array();
  INVALID(rmw_publish_serialized_message(nullptr, &bytes, nullptr));
  INVALID(rmw_publish_serialized_message(publisher.rmw, nullptr, nullptr));
  FOREIGN(rmw_publish_serialized_message(&other, &bytes, nullptr));
  CHECK(rmw_publish_serialized_message(publisher.rmw, &bytes, nullptr) != RMW_RET_OK); // empty
  CHECK(rcutils_error_is_set());
  rcutils_reset_error();
  std::size_t count = 0;
  INVALID(rmw_publisher_count_matched_subscriptions(nullptr, &count));
  INVALID(rmw_publisher_count_matched_subscriptions(publisher.rmw, nullptr));
  FOREIGN(rmw_publisher_count_matched_subscriptions(&other, &count));
  rmw_qos_profile_t actual{};
  INVALID(rmw_publisher_get_actual_qos(nullptr, &actual));
  INVALID(rmw_publisher_get_actual_qos(publisher.rmw, nullptr));
  FOREIGN(rmw_publisher_get_actual_qos(&other, &actual));
  INVALID(rmw_publisher_assert_liveliness(nullptr));
  FOREIGN(rmw_publisher_assert_liveliness(&other));
  INVALID(rmw_publisher_wait_for_all_acked(nullptr, {0, 0}));
  FOREIGN(rmw_publisher_wait_for_all_acked(&other, {0, 0}));
  rmw_gid_t gid{};
  INVALID(rmw_get_gid_for_publisher(nullptr, &gid));
  INVALID(rmw_get_gid_for_publisher(publisher.rmw, nullptr));
  FOREIGN(rmw_get_gid_for_publisher(&other, &gid));
  OK(rmw_get_gid_for_publisher(publisher.rmw, &gid));
  rmw_gid_t other_gid = foreign(&gid);
  bool equal = false;
  INVALID(rmw_compare_gids_equal(nullptr, &gid, &equal));
  INVALID(rmw_compare_gids_equal(&gid, nullptr, &equal));
  INVALID(rmw_compare_gids_equal(&gid, &gid, nullptr));
  FOREIGN(rmw_compare_gids_equal(&gid, &other_gid, &equal));
  rmw_event_t event = rmw_get_zero_initialized_event();
  INVALID(rmw_publisher_event_init(nullptr, publisher.rmw, RMW_EVENT_PUBLICATION_MATCHED));
  INVALID(rmw_publisher_event_init(&event, nullptr, RMW_EVENT_PUBLICATION_MATCHED));
  FOREIGN(rmw_publisher_event_init(&event, &other, RMW_EVENT_PUBLICATION_MATCHED));
  UNSUPPORTED(rmw_publisher_event_init(&event, publisher.rmw, RMW_EVENT_MESSAGE_LOST));
  UNSUPPORTED(rmw_publisher_event_init(&event, publisher.rmw, RMW_EVENT_INVALID));
  CHECK(event.implementation_identifier == nullptr);
  INVALID(rmw_event_set_callback(nullptr, nullptr, nullptr));
  rmw_matched_status_t status{};
  bool taken = false;
  INVALID(rmw_take_event(nullptr, &status, &taken));
  OK(rmw_publisher_event_init(&event, publisher.rmw, RMW_EVENT_PUBLICATION_MATCHED));
  INVALID(rmw_publisher_event_init(&event, publisher.rmw, RMW_EVENT_PUBLICATION_MATCHED));
  INVALID(rmw_take_event(&event, nullptr, &taken));
  INVALID(rmw_take_event(&event, &status, nullptr));
  rmw_event_t other_event = foreign(&event);
  FOREIGN(rmw_take_event(&other_event, &status, &taken));
  FOREIGN(rmw_event_set_callback(&other_event, nullptr, nullptr));
  CHECK(rmw_event_type_is_supported(RMW_EVENT_MESSAGE_LOST));
  CHECK(!rmw_event_type_is_supported(RMW_EVENT_INVALID));
  void * loan = nullptr;
  INVALID(rmw_borrow_loaned_message(nullptr, type, &loan));
  FOREIGN(rmw_borrow_loaned_message(&other, type, &loan));
  UNSUPPORTED(rmw_borrow_loaned_message(publisher.rmw, type, &loan));
  INVALID(rmw_return_loaned_message_from_publisher(nullptr, &text));
  UNSUPPORTED(rmw_return_loaned_message_from_publisher(publisher.rmw, &text));
  INVALID(rmw_publish_loaned_message(nullptr, &text, nullptr));
  UNSUPPORTED(rmw_publish_loaned_message(publisher.rmw, &text, nullptr));
  UNSUPPORTED(rmw_publisher_get_network_flow_endpoints(publisher.rmw, nullptr, nullptr));
  UNSUPPORTED(rmw_init_publisher_allocation(type, nullptr, nullptr));
  UNSUPPORTED(rmw_fini_publisher_allocation(nullptr));
  CHECK(!publisher.rmw->can_loan_messages);
}

void of_subscriptions(Node & node)
{
  Subscription subscription(node, type_of<Text>(), "/topic");
  rmw_node_t other_node = foreign(node.rmw);
  rmw_subscription_t other = foreign(subscription.rmw);
  const auto * type = type_of<Text>();
  const rmw_qos_profile_t profile = qos();
  const rmw_subscription_options_t options = rmw_get_default_subscription_options();
  MAKES_NOTHING(rmw_create_subscription(nullptr, type, "/topic", &profile, &options));
  MAKES_NOTHING(rmw_create_subscription(&other_node, type, "/topic", &profile, &options));
  MAKES_NOTHING(rmw_create_subscription(node.rmw, nullptr, "/topic", &profile, &options));
  MAKES_NOTHING(rmw_create_subscription(node.rmw, type, nullptr, &profile, &options));
  MAKES_NOTHING(rmw_create_subscription(node.rmw, type, "/topic", nullptr, &options));
  MAKES_NOTHING(rmw_create_subscription(node.rmw, type, "/topic", &profile, nullptr));
  INVALID(rmw_destroy_subscription(nullptr, subscription.rmw));
  INVALID(rmw_destroy_subscription(node.rmw, nullptr));
  FOREIGN(rmw_destroy_subscription(&other_node, subscription.rmw));
  FOREIGN(rmw_destroy_subscription(node.rmw, &other));
  std::size_t count = 0;
  INVALID(rmw_subscription_count_matched_publishers(nullptr, &count));
  INVALID(rmw_subscription_count_matched_publishers(subscription.rmw, nullptr));
  FOREIGN(rmw_subscription_count_matched_publishers(&other, &count));
  rmw_qos_profile_t actual{};
  INVALID(rmw_subscription_get_actual_qos(nullptr, &actual));
  INVALID(rmw_subscription_get_actual_qos(subscription.rmw, nullptr));
  FOREIGN(rmw_subscription_get_actual_qos(&other, &actual));
  Text text;
  bool taken = false;
  rmw_message_info_t info{};
  INVALID(rmw_take(nullptr, &text, &taken, nullptr));
  INVALID(rmw_take(subscription.rmw, nullptr, &taken, nullptr));
  INVALID(rmw_take(subscription.rmw, &text, nullptr, nullptr));
  FOREIGN(rmw_take(&other, &text, &taken, nullptr));
  INVALID(rmw_take_with_info(nullptr, &text, &taken, &info, nullptr));
  INVALID(rmw_take_with_info(subscription.rmw, nullptr, &taken, &info, nullptr));
  INVALID(rmw_take_with_info(subscription.rmw, &text, nullptr, &info, nullptr));
  INVALID(rmw_take_with_info(subscription.rmw, &text, &taken, nullptr, nullptr));
  FOREIGN(rmw_take_with_info(&other, &text, &taken, &info, nullptr));
  rmw_serialized_message_t bytes = rcutils_get_zero_initialized_uint8_array();
  INVALID(rmw_take_serialized_message(nullptr, &bytes, &taken, nullptr));
  INVALID(rmw_take_serialized_message(subscription.rmw, nullptr, &taken, nullptr));
  INVALID(rmw_take_serialized_message(subscription.rmw, &bytes, nullptr, nullptr));
  FOREIGN(rmw_take_serialized_message(&other, &bytes, &taken, nullptr));
  INVALID(rmw_take_serialized_message_with_info(nullptr, &bytes, &taken, &info, nullptr));
  INVALID(
    rmw_take_serialized_message_with_info(subscription.rmw, &bytes, &taken, nullptr, nullptr));
  FOREIGN(rmw_take_serialized_message_with_info(&other, &bytes, &taken, &info, nullptr));
  void * place = &text;
  rmw_message_sequence_t messages{&place, 0, 1, nullptr};
  rmw_message_info_sequence_t infos{&info, 0, 1, nullptr};
  INVALID(rmw_take_sequence(nullptr, 1, &messages, &infos, &count, nullptr));
  INVALID(rmw_take_sequence(subscription.rmw, 1, nullptr, &infos, &count, nullptr));
  INVALID(rmw_take_sequence(subscription.rmw, 1, &messages, nullptr, &count, nullptr));
  INVALID(rmw_take_sequence(subscription.rmw, 1, &messages, &infos, nullptr, nullptr));
  FOREIGN(rmw_take_sequence(&other, 1, &messages, &infos, &count, nullptr));
  INVALID(rmw_subscription_set_on_new_message_callback(nullptr, nullptr, nullptr));
  FOREIGN(rmw_subscription_set_on_new_message_callback(&other, nullptr, nullptr));
  rmw_event_t event = rmw_get_zero_initialized_event();
  INVALID(rmw_subscription_event_init(nullptr, subscription.rmw, RMW_EVENT_MESSAGE_LOST));
  INVALID(rmw_subscription_event_init(&event, nullptr, RMW_EVENT_MESSAGE_LOST));
  FOREIGN(rmw_subscription_event_init(&event, &other, RMW_EVENT_MESSAGE_LOST));
  UNSUPPORTED(rmw_subscription_event_init(&event, subscription.rmw, RMW_EVENT_LIVELINESS_LOST));
  void * loan = nullptr;
  INVALID(rmw_take_loaned_message(nullptr, &loan, &taken, nullptr));
  UNSUPPORTED(rmw_take_loaned_message(subscription.rmw, &loan, &taken, nullptr));
  INVALID(rmw_take_loaned_message_with_info(nullptr, &loan, &taken, &info, nullptr));
  UNSUPPORTED(rmw_take_loaned_message_with_info(subscription.rmw, &loan, &taken, &info, nullptr));
  INVALID(rmw_return_loaned_message_from_subscription(nullptr, &text));
  UNSUPPORTED(rmw_return_loaned_message_from_subscription(subscription.rmw, &text));
  UNSUPPORTED(rmw_subscription_get_network_flow_endpoints(subscription.rmw, nullptr, nullptr));
  UNSUPPORTED(rmw_subscription_set_content_filter(subscription.rmw, nullptr));
  UNSUPPORTED(rmw_subscription_get_content_filter(subscription.rmw, nullptr, nullptr));
  UNSUPPORTED(rmw_take_dynamic_message(subscription.rmw, nullptr, &taken, nullptr));
  UNSUPPORTED(
    rmw_take_dynamic_message_with_info(subscription.rmw, nullptr, &taken, &info, nullptr));
  UNSUPPORTED(rmw_serialization_support_init("fastcdr", nullptr, nullptr));
  UNSUPPORTED(rmw_init_subscription_allocation(type, nullptr, nullptr));
  UNSUPPORTED(rmw_fini_subscription_allocation(nullptr));
  CHECK(!subscription.rmw->can_loan_messages && !subscription.rmw->is_cft_enabled);
  CHECK(rmw_feature_supported(RMW_FEATURE_MESSAGE_INFO_RECEPTION_SEQUENCE_NUMBER));
  CHECK(!rmw_feature_supported(RMW_MIDDLEWARE_CAN_TAKE_DYNAMIC_MESSAGE));
}

void of_clients(Node & node)
{
  Client client(node, "/add");
  rmw_node_t other_node = foreign(node.rmw);
  rmw_client_t other = foreign(client.rmw);
  const rmw_qos_profile_t profile = qos();
  MAKES_NOTHING(rmw_create_client(nullptr, add_type(), "/add", &profile));
  MAKES_NOTHING(rmw_create_client(&other_node, add_type(), "/add", &profile));
  MAKES_NOTHING(rmw_create_client(node.rmw, nullptr, "/add", &profile));
  MAKES_NOTHING(rmw_create_client(node.rmw, add_type(), nullptr, &profile));
  MAKES_NOTHING(rmw_create_client(node.rmw, add_type(), "/add", nullptr));
  INVALID(rmw_destroy_client(nullptr, client.rmw));
  INVALID(rmw_destroy_client(node.rmw, nullptr));
  FOREIGN(rmw_destroy_client(node.rmw, &other));
  AddRequest request;
  AddResponse response;
  std::int64_t sequence = 0;
  rmw_service_info_t info{};
  bool taken = false;
  INVALID(rmw_send_request(nullptr, &request, &sequence));
  INVALID(rmw_send_request(client.rmw, nullptr, &sequence));
  INVALID(rmw_send_request(client.rmw, &request, nullptr));
  FOREIGN(rmw_send_request(&other, &request, &sequence));
  INVALID(rmw_take_response(nullptr, &info, &response, &taken));
  INVALID(rmw_take_response(client.rmw, nullptr, &response, &taken));
  INVALID(rmw_take_response(client.rmw, &info, nullptr, &taken));
  INVALID(rmw_take_response(client.rmw, &info, &response, nullptr));
  FOREIGN(rmw_take_response(&other, &info, &response, &taken));
  rmw_qos_profile_t actual{};
  INVALID(rmw_client_request_publisher_get_actual_qos(nullptr, &actual));
  INVALID(rmw_client_request_publisher_get_actual_qos(client.rmw, nullptr));
  FOREIGN(rmw_client_request_publisher_get_actual_qos(&other, &actual));
  INVALID(rmw_client_response_subscription_get_actual_qos(nullptr, &actual));
  FOREIGN(rmw_client_response_subscription_get_actual_qos(&other, &actual));
  bool available = false;
  FAILS(rmw_service_server_is_available(nullptr, client.rmw, &available), RMW_RET_ERROR);
  FAILS(rmw_service_server_is_available(node.rmw, nullptr, &available), RMW_RET_ERROR);
  FAILS(rmw_service_server_is_available(node.rmw, client.rmw, nullptr), RMW_RET_ERROR);
  FOREIGN(rmw_service_server_is_available(&other_node, client.rmw, &available));
  FOREIGN(rmw_service_server_is_available(node.rmw, &other, &available));
  rmw_gid_t gid{};
  INVALID(rmw_get_gid_for_client(nullptr, &gid));
  INVALID(rmw_get_gid_for_client(client.rmw, nullptr));
  FOREIGN(rmw_get_gid_for_client(&other, &gid));
  INVALID(rmw_client_set_on_new_response_callback(nullptr, nullptr, nullptr));
  FOREIGN(rmw_client_set_on_new_response_callback(&other, nullptr, nullptr));
}

void of_services(Node & node)
{
  Service service(node, "/add");
  rmw_node_t other_node = foreign(node.rmw);
  rmw_service_t other = foreign(service.rmw);
  const rmw_qos_profile_t profile = qos();
  MAKES_NOTHING(rmw_create_service(nullptr, add_type(), "/add", &profile));
  MAKES_NOTHING(rmw_create_service(&other_node, add_type(), "/add", &profile));
  MAKES_NOTHING(rmw_create_service(node.rmw, nullptr, "/add", &profile));
  MAKES_NOTHING(rmw_create_service(node.rmw, add_type(), nullptr, &profile));
  MAKES_NOTHING(rmw_create_service(node.rmw, add_type(), "/add", nullptr));
  INVALID(rmw_destroy_service(nullptr, service.rmw));
  INVALID(rmw_destroy_service(node.rmw, nullptr));
  FOREIGN(rmw_destroy_service(node.rmw, &other));
  AddRequest request;
  AddResponse response;
  rmw_service_info_t info{};
  bool taken = false;
  INVALID(rmw_take_request(nullptr, &info, &request, &taken));
  INVALID(rmw_take_request(service.rmw, nullptr, &request, &taken));
  INVALID(rmw_take_request(service.rmw, &info, nullptr, &taken));
  INVALID(rmw_take_request(service.rmw, &info, &request, nullptr));
  FOREIGN(rmw_take_request(&other, &info, &request, &taken));
  INVALID(rmw_send_response(nullptr, &info.request_id, &response));
  INVALID(rmw_send_response(service.rmw, nullptr, &response));
  INVALID(rmw_send_response(service.rmw, &info.request_id, nullptr));
  FOREIGN(rmw_send_response(&other, &info.request_id, &response));
  rmw_qos_profile_t actual{};
  INVALID(rmw_service_request_subscription_get_actual_qos(nullptr, &actual));
  INVALID(rmw_service_request_subscription_get_actual_qos(service.rmw, nullptr));
  FOREIGN(rmw_service_request_subscription_get_actual_qos(&other, &actual));
  INVALID(rmw_service_response_publisher_get_actual_qos(nullptr, &actual));
  FOREIGN(rmw_service_response_publisher_get_actual_qos(&other, &actual));
  INVALID(rmw_service_set_on_new_request_callback(nullptr, nullptr, nullptr));
  FOREIGN(rmw_service_set_on_new_request_callback(&other, nullptr, nullptr));
}

void of_bytes()
{
  Text text;
  rmw_serialized_message_t bytes = rcutils_get_zero_initialized_uint8_array();
  INVALID(rmw_serialize(nullptr, type_of<Text>(), &bytes));
  INVALID(rmw_serialize(&text, nullptr, &bytes));
  INVALID(rmw_serialize(&text, type_of<Text>(), nullptr));
  INVALID(rmw_deserialize(nullptr, type_of<Text>(), &text));
  INVALID(rmw_deserialize(&bytes, nullptr, &text));
  INVALID(rmw_deserialize(&bytes, type_of<Text>(), nullptr));
  std::size_t size = 0;
  UNSUPPORTED(rmw_get_serialized_message_size(type_of<Text>(), nullptr, &size));
  rosidl_message_type_support_t unknown = *type_of<Text>();
  unknown.typesupport_identifier = "rosidl_typesupport_unknown";
  FAILS(rmw_serialize(&text, &unknown, &bytes), RMW_RET_ERROR);
  rosidl_message_type_support_t without_hash = *type_of<Text>();
  without_hash.get_type_hash_func = nullptr;
  FAILS(rmw_serialize(&text, &without_hash, &bytes), RMW_RET_ERROR);
  INVALID(rmw_qos_profile_check_compatible(qos(), qos(), nullptr, nullptr, 0));
}

/// Queries of names and types, by node or of all, with a function that makes the call.
template <class Query>
void refuses(Query query, Node & node)
{
  rmw_node_t other = foreign(node.rmw);
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rcutils_allocator_t no_allocator = rcutils_get_zero_initialized_allocator();
  rmw_names_and_types_t all = rmw_get_zero_initialized_names_and_types();
  INVALID(query(nullptr, &allocator, &all));
  FOREIGN(query(&other, &allocator, &all));
  INVALID(query(node.rmw, nullptr, &all));
  INVALID(query(node.rmw, &no_allocator, &all));
  INVALID(query(node.rmw, &allocator, nullptr));
  char * name = nullptr;
  all.names.data = &name; // in use
  all.names.size = 1;
  INVALID(query(node.rmw, &allocator, &all));
}

template <class Query>
void refuses_by_node(Query query, Node & node)
{
  refuses(
    [&](const rmw_node_t * asked, rcutils_allocator_t * allocator, rmw_names_and_types_t * all) {
      return query(asked, allocator, "node", "/", all);
    }, node);
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_names_and_types_t all = rmw_get_zero_initialized_names_and_types();
  INVALID(query(node.rmw, &allocator, nullptr, "/", &all));
  INVALID(query(node.rmw, &allocator, "node", nullptr, &all));
  INVALID(query(node.rmw, &allocator, "no name", "/", &all));
  INVALID(query(node.rmw, &allocator, "node", "relative", &all));
  FAILS(query(node.rmw, &allocator, "nobody", "/", &all), RMW_RET_NODE_NAME_NON_EXISTENT);
}

void of_queries(Node & node)
{
  using N = const rmw_node_t *;
  using A = rcutils_allocator_t *;
  using All = rmw_names_and_types_t *;
  refuses([](N n, A a, All all) {return rmw_get_topic_names_and_types(n, a, false, all);}, node);
  refuses([](N n, A a, All all) {return rmw_get_service_names_and_types(n, a, all);}, node);
  refuses_by_node([](N n, A a, const char * name, const char * space, All all) {
      return rmw_get_subscriber_names_and_types_by_node(n, a, name, space, false, all);
    }, node);
  refuses_by_node([](N n, A a, const char * name, const char * space, All all) {
      return rmw_get_publisher_names_and_types_by_node(n, a, name, space, false, all);
    }, node);
  refuses_by_node(rmw_get_service_names_and_types_by_node, node);
  refuses_by_node(rmw_get_client_names_and_types_by_node, node);
  rmw_node_t other = foreign(node.rmw);
  for (const auto count_all :
    {rmw_count_publishers, rmw_count_subscribers, rmw_count_clients, rmw_count_services})
  {
    std::size_t count = 0;
    INVALID(count_all(nullptr, "/topic", &count));
    INVALID(count_all(node.rmw, nullptr, &count));
    INVALID(count_all(node.rmw, "/topic", nullptr));
    FOREIGN(count_all(&other, "/topic", &count));
  }
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  for (const auto query : {rmw_get_publishers_info_by_topic, rmw_get_subscriptions_info_by_topic}) {
    rmw_topic_endpoint_info_array_t all = rmw_get_zero_initialized_topic_endpoint_info_array();
    INVALID(query(nullptr, &allocator, "/topic", false, &all));
    INVALID(query(node.rmw, nullptr, "/topic", false, &all));
    INVALID(query(node.rmw, &allocator, nullptr, false, &all));
    INVALID(query(node.rmw, &allocator, "/topic", false, nullptr));
    FOREIGN(query(&other, &allocator, "/topic", false, &all));
    all.size = 1;
    INVALID(query(node.rmw, &allocator, "/topic", false, &all));
  }
  rcutils_string_array_t names = rcutils_get_zero_initialized_string_array(), spaces = names;
  INVALID(rmw_get_node_names(nullptr, &names, &spaces));
  INVALID(rmw_get_node_names(node.rmw, nullptr, &spaces));
  INVALID(rmw_get_node_names(node.rmw, &names, nullptr));
  FOREIGN(rmw_get_node_names(&other, &names, &spaces));
  INVALID(rmw_get_node_names_with_enclaves(nullptr, &names, &spaces, &names));
  INVALID(rmw_get_node_names_with_enclaves(node.rmw, &names, &spaces, nullptr));
  FOREIGN(rmw_get_node_names_with_enclaves(&other, &names, &spaces, &names));
}

}  // namespace

PROGRAM(arguments)
{
  Context context;
  of_contexts(context);
  Node node(context, "node");
  of_nodes(node);
  of_publishers(node);
  of_subscriptions(node);
  of_clients(node);
  of_services(node);
  of_bytes();
  of_queries(node);
}
