/* The raw layer in its explicit form: handles, spaces, threads, and what is said about bad input. */
#include "check.h"

#include <pthread.h>
#include <sched.h>

#define MANY 1000

/* Of this process, as another process would be: a space of its own. */
static sinew_raw_space *other;

/* Until a thread of the library has connected the two spaces, a read finds nothing. */
#define ARRIVES(read)                                                                                 \
    do {                                                                                              \
        sinew_status arrived;                                                                         \
        while ((arrived = (read)) == SINEW_ERROR_TIMEOUT)                                             \
            sched_yield();                                                                            \
        OK(arrived);                                                                                  \
    } while (0)

static void topics(void)
{
    sinew_raw_topic *speed = NULL, *seen = NULL;
    OK(sinew_raw_topic_open(NULL, "speed", &speed));
    OK(sinew_raw_topic_open(other, "speed", &seen));
    double value = 2.5, found = 0;
    sinew_raw_origin origin = {0, 0};
    OK(sinew_raw_topic_write(speed, &value, sizeof value));
    ARRIVES(sinew_raw_topic_read(seen, &found, sizeof found, NULL, &origin));
    CHECK(found == 2.5 && origin.stamp > 0 && origin.writer != 0 && origin.writer != sinew_raw_space_id(other));
    FAILS(sinew_raw_topic_read(seen, &found, sizeof found, NULL, &origin), SINEW_ERROR_TIMEOUT, "no new value");
    size_t size = 0;
    OK(sinew_raw_topic_write(seen, "text", 4));
    char text[4];
    sinew_status status;
    while ((status = sinew_raw_topic_read(speed, text, 2, &size, NULL)) == SINEW_ERROR_TIMEOUT ||
           (status == SINEW_ERROR_WRONG_CAPACITY && size == sizeof value)) /* its own first value */
        sched_yield();
    FAILS(status, SINEW_ERROR_WRONG_CAPACITY, "4 bytes and `data` 2");
    CHECK(size == 4);
    OK(sinew_raw_topic_read(speed, text, sizeof text, &size, &origin));
    CHECK(size == 4 && memcmp(text, "text", 4) == 0 && origin.writer == sinew_raw_space_id(other));
    /* A handle that comes late has the last value. */
    sinew_raw_topic *late = NULL;
    OK(sinew_raw_topic_open(NULL, "speed", &late));
    OK(sinew_raw_topic_read(late, text, sizeof text, NULL, NULL));
    sinew_raw_topic_free(late);
    sinew_raw_topic_free(seen);
    sinew_raw_topic_free(speed);
    FAILS(sinew_raw_topic_write(speed, text, 1), SINEW_ERROR_INVALID_HANDLE, "it was freed");
    FAILS(sinew_raw_topic_read(speed, text, 1, NULL, NULL), SINEW_ERROR_INVALID_HANDLE, "`topic` is no sinew_raw_topic");
}

static void *reads_all(void *queue)
{
    for (int i = 0; i < MANY; i++) {
        int found = -1;
        OK(sinew_raw_queue_read(queue, &found, sizeof found, NULL, -1, NULL));
        CHECK(found == i);
    }
    return NULL;
}

