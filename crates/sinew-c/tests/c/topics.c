/* Publishers and subscriptions in one process. */
#include "text.h"

static sinew_context *context;
static sinew_node *node;
static const sinew_message_type *bytes_type;
static const uint8_t SOME[] = {0, 1, 0, 0, 1, 2, 3, 4};

static sinew_publisher *publisher_on(const char *topic, const sinew_message_type *type)
{
    sinew_publisher *publisher = NULL;
    OK(sinew_publisher_new(node, topic, type, NULL, &publisher));
    return publisher;
}

static sinew_subscription *subscription_to(const char *topic, const sinew_message_type *type, bool owned)
{
    sinew_subscription_options options = {.size = sizeof options, .owned = owned};
    sinew_subscription *subscription = NULL;
    OK(sinew_subscription_new(node, topic, type, &options, &subscription));
    return subscription;
}

static sinew_message *take(const sinew_subscription *subscription)
{
    sinew_message *message = NULL;
    OK(sinew_subscription_take(subscription, &message, NULL));
    return message;
}

static uint64_t published(const sinew_publisher *publisher)
{
    sinew_publisher_statistics statistics = {.size = sizeof statistics};
    OK(sinew_publisher_read_statistics(publisher, &statistics));
    return statistics.published;
}

static void encoded_bytes(void)
{
    sinew_publisher *publisher = publisher_on("bytes", bytes_type);
    sinew_subscription *subscription = subscription_to("bytes", bytes_type, false);
    CHECK(take(subscription) == NULL);
    OK(sinew_publisher_publish_bytes(publisher, SOME, sizeof SOME));
    sinew_message *message = NULL;
    sinew_message_info info = {.size = sizeof info};
    OK(sinew_subscription_take(subscription, &message, &info));
    const uint8_t *bytes = NULL;
    size_t length = 0;
    OK(sinew_message_encoded(message, &bytes, &length));
    CHECK(length == sizeof SOME && memcmp(bytes, SOME, length) == 0);
    CHECK(sinew_message_type_of(message) == bytes_type);
    sinew_gid gid;
    OK(sinew_publisher_gid(publisher, &gid));
    CHECK(memcmp(&info.publisher, &gid, sizeof gid) == 0 && info.transport == SINEW_TRANSPORT_INTRA);
    CHECK(info.publication_sequence == 1 && info.reception_sequence == 1);
    CHECK(info.source_time > 0 && info.reception_time >= info.source_time && info.latency >= 0);
    sinew_message_free(message);

    static uint8_t large[3000000] = {0, 1}; /* more than any slot */
    large[sizeof large - 1] = 77;
    OK(sinew_publisher_publish_bytes(publisher, large, sizeof large));
    message = take(subscription);
    OK(sinew_message_encoded(message, &bytes, &length));
    CHECK(length == sizeof large && bytes[length - 1] == 77);
    sinew_message_free(message);

    FAILS(sinew_publisher_publish_bytes(publisher, SOME, 3), SINEW_ERROR_UNDECODABLE, "header of 4 bytes");
    FAILS(sinew_publisher_publish_bytes(publisher, NULL, 8), SINEW_ERROR_NULL_ARGUMENT, "`bytes`");
    FAILS(sinew_publisher_publish_bytes(NULL, SOME, 8), SINEW_ERROR_NULL_ARGUMENT, "`publisher`");
    info.size = 2;
    OK(sinew_publisher_publish_bytes(publisher, SOME, sizeof SOME));
    FAILS(sinew_subscription_take(subscription, &message, &info), SINEW_ERROR_INVALID_STRUCTURE, "sinew_message_info");
    FAILS(sinew_subscription_take(subscription, NULL, NULL), SINEW_ERROR_NULL_ARGUMENT, "`message`");
    message = take(subscription); /* it was not lost */
    CHECK(message != NULL);
    OK(sinew_publisher_publish(publisher, message)); /* on it goes */
    sinew_message_free(take(subscription));
    sinew_subscription_statistics statistics = {.size = sizeof statistics};
    OK(sinew_subscription_read_statistics(subscription, &statistics));
    CHECK(statistics.received == 4 && statistics.taken == 4 && statistics.waiting == 0);
    CHECK(published(publisher) == 4);
    sinew_subscription_free(subscription);
    sinew_publisher_free(publisher);
}

