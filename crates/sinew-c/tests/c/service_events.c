/* What others see of services: events of requests and responses, and listeners of servers and clients
 * with callbacks. */
#include "numbers.h"

#define NAME "test_interfaces/srv/Double"
#define FIELD(name, id, capacity, nested) \
    "{\"name\": \"" name "\", \"type\": {\"type_id\": " id ", \"capacity\": " capacity \
    ", \"string_capacity\": 0, \"nested_type_name\": \"" nested "\"}}"
#define TYPE(name, fields) "{\"type_name\": \"" name "\", \"fields\": [" fields "]}"
#define REQUEST TYPE(NAME "_Request", FIELD("value", "6", "0", ""))
#define RESPONSE TYPE(NAME "_Response", FIELD("value", "6", "0", ""))
#define EVENT TYPE(NAME "_Event", FIELD("info", "1", "0", "service_msgs/msg/ServiceEventInfo") ", " \
    FIELD("request", "97", "1", NAME "_Request") ", " FIELD("response", "97", "1", NAME "_Response"))
#define INFO TYPE("service_msgs/msg/ServiceEventInfo", FIELD("event_type", "3", "0", "") ", " \
    FIELD("stamp", "1", "0", "builtin_interfaces/msg/Time") ", " FIELD("client_gid", "51", "16", "") ", " \
    FIELD("sequence_number", "8", "0", ""))
#define TIME TYPE("builtin_interfaces/msg/Time", FIELD("sec", "6", "0", "") ", " FIELD("nanosec", "7", "0", ""))
#define SERVICE TYPE(NAME, FIELD("request_message", "1", "0", NAME "_Request") ", " \
    FIELD("response_message", "1", "0", NAME "_Response") ", " FIELD("event_message", "1", "0", NAME "_Event"))
#define DESCRIPTION(type, others) \
    "{\"type_description\": " type ", \"referenced_type_descriptions\": [" TIME ", " INFO ", " others "]}"

static sinew_status twice(void *context, sinew_message *request, const sinew_request_info *info,
                          sinew_responder *responder)
{
    CHECK(info != NULL);
    const int32_t value = value_of(request);
    OK(sinew_responder_respond(responder, number(context, 2 * value)));
    return SINEW_OK;
}

static sinew_status keep_value(void *context, sinew_status status, sinew_message *response)
{
    CHECK(status == SINEW_OK);
    *(int32_t *)context = value_of(response);
    return SINEW_OK;
}

static void add(void *context, uint64_t count)
{
    atomic_fetch_add((atomic_int *)context, (int)count);
}

static int32_t int32_at(const unsigned char *bytes, size_t at)
{
    int32_t value;
    memcpy(&value, bytes + at, sizeof value);
    return value;
}

/* Takes an event of this kind. Its contents are a request or a response, or neither. */
static void expect_event(const sinew_subscription *events, unsigned char kind, int requests, int responses,
                         int32_t value)
{
    sinew_message *event = NULL;
    const unsigned char *bytes = NULL;
    size_t length = 0;
    OK(sinew_subscription_take(events, &event, NULL));
    OK(sinew_message_encoded(event, &bytes, &length));
    CHECK(bytes[4] == kind);
    CHECK(int32_at(bytes, 44) == requests);
    const size_t after = requests == 1 ? 52 : 48;
    CHECK(int32_at(bytes, after) == responses);
    CHECK(length == after + 4 + (responses == 1 ? 4 : 0));
    CHECK(requests == 0 || int32_at(bytes, 48) == value);
    CHECK(responses == 0 || int32_at(bytes, 52) == value);
    sinew_message_free(event);
}

