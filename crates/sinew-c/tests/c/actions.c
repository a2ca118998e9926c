/* Actions: servers, clients and their goals, in one process and in two. */
#include "process.h"

#include "counting.h"

static const sinew_duration soon = 60 * (sinew_duration)1000000000;

typedef struct {
    sinew_context *context;
    sinew_node *node;
    sinew_executor *executor;
    sinew_action_parts parts;
    const sinew_action_type *type;
} world;

static world begin(const char *name)
{
    world all = {.parts = count_parts(true)};
    OK(sinew_action_type_new(&all.parts, &all.type));
    OK(sinew_context_new(NULL, &all.context));
    OK(sinew_node_new(all.context, name, NULL, &all.node));
    const sinew_executor_options options = {.size = sizeof options, .on_error = SINEW_FAULT_STOP};
    OK(sinew_executor_new(&options, &all.executor));
    OK(sinew_executor_add_node(all.executor, all.node));
    return all;
}

static void end(world *all)
{
    sinew_executor_free(all->executor);
    sinew_node_free(all->node);
    sinew_context_free(all->context);
}

/* Runs callbacks until the condition holds. */
#define UNTIL(all, condition)                                                                         \
    while (!(condition)) {                                                                            \
        bool ran = false;                                                                             \
        OK(sinew_executor_spin_once((all)->executor, soon, &ran));                                    \
        CHECK(ran);                                                                                   \
    }

/* ---- a server that counts ---- */

enum { REJECTED = -1, DEFERRED = -2, FAILS_TO_DECIDE = -3, NONSENSE = -4, KEPT = -5, LAST = -6 };

typedef struct {
    const sinew_action_parts *parts;
    sinew_server_goal *kept;
    atomic_int dropped;
    bool keeps_going;
    bool is_over;
} counter;

static sinew_status decide(void *context, const sinew_goal_id *id, const sinew_message *request,
                           sinew_goal_response *response)
{
    (void)context;
    const count_request *goal = sinew_message_value(request);
    CHECK(goal != NULL && memcmp(goal->goal_id, id->bytes, 16) == 0);
    switch (goal->goal) {
    case REJECTED:
        *response = SINEW_GOAL_REJECT;
        return SINEW_OK;
    case DEFERRED:
        *response = SINEW_GOAL_ACCEPT_AND_DEFER;
        return SINEW_OK;
    case FAILS_TO_DECIDE:
        sinew_error_set(SINEW_ERROR_REFUSED, "I can't decide", NULL, NULL);
        return SINEW_ERROR_REFUSED;
    case NONSENSE:
        *response = 77;
        return SINEW_OK;
    default:
        *response = SINEW_GOAL_ACCEPT_AND_EXECUTE;
        return SINEW_OK;
    }
}

static sinew_status may_cancel(void *context, const sinew_goal_id *id, sinew_cancel_response *response)
{
    (void)id;
    *response = ((counter *)context)->keeps_going ? SINEW_CANCEL_REJECT : SINEW_CANCEL_ACCEPT;
    return SINEW_OK;
}

static sinew_status count(void *context, sinew_server_goal *goal)
{
    counter *server = context;
    const int32_t until = *(const int32_t *)sinew_server_goal_value(goal);
    if (until == KEPT || until == DEFERRED) {
        CHECK(server->kept == NULL);
        server->kept = goal;
        return SINEW_OK;
    }
    CHECK(sinew_server_goal_status(goal) == SINEW_GOAL_EXECUTING && sinew_server_goal_is_active(goal));
    for (int32_t number = 1; number <= until; ++number) {
        OK(sinew_server_goal_publish_feedback(goal, some_feedback(server->parts, number)));
    }
    server->is_over = until == LAST;
    OK(sinew_server_goal_succeed(goal, a_result(server->parts, 10 * until)));
    CHECK(sinew_server_goal_status(goal) == SINEW_GOAL_SUCCEEDED && !sinew_server_goal_is_active(goal));
    sinew_server_goal_free(goal);
    return SINEW_OK;
}

static const sinew_action_server_callbacks counting = {
    .size = sizeof counting, .goal = decide, .cancel = may_cancel, .accepted = count};

static sinew_action_server *serve(const world *all, counter *server, const char *name,
                                  const sinew_action_server_options *options)
{
    server->parts = &all->parts;
    sinew_action_server *made = NULL;
    OK(sinew_action_server_new(all->node, name, all->type, options, &counting, server, NULL, &made));
    return made;
}

