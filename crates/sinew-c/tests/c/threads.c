/* Every kind of callback on an executor of several threads, while other threads make and end their entities. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MAKERS = 3, ROUNDS = 60, MS = 1000000 };

static sinew_context *context;

/* An entity's context, which is freed when it is dropped. */
struct entity {
    atomic_int calls;
    int end;
};

static atomic_int made, dropped, overlaps;

static struct entity *entity(void)
{
    struct entity *self = calloc(1, sizeof *self);
    CHECK(self != NULL);
    atomic_fetch_add(&made, 1);
    return self;
}

static void drop(void *context_of_it)
{
    atomic_fetch_add(&dropped, 1);
    free(context_of_it);
}

static sinew_status called(struct entity *self)
{
    atomic_fetch_add(&self->calls, 1);
    return SINEW_OK;
}

static sinew_status tick(void *self, const sinew_timer_info *info)
{
    CHECK(sinew_timer_info_actual(info) >= sinew_timer_info_due(info));
    return called(self);
}

static sinew_status trigger(void *self, uint64_t count)
{
    CHECK(count > 0);
    return called(self);
}

static sinew_status receive(void *self, const sinew_readiness *readiness)
{
    char byte = 0;
    CHECK(readiness->readable && read(((struct entity *)self)->end, &byte, 1) == 1 && byte == 'x');
    return called(self);
}

/* Runs in the maker's own group, so never at the same time as another one of it. */
static sinew_status posted(void *inside)
{
    if (atomic_fetch_add((atomic_int *)inside, 1) != 0) {
        atomic_fetch_add(&overlaps, 1);
    }
    atomic_fetch_sub((atomic_int *)inside, 1);
    return SINEW_OK;
}

static sinew_status finished(void *barrier)
{
    const int met = pthread_barrier_wait(barrier);
    CHECK(met == 0 || met == PTHREAD_BARRIER_SERIAL_THREAD);
    return SINEW_OK;
}

static void wait_for(struct entity *self)
{
    while (atomic_load(&self->calls) == 0) {
        sched_yield();
    }
}

static void one_round(sinew_node *node, sinew_group *group)
{
    struct entity *timed = entity(), *guarded = entity(), *watched = entity();
    int ends[2];
    CHECK(pipe(ends) == 0);
    watched->end = ends[0];
    sinew_timer *timer = NULL;
    const sinew_timer_options timed_in = {.size = sizeof timed_in, .group = group};
    OK(sinew_timer_new(node, MS / 10, &timed_in, tick, timed, drop, &timer));
    sinew_guard_condition *guard = NULL;
    const sinew_guard_condition_options guarded_in = {.size = sizeof guarded_in, .group = group};
    OK(sinew_guard_condition_new(node, &guarded_in, trigger, guarded, drop, &guard));
    sinew_descriptor_source *source = NULL;
    const sinew_descriptor_source_options watched_in = {.size = sizeof watched_in, .group = group};
    OK(sinew_descriptor_source_new(node, ends[0], &watched_in, receive, watched, drop, &source));
    OK(sinew_guard_condition_trigger(guard));
    CHECK(write(ends[1], "x", 1) == 1);
    wait_for(timed);
    wait_for(guarded);
    wait_for(watched);
    CHECK(atomic_load(&guarded->calls) == 1 && atomic_load(&watched->calls) == 1);

    OK(sinew_timer_cancel(timer));
    OK(sinew_timer_reset(timer));
    OK(sinew_guard_condition_trigger(guard)); /* may run, or not */
    /* Closed and freed, or only freed while a callback may run: its context lives as long as that. */
    OK(sinew_timer_close(timer));
    sinew_timer_free(timer);
    sinew_guard_condition_free(guard);
    OK(sinew_descriptor_source_close(source));
    sinew_descriptor_source_free(source);
    close(ends[0]);
    close(ends[1]);
}

static void *make(void *argument)
{
    sinew_node *node = NULL;
    char name[16];
    (void)snprintf(name, sizeof name, "maker_%zu", *(const size_t *)argument);
    OK(sinew_node_new(context, name, NULL, &node));
    for (int round = 0; round < ROUNDS; ++round) {
        const sinew_group_options options = {.size = sizeof options, .kind = round % 2};
        sinew_group *group = NULL;
        OK(sinew_group_new(node, &options, &group));
        static atomic_int unused;
        atomic_int *inside = options.kind == SINEW_GROUP_MUTUALLY_EXCLUSIVE ? calloc(1, sizeof *inside) : &unused;
        CHECK(inside != NULL);
        pthread_barrier_t barrier;
        CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
        if (inside != &unused) {
            for (int i = 0; i < 20; ++i) {
                OK(sinew_group_post(group, posted, inside, NULL));
            }
        }
        one_round(node, group);
        OK(sinew_group_post(group, finished, &barrier, NULL));
        OK(finished(&barrier));
        CHECK(pthread_barrier_destroy(&barrier) == 0);
        sinew_group_free(group);
        if (inside != &unused) {
            free(inside);
        }
    }
    sinew_node_free(node);
    return NULL;
}

static void *spin(void *executor)
{
    OK(sinew_executor_spin(executor));
    return NULL;
}

int main(void)
{
    const sinew_context_options options = {.size = sizeof options, .shared_memory = SINEW_NO};
    OK(sinew_context_new(&options, &context));
    const sinew_executor_options several = {.size = sizeof several, .threads = 4, .timer_thread = true};
    sinew_executor *executor = NULL;
    OK(sinew_executor_new(&several, &executor));
    OK(sinew_executor_add_context(executor, context));
    pthread_t spinning, makers[MAKERS];
    size_t numbers[MAKERS];
    CHECK(pthread_create(&spinning, NULL, spin, executor) == 0);
    for (size_t i = 0; i < MAKERS; ++i) {
        numbers[i] = i;
        CHECK(pthread_create(&makers[i], NULL, make, &numbers[i]) == 0);
    }
    for (size_t i = 0; i < MAKERS; ++i) {
        CHECK(pthread_join(makers[i], NULL) == 0);
    }
    OK(sinew_executor_stop(executor));
    CHECK(pthread_join(spinning, NULL) == 0);
    sinew_executor_free(executor);
    sinew_context_free(context);
    CHECK(atomic_load(&made) == 3 * MAKERS * ROUNDS && atomic_load(&dropped) == atomic_load(&made));
    CHECK(atomic_load(&overlaps) == 0);
    return 0;
}