/* The value of a unique_ptr reaches the subscription at its address. */
static void values_move(void)
{
    static text_counts counts;
    const sinew_message_type *type = text_type(&counts);
    sinew_publisher *publisher = publisher_on("texts", type);
    sinew_subscription *one = subscription_to("texts", type, true);
    CHECK(sinew_publisher_message_type(publisher) == type && sinew_subscription_message_type(one) == type);
    text *value = text_new("hello");
    OK(sinew_publisher_publish_adopted(publisher, value));
    sinew_message *message = take(one);
    void *taken = NULL;
    OK(sinew_message_into_adopted(message, &taken));
    CHECK(taken == value && strcmp(text_of(taken), "hello") == 0);
    counts_are(&counts, 0, 0, 0);

    /* Two owners: one gets the value, one a copy. */
    sinew_subscription *two = subscription_to("texts", type, true);
    OK(sinew_publisher_adopt(publisher, value, &message));
    OK(sinew_publisher_publish(publisher, message));
    sinew_message *first = take(one), *second = take(two);
    CHECK((sinew_message_value(first) == value) != (sinew_message_value(second) == value));
    CHECK(sinew_message_is_sole(first) && sinew_message_is_sole(second));
    counts_are(&counts, 0, 0, 1);
    sinew_message_free(first);
    sinew_message_free(second);
    counts_are(&counts, 2, 1, 1);
    sinew_subscription_free(two);

    /* The program keeps its own value. */
    text mine;
    text_put(&mine, "mine");
    OK(sinew_publisher_publish_value(publisher, &mine));
    message = take(one);
    CHECK(strcmp(text_of_message(message), "mine") == 0 && sinew_message_value(message) != &mine);
    sinew_message_free(message);
    counts_are(&counts, 3, 1, 2);
    text_drop(&counts, &mine);
    counts.dropped--;

    /* A loan keeps what the last one left. */
    OK(sinew_publisher_loan(publisher, &message));
    CHECK(sinew_message_value_mut(message) != NULL);
    OK(sinew_publisher_publish(publisher, message));
    sinew_message_free(take(one));
    CHECK(counts.created <= 1);

    sinew_uninit_message *uninit = NULL;
    OK(sinew_publisher_uninit(publisher, &uninit));
    text_put(sinew_uninit_message_place(uninit), "placed");
    OK(sinew_uninit_message_assume_init(uninit, &message));
    OK(sinew_publisher_publish(publisher, message));
    message = take(one);
    CHECK(strcmp(text_of_message(message), "placed") == 0);
    sinew_message_free(message);
    FAILS(sinew_publisher_publish_value(publisher, NULL), SINEW_ERROR_NULL_ARGUMENT, "`value`");
    FAILS(sinew_publisher_publish_adopted(publisher, NULL), SINEW_ERROR_NULL_ARGUMENT, "`value`");
    sinew_subscription_free(one);
    sinew_publisher_free(publisher);
}

static void drafts(void)
{
    sinew_publisher *publisher = publisher_on("drafts", bytes_type);
    sinew_subscription *subscription = subscription_to("drafts", bytes_type, false);
    sinew_draft *draft = NULL;
    OK(sinew_publisher_draft(publisher, 100, &draft));
    CHECK(sinew_draft_length(draft) == 100);
    uint8_t *bytes = sinew_draft_bytes(draft);
    memcpy(bytes, SOME, sizeof SOME);
    FAILS(sinew_draft_truncate(draft, 101), SINEW_ERROR_INVALID_DRAFT, "100 bytes can't be truncated to 101");
    OK(sinew_draft_truncate(draft, sizeof SOME));
    CHECK(sinew_draft_length(draft) == sizeof SOME && sinew_draft_bytes(draft) == bytes);
    OK(sinew_publisher_publish_draft(publisher, draft));
    FAILS(sinew_publisher_publish_draft(publisher, draft), SINEW_ERROR_INVALID_HANDLE, "was freed");
    sinew_message *message = take(subscription);
    const uint8_t *read = NULL;
    size_t length = 0;
    OK(sinew_message_encoded(message, &read, &length));
    CHECK(read == bytes && length == sizeof SOME); /* where it was written */
    sinew_message_free(message);
    OK(sinew_publisher_draft(publisher, 3, &draft));
    FAILS(sinew_publisher_publish_draft(publisher, draft), SINEW_ERROR_UNDECODABLE, "header of 4 bytes");
    OK(sinew_publisher_draft(publisher, 100, &draft));
    sinew_draft_free(draft);
    sinew_draft_free(NULL);
    CHECK(take(subscription) == NULL && published(publisher) == 1);
    FAILS(sinew_publisher_draft(publisher, SIZE_MAX / 4, &draft), SINEW_ERROR_NO_MEMORY, "/drafts");
    sinew_subscription_free(subscription);
    sinew_publisher_free(publisher);
}

