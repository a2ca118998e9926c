/* Contexts and nodes, and what is said about bad input. */
#include "check.h"

static void add_one(void *count)
{
    ++*(int *)count;
}

static void add_ten(void *count)
{
    *(int *)count += 10;
}

/* Callbacks for the end of a context: each once, unless they were freed before. */
static void shutdowns(void)
{
    sinew_context *context = NULL;
    OK(sinew_context_new(NULL, &context));
    int calls = 0, drops = 0;
    sinew_shutdown_handler *handler = NULL, *freed = NULL, *late = NULL;
    OK(sinew_context_on_shutdown(context, add_one, &calls, NULL, &handler));
    OK(sinew_context_on_shutdown(context, add_ten, &drops, add_one, &freed));
    sinew_shutdown_handler_free(freed);
    CHECK(drops == 1);
    FAILS(sinew_context_on_shutdown(context, NULL, &drops, add_one, &late), SINEW_ERROR_NULL_ARGUMENT, "callback");
    FAILS(sinew_context_on_shutdown(context, add_ten, &drops, add_one, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "handler");
    FAILS(sinew_context_on_shutdown(NULL, add_ten, &drops, add_one, &late), SINEW_ERROR_NULL_ARGUMENT, "context");
    CHECK(drops == 4 && calls == 0);
    OK(sinew_context_shutdown_because(context, "it is \xff"));
    OK(sinew_context_shutdown(context));
    CHECK(calls == 1 && drops == 4);
    sinew_strings *reason = NULL;
    OK(sinew_context_shutdown_reason(context, &reason));
    CHECK(strcmp(sinew_strings_at(reason, 0), "it is \xef\xbf\xbd") == 0);
    sinew_strings_free(reason);
    OK(sinew_context_on_shutdown(context, add_ten, &calls, NULL, &late)); /* at once */
    CHECK(calls == 11);
    sinew_shutdown_handler_free(late);
    sinew_shutdown_handler_free(handler);
    sinew_shutdown_handler_free(NULL);
    sinew_context_free(context);
}

int main(void)
{
    const char *const arguments[] = {"program", "--ros-args", "-r", "__ns:=/from_the_line"};
    sinew_context_options options = {.size = sizeof options, .has_domain = true, .domain = 7};
    options.argc = 4;
    options.argv = arguments;
    sinew_context *context = NULL;
    OK(sinew_context_new(&options, &context));
    CHECK(sinew_context_domain(context) == 7);
    CHECK(sinew_context_is_valid(context));

    sinew_node *node = NULL;
    OK(sinew_node_new(context, "driver", NULL, &node));
    CHECK(strcmp(sinew_node_name(node), "driver") == 0);
    CHECK(strcmp(sinew_node_namespace(node), "/from_the_line") == 0);
    CHECK(strcmp(sinew_node_full_name(node), "/from_the_line/driver") == 0);
    sinew_node_options bare = {.size = sizeof bare, .is_bare = true, .node_namespace = "/arm"};
    sinew_node *other = NULL;
    OK(sinew_node_new(context, "driver", &bare, &other));
    CHECK(strcmp(sinew_node_full_name(other), "/arm/driver") == 0);

    FAILS(sinew_node_new(context, "no spaces please", NULL, &other), SINEW_ERROR_INVALID_NAME, "no spaces");
    FAILS(sinew_node_new(NULL, "driver", NULL, &node), SINEW_ERROR_NULL_ARGUMENT, "`context` is null");
    FAILS(sinew_node_new(context, NULL, NULL, &node), SINEW_ERROR_NULL_ARGUMENT, "`name` is null");
    FAILS(sinew_node_new(context, "driver", NULL, NULL), SINEW_ERROR_NULL_ARGUMENT, "`node` is null");
    FAILS(sinew_node_new(context, "\xff", NULL, &node), SINEW_ERROR_INVALID_UTF8, "`name` is not UTF-8");
    bare.size = 3;
    FAILS(sinew_node_new(context, "driver", &bare, &node), SINEW_ERROR_INVALID_STRUCTURE, "`.size = sizeof");
    bare = (sinew_node_options){.size = sizeof bare, .hints = 3};
    FAILS(sinew_node_new(context, "driver", &bare, &node), SINEW_ERROR_INVALID_ENUMERATOR, "`hints` can't be 3");

    /* A structure of a newer program: what is unset doesn't matter, what is set does. */
    struct {
        sinew_node_options known;
        int newer;
    } newer = {{.size = sizeof newer}, 0};
    sinew_node *third = NULL;
    OK(sinew_node_new(context, "third", &newer.known, &third));
    newer.newer = 1;
    FAILS(sinew_node_new(context, "fourth", &newer.known, &third), SINEW_ERROR_INVALID_STRUCTURE, "newer");

    /* Handles of another kind, and freed ones. */
    CHECK(sinew_node_name((sinew_node *)(void *)context) == NULL);
    CHECK(strstr(sinew_error_message(), "`node` is no sinew_node") != NULL);
    sinew_node_free(third);
    CHECK(sinew_node_name(third) == NULL);
    CHECK(strstr(sinew_error_message(), "it was freed") != NULL);
    sinew_node_free(third); /* is noticed as well */
    sinew_node_free(NULL);

    shutdowns();
    OK(sinew_context_shutdown(context));
    CHECK(!sinew_context_is_valid(context));
    FAILS(sinew_node_new(context, "late", NULL, &third), SINEW_ERROR_SHUTDOWN, "shut down");
    CHECK(strcmp(sinew_status_meaning(SINEW_ERROR_SHUTDOWN), "The context is shut down.") == 0);
    CHECK(strcmp(sinew_status_meaning(SINEW_OK), "Success.") == 0);
    sinew_context_free(context);
    sinew_node_free(node);
    sinew_node_free(other);
    return 0;
}
