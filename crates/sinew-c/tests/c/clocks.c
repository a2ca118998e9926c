/* Clocks: reading and setting them, jumps, simulated time, sleeps and rates. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

enum { MS = 1000000 };
static const int64_t SECOND = 1000000000;

struct jumps {
    int calls;
    int dropped;
    sinew_time_jump last;
};

static void jumped(void *context, const sinew_time_jump *jump)
{
    struct jumps *self = context;
    ++self->calls;
    self->last = *jump;
}

static void dropped(void *context)
{
    ++((struct jumps *)context)->dropped;
}

static sinew_jump_handler *freed_by_itself;

static void free_itself(void *context, const sinew_time_jump *jump)
{
    jumped(context, jump);
    sinew_jump_handler_free(freed_by_itself);
    CHECK(((struct jumps *)context)->dropped == 0);
}

static sinew_status count(void *calls, const sinew_timer_info *info)
{
    (void)info;
    ++*(int *)calls;
    return SINEW_OK;
}

static void machine_clocks(sinew_context *context, sinew_node *node)
{
    const sinew_time steady = sinew_node_now(node, SINEW_CLOCK_STEADY);
    CHECK(steady > 0 && sinew_steady_now() >= steady);
    CHECK(sinew_context_now(context, SINEW_CLOCK_STEADY) >= steady);
    CHECK(sinew_system_now() > 1500000000 * SECOND);
    CHECK(sinew_node_now(node, SINEW_CLOCK_DEFAULT) > 1500000000 * SECOND);
    CHECK(sinew_context_now(context, SINEW_CLOCK_SYSTEM) > 1500000000 * SECOND);
    CHECK(sinew_node_now(node, 9) == 0 && strstr(sinew_error_message(), "`clock` can't be 9") != NULL);
    CHECK(sinew_context_now(NULL, SINEW_CLOCK_ROS) == 0);

    OK(sinew_node_sleep_for(node, SINEW_CLOCK_STEADY, MS));
    CHECK(sinew_steady_now() - steady >= MS);
    const sinew_time until = sinew_system_now() + MS;
    OK(sinew_node_sleep_until(node, SINEW_CLOCK_SYSTEM, until));
    CHECK(sinew_system_now() >= until);
    OK(sinew_node_sleep_until(node, SINEW_CLOCK_STEADY, 1)); /* is over */
    FAILS(sinew_node_sleep_for(node, SINEW_CLOCK_STEADY, -1), SINEW_ERROR_INVALID_PERIOD, "`duration`");
    FAILS(sinew_node_sleep_for(node, -1, MS), SINEW_ERROR_INVALID_ENUMERATOR, "`clock`");
    FAILS(sinew_node_sleep_until(NULL, SINEW_CLOCK_ROS, 0), SINEW_ERROR_NULL_ARGUMENT, "`node`");
}

