/* The front end of C. */
#include "c_only.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- handles: those of the interface ---- */

static const sinew_context *context_in(const void *context)
{
    return context;
}

static const sinew_node *node_in(const void *node)
{
    return node;
}

static const sinew_client *client_in(const void *client)
{
    return client;
}

static const sinew_server *server_in(const void *server)
{
    return server;
}

static const sinew_executor *executor_in(const void *executor)
{
    return executor;
}

static const sinew_wait_set *set_in(const void *set)
{
    return set;
}

/* ---- messages ---- */

static sinew_status number_clone(void *context, const void *value, void *place)
{
    (void)context;
    memcpy(place, value, sizeof(uint64_t));
    return SINEW_OK;
}

/* A text as a value. */
typedef struct text {
    uint8_t *chars;
    size_t length;
} text;

static void text_drop(void *context, void *value)
{
    (void)context;
    free(((text *)value)->chars);
}

static sinew_status text_put(text *place, const uint8_t *chars, size_t length)
{
    place->length = length;
    place->chars = malloc(length + 1);
    if (place->chars == NULL) {
        return SINEW_ERROR_NO_MEMORY;
    }
    memcpy(place->chars, chars, length);
    return SINEW_OK;
}

static sinew_status text_clone(void *context, const void *value, void *place)
{
    (void)context;
    return text_put(place, ((const text *)value)->chars, ((const text *)value)->length);
}

static size_t text_encoded_size(void *context, const void *value)
{
    (void)context;
    return 4 + ((const text *)value)->length;
}

static void text_encode(void *context, const void *value, uint8_t *bytes, size_t length)
{
    (void)context;
    static const uint8_t header[4] = {0, 1, 0, 0};
    memcpy(bytes, header, sizeof header);
    memcpy(bytes + 4, ((const text *)value)->chars, length - 4);
}

static sinew_status text_decode(void *context, const uint8_t *bytes, size_t length, void *place, bool filled,
                                char *sentence, size_t capacity)
{
    (void)sentence;
    (void)capacity;
    if (length < 4) {
        return SINEW_ERROR_UNDECODABLE;
    }
    if (filled) {
        text_drop(context, place);
    }
    return text_put(place, bytes + 4, length - 4);
}

static const sinew_message_type *types[2];
static const sinew_service_type *numbers;

static void make_types(void)
{
    sinew_type_table number = {.size = sizeof number, .name = "test_msgs/msg/Number"};
    number.hash = "RIHS01_0808080808080808080808080808080808080808080808080808080808080808";
    number.value_size = sizeof(uint64_t);
    number.alignment = _Alignof(uint64_t);
    number.is_plain = true;
    number.clone = number_clone;
    sinew_type_table texts = {.size = sizeof texts, .name = "test_msgs/msg/Text"};
    texts.hash = "RIHS01_0909090909090909090909090909090909090909090909090909090909090909";
    texts.value_size = sizeof(text);
    texts.alignment = _Alignof(text);
    texts.drop = text_drop;
    texts.clone = text_clone;
    texts.encoded_size = text_encoded_size;
    texts.encode = text_encode;
    texts.decode = text_decode;
    if (sinew_message_type_register(&number, &types[FRONT_NUMBER]) != SINEW_OK ||
        sinew_message_type_register(&texts, &types[FRONT_TEXT]) != SINEW_OK ||
        sinew_service_type_new("test_msgs/srv/Numbers",
                               "RIHS01_0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a",
                               types[FRONT_NUMBER], types[FRONT_NUMBER], &numbers) != SINEW_OK) {
        abort();
    }
}

static const sinew_message_type *type_of(int type)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_types);
    return types[type];
}

static const sinew_service_type *service_type(void)
{
    type_of(FRONT_NUMBER);
    return numbers;
}

/* A message in a place that was got for it. */
static sinew_status filled(sinew_uninit_message *uninit, int type, const uint8_t *bytes, size_t length,
                           sinew_message **message)
{
    void *place = sinew_uninit_message_place(uninit);
    if (type == FRONT_NUMBER) {
        memcpy(place, bytes, sizeof(uint64_t));
    } else if (text_put(place, bytes, length) != SINEW_OK) {
        sinew_uninit_message_free(uninit);
        return SINEW_ERROR_NO_MEMORY;
    }
    return sinew_uninit_message_assume_init(uninit, message);
}