static void queues(void)
{
    sinew_raw_queue *writing = NULL, *reading = NULL;
    sinew_raw_queue_options options = {.size = sizeof options, .capacity = 4, .patience = -1};
    OK(sinew_raw_queue_open(NULL, "orders", &options, &writing));
    OK(sinew_raw_queue_open(other, "orders", NULL, &reading));
    FAILS(sinew_raw_queue_wait_for_reader(writing, 0), SINEW_ERROR_TIMEOUT, "no reader in time");
    OK(sinew_raw_queue_join(reading));
    OK(sinew_raw_queue_wait_for_reader(writing, -1));
    for (int i = 0; i < 4; i++)
        OK(sinew_raw_queue_write(writing, &i, sizeof i, 0));
    FAILS(sinew_raw_queue_write(writing, "", 1, 0), SINEW_ERROR_HISTORY_FULL, "has 4 messages to read");
    sinew_raw_origin origin = {0, 0};
    size_t size = 0;
    char small;
    FAILS(sinew_raw_queue_read(reading, &small, 1, &size, 0, &origin), SINEW_ERROR_WRONG_CAPACITY, "4 bytes");
    CHECK(size == 4 && origin.writer == 0);
    for (int i = 0; i < 4; i++) {
        int found = -1;
        OK(sinew_raw_queue_read(reading, &found, sizeof found, &size, 0, &origin));
        CHECK(found == i && size == sizeof i && origin.writer != 0);
    }
    FAILS(sinew_raw_queue_read(reading, &small, 1, NULL, 0, NULL), SINEW_ERROR_TIMEOUT, "no message in time");

    /* A thread that waits to read keeps none from writing by the same handle. */
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, reads_all, reading) == 0);
    for (int i = 0; i < MANY; i++)
        OK(sinew_raw_queue_write(writing, &i, sizeof i, -1));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, reads_all, reading) == 0);
    sinew_raw_queue *same = reading;
    for (int i = 0; i < MANY; i++)
        OK(sinew_raw_queue_write(same, &i, sizeof i, -1));
    CHECK(pthread_join(thread, NULL) == 0);

    options.patience = 1;
    sinew_raw_queue *strict = NULL;
    OK(sinew_raw_queue_open(NULL, "orders", &options, &strict));
    sinew_status status = SINEW_OK;
    for (int i = 0; i < 10; i++) /* the reader is cut off, and the queue full no more */
        OK(sinew_raw_queue_write(strict, &i, sizeof i, -1));
    int found;
    while ((status = sinew_raw_queue_read(reading, &found, sizeof found, NULL, 0, NULL)) == SINEW_OK)
        continue;
    CHECK(status == SINEW_ERROR_CUT_OFF && strstr(sinew_error_message(), "cut this reader") != NULL);

    sinew_raw_queue_free(strict);
    sinew_raw_queue_free(reading);
    sinew_raw_queue_free(writing);
    FAILS(sinew_raw_queue_join(reading), SINEW_ERROR_INVALID_HANDLE, "it was freed");
    FAILS(sinew_raw_queue_wait_for_reader(NULL, 0), SINEW_ERROR_NULL_ARGUMENT, "`queue` is null");
    FAILS(sinew_raw_queue_write(NULL, "", 1, 0), SINEW_ERROR_NULL_ARGUMENT, "`queue` is null");
    FAILS(sinew_raw_queue_read(NULL, NULL, 0, NULL, 0, NULL), SINEW_ERROR_NULL_ARGUMENT, "`queue` is null");
    options.size = 1;
    FAILS(sinew_raw_queue_open(NULL, "orders", &options, &writing), SINEW_ERROR_INVALID_STRUCTURE, "`.size = sizeof");
}

