/* Timers in virtual time: order, options, what their callbacks may do, and bad input. */
#include "check.h"

enum { MS = 1000000 };

static char order[64];

/* A timer with a letter, its limit of calls, and what happened. */
struct timer_case {
    char letter;
    uint64_t calls;
    uint64_t cancel_at;
    sinew_timer *timer;
    int *dropped;
    sinew_time due;
    sinew_time actual;
    uint64_t skipped;
};

static void dropped(void *context)
{
    struct timer_case *self = context;
    ++*self->dropped;
}

static sinew_status tick(void *context, const sinew_timer_info *info)
{
    struct timer_case *self = context;
    const size_t length = strlen(order);
    if (length + 1 < sizeof order) {
        order[length] = self->letter;
        order[length + 1] = '\0';
    }
    ++self->calls;
    self->due = sinew_timer_info_due(info);
    self->actual = sinew_timer_info_actual(info);
    self->skipped += sinew_timer_info_skipped(info);
    if (self->calls == self->cancel_at) {
        OK(sinew_timer_info_cancel(info));
    }
    return SINEW_OK;
}

/* Frees its own handle: the callback goes on, its context lives as long. */
static sinew_status free_itself(void *context, const sinew_timer_info *info)
{
    struct timer_case *self = context;
    (void)info;
    ++self->calls;
    sinew_timer_free(self->timer);
    CHECK(*self->dropped == 0);
    return SINEW_OK;
}

static sinew_status close_itself(void *context, const sinew_timer_info *info)
{
    struct timer_case *self = context;
    (void)info;
    ++self->calls;
    OK(sinew_timer_close(self->timer));
    return SINEW_OK;
}

static void run_in_order(sinew_context *context, sinew_executor *executor)
{
    int drops = 0;
    struct timer_case a = {.letter = 'a', .dropped = &drops}, b = {.letter = 'b', .dropped = &drops};
    sinew_node *node = NULL;
    OK(sinew_node_new(context, "ordered", NULL, &node));
    sinew_timer *fast = NULL, *slow = NULL;
    const sinew_timer_options steady = {.size = sizeof steady, .clock = SINEW_CLOCK_STEADY};
    OK(sinew_timer_new(node, 10 * MS, NULL, tick, &a, dropped, &fast));
    OK(sinew_timer_new(node, 25 * MS, &steady, tick, &b, dropped, &slow));
    CHECK(sinew_timer_period(slow) == 25 * MS);
    CHECK(sinew_timer_time_until_next(fast) == 10 * MS);
    CHECK(sinew_timer_clock(slow) == SINEW_CLOCK_STEADY);

    uint64_t ran = 0;
    OK(sinew_executor_advance(executor, 60 * MS, &ran));
    CHECK(ran == 8 && strcmp(order, "aabaabaa") == 0); /* at 10, 20, 25, 30, 40, 50, 50 and 60 ms */
    CHECK(a.calls == 6 && b.calls == 2 && b.due == b.actual);

    OK(sinew_timer_cancel(fast));
    CHECK(sinew_timer_is_cancelled(fast) && sinew_timer_time_until_next(fast) == -1);
    OK(sinew_executor_advance(executor, 20 * MS, &ran));
    CHECK(ran == 1 && a.calls == 6);
    OK(sinew_timer_reset(fast));
    CHECK(!sinew_timer_is_cancelled(fast) && sinew_timer_time_until_next(fast) == 10 * MS);
    OK(sinew_executor_advance(executor, 10 * MS, NULL));
    CHECK(a.calls == 7);
    CHECK(drops == 0);
    sinew_timer_free(fast);
    OK(sinew_timer_close(slow));
    sinew_timer_free(slow);
    CHECK(drops == 2);
    OK(sinew_executor_advance(executor, 100 * MS, &ran));
    CHECK(ran == 0);
    sinew_node_free(node);
}

