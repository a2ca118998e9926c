/* A front end as the conformance scenarios use it: functions over what a program of C or C++ has. A
   message is its bytes: a number's 8, in this machine's order, or a text's. Handles are opaque and
   each front end makes its own. `drop` ends a context, as everywhere in the library. */
#ifndef FRONT_H
#define FRONT_H

#include <sinew/sinew.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Types of messages. */
#define FRONT_NUMBER 0
#define FRONT_TEXT 1

/* Gets a message's bytes. */
typedef sinew_status (*front_receive)(void *context, const uint8_t *bytes, size_t length);

/* A context of a callback, and its end. */
typedef struct front_context_of {
    void *context;
    sinew_drop drop;
} front_context_of;

/* A status of an endpoint; each event has its own numbers. */
typedef struct front_status {
    int64_t numbers[4];
    uint32_t policy;
    const char *reason;
} front_status;

typedef sinew_status (*front_event)(void *context, const front_status *status);

/* The event that an endpoint notifies of; 0: none. */
typedef struct front_handler {
    int event;
    front_event function;
    front_context_of context;
} front_handler;

typedef struct front_timer_info {
    int64_t due;
    int64_t actual;
    uint64_t skipped;
    const void *itself; /* for `front_timer_info_cancel` */
} front_timer_info;

typedef sinew_status (*front_elapsed)(void *context, const front_timer_info *info);
typedef sinew_status (*front_triggered)(void *context, uint64_t count);
typedef bool (*front_passes)(void *context, const uint8_t *bytes, size_t length);

/* Gets a request. The responder is its own; it is answered once, or freed. */
typedef sinew_status (*front_request)(void *context, const uint8_t *bytes, size_t length, void *responder);

/* Gets the result of a call: a response, or a failure with its sentence. */
typedef sinew_status (*front_result)(void *context, sinew_status status, const char *sentence,
                                     const uint8_t *bytes, size_t length);

typedef struct front_subscription_options {
    int type;
    const sinew_qos *qos;
    bool owned;
    bool ignore_own_publications;
    front_handler handler;
    front_passes passes; /* null: all pass */
    front_context_of passes_context;
    front_receive callback; /* null: messages are taken */
    front_context_of callback_context;
} front_subscription_options;

/* The sentence of this thread's last failure. */
const char *front_error(void);
/* A callback that fails returns this. */
sinew_status front_failed(const char *sentence);

sinew_status front_clock_new(void **clock);
void front_clock_free(void *clock);
void front_clock_advance(const void *clock, int64_t nanoseconds);
void front_clock_set(const void *clock, int64_t nanoseconds);

/* Without a directory, without shared memory. `clock` may be null. */
sinew_status front_context_new(uint32_t domain, const char *directory, const void *clock, void **context);
void front_context_free(void *context);
void front_context_shutdown(const void *context);
bool front_context_is_valid(const void *context);
void front_context_set_ros_time(const void *context, int64_t nanoseconds);
void front_context_clear_ros_time(const void *context);
sinew_status front_context_use_sim_time(const void *context, bool wanted);

sinew_status front_node_new(const void *context, const char *name, void **node);
void front_node_free(void *node);

sinew_status front_group_new(const void *node, bool reentrant, void **group);
void front_group_free(void *group);
void front_group_set_priority(const void *group, int32_t priority);
void front_group_pause(const void *group);
void front_group_resume(const void *group);

sinew_status front_publisher_new(const void *node, const char *topic, int type, const sinew_qos *qos,
                                 front_handler handler, void **publisher);
void front_publisher_free(void *publisher);
sinew_status front_publisher_publish(const void *publisher, const uint8_t *bytes, size_t length);
size_t front_publisher_subscription_count(const void *publisher);
uint64_t front_publisher_published(const void *publisher);
void front_publisher_assert_liveliness(const void *publisher);
void front_publisher_gid(const void *publisher, sinew_gid *gid);

/* `group` is null for the node's own. */
sinew_status front_subscription_new(const void *node, const void *group, const char *topic,
                                    const front_subscription_options *options, void **subscription);
void front_subscription_free(void *subscription);
void front_subscription_close(const void *subscription);
/* Hands over the next message, if there is one. */
sinew_status front_subscription_take(const void *subscription, front_receive receive, void *context,
                                     sinew_gid *publisher, bool *taken);
void front_subscription_set_listener(const void *subscription, sinew_listener listener,
                                     front_context_of context);
size_t front_subscription_publisher_count(const void *subscription);
void front_subscription_statistics(const void *subscription, sinew_subscription_statistics *statistics);