/* ---- a client's callbacks ---- */

typedef struct {
    sinew_status answered;
    sinew_client_goal *goal;
    int feedback;
    int32_t last;
    sinew_status ended;
    sinew_goal_status how;
    int32_t result;
    int calls;
    atomic_int dropped;
} seen;

static sinew_status on_response(void *context, sinew_status status, sinew_client_goal *goal)
{
    seen *all = context;
    CHECK(all->calls++ == 0 && (goal == NULL) == (status != SINEW_OK));
    CHECK(status == SINEW_OK || strlen(sinew_error_message()) > 0);
    all->answered = status;
    all->goal = goal;
    return SINEW_OK;
}

static sinew_status on_feedback(void *context, const sinew_message *message, const void *feedback)
{
    seen *all = context;
    const count_feedback *whole = sinew_message_value(message);
    CHECK(feedback == &whole->feedback);
    sinew_goal_id id;
    OK(sinew_client_goal_id(all->goal, &id));
    CHECK(memcmp(id.bytes, whole->goal_id, 16) == 0);
    CHECK(whole->feedback == ++all->feedback);
    all->last = whole->feedback;
    return SINEW_OK;
}

static sinew_status on_result(void *context, sinew_status status, sinew_goal_status how,
                              sinew_message *message, const void *result)
{
    seen *all = context;
    all->ended = status;
    all->how = how;
    all->calls++;
    if (status == SINEW_OK) {
        const count_response *whole = sinew_message_value(message);
        CHECK(result == &whole->result && whole->status == how);
        all->result = whole->result;
    }
    sinew_message_free(message);
    return SINEW_OK;
}

static void dropped_seen(void *context)
{
    atomic_fetch_add(&((seen *)context)->dropped, 1);
}

static const sinew_goal_callbacks watching = {
    .size = sizeof watching, .response = on_response, .feedback = on_feedback, .result = on_result};

static sinew_client_goal *send_goal(const world *all, sinew_action_client *client, int32_t goal, seen *by)
{
    sinew_client_goal *sent = NULL;
    OK(sinew_action_client_send_goal(client, a_goal(&all->parts, goal), by == NULL ? NULL : &watching, by,
                                     by == NULL ? NULL : dropped_seen, &sent));
    return sent;
}

typedef struct {
    int calls;
    sinew_status status;
    sinew_cancel_outcome outcome;
    size_t count;
    sinew_goal_info first;
} canceled;

static sinew_status on_canceled(void *context, sinew_status status, sinew_cancel_outcome outcome,
                                const sinew_goal_info *goals, size_t count)
{
    canceled *answer = context;
    *answer = (canceled){answer->calls + 1, status, outcome, count, {{{0}}, 0, 0}};
    if (count > 0) {
        answer->first = goals[0];
    }
    return SINEW_OK;
}

/* ---- the tests ---- */

static void types_are_checked(void)
{
    sinew_action_parts parts = count_parts(true);
    const sinew_action_type *type = NULL;
    const sinew_action_type *again = NULL;
    OK(sinew_action_type_new(&parts, &type));
    OK(sinew_action_type_new(&parts, &again));
    CHECK(type == again && strcmp(sinew_action_type_name(type), COUNT) == 0);
    FAILS(sinew_action_type_new(NULL, &type), SINEW_ERROR_NULL_ARGUMENT, "`parts` is null");
    FAILS(sinew_action_type_new(&parts, NULL), SINEW_ERROR_NULL_ARGUMENT, "`action_type` is null");
    parts.request_goal_id = 5;
    FAILS(sinew_action_type_new(&parts, &type), SINEW_ERROR_INVALID_TYPE_TABLE, "`request_goal_id` is 5");
    parts.request_goal_id = SIZE_MAX;
    FAILS(sinew_action_type_new(&parts, &type), SINEW_ERROR_INVALID_TYPE_TABLE, "`request_goal_id` is");
    parts.request_goal_id = 0;
    parts.send_goal_hash = "RIHS01_00";
    FAILS(sinew_action_type_new(&parts, &type), SINEW_ERROR_INVALID_TYPE_HASH, "RIHS01_");
    parts.send_goal_hash = HASH_OF("1");
    const sinew_message_type *response = parts.response;
    parts.response = parts.request;
    FAILS(sinew_action_type_new(&parts, &type), SINEW_ERROR_OTHER_TYPE, "needs " COUNT "_GetResult_Response");
    parts.response = count_type((sinew_type_table){
        .name = COUNT "_GetResult_Response", .value_size = 8, .alignment = 4, .create = count_create});
    FAILS(sinew_action_type_new(&parts, &type), SINEW_ERROR_NO_CLONE, "neither a clone function");
    parts.response = count_type((sinew_type_table){
        .name = COUNT "_GetResult_Response", .value_size = 8, .alignment = 4, .clone = count_clone});
    FAILS(sinew_action_type_new(&parts, &type), SINEW_ERROR_INVALID_TYPE_TABLE, "no create function");
    parts.response = response;
    parts.size = 1;
    FAILS(sinew_action_type_new(&parts, &type), SINEW_ERROR_INVALID_STRUCTURE, "sinew_action_parts");
    CHECK(sinew_action_type_name(NULL) == NULL);
}

