/* Handles that are freed, foreign, or of another kind, where mistakes are looked for: an error with a
   sentence each, whatever was made since. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

static int triggers, drops;

static sinew_status triggered(void *context, uint64_t count)
{
    (void)count;
    sinew_guard_condition **own = context;
    triggers++;
    sinew_guard_condition_free(*own); /* its own callback is finished, and its context dropped then */
    FAILS(sinew_guard_condition_trigger(*own), SINEW_ERROR_INVALID_HANDLE, "it was freed");
    return SINEW_OK;
}

static void dropped(void *context)
{
    (void)context;
    drops++;
}

int main(void)
{
    CHECK(setenv("SINEW_DEBUG_HANDLES", "1", 1) == 0); /* before the first call */
    sinew_context_options options = {.size = sizeof options, .shared_memory = SINEW_NO};
    sinew_context *context = NULL;
    OK(sinew_context_new(&options, &context));
    sinew_node *node = NULL;
    OK(sinew_node_new(context, "driver", NULL, &node));

    /* No freed handle is given out again, so the mistake is found however late. */
    for (int round = 0; round < 100; round++) {
        sinew_group *freed = NULL, *next = NULL;
        OK(sinew_group_new(node, NULL, &freed));
        sinew_group_free(freed);
        OK(sinew_group_new(node, NULL, &next));
        CHECK(next != freed);
        FAILS(sinew_group_pause(freed), SINEW_ERROR_INVALID_HANDLE, "`group` is no sinew_group: it was freed");
        sinew_group_free(freed); /* changes nothing */
        OK(sinew_group_pause(next));
        sinew_group_free(next);
    }

    /* Pointers that the library never returned are not read. */
    long stack[4] = {0};
    void *heap = malloc(64);
    CHECK(heap != NULL);
    FAILS(sinew_group_pause((sinew_group *)(void *)stack), SINEW_ERROR_INVALID_HANDLE, "never returned");
    FAILS(sinew_group_pause(heap), SINEW_ERROR_INVALID_HANDLE, "never returned");
    FAILS(sinew_group_pause((sinew_group *)(uintptr_t)8), SINEW_ERROR_INVALID_HANDLE, "never returned");
    FAILS(sinew_group_pause((sinew_group *)(void *)((char *)node + 4)), SINEW_ERROR_INVALID_HANDLE, "never returned");
    sinew_group_free(heap);
    CHECK(strstr(sinew_error_message(), "never returned") != NULL);
    free(heap);

    /* Handles of another kind, also for what is freed. */
    FAILS(sinew_group_pause((sinew_group *)(void *)node), SINEW_ERROR_INVALID_HANDLE, "is something else");
    sinew_group_free((sinew_group *)(void *)node);
    CHECK(strcmp(sinew_node_name(node), "driver") == 0);

    /* Options with such a handle, which make nothing and drop the context. */
    sinew_group *gone = NULL;
    OK(sinew_group_new(node, NULL, &gone));
    sinew_group_free(gone);
    sinew_guard_condition *guard = NULL;
    sinew_guard_condition_options with = {.size = sizeof with, .group = gone};
    FAILS(sinew_guard_condition_new(node, &with, triggered, &guard, dropped, &guard),
          SINEW_ERROR_INVALID_HANDLE, "it was freed");
    CHECK(guard == NULL && drops == 1);

    /* One that its own callback frees. */
    OK(sinew_guard_condition_new(node, NULL, triggered, &guard, dropped, &guard));
    OK(sinew_guard_condition_trigger(guard));
    sinew_executor *executor = NULL;
    OK(sinew_executor_new(NULL, &executor));
    OK(sinew_executor_add_node(executor, node));
    OK(sinew_executor_spin_all(executor, -1, NULL));
    CHECK(triggers == 1 && drops == 2);

    /* A context that was freed keeps nothing from working that was made of it. */
    sinew_context_free(context);
    FAILS(sinew_context_shutdown(context), SINEW_ERROR_INVALID_HANDLE, "`context` is no sinew_context: it was freed");
    OK(sinew_group_new(node, NULL, &gone));
    sinew_group_free(gone);
    sinew_executor_free(executor);
    sinew_node_free(node);
    FAILS(sinew_executor_add_node(executor, node), SINEW_ERROR_INVALID_HANDLE, "`executor` is no sinew_executor");
    return 0;
}