static void poor_types(void)
{
    sinew_type_table table = {.size = sizeof table, .name = "number", .value_size = 4, .alignment = 4};
    const sinew_message_type *type = NULL;
    OK(sinew_message_type_register(&table, &type));
    sinew_publisher *publisher = publisher_on("numbers", type);
    int number = 7;
    sinew_draft *draft = NULL;
    sinew_message *message = NULL;
    FAILS(sinew_publisher_draft(publisher, 8, &draft), SINEW_ERROR_UNENCODABLE, "number has no encoded form");
    FAILS(sinew_publisher_publish_bytes(publisher, SOME, 8), SINEW_ERROR_UNENCODABLE, "number has no encoded");
    FAILS(sinew_publisher_publish_value(publisher, &number), SINEW_ERROR_NO_CLONE, "number has no clone");
    FAILS(sinew_publisher_publish_adopted(publisher, &number), SINEW_ERROR_INVALID_TYPE_TABLE, "no free");
    FAILS(sinew_publisher_adopt(publisher, &number, &message), SINEW_ERROR_INVALID_TYPE_TABLE, "no free");
    FAILS(sinew_publisher_loan(publisher, &message), SINEW_ERROR_INVALID_TYPE_TABLE, "no create");
    sinew_subscription_options options = {.size = sizeof options, .owned = true};
    sinew_subscription *subscription = NULL;
    FAILS(sinew_subscription_new(node, "numbers", type, &options, &subscription), SINEW_ERROR_NO_CLONE, "number");
    sinew_publisher_free(publisher);
}

/* Messages that can't be published are gone all the same. */
static void refused_messages(void)
{
    static text_counts counts;
    const sinew_message_type *type = text_type(&counts);
    sinew_publisher *publisher = publisher_on("refusing", bytes_type);
    sinew_message *message = NULL;
    OK(sinew_message_adopt(type, text_new("lost"), &message));
    FAILS(sinew_publisher_publish(publisher, message), SINEW_ERROR_OTHER_TYPE, TEXT_NAME);
    counts_are(&counts, 1, 1, 0);
    OK(sinew_message_adopt(type, text_new("lost"), &message));
    FAILS(sinew_publisher_publish(NULL, message), SINEW_ERROR_NULL_ARGUMENT, "`publisher`");
    counts_are(&counts, 2, 2, 0);
    FAILS(sinew_publisher_publish(publisher, NULL), SINEW_ERROR_NULL_ARGUMENT, "`message`");
    sinew_publisher_free(publisher);

    /* A full history of ends that keep all refuses one more. */
    sinew_qos all = {.size = sizeof all, .history = SINEW_HISTORY_KEEP_ALL, .max_samples = 1};
    all.max_blocking_time = 1;
    sinew_publisher_options options = {.size = sizeof options, .qos = &all, .has_pool_capacity = true};
    sinew_subscription_options others = {.size = sizeof others, .qos = &all};
    sinew_subscription *subscription = NULL;
    OK(sinew_publisher_new(node, "full", type, &options, &publisher));
    OK(sinew_subscription_new(node, "full", type, &others, &subscription));
    OK(sinew_publisher_publish_adopted(publisher, text_new("kept")));
    FAILS(sinew_publisher_publish_adopted(publisher, text_new("lost")), SINEW_ERROR_HISTORY_FULL, "");
    counts_are(&counts, 3, 3, 0);
    sinew_message_free(take(subscription));
    counts_are(&counts, 4, 4, 0);
    sinew_subscription_free(subscription);
    sinew_publisher_free(publisher);
}

