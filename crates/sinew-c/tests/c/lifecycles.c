/* Managed nodes: callbacks, states, gates of publishers, managed groups. */
#include "check.h"

/* The calls so far: a letter and the previous state each. */
typedef struct record {
    char calls[64];
    sinew_status answer;
    sinew_status answer_of_error;
    const sinew_publish_gate *gate;
    char gates[64];
} record;

static int dropped_contexts;

static sinew_status called(void *context, char letter, sinew_lifecycle_state previous, sinew_status answer)
{
    record *to = context;
    size_t length = strlen(to->calls);
    snprintf(to->calls + length, sizeof to->calls - length, "%c%d ", letter, previous);
    if (to->gate != NULL)
        strcat(to->gates, sinew_publish_gate_admits(to->gate) ? "1" : "0");
    if (answer == SINEW_ERROR_TIMEOUT)
        sinew_error_set(answer, "the motor doesn't answer", NULL, NULL);
    return answer;
}

static sinew_status on_configure(void *context, sinew_lifecycle_state previous)
{
    return called(context, 'c', previous, ((record *)context)->answer);
}

static sinew_status on_cleanup(void *context, sinew_lifecycle_state previous)
{
    return called(context, 'l', previous, ((record *)context)->answer);
}

static sinew_status on_activate(void *context, sinew_lifecycle_state previous)
{
    return called(context, 'a', previous, ((record *)context)->answer);
}

static sinew_status on_deactivate(void *context, sinew_lifecycle_state previous)
{
    return called(context, 'd', previous, ((record *)context)->answer);
}

static sinew_status on_shutdown(void *context, sinew_lifecycle_state previous)
{
    return called(context, 's', previous, ((record *)context)->answer);
}

static sinew_status on_error(void *context, sinew_lifecycle_state previous)
{
    return called(context, 'e', previous, ((record *)context)->answer_of_error);
}

static void drop_record(void *context)
{
    (void)context;
    ++dropped_contexts;
}

static const sinew_lifecycle_callbacks all = {.size = sizeof all,
                                              .on_configure = on_configure,
                                              .on_cleanup = on_cleanup,
                                              .on_activate = on_activate,
                                              .on_deactivate = on_deactivate,
                                              .on_shutdown = on_shutdown,
                                              .on_error = on_error};

static void leads_to(sinew_lifecycle_node *lifecycle, int transition, int state)
{
    sinew_lifecycle_state reached = 0;
    OK(sinew_lifecycle_node_change(lifecycle, transition, &reached));
    CHECK(reached == state);
    CHECK(sinew_lifecycle_node_state(lifecycle) == state);
}

static void fails_to(sinew_lifecycle_node *lifecycle, int transition, int state, const char *sentence)
{
    sinew_lifecycle_state reached = 0;
    FAILS(sinew_lifecycle_node_change(lifecycle, transition, &reached), SINEW_ERROR_TRANSITION_FAILED,
          sentence);
    CHECK(reached == state);
}

