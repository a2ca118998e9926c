/* Servers with a callback, and the ways to call them. */
#include "process.h"

#include "numbers.h"
#include "text.h"
#include <pthread.h>
#include <semaphore.h>

static const sinew_duration soon = 20 * (sinew_duration)1000000000;

enum { DEFER = -1, REFUSE = -2, DROP = -3, OTHER_TYPE = -4, DIE = -5, QUIT = -6, COMPLAIN = -7 };

typedef struct {
    numbers types;
    const sinew_message_type *foreign;
    atomic_int dropped;
    pthread_t thread;
    sinew_responder *responder;
    bool quit;
} doubler;

static void *answer_later(void *context)
{
    doubler *server = context;
    CHECK(sinew_responder_is_awaited(server->responder));
    OK(sinew_responder_respond(server->responder, number(server->types.response, 77)));
    return NULL;
}

static sinew_status answer(void *context, sinew_message *request, const sinew_request_info *info,
                           sinew_responder *responder)
{
    doubler *server = context;
    CHECK(info->key.sequence > 0 && info->source_time > 0 && info->reception_time >= info->source_time);
    const int32_t value = value_of(request);
    switch (value) {
    case DEFER:
        server->responder = responder;
        CHECK(pthread_create(&server->thread, NULL, answer_later, server) == 0);
        return SINEW_OK;
    case REFUSE:
        FAILS(sinew_responder_respond(responder, NULL), SINEW_ERROR_NULL_ARGUMENT, "`response` is null");
        FAILS(sinew_responder_fail(responder, NULL), SINEW_ERROR_NULL_ARGUMENT, "`text` is null");
        OK(sinew_responder_fail(responder, "not today \xff")); /* as an exception may say it */
        FAILS(sinew_responder_fail(responder, "twice"), SINEW_ERROR_INVALID_HANDLE, "it was freed");
        return SINEW_OK;
    case DROP:
        sinew_responder_free(responder);
        return SINEW_OK;
    case OTHER_TYPE:
        FAILS(sinew_responder_respond(responder, number(server->foreign, 1)), SINEW_ERROR_OTHER_TYPE,
              "the response is a");
        return SINEW_OK;
    case DIE:
        raise(SIGKILL);
        return SINEW_OK;
    case COMPLAIN: /* the callback fails, although it has answered */
        OK(sinew_responder_respond(responder, number(server->types.response, 1)));
        return SINEW_ERROR_TIMEOUT;
    case QUIT:
        server->quit = true;
        break;
    default:
        break;
    }
    OK(sinew_responder_respond(responder, number(server->types.response, 2 * value)));
    return SINEW_OK;
}

static void post(void *context, uint64_t count)
{
    for (; count > 0; --count) {
        CHECK(sem_post(context) == 0);
    }
}

/* The other process: it serves until it is asked to quit, and the caller has the answer. */
static int serve(void)
{
    doubler doubling = {.types = numbers_get()};
    sigset_t answered; /* blocked before the context starts a thread */
    CHECK(sigemptyset(&answered) == 0 && sigaddset(&answered, SIGUSR1) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, &answered, NULL) == 0);
    sinew_context *context = NULL;
    sinew_node *node = NULL;
    OK(sinew_context_new(NULL, &context));
    OK(sinew_node_new(context, "doubler", NULL, &node));
    sinew_pulled_server *server = NULL;
    OK(sinew_pulled_server_new(node, "far", doubling.types.service, NULL, &server));
    sem_t requests;
    CHECK(sem_init(&requests, 0, 0) == 0);
    OK(sinew_pulled_server_set_listener(server, post, &requests, NULL));
    while (!doubling.quit) {
        CHECK(sem_wait(&requests) == 0);
        sinew_message *request = NULL;
        sinew_request_info info = {.size = sizeof info};
        OK(sinew_pulled_server_take_request(server, &request, &info));
        const int32_t value = value_of(request);
        if (value == DIE) {
            raise(SIGKILL);
        }
        doubling.quit = value == QUIT;
        OK(sinew_pulled_server_respond(server, &info.key, number(doubling.types.response, 2 * value)));
    }
    int signal = 0;
    CHECK(sigwait(&answered, &signal) == 0 && signal == SIGUSR1);
    OK(sinew_pulled_server_clear_listener(server));
    sinew_pulled_server_free(server);
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}

