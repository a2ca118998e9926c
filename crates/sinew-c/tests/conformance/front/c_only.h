/* What the front ends of C and C++ share: the functions for which C++ has no word, so that its
   programs use those of C as well. Virtual time and simulated time are for tests, services whose
   requests and responses are pulled are for bindings, and contexts are served by programs without
   nodes of their own. It is compiled as C and as C++.

   Before it is included, the front end defines what its handles are: */
#ifndef C_ONLY_H
#define C_ONLY_H

#include "front.h"

#include <stdlib.h>
#include <string.h>

static const sinew_context *context_in(const void *context);
static const sinew_node *node_in(const void *node);
static const sinew_client *client_in(const void *client);
static const sinew_server *server_in(const void *server);
static const sinew_executor *executor_in(const void *executor);
static const sinew_wait_set *set_in(const void *set);
/* The service from numbers to numbers. */
static const sinew_service_type *service_type(void);

const char *front_error(void)
{
    return sinew_error_message();
}

sinew_status front_failed(const char *sentence)
{
    sinew_error_set(SINEW_ERROR_CALLBACK_FAILED, sentence, NULL, NULL);
    return SINEW_ERROR_CALLBACK_FAILED;
}

/* ---- time ---- */

sinew_status front_clock_new(void **clock)
{
    return sinew_virtual_clock_new((sinew_virtual_clock **)clock);
}

void front_clock_free(void *clock)
{
    sinew_virtual_clock_free((sinew_virtual_clock *)clock);
}

void front_clock_advance(const void *clock, int64_t nanoseconds)
{
    sinew_virtual_clock_advance((const sinew_virtual_clock *)clock, nanoseconds);
}

void front_clock_set(const void *clock, int64_t nanoseconds)
{
    sinew_virtual_clock_set((const sinew_virtual_clock *)clock, nanoseconds);
}

/* Without a directory, without shared memory. `clock` may be null. */
static sinew_status new_context(uint32_t domain, const char *directory, const void *clock, sinew_context **context)
{
    sinew_context_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.has_domain = true;
    options.domain = domain;
    options.directory = directory;
    options.shared_memory = directory == NULL ? SINEW_NO : SINEW_DEFAULT;
    options.virtual_clock = (const sinew_virtual_clock *)clock;
    return sinew_context_new(&options, context);
}

void front_context_set_ros_time(const void *context, int64_t nanoseconds)
{
    sinew_context_set_ros_time(context_in(context), nanoseconds);
}

void front_context_clear_ros_time(const void *context)
{
    sinew_context_clear_ros_time(context_in(context));
}

sinew_status front_context_use_sim_time(const void *context, bool wanted)
{
    return sinew_context_use_sim_time(context_in(context), wanted);
}

sinew_status front_simulator_new(const void *node, int64_t start, void **simulator)
{
    sinew_clock_publisher_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.start = start;
    options.is_paused = true;
    return sinew_clock_publisher_new(node_in(node), &options, (sinew_clock_publisher **)simulator);
}

void front_simulator_free(void *simulator)
{
    sinew_clock_publisher_free((sinew_clock_publisher *)simulator);
}

sinew_status front_simulator_publish(const void *simulator)
{
    return sinew_clock_publisher_publish((const sinew_clock_publisher *)simulator);
}

sinew_status front_simulator_step(const void *simulator, int64_t nanoseconds)
{
    return sinew_clock_publisher_step((const sinew_clock_publisher *)simulator, nanoseconds);
}

/* ---- executors and wait sets ---- */

sinew_status front_executor_add_context(const void *executor, const void *context)
{
    return sinew_executor_add_context(executor_in(executor), context_in(context));
}

sinew_status front_executor_advance(const void *executor, int64_t nanoseconds)
{
    return sinew_executor_advance(executor_in(executor), nanoseconds, NULL);
}

sinew_status front_set_add_context(const void *set, const void *context)
{
    return sinew_wait_set_add_context(set_in(set), context_in(context));
}

/* ---- callbacks ---- */

/* A callback with its context, which the library keeps. */
typedef struct closure {
    union {
        front_receive receive;
        front_passes passes;
        front_elapsed elapsed;
        front_request request;
        front_result result;
    } function;
    front_context_of context;
} closure;

static closure *closure_new(front_context_of context)
{
    closure *made = (closure *)calloc(1, sizeof *made);
    if (made == NULL) {
        abort();
    }
    made->context = context;
    return made;
}

static void closure_free(void *context)
{
    closure *self = (closure *)context;
    self->context.drop(self->context.context);
    free(self);
}

/* ---- services that are pulled ---- */

/* A number in a place that was got for it. */
static sinew_status number_in(sinew_uninit_message *uninit, const uint8_t *bytes, sinew_message **message)
{
    memcpy(sinew_uninit_message_place(uninit), bytes, sizeof(uint64_t));
    return sinew_uninit_message_assume_init(uninit, message);
}

