/* The QoS of services and clients. */
#include "numbers.h"

static sinew_status answer(void *context, sinew_message *request, const sinew_request_info *info,
                           sinew_responder *responder)
{
    (void)info;
    const numbers *types = context;
    OK(sinew_responder_respond(responder, number(types->response, 2 * value_of(request))));
    return SINEW_OK;
}

/* A server and a client get the QoS that they were asked for. */
static void asked_for(sinew_node *node, numbers *types, const sinew_qos *qos, size_t depth,
                      sinew_history history)
{
    const sinew_server_options options = {.size = sizeof options, .qos = qos, .is_immediate = true};
    const sinew_client_options client_options = {.size = sizeof client_options, .qos = qos};
    const sinew_server_options pulled_options = {.size = sizeof pulled_options, .qos = qos};
    sinew_server *server = NULL;
    sinew_pulled_server *pulled = NULL;
    sinew_client *client = NULL;
    OK(sinew_server_new(node, "double", types->service, &options, answer, types, NULL, &server));
    OK(sinew_pulled_server_new(node, "pulled", types->service, &pulled_options, &pulled));
    OK(sinew_client_new(node, "double", types->service, &client_options, &client));
    sinew_qos actual[3] = {{.size = sizeof *actual}, {.size = sizeof *actual}, {.size = sizeof *actual}};
    OK(sinew_server_qos(server, &actual[0]));
    OK(sinew_pulled_server_qos(pulled, &actual[1]));
    OK(sinew_client_qos(client, &actual[2]));
    for (size_t at = 0; at < 3; ++at) {
        CHECK(actual[at].reliability == SINEW_RELIABILITY_RELIABLE);
        CHECK(actual[at].durability == SINEW_DURABILITY_VOLATILE);
        CHECK(actual[at].history == history && actual[at].depth == depth);
        CHECK(actual[at].deadline == 0 && actual[at].lifespan == 0 && actual[at].lease == 0);
    }
    sinew_message *response = NULL;
    OK(sinew_client_call(client, number(types->request, 21), -1, &response));
    CHECK(value_of(response) == 42);
    sinew_client_free(client);
    sinew_pulled_server_free(pulled);
    sinew_server_free(server);
    FAILS(sinew_server_qos(server, &actual[0]), SINEW_ERROR_INVALID_HANDLE, "it was freed");
}

/* A depth beyond the default limit raises it. */
static void depths(sinew_node *node, const numbers *types)
{
    sinew_qos qos = *sinew_qos_services();
    qos.depth = 1200;
    const sinew_server_options server_options = {.size = sizeof server_options, .qos = &qos};
    sinew_pulled_server *server = NULL;
    OK(sinew_pulled_server_new(node, "deep", types->service, &server_options, &server));
    qos.depth = 1100;
    const sinew_client_options options = {.size = sizeof options, .qos = &qos};
    const sinew_client_options fewer = {.size = sizeof fewer, .qos = &qos, .max_responses = 3};
    sinew_client *client = NULL, *small = NULL;
    OK(sinew_client_new(node, "deep", types->service, &options, &client));
    OK(sinew_client_new(node, "deep", types->service, &fewer, &small));
    sinew_request_id id = {0};
    for (int32_t at = 0; at < 1100; ++at) {
        OK(sinew_client_send(client, number(types->request, at), &id));
    }
    FAILS(sinew_client_send(client, number(types->request, 0), &id), SINEW_ERROR_TOO_MANY_RESPONSES, "1100");
    for (int32_t at = 0; at < 3; ++at) {
        OK(sinew_client_send(small, number(types->request, at), &id));
    }
    FAILS(sinew_client_send(small, number(types->request, 0), &id), SINEW_ERROR_TOO_MANY_RESPONSES, "3");
    sinew_client_free(small);
    sinew_client_free(client);
    sinew_pulled_server_free(server);
}

/* What can't be honoured is refused, and so is what is no QoS. */
static void refused(sinew_node *node, numbers *types)
{
    const struct {
        sinew_qos qos;
        sinew_status status;
        const char *text;
    } cases[] = {
        {{.durability = SINEW_DURABILITY_TRANSIENT_LOCAL}, SINEW_ERROR_INVALID_QOS, "transient local"},
        {{.liveliness = SINEW_LIVELINESS_MANUAL_BY_TOPIC}, SINEW_ERROR_INVALID_QOS, "manual by topic"},
        {{.deadline = 1000}, SINEW_ERROR_INVALID_QOS, "`deadline` is set"},
        {{.lifespan = 1000}, SINEW_ERROR_INVALID_QOS, "`lifespan` is set"},
        {{.lease = 1000}, SINEW_ERROR_INVALID_QOS, "`lease` is set"},
        {{.reliability = 77}, SINEW_ERROR_INVALID_ENUMERATOR, "`reliability` can't be 77"},
    };
    for (size_t at = 0; at < sizeof cases / sizeof *cases; ++at) {
        sinew_qos qos = cases[at].qos;
        qos.size = sizeof qos;
        const sinew_server_options options = {.size = sizeof options, .qos = &qos};
        const sinew_client_options client_options = {.size = sizeof client_options, .qos = &qos};
        sinew_server *server = NULL;
        sinew_pulled_server *pulled = NULL;
        sinew_client *client = NULL;
        atomic_int drops = 0;
        FAILS(sinew_server_new(node, "double", types->service, &options, answer, &drops, dropped, &server),
              cases[at].status, cases[at].text);
        FAILS(sinew_pulled_server_new(node, "double", types->service, &options, &pulled), cases[at].status,
              cases[at].text);
        FAILS(sinew_client_new(node, "double", types->service, &client_options, &client), cases[at].status,
              cases[at].text);
        CHECK(server == NULL && pulled == NULL && client == NULL && atomic_load(&drops) == 1);
    }
    sinew_qos wrong_size = {.size = 3};
    const sinew_client_options options = {.size = sizeof options, .qos = &wrong_size};
    sinew_client *client = NULL;
    FAILS(sinew_client_new(node, "double", types->service, &options, &client), SINEW_ERROR_INVALID_STRUCTURE,
          "sinew_qos");
    FAILS(sinew_client_qos(NULL, &wrong_size), SINEW_ERROR_NULL_ARGUMENT, "`client` is null");
    FAILS(sinew_pulled_server_qos(NULL, &wrong_size), SINEW_ERROR_NULL_ARGUMENT, "`server` is null");
}

int main(void)
{
    numbers types = numbers_get();
    sinew_context *context = NULL;
    sinew_node *node = NULL;
    OK(sinew_context_new(NULL, &context));
    OK(sinew_node_new(context, "qualities", NULL, &node));
    asked_for(node, &types, NULL, 10, SINEW_HISTORY_KEEP_LAST);
    asked_for(node, &types, sinew_qos_services(), 10, SINEW_HISTORY_KEEP_LAST);
    asked_for(node, &types, sinew_qos_parameters(), 1000, SINEW_HISTORY_KEEP_LAST);
    asked_for(node, &types, sinew_qos_system_default(), 10, SINEW_HISTORY_KEEP_LAST);
    asked_for(node, &types, sinew_qos_best_available(), 10, SINEW_HISTORY_KEEP_LAST);
    asked_for(node, &types, sinew_qos_sensor_data(), 5, SINEW_HISTORY_KEEP_LAST);
    const sinew_qos all = {.size = sizeof all, .history = SINEW_HISTORY_KEEP_ALL};
    asked_for(node, &types, &all, 0, SINEW_HISTORY_KEEP_ALL);
    depths(node, &types);
    refused(node, &types);
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
