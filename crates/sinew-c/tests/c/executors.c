/* Executors: options, every way to spin, and every way to end a spin. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <poll.h>
#include <pthread.h>

enum { MS = 1000000 };

static sinew_context *context;
static sinew_node *node;

static sinew_status count(void *calls)
{
    ++*(int *)calls;
    return SINEW_OK;
}

static sinew_status post_another(void *calls)
{
    ++*(int *)calls;
    return sinew_node_post(node, count, calls, NULL);
}

static void every_way_to_spin_briefly(void)
{
    sinew_executor *executor = NULL;
    OK(sinew_executor_new(NULL, &executor));
    CHECK(sinew_executor_threads(executor) == 1);
    uint64_t ran = 9;
    OK(sinew_executor_spin_some(executor, &ran)); /* nothing was added: nothing runs */
    CHECK(ran == 0);
    OK(sinew_executor_add_node(executor, node));

    int calls = 0;
    OK(sinew_node_post(node, post_another, &calls, NULL));
    OK(sinew_executor_spin_some(executor, &ran)); /* not what comes meanwhile */
    CHECK(ran == 1 && calls == 1);
    OK(sinew_executor_spin_some(executor, NULL));
    CHECK(calls == 2);
    OK(sinew_node_post(node, post_another, &calls, NULL));
    OK(sinew_executor_spin_all(executor, -1, &ran)); /* also what comes meanwhile */
    CHECK(ran == 2 && calls == 4);
    OK(sinew_node_post(node, post_another, &calls, NULL));
    OK(sinew_executor_spin_all(executor, 0, &ran)); /* one at most */
    CHECK(ran == 1 && calls == 5);
    bool one = false;
    OK(sinew_executor_spin_once(executor, -1, &one));
    CHECK(one && calls == 6);
    OK(sinew_executor_spin_once(executor, 0, &one));
    CHECK(!one);
    OK(sinew_executor_spin_once(executor, MS, NULL));

    /* The descriptor of an event loop. */
    int descriptor = -1;
    OK(sinew_executor_descriptor(executor, &descriptor));
    struct pollfd watched = {.fd = descriptor, .events = POLLIN};
    CHECK(poll(&watched, 1, 0) == 0);
    OK(sinew_node_post(node, count, &calls, NULL));
    CHECK(poll(&watched, 1, -1) == 1);
    OK(sinew_executor_spin_some(executor, NULL));
    CHECK(calls == 7 && poll(&watched, 1, 0) == 0);

    OK(sinew_executor_spin_for(executor, node, SINEW_CLOCK_STEADY, MS));
    FAILS(sinew_executor_spin_for(executor, node, 4, MS), SINEW_ERROR_INVALID_ENUMERATOR, "`clock`");
    FAILS(sinew_executor_spin_for(executor, node, SINEW_CLOCK_ROS, -1), SINEW_ERROR_INVALID_PERIOD, "`duration`");
    FAILS(sinew_executor_advance(executor, MS, &ran), SINEW_ERROR_NOT_VIRTUAL, "");
    sinew_executor_free(executor);
}

/* A thread that spins, and what it returned. */
struct spinner {
    sinew_executor *executor;
    sinew_status status;
    pthread_t thread;
};

static void *spin(void *argument)
{
    struct spinner *self = argument;
    self->status = sinew_executor_spin(self->executor);
    return NULL;
}

/* Returns once the executor spins: a callback of it has run. */
static sinew_status meet(void *barrier)
{
    const int met = pthread_barrier_wait(barrier);
    CHECK(met == 0 || met == PTHREAD_BARRIER_SERIAL_THREAD);
    return SINEW_OK;
}

static void begin(struct spinner *self)
{
    pthread_barrier_t barrier;
    CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
    OK(sinew_node_post(node, meet, &barrier, NULL));
    CHECK(pthread_create(&self->thread, NULL, spin, self) == 0);
    OK(meet(&barrier));
    CHECK(pthread_barrier_destroy(&barrier) == 0); /* waits until the callback has left it */
    FAILS(sinew_executor_spin(self->executor), SINEW_ERROR_BUSY, "");
    FAILS(sinew_executor_spin_some(self->executor, NULL), SINEW_ERROR_BUSY, "");
}

static sinew_status stop(void *executor)
{
    OK(sinew_executor_stop(executor));
    return SINEW_OK;
}

