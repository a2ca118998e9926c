/* Requests and responses that the program takes by hand, in one process and over two. */
#include "process.h"

#include "numbers.h"
#include <semaphore.h>

static const sinew_duration soon = 20 * (sinew_duration)1000000000;

static void add(void *context, uint64_t count)
{
    atomic_fetch_add((atomic_int *)context, (int)count);
}

static void post(void *context, uint64_t count)
{
    for (; count > 0; --count) {
        CHECK(sem_post(context) == 0);
    }
}

static void servers_are_checked(const sinew_node *node, const numbers *types)
{
    sinew_pulled_server *server = NULL;
    sinew_server_options options = {.size = sizeof options, .is_immediate = true};
    FAILS(sinew_pulled_server_new(node, "bad", types->service, &options, &server),
          SINEW_ERROR_INVALID_STRUCTURE,
          "`is_immediate` is set");
    FAILS(sinew_pulled_server_new(NULL, "bad", types->service, NULL, &server), SINEW_ERROR_NULL_ARGUMENT,
          "`node` is null");
    FAILS(sinew_pulled_server_new(node, NULL, types->service, NULL, &server), SINEW_ERROR_NULL_ARGUMENT,
          "`name` is null");
    FAILS(sinew_pulled_server_new(node, "bad", NULL, NULL, &server), SINEW_ERROR_NULL_ARGUMENT,
          "`service_type` is null");
    FAILS(sinew_pulled_server_new(node, "bad", types->service, NULL, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`server` is null");
    FAILS(sinew_pulled_server_new(node, "sums", types->service, NULL, &server), SINEW_ERROR_SERVICE_TAKEN,
          "sums");
}

int main(int argc, char **argv)
{
    const numbers types = numbers_get();
    const bool is_other = argc > 1 && strcmp(argv[1], "call") == 0;
    sinew_context *context = NULL;
    sinew_node *node = NULL;
    OK(sinew_context_new(NULL, &context));
    OK(sinew_node_new(context, is_other ? "caller" : "pulled", NULL, &node));
    sinew_client *client = NULL;
    sinew_client_options calling = {.size = sizeof calling, .max_responses = 3};
    OK(sinew_client_new(node, "sums", types.service, &calling, &client));
    sinew_message *message = NULL;
    bool taken = false;
    sinew_response_info response = {.size = sizeof response};
    sinew_request_id ids[4];

    if (is_other) { /* the other process: it sends, and takes what the server of the first one answers */
        sem_t responses;
        CHECK(sem_init(&responses, 0, 0) == 0);
        OK(sinew_client_set_listener(client, post, &responses, NULL));
        CHECK(sinew_client_wait_for_server(client, soon));
        OK(sinew_client_send(client, number(types.request, 1), &ids[0]));
        OK(sinew_client_send(client, number(types.request, 2), &ids[1]));
        for (int at = 0; at < 2; ++at) {
            CHECK(sem_wait(&responses) == 0);
            OK(sinew_client_take_response(client, &taken, &message, &response));
            CHECK(taken && response.source_time > 0 && response.reception_time >= response.source_time);
            if (response.id.sequence == ids[0].sequence) {
                CHECK(response.status == SINEW_OK && value_of(message) == 101);
            } else {
                CHECK(response.id.sequence == ids[1].sequence && response.id.place == ids[1].place);
                CHECK(response.status == SINEW_ERROR_CALLBACK_FAILED && message == NULL);
                CHECK(strstr(sinew_error_message(), "even numbers are refused") != NULL);
            }
        }
        OK(sinew_client_clear_listener(client));
        sinew_client_free(client);
        sinew_node_free(node);
        sinew_context_free(context);
        return 0;
    }

    sinew_pulled_server *server = NULL;
    OK(sinew_pulled_server_new(node, "sums", types.service, NULL, &server));
    CHECK(strcmp(sinew_pulled_server_name(server), "/sums") == 0 && !sinew_pulled_server_is_closed(server));
    servers_are_checked(node, &types);
    sinew_request_info info = {.size = sizeof info};
    OK(sinew_pulled_server_take_request(server, &message, &info));
    CHECK(message == NULL);
    OK(sinew_client_take_response(client, &taken, &message, NULL));
    CHECK(!taken && message == NULL);

    /* Several requests are outstanding, at most three, and are answered in another order. */
    atomic_int requests = 0, responses = 0, gone = 0;
    OK(sinew_pulled_server_set_listener(server, add, &requests, NULL));
    OK(sinew_client_set_listener(client, add, &responses, NULL));
    for (int32_t at = 0; at < 3; ++at) {
        OK(sinew_client_send(client, number(types.request, at), &ids[at]));
    }
    FAILS(sinew_client_send(client, number(types.request, 3), &ids[3]), SINEW_ERROR_TOO_MANY_RESPONSES,
          "3 calls");
    CHECK(atomic_load(&requests) == 3 && atomic_load(&responses) == 0);
    sinew_gid gid;
    OK(sinew_client_gid(client, &gid));
    sinew_request_key keys[3];
    for (int32_t at = 0; at < 3; ++at) {
        OK(sinew_pulled_server_take_request(server, &message, &info));
        CHECK(value_of(message) == at);
        keys[at] = info.key;
        CHECK(memcmp(&info.key.client, &gid, sizeof gid) == 0 && info.key.sequence == ids[at].sequence);
        CHECK(sinew_pulled_server_is_awaited(server, &info.key));
    }
    OK(sinew_pulled_server_respond(server, &keys[2], number(types.response, 102)));
    FAILS(sinew_pulled_server_respond(server, &keys[0], number(types.request, 0)), SINEW_ERROR_OTHER_TYPE,
          "the response is a"); /* it can still be answered */
    OK(sinew_pulled_server_respond(server, &keys[0], number(types.response, 100)));
    OK(sinew_pulled_server_fail(server, &keys[1], "not today \xff"));
    CHECK(atomic_load(&responses) == 3);
    FAILS(sinew_pulled_server_respond(server, &keys[0], number(types.response, 100)),
          SINEW_ERROR_REQUEST_NOT_IN_HAND, "request 1 of client");
    FAILS(sinew_pulled_server_fail(server, &keys[1], "again"), SINEW_ERROR_REQUEST_NOT_IN_HAND,
          "request 2 of client");
    CHECK(!sinew_pulled_server_is_awaited(server, &keys[0]));
    const int32_t order[] = {2, 0, 1};
    for (int32_t at = 0; at < 3; ++at) {
        OK(sinew_client_take_response(client, &taken, &message, &response));
        CHECK(taken && response.id.sequence == ids[order[at]].sequence);
        if (order[at] == 1) {
            CHECK(message == NULL && response.status == SINEW_ERROR_CALLBACK_FAILED);
            CHECK(strstr(sinew_error_message(), "not today") != NULL);
        } else {
            CHECK(value_of(message) == 100 + order[at] && response.status == SINEW_OK);
        }
    }

    /* Giving up and taking back. */
    OK(sinew_client_send(client, number(types.request, 4), &ids[0]));
    OK(sinew_client_send(client, number(types.request, 5), &ids[1]));
    OK(sinew_pulled_server_take_request(server, &message, &info));
    CHECK(value_of(message) == 4);
    OK(sinew_client_withdraw(client, ids[0], &message));
    CHECK(message == NULL); /* the server has it */
    CHECK(sinew_client_give_up(client, ids[0]) && !sinew_client_give_up(client, ids[0]));
    CHECK(!sinew_pulled_server_is_awaited(server, &info.key));
    FAILS(sinew_pulled_server_respond(server, &info.key, number(types.response, 0)),
          SINEW_ERROR_RESPONSE_UNCLAIMED,
          "its caller no longer waits");
    const sinew_request_id wrong = {.sequence = 999, .place = 77};
    CHECK(!sinew_client_give_up(client, wrong));
    OK(sinew_client_withdraw(client, wrong, &message));
    CHECK(message == NULL);

    /* Listeners are called for what waits already, and their contexts are dropped when they are replaced. */
    OK(sinew_pulled_server_set_listener(server, add, &gone, dropped));
    CHECK(atomic_load(&gone) == 1); /* the request of ids[1] */
    OK(sinew_pulled_server_clear_listener(server));
    CHECK(atomic_load(&gone) == 2);
    FAILS(sinew_pulled_server_set_listener(server, NULL, &gone, dropped), SINEW_ERROR_NULL_ARGUMENT,
          "`callback` is null");
    FAILS(sinew_client_set_listener(NULL, add, &gone, dropped), SINEW_ERROR_NULL_ARGUMENT,
          "`client` is null");
    CHECK(atomic_load(&gone) == 4);

    /* A server that ends answers with an error. */
    sinew_server_statistics served = {.size = sizeof served};
    OK(sinew_pulled_server_read_statistics(server, &served));
    CHECK(served.answered == 2 && served.failed == 1 && served.unclaimed == 1 &&
          served.waiting + served.in_hand == 1);
    OK(sinew_pulled_server_close(server));
    OK(sinew_client_take_response(client, &taken, &message, &response));
    CHECK(taken && message == NULL && response.status == SINEW_ERROR_SERVER_GONE &&
          response.id.sequence == ids[1].sequence);
    CHECK(atomic_load(&responses) == 4);
    OK(sinew_pulled_server_take_request(server, &message, &info));
    CHECK(message == NULL && sinew_pulled_server_is_closed(server));
    sinew_pulled_server_free(server);
    sinew_pulled_server_free(server);

    /* Over two processes. */
    OK(sinew_pulled_server_new(node, "sums", types.service, NULL, &server));
    sem_t arrived;
    CHECK(sem_init(&arrived, 0, 0) == 0);
    OK(sinew_pulled_server_set_listener(server, post, &arrived, NULL));
    const pid_t other = start(argv[0], "call");
    for (int at = 0; at < 2; ++at) {
        CHECK(sem_wait(&arrived) == 0);
        OK(sinew_pulled_server_take_request(server, &message, &info));
        const int32_t value = value_of(message);
        if (value % 2 == 0) {
            OK(sinew_pulled_server_fail(server, &info.key, "even numbers are refused"));
        } else {
            OK(sinew_pulled_server_respond(server, &info.key, number(types.response, 100 + value)));
        }
    }
    CHECK(ended(other) == 0);

    /* Bad input. */
    FAILS(sinew_pulled_server_take_request(server, NULL, &info), SINEW_ERROR_NULL_ARGUMENT,
          "`request` is null");
    FAILS(sinew_pulled_server_take_request(server, &message, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`info` is null");
    FAILS(sinew_pulled_server_respond(server, NULL, number(types.response, 1)), SINEW_ERROR_NULL_ARGUMENT,
          "`key` is null");
    FAILS(sinew_pulled_server_respond(server, &info.key, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`response` is null");
    FAILS(sinew_pulled_server_fail(server, &info.key, NULL), SINEW_ERROR_NULL_ARGUMENT, "`text` is null");
    CHECK(!sinew_pulled_server_is_awaited(server, NULL));
    FAILS(sinew_pulled_server_read_statistics(server, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`statistics` is null");
    FAILS(sinew_client_send(client, NULL, &ids[0]), SINEW_ERROR_NULL_ARGUMENT, "`request` is null");
    FAILS(sinew_client_send(client, number(types.request, 1), NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`id` is null");
    FAILS(sinew_client_take_response(client, NULL, &message, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`taken` is null");
    FAILS(sinew_client_take_response(client, &taken, NULL, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`response` is null");
    FAILS(sinew_client_withdraw(client, ids[0], NULL), SINEW_ERROR_NULL_ARGUMENT, "`request` is null");
    FAILS(sinew_client_gid(client, NULL), SINEW_ERROR_NULL_ARGUMENT, "`gid` is null");
    OK(sinew_pulled_server_take_request(server, &message, &info));
    CHECK(message == NULL); /* nothing of that was sent */
    info.size = 2;
    FAILS(sinew_pulled_server_take_request(server, &message, &info), SINEW_ERROR_INVALID_STRUCTURE,
          "sinew_request_info");
    response.size = 0;
    FAILS(sinew_client_take_response(client, &taken, &message, &response), SINEW_ERROR_INVALID_STRUCTURE,
          "sinew_response_info");

    sinew_pulled_server_free(server);
    sinew_client_free(client);
    CHECK(!sinew_client_give_up(client, ids[0]));
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