/* Hands a message's bytes over, and frees it. */
static sinew_status hand_over(sinew_message *message, front_receive receive, void *context)
{
    const void *value = sinew_message_value(message);
    sinew_status status;
    if (value == NULL) {
        status = SINEW_ERROR_NO_VALUE;
    } else if (sinew_message_type_of(message) == type_of(FRONT_NUMBER)) {
        status = receive(context, value, sizeof(uint64_t));
    } else {
        status = receive(context, ((const text *)value)->chars, ((const text *)value)->length);
    }
    sinew_message_free(message);
    return status;
}

/* ---- contexts, nodes, groups ---- */

sinew_status front_context_new(uint32_t domain, const char *directory, const void *clock, void **context)
{
    return new_context(domain, directory, clock, (sinew_context **)context);
}

void front_context_free(void *context)
{
    sinew_context_free(context);
}

void front_context_shutdown(const void *context)
{
    sinew_context_shutdown(context);
}

bool front_context_is_valid(const void *context)
{
    return sinew_context_is_valid(context);
}

sinew_status front_node_new(const void *context, const char *name, void **node)
{
    return sinew_node_new(context, name, NULL, (sinew_node **)node);
}

void front_node_free(void *node)
{
    sinew_node_free(node);
}

sinew_status front_group_new(const void *node, bool reentrant, void **group)
{
    sinew_group_options options = {.size = sizeof options};
    options.kind = reentrant ? SINEW_GROUP_REENTRANT : SINEW_GROUP_MUTUALLY_EXCLUSIVE;
    return sinew_group_new(node, &options, (sinew_group **)group);
}

void front_group_free(void *group)
{
    sinew_group_free(group);
}

void front_group_set_priority(const void *group, int32_t priority)
{
    sinew_group_set_priority(group, priority);
}

void front_group_pause(const void *group)
{
    sinew_group_pause(group);
}

void front_group_resume(const void *group)
{
    sinew_group_resume(group);
}

/* ---- events ---- */

/* A handler of events: what the endpoint's listener triggers, and what its callback reads. The
   endpoint, the guard condition's callback and the listener share it. */
typedef struct notifier {
    atomic_int references;
    front_handler handler;
    bool publishes;
    pthread_mutex_t lock;           /* of the next two */
    const void *endpoint;           /* null once it is freed */
    sinew_guard_condition *guard;
} notifier;

static void notifier_release(void *context)
{
    notifier *self = context;
    if (atomic_fetch_sub(&self->references, 1) == 1) {
        self->handler.context.drop(self->handler.context.context);
        pthread_mutex_destroy(&self->lock);
        free(self);
    }
}