static void options_are_honoured(sinew_context *context, sinew_executor *executor, sinew_virtual_clock *clock)
{
    int drops = 0;
    struct timer_case once = {.letter = 'o', .dropped = &drops}, later = {.letter = 'l', .dropped = &drops};
    struct timer_case thrice = {.letter = 't', .dropped = &drops, .cancel_at = 3};
    struct timer_case late = {.letter = 'x', .dropped = &drops};
    sinew_node *node = NULL;
    OK(sinew_node_new(context, "options", NULL, &node));
    sinew_group *group = NULL;
    OK(sinew_group_new(node, NULL, &group));
    sinew_timer *timers[4] = {NULL};
    const sinew_timer_options one_shot = {.size = sizeof one_shot, .one_shot = true, .group = group};
    const sinew_timer_options stopped = {.size = sizeof stopped, .autostart = SINEW_NO};
    OK(sinew_timer_new(node, MS, &one_shot, tick, &once, dropped, &timers[0]));
    OK(sinew_timer_new(node, MS, &stopped, tick, &later, dropped, &timers[1]));
    OK(sinew_timer_new(node, MS, NULL, tick, &thrice, dropped, &timers[2]));
    CHECK(sinew_timer_is_cancelled(timers[1]));
    OK(sinew_executor_advance(executor, 10 * MS, NULL));
    CHECK(once.calls == 1 && sinew_timer_is_cancelled(timers[0]));
    CHECK(later.calls == 0 && thrice.calls == 3 && sinew_timer_is_cancelled(timers[2]));
    OK(sinew_timer_reset(timers[0]));
    OK(sinew_timer_reset(timers[1]));
    OK(sinew_executor_advance(executor, 5 * MS, NULL));
    CHECK(once.calls == 2 && later.calls == 5);
    OK(sinew_timer_cancel(timers[1]));

    /* It can't keep up: periods are skipped, and counted. */
    OK(sinew_timer_new(node, MS, NULL, tick, &late, dropped, &timers[3]));
    OK(sinew_virtual_clock_advance(clock, 5 * MS));
    uint64_t ran = 0;
    OK(sinew_executor_spin_some(executor, &ran));
    CHECK(ran == 1 && late.calls == 1 && late.skipped == 4 && sinew_timer_skipped(timers[3]) == 4);
    CHECK(late.actual - late.due == 4 * MS);
    for (size_t i = 0; i < 4; ++i) {
        sinew_timer_free(timers[i]);
    }
    CHECK(drops == 4);
    sinew_group_free(group);
    sinew_node_free(node);
}

static void callbacks_end_themselves(sinew_context *context, sinew_executor *executor)
{
    int drops = 0;
    struct timer_case freed = {.dropped = &drops}, closed = {.dropped = &drops}, kept = {.dropped = &drops};
    sinew_node *node = NULL;
    OK(sinew_node_new(context, "ends", NULL, &node));
    OK(sinew_timer_new(node, MS, NULL, free_itself, &freed, dropped, &freed.timer));
    OK(sinew_executor_advance(executor, 5 * MS, NULL));
    CHECK(freed.calls == 1 && drops == 1);
    OK(sinew_timer_new(node, MS, NULL, close_itself, &closed, dropped, &closed.timer));
    OK(sinew_executor_advance(executor, 5 * MS, NULL));
    CHECK(closed.calls == 1 && drops == 2);
    sinew_timer_free(closed.timer);

    OK(sinew_timer_new(node, MS, NULL, tick, &kept, dropped, &kept.timer));
    OK(sinew_timer_detach(kept.timer));
    FAILS(sinew_timer_reset(kept.timer), SINEW_ERROR_INVALID_HANDLE, "it was freed");
    sinew_node_free(node);
    OK(sinew_executor_advance(executor, 2 * MS, NULL));
    CHECK(kept.calls == 2 && drops == 2);
    OK(sinew_context_shutdown(context));
    CHECK(drops == 3);
}