static void ros_time_jumps(sinew_context *context, sinew_node *node)
{
    struct jumps all = {0}, forward = {0}, bad = {0};
    sinew_jump_handler *resets = NULL, *ahead = NULL, *none = NULL;
    OK(sinew_context_on_time_jump(context, NULL, jumped, &all, dropped, &resets));
    sinew_jump_threshold threshold = {.size = sizeof threshold, .on_clock_change = SINEW_NO, .min_forward = 100};
    threshold.min_backward = -1;
    OK(sinew_context_on_time_jump(context, &threshold, jumped, &forward, dropped, &ahead));

    OK(sinew_context_set_ros_time(context, 1000));
    CHECK(sinew_node_now(node, SINEW_CLOCK_ROS) == 1000);
    CHECK(all.calls == 1 && all.last.change == SINEW_CLOCK_ACTIVATED && all.last.after == 1000);
    OK(sinew_context_set_ros_time(context, 1099));
    CHECK(all.calls == 1 && forward.calls == 0);
    OK(sinew_context_set_ros_time(context, 1199));
    CHECK(all.calls == 1 && forward.calls == 1 && forward.last.before == 1099 && forward.last.after == 1199);
    CHECK(forward.last.change == SINEW_CLOCK_SAME);
    OK(sinew_context_set_ros_time(context, 10));
    CHECK(all.calls == 2 && forward.calls == 1 && all.last.before == 1199 && all.last.after == 10);
    sinew_jump_handler_free(ahead);
    CHECK(forward.dropped == 1);
    struct jumps once = {0};
    OK(sinew_context_on_time_jump(context, NULL, free_itself, &once, dropped, &freed_by_itself));
    OK(sinew_context_clear_ros_time(context));
    CHECK(once.calls == 1 && once.dropped == 1);
    CHECK(all.calls == 3 && all.last.change == SINEW_CLOCK_DEACTIVATED && forward.calls == 1);
    CHECK(sinew_node_now(node, SINEW_CLOCK_ROS) > 1500000000 * SECOND);
    sinew_jump_handler_free(resets);
    CHECK(all.dropped == 1);

    FAILS(sinew_context_on_time_jump(context, NULL, NULL, &bad, dropped, &none), SINEW_ERROR_NULL_ARGUMENT,
          "`callback`");
    threshold.min_forward = -1;
    FAILS(sinew_context_on_time_jump(context, &threshold, jumped, &bad, dropped, &none), SINEW_ERROR_INVALID_PERIOD,
          "`min_forward`");
    threshold.on_clock_change = 3;
    FAILS(sinew_context_on_time_jump(context, &threshold, jumped, &bad, dropped, &none),
          SINEW_ERROR_INVALID_ENUMERATOR, "`on_clock_change`");
    FAILS(sinew_context_on_time_jump(context, NULL, jumped, &bad, dropped, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`handler`");
    FAILS(sinew_context_set_ros_time(NULL, 0), SINEW_ERROR_NULL_ARGUMENT, "`context`");
    CHECK(bad.dropped == 4 && bad.calls == 0);
}

/* In virtual time: an hour of simulated time in a moment. */
static void simulated_time(void)
{
    sinew_virtual_clock *clock = NULL;
    OK(sinew_virtual_clock_new(&clock));
    sinew_context_options options = {.size = sizeof options, .virtual_clock = clock, .shared_memory = SINEW_NO};
    options.use_sim_time = SINEW_YES;
    sinew_context *context = NULL;
    OK(sinew_context_new(&options, &context));
    CHECK(sinew_context_uses_sim_time(context));
    sinew_node *node = NULL;
    OK(sinew_node_new(context, "simulator", NULL, &node));
    sinew_executor *executor = NULL;
    OK(sinew_executor_new(NULL, &executor));
    OK(sinew_executor_add_context(executor, context));
    int minutes = 0;
    sinew_timer *timer = NULL;
    OK(sinew_timer_new(node, 60 * SECOND, NULL, count, &minutes, NULL, &timer));
    CHECK(sinew_timer_clock(timer) == SINEW_CLOCK_ROS && sinew_node_now(node, SINEW_CLOCK_ROS) == 0);

    sinew_clock_publisher_options fast = {.size = sizeof fast, .speed = 100.0, .period = 100 * MS, .start = 0};
    sinew_clock_publisher *simulated = NULL;
    OK(sinew_clock_publisher_new(node, &fast, &simulated));
    OK(sinew_executor_advance(executor, 36 * SECOND, NULL));
    CHECK(sinew_node_now(node, SINEW_CLOCK_ROS) == 3600 * SECOND && minutes == 60);
    CHECK(sinew_virtual_clock_now(clock) == 36 * SECOND && sinew_clock_publisher_now(simulated) == 3600 * SECOND);

    OK(sinew_clock_publisher_pause(simulated));
    CHECK(sinew_clock_publisher_is_paused(simulated));
    OK(sinew_executor_advance(executor, 36 * SECOND, NULL));
    CHECK(minutes == 60);
    OK(sinew_clock_publisher_step(simulated, 60 * SECOND));
    OK(sinew_executor_spin_some(executor, NULL));
    CHECK(minutes == 61 && sinew_node_now(node, SINEW_CLOCK_ROS) == 3660 * SECOND);
    OK(sinew_clock_publisher_set(simulated, 5 * SECOND));
    CHECK(sinew_node_now(node, SINEW_CLOCK_ROS) == 5 * SECOND);
    OK(sinew_clock_publisher_set_speed(simulated, 2.0));
    OK(sinew_clock_publisher_resume(simulated));
    CHECK(!sinew_clock_publisher_is_paused(simulated));
    OK(sinew_executor_advance(executor, SECOND, NULL));
    OK(sinew_clock_publisher_publish(simulated));
    CHECK(sinew_node_now(node, SINEW_CLOCK_ROS) == 7 * SECOND);

    FAILS(sinew_clock_publisher_set_speed(simulated, -1.0), SINEW_ERROR_INVALID_PERIOD, "`speed` is -1");
    FAILS(sinew_clock_publisher_step(simulated, -1), SINEW_ERROR_INVALID_PERIOD, "`duration`");
    FAILS(sinew_clock_publisher_pause(NULL), SINEW_ERROR_NULL_ARGUMENT, "`publisher`");
    sinew_clock_publisher *none = NULL;
    fast.period = -1;
    FAILS(sinew_clock_publisher_new(node, &fast, &none), SINEW_ERROR_INVALID_PERIOD, "`period`");
    FAILS(sinew_virtual_clock_advance(clock, -1), SINEW_ERROR_INVALID_PERIOD, "`duration`");
    FAILS(sinew_virtual_clock_set(NULL, 1), SINEW_ERROR_NULL_ARGUMENT, "`clock`");
    options.virtual_clock = (const sinew_virtual_clock *)(const void *)node;
    sinew_context *no_context = NULL;
    FAILS(sinew_context_new(&options, &no_context), SINEW_ERROR_INVALID_HANDLE, "is no sinew_virtual_clock");

    sinew_clock_publisher_free(simulated);
    OK(sinew_context_use_sim_time(context, false));
    CHECK(!sinew_context_uses_sim_time(context) && sinew_timer_clock(timer) == SINEW_CLOCK_STEADY);
    OK(sinew_virtual_clock_set(clock, 500 * SECOND));
    OK(sinew_executor_spin_some(executor, NULL));
    CHECK(minutes == 62 && sinew_node_now(node, SINEW_CLOCK_STEADY) == 500 * SECOND);
    sinew_timer_free(timer);
    sinew_executor_free(executor);
    sinew_node_free(node);
    sinew_context_free(context);
    sinew_virtual_clock_free(clock);
}

static void *shut_down(void *context)
{
    OK(sinew_context_shutdown(context));
    return NULL;
}

static void rates(sinew_context *context, sinew_node *node)
{
    sinew_rate *rate = NULL;
    const sinew_time before = sinew_steady_now();
    OK(sinew_rate_new(node, MS, SINEW_CLOCK_DEFAULT, &rate));
    CHECK(sinew_rate_period(rate) == MS);
    uint64_t skipped = 0, rounds = 0;
    for (int i = 0; i < 3; ++i) {
        OK(sinew_rate_sleep(rate, &skipped));
        rounds += 1 + skipped;
    }
    CHECK(sinew_steady_now() - before >= (int64_t)rounds * MS);
    OK(sinew_rate_reset(rate));
    OK(sinew_rate_sleep(rate, NULL));
    sinew_rate_free(rate);

    FAILS(sinew_rate_new(node, 0, SINEW_CLOCK_DEFAULT, &rate), SINEW_ERROR_INVALID_PERIOD, "/clocked");
    FAILS(sinew_rate_new(node, MS, 7, &rate), SINEW_ERROR_INVALID_ENUMERATOR, "`clock`");
    FAILS(sinew_rate_new(node, MS, SINEW_CLOCK_STEADY, NULL), SINEW_ERROR_NULL_ARGUMENT, "`rate`");
    FAILS(sinew_rate_sleep(rate, NULL), SINEW_ERROR_INVALID_HANDLE, "it was freed");
    FAILS(sinew_rate_reset(NULL), SINEW_ERROR_NULL_ARGUMENT, "`rate`");

    /* A shutdown ends sleeps. */
    OK(sinew_rate_new(node, INT64_MAX - 1, SINEW_CLOCK_STEADY, &rate));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, shut_down, context) == 0);
    FAILS(sinew_rate_sleep(rate, NULL), SINEW_ERROR_SHUTDOWN, "");
    FAILS(sinew_node_sleep_for(node, SINEW_CLOCK_STEADY, INT64_MAX), SINEW_ERROR_SHUTDOWN, "");
    CHECK(pthread_join(thread, NULL) == 0);
    sinew_rate_free(rate);
}