/* Calls a function of publishers or of subscriptions that takes a status. */
#define TAKE(self, kind, status)                                                                      \
    ((self)->publishes ? sinew_publisher_take_##kind((self)->endpoint, status)                         \
                       : sinew_subscription_take_##kind((self)->endpoint, status))

static sinew_status take_counts(const notifier *self, front_status *status)
{
    if (self->handler.event == SINEW_EVENT_MATCHED) {
        sinew_matched event = {.size = sizeof event};
        sinew_status taken = TAKE(self, matched, &event);
        *status = (front_status){.numbers = {(int64_t)event.total, (int64_t)event.total_change,
                                             (int64_t)event.current, event.current_change}};
        return taken;
    }
    if (self->handler.event == SINEW_EVENT_DEADLINE_MISSED) {
        sinew_deadline_missed event = {.size = sizeof event};
        sinew_status taken = TAKE(self, deadline_missed, &event);
        *status = (front_status){.numbers = {(int64_t)event.total, (int64_t)event.total_change}};
        return taken;
    }
    if (self->handler.event == SINEW_EVENT_LIVELINESS_CHANGED) {
        sinew_liveliness_changed event = {.size = sizeof event};
        sinew_status taken = sinew_subscription_take_liveliness_changed(self->endpoint, &event);
        *status = (front_status){.numbers = {(int64_t)event.alive, (int64_t)event.not_alive, event.alive_change,
                                             event.not_alive_change}};
        return taken;
    }
    sinew_message_lost event = {.size = sizeof event};
    sinew_status taken = sinew_subscription_take_message_lost(self->endpoint, &event);
    *status = (front_status){.numbers = {(int64_t)event.total, (int64_t)event.total_change}};
    return taken;
}

static sinew_status notify(void *context, uint64_t count)
{
    (void)count;
    notifier *self = context;
    sinew_incompatible_qos of_qos = {.size = sizeof of_qos};
    sinew_incompatible_type of_type = {.size = sizeof of_type};
    front_status status = {.numbers = {0}};
    sinew_status taken;
    pthread_mutex_lock(&self->lock);
    if (self->endpoint == NULL) {
        pthread_mutex_unlock(&self->lock);
        return SINEW_OK;
    }
    if (self->handler.event == SINEW_EVENT_INCOMPATIBLE_QOS) {
        taken = TAKE(self, incompatible_qos, &of_qos);
        status.numbers[0] = (int64_t)of_qos.total;
        status.numbers[1] = (int64_t)of_qos.total_change;
        status.policy = of_qos.last_policy;
        status.reason = of_qos.last_reason;
    } else if (self->handler.event == SINEW_EVENT_INCOMPATIBLE_TYPE) {
        taken = TAKE(self, incompatible_type, &of_type);
        status.numbers[0] = (int64_t)of_type.total;
        status.numbers[1] = (int64_t)of_type.total_change;
        status.reason = of_type.last_reason;
    } else {
        taken = take_counts(self, &status);
    }
    pthread_mutex_unlock(&self->lock);
    return taken != SINEW_OK ? taken : self->handler.function(self->handler.context.context, &status);
}

static void changed(void *context, uint64_t count)
{
    (void)count;
    notifier *self = context;
    pthread_mutex_lock(&self->lock);
    if (self->endpoint != NULL) {
        sinew_guard_condition_trigger(self->guard);
    }
    pthread_mutex_unlock(&self->lock);
}

/* The endpoint is about to be freed. A callback that runs is not waited for. */
static void notifier_forget(notifier *self)
{
    pthread_mutex_lock(&self->lock);
    self->endpoint = NULL;
    pthread_mutex_unlock(&self->lock);
    sinew_guard_condition_free(self->guard);
    notifier_release(self);
}

/* An endpoint with its handler, if it has one. */
typedef struct endpoint {
    sinew_publisher *publisher;
    sinew_subscription *subscription;
    int type;
    notifier *notifier;
} endpoint;

static sinew_status endpoint_notify(endpoint *self, const sinew_node *node, const sinew_group *group,
                                    const front_handler *handler)
{
    if (handler->event == 0) {
        return SINEW_OK;
    }
    notifier *made = malloc(sizeof *made);
    if (made == NULL) {
        abort();
    }
    *made = (notifier){.handler = *handler, .publishes = self->publisher != NULL};
    made->endpoint = made->publishes ? (const void *)self->publisher : (const void *)self->subscription;
    pthread_mutex_init(&made->lock, NULL);
    atomic_init(&made->references, 3); /* the endpoint, the guard condition, and the listener */
    self->notifier = made;
    sinew_guard_condition_options options = {.size = sizeof options, .group = group};
    sinew_status status =
        sinew_guard_condition_new(node, &options, notify, made, notifier_release, &made->guard);
    if (status != SINEW_OK) {
        notifier_release(made); /* there is no listener */
        return status;
    }
    return made->publishes ? sinew_publisher_set_event_listener(self->publisher, handler->event, changed, made,
                                                               notifier_release)
                           : sinew_subscription_set_event_listener(self->subscription, handler->event, changed,
                                                                   made, notifier_release);
}

/* ---- publishers ---- */

sinew_status front_publisher_new(const void *node, const char *topic, int type, const sinew_qos *qos,
                                 front_handler handler, void **publisher)
{
    endpoint *made = calloc(1, sizeof *made);
    if (made == NULL) {
        abort();
    }
    made->type = type;
    sinew_publisher_options options = {.size = sizeof options, .qos = qos, .keep_events = handler.event != 0};
    sinew_status status = sinew_publisher_new(node, topic, type_of(type), &options, &made->publisher);
    if (status == SINEW_OK) {
        status = endpoint_notify(made, node, NULL, &handler);
    } else if (handler.event != 0) {
        handler.context.drop(handler.context.context);
    }
    if (status != SINEW_OK) {
        front_publisher_free(made);
        return status;
    }
    *publisher = made;
    return SINEW_OK;
}

void front_publisher_free(void *publisher)
{
    endpoint *self = publisher;
    if (self->notifier != NULL) {
        notifier_forget(self->notifier);
    }
    sinew_publisher_free(self->publisher);
    free(self);
}

sinew_status front_publisher_publish(const void *publisher, const uint8_t *bytes, size_t length)
{
    const endpoint *self = publisher;
    sinew_uninit_message *uninit = NULL;
    sinew_message *message = NULL;
    sinew_status status = sinew_publisher_uninit(self->publisher, &uninit);
    if (status == SINEW_OK) {
        status = filled(uninit, self->type, bytes, length, &message);
    }
    return status != SINEW_OK ? status : sinew_publisher_publish(self->publisher, message);
}

size_t front_publisher_subscription_count(const void *publisher)
{
    return sinew_publisher_subscription_count(((const endpoint *)publisher)->publisher);
}

uint64_t front_publisher_published(const void *publisher)
{
    sinew_publisher_statistics statistics = {.size = sizeof statistics};
    sinew_publisher_read_statistics(((const endpoint *)publisher)->publisher, &statistics);
    return statistics.published;
}

void front_publisher_assert_liveliness(const void *publisher)
{
    sinew_publisher_assert_liveliness(((const endpoint *)publisher)->publisher);
}

void front_publisher_gid(const void *publisher, sinew_gid *gid)
{
    sinew_publisher_gid(((const endpoint *)publisher)->publisher, gid);
}

/* ---- subscriptions ---- */

static sinew_status received(void *context, sinew_message *message, const sinew_message_info *info)
{
    (void)info;
    const closure *self = context;
    return hand_over(message, self->function.receive, self->context.context);
}

static bool passes(void *context, const void *value, const uint8_t *bytes, size_t length)
{
    (void)bytes;
    (void)length;
    const closure *self = context;
    return self->function.passes(self->context.context, value, sizeof(uint64_t)); /* filters of numbers */
}

sinew_status front_subscription_new(const void *node, const void *group, const char *topic,
                                    const front_subscription_options *with, void **subscription)
{
    endpoint *made = calloc(1, sizeof *made);
    if (made == NULL) {
        abort();
    }
    made->type = with->type;
    sinew_subscription_options options = {.size = sizeof options, .qos = with->qos, .group = group};
    options.owned = with->owned;
    options.ignore_own_publications = with->ignore_own_publications;
    options.keep_events = with->handler.event != 0;
    if (with->passes != NULL) {
        closure *filter = closure_new(with->passes_context);
        filter->function.passes = with->passes;
        options.filter = passes;
        options.filter_context = filter;
        options.filter_drop_context = closure_free;
    }
    sinew_status status;
    if (with->callback == NULL) {
        status = sinew_subscription_new(node, topic, type_of(with->type), &options, &made->subscription);
    } else {
        closure *callback = closure_new(with->callback_context);
        callback->function.receive = with->callback;
        status = sinew_subscription_new_with_callback(node, topic, type_of(with->type), &options, received,
                                                      callback, closure_free, &made->subscription);
    }
    if (status == SINEW_OK) {
        status = endpoint_notify(made, node, group, &with->handler);
    } else if (with->handler.event != 0) {
        with->handler.context.drop(with->handler.context.context);
    }
    if (status != SINEW_OK) {
        front_subscription_free(made);
        return status;
    }
    *subscription = made;
    return SINEW_OK;
}

void front_subscription_close(const void *subscription)
{
    const endpoint *self = subscription;
    if (self->notifier != NULL) {
        sinew_guard_condition_close(self->notifier->guard);
    }
    sinew_subscription_close(self->subscription);
}

void front_subscription_free(void *subscription)
{
    endpoint *self = subscription;
    if (self->notifier != NULL) {
        notifier_forget(self->notifier);
    }
    sinew_subscription_free(self->subscription);
    free(self);
}

sinew_status front_subscription_take(const void *subscription, front_receive receive, void *context,
                                     sinew_gid *publisher, bool *taken)
{
    sinew_message *message = NULL;
    sinew_message_info info = {.size = sizeof info};
    sinew_status status = sinew_subscription_take(((const endpoint *)subscription)->subscription, &message, &info);
    *taken = message != NULL;
    if (message != NULL) {
        *publisher = info.publisher;
        status = hand_over(message, receive, context);
    }
    return status;
}

void front_subscription_set_listener(const void *subscription, sinew_listener listener,
                                     front_context_of context)
{
    sinew_subscription_set_listener(((const endpoint *)subscription)->subscription, listener, context.context,
                                    context.drop);
}

size_t front_subscription_publisher_count(const void *subscription)
{
    return sinew_subscription_publisher_count(((const endpoint *)subscription)->subscription);
}

void front_subscription_statistics(const void *subscription, sinew_subscription_statistics *statistics)
{
    sinew_subscription_read_statistics(((const endpoint *)subscription)->subscription, statistics);
}

/* ---- timers and guard conditions ---- */

static sinew_status elapsed(void *context, const sinew_timer_info *info)
{
    const closure *self = context;
    front_timer_info about = {.due = sinew_timer_info_due(info), .actual = sinew_timer_info_actual(info)};
    about.skipped = sinew_timer_info_skipped(info);
    about.itself = info;
    return self->function.elapsed(self->context.context, &about);
}

sinew_status front_timer_new(const void *node, const void *group, int64_t period, int clock,
                             front_elapsed callback, front_context_of context, void **timer)
{
    sinew_timer_options options = {.size = sizeof options, .group = group, .clock = clock};
    closure *made = closure_new(context);
    made->function.elapsed = callback;
    return sinew_timer_new(node, period, &options, elapsed, made, closure_free, (sinew_timer **)timer);
}

void front_timer_free(void *timer)
{
    sinew_timer_free(timer);
}

void front_timer_close(const void *timer)
{
    sinew_timer_close(timer);
}

void front_timer_cancel(const void *timer)
{
    sinew_timer_cancel(timer);
}

void front_timer_reset(const void *timer)
{
    sinew_timer_reset(timer);
}

uint64_t front_timer_skipped(const void *timer)
{
    return sinew_timer_skipped(timer);
}

int front_timer_clock(const void *timer)
{
    return sinew_timer_clock(timer);
}

void front_timer_info_cancel(const void *info)
{
    sinew_timer_info_cancel(info);
}

sinew_status front_guard_new(const void *node, const void *group, front_triggered callback,
                             front_context_of context, void **guard)
{
    sinew_guard_condition_options options = {.size = sizeof options, .group = group};
    return sinew_guard_condition_new(node, &options, callback, context.context, context.drop,
                                     (sinew_guard_condition **)guard);
}

void front_guard_free(void *guard)
{
    sinew_guard_condition_free(guard);
}

void front_guard_close(const void *guard)
{
    sinew_guard_condition_close(guard);
}

void front_guard_trigger(const void *guard)
{
    sinew_guard_condition_trigger(guard);
}

/* ---- services ---- */

static sinew_status requested(void *context, sinew_message *request, const sinew_request_info *info,
                              sinew_responder *responder)
{
    (void)info;
    const closure *self = context;
    uint64_t number = number_of(request);
    return self->function.request(self->context.context, (const uint8_t *)&number, sizeof number, responder);
}

sinew_status front_server_new(const void *node, const void *group, const char *name, size_t max_requests,
                              front_request callback, front_context_of context, void **server)
{
    sinew_server_options options = {.size = sizeof options, .group = group, .max_requests = max_requests};
    closure *made = closure_new(context);
    made->function.request = callback;
    return sinew_server_new(node, name, service_type(), &options, requested, made, closure_free,
                            (sinew_server **)server);
}

void front_server_free(void *server)
{
    sinew_server_free(server);
}

sinew_status front_respond(void *responder, const uint8_t *bytes, size_t length)
{
    (void)length;
    sinew_uninit_message *uninit = NULL;
    sinew_message *response = NULL;
    sinew_status status = sinew_responder_uninit_response(responder, &uninit);
    if (status == SINEW_OK) {
        status = number_in(uninit, bytes, &response);
    }
    if (status != SINEW_OK) {
        sinew_responder_free(responder);
        return status;
    }
    return sinew_responder_respond(responder, response);
}

sinew_status front_fail(void *responder, const char *sentence)
{
    return sinew_responder_fail(responder, sentence);
}

void front_responder_free(void *responder)
{
    sinew_responder_free(responder);
}

sinew_status front_client_new(const void *node, const void *group, const char *name, void **client)
{
    sinew_client_options options = {.size = sizeof options, .group = group};
    return sinew_client_new(node, name, service_type(), &options, (sinew_client **)client);
}

void front_client_free(void *client)
{
    sinew_client_free(client);
}

bool front_client_wait_for_server(const void *client, int64_t timeout)
{
    return sinew_client_wait_for_server(client, timeout);
}

sinew_status front_client_call(const void *client, const uint8_t *bytes, size_t length, int64_t timeout,
                               front_receive receive, void *context)
{
    (void)length;
    sinew_message *request = NULL, *response = NULL;
    sinew_status status = request_of(client, bytes, &request);
    if (status == SINEW_OK) {
        status = sinew_client_call(client, request, timeout, &response);
    }
    return status != SINEW_OK ? status : hand_over(response, receive, context);
}

sinew_status front_client_call_then(const void *client, const uint8_t *bytes, size_t length,
                                    front_result result, front_context_of context)
{
    (void)length;
    closure *made = closure_new(context);
    made->function.result = result;
    sinew_message *request = NULL;
    sinew_status status = request_of(client, bytes, &request);
    if (status != SINEW_OK) {
        closure_free(made);
        return status;
    }
    return sinew_client_call_then(client, request, resulted, made, closure_free, NULL);
}

/* ---- executors and wait sets ---- */

sinew_status front_executor_new(size_t threads, int on_error, void **executor)
{
    sinew_executor_options options = {.size = sizeof options, .threads = threads, .on_error = on_error};
    options.one_per_core = threads == 0;
    return sinew_executor_new(&options, (sinew_executor **)executor);
}

void front_executor_free(void *executor)
{
    sinew_executor_free(executor);
}

sinew_status front_executor_add_node(const void *executor, const void *node)
{
    return sinew_executor_add_node(executor, node);
}

sinew_status front_executor_add_group(const void *executor, const void *group)
{
    return sinew_executor_add_group(executor, group);
}

sinew_status front_executor_spin(const void *executor)
{
    return sinew_executor_spin(executor);
}

sinew_status front_executor_spin_some(const void *executor)
{
    return sinew_executor_spin_some(executor, NULL);
}

sinew_status front_executor_spin_all(const void *executor, int64_t max)
{
    return sinew_executor_spin_all(executor, max, NULL);
}

sinew_status front_executor_descriptor(const void *executor, int *descriptor)
{
    return sinew_executor_descriptor(executor, descriptor);
}

sinew_status front_executor_stop_handle(const void *executor, void **stop)
{
    return sinew_executor_stop_handle(executor, (sinew_stop_handle **)stop);
}

sinew_status front_set_new(int on_error, void **set)
{
    sinew_wait_set_options options = {.size = sizeof options, .on_error = on_error};
    return sinew_wait_set_new(&options, (sinew_wait_set **)set);
}

void front_set_free(void *set)
{
    sinew_wait_set_free(set);
}

sinew_status front_set_add_node(const void *set, const void *node)
{
    return sinew_wait_set_add_node(set, node);
}

sinew_status front_set_add_group(const void *set, const void *group)
{
    return sinew_wait_set_add_group(set, group);
}

sinew_status front_set_add_subscription(const void *set, const void *subscription)
{
    return sinew_wait_set_add_subscription(set, ((const endpoint *)subscription)->subscription);
}

sinew_status front_set_wait(const void *set, int64_t timeout, size_t *count)
{
    return sinew_wait_set_wait(set, timeout, count);
}

sinew_status front_set_run(const void *set, size_t index)
{
    return sinew_wait_set_run(set, index, NULL);
}

bool front_set_is_subscription(const void *set, size_t index, const void *subscription)
{
    return sinew_wait_set_is_subscription(set, index, ((const endpoint *)subscription)->subscription);
}

sinew_status front_set_stop_handle(const void *set, void **stop)
{
    return sinew_wait_set_stop_handle(set, (sinew_stop_handle **)stop);
}

void front_stop(const void *stop)
{
    sinew_stop_handle_stop(stop);
}

void front_stop_free(void *stop)
{
    sinew_stop_handle_free(stop);
}
