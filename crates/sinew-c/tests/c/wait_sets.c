/* Wait sets: the program chooses what runs. */
#include "text.h"
#include <pthread.h>

static sinew_wait_set *set;

static sinew_status count(void *context, uint64_t triggers)
{
    *(uint64_t *)context += triggers;
    return SINEW_OK;
}

static sinew_status tick(void *context, const sinew_timer_info *info)
{
    (void)info;
    ++*(uint64_t *)context;
    return SINEW_OK;
}

/* A callback can't wait for the set that runs it, but may ask it, add to it and free it. */
static sinew_status use_the_set(void *context, uint64_t triggers)
{
    (void)triggers;
    size_t found = 0;
    FAILS(sinew_wait_set_wait(set, 0, &found), SINEW_ERROR_BUSY, "in use");
    FAILS(sinew_wait_set_run(set, 0, NULL), SINEW_ERROR_BUSY, "");
    OK(sinew_wait_set_add_context(set, context));
    sinew_wait_set_free(set);
    return SINEW_ERROR_HISTORY_FULL;
}

static void *stop(void *handle)
{
    OK(sinew_stop_handle_stop(handle));
    return NULL;
}

/* Runs what is ready at the first place that is this guard condition, and says whether there was one. */
static bool run_guard(size_t ready, const sinew_guard_condition *guard)
{
    for (size_t i = 0; i < ready; ++i) {
        if (sinew_wait_set_is_guard_condition(set, i, guard)) {
            bool ran = false;
            OK(sinew_wait_set_run(set, i, &ran));
            return ran;
        }
    }
    return false;
}

static void what_is_ready(sinew_node *node, sinew_group *group)
{
    uint64_t ticks = 0, left_count = 0, right_count = 0;
    sinew_guard_condition *left = NULL, *right = NULL;
    const sinew_guard_condition_options in_group = {.size = sizeof in_group, .group = group};
    OK(sinew_guard_condition_new(node, NULL, count, &left_count, NULL, &left));
    OK(sinew_guard_condition_new(node, &in_group, count, &right_count, NULL, &right));
    size_t ready = 7;
    OK(sinew_wait_set_wait(set, 0, &ready));
    CHECK(ready == 0);

    OK(sinew_guard_condition_trigger(left));
    OK(sinew_guard_condition_trigger(right));
    OK(sinew_guard_condition_trigger(right));
    OK(sinew_wait_set_wait(set, -1, &ready));
    CHECK(ready == 2);
    CHECK(sinew_wait_set_is_guard_condition(set, 0, left) && !sinew_wait_set_is_guard_condition(set, 0, right));
    CHECK(sinew_wait_set_is_guard_condition(set, 1, right));
    CHECK(strstr(sinew_wait_set_describe(set, 0), "of node /waiter") != NULL);
    CHECK(run_guard(ready, right) && right_count == 2 && left_count == 0);
    CHECK(!run_guard(ready, right)); /* nothing waits any more */
    OK(sinew_wait_set_wait(set, -1, &ready));
    CHECK(ready == 1 && run_guard(ready, left) && left_count == 1); /* what was left out is ready again */

    sinew_timer *timer = NULL;
    OK(sinew_timer_new(node, 1000000, NULL, tick, &ticks, NULL, &timer));
    OK(sinew_wait_set_wait(set, -1, &ready));
    CHECK(ready == 1 && sinew_wait_set_is_timer(set, 0, timer) && !sinew_wait_set_is_guard_condition(set, 0, left));
    bool ran = false;
    OK(sinew_wait_set_run(set, 0, &ran));
    CHECK(ran && ticks == 1);
    sinew_timer_free(timer);
    OK(sinew_wait_set_run(set, 0, &ran));
    CHECK(!ran); /* it is gone */
    sinew_guard_condition_free(left);
    sinew_guard_condition_free(right);
}

/* After a wait that has found one entity. */
static void bad_input_is_refused(sinew_node *node)
{
    bool ran = false;
    FAILS(sinew_wait_set_run(set, 1, &ran), SINEW_ERROR_INVALID_ENUMERATOR, "`index` is 1");
    CHECK(sinew_wait_set_describe(set, 9) == NULL);
    CHECK(!sinew_wait_set_is_timer(set, 0, NULL) && strstr(sinew_error_message(), "`timer`") != NULL);
    FAILS(sinew_wait_set_wait(set, 0, NULL), SINEW_ERROR_NULL_ARGUMENT, "`count`");
    FAILS(sinew_wait_set_new(NULL, NULL), SINEW_ERROR_NULL_ARGUMENT, "`set`");
    FAILS(sinew_wait_set_add_node(set, NULL), SINEW_ERROR_NULL_ARGUMENT, "`node`");
    FAILS(sinew_wait_set_run((sinew_wait_set *)(void *)node, 0, NULL), SINEW_ERROR_INVALID_HANDLE, "sinew_wait_set");
    const sinew_wait_set_options wrong = {.size = sizeof wrong, .on_error = 5};
    sinew_wait_set *other = NULL;
    FAILS(sinew_wait_set_new(&wrong, &other), SINEW_ERROR_INVALID_ENUMERATOR, "`on_error`");
    OK(sinew_wait_set_new(NULL, &other));
    FAILS(sinew_wait_set_add_node(other, node), SINEW_ERROR_SERVED_ELSEWHERE, "");
    sinew_wait_set_free(other);
}

/* From another thread, and before the wait. */
static void a_wait_is_stopped(sinew_stop_handle *handle)
{
    size_t ready = 0;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, stop, handle) == 0);
    FAILS(sinew_wait_set_wait(set, -1, &ready), SINEW_ERROR_STOPPED, "");
    CHECK(pthread_join(thread, NULL) == 0);
    OK(sinew_wait_set_stop(set));
    FAILS(sinew_wait_set_wait(set, -1, &ready), SINEW_ERROR_STOPPED, "");
}

