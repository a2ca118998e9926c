/* Events of publishers and subscriptions: taken and listened to. */
#define _POSIX_C_SOURCE 200809L
#include "text.h"
#include <semaphore.h>

static sinew_node *node;
static const sinew_message_type *type;
static const uint8_t SOME[] = {0, 1, 0, 0, 1};

static sinew_publisher *publisher_with(const char *topic, const sinew_qos *qos)
{
    sinew_publisher_options options = {.size = sizeof options, .qos = qos, .keep_events = true};
    sinew_publisher *publisher = NULL;
    OK(sinew_publisher_new(node, topic, type, &options, &publisher));
    return publisher;
}

static sinew_subscription *subscription_with(const char *topic, const sinew_qos *qos)
{
    sinew_subscription_options options = {.size = sizeof options, .qos = qos, .keep_events = true};
    sinew_subscription *subscription = NULL;
    OK(sinew_subscription_new(node, topic, type, &options, &subscription));
    return subscription;
}

static void post(void *semaphore, uint64_t count)
{
    CHECK(count > 0 && sem_post(semaphore) == 0);
}

static void add(void *counted, uint64_t count)
{
    *(uint64_t *)counted += count;
}

static void dropped_one(void *counted)
{
    *(uint64_t *)counted += 1000;
}

static void matches(void)
{
    sinew_publisher *publisher = publisher_with("matches", NULL);
    uint64_t changes = 0;
    OK(sinew_publisher_set_event_listener(publisher, SINEW_EVENT_MATCHED, add, &changes, dropped_one));
    sinew_subscription *subscription = subscription_with("matches", NULL);
    CHECK(changes == 1);
    sinew_matched matched = {.size = sizeof matched};
    OK(sinew_publisher_take_matched(publisher, &matched));
    CHECK(matched.total == 1 && matched.total_change == 1 && matched.current == 1 && matched.current_change == 1);
    OK(sinew_subscription_take_matched(subscription, &matched));
    CHECK(matched.total == 1 && matched.current == 1);
    sinew_subscription_free(subscription);
    CHECK(changes == 2);
    OK(sinew_publisher_take_matched(publisher, &matched));
    CHECK(matched.total == 1 && matched.total_change == 0 && matched.current == 0 && matched.current_change == -1);
    OK(sinew_publisher_clear_event_listener(publisher, SINEW_EVENT_MATCHED));
    CHECK(changes == 1002); /* its context was dropped */
    sinew_publisher_free(publisher);
}

static void incompatible_ends(void)
{
    sinew_publisher *publisher = publisher_with("unequal", sinew_qos_sensor_data());
    sinew_subscription *subscription = subscription_with("unequal", sinew_qos_rosout());
    sinew_incompatible_qos qos = {.size = sizeof qos};
    OK(sinew_publisher_take_incompatible_qos(publisher, &qos));
    CHECK(qos.total == 1 && qos.total_change == 1 && qos.last_policy == SINEW_QOS_POLICY_RELIABILITY);
    CHECK(strstr(qos.last_reason, "/events") != NULL && strstr(qos.last_reason, "best_effort") != NULL);
    OK(sinew_subscription_take_incompatible_qos(subscription, &qos));
    CHECK(qos.total == 1 && strstr(qos.last_reason, "/events") != NULL);
    sinew_subscription_free(subscription);

    /* One name and two hashes. */
    const sinew_message_type *mine = type, *other = NULL;
    OK(sinew_message_type_known(sinew_message_type_name(type), TEXT_HASH, &other));
    type = other;
    subscription = subscription_with("unequal", sinew_qos_sensor_data());
    type = mine;
    sinew_incompatible_type types = {.size = sizeof types};
    OK(sinew_publisher_take_incompatible_type(publisher, &types));
    CHECK(types.total == 1 && types.total_change == 1);
    CHECK(strstr(types.last_reason, "RIHS01_df668c74") != NULL);
    OK(sinew_subscription_take_incompatible_type(subscription, &types));
    CHECK(types.total == 1 && strstr(types.last_reason, "RIHS01_07070707") != NULL);
    OK(sinew_publisher_publish_bytes(publisher, SOME, sizeof SOME));
    sinew_message *message = NULL;
    OK(sinew_subscription_take(subscription, &message, NULL));
    CHECK(message == NULL && sinew_publisher_subscription_count(publisher) == 0);
    sinew_subscription_free(subscription);
    sinew_publisher_free(publisher);
}

