/* Failures of callbacks, and what goes with them from the callback to the function that fails. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

enum { FAILURES = 200, THREADS = 4 };

/* How often each payload was dropped. */
static atomic_int drops[FAILURES];
static atomic_int begun;

static void drop(void *payload)
{
    ++*(atomic_int *)payload;
}

static sinew_status fail(void *payload)
{
    ++begun;
    sinew_error_set(SINEW_ERROR_TIMEOUT, "the arm is stuck", payload, drop);
    return SINEW_ERROR_TIMEOUT;
}

static sinew_status fail_otherwise(void *payload)
{
    /* The thread's last failure is not the one that the callback returns. */
    sinew_error_set(SINEW_ERROR_TIMEOUT, "the arm is stuck", payload, drop);
    return SINEW_ERROR_CLOSED;
}

static void of_a_thread(void)
{
    CHECK(sinew_error_payload() == NULL);
    sinew_error_set(SINEW_ERROR_TIMEOUT, "first", &drops[0], drop);
    CHECK(strcmp(sinew_error_message(), "first") == 0 && sinew_error_payload() == &drops[0]);
    CHECK(drops[0] == 0);
    FAILS(sinew_executor_spin(NULL), SINEW_ERROR_NULL_ARGUMENT, "executor");
    CHECK(sinew_error_payload() == NULL && drops[0] == 1);
    sinew_error_set(SINEW_ERROR_TIMEOUT, NULL, &drops[0], NULL); /* it has no owner */
    CHECK(strcmp(sinew_error_message(), "a failure without a sentence") == 0);
    sinew_error_set(SINEW_ERROR_TIMEOUT, "without one", NULL, drop);
    CHECK(sinew_error_payload() == NULL && drops[0] == 1);
    drops[0] = 0;
}

static void *set_and_end(void *payload)
{
    sinew_error_set(SINEW_ERROR_TIMEOUT, "of a thread", payload, drop);
    return NULL;
}

static void ends_with_its_thread(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, set_and_end, &drops[0]) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(drops[0] == 1 && sinew_error_payload() == NULL);
    drops[0] = 0;
}

static void out_of_a_spin(const sinew_node *node)
{
    const sinew_executor_options options = {.size = sizeof options, .on_error = SINEW_FAULT_STOP};
    sinew_executor *executor = NULL;
    OK(sinew_executor_new(&options, &executor));
    OK(sinew_executor_add_node(executor, node));
    OK(sinew_node_post(node, fail, &drops[0], NULL));
    FAILS(sinew_executor_spin(executor), SINEW_ERROR_CALLBACK_FAILED, "the arm is stuck");
    CHECK(sinew_error_payload() == &drops[0] && drops[0] == 0);
    OK(sinew_node_post(node, fail_otherwise, &drops[1], NULL));
    FAILS(sinew_executor_spin_some(executor, NULL), SINEW_ERROR_CALLBACK_FAILED, "");
    CHECK(strstr(sinew_error_message(), "stuck") == NULL && sinew_error_payload() == NULL);
    CHECK(drops[0] == 1 && drops[1] == 1);
    sinew_executor_free(executor);

    const sinew_wait_set_options set_options = {.size = sizeof set_options, .on_error = SINEW_FAULT_STOP};
    sinew_wait_set *set = NULL;
    OK(sinew_wait_set_new(&set_options, &set));
    OK(sinew_wait_set_add_node(set, node));
    OK(sinew_node_post(node, fail, &drops[2], NULL));
    size_t ready = 0;
    OK(sinew_wait_set_wait(set, -1, &ready));
    CHECK(ready == 1);
    FAILS(sinew_wait_set_run(set, 0, NULL), SINEW_ERROR_CALLBACK_FAILED, "the arm is stuck");
    CHECK(sinew_error_payload() == &drops[2]);
    sinew_wait_set_free(set);

    /* One that is only logged is dropped then. */
    OK(sinew_executor_new(NULL, &executor));
    OK(sinew_executor_add_node(executor, node));
    OK(sinew_node_post(node, fail, &drops[3], NULL));
    OK(sinew_executor_spin_some(executor, NULL));
    sinew_executor_free(executor);
    sinew_error_set(SINEW_ERROR_TIMEOUT, "another", NULL, NULL);
    for (int i = 0; i < 4; ++i) {
        CHECK(drops[i] == 1);
        drops[i] = 0;
    }
    begun = 0;
}

/* Callbacks that fail at the same time: each spin returns one, and no payload is lost or dropped twice. */
static void of_several_threads(const sinew_node *node)
{
    const sinew_group_options reentrant = {.size = sizeof reentrant, .kind = SINEW_GROUP_REENTRANT};
    sinew_group *group = NULL;
    OK(sinew_group_new(node, &reentrant, &group));
    const sinew_executor_options options = {
        .size = sizeof options, .threads = THREADS, .on_error = SINEW_FAULT_STOP};
    sinew_executor *executor = NULL;
    OK(sinew_executor_new(&options, &executor));
    OK(sinew_executor_add_group(executor, group));
    for (int i = 0; i < FAILURES; ++i) {
        OK(sinew_group_post(group, fail, &drops[i], NULL));
    }
    while (begun < FAILURES) {
        FAILS(sinew_executor_spin(executor), SINEW_ERROR_CALLBACK_FAILED, "the arm is stuck");
        const atomic_int *const payload = sinew_error_payload();
        CHECK(payload >= drops && payload < drops + FAILURES && *payload == 0);
    }
    sinew_executor_free(executor);
    sinew_group_free(group);
    sinew_error_set(SINEW_ERROR_TIMEOUT, "another", NULL, NULL);
    for (int i = 0; i < FAILURES; ++i) {
        CHECK(drops[i] == 1);
    }
}

int main(void)
{
    of_a_thread();
    ends_with_its_thread();
    sinew_context_options options = {.size = sizeof options, .shared_memory = SINEW_NO};
    sinew_context *context = NULL;
    OK(sinew_context_new(&options, &context));
    sinew_node *node = NULL;
    OK(sinew_node_new(context, "failing", NULL, &node));
    out_of_a_spin(node);
    of_several_threads(node);
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