/* One without a callback, whose messages are taken: it is ready until it is emptied. */
static void a_subscription_is_taken_from(sinew_node *node)
{
    static const uint8_t SOME[] = {0, 1, 0, 0, 1, 0, 0, 0, 0};
    const sinew_message_type *type = NULL;
    OK(sinew_message_type_known(TEXT_NAME, TEXT_HASH, &type));
    sinew_publisher *publisher = NULL;
    OK(sinew_publisher_new(node, "texts", type, NULL, &publisher));
    sinew_subscription *subscription = NULL, *other = NULL;
    OK(sinew_subscription_new(node, "texts", type, NULL, &subscription));
    OK(sinew_subscription_new(node, "others", type, NULL, &other));
    OK(sinew_wait_set_new(NULL, &set));
    OK(sinew_wait_set_add_subscription(set, subscription));
    OK(sinew_wait_set_add_subscription(set, other));
    FAILS(sinew_wait_set_add_subscription(set, NULL), SINEW_ERROR_NULL_ARGUMENT, "`subscription`");
    size_t ready = 7;
    OK(sinew_wait_set_wait(set, 0, &ready));
    CHECK(ready == 0);
    OK(sinew_publisher_publish_bytes(publisher, SOME, sizeof SOME));
    for (int i = 0; i < 2; ++i) {
        OK(sinew_wait_set_wait(set, -1, &ready));
        CHECK(ready == 1 && sinew_wait_set_is_subscription(set, 0, subscription));
        CHECK(!sinew_wait_set_is_subscription(set, 0, other));
        CHECK(!sinew_wait_set_is_subscription(set, 1, subscription));
    }
    CHECK(!sinew_wait_set_is_server(set, 0, NULL) && strstr(sinew_error_message(), "`server`") != NULL);
    CHECK(!sinew_wait_set_is_client(set, 0, NULL) && strstr(sinew_error_message(), "`client`") != NULL);
    sinew_message *message = NULL;
    OK(sinew_subscription_take(subscription, &message, NULL));
    CHECK(message != NULL);
    sinew_message_free(message);
    OK(sinew_wait_set_wait(set, 0, &ready));
    CHECK(ready == 0);
    sinew_wait_set_free(set);
    sinew_subscription_free(other);
    sinew_subscription_free(subscription);
    sinew_publisher_free(publisher);
}

/* Its failure is returned. */
static void a_callback_uses_the_set_and_frees_it(sinew_context *context, sinew_node *node)
{
    const sinew_wait_set_options stops = {.size = sizeof stops, .on_error = SINEW_FAULT_STOP};
    OK(sinew_wait_set_new(&stops, &set));
    OK(sinew_wait_set_add_context(set, context));
    sinew_guard_condition *user = NULL;
    OK(sinew_guard_condition_new(node, NULL, use_the_set, context, NULL, &user));
    OK(sinew_guard_condition_trigger(user));
    size_t ready = 0;
    OK(sinew_wait_set_wait(set, -1, &ready));
    CHECK(ready == 1);
    FAILS(sinew_wait_set_run(set, 0, NULL), SINEW_ERROR_CALLBACK_FAILED, "it returned 300");
    FAILS(sinew_wait_set_run(set, 0, NULL), SINEW_ERROR_INVALID_HANDLE, "it was freed");
    sinew_guard_condition_free(user);
}

int main(void)
{
    sinew_context_options options = {.size = sizeof options, .shared_memory = SINEW_NO};
    sinew_context *context = NULL;
    OK(sinew_context_new(&options, &context));
    sinew_node *node = NULL;
    OK(sinew_node_new(context, "waiter", NULL, &node));
    sinew_group *group = NULL;
    const sinew_group_options reentrant = {.size = sizeof reentrant, .kind = SINEW_GROUP_REENTRANT};
    OK(sinew_group_new(node, &reentrant, &group));

    OK(sinew_wait_set_new(NULL, &set));
    size_t ready = 0;
    FAILS(sinew_wait_set_wait(set, -1, &ready), SINEW_ERROR_NOTHING_TO_SPIN, "");
    OK(sinew_wait_set_add_group(set, group));
    OK(sinew_wait_set_add_node(set, node));
    what_is_ready(node, group);
    bad_input_is_refused(node);
    sinew_stop_handle *handle = NULL;
    OK(sinew_wait_set_stop_handle(set, &handle));
    a_wait_is_stopped(handle);
    CHECK(sinew_wait_set_remove_group(set, group) && !sinew_wait_set_remove_group(set, group));
    CHECK(sinew_wait_set_remove_node(set, node) && !sinew_wait_set_remove_node(set, node));
    CHECK(!sinew_wait_set_remove_context(set, context) && !sinew_wait_set_remove_context(set, NULL));
    OK(sinew_wait_set_add_context(set, context));
    CHECK(sinew_wait_set_remove_context(set, context));
    sinew_wait_set_free(set);

    a_subscription_is_taken_from(node);
    a_callback_uses_the_set_and_frees_it(context, node);
    OK(sinew_stop_handle_stop(handle)); /* of a set that is gone */
    sinew_stop_handle_free(handle);

    OK(sinew_wait_set_new(NULL, &set));
    OK(sinew_wait_set_add_context(set, context));
    OK(sinew_context_shutdown(context));
    FAILS(sinew_wait_set_wait(set, -1, &ready), SINEW_ERROR_STOPPED, "");
    sinew_wait_set_free(set);
    sinew_group_free(group);
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