static void callbacks_and_states(const sinew_node *node)
{
    record calls = {.answer = SINEW_OK};
    sinew_lifecycle_node *lifecycle = NULL;
    OK(sinew_lifecycle_node_new(node, &all, &calls, drop_record, &lifecycle));
    CHECK(sinew_lifecycle_node_state(lifecycle) == SINEW_STATE_UNCONFIGURED);
    leads_to(lifecycle, SINEW_TRANSITION_CONFIGURE, SINEW_STATE_INACTIVE);
    leads_to(lifecycle, SINEW_TRANSITION_ACTIVATE, SINEW_STATE_ACTIVE);
    calls.answer = SINEW_CALLBACK_SUCCESS;
    leads_to(lifecycle, SINEW_TRANSITION_DEACTIVATE, SINEW_STATE_INACTIVE);
    leads_to(lifecycle, SINEW_TRANSITION_CLEANUP, SINEW_STATE_UNCONFIGURED);
    CHECK(strcmp(calls.calls, "c1 a2 d3 l2 ") == 0);

    // A failure leads back, an error by `on_error`.
    calls = (record){.answer = SINEW_CALLBACK_FAILURE};
    fails_to(lifecycle, SINEW_TRANSITION_CONFIGURE, SINEW_STATE_UNCONFIGURED, "not possible now");
    calls.answer = SINEW_CALLBACK_ERROR;
    calls.answer_of_error = SINEW_CALLBACK_SUCCESS;
    fails_to(lifecycle, SINEW_TRANSITION_CONFIGURE, SINEW_STATE_UNCONFIGURED, "returned an error");
    calls.answer = SINEW_ERROR_TIMEOUT;
    fails_to(lifecycle, SINEW_TRANSITION_CONFIGURE, SINEW_STATE_UNCONFIGURED, "the motor doesn't answer");
    CHECK(strcmp(calls.calls, "c1 c1 e1 c1 e1 ") == 0);

    FAILS(sinew_lifecycle_node_change(lifecycle, SINEW_TRANSITION_ACTIVATE, NULL),
          SINEW_ERROR_TRANSITION_NOT_ALLOWED, "it can configure, shutdown");
    FAILS(sinew_lifecycle_node_change(lifecycle, 77, NULL), SINEW_ERROR_INVALID_ENUMERATOR, "`transition`");
    calls.answer_of_error = SINEW_CALLBACK_FAILURE;
    fails_to(lifecycle, SINEW_TRANSITION_CONFIGURE, SINEW_STATE_FINALIZED, "the motor doesn't answer");
    FAILS(sinew_lifecycle_node_change(lifecycle, SINEW_TRANSITION_CONFIGURE, NULL),
          SINEW_ERROR_TRANSITION_NOT_ALLOWED, "finalized");
    OK(sinew_lifecycle_node_close(lifecycle));
    CHECK(dropped_contexts == 0);
    sinew_lifecycle_node_free(lifecycle);
    CHECK(dropped_contexts == 1);
    FAILS(sinew_lifecycle_node_change(lifecycle, 1, NULL), SINEW_ERROR_INVALID_HANDLE, "`lifecycle`");
    CHECK(sinew_lifecycle_node_state(lifecycle) == 0);
    sinew_lifecycle_node_free(NULL);
}

static sinew_status count(void *context, uint64_t triggers)
{
    (void)triggers;
    ++*(int *)context;
    return SINEW_OK;
}

/* Without callbacks all succeeds. A managed group runs, and a gate is open, while the node is active. */
static void groups_and_gates(sinew_context *context)
{
    sinew_node *node = NULL;
    sinew_publisher *publisher = NULL;
    sinew_publish_gate *gate = NULL;
    sinew_lifecycle_node *lifecycle = NULL;
    record calls = {.answer = SINEW_OK};
    const sinew_message_type *type = NULL;
    const char *hash = "RIHS01_0000000000000000000000000000000000000000000000000000000000000001";
    OK(sinew_node_new(context, "managed", NULL, &node));
    OK(sinew_message_type_known("demo_msgs/msg/Word", hash, &type));
    OK(sinew_publisher_new(node, "words", type, NULL, &publisher));
    OK(sinew_lifecycle_node_new(node, &all, &calls, NULL, &lifecycle));
    OK(sinew_publish_gate_new(lifecycle, publisher, &gate));
    calls.gate = gate;

    sinew_group_options options = {.size = sizeof options, .kind = SINEW_GROUP_REENTRANT};
    sinew_group *group = NULL, *reentrant = NULL;
    OK(sinew_lifecycle_node_group_new(lifecycle, NULL, &group));
    OK(sinew_lifecycle_node_group_new(lifecycle, &options, &reentrant));
    options.kind = 9;
    sinew_group *none = NULL;
    FAILS(sinew_lifecycle_node_group_new(lifecycle, &options, &none), SINEW_ERROR_INVALID_ENUMERATOR,
          "`kind`");

    sinew_executor *executor = NULL;
    OK(sinew_executor_new(NULL, &executor));
    OK(sinew_executor_add_context(executor, context));
    int runs = 0;
    sinew_guard_condition_options in_group = {.size = sizeof in_group, .group = group};
    sinew_guard_condition *guard = NULL;
    OK(sinew_guard_condition_new(node, &in_group, count, &runs, NULL, &guard));

    CHECK(!sinew_publish_gate_admits(gate));
    OK(sinew_guard_condition_trigger(guard));
    OK(sinew_executor_spin_some(executor, NULL));
    CHECK(runs == 0);
    leads_to(lifecycle, SINEW_TRANSITION_CONFIGURE, SINEW_STATE_INACTIVE);
    leads_to(lifecycle, SINEW_TRANSITION_ACTIVATE, SINEW_STATE_ACTIVE);
    CHECK(sinew_publish_gate_admits(gate));
    OK(sinew_guard_condition_trigger(guard));
    OK(sinew_executor_spin_some(executor, NULL));
    CHECK(runs == 1);
    leads_to(lifecycle, SINEW_TRANSITION_DEACTIVATE, SINEW_STATE_INACTIVE);
    CHECK(!sinew_publish_gate_admits(gate));
    leads_to(lifecycle, 7, SINEW_STATE_FINALIZED); // shutdown with the number from active
    // Closed while it is configured and shut down; open in the callbacks of both changes between.
    CHECK(strcmp(calls.gates, "0110") == 0);
    CHECK(sinew_publish_gate_dropped(gate) == 4);

    FAILS(sinew_publish_gate_new(lifecycle, NULL, &gate), SINEW_ERROR_NULL_ARGUMENT, "`publisher`");
    sinew_publish_gate_free(gate);
    CHECK(!sinew_publish_gate_admits(gate));
    sinew_guard_condition_free(guard);
    sinew_group_free(group);
    sinew_group_free(reentrant);
    sinew_executor_free(executor);
    sinew_lifecycle_node_free(lifecycle);
    sinew_publisher_free(publisher);
    sinew_node_free(node);
}