/* Simulated time, which stands until it is moved. */
sinew_status front_simulator_new(const void *node, int64_t start, void **simulator);
void front_simulator_free(void *simulator);
sinew_status front_simulator_publish(const void *simulator);
sinew_status front_simulator_step(const void *simulator, int64_t nanoseconds);

sinew_status front_timer_new(const void *node, const void *group, int64_t period, int clock,
                             front_elapsed callback, front_context_of context, void **timer);
void front_timer_free(void *timer);
void front_timer_close(const void *timer);
void front_timer_cancel(const void *timer);
void front_timer_reset(const void *timer);
uint64_t front_timer_skipped(const void *timer);
int front_timer_clock(const void *timer);
void front_timer_info_cancel(const void *info);

sinew_status front_guard_new(const void *node, const void *group, front_triggered callback,
                             front_context_of context, void **guard);
void front_guard_free(void *guard);
void front_guard_close(const void *guard);
void front_guard_trigger(const void *guard);

/* A service from numbers to numbers. */
sinew_status front_server_new(const void *node, const void *group, const char *name, size_t max_requests,
                              front_request callback, front_context_of context, void **server);
void front_server_free(void *server);
uint64_t front_server_answered(const void *server);
sinew_status front_respond(void *responder, const uint8_t *bytes, size_t length);
sinew_status front_fail(void *responder, const char *text);
void front_responder_free(void *responder);

/* A server without a callback. */
sinew_status front_pulled_new(const void *node, const char *name, void **server);
void front_pulled_free(void *server);
void front_pulled_close(const void *server);
void front_pulled_set_listener(const void *server, sinew_listener listener, front_context_of context);
sinew_status front_pulled_take(const void *server, front_receive receive, void *context, sinew_request_key *key,
                               bool *taken);
sinew_status front_pulled_respond(const void *server, const sinew_request_key *key, const uint8_t *bytes,
                                  size_t length);

sinew_status front_client_new(const void *node, const void *group, const char *name, void **client);
void front_client_free(void *client);
bool front_client_wait_for_server(const void *client, int64_t timeout);
sinew_status front_client_call(const void *client, const uint8_t *bytes, size_t length, int64_t timeout,
                               front_receive receive, void *context);
/* In the client's group. */
sinew_status front_client_call_then(const void *client, const uint8_t *bytes, size_t length,
                                    front_result result, front_context_of context);
/* On whatever thread brings the result. */
sinew_status front_client_call_immediately(const void *client, const uint8_t *bytes, size_t length,
                                           front_result result, front_context_of context,
                                           sinew_request_id *id);
void front_client_give_up(const void *client, const sinew_request_id *id);

/* Results that are taken. */
sinew_status front_client_send(const void *client, const uint8_t *bytes, size_t length, sinew_request_id *id);
void front_client_set_listener(const void *client, sinew_listener listener, front_context_of context);
/* Hands over the next result, if there is one. */
sinew_status front_client_take(const void *client, front_result result, void *context, sinew_request_id *id,
                               bool *taken);

sinew_status front_executor_new(size_t threads, int on_error, void **executor);
void front_executor_free(void *executor);
sinew_status front_executor_add_context(const void *executor, const void *context);
sinew_status front_executor_add_node(const void *executor, const void *node);
sinew_status front_executor_add_group(const void *executor, const void *group);
sinew_status front_executor_spin(const void *executor);
sinew_status front_executor_spin_some(const void *executor);
sinew_status front_executor_spin_all(const void *executor, int64_t max);
sinew_status front_executor_advance(const void *executor, int64_t nanoseconds);
sinew_status front_executor_descriptor(const void *executor, int *descriptor);
sinew_status front_executor_stop_handle(const void *executor, void **stop);

sinew_status front_set_new(int on_error, void **set);
void front_set_free(void *set);
sinew_status front_set_add_context(const void *set, const void *context);
sinew_status front_set_add_node(const void *set, const void *node);
sinew_status front_set_add_group(const void *set, const void *group);
sinew_status front_set_add_subscription(const void *set, const void *subscription);
sinew_status front_set_wait(const void *set, int64_t timeout, size_t *count);
sinew_status front_set_run(const void *set, size_t index);
bool front_set_is_subscription(const void *set, size_t index, const void *subscription);
sinew_status front_set_stop_handle(const void *set, void **stop);

void front_stop(const void *stop);
void front_stop_free(void *stop);

#ifdef __cplusplus
}
#endif

#endif
