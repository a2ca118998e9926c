/* Topics between two processes: the program starts itself again as the one that subscribes. */
#define _POSIX_C_SOURCE 200809L
#include "text.h"
#include <semaphore.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

enum { COUNT = 20, LARGE = 3000000 };

/* Only a failure of the other process lets it pass. */
static const sinew_duration PATIENCE = 60 * INT64_C(1000000000);

extern char **environ;

static sinew_context *context;
static sinew_node *node;
static text_counts counts;

static const sinew_message_type *plain_type(void)
{
    sinew_type_table table = {.size = sizeof table, .name = "std_msgs/msg/UInt32", .hash = TEXT_HASH};
    table.value_size = table.alignment = sizeof(uint32_t);
    table.is_plain = true;
    const sinew_message_type *type = NULL;
    OK(sinew_message_type_register(&table, &type));
    return type;
}

static void post(void *semaphore, uint64_t count)
{
    while (count-- > 0) {
        CHECK(sem_post(semaphore) == 0);
    }
}

static sinew_subscription *subscription_to(const char *topic, const sinew_message_type *type, bool accept_encoded,
                                           sem_t *news)
{
    CHECK(sem_init(news, 0, 0) == 0);
    sinew_qos all = {.size = sizeof all, .depth = COUNT};
    sinew_subscription_options options = {.size = sizeof options, .qos = &all, .accept_encoded = accept_encoded};
    options.listener = post;
    options.listener_context = news;
    sinew_subscription *subscription = NULL;
    OK(sinew_subscription_new(node, topic, type, &options, &subscription));
    return subscription;
}

/* Waits for a message. */
static sinew_message *next(const sinew_subscription *subscription, sem_t *news)
{
    sinew_message *message = NULL;
    sinew_message_info info = {.size = sizeof info};
    struct timespec end;
    CHECK(clock_gettime(CLOCK_REALTIME, &end) == 0);
    end.tv_sec += PATIENCE / 1000000000;
    while (message == NULL) {
        CHECK(sem_timedwait(news, &end) == 0);
        OK(sinew_subscription_take(subscription, &message, &info));
    }
    CHECK(info.transport == SINEW_TRANSPORT_SHM && info.publication_sequence == info.reception_sequence);
    return message;
}

static int subscribe(void)
{
    sem_t texts_came, encoded_came, numbers_came, bytes_came;
    const sinew_message_type *text_of_class = text_type(&counts), *plain = plain_type();
    sinew_subscription *texts = subscription_to("texts", text_of_class, false, &texts_came);
    sinew_subscription *encoded = subscription_to("texts", text_of_class, true, &encoded_came);
    sinew_subscription *numbers = subscription_to("numbers", plain, false, &numbers_came);
    sinew_subscription *bytes = subscription_to("bytes", known_type("some_msgs/msg/Bytes"), false, &bytes_came);
    for (uint32_t i = 0; i < COUNT; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "text %u", i);
        sinew_message *message = next(texts, &texts_came);
        CHECK(strcmp(text_of_message(message), expected) == 0);
        sinew_message_free(message);
        message = next(encoded, &encoded_came);
        const uint8_t *read = NULL;
        size_t length = 0;
        OK(sinew_message_encoded(message, &read, &length));
        CHECK(strcmp((const char *)read + 8, expected) == 0);
        sinew_message_free(message);
        message = next(numbers, &numbers_came);
        CHECK(*(const uint32_t *)sinew_message_value(message) == i);
        sinew_message_free(message);
    }
    CHECK(counts.decoded == COUNT);
    sinew_message *message = next(bytes, &bytes_came);
    const uint8_t *read = NULL;
    size_t length = 0;
    OK(sinew_message_encoded(message, &read, &length));
    CHECK(length == LARGE);
    for (size_t i = 4; i < LARGE; i++) {
        CHECK(read[i] == (uint8_t)(i % 251));
    }
    CHECK(!sinew_message_is_sole(message)); /* it lies in its publisher's memory */
    sinew_message_free(message);
    message = next(bytes, &bytes_came);
    CHECK(sinew_message_encoded_length(message) == 100);
    sinew_message_free(message);
    sinew_subscription_free(texts);
    sinew_subscription_free(encoded);
    sinew_subscription_free(numbers);
    sinew_subscription_free(bytes);
    return 0;
}

static sinew_publisher *publisher_on(const char *topic, const sinew_message_type *type, size_t subscriptions)
{
    sinew_publisher *publisher = NULL;
    sinew_qos all = {.size = sizeof all, .depth = COUNT};
    sinew_publisher_options options = {.size = sizeof options, .qos = &all};
    OK(sinew_publisher_new(node, topic, type, &options, &publisher));
    OK(sinew_publisher_wait_for_subscriptions(publisher, subscriptions, PATIENCE));
    return publisher;
}

static void publish(char *program)
{
    char *arguments[] = {program, "subscribe", NULL};
    pid_t child;
    CHECK(posix_spawn(&child, program, NULL, NULL, arguments, environ) == 0);
    sinew_publisher *texts = publisher_on("texts", text_type(&counts), 2);
    sinew_publisher *numbers = publisher_on("numbers", plain_type(), 1);
    sinew_publisher *bytes = publisher_on("bytes", known_type("some_msgs/msg/Bytes"), 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        char chars[32];
        snprintf(chars, sizeof chars, "text %u", i);
        OK(sinew_publisher_publish_adopted(texts, text_new(chars)));
        sinew_uninit_message *uninit = NULL;
        sinew_message *message = NULL;
        OK(sinew_publisher_uninit(numbers, &uninit));
        memcpy(sinew_uninit_message_place(uninit), &i, sizeof i);
        OK(sinew_uninit_message_assume_init(uninit, &message));
        OK(sinew_publisher_publish(numbers, message));
    }
    CHECK(counts.encoded == COUNT && counts.dropped == COUNT && counts.freed == COUNT); /* once for both */
    sinew_draft *draft = NULL;
    OK(sinew_publisher_draft(bytes, LARGE, &draft));
    uint8_t *written = sinew_draft_bytes(draft);
    memcpy(written, "\0\1\0\0", 4);
    for (size_t i = 4; i < LARGE; i++) {
        written[i] = (uint8_t)(i % 251);
    }
    OK(sinew_publisher_publish_draft(bytes, draft));
    OK(sinew_publisher_draft(bytes, LARGE, &draft));
    memcpy(sinew_draft_bytes(draft), "\0\1\0\0", 4);
    OK(sinew_draft_truncate(draft, 100));
    OK(sinew_publisher_publish_draft(bytes, draft));
    sinew_publisher_statistics statistics = {.size = sizeof statistics};
    OK(sinew_publisher_read_statistics(bytes, &statistics));
    CHECK(statistics.published == 2 && statistics.drafts == 2 && statistics.copies == 0);
    int ended = 0;
    CHECK(waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    OK(sinew_publisher_wait_for_all_acked(bytes, PATIENCE));
    sinew_publisher_free(texts);
    sinew_publisher_free(numbers);
    sinew_publisher_free(bytes);
}

int main(int argc, char **argv)
{
    OK(sinew_context_new(NULL, &context));
    OK(sinew_node_new(context, argc > 1 ? "reader" : "writer", NULL, &node));
    if (argc > 1) {
        CHECK(subscribe() == 0);
    } else {
        publish(argv[0]);
    }
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