static sinew_status free_executor(void *executor)
{
    OK(sinew_executor_stop(executor));
    sinew_executor_free(executor);
    FAILS(sinew_executor_stop(executor), SINEW_ERROR_INVALID_HANDLE, "it was freed");
    return SINEW_OK;
}

static void a_spin_is_stopped(size_t threads)
{
    const sinew_executor_options options = {.size = sizeof options, .threads = threads, .timer_thread = threads == 2};
    struct spinner self = {.status = -1};
    OK(sinew_executor_new(&options, &self.executor));
    OK(sinew_executor_add_context(self.executor, context));
    begin(&self);
    OK(sinew_executor_stop(self.executor)); /* from this thread */
    CHECK(pthread_join(self.thread, NULL) == 0);
    OK(self.status);

    OK(sinew_node_post(node, stop, self.executor, NULL)); /* by a callback */
    OK(sinew_executor_spin(self.executor));
    OK(sinew_executor_stop(self.executor)); /* before the spin */
    OK(sinew_executor_spin(self.executor));
    OK(sinew_executor_stop(self.executor));
    FAILS(sinew_executor_spin_for(self.executor, node, SINEW_CLOCK_STEADY, INT64_MAX), SINEW_ERROR_STOPPED, "");

    sinew_stop_handle *handle = NULL;
    OK(sinew_executor_stop_handle(self.executor, &handle));
    begin(&self);
    OK(sinew_stop_handle_stop(handle));
    CHECK(pthread_join(self.thread, NULL) == 0);
    OK(self.status);

    OK(sinew_node_post(node, free_executor, self.executor, NULL)); /* a callback frees what runs it */
    OK(sinew_executor_spin(self.executor));
    OK(sinew_stop_handle_stop(handle));
    sinew_stop_handle_free(handle);
    FAILS(sinew_stop_handle_stop(handle), SINEW_ERROR_INVALID_HANDLE, "it was freed");
}

static sinew_status fail(void *unused)
{
    (void)unused;
    return SINEW_ERROR_REFUSED;
}

static void a_failure_ends_it_if_asked(void)
{
    sinew_executor_options options = {.size = sizeof options, .on_error = SINEW_FAULT_STOP};
    for (options.threads = 1; options.threads <= 3; ++options.threads) {
        sinew_executor *executor = NULL;
        OK(sinew_executor_new(&options, &executor));
        OK(sinew_executor_add_context(executor, context));
        OK(sinew_node_post(node, fail, NULL, NULL));
        FAILS(sinew_executor_spin(executor), SINEW_ERROR_CALLBACK_FAILED, "it returned 9: The other side refused.");
        sinew_executor_free(executor);
    }
}