static void events_are_published(const sinew_node *node, sinew_executor *executor)
{
    const sinew_service_type *of = NULL;
    FAILS(sinew_service_type_described("{}", &of), SINEW_ERROR_INVALID_TYPE_TABLE, "description");
    FAILS(sinew_service_type_described(NULL, &of), SINEW_ERROR_NULL_ARGUMENT, "`description` is null");
    OK(sinew_service_type_described(DESCRIPTION(SERVICE, REQUEST ", " RESPONSE ", " EVENT), &of));
    CHECK(strcmp(sinew_service_type_name(of), NAME) == 0);
    const sinew_message_type *request = sinew_service_type_request(of);
    const sinew_message_type *response = sinew_service_type_response(of);
    union {
        const sinew_message_type *type;
        void *context;
    } answers = {.type = response};
    sinew_server *server = NULL;
    sinew_client *client = NULL;
    sinew_pulled_server *pulled = NULL;
    OK(sinew_server_new(node, "double", of, NULL, twice, answers.context, NULL, &server));
    OK(sinew_client_new(node, "double", of, NULL, &client));
    OK(sinew_pulled_server_new(node, "pulled", of, NULL, &pulled));

    const sinew_message_type *event = NULL;
    sinew_subscription *events = NULL;
    sinew_qos qos = {.size = sizeof qos, .depth = 20};
    sinew_subscription_options options = {.size = sizeof options, .qos = &qos};
    OK(sinew_message_type_described(DESCRIPTION(EVENT, REQUEST ", " RESPONSE), &event));
    OK(sinew_subscription_new(node, "double/_service_event", event, &options, &events));
    OK(sinew_server_configure_introspection(server, SINEW_SERVICE_INTROSPECTION_CONTENTS, &qos));
    OK(sinew_client_configure_introspection(client, SINEW_SERVICE_INTROSPECTION_METADATA, &qos));
    OK(sinew_pulled_server_configure_introspection(pulled, SINEW_SERVICE_INTROSPECTION_CONTENTS, NULL));

    int32_t answer = 0;
    OK(sinew_client_call_then(client, number(request, 21), keep_value, &answer, NULL, NULL));
    OK(sinew_executor_spin_all(executor, -1, NULL));
    CHECK(answer == 42);
    expect_event(events, 0, 0, 0, 0);
    expect_event(events, 1, 1, 0, 21);
    expect_event(events, 2, 0, 1, 42);
    expect_event(events, 3, 0, 0, 0);
    OK(sinew_server_configure_introspection(server, SINEW_SERVICE_INTROSPECTION_OFF, NULL));
    OK(sinew_client_configure_introspection(client, SINEW_SERVICE_INTROSPECTION_OFF, NULL));
    OK(sinew_client_call_then(client, number(request, 21), keep_value, &answer, NULL, NULL));
    OK(sinew_executor_spin_all(executor, -1, NULL));
    sinew_message *none = NULL;
    OK(sinew_subscription_take(events, &none, NULL));
    CHECK(none == NULL);

    FAILS(sinew_server_configure_introspection(server, 3, NULL), SINEW_ERROR_INVALID_ENUMERATOR, "`state`");
    FAILS(sinew_server_configure_introspection(NULL, 0, NULL), SINEW_ERROR_NULL_ARGUMENT, "`server`");
    FAILS(sinew_client_configure_introspection(NULL, 0, NULL), SINEW_ERROR_NULL_ARGUMENT, "`client`");
    FAILS(sinew_pulled_server_configure_introspection(NULL, 0, NULL), SINEW_ERROR_NULL_ARGUMENT, "`server`");
    qos.size = 1;
    FAILS(sinew_client_configure_introspection(client, 1, &qos), SINEW_ERROR_INVALID_STRUCTURE, "sinew_qos");
    sinew_pulled_server_free(pulled);
    sinew_subscription_free(events);
    sinew_client_free(client);
    sinew_server_free(server);

    /* Without a description there is no type of events. */
    const numbers unknown = numbers_get();
    OK(sinew_client_new(node, "unknown", unknown.service, NULL, &client));
    FAILS(sinew_client_configure_introspection(client, SINEW_SERVICE_INTROSPECTION_METADATA, NULL),
          SINEW_ERROR_NO_ROS_TYPE, "/unknown");
    sinew_client_free(client);
}

static void listeners_are_notified(const sinew_node *node, sinew_executor *executor)
{
    const numbers types = numbers_get();
    union {
        const sinew_message_type *type;
        void *context;
    } answers = {.type = types.response};
    sinew_server *server = NULL;
    sinew_client *client = NULL;
    OK(sinew_server_new(node, "listened", types.service, NULL, twice, answers.context, NULL, &server));
    OK(sinew_client_new(node, "listened", types.service, NULL, &client));
    atomic_int requests = 0, responses = 0, gone = 0;
    int32_t values[2] = {0};
    OK(sinew_client_call_then(client, number(types.request, 1), keep_value, &values[0], NULL, NULL));
    OK(sinew_server_set_listener(server, add, &requests, NULL));
    CHECK(atomic_load(&requests) == 1); /* the one that waits */
    OK(sinew_client_set_listener(client, add, &responses, NULL));
    OK(sinew_client_call_then(client, number(types.request, 2), keep_value, &values[1], NULL, NULL));
    CHECK(atomic_load(&requests) == 2 && atomic_load(&responses) == 0 && values[0] == 0);
    OK(sinew_executor_spin_all(executor, -1, NULL));
    CHECK(atomic_load(&responses) == 2 && values[0] == 2 && values[1] == 4);
    OK(sinew_server_set_listener(server, add, &gone, dropped));
    CHECK(atomic_load(&gone) == 0);
    OK(sinew_server_clear_listener(server));
    CHECK(atomic_load(&gone) == 1); /* its context was dropped */
    OK(sinew_client_clear_listener(client));
    FAILS(sinew_server_set_listener(server, NULL, &gone, dropped), SINEW_ERROR_NULL_ARGUMENT, "`callback`");
    FAILS(sinew_server_set_listener(NULL, add, &gone, dropped), SINEW_ERROR_NULL_ARGUMENT, "`server`");
    CHECK(atomic_load(&gone) == 3);
    FAILS(sinew_server_clear_listener(NULL), SINEW_ERROR_NULL_ARGUMENT, "`server`");
    sinew_client_free(client);
    sinew_server_free(server);
    FAILS(sinew_server_clear_listener(server), SINEW_ERROR_INVALID_HANDLE, "it was freed");
}

int main(void)
{
    sinew_context *context = NULL;
    sinew_node *node = NULL;
    sinew_executor *executor = NULL;
    OK(sinew_context_new(NULL, &context));
    OK(sinew_node_new(context, "services", NULL, &node));
    OK(sinew_executor_new(NULL, &executor));
    OK(sinew_executor_add_node(executor, node));
    events_are_published(node, executor);
    listeners_are_notified(node, executor);
    sinew_executor_free(executor);
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
