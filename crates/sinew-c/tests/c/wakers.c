/* Guard conditions, posted functions and file descriptors. */
#include "check.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

static int drops;

static void dropped(void *context)
{
    (void)context;
    ++drops;
}

static sinew_status count(void *context, uint64_t triggers)
{
    *(uint64_t *)context += triggers;
    return SINEW_OK;
}

static void listen(void *context, uint64_t triggers)
{
    atomic_fetch_add((atomic_ullong *)context, triggers);
}

static sinew_guard_condition *freed_by_itself;

static sinew_status free_itself(void *context, uint64_t triggers)
{
    (void)triggers;
    sinew_guard_condition_free(freed_by_itself);
    CHECK(drops == 0);
    ++*(int *)context;
    return SINEW_OK;
}

static void guard_conditions(sinew_node *node, sinew_executor *executor)
{
    uint64_t triggers = 0, ran = 0;
    atomic_ullong told = 0;
    sinew_guard_condition *guard = NULL;
    OK(sinew_guard_condition_new(node, NULL, count, &triggers, dropped, &guard));
    OK(sinew_guard_condition_trigger(guard));
    OK(sinew_guard_condition_trigger(guard));
    OK(sinew_guard_condition_set_listener(guard, listen, &told, dropped));
    CHECK(atomic_load(&told) == 2); /* those that wait */
    OK(sinew_guard_condition_trigger(guard));
    CHECK(atomic_load(&told) == 3);
    OK(sinew_executor_spin_some(executor, &ran));
    CHECK(ran == 1 && triggers == 3);
    CHECK(drops == 0);
    OK(sinew_guard_condition_clear_listener(guard));
    CHECK(drops == 1);
    OK(sinew_guard_condition_trigger(guard));
    CHECK(atomic_load(&told) == 3);
    OK(sinew_guard_condition_close(guard));
    CHECK(drops == 2);
    OK(sinew_guard_condition_trigger(guard)); /* it has ended: no callback */
    sinew_guard_condition_free(guard);
    OK(sinew_executor_spin_some(executor, &ran));
    CHECK(ran == 0 && triggers == 3);

    drops = 0;
    int calls = 0;
    sinew_group *group = NULL;
    const sinew_group_options reentrant = {.size = sizeof reentrant, .kind = SINEW_GROUP_REENTRANT};
    OK(sinew_group_new(node, &reentrant, &group));
    const sinew_guard_condition_options options = {.size = sizeof options, .group = group, .name = "bell"};
    OK(sinew_guard_condition_new(node, &options, free_itself, &calls, dropped, &freed_by_itself));
    OK(sinew_guard_condition_trigger(freed_by_itself));
    OK(sinew_executor_spin_some(executor, &ran));
    CHECK(ran == 1 && calls == 1 && drops == 1);
    sinew_group_free(group);

    drops = 0;
    FAILS(sinew_guard_condition_new(node, NULL, NULL, NULL, dropped, &guard), SINEW_ERROR_NULL_ARGUMENT, "`callback`");
    FAILS(sinew_guard_condition_new(node, NULL, count, NULL, dropped, NULL), SINEW_ERROR_NULL_ARGUMENT, "`guard`");
    FAILS(sinew_guard_condition_new(NULL, NULL, count, NULL, dropped, &guard), SINEW_ERROR_NULL_ARGUMENT, "`node`");
    const sinew_guard_condition_options bad = {.size = sizeof bad, .name = "\xff"};
    FAILS(sinew_guard_condition_new(node, &bad, count, NULL, dropped, &guard), SINEW_ERROR_INVALID_UTF8, "`name`");
    CHECK(drops == 4);
    FAILS(sinew_guard_condition_trigger((sinew_guard_condition *)(void *)node), SINEW_ERROR_INVALID_HANDLE,
          "is no sinew_guard_condition");
    FAILS(sinew_guard_condition_set_listener(NULL, listen, NULL, dropped), SINEW_ERROR_NULL_ARGUMENT, "`guard`");
    CHECK(drops == 5);
}

static sinew_status note(void *context)
{
    ++*(int *)context;
    return SINEW_OK;
}

static sinew_status fail(void *context)
{
    /* Its sentence goes with the failure. */
    (void)context;
    return sinew_group_post(NULL, note, NULL, NULL);
}