static void lost_messages(void)
{
    sinew_qos latest = {.size = sizeof latest, .depth = 1};
    sinew_publisher *publisher = publisher_with("lost", NULL);
    sinew_subscription *subscription = subscription_with("lost", &latest);
    for (int i = 0; i < 3; i++) {
        OK(sinew_publisher_publish_bytes(publisher, SOME, sizeof SOME));
    }
    sinew_message_lost lost = {.size = sizeof lost};
    OK(sinew_subscription_take_message_lost(subscription, &lost));
    CHECK(lost.total == 2 && lost.total_change == 2 && lost.undecodable == 0 && lost.last_problem[0] == 0);
    uint64_t changes = 0;
    OK(sinew_publisher_publish_bytes(publisher, SOME, sizeof SOME));
    OK(sinew_subscription_set_event_listener(subscription, SINEW_EVENT_MESSAGE_LOST, add, &changes, dropped_one));
    CHECK(changes == 1); /* since it was taken */
    sinew_subscription_free(subscription);
    CHECK(changes == 1001);
    sinew_publisher_free(publisher);
}

/* A class that can't decode what another publisher sends says why. */
static void undecodable_messages(void)
{
    static text_counts counts;
    const sinew_message_type *bytes = NULL, *mine = type;
    OK(sinew_message_type_known(TEXT_NAME, TEXT_HASH, &bytes));
    type = text_type(&counts);
    sinew_subscription *subscription = subscription_with("broken", NULL);
    type = bytes;
    sinew_publisher *publisher = publisher_with("broken", NULL);
    type = mine;
    const uint8_t hi[] = {0, 1, 0, 0, 3, 0, 0, 0, 'h', 'i', 0};
    OK(sinew_publisher_publish_bytes(publisher, hi, sizeof hi));
    sinew_message *message = NULL;
    OK(sinew_subscription_take(subscription, &message, NULL));
    CHECK(strcmp(text_of_message(message), "hi") == 0);
    sinew_message_free(message);
    OK(sinew_publisher_publish_bytes(publisher, SOME, sizeof SOME));
    OK(sinew_subscription_take(subscription, &message, NULL));
    sinew_message_lost lost = {.size = sizeof lost};
    OK(sinew_subscription_take_message_lost(subscription, &lost));
    CHECK(message == NULL && lost.total == 1 && lost.undecodable == 1);
    CHECK(strstr(lost.last_problem, "5 bytes are no text") != NULL);
    sinew_subscription_free(subscription);
    sinew_publisher_free(publisher);
}

static void deadlines_and_leases(void)
{
    sem_t missed, missed_there, expired, changed;
    CHECK(sem_init(&missed, 0, 0) == 0 && sem_init(&missed_there, 0, 0) == 0);
    CHECK(sem_init(&expired, 0, 0) == 0 && sem_init(&changed, 0, 0) == 0);
    sinew_qos qos = {.size = sizeof qos, .deadline = 1000000, .lease = 1000000};
    qos.liveliness = SINEW_LIVELINESS_MANUAL_BY_TOPIC;
    sinew_publisher *publisher = publisher_with("timed", &qos);
    sinew_subscription *subscription = subscription_with("timed", &qos);
    sinew_liveliness_changed alive = {.size = sizeof alive};
    OK(sinew_publisher_set_event_listener(publisher, SINEW_EVENT_DEADLINE_MISSED, post, &missed, NULL));
    OK(sinew_publisher_set_event_listener(publisher, SINEW_EVENT_LIVELINESS_LOST, post, &expired, NULL));
    OK(sinew_subscription_set_event_listener(subscription, SINEW_EVENT_DEADLINE_MISSED, post, &missed_there, NULL));
    OK(sinew_subscription_set_event_listener(subscription, SINEW_EVENT_LIVELINESS_CHANGED, post, &changed, NULL));
    CHECK(sem_wait(&changed) == 0); /* it came */
    OK(sinew_publisher_publish_bytes(publisher, SOME, sizeof SOME));
    CHECK(sem_wait(&missed) == 0 && sem_wait(&missed_there) == 0 && sem_wait(&expired) == 0);
    sinew_deadline_missed deadline = {.size = sizeof deadline};
    OK(sinew_publisher_take_deadline_missed(publisher, &deadline));
    CHECK(deadline.total > 0 && deadline.total_change == deadline.total);
    OK(sinew_subscription_take_deadline_missed(subscription, &deadline));
    CHECK(deadline.total > 0);
    sinew_liveliness_lost lost = {.size = sizeof lost};
    OK(sinew_publisher_take_liveliness_lost(publisher, &lost));
    CHECK(lost.total > 0);
    do {
        OK(sinew_subscription_take_liveliness_changed(subscription, &alive));
    } while (alive.not_alive == 0 && sem_wait(&changed) == 0);
    CHECK(alive.alive == 0 && alive.not_alive == 1);
    sinew_subscription_free(subscription);
    sinew_publisher_free(publisher);
}