static sinew_status refuse_long_texts(void *counts, const void *value, char *sentence, size_t capacity)
{
    (void)counts;
    size_t length = strlen(text_of(value));
    if (length > 5) {
        snprintf(sentence, capacity, "%zu characters are more than 5", length);
        return SINEW_ERROR_UNENCODABLE;
    }
    return SINEW_OK;
}

/* A value without an encoded form is not published, in whatever form. */
static void checked_values(void)
{
    text_counts counts = {0};
    sinew_type_table table = text_table(&counts);
    table.check = refuse_long_texts;
    const sinew_message_type *type = NULL;
    OK(sinew_message_type_register(&table, &type));
    sinew_publisher *publisher = NULL;
    sinew_subscription *subscription = NULL;
    OK(sinew_publisher_new(node, "checked", type, NULL, &publisher));
    OK(sinew_subscription_new(node, "checked", type, NULL, &subscription));
    text *value = text_new("longer");
    const char *problem = "6 characters are more than 5";
    FAILS(sinew_publisher_publish_value(publisher, value), SINEW_ERROR_UNENCODABLE, problem);
    counts_are(&counts, 0, 0, 0);
    FAILS(sinew_publisher_publish_adopted(publisher, value), SINEW_ERROR_UNENCODABLE, problem);
    counts_are(&counts, 1, 1, 0);
    sinew_message *message = NULL;
    OK(sinew_message_adopt(type, text_new("longer"), &message));
    FAILS(sinew_publisher_publish(publisher, message), SINEW_ERROR_UNENCODABLE, problem);
    counts_are(&counts, 2, 2, 0);
    OK(sinew_publisher_publish_adopted(publisher, text_new("short")));
    OK(sinew_subscription_take(subscription, &message, NULL));
    CHECK(strcmp(text_of_message(message), "short") == 0);
    sinew_message_free(message);
    OK(sinew_subscription_take(subscription, &message, NULL));
    CHECK(message == NULL && counts.encoded == 0);
    sinew_subscription_free(subscription);
    sinew_publisher_free(publisher);
}

static void drop_flag(void *dropped)
{
    ++*(int *)dropped;
}

static bool is_long(void *least, const void *value, const uint8_t *bytes, size_t length)
{
    CHECK(bytes == NULL && length == 0);
    return strlen(text_of(value)) >= *(size_t *)least;
}

static bool is_odd(void *unused, const void *value, const uint8_t *bytes, size_t length)
{
    (void)unused;
    CHECK(value == NULL && length > 4);
    return bytes[4] % 2 == 1;
}

static void filters(void)
{
    static text_counts counts;
    const sinew_message_type *type = text_type(&counts);
    static size_t least = 3;
    sinew_publisher *publisher = publisher_on("filtered", type);
    sinew_subscription_options options = {.size = sizeof options, .filter = is_long, .filter_context = &least};
    sinew_subscription *subscription = NULL;
    OK(sinew_subscription_new(node, "filtered", type, &options, &subscription));
    OK(sinew_publisher_publish_adopted(publisher, text_new("no")));
    OK(sinew_publisher_publish_adopted(publisher, text_new("yes")));
    sinew_message *message = take(subscription);
    CHECK(strcmp(text_of_message(message), "yes") == 0 && take(subscription) == NULL);
    sinew_message_free(message);
    sinew_subscription_free(subscription);
    sinew_publisher_free(publisher);

    int dropped = 0;
    options.filter = is_odd;
    options.filter_context = &dropped;
    options.filter_drop_context = drop_flag;
    publisher = publisher_on("odd", bytes_type);
    OK(sinew_subscription_new(node, "odd", bytes_type, &options, &subscription));
    const uint8_t even[] = {0, 1, 0, 0, 2};
    OK(sinew_publisher_publish_bytes(publisher, even, sizeof even));
    OK(sinew_publisher_publish_bytes(publisher, SOME, sizeof SOME));
    message = take(subscription);
    CHECK(sinew_message_encoded_length(message) == sizeof SOME && take(subscription) == NULL);
    sinew_message_free(message);
    sinew_subscription_free(subscription);
    sinew_publisher_free(publisher);
    CHECK(dropped == 1);
}