static void variables(void)
{
    sinew_raw_variable *mode = NULL;
    sinew_raw_master *master = NULL, *second = NULL;
    OK(sinew_raw_variable_open(other, "mode", &mode));
    int found = 0, value = 1;
    FAILS(sinew_raw_variable_read(mode, &found, sizeof found, NULL, NULL), SINEW_ERROR_TIMEOUT, "no master");
    OK(sinew_raw_master_open(NULL, "mode", &value, sizeof value, &master));
    ARRIVES(sinew_raw_variable_read(mode, &found, sizeof found, NULL, NULL));
    CHECK(found == 1);
    value = 2;
    OK(sinew_raw_master_write(master, &value, sizeof value));
    sinew_raw_origin origin = {0, 0};
    size_t size = 0;
    OK(sinew_raw_variable_read(mode, &found, sizeof found, &size, &origin));
    CHECK(found == 2 && size == sizeof found && origin.stamp > 0);
    FAILS(sinew_raw_variable_read_newer(mode, &found, sizeof found, NULL, NULL), SINEW_ERROR_TIMEOUT, "wasn't read");
    value = 3;
    OK(sinew_raw_master_write(master, &value, sizeof value));
    FAILS(sinew_raw_variable_read_newer(mode, &found, 1, &size, NULL), SINEW_ERROR_WRONG_CAPACITY, "4 bytes");
    OK(sinew_raw_variable_read_newer(mode, &found, sizeof found, NULL, &origin));
    CHECK(found == 3 && origin.stamp > 0);
    FAILS(sinew_raw_variable_read_newer(mode, &found, sizeof found, NULL, NULL), SINEW_ERROR_TIMEOUT, "wasn't read");
    FAILS(sinew_raw_master_open(other, "mode", &value, sizeof value, &second), SINEW_ERROR_MASTER_TAKEN, "already has a master");
    FAILS(sinew_raw_master_open(NULL, "mode", NULL, 1, &second), SINEW_ERROR_NULL_ARGUMENT, "`data` is null");
    sinew_raw_master_free(master);
    while (sinew_raw_variable_read(mode, &found, sizeof found, NULL, NULL) == SINEW_OK)
        sched_yield(); /* until the end of the master is noticed */
    FAILS(sinew_raw_variable_read(mode, &found, sizeof found, NULL, NULL), SINEW_ERROR_TIMEOUT, "no master");
    sinew_raw_variable_free(mode);
    FAILS(sinew_raw_master_write(master, &value, sizeof value), SINEW_ERROR_INVALID_HANDLE, "it was freed");
    FAILS(sinew_raw_variable_read(mode, &found, 1, NULL, NULL), SINEW_ERROR_INVALID_HANDLE, "it was freed");
    FAILS(sinew_raw_variable_read_newer(NULL, &found, 1, NULL, NULL), SINEW_ERROR_NULL_ARGUMENT, "`variable` is null");
}

static void bad_input(void)
{
    sinew_raw_topic *topic = NULL;
    sinew_raw_queue *queue = NULL;
    sinew_raw_variable *variable = NULL;
    FAILS(sinew_raw_topic_open(NULL, "t", NULL), SINEW_ERROR_NULL_ARGUMENT, "`topic` is null");
    FAILS(sinew_raw_topic_open(NULL, NULL, &topic), SINEW_ERROR_NULL_ARGUMENT, "`name` is null");
    FAILS(sinew_raw_topic_open(NULL, "", &topic), SINEW_ERROR_INVALID_NAME, "1 to 255");
    FAILS(sinew_raw_queue_open(NULL, "q", NULL, NULL), SINEW_ERROR_NULL_ARGUMENT, "`queue` is null");
    FAILS(sinew_raw_variable_open(NULL, "v", NULL), SINEW_ERROR_NULL_ARGUMENT, "`variable` is null");
    FAILS(sinew_raw_space_join(NULL, NULL), SINEW_ERROR_NULL_ARGUMENT, "`space` is null");
    sinew_raw_space_options options = {.size = sizeof options, .directory = "/proc/no such place"};
    sinew_raw_space *space = NULL;
    CHECK(sinew_raw_space_join(&options, &space) != SINEW_OK && space == NULL);
    CHECK(strstr(sinew_error_message(), "/proc/no such place") != NULL);
    /* Handles of another kind. */
    OK(sinew_raw_topic_open(NULL, "t", &topic));
    FAILS(sinew_raw_queue_join((sinew_raw_queue *)(void *)topic), SINEW_ERROR_INVALID_HANDLE, "something else");
    FAILS(sinew_raw_queue_open(NULL, "t", NULL, &queue), SINEW_ERROR_NAME_IN_USE, "it is a topic");
    FAILS(sinew_raw_variable_open((sinew_raw_space *)(void *)topic, "v", &variable), SINEW_ERROR_INVALID_HANDLE, "`space`");
    CHECK(sinew_raw_space_id(NULL) == 0);
    sinew_raw_topic_free(topic);
    sinew_raw_topic_free(NULL);
    sinew_raw_queue_free(NULL);
    sinew_raw_variable_free(NULL);
    sinew_raw_master_free(NULL);
    sinew_raw_space_free(NULL);
}

int main(void)
{
    sinew_raw_space_options options = {.size = sizeof options};
    OK(sinew_raw_space_join(&options, &other));
    CHECK(sinew_raw_space_id(other) != 0);
    topics();
    queues();
    variables();
    bad_input();
    sinew_raw_space_free(other);
    return 0;
}