static void bad_input(void)
{
    sinew_publisher *publisher = NULL;
    sinew_subscription *subscription = NULL;
    OK(sinew_publisher_new(node, "silent", type, NULL, &publisher));
    OK(sinew_subscription_new(node, "silent", type, NULL, &subscription));
    sinew_matched matched = {.size = sizeof matched};
    FAILS(sinew_publisher_take_matched(publisher, &matched), SINEW_ERROR_NOT_KEPT, ".keep_events");
    FAILS(sinew_subscription_take_matched(subscription, &matched), SINEW_ERROR_NOT_KEPT, "/silent");
    uint64_t dropped = 0;
    FAILS(sinew_publisher_set_event_listener(publisher, SINEW_EVENT_MATCHED, add, &dropped, dropped_one),
          SINEW_ERROR_NOT_KEPT, "publisher on /silent");
    FAILS(sinew_subscription_set_event_listener(subscription, SINEW_EVENT_MATCHED, add, &dropped, dropped_one),
          SINEW_ERROR_NOT_KEPT, "subscription on /silent");
    CHECK(dropped == 2000);
    FAILS(sinew_publisher_set_event_listener(publisher, SINEW_EVENT_MESSAGE_LOST, add, &dropped, dropped_one),
          SINEW_ERROR_INVALID_ENUMERATOR, "`event` can't be 7");
    FAILS(sinew_subscription_set_event_listener(subscription, SINEW_EVENT_LIVELINESS_LOST, add, &dropped, NULL),
          SINEW_ERROR_INVALID_ENUMERATOR, "`event` can't be 5");
    FAILS(sinew_publisher_clear_event_listener(publisher, 0), SINEW_ERROR_INVALID_ENUMERATOR, "`event`");
    FAILS(sinew_subscription_clear_event_listener(subscription, 99), SINEW_ERROR_INVALID_ENUMERATOR, "`event`");
    FAILS(sinew_publisher_set_event_listener(publisher, SINEW_EVENT_MATCHED, NULL, NULL, NULL),
          SINEW_ERROR_NULL_ARGUMENT, "`callback`");
    FAILS(sinew_publisher_take_matched(publisher, NULL), SINEW_ERROR_NULL_ARGUMENT, "`event`");
    FAILS(sinew_publisher_take_matched(NULL, &matched), SINEW_ERROR_NULL_ARGUMENT, "`publisher`");
    FAILS(sinew_publisher_take_matched((sinew_publisher *)(void *)subscription, &matched),
          SINEW_ERROR_INVALID_HANDLE, "something else");
    matched.size = 0;
    FAILS(sinew_publisher_take_matched(publisher, &matched), SINEW_ERROR_INVALID_STRUCTURE, "sinew_matched");
    sinew_subscription_free(subscription);
    sinew_publisher_free(publisher);
}

int main(void)
{
    sinew_context *context = NULL;
    OK(sinew_context_new(NULL, &context));
    OK(sinew_node_new(context, "events", NULL, &node));
    type = known_type("some_msgs/msg/Bytes");
    matches();
    incompatible_ends();
    lost_messages();
    undecodable_messages();
    deadlines_and_leases();
    bad_input();
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
