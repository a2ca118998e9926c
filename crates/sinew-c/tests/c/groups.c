/* Groups: which callbacks run at the same time, priorities and pauses, on several threads. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

enum { CALLS = 500 };

/* What the callbacks of one group see of each other. */
struct group_case {
    atomic_int inside;
    atomic_int most_inside;
    atomic_int calls;
    atomic_int *total;
    sinew_executor *executor;
    int wanted;
};

static sinew_status work(void *context)
{
    struct group_case *self = context;
    const int inside = atomic_fetch_add(&self->inside, 1) + 1;
    int most = atomic_load(&self->most_inside);
    while (most < inside && !atomic_compare_exchange_weak(&self->most_inside, &most, inside)) {
    }
    atomic_fetch_add(&self->calls, 1);
    atomic_fetch_sub(&self->inside, 1);
    if (atomic_fetch_add(self->total, 1) + 1 == self->wanted) {
        OK(sinew_executor_stop(self->executor));
    }
    return SINEW_OK;
}

/* Two of these meet only if both run at the same time. */
static sinew_status meet(void *context)
{
    const int met = pthread_barrier_wait(context);
    CHECK(met == 0 || met == PTHREAD_BARRIER_SERIAL_THREAD);
    return SINEW_OK;
}

static sinew_status stop(void *context)
{
    OK(sinew_executor_stop(context));
    return SINEW_OK;
}

static void exclusive_callbacks_never_overlap(sinew_node *node, sinew_executor *executor)
{
    atomic_int total = 0;
    struct group_case cases[3] = {{.total = &total}, {.total = &total}, {.total = &total}};
    sinew_group *groups[3] = {NULL};
    for (size_t i = 0; i < 3; ++i) {
        OK(sinew_group_new(node, NULL, &groups[i]));
        cases[i].executor = executor;
        cases[i].wanted = 3 * CALLS;
    }
    for (size_t i = 0; i < 3 * CALLS; ++i) {
        OK(sinew_group_post(groups[i % 3], work, &cases[i % 3], NULL));
    }
    OK(sinew_executor_spin(executor));
    for (size_t i = 0; i < 3; ++i) {
        CHECK(atomic_load(&cases[i].calls) == CALLS && atomic_load(&cases[i].most_inside) == 1);
        sinew_group_free(groups[i]);
    }
}

static void reentrant_callbacks_may(sinew_node *node, sinew_executor *executor)
{
    pthread_barrier_t barrier;
    CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
    sinew_group *group = NULL;
    const sinew_group_options reentrant = {.size = sizeof reentrant, .kind = SINEW_GROUP_REENTRANT};
    OK(sinew_group_new(node, &reentrant, &group));
    OK(sinew_group_post(group, meet, &barrier, NULL));
    OK(sinew_group_post(group, meet, &barrier, NULL));
    OK(sinew_group_post(group, stop, executor, NULL));
    OK(sinew_executor_spin(executor));
    sinew_group_free(group);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
}

static char order[8];

static sinew_status note(void *letter)
{
    strncat(order, letter, 1);
    return SINEW_OK;
}

static void priorities_and_pauses(sinew_node *node, sinew_executor *executor)
{
    sinew_group *low = NULL, *high = NULL;
    const sinew_group_options urgent = {.size = sizeof urgent, .priority = 5};
    OK(sinew_group_new(node, NULL, &low));
    OK(sinew_group_new(node, &urgent, &high));
    OK(sinew_group_post(low, note, "l", NULL));
    OK(sinew_group_post(high, note, "h", NULL));
    OK(sinew_executor_spin_all(executor, -1, NULL));
    CHECK(strcmp(order, "hl") == 0);
    OK(sinew_group_set_priority(low, 6));
    OK(sinew_group_post(high, note, "h", NULL));
    OK(sinew_group_post(low, note, "l", NULL));
    OK(sinew_executor_spin_all(executor, -1, NULL));
    CHECK(strcmp(order, "hllh") == 0);

    uint64_t ran = 9;
    OK(sinew_group_pause(low));
    OK(sinew_group_post(low, note, "p", NULL));
    OK(sinew_executor_spin_all(executor, -1, &ran));
    CHECK(ran == 0);
    OK(sinew_group_resume(low));
    OK(sinew_executor_spin_all(executor, -1, &ran));
    CHECK(ran == 1 && strcmp(order, "hllhp") == 0);
    sinew_group_free(low);
    sinew_group_free(high);
}