typedef struct count {
    uint64_t news;
    int dropped;
} count;

static void count_news(void *counted, uint64_t news)
{
    ((count *)counted)->news += news;
}

static void count_drop(void *counted)
{
    ((count *)counted)->dropped++;
}

static void listeners(void)
{
    count one = {0, 0}, two = {0, 0};
    sinew_publisher *publisher = publisher_on("news", bytes_type);
    sinew_subscription_options options = {.size = sizeof options, .listener = count_news};
    options.listener_context = &one;
    options.listener_drop_context = count_drop;
    sinew_subscription *subscription = NULL;
    OK(sinew_subscription_new(node, "news", bytes_type, &options, &subscription));
    OK(sinew_publisher_publish_bytes(publisher, SOME, sizeof SOME));
    OK(sinew_publisher_publish_bytes(publisher, SOME, sizeof SOME));
    CHECK(one.news == 2 && one.dropped == 0);
    OK(sinew_subscription_set_listener(subscription, count_news, &two, count_drop));
    CHECK(one.dropped == 1 && two.news == 2); /* those that wait */
    OK(sinew_publisher_publish_bytes(publisher, SOME, sizeof SOME));
    CHECK(two.news == 3);
    OK(sinew_subscription_clear_listener(subscription));
    CHECK(two.dropped == 1);
    FAILS(sinew_subscription_set_listener(subscription, NULL, &two, count_drop), SINEW_ERROR_NULL_ARGUMENT,
          "`callback`");
    CHECK(two.dropped == 2);
    FAILS(sinew_subscription_set_listener(NULL, count_news, &two, count_drop), SINEW_ERROR_NULL_ARGUMENT,
          "`subscription`");
    CHECK(two.dropped == 3);
    sinew_subscription_free(subscription);
    sinew_publisher_free(publisher);
}

static sinew_status never_called(void *unused, sinew_message *message, const sinew_message_info *info)
{
    (void)unused;
    (void)message;
    (void)info;
    exit(1);
}