static void ends_are_checked(const world *all)
{
    atomic_int gone = 0;
    sinew_action_server *server = NULL;
    sinew_action_server_options options = {.size = sizeof options, .policy = 9};
    sinew_action_server_callbacks none = {.size = sizeof none};
    FAILS(sinew_action_server_new(all->node, "bad", all->type, NULL, &none, &gone, dropped, &server),
          SINEW_ERROR_NULL_ARGUMENT, "`accepted` is null");
    FAILS(sinew_action_server_new(all->node, "bad", all->type, &options, &counting, &gone, dropped, &server),
          SINEW_ERROR_INVALID_ENUMERATOR, "`policy` can't be 9");
    FAILS(sinew_action_server_new(all->node, "no spaces", all->type, NULL, &counting, &gone, dropped, &server),
          SINEW_ERROR_INVALID_NAME, "no spaces");
    FAILS(sinew_action_server_new(all->node, "bad", NULL, NULL, &counting, &gone, dropped, &server),
          SINEW_ERROR_NULL_ARGUMENT, "`action_type` is null");
    FAILS(sinew_action_server_new(all->node, "bad", all->type, NULL, &counting, &gone, dropped, NULL),
          SINEW_ERROR_NULL_ARGUMENT, "`server` is null");
    CHECK(atomic_load(&gone) == 5);
    sinew_action_client *client = NULL;
    FAILS(sinew_action_client_new(all->node, "bad", NULL, NULL, &client), SINEW_ERROR_NULL_ARGUMENT,
          "`action_type` is null");
    OK(sinew_action_client_new(all->node, "nowhere", all->type, NULL, &client));
    CHECK(!sinew_action_client_is_server_ready(client) && !sinew_action_client_wait_for_server(client, 0));
    FAILS(sinew_action_client_send_goal(client, NULL, NULL, &gone, dropped, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`request` is null");
    FAILS(sinew_action_client_cancel_goal(client, NULL, NULL, &gone, dropped), SINEW_ERROR_NULL_ARGUMENT,
          "`id` is null");
    CHECK(atomic_load(&gone) == 7);
    /* No server: the goal is taken back. */
    sinew_client_goal *goal = send_goal(all, client, 1, NULL);
    CHECK(sinew_client_goal_status(goal) == SINEW_GOAL_UNKNOWN);
    FAILS(sinew_client_goal_wait_for_result(goal, 0, NULL, NULL, NULL), SINEW_ERROR_GOAL_STATE,
          "its server's answer has not come");
    FAILS(sinew_client_goal_wait(goal, 1000), SINEW_ERROR_NO_SERVER, "no server for it within 1µs");
    FAILS(sinew_client_goal_wait(goal, 1000), SINEW_ERROR_NO_SERVER, "no server for it within 1µs");
    sinew_client_goal_free(goal);
    FAILS(sinew_client_goal_wait(goal, 0), SINEW_ERROR_INVALID_HANDLE, "it was freed");
    /* A message of another type is no goal. */
    OK(sinew_action_client_send_goal(client, some_feedback(&all->parts, 1), NULL, NULL, NULL, &goal));
    FAILS(sinew_client_goal_wait(goal, 0), SINEW_ERROR_OTHER_TYPE, "it is a " COUNT "_FeedbackMessage");
    sinew_client_goal_free(goal);
    sinew_action_client_free(client);
}

static void a_goal_is_executed(const world *all)
{
    counter served = {0};
    sinew_action_server *server = serve(all, &served, "count", NULL);
    CHECK(strcmp(sinew_action_server_name(server), "/count") == 0);
    sinew_action_client_options options = {.size = sizeof options, .feedback_depth = 100};
    sinew_action_client *client = NULL;
    OK(sinew_action_client_new(all->node, "count", all->type, &options, &client));
    CHECK(strcmp(sinew_action_client_name(client), "/count") == 0);
    CHECK(sinew_action_client_wait_for_server(client, soon) && sinew_action_client_is_server_ready(client));

    seen by = {0};
    sinew_client_goal *sent = send_goal(all, client, 50, &by);
    CHECK(by.calls == 0); /* decided and called in an executor */
    UNTIL(all, by.calls == 2);
    CHECK(by.answered == SINEW_OK && by.feedback == 50 && by.ended == SINEW_OK && by.result == 500);
    CHECK(by.how == SINEW_GOAL_SUCCEEDED && sinew_client_goal_status(sent) == SINEW_GOAL_SUCCEEDED);
    CHECK(sinew_client_goal_feedback_lost(by.goal) == 0);
    sinew_time stamp = 0;
    OK(sinew_client_goal_stamp(by.goal, &stamp));
    CHECK(stamp > 0);
    sinew_goal_info known[2];
    CHECK(sinew_action_server_goals(server, known, 2) == 1);
    CHECK(known[0].stamp == stamp && known[0].status == SINEW_GOAL_SUCCEEDED);

    /* The result is kept, and may be asked for again. */
    sinew_goal_status how = 0;
    sinew_message *message = NULL;
    const void *result = NULL;
    FAILS(sinew_client_goal_wait_for_result(sent, 0, NULL, NULL, &result), SINEW_ERROR_NULL_ARGUMENT,
          "`message` is null");
    OK(sinew_client_goal_wait_for_result(sent, 0, &how, &message, &result));
    CHECK(how == SINEW_GOAL_SUCCEEDED && *(const int32_t *)result == 500);
    sinew_message_free(message);
    sinew_client_goal_free(by.goal);
    sinew_client_goal_free(sent);
    CHECK(atomic_load(&by.dropped) == 1);

    seen rejected = {0};
    sinew_client_goal_free(send_goal(all, client, REJECTED, &rejected));
    UNTIL(all, rejected.calls == 1);
    CHECK(rejected.answered == SINEW_ERROR_GOAL_REJECTED);
    /* A callback that fails rejects the goal, and its failure is the executor's. */
    seen undecided = {0};
    sinew_client_goal_free(send_goal(all, client, FAILS_TO_DECIDE, &undecided));
    FAILS(sinew_executor_spin_once(all->executor, soon, NULL), SINEW_ERROR_CALLBACK_FAILED, "I can't decide");
    UNTIL(all, undecided.calls == 1);
    CHECK(undecided.answered == SINEW_ERROR_GOAL_REJECTED);
    sinew_client_goal_free(send_goal(all, client, NONSENSE, NULL));
    FAILS(sinew_executor_spin_once(all->executor, soon, NULL), SINEW_ERROR_CALLBACK_FAILED, "can't be 77");
    sinew_action_client_free(client);
    sinew_action_server_free(server);
}

static void goals_are_cancelled(const world *all)
{
    counter served = {0};
    const sinew_action_server_options options = {.size = sizeof options, .is_immediate = true};
    sinew_action_server *server = serve(all, &served, "cancels", &options);
    sinew_action_client *client = NULL;
    OK(sinew_action_client_new(all->node, "cancels", all->type, NULL, &client));
    sinew_client_goal *goal = send_goal(all, client, DEFERRED, NULL);
    OK(sinew_client_goal_wait(goal, soon)); /* decided while it was sent */
    sinew_server_goal *kept = served.kept;
    CHECK(kept != NULL && sinew_server_goal_status(kept) == SINEW_GOAL_ACCEPTED);
    FAILS(sinew_server_goal_succeed(kept, a_result(&all->parts, 1)), SINEW_ERROR_GOAL_STATE,
          "begin it by sinew_server_goal_execute");
    FAILS(sinew_server_goal_publish_feedback(kept, some_feedback(&all->parts, 1)), SINEW_ERROR_GOAL_STATE,
          "it is accepted");
    OK(sinew_server_goal_execute(kept));
    FAILS(sinew_server_goal_execute(kept), SINEW_ERROR_GOAL_STATE, "it is executing");
    CHECK(sinew_client_goal_status(goal) == SINEW_GOAL_EXECUTING);

    sinew_goal_id id;
    OK(sinew_client_goal_id(goal, &id));
    sinew_goal_id same;
    OK(sinew_server_goal_id(kept, &same));
    CHECK(memcmp(&id, &same, sizeof id) == 0);
    canceled answer = {0};
    served.keeps_going = true;
    OK(sinew_action_client_cancel_goal(client, &id, on_canceled, &answer, NULL));
    UNTIL(all, answer.calls == 1);
    CHECK(answer.outcome == SINEW_CANCEL_REJECTED && answer.count == 0);
    CHECK(!sinew_server_goal_is_canceling(kept));
    OK(sinew_action_client_cancel_before(client, 0, on_canceled, &answer, NULL));
    UNTIL(all, answer.calls == 2);
    CHECK(answer.status == SINEW_ERROR_NO_CANCEL_TIME);
    const sinew_goal_id unknown = {{1}};
    OK(sinew_action_client_cancel_goal(client, &unknown, on_canceled, &answer, NULL));
    UNTIL(all, answer.calls == 3);
    CHECK(answer.outcome == SINEW_CANCEL_UNKNOWN_GOAL);

    served.keeps_going = false;
    atomic_int notified = 0;
    atomic_int gone = 0;
    OK(sinew_server_goal_on_cancel(kept, dropped, &notified, NULL));
    sinew_time stamp = 0;
    OK(sinew_client_goal_stamp(goal, &stamp));
    OK(sinew_action_client_cancel_before(client, stamp, on_canceled, &answer, NULL));
    CHECK(sinew_server_goal_is_canceling(kept) && atomic_load(&notified) == 1);
    UNTIL(all, answer.calls == 4);
    CHECK(answer.outcome == SINEW_CANCEL_DONE && answer.count == 1 && answer.first.stamp == stamp);
    CHECK(memcmp(&answer.first.id, &id, sizeof id) == 0);
    FAILS(sinew_server_goal_canceled(kept, some_feedback(&all->parts, 1)), SINEW_ERROR_OTHER_TYPE,
          "_FeedbackMessage");
    OK(sinew_server_goal_canceled(kept, a_result(&all->parts, 3)));
    FAILS(sinew_server_goal_abort(kept, a_result(&all->parts, 3)), SINEW_ERROR_GOAL_STATE, "it is canceled");
    FAILS(sinew_server_goal_on_cancel(kept, dropped, &gone, dropped), SINEW_ERROR_GOAL_STATE, "it is canceled");
    CHECK(atomic_load(&gone) == 1);
    sinew_goal_status how = 0;
    OK(sinew_client_goal_wait_for_result(goal, soon, &how, NULL, NULL));
    CHECK(how == SINEW_GOAL_CANCELED);
    sinew_client_goal_free(goal);
    sinew_server_goal_free(kept);

    /* A goal that is freed ends. */
    served.kept = NULL;
    goal = send_goal(all, client, DEFERRED, NULL);
    OK(sinew_client_goal_wait(goal, soon));
    sinew_server_goal_free(served.kept);
    sinew_message *message = NULL;
    const void *result = NULL;
    OK(sinew_client_goal_wait_for_result(goal, soon, &how, &message, &result));
    CHECK(how == SINEW_GOAL_CANCELED && *(const int32_t *)result == -1); /* the first value */
    sinew_message_free(message);
    OK(sinew_action_client_cancel_all(client, on_canceled, &answer, NULL));
    UNTIL(all, answer.calls == 5);
    CHECK(answer.outcome == SINEW_CANCEL_DONE && answer.count == 0);
    sinew_client_goal_free(goal);

    /* A server that ends tells its goals and clients. */
    served.kept = NULL;
    goal = send_goal(all, client, DEFERRED, NULL);
    OK(sinew_client_goal_wait(goal, soon));
    OK(sinew_server_goal_execute(served.kept));
    sinew_action_server_free(server);
    CHECK(sinew_server_goal_is_canceling(served.kept));
    FAILS(sinew_server_goal_publish_feedback(served.kept, some_feedback(&all->parts, 1)),
          SINEW_ERROR_SERVER_GONE, "server is gone");
    FAILS(sinew_server_goal_succeed(served.kept, a_result(&all->parts, 1)), SINEW_ERROR_SERVER_GONE,
          "server is gone");
    FAILS(sinew_client_goal_wait_for_result(goal, soon, &how, NULL, NULL), SINEW_ERROR_SERVER_GONE, "is gone");
    sinew_server_goal_free(served.kept);
    sinew_client_goal_free(goal);
    sinew_action_client_free(client);
}

/* Every option of a server; results without a clone function are copied by their encoded form. */
static void servers_have_options(world *all)
{
    const sinew_action_parts parts = all->parts;
    const sinew_action_type *type = all->type;
    all->parts = count_parts(false);
    OK(sinew_action_type_new(&all->parts, &all->type));
    CHECK(all->type != type);
    counter served = {0};
    sinew_group *group = NULL;
    OK(sinew_group_new(all->node, NULL, &group));
    const sinew_action_server_options options = {
        .size = sizeof options,
        .group = group,
        .is_immediate = true,
        .policy = SINEW_GOALS_QUEUE,
        .queue = 1,
        .max_goals = 5,
        .max_results = 1,
        .max_result_bytes = 100,
        .result_timeout = -1,
        .aborts_on_free = true,
    };
    sinew_action_server *server = serve(all, &served, "queues", &options);
    sinew_action_client *client = NULL;
    const sinew_action_client_options in_group = {.size = sizeof in_group, .group = group};
    OK(sinew_action_client_new(all->node, "queues", all->type, &in_group, &client));
    sinew_client_goal *first = send_goal(all, client, KEPT, NULL);
    sinew_client_goal *second = send_goal(all, client, 2, NULL);
    sinew_client_goal *third = send_goal(all, client, 3, NULL);
    OK(sinew_client_goal_wait(first, soon));
    OK(sinew_client_goal_wait(second, soon));
    FAILS(sinew_client_goal_wait(third, soon), SINEW_ERROR_GOAL_REJECTED, "rejected");
    UNTIL(all, served.kept != NULL);
    CHECK(sinew_client_goal_status(second) == SINEW_GOAL_ACCEPTED); /* it waits */
    sinew_server_goal_free(served.kept);
    sinew_goal_status how = 0;
    OK(sinew_client_goal_wait_for_result(first, soon, &how, NULL, NULL));
    CHECK(how == SINEW_GOAL_ABORTED);
    sinew_goal_info known[1];
    UNTIL(all, sinew_action_server_goals(server, known, 1) == 1 && known[0].status == SINEW_GOAL_SUCCEEDED);
    OK(sinew_client_goal_wait_for_result(second, soon, &how, NULL, NULL));
    CHECK(how == SINEW_GOAL_SUCCEEDED);
    sinew_client_goal_free(first);
    sinew_client_goal_free(second);
    sinew_client_goal_free(third);
    sinew_action_client_free(client);
    sinew_action_server_free(server);
    sinew_group_free(group);
    all->parts = parts;
    all->type = type;
}

/* The other process. */
static int serve_far(void)
{
    world all = begin("far_server");
    counter served = {0};
    sinew_action_server *server = serve(&all, &served, "far", NULL);
    UNTIL(&all, served.is_over);
    sinew_action_server_free(server);
    end(&all);
    return 0;
}

static void goals_reach_another_process(const world *all, char *program)
{
    const pid_t far = start(program, "serve");
    sinew_action_client *client = NULL;
    const sinew_action_client_options options = {.size = sizeof options, .feedback_depth = 100};
    OK(sinew_action_client_new(all->node, "far", all->type, &options, &client));
    CHECK(sinew_action_client_wait_for_server(client, soon));
    seen by = {0};
    sinew_client_goal_free(send_goal(all, client, 20, &by));
    UNTIL(all, by.calls == 2);
    CHECK(by.feedback == 20 && by.result == 200 && by.how == SINEW_GOAL_SUCCEEDED);
    sinew_client_goal_free(by.goal);
    seen last = {0};
    sinew_client_goal_free(send_goal(all, client, LAST, &last));
    UNTIL(all, last.calls == 2);
    CHECK(last.ended == SINEW_OK || last.ended == SINEW_ERROR_SERVER_GONE); /* it ends at once */
    sinew_client_goal_free(last.goal);
    CHECK(ended(far) == 0);
    sinew_action_client_free(client);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        return serve_far();
    }
    types_are_checked();
    world all = begin("counting");
    ends_are_checked(&all);
    a_goal_is_executed(&all);
    goals_are_cancelled(&all);
    servers_have_options(&all);
    goals_reach_another_process(&all, argv[0]);
    end(&all);
    return 0;
}