static void labels_and_steps(void)
{
    CHECK(strcmp(sinew_lifecycle_state_label(SINEW_STATE_INACTIVE), "inactive") == 0);
    CHECK(strcmp(sinew_lifecycle_state_label(SINEW_STATE_ERROR_PROCESSING), "errorprocessing") == 0);
    CHECK(strcmp(sinew_lifecycle_state_label(99), "unknown") == 0);
    CHECK(strcmp(sinew_lifecycle_transition_label(SINEW_TRANSITION_CLEANUP), "cleanup") == 0);
    CHECK(strcmp(sinew_lifecycle_transition_label(7), "shutdown") == 0);
    CHECK(strcmp(sinew_lifecycle_transition_label(31), "transition_failure") == 0);
    CHECK(strcmp(sinew_lifecycle_transition_label(99), "") == 0);
    sinew_lifecycle_step steps[30];
    CHECK(sinew_lifecycle_steps(0, steps, 30) == 25);
    for (int i = 0; i < 25; ++i) {
        CHECK(strcmp(sinew_lifecycle_transition_label(steps[i].id), "") != 0);
        CHECK(strcmp(sinew_lifecycle_state_label(steps[i].goal), "unknown") != 0);
    }
    CHECK(sinew_lifecycle_steps(SINEW_STATE_ACTIVE, steps, 1) == 2);
    CHECK(steps[0].id == SINEW_TRANSITION_DEACTIVATE && steps[0].start == SINEW_STATE_ACTIVE &&
          steps[0].goal == SINEW_STATE_DEACTIVATING);
    CHECK(sinew_lifecycle_steps(SINEW_STATE_FINALIZED, NULL, 0) == 0);
    CHECK(sinew_lifecycle_steps(SINEW_STATE_ACTIVE, NULL, 1) == 0); // no place
}

int main(void)
{
    sinew_context *context = NULL;
    sinew_node *node = NULL;
    OK(sinew_context_new(NULL, &context));
    OK(sinew_node_new(context, "lifecycle", NULL, &node));
    labels_and_steps();
    callbacks_and_states(node);
    groups_and_gates(context);
    sinew_lifecycle_node *none = NULL;
    FAILS(sinew_lifecycle_node_new(NULL, &all, NULL, drop_record, &none), SINEW_ERROR_NULL_ARGUMENT,
          "`node`");
    CHECK(dropped_contexts == 2); // also after a failure
    sinew_lifecycle_callbacks wrong = {.size = 4};
    FAILS(sinew_lifecycle_node_new(node, &wrong, NULL, NULL, &none), SINEW_ERROR_INVALID_STRUCTURE,
          "sinew_lifecycle_callbacks");
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
