/* Executors that run callbacks until a call is over. */
#define _POSIX_C_SOURCE 200809L
#include "numbers.h"
#include <pthread.h>
#include <semaphore.h>

enum { REFUSE = -1, LATER = -2 };

typedef struct {
    numbers types;
    sem_t asked;
    sinew_responder *responder;
} doubler;

static sinew_status answer(void *context, sinew_message *request, const sinew_request_info *info,
                           sinew_responder *responder)
{
    (void)info;
    doubler *doubling = context;
    const int32_t value = value_of(request);
    if (value == REFUSE) {
        OK(sinew_responder_fail(responder, "not today"));
    } else if (value == LATER) {
        doubling->responder = responder;
        CHECK(sem_post(&doubling->asked) == 0);
    } else {
        OK(sinew_responder_respond(responder, number(doubling->types.response, 2 * value)));
    }
    return SINEW_OK;
}

/* Another thread answers, while the executor has nothing to run. */
static void *answer_later(void *context)
{
    doubler *doubling = context;
    CHECK(sem_wait(&doubling->asked) == 0);
    OK(sinew_responder_respond(doubling->responder, number(doubling->types.response, 77)));
    return NULL;
}

static void *stop_later(void *executor)
{
    OK(sinew_executor_stop(executor));
    return NULL;
}

static void with_threads(sinew_node *node, doubler *doubling, size_t threads)
{
    const sinew_message_type *of = doubling->types.request;
    const sinew_executor_options options = {.size = sizeof options, .threads = threads};
    sinew_executor *executor = NULL;
    sinew_client *client = NULL;
    OK(sinew_executor_new(&options, &executor));
    OK(sinew_executor_add_node(executor, node));
    OK(sinew_client_new(node, "double", doubling->types.service, NULL, &client));

    /* The executor serves the server, too. */
    sinew_pending_call *call = NULL;
    sinew_message *response = NULL;
    OK(sinew_client_call_async(client, number(of, 21), &call));
    OK(sinew_pending_call_poll(call, &response));
    CHECK(response == NULL);
    OK(sinew_executor_spin_until_complete(executor, call, -1));
    OK(sinew_executor_spin_until_complete(executor, call, 0)); /* it is over still */
    OK(sinew_pending_call_poll(call, &response));
    CHECK(value_of(response) == 42);
    FAILS(sinew_executor_spin_until_complete(executor, call, -1), SINEW_ERROR_CLOSED, "the call is over");
    FAILS(sinew_pending_call_poll(call, &response), SINEW_ERROR_CLOSED, "the call is over");
    sinew_pending_call_free(call);

    /* A failure ends the wait as well; it is the call's. */
    OK(sinew_client_call_async(client, number(of, REFUSE), &call));
    OK(sinew_executor_spin_until_complete(executor, call, 20 * (sinew_duration)1000000000));
    FAILS(sinew_pending_call_poll(call, &response), SINEW_ERROR_CALLBACK_FAILED, "not today");
    sinew_pending_call_free(call);

    /* Time limits, and an answer from another thread. */
    OK(sinew_client_call_async(client, number(of, LATER), &call));
    FAILS(sinew_executor_spin_until_complete(executor, call, 1000), SINEW_ERROR_TIMEOUT,
          "not over within 1000 nanoseconds");
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, answer_later, doubling) == 0);
    OK(sinew_executor_spin_until_complete(executor, call, -1));
    CHECK(pthread_join(thread, NULL) == 0);
    OK(sinew_pending_call_poll(call, &response));
    CHECK(value_of(response) == 77);
    sinew_pending_call_free(call);

    /* A stop ends the wait; the call goes on. */
    sinew_client *lonely = NULL;
    OK(sinew_client_new(node, "nobody", doubling->types.service, NULL, &lonely));
    OK(sinew_client_call_async(lonely, number(of, 1), &call));
    CHECK(pthread_create(&thread, NULL, stop_later, executor) == 0);
    CHECK(sinew_executor_spin_until_complete(executor, call, -1) == SINEW_ERROR_STOPPED);
    CHECK(pthread_join(thread, NULL) == 0);
    OK(sinew_pending_call_poll(call, &response));
    CHECK(response == NULL);
    FAILS(sinew_executor_spin_until_complete(executor, call, 0), SINEW_ERROR_TIMEOUT, "0 nanoseconds");

    FAILS(sinew_executor_spin_until_complete(NULL, call, 0), SINEW_ERROR_NULL_ARGUMENT, "`executor` is null");
    FAILS(sinew_executor_spin_until_complete(executor, NULL, 0), SINEW_ERROR_NULL_ARGUMENT, "`call` is null");
    sinew_pending_call_free(call);
    FAILS(sinew_executor_spin_until_complete(executor, call, 0), SINEW_ERROR_INVALID_HANDLE, "it was freed");
    sinew_client_free(lonely);
    sinew_client_free(client);
    sinew_executor_free(executor);
}

int main(void)
{
    doubler doubling = {.types = numbers_get()};
    CHECK(sem_init(&doubling.asked, 0, 0) == 0);
    sinew_context *context = NULL;
    sinew_node *node = NULL;
    OK(sinew_context_new(NULL, &context));
    OK(sinew_node_new(context, "waiting", NULL, &node));
    sinew_server *server = NULL;
    OK(sinew_server_new(node, "double", doubling.types.service, NULL, answer, &doubling, NULL, &server));
    with_threads(node, &doubling, 1);
    with_threads(node, &doubling, 3);
    sinew_server_free(server);
    sinew_node_free(node);
    sinew_context_free(context);
    CHECK(sem_destroy(&doubling.asked) == 0);
    return 0;
}