/* Returns a number, and frees its message. */
static uint64_t number_of(sinew_message *message)
{
    uint64_t number;
    memcpy(&number, sinew_message_value(message), sizeof number);
    sinew_message_free(message);
    return number;
}

uint64_t front_server_answered(const void *server)
{
    sinew_server_statistics statistics;
    memset(&statistics, 0, sizeof statistics);
    statistics.size = sizeof statistics;
    sinew_server_read_statistics(server_in(server), &statistics);
    return statistics.answered;
}

sinew_status front_pulled_new(const void *node, const char *name, void **server)
{
    return sinew_pulled_server_new(node_in(node), name, service_type(), NULL, (sinew_pulled_server **)server);
}

void front_pulled_free(void *server)
{
    sinew_pulled_server_free((sinew_pulled_server *)server);
}

void front_pulled_close(const void *server)
{
    sinew_pulled_server_close((const sinew_pulled_server *)server);
}

void front_pulled_set_listener(const void *server, sinew_listener listener, front_context_of context)
{
    sinew_pulled_server_set_listener((const sinew_pulled_server *)server, listener, context.context, context.drop);
}

sinew_status front_pulled_take(const void *server, front_receive receive, void *context, sinew_request_key *key,
                               bool *taken)
{
    sinew_message *request = NULL;
    sinew_request_info info;
    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    sinew_status status =
        sinew_pulled_server_take_request((const sinew_pulled_server *)server, &request, &info);
    *taken = request != NULL;
    *key = info.key;
    if (request == NULL) {
        return status;
    }
    uint64_t number = number_of(request);
    return receive(context, (const uint8_t *)&number, sizeof number);
}

sinew_status front_pulled_respond(const void *server, const sinew_request_key *key, const uint8_t *bytes,
                                  size_t length)
{
    (void)length;
    const sinew_pulled_server *self = (const sinew_pulled_server *)server;
    sinew_uninit_message *uninit = NULL;
    sinew_message *response = NULL;
    sinew_status status = sinew_pulled_server_uninit_response(self, &uninit);
    if (status == SINEW_OK) {
        status = number_in(uninit, bytes, &response);
    }
    return status != SINEW_OK ? status : sinew_pulled_server_respond(self, key, response);
}

static sinew_status request_of(const sinew_client *client, const uint8_t *bytes, sinew_message **request)
{
    sinew_uninit_message *uninit = NULL;
    sinew_status status = sinew_client_uninit(client, &uninit);
    return status != SINEW_OK ? status : number_in(uninit, bytes, request);
}

static sinew_status resulted(void *context, sinew_status status, sinew_message *response)
{
    const closure *self = (const closure *)context;
    if (status != SINEW_OK) {
        return self->function.result(self->context.context, status, sinew_error_message(), NULL, 0);
    }
    uint64_t number = number_of(response);
    return self->function.result(self->context.context, status, "", (const uint8_t *)&number, sizeof number);
}

static void resulted_at_once(void *context, sinew_status status, sinew_message *response)
{
    resulted(context, status, response);
}

sinew_status front_client_call_immediately(const void *client, const uint8_t *bytes, size_t length,
                                           front_result result, front_context_of context, sinew_request_id *id)
{
    (void)length;
    closure *made = closure_new(context);
    made->function.result = result;
    sinew_message *request = NULL;
    sinew_status status = request_of(client_in(client), bytes, &request);
    if (status != SINEW_OK) {
        closure_free(made);
        return status;
    }
    return sinew_client_call_then_immediately(client_in(client), request, resulted_at_once, made, closure_free,
                                              id);
}

sinew_status front_client_send(const void *client, const uint8_t *bytes, size_t length, sinew_request_id *id)
{
    (void)length;
    sinew_message *request = NULL;
    sinew_status status = request_of(client_in(client), bytes, &request);
    return status != SINEW_OK ? status : sinew_client_send(client_in(client), request, id);
}

void front_client_set_listener(const void *client, sinew_listener listener, front_context_of context)
{
    sinew_client_set_listener(client_in(client), listener, context.context, context.drop);
}

sinew_status front_client_take(const void *client, front_result result, void *context, sinew_request_id *id,
                               bool *taken)
{
    sinew_message *response = NULL;
    sinew_response_info info;
    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    sinew_status status = sinew_client_take_response(client_in(client), taken, &response, &info);
    if (!*taken) {
        return status;
    }
    closure with;
    memset(&with, 0, sizeof with);
    with.function.result = result;
    with.context.context = context;
    *id = info.id;
    return resulted(&with, info.status, response);
}

void front_client_give_up(const void *client, const sinew_request_id *id)
{
    sinew_message *request = NULL;
    if (sinew_client_withdraw(client_in(client), *id, &request) == SINEW_OK && request != NULL) {
        sinew_message_free(request);
    }
}

#endif