static void bad_input_is_refused(void)
{
    sinew_executor *executor = NULL, *other = NULL;
    sinew_executor_options options = {.size = sizeof options, .placement = 3};
    FAILS(sinew_executor_new(&options, &executor), SINEW_ERROR_INVALID_ENUMERATOR, "`placement`");
    options = (sinew_executor_options){.size = sizeof options, .placement = SINEW_PLACEMENT_CORES};
    FAILS(sinew_executor_new(&options, &executor), SINEW_ERROR_NULL_ARGUMENT, "`cores`");
    const size_t cores[] = {0};
    options.cores = cores;
    FAILS(sinew_executor_new(&options, &executor), SINEW_ERROR_INVALID_EXECUTOR_OPTIONS, "empty");
    options.core_count = 1;
    options.caller_runs = true;
    FAILS(sinew_executor_new(&options, &executor), SINEW_ERROR_INVALID_EXECUTOR_OPTIONS, "caller_runs");
    options = (sinew_executor_options){.size = sizeof options, .realtime_priority = 100};
    FAILS(sinew_executor_new(&options, &executor), SINEW_ERROR_INVALID_EXECUTOR_OPTIONS, "100");
    options = (sinew_executor_options){.size = sizeof options, .spin_before_park = -1};
    FAILS(sinew_executor_new(&options, &executor), SINEW_ERROR_INVALID_PERIOD, "`spin_before_park`");
    options = (sinew_executor_options){.size = sizeof options, .on_error = 2};
    FAILS(sinew_executor_new(&options, &executor), SINEW_ERROR_INVALID_ENUMERATOR, "`on_error`");
    options = (sinew_executor_options){.size = sizeof options, .dispatch_order = 2};
    FAILS(sinew_executor_new(&options, &executor), SINEW_ERROR_INVALID_ENUMERATOR, "`dispatch_order`");
    options.size = 0;
    FAILS(sinew_executor_new(&options, &executor), SINEW_ERROR_INVALID_STRUCTURE, "sinew_executor_options");
    FAILS(sinew_executor_new(NULL, NULL), SINEW_ERROR_NULL_ARGUMENT, "`executor`");
    CHECK(executor == NULL);

    options = (sinew_executor_options){.size = sizeof options, .one_per_core = true, .caller_runs = true};
    options.dispatch_order = SINEW_DISPATCH_RUN_NEXT;
    options.placement = SINEW_PLACEMENT_OFF;
    options.spin_before_park = 1000;
    OK(sinew_executor_new(&options, &executor));
    CHECK(sinew_executor_threads(executor) >= 1);
    OK(sinew_executor_new(NULL, &other));
    OK(sinew_executor_add_node(executor, node));
    FAILS(sinew_executor_add_node(other, node), SINEW_ERROR_SERVED_ELSEWHERE, "/spun");
    FAILS(sinew_executor_add_node(other, NULL), SINEW_ERROR_NULL_ARGUMENT, "`node`");
    FAILS(sinew_executor_add_group(other, NULL), SINEW_ERROR_NULL_ARGUMENT, "`group`");
    FAILS(sinew_executor_add_context(NULL, context), SINEW_ERROR_NULL_ARGUMENT, "`executor`");
    FAILS(sinew_executor_spin((sinew_executor *)(void *)node), SINEW_ERROR_INVALID_HANDLE, "is no sinew_executor");
    FAILS(sinew_spin(NULL), SINEW_ERROR_NULL_ARGUMENT, "`node`");
    FAILS(sinew_spin(node), SINEW_ERROR_SERVED_ELSEWHERE, "/spun");
    FAILS(sinew_executor_descriptor(executor, NULL), SINEW_ERROR_NULL_ARGUMENT, "`descriptor`");
    CHECK(sinew_executor_threads(NULL) == 0);
    sinew_executor_free(NULL);
    sinew_executor_free(executor);
    FAILS(sinew_executor_spin(executor), SINEW_ERROR_INVALID_HANDLE, "it was freed");
    sinew_executor_free(other);

    /* A clock of its own needs an executor of its own. */
    sinew_virtual_clock *clock = NULL;
    OK(sinew_virtual_clock_new(&clock));
    sinew_context_options in_virtual_time = {.size = sizeof in_virtual_time, .virtual_clock = clock};
    in_virtual_time.shared_memory = SINEW_NO;
    sinew_context *other_context = NULL;
    OK(sinew_context_new(&in_virtual_time, &other_context));
    OK(sinew_executor_new(NULL, &executor));
    OK(sinew_executor_add_context(executor, context));
    FAILS(sinew_executor_add_context(executor, other_context), SINEW_ERROR_OTHER_CLOCK, "");
    sinew_executor_free(executor);
    sinew_context_free(other_context);
    sinew_virtual_clock_free(clock);
}

/* What needs rights or a core of the machine: it spins, or says what it lacks. */
static void options_of_the_machine(void)
{
    const size_t cores[] = {0, 4000};
    const sinew_executor_options each[] = {
        {.size = sizeof each[0], .realtime_priority = 1},
        {.size = sizeof each[0], .placement = SINEW_PLACEMENT_CORES, .cores = cores, .core_count = 1},
        {.size = sizeof each[0], .placement = SINEW_PLACEMENT_CORES, .cores = &cores[1], .core_count = 1},
        {.size = sizeof each[0], .lock_memory = true},
    };
    for (size_t i = 0; i < sizeof each / sizeof each[0]; ++i) {
        sinew_executor *executor = NULL;
        OK(sinew_executor_new(&each[i], &executor));
        OK(sinew_executor_add_context(executor, context));
        OK(sinew_executor_stop(executor));
        const sinew_status status = sinew_executor_spin(executor);
        CHECK(status == SINEW_ERROR_THREAD || (status == SINEW_OK && i != 2));
        sinew_executor_free(executor);
    }
}

static sinew_status shut_down(void *unused)
{
    (void)unused;
    return sinew_context_shutdown(context);
}