typedef struct {
    sinew_status expected;
    int32_t value;
    atomic_int calls;
    atomic_int dropped;
} expectation;

static void expect(void *context, sinew_status status, sinew_message *response)
{
    expectation *expected = context;
    CHECK(status == expected->expected);
    if (status == SINEW_OK) {
        CHECK(value_of(response) == expected->value);
    } else {
        CHECK(response == NULL && strlen(sinew_error_message()) > 0);
    }
    atomic_fetch_add(&expected->calls, 1);
}

static sinew_status expect_in_group(void *context, sinew_status status, sinew_message *response)
{
    expect(context, status, response);
    return SINEW_OK;
}

static void count_expected(void *context)
{
    atomic_fetch_add(&((expectation *)context)->dropped, 1);
}

static void types_are_checked(const numbers *types)
{
    CHECK(strcmp(sinew_service_type_name(types->service), "test_interfaces/srv/Double") == 0);
    CHECK(strcmp(sinew_service_type_hash(types->service), HASH) == 0);
    const sinew_service_type *made = NULL;
    OK(sinew_service_type_new("test_interfaces/srv/Double", HASH, types->request, types->response, &made));
    CHECK(made == types->service);
    OK(sinew_service_type_new(NULL, NULL, types->request, types->response, &made));
    CHECK(sinew_service_type_name(made) == NULL && sinew_service_type_hash(made) == NULL);
    FAILS(sinew_service_type_new("a/srv/B", NULL, types->request, types->response, &made),
          SINEW_ERROR_NULL_ARGUMENT, "`hash` is null");
    FAILS(sinew_service_type_new(NULL, HASH, types->request, types->response, &made),
          SINEW_ERROR_NULL_ARGUMENT, "`name` is null");
    FAILS(sinew_service_type_new("a/srv/B", HASH, NULL, types->response, &made), SINEW_ERROR_NULL_ARGUMENT,
          "`request` is null");
    FAILS(sinew_service_type_known("no spaces", HASH, &made), SINEW_ERROR_INVALID_TYPE_NAME, "no spaces");
    FAILS(sinew_service_type_known("a/srv/B", "RIHS01_00", &made), SINEW_ERROR_INVALID_TYPE_HASH, "RIHS01_");
    FAILS(sinew_service_type_known("a/srv/B", HASH, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`service_type` is null");
    CHECK(sinew_service_type_request(NULL) == NULL);
    CHECK(strstr(sinew_error_message(), "`service_type` is null") != NULL);
    CHECK(sinew_service_type_name((const sinew_service_type *)(const void *)types->request) == NULL);
    CHECK(strstr(sinew_error_message(), "`service_type` is no sinew_service_type") != NULL);
}

static void servers_are_checked(const sinew_node *node, const numbers *types)
{
    sinew_server *server = NULL;
    static atomic_int gone = 0; /* the detached server drops its context when the context ends */
    sinew_server_options options = {.size = sizeof options, .is_immediate = true};
    FAILS(sinew_server_new(node, "bad", types->service, &options, NULL, &gone, dropped, &server),
          SINEW_ERROR_NULL_ARGUMENT, "`callback` is null");
    FAILS(sinew_server_new(NULL, "bad", types->service, &options, answer, &gone, dropped, &server),
          SINEW_ERROR_NULL_ARGUMENT, "`node` is null");
    FAILS(sinew_server_new(node, "no spaces", types->service, &options, answer, &gone, dropped, &server),
          SINEW_ERROR_INVALID_NAME, "no spaces");
    FAILS(sinew_server_new(node, "bad", NULL, &options, answer, &gone, dropped, &server),
          SINEW_ERROR_NULL_ARGUMENT, "`service_type` is null");
    FAILS(sinew_server_new(node, "bad", types->service, &options, answer, &gone, dropped, NULL),
          SINEW_ERROR_NULL_ARGUMENT, "`server` is null");
    options.size = 1;
    FAILS(sinew_server_new(node, "bad", types->service, &options, answer, &gone, dropped, &server),
          SINEW_ERROR_INVALID_STRUCTURE, "sinew_server_options");
    options.size = sizeof options;
    options.group = (const sinew_group *)(const void *)node;
    FAILS(sinew_server_new(node, "bad", types->service, &options, answer, &gone, dropped, &server),
          SINEW_ERROR_INVALID_HANDLE, "`group` is no sinew_group");
    FAILS(sinew_server_new(node, "double", types->service, NULL, answer, &gone, dropped, &server),
          SINEW_ERROR_SERVICE_TAKEN, "double");
    CHECK(atomic_load(&gone) == 8); /* each context was dropped */

    /* With the default group: it exists, and waits for an executor. */
    OK(sinew_server_new(node, "idle", types->service, NULL, answer, &gone, dropped, &server));
    CHECK(!sinew_server_is_closed(server));
    OK(sinew_server_close(server));
    CHECK(sinew_server_is_closed(server));
    sinew_server_free(server);
    CHECK(atomic_load(&gone) == 9);
    OK(sinew_server_new(node, "kept", types->service, NULL, answer, &gone, dropped, &server));
    OK(sinew_server_detach(server));
    FAILS(sinew_server_detach(server), SINEW_ERROR_INVALID_HANDLE, "it was freed");
    CHECK(atomic_load(&gone) == 9);
}

static void calls_in_one_process(sinew_node *node, doubler *doubling)
{
    const sinew_message_type *of = doubling->types.request;
    sinew_server_options options = {.size = sizeof options, .is_immediate = true, .max_requests = 2};
    sinew_server *server = NULL;
    OK(sinew_server_new(node, "double", doubling->types.service, &options, answer, doubling, NULL, &server));
    CHECK(strcmp(sinew_server_name(server), "/double") == 0);
    servers_are_checked(node, &doubling->types);

    sinew_client *client = NULL;
    sinew_client_options calling = {.size = sizeof calling, .max_responses = 2, .spin_before_park = 1000};
    OK(sinew_client_new(node, "double", doubling->types.service, &calling, &client));
    CHECK(strcmp(sinew_client_name(client), "/double") == 0);
    CHECK(sinew_client_is_server_ready(client) && sinew_client_wait_for_server(client, 0));
    sinew_message *response = NULL;
    OK(sinew_client_call(client, number(of, 21), soon, &response));
    CHECK(value_of(response) == 42);
    OK(sinew_client_call(client, number(of, DEFER), -1, &response));
    CHECK(value_of(response) == 77);
    CHECK(pthread_join(doubling->thread, NULL) == 0);
    OK(sinew_client_call(client, number(of, COMPLAIN), soon, &response));
    CHECK(value_of(response) == 1);
    FAILS(sinew_client_call(client, number(of, REFUSE), soon, &response), SINEW_ERROR_CALLBACK_FAILED,
          "the server says: not today");
    FAILS(sinew_client_call(client, number(of, DROP), soon, &response), SINEW_ERROR_REQUEST_DROPPED,
          "/double");
    FAILS(sinew_client_call(client, number(of, OTHER_TYPE), soon, &response), SINEW_ERROR_REQUEST_DROPPED,
          "/double");
    FAILS(sinew_client_call(client, number(doubling->foreign, 1), soon, &response), SINEW_ERROR_OTHER_TYPE,
          "the request is a");
    FAILS(sinew_client_call(client, NULL, soon, &response), SINEW_ERROR_NULL_ARGUMENT, "`request` is null");
    FAILS(sinew_client_call(client, number(of, 1), soon, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`response` is null");
    FAILS(sinew_client_call(NULL, number(of, 1), soon, &response), SINEW_ERROR_NULL_ARGUMENT,
          "`client` is null");

    /* By callbacks, and by polling. */
    expectation expected = {.value = 10};
    sinew_request_id id = {0};
    OK(sinew_client_call_then_immediately(client, number(of, 5), expect, &expected, count_expected, &id));
    CHECK(atomic_load(&expected.calls) == 1 && atomic_load(&expected.dropped) == 1 && id.sequence > 0);
    OK(sinew_client_withdraw(client, id, &response));
    CHECK(response == NULL); /* the server had it */
    expected.expected = SINEW_ERROR_CALLBACK_FAILED;
    OK(sinew_client_call_then_immediately(client, number(of, REFUSE), expect, &expected, count_expected,
        NULL));
    CHECK(atomic_load(&expected.calls) == 2 && atomic_load(&expected.dropped) == 2);
    FAILS(sinew_client_call_then_immediately(client, NULL, expect, &expected, count_expected, &id),
          SINEW_ERROR_NULL_ARGUMENT, "`request` is null");
    FAILS(sinew_client_call_then_immediately(client, number(of, 1), NULL, &expected, count_expected, &id),
          SINEW_ERROR_NULL_ARGUMENT, "`callback` is null");
    FAILS(sinew_client_call_then(client, number(of, 1), NULL, &expected, count_expected, NULL),
          SINEW_ERROR_NULL_ARGUMENT, "`callback` is null");
    CHECK(atomic_load(&expected.dropped) == 5);
    sinew_pending_call *call = NULL;
    OK(sinew_client_call_async(client, number(of, 6), &call));
    OK(sinew_pending_call_poll(call, &response));
    CHECK(value_of(response) == 12);
    FAILS(sinew_pending_call_poll(call, &response), SINEW_ERROR_CLOSED, "the call is over");
    FAILS(sinew_pending_call_poll(call, NULL), SINEW_ERROR_NULL_ARGUMENT, "`response` is null");
    sinew_pending_call_free(call);
    OK(sinew_client_call_async(client, number(of, REFUSE), &call));
    FAILS(sinew_pending_call_poll(call, &response), SINEW_ERROR_CALLBACK_FAILED, "not today");
    sinew_pending_call_free(call);
    FAILS(sinew_client_call_async(client, number(of, 1), NULL), SINEW_ERROR_NULL_ARGUMENT, "`call` is null");

    sinew_server_statistics served = {.size = sizeof served};
    OK(sinew_server_read_statistics(server, &served));
    CHECK(served.answered == 5 && served.failed == 3 && served.in_hand == 0 && served.refused == 0);
    sinew_client_statistics called = {.size = sizeof called};
    OK(sinew_client_read_statistics(client, &called));
    CHECK(called.answered == 5 && called.waiting == 0);
    FAILS(sinew_client_read_statistics(client, NULL), SINEW_ERROR_NULL_ARGUMENT, "`statistics` is null");
    sinew_server_free(server);
    CHECK(!sinew_client_is_server_ready(client) && !sinew_client_wait_for_server(client, 0));
    sinew_client_free(client);
    CHECK(sinew_client_name(client) == NULL);
    sinew_client_free(client);
}

/* Calls that wait: no server, time limits, a server that ends. */
static void calls_that_wait(sinew_node *node, const numbers *types)
{
    sinew_client *client = NULL;
    OK(sinew_client_new(node, "slow", types->service, NULL, &client));
    sinew_message *response = NULL;
    FAILS(sinew_client_call(client, number(types->request, 1), 1000, &response), SINEW_ERROR_NO_SERVER,
          "no server came within 1µs");
    expectation expected = {.expected = SINEW_ERROR_SERVER_GONE};
    sinew_request_id id = {0};
    OK(sinew_client_call_then_immediately(client, number(types->request, 9), expect, &expected,
        count_expected, &id));
    OK(sinew_client_withdraw(client, id, &response));
    CHECK(value_of(response) == 9 && atomic_load(&expected.dropped) == 1 &&
          atomic_load(&expected.calls) == 0);

    sinew_pulled_server *server = NULL;
    sinew_server_options options = {.size = sizeof options, .max_requests = 2};
    OK(sinew_pulled_server_new(node, "slow", types->service, &options, &server));
    FAILS(sinew_client_call(client, number(types->request, 1), 1000, &response), SINEW_ERROR_TIMEOUT,
          "there was no answer within 1µs");
    /* The server has that request; with two more it has too many. */
    OK(sinew_client_call_then_immediately(client, number(types->request, 1), expect, &expected,
        count_expected, NULL));
    FAILS(sinew_client_call_then_immediately(client, number(types->request, 2), expect, &expected,
          count_expected, NULL),
          SINEW_ERROR_TOO_MANY_REQUESTS, "2 requests");
    CHECK(atomic_load(&expected.dropped) == 2);
    OK(sinew_pulled_server_close(server));
    CHECK(sinew_pulled_server_is_closed(server));
    CHECK(atomic_load(&expected.calls) == 1 && atomic_load(&expected.dropped) == 3);
    sinew_pulled_server_free(server);

    /* A client that ends drops its callbacks. */
    OK(sinew_client_call_then(client, number(types->request, 3), expect_in_group, &expected, count_expected,
        NULL));
    OK(sinew_client_call_then(client, number(types->request, 3), expect_in_group, &expected, count_expected,
        &id));
    CHECK(sinew_client_give_up(client, id) && !sinew_client_give_up(client, id));
    OK(sinew_client_call_then_immediately(client, number(types->request, 3), expect, &expected,
        count_expected, NULL));
    sinew_client_free(client);
    CHECK(atomic_load(&expected.dropped) == 6 && atomic_load(&expected.calls) == 1);
}

/* Answers with another text, which it makes in the server's pool. */
static sinew_status greet(void *context, sinew_message *request, const sinew_request_info *info,
                          sinew_responder *responder)
{
    (void)context;
    (void)info;
    char greeting[40];
    snprintf(greeting, sizeof greeting, "hello %s", text_of_message(request));
    sinew_message_free(request);
    sinew_uninit_message *place = NULL;
    OK(sinew_responder_uninit_response(responder, &place));
    text_put(sinew_uninit_message_place(place), greeting);
    sinew_message *response = NULL;
    OK(sinew_uninit_message_assume_init(place, &response));
    OK(sinew_responder_respond(responder, response));
    return SINEW_OK;
}

/* Requests and responses that are values of the program: they stay where they are. */
static void calls_with_values(sinew_node *node)
{
    text_counts counts = {0};
    const sinew_message_type *texts = text_type(&counts);
    const sinew_service_type *greeting = NULL;
    OK(sinew_service_type_new(NULL, NULL, texts, texts, &greeting));
    sinew_server_options options = {.size = sizeof options, .is_immediate = true};
    sinew_server *server = NULL;
    OK(sinew_server_new(node, "greet", greeting, &options, greet, NULL, NULL, &server));
    sinew_client *client = NULL;
    OK(sinew_client_new(node, "greet", greeting, NULL, &client));
    sinew_uninit_message *place = NULL;
    OK(sinew_client_uninit(client, &place));
    text_put(sinew_uninit_message_place(place), "you");
    sinew_message *request = NULL, *response = NULL;
    OK(sinew_uninit_message_assume_init(place, &request));
    OK(sinew_client_call(client, request, soon, &response));
    CHECK(strcmp(text_of_message(response), "hello you") == 0);
    sinew_message_free(response);
    counts_are(&counts, 2, 0, 0);

    /* One that is held elsewhere as well is copied. */
    OK(sinew_message_adopt(texts, text_new("all"), &request));
    sinew_message *held = sinew_message_clone(request);
    OK(sinew_client_call(client, request, soon, &response));
    CHECK(strcmp(text_of_message(response), "hello all") == 0 && strcmp(text_of_message(held), "all") == 0);
    sinew_message_free(response);
    sinew_message_free(held);
    counts_are(&counts, 5, 1, 1);
    sinew_client_free(client);
    sinew_server_free(server);
}

/* A process that was killed may still be listed for a moment. */
static void wait_until_gone(const sinew_node *node, const char *service)
{
    sinew_graph *graph = NULL;
    OK(sinew_node_graph(node, &graph));
    sinew_graph_changes *changes = NULL;
    OK(sinew_graph_changes_new(graph, &changes));
    while (sinew_graph_server_count(graph, service) > 0) {
        bool has_changed = false;
        OK(sinew_graph_changes_wait(changes, soon, &has_changed));
        CHECK(has_changed);
    }
    sinew_graph_changes_free(changes);
    sinew_graph_free(graph);
}

static void calls_over_two_processes(char *program, sinew_node *node, const numbers *types)
{
    pid_t other = start(program, "serve");
    sinew_client *client = NULL;
    OK(sinew_client_new(node, "far", types->service, NULL, &client));
    CHECK(sinew_client_wait_for_server(client, soon));
    sinew_message *response = NULL;
    sinew_pending_call *calls[50];
    for (int32_t at = 0; at < 50; ++at) { /* all outstanding */
        OK(sinew_client_call_async(client, number(types->request, at), &calls[at]));
    }
    OK(sinew_client_call(client, number(types->request, 100), soon, &response));
    CHECK(value_of(response) == 200); /* in the order of the calls: the others were answered before */
    for (int32_t at = 0; at < 50; ++at) {
        OK(sinew_pending_call_poll(calls[at], &response));
        CHECK(value_of(response) == 2 * at);
        sinew_pending_call_free(calls[at]);
    }
    FAILS(sinew_client_call(client, number(types->request, DIE), soon, &response), SINEW_ERROR_SERVER_GONE,
          "the server went away before it answered");
    CHECK(ended(other) == -SIGKILL);
    wait_until_gone(node, "/far");

    other = start(program, "serve");
    CHECK(sinew_client_wait_for_server(client, soon));
    OK(sinew_client_call(client, number(types->request, QUIT), soon, &response));
    CHECK(value_of(response) == 2 * QUIT && kill(other, SIGUSR1) == 0);
    CHECK(ended(other) == 0);
    sinew_client_free(client);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "serve") == 0) {
        return serve();
    }
    sinew_context *context = NULL;
    sinew_node *node = NULL;
    OK(sinew_context_new(NULL, &context));
    OK(sinew_node_new(context, "caller", NULL, &node));
    const sinew_message_type *foreign = NULL;
    OK(sinew_message_type_known("test_interfaces/msg/Foreign", HASH, &foreign));
    doubler doubling = {.types = numbers_get(), .foreign = foreign};
    types_are_checked(&doubling.types);
    calls_in_one_process(node, &doubling);
    calls_that_wait(node, &doubling.types);
    calls_with_values(node);
    calls_over_two_processes(argv[0], node, &doubling.types);

    sinew_client *client = NULL;
    OK(sinew_client_new(node, "late", doubling.types.service, NULL, &client));
    OK(sinew_context_shutdown(context));
    sinew_message *response = NULL;
    FAILS(sinew_client_call(client, number(doubling.types.request, 1), soon, &response),
          SINEW_ERROR_SHUTDOWN, "shut down");
    FAILS(sinew_client_new(node, "later", doubling.types.service, NULL, &client), SINEW_ERROR_SHUTDOWN,
          "shut down");
    sinew_client_free(client);
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