/* The other process: it follows the time that this one publishes. */
static int follow(void)
{
    const sinew_context_options options = {.size = sizeof options, .use_sim_time = SINEW_YES};
    sinew_context *context = NULL;
    OK(sinew_context_new(&options, &context));
    sinew_node *node = NULL;
    OK(sinew_node_new(context, "follower", NULL, &node));
    OK(sinew_node_sleep_until(node, SINEW_CLOCK_ROS, 5 * SECOND));
    CHECK(sinew_node_now(node, SINEW_CLOCK_ROS) == 5 * SECOND);
    sinew_node_free(node);
    sinew_context_free(context);
    return 5;
}

struct waiter {
    pid_t child;
    sinew_executor *executor;
    int status;
};

static void *wait_for_child(void *argument)
{
    struct waiter *self = argument;
    CHECK(waitpid(self->child, &self->status, 0) == self->child);
    OK(sinew_executor_stop(self->executor));
    return NULL;
}

static void between_processes(const char *program)
{
    sinew_context *context = NULL;
    OK(sinew_context_new(NULL, &context));
    sinew_node *node = NULL;
    OK(sinew_node_new(context, "leader", NULL, &node));
    const sinew_clock_publisher_options at_five = {
        .size = sizeof at_five, .start = 5 * SECOND, .is_paused = true, .period = MS};
    sinew_clock_publisher *simulated = NULL;
    OK(sinew_clock_publisher_new(node, &at_five, &simulated));
    struct waiter waiter = {.status = -1};
    OK(sinew_executor_new(NULL, &waiter.executor));
    OK(sinew_executor_add_node(waiter.executor, node));
    char name[] = "clocks", mode[] = "follow";
    char *const arguments[] = {name, mode, NULL};
    CHECK(posix_spawn(&waiter.child, program, NULL, NULL, arguments, environ) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, wait_for_child, &waiter) == 0);
    OK(sinew_executor_spin(waiter.executor));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(WIFEXITED(waiter.status) && WEXITSTATUS(waiter.status) == 5);
    sinew_clock_publisher_free(simulated);
    sinew_executor_free(waiter.executor);
    sinew_node_free(node);
    sinew_context_free(context);
}