static void a_group_has_an_executor_of_its_own(void)
{
    sinew_group *group = NULL;
    OK(sinew_group_new(node, NULL, &group));
    sinew_executor *executor = NULL, *of_group = NULL;
    OK(sinew_executor_new(NULL, &executor));
    OK(sinew_executor_new(NULL, &of_group));
    OK(sinew_executor_add_group(of_group, group));
    OK(sinew_executor_add_node(executor, node));
    int calls = 0;
    OK(sinew_group_post(group, count, &calls, NULL));
    uint64_t ran = 0;
    OK(sinew_executor_spin_some(executor, &ran));
    CHECK(ran == 0);
    OK(sinew_executor_spin_some(of_group, &ran));
    CHECK(ran == 1 && calls == 1);
    sinew_executor_free(of_group);
    sinew_executor_free(executor);
    sinew_group_free(group);
}

static void a_shutdown_ends_it(size_t threads)
{
    const sinew_executor_options options = {.size = sizeof options, .threads = threads};
    struct spinner self = {.status = -1};
    OK(sinew_executor_new(&options, &self.executor));
    OK(sinew_executor_add_context(self.executor, context));
    begin(&self);
    OK(sinew_context_shutdown(context)); /* from this thread */
    CHECK(pthread_join(self.thread, NULL) == 0);
    OK(self.status);
    FAILS(sinew_executor_add_node(self.executor, node), SINEW_ERROR_SHUTDOWN, "");
    sinew_executor_free(self.executor);
}

/* What is removed waits for another executor. */
static void an_executor_gives_away_what_it_serves(void)
{
    sinew_executor *first = NULL, *second = NULL;
    OK(sinew_executor_new(NULL, &first));
    OK(sinew_executor_new(NULL, &second));
    sinew_group *group = NULL;
    const sinew_group_options reentrant = {.size = sizeof reentrant, .kind = SINEW_GROUP_REENTRANT};
    OK(sinew_group_new(node, &reentrant, &group));
    int calls = 0;
    uint64_t ran = 0;
    OK(sinew_executor_add_node(first, node));
    CHECK(sinew_executor_remove_group(first, group) && !sinew_executor_remove_group(first, group));
    OK(sinew_executor_add_group(second, group));
    OK(sinew_group_post(group, count, &calls, NULL));
    OK(sinew_executor_spin_some(first, &ran));
    CHECK(ran == 0);
    OK(sinew_executor_spin_some(second, &ran));
    CHECK(ran == 1 && !sinew_executor_remove_node(first, NULL));
    CHECK(sinew_executor_remove_node(first, node) && !sinew_executor_remove_node(first, node));
    OK(sinew_node_post(node, count, &calls, NULL));
    OK(sinew_executor_spin_some(first, &ran));
    CHECK(ran == 0);
    OK(sinew_executor_add_context(second, context)); /* with the node, which no executor serves */
    OK(sinew_executor_spin_some(second, &ran));
    CHECK(ran == 1 && calls == 2);
    CHECK(sinew_executor_remove_context(second, context) && !sinew_executor_remove_context(second, context));
    CHECK(!sinew_executor_remove_context(NULL, context));
    OK(sinew_executor_add_node(first, node));
    OK(sinew_node_post(node, count, &calls, NULL));
    OK(sinew_node_post(node, count, &calls, NULL));
    OK(sinew_executor_spin_some_for(first, 0, &ran)); /* one at most */
    CHECK(ran == 1);
    OK(sinew_executor_spin_some_for(first, -1, &ran));
    CHECK(ran == 1 && calls == 4);
    sinew_group_free(group);
    sinew_executor_free(second);
    sinew_executor_free(first);
}

static void open_context(void)
{
    sinew_context_options options = {.size = sizeof options, .shared_memory = SINEW_NO};
    OK(sinew_context_new(&options, &context));
    OK(sinew_node_new(context, "spun", NULL, &node));
}

static void close_context(void)
{
    sinew_node_free(node);
    sinew_context_free(context);
}

int main(void)
{
    open_context();
    every_way_to_spin_briefly();
    a_spin_is_stopped(1);
    a_spin_is_stopped(2);
    a_spin_is_stopped(4);
    a_failure_ends_it_if_asked();
    bad_input_is_refused();
    a_group_has_an_executor_of_its_own();
    an_executor_gives_away_what_it_serves();
    a_shutdown_ends_it(1);
    close_context();

    open_context();
    a_shutdown_ends_it(3);
    close_context();

    open_context();
    OK(sinew_node_post(node, shut_down, NULL, NULL));
    OK(sinew_spin(node));
    FAILS(sinew_spin(node), SINEW_ERROR_SHUTDOWN, "");
    close_context();

    open_context();
    options_of_the_machine(); /* last: memory stays locked, so the limit for it holds for new threads */
    close_context();
    return 0;
}