static void bad_input_is_refused(sinew_context *context)
{
    int drops = 0;
    struct timer_case bad = {.dropped = &drops};
    sinew_node *node = NULL;
    OK(sinew_node_new(context, "bad", NULL, &node));
    sinew_timer *timer = NULL;
    sinew_timer_options options = {.size = sizeof options};
    FAILS(sinew_timer_new(NULL, MS, NULL, tick, &bad, dropped, &timer), SINEW_ERROR_NULL_ARGUMENT, "`node`");
    FAILS(sinew_timer_new(node, MS, NULL, NULL, &bad, dropped, &timer), SINEW_ERROR_NULL_ARGUMENT, "`callback`");
    FAILS(sinew_timer_new(node, MS, NULL, tick, &bad, dropped, NULL), SINEW_ERROR_NULL_ARGUMENT, "`timer`");
    FAILS(sinew_timer_new(node, 0, NULL, tick, &bad, dropped, &timer), SINEW_ERROR_INVALID_PERIOD, "/bad");
    FAILS(sinew_timer_new(node, -1, NULL, tick, &bad, dropped, &timer), SINEW_ERROR_INVALID_PERIOD, "-1 ns");
    options.clock = 4;
    FAILS(sinew_timer_new(node, MS, &options, tick, &bad, dropped, &timer), SINEW_ERROR_INVALID_ENUMERATOR, "`clock`");
    options = (sinew_timer_options){.size = sizeof options, .autostart = 9};
    FAILS(sinew_timer_new(node, MS, &options, tick, &bad, dropped, &timer), SINEW_ERROR_INVALID_ENUMERATOR,
          "`autostart`");
    options = (sinew_timer_options){.size = sizeof options, .group = (const sinew_group *)(const void *)node};
    FAILS(sinew_timer_new(node, MS, &options, tick, &bad, dropped, &timer), SINEW_ERROR_INVALID_HANDLE,
          "is no sinew_group");
    options = (sinew_timer_options){.size = 1};
    FAILS(sinew_timer_new(node, MS, &options, tick, &bad, dropped, &timer), SINEW_ERROR_INVALID_STRUCTURE,
          "sinew_timer_options");
    CHECK(drops == 9 && timer == NULL); /* each failure drops the context */
    FAILS(sinew_timer_new(node, 0, NULL, tick, &bad, NULL, &timer), SINEW_ERROR_INVALID_PERIOD, "/bad");

    FAILS(sinew_timer_cancel((sinew_timer *)(void *)node), SINEW_ERROR_INVALID_HANDLE, "is no sinew_timer");
    FAILS(sinew_timer_close(NULL), SINEW_ERROR_NULL_ARGUMENT, "`timer`");
    FAILS(sinew_timer_info_cancel(NULL), SINEW_ERROR_NULL_ARGUMENT, "`info`");
    CHECK(sinew_timer_period(NULL) == 0 && sinew_timer_time_until_next(NULL) == 0 && sinew_timer_info_due(NULL) == 0);
    sinew_timer_free(NULL);
    sinew_node_free(node);
}

int main(void)
{
    sinew_virtual_clock *clock = NULL;
    OK(sinew_virtual_clock_new(&clock));
    sinew_context_options options = {.size = sizeof options, .virtual_clock = clock, .shared_memory = SINEW_NO};
    sinew_context *context = NULL;
    OK(sinew_context_new(&options, &context));
    sinew_executor *executor = NULL;
    OK(sinew_executor_new(NULL, &executor));
    OK(sinew_executor_add_context(executor, context));

    run_in_order(context, executor);
    options_are_honoured(context, executor, clock);
    bad_input_is_refused(context);
    callbacks_end_themselves(context, executor);

    sinew_executor_free(executor);
    sinew_context_free(context);
    sinew_virtual_clock_free(clock);
    return 0;
}