static void the_default_group(sinew_node *node, sinew_executor *executor)
{
    sinew_group *group = NULL, *other = NULL;
    uint64_t ran = 9;
    order[0] = '\0';
    OK(sinew_node_default_group(node, &group));
    OK(sinew_group_pause(group));
    OK(sinew_node_post(node, note, "n", NULL));
    OK(sinew_executor_spin_all(executor, -1, &ran));
    CHECK(ran == 0);
    OK(sinew_group_resume(group));
    OK(sinew_node_default_group(node, &other)); /* another handle to the same group */
    OK(sinew_group_post(other, note, "g", NULL));
    OK(sinew_executor_spin_all(executor, -1, &ran));
    CHECK(ran == 2 && strcmp(order, "ng") == 0);
    sinew_group_free(group);
    sinew_group_free(other);
    FAILS(sinew_node_default_group(NULL, &group), SINEW_ERROR_NULL_ARGUMENT, "`node`");
    FAILS(sinew_node_default_group(node, NULL), SINEW_ERROR_NULL_ARGUMENT, "`group`");
    strcpy(order, "hllhp");
}

int main(void)
{
    sinew_context_options options = {.size = sizeof options, .shared_memory = SINEW_NO};
    sinew_context *context = NULL;
    OK(sinew_context_new(&options, &context));
    sinew_node *node = NULL;
    OK(sinew_node_new(context, "grouped", NULL, &node));
    sinew_executor_options several = {.size = sizeof several, .threads = 3};
    sinew_executor *executor = NULL;
    OK(sinew_executor_new(&several, &executor));
    CHECK(sinew_executor_threads(executor) == 3);
    OK(sinew_executor_add_context(executor, context));

    exclusive_callbacks_never_overlap(node, executor);
    reentrant_callbacks_may(node, executor);
    priorities_and_pauses(node, executor);
    the_default_group(node, executor);

    sinew_group *group = NULL;
    sinew_group_options wrong = {.size = sizeof wrong, .kind = 2};
    FAILS(sinew_group_new(node, &wrong, &group), SINEW_ERROR_INVALID_ENUMERATOR, "`kind` can't be 2");
    FAILS(sinew_group_new(NULL, NULL, &group), SINEW_ERROR_NULL_ARGUMENT, "`node`");
    FAILS(sinew_group_new(node, NULL, NULL), SINEW_ERROR_NULL_ARGUMENT, "`group`");
    wrong.size = 2;
    FAILS(sinew_group_new(node, &wrong, &group), SINEW_ERROR_INVALID_STRUCTURE, "sinew_group_options");
    FAILS(sinew_group_pause(NULL), SINEW_ERROR_NULL_ARGUMENT, "`group`");
    FAILS(sinew_group_resume((sinew_group *)(void *)node), SINEW_ERROR_INVALID_HANDLE, "is no sinew_group");
    FAILS(sinew_group_set_priority(NULL, 1), SINEW_ERROR_NULL_ARGUMENT, "`group`");

    /* Groups keep working without the handles of their node and context. */
    OK(sinew_group_new(node, NULL, &group));
    sinew_node_free(node);
    OK(sinew_group_post(group, note, "q", NULL));
    sinew_group_free(group);
    OK(sinew_executor_spin_all(executor, -1, NULL));
    CHECK(strcmp(order, "hllhpq") == 0);
    sinew_executor_free(executor);
    sinew_context_free(context);
    return 0;
}