static void posted_functions(sinew_node *node, sinew_executor *executor)
{
    uint64_t ran = 0;
    int calls = 0;
    drops = 0;
    sinew_group *group = NULL;
    OK(sinew_group_new(node, NULL, &group));
    OK(sinew_node_post(node, note, &calls, dropped));
    OK(sinew_group_post(group, note, &calls, dropped));
    OK(sinew_node_post(node, note, &calls, NULL));
    CHECK(calls == 0);
    OK(sinew_executor_spin_all(executor, -1, &ran));
    CHECK(ran == 3 && calls == 3 && drops == 2);
    OK(sinew_node_post(node, fail, &calls, dropped)); /* is logged */
    OK(sinew_executor_spin_all(executor, -1, &ran));
    CHECK(ran == 1 && drops == 3);
    FAILS(sinew_node_post(node, NULL, NULL, dropped), SINEW_ERROR_NULL_ARGUMENT, "`callback`");
    FAILS(sinew_group_post((sinew_group *)(void *)node, note, NULL, dropped), SINEW_ERROR_INVALID_HANDLE,
          "is no sinew_group");
    CHECK(drops == 5);
    sinew_group_free(group);
}

struct pipe_case {
    int end;
    char text[16];
    sinew_readiness last;
    int calls;
    sinew_descriptor_source *source;
};

static sinew_status receive(void *context, const sinew_readiness *readiness)
{
    struct pipe_case *self = context;
    self->last = *readiness;
    ++self->calls;
    const ssize_t length = read(self->end, self->text, sizeof self->text - 1);
    self->text[length > 0 ? length : 0] = '\0';
    return SINEW_OK;
}

static sinew_status write_once(void *context, const sinew_readiness *readiness)
{
    struct pipe_case *self = context;
    CHECK(readiness->writable);
    CHECK(write(self->end, "hello", 5) == 5);
    ++self->calls;
    sinew_descriptor_source_free(self->source);
    return SINEW_OK;
}

static void descriptors(sinew_node *node, sinew_executor *executor)
{
    int ends[2];
    CHECK(pipe(ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    drops = 0;
    struct pipe_case reader = {.end = ends[0]}, writer = {.end = ends[1]};
    OK(sinew_descriptor_source_new(node, ends[0], NULL, receive, &reader, dropped, &reader.source));
    const sinew_descriptor_source_options writable = {.size = sizeof writable, .writable = true};
    OK(sinew_descriptor_source_new(node, ends[1], &writable, write_once, &writer, dropped, &writer.source));
    while (reader.calls == 0) {
        OK(sinew_executor_spin_once(executor, -1, NULL));
    }
    CHECK(writer.calls == 1 && drops == 1 && strcmp(reader.text, "hello") == 0);
    CHECK(reader.last.readable && !reader.last.writable && !reader.last.closed && !reader.last.failed);
    close(ends[1]);
    while (!reader.last.closed) {
        OK(sinew_executor_spin_once(executor, -1, NULL));
    }
    OK(sinew_descriptor_source_close(reader.source));
    sinew_descriptor_source_free(reader.source);
    CHECK(drops == 2);
    close(ends[0]);

    sinew_descriptor_source *source = NULL;
    FAILS(sinew_descriptor_source_new(node, -1, NULL, receive, &reader, dropped, &source), SINEW_ERROR_SYSTEM, "is -1");
    FAILS(sinew_descriptor_source_new(node, ends[0], NULL, receive, &reader, dropped, &source), SINEW_ERROR_SYSTEM,
          "/waker");
    const int file = open("/proc/self/exe", O_RDONLY);
    FAILS(sinew_descriptor_source_new(node, file, NULL, receive, &reader, dropped, &source), SINEW_ERROR_ALWAYS_READY,
          "/waker");
    close(file);
    FAILS(sinew_descriptor_source_new(node, 0, NULL, NULL, &reader, dropped, &source), SINEW_ERROR_NULL_ARGUMENT,
          "`callback`");
    CHECK(drops == 6 && source == NULL);
    FAILS(sinew_descriptor_source_close(NULL), SINEW_ERROR_NULL_ARGUMENT, "`source`");
}

int main(void)
{
    sinew_context_options options = {.size = sizeof options, .shared_memory = SINEW_NO};
    sinew_context *context = NULL;
    OK(sinew_context_new(&options, &context));
    sinew_node *node = NULL;
    OK(sinew_node_new(context, "waker", NULL, &node));
    sinew_executor *executor = NULL;
    OK(sinew_executor_new(NULL, &executor));
    OK(sinew_executor_add_node(executor, node));
    guard_conditions(node, executor);
    posted_functions(node, executor);
    descriptors(node, executor);

    drops = 0;
    int calls = 0;
    OK(sinew_node_post(node, note, &calls, dropped));
    OK(sinew_context_shutdown(context));
    FAILS(sinew_node_post(node, note, &calls, dropped), SINEW_ERROR_CLOSED, "accepts no more work");
    sinew_guard_condition *guard = NULL;
    FAILS(sinew_guard_condition_new(node, NULL, count, NULL, dropped, &guard), SINEW_ERROR_SHUTDOWN, "");
    sinew_executor_free(executor);
    sinew_node_free(node);
    sinew_context_free(context);
    CHECK(calls == 0 && drops == 3); /* what waited is dropped */
    return 0;
}