/* Whatever fails, contexts are dropped: each once. */
static void failures_drop_contexts(void)
{
    int dropped = 0;
    sinew_subscription_options options = {.size = sizeof options, .filter = is_odd, .listener = count_news};
    options.filter_context = options.listener_context = &dropped;
    options.filter_drop_context = options.listener_drop_context = drop_flag;
    sinew_subscription *subscription = NULL;
    FAILS(sinew_subscription_new(node, "no spaces", bytes_type, &options, &subscription),
          SINEW_ERROR_INVALID_NAME, "no spaces");
    CHECK(dropped == 2);
    FAILS(sinew_subscription_new_with_callback(NULL, "t", bytes_type, &options, never_called, &dropped, drop_flag,
                                               &subscription),
          SINEW_ERROR_NULL_ARGUMENT, "`node`");
    CHECK(dropped == 5);
    FAILS(sinew_subscription_new_with_callback(node, "t", bytes_type, &options, NULL, &dropped, drop_flag,
                                               &subscription),
          SINEW_ERROR_NULL_ARGUMENT, "`callback`");
    CHECK(dropped == 8);
    options.message_info = 7;
    FAILS(sinew_subscription_new(node, "t", bytes_type, &options, &subscription),
          SINEW_ERROR_INVALID_ENUMERATOR, "`message_info` can't be 7");
    CHECK(dropped == 10);
    options.message_info = SINEW_DEFAULT;
    FAILS(sinew_subscription_new(node, "t", bytes_type, &options, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`subscription`");
    CHECK(dropped == 12);
    options.group = (const sinew_group *)(const void *)node;
    FAILS(sinew_subscription_new(node, "t", bytes_type, &options, &subscription), SINEW_ERROR_INVALID_HANDLE,
          "`group` is no sinew_group");
    CHECK(dropped == 14);
    FAILS(sinew_subscription_new(node, NULL, bytes_type, NULL, &subscription), SINEW_ERROR_NULL_ARGUMENT, "`topic`");
    FAILS(sinew_subscription_new(node, "t", NULL, NULL, &subscription), SINEW_ERROR_NULL_ARGUMENT, "`message_type`");
    sinew_publisher *publisher = NULL;
    FAILS(sinew_publisher_new(NULL, "t", bytes_type, NULL, &publisher), SINEW_ERROR_NULL_ARGUMENT, "`node`");
    FAILS(sinew_publisher_new(node, NULL, bytes_type, NULL, &publisher), SINEW_ERROR_NULL_ARGUMENT, "`topic`");
    FAILS(sinew_publisher_new(node, "t", NULL, NULL, &publisher), SINEW_ERROR_NULL_ARGUMENT, "`message_type`");
    FAILS(sinew_publisher_new(node, "t", bytes_type, NULL, NULL), SINEW_ERROR_NULL_ARGUMENT, "`publisher`");
    /* A callback lives as long as its subscription. */
    OK(sinew_subscription_new_with_callback(node, "t", bytes_type, NULL, never_called, &dropped, drop_flag,
                                            &subscription));
    sinew_subscription_free(subscription);
    CHECK(dropped == 15);
}

/* The other options, the counts, and the end. */
static void the_rest(void)
{
    sinew_publisher *publisher = publisher_on("rest", bytes_type);
    CHECK(strcmp(sinew_publisher_topic(publisher), "/rest") == 0);
    FAILS(sinew_publisher_wait_for_subscriptions(publisher, 1, 0), SINEW_ERROR_TIMEOUT, "0 of 1 subscriptions to /rest");
    sinew_subscription_options options = {.size = sizeof options, .ignore_own_publications = true};
    options.topic_statistics_period = 3600 * INT64_C(1000000000);
    options.topic_statistics_topic = "ages";
    sinew_subscription *deaf = NULL, *subscription = NULL;
    OK(sinew_subscription_new(node, "rest", bytes_type, &options, &deaf));
    options = (sinew_subscription_options){.size = sizeof options, .accept_encoded = true};
    OK(sinew_subscription_new(node, "rest", bytes_type, &options, &subscription));
    CHECK(strcmp(sinew_subscription_topic(subscription), "/rest") == 0);
    OK(sinew_publisher_wait_for_subscriptions(publisher, 1, -1));
    OK(sinew_subscription_wait_for_publishers(subscription, 1, -1));
    FAILS(sinew_subscription_wait_for_publishers(subscription, 2, 0), SINEW_ERROR_TIMEOUT, "1 of 2 publishers");
    OK(sinew_publisher_publish_bytes(publisher, SOME, sizeof SOME));
    CHECK(take(deaf) == NULL);
    sinew_message_free(take(subscription));
    OK(sinew_publisher_wait_for_all_acked(publisher, 0));
    OK(sinew_publisher_assert_liveliness(publisher));
    size_t before = sinew_publisher_subscription_count(publisher);
    CHECK(!sinew_subscription_is_closed(subscription));
    OK(sinew_subscription_close(subscription));
    CHECK(sinew_subscription_is_closed(subscription));
    CHECK(sinew_publisher_subscription_count(publisher) == before - 1);
    sinew_subscription_free(subscription);
    sinew_subscription_free(subscription); /* is noticed */
    CHECK(strstr(sinew_error_message(), "was freed") != NULL);
    sinew_subscription_free(deaf);

    OK(sinew_context_shutdown(context));
    FAILS(sinew_publisher_publish_bytes(publisher, SOME, sizeof SOME), SINEW_ERROR_SHUTDOWN, "shut down");
    FAILS(sinew_subscription_new(node, "late", bytes_type, NULL, &subscription), SINEW_ERROR_SHUTDOWN, "shut down");
    sinew_publisher_free(publisher);
    sinew_publisher_free(NULL);
}

int main(void)
{
    OK(sinew_context_new(NULL, &context));
    OK(sinew_node_new(context, "topics", NULL, &node));
    bytes_type = known_type("some_msgs/msg/Bytes");
    encoded_bytes();
    values_move();
    drafts();
    poor_types();
    refused_messages();
    checked_values();
    filters();
    listeners();
    failures_drop_contexts();
    the_rest();
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