static void sleeps_of_a_context(sinew_context *context)
{
    const sinew_time begin = sinew_steady_now();
    OK(sinew_context_sleep_for(context, SINEW_CLOCK_STEADY, MS));
    CHECK(sinew_steady_now() >= begin + MS);
    OK(sinew_context_sleep_until(context, SINEW_CLOCK_STEADY, begin));
    CHECK(!sinew_context_ros_time_is_active(context));
    OK(sinew_context_set_ros_time(context, 5));
    CHECK(sinew_context_ros_time_is_active(context));
    OK(sinew_context_sleep_until(context, SINEW_CLOCK_DEFAULT, 5));
    OK(sinew_context_clear_ros_time(context));
    CHECK(!sinew_context_ros_time_is_active(context) && !sinew_context_ros_time_is_active(NULL));
    FAILS(sinew_context_sleep_for(context, SINEW_CLOCK_STEADY, -1), SINEW_ERROR_INVALID_PERIOD, "`duration`");
    FAILS(sinew_context_sleep_for(context, 9, 1), SINEW_ERROR_INVALID_ENUMERATOR, "`clock`");
    FAILS(sinew_context_sleep_until(NULL, SINEW_CLOCK_ROS, 1), SINEW_ERROR_NULL_ARGUMENT, "`context`");
    sinew_context *ended = NULL;
    OK(sinew_context_new(NULL, &ended));
    OK(sinew_context_shutdown(ended));
    FAILS(sinew_context_sleep_for(ended, SINEW_CLOCK_STEADY, INT64_MAX), SINEW_ERROR_SHUTDOWN, "");
    sinew_context_free(ended);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        return follow();
    }
    sinew_context_options options = {.size = sizeof options, .shared_memory = SINEW_NO};
    sinew_context *context = NULL;
    OK(sinew_context_new(&options, &context));
    sinew_node *node = NULL;
    OK(sinew_node_new(context, "clocked", NULL, &node));
    machine_clocks(context, node);
    ros_time_jumps(context, node);
    simulated_time();
    between_processes(argv[0]);
    sleeps_of_a_context(context);
    rates(context, node);
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
