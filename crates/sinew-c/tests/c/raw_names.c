/* The raw layer in its short form: alone, with other processes, over a fork, and what is said about bad input. */
#include "check.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND 1000000000LL

/* Runs a function in a forked child, which leaves by `exit`, and returns how it ended. */
static int in_child(void (*run)(void))
{
    fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        run();
        exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

/* Waits until another process has written the topic. */
static size_t topic(const char *name, void *data, size_t capacity)
{
    size_t size = 0;
    sinew_status status;
    while ((status = sinew_topic_read(name, data, capacity, &size)) == SINEW_ERROR_TIMEOUT)
        sched_yield();
    OK(status);
    return size;
}

static void topics(void)
{
    const double speed = 1.5;
    double found = 0;
    FAILS(sinew_topic_read("speed", &found, sizeof found, NULL), SINEW_ERROR_TIMEOUT, "no new value");
    OK(sinew_topic_write("speed", &speed, sizeof speed));
    OK(sinew_topic_read("speed", &found, sizeof found, NULL));
    CHECK(found == speed);
    FAILS(sinew_topic_read("speed", &found, sizeof found, NULL), SINEW_ERROR_TIMEOUT, "no new value");

    /* What doesn't fit stays, and is not put into the place by halves. */
    char text[8] = "before";
    size_t size = 0;
    OK(sinew_topic_write("text", "0123456789", 10));
    FAILS(sinew_topic_read("text", text, sizeof text, &size), SINEW_ERROR_WRONG_CAPACITY, "10 bytes and `data` 8");
    CHECK(size == 10 && strcmp(text, "before") == 0);
    FAILS(sinew_topic_read("text", text, sizeof text, NULL), SINEW_ERROR_WRONG_CAPACITY, "pass `size`");
    char longer[16];
    OK(sinew_topic_read("text", longer, sizeof longer, &size));
    CHECK(size == 10 && memcmp(longer, "0123456789", 10) == 0);
    OK(sinew_topic_write("text", "0123456789", 10));
    CHECK(sinew_topic_read("text", text, sizeof text, &size) == SINEW_ERROR_WRONG_CAPACITY);
    OK(sinew_topic_write("text", "newer", 5));
    OK(sinew_topic_read("text", text, sizeof text, &size));
    CHECK(size == 5 && memcmp(text, "newer", 5) == 0);
    CHECK(sinew_topic_read("text", text, sizeof text, &size) == SINEW_ERROR_TIMEOUT);
    /* A value of no bytes is one. */
    OK(sinew_topic_write("text", NULL, 0));
    OK(sinew_topic_read("text", NULL, 0, NULL));

    /* Larger than a slot of the ring. */
    static char many[100000], same[100000];
    memset(many, 7, sizeof many);
    OK(sinew_topic_write("large", many, sizeof many));
    OK(sinew_topic_read("large", same, sizeof same, NULL));
    CHECK(memcmp(many, same, sizeof many) == 0);
}

static void queues(void)
{
    char text[8];
    size_t size = 0;
    FAILS(sinew_queue_wait_for_reader("orders", 0), SINEW_ERROR_TIMEOUT, "no reader in time");
    OK(sinew_queue_write("orders", "lost", 4, 0)); /* nobody reads */
    FAILS(sinew_queue_read("orders", text, sizeof text, &size, 1000), SINEW_ERROR_TIMEOUT, "no message in time");
    OK(sinew_queue_wait_for_reader("orders", -1));
    OK(sinew_queue_write("orders", "soup", 4, 0));
    OK(sinew_queue_write("orders", "goose liver", 11, 0));
    OK(sinew_queue_write("orders", "fish", 4, -1));
    OK(sinew_queue_read("orders", text, sizeof text, &size, -1));
    CHECK(size == 4 && memcmp(text, "soup", 4) == 0);
    FAILS(sinew_queue_read("orders", text, sizeof text, &size, 0), SINEW_ERROR_WRONG_CAPACITY, "11 bytes");
    CHECK(size == 11);
    char longer[16];
    OK(sinew_queue_read("orders", longer, sizeof longer, &size, 0));
    CHECK(size == 11 && memcmp(longer, "goose liver", 11) == 0);
    OK(sinew_queue_read("orders", text, 4, NULL, 0));
    CHECK(memcmp(text, "fish", 4) == 0);
    for (int i = 0; i < 64; i++)
        OK(sinew_queue_write("orders", &i, sizeof i, 0));
    FAILS(sinew_queue_write("orders", "one too many", 12, 0), SINEW_ERROR_HISTORY_FULL, "`orders` is full");
    for (int i = 0, found; i < 64; i++) {
        OK(sinew_queue_read("orders", &found, sizeof found, NULL, 0));
        CHECK(found == i);
    }
}

static void variables(void)
{
    int mode = 0;
    FAILS(sinew_variable_read("mode", &mode, sizeof mode, NULL), SINEW_ERROR_TIMEOUT, "no master");
    for (int value = 3; value < 6; value++) {
        OK(sinew_variable_write("mode", &value, sizeof value));
        for (int times = 0; times < 2; times++) {
            OK(sinew_variable_read("mode", &mode, sizeof mode, NULL));
            CHECK(mode == value);
        }
    }
    char small;
    size_t size = 0;
    FAILS(sinew_variable_read("mode", &small, 1, &size), SINEW_ERROR_WRONG_CAPACITY, "4 bytes and `data` 1");
    CHECK(size == 4);
    /* With its master the value ends; a name that is not open is closed in vain. */
    OK(sinew_raw_close("mode"));
    OK(sinew_raw_close("mode"));
    CHECK(sinew_variable_read("mode", &mode, sizeof mode, NULL) == SINEW_ERROR_TIMEOUT);
}

/* A process from its first call to its end: what it wrote reaches those that read. */
static void writes_and_ends(void)
{
    OK(sinew_topic_write("from a child", "hello", 5));
}

static void sees_the_parent(void)
{
    int mode = 0;
    OK(sinew_variable_read("parent's", &mode, sizeof mode, NULL));
    CHECK(mode == 41);
    FAILS(sinew_variable_write("parent's", &mode, sizeof mode), SINEW_ERROR_MASTER_TAKEN, "already has a master");
    FAILS(sinew_queue_write("parent's", "", 0, 0), SINEW_ERROR_NAME_IN_USE, "a variable of `[u8]`");
}

static void reads_orders(void)
{
    char text[8];
    for (char number = 'a'; number < 'z'; number++) {
        OK(sinew_queue_read("to the child", text, 1, NULL, -1));
        CHECK(text[0] == number);
    }
    OK(sinew_topic_write("served", "", 1));
}

static void processes(void)
{
    char text[8];
    CHECK(sinew_topic_read("from a child", text, sizeof text, NULL) == SINEW_ERROR_TIMEOUT);
    CHECK(in_child(writes_and_ends) == 0);
    CHECK(topic("from a child", text, sizeof text) == 5);
    CHECK(memcmp(text, "hello", 5) == 0);

    const int mode = 41;
    OK(sinew_variable_write("parent's", &mode, sizeof mode));
    CHECK(in_child(sees_the_parent) == 0);
    OK(sinew_variable_write("parent's", &mode, sizeof mode));

    /* From now on it gets what the child writes, also if that ends before it is read. */
    CHECK(sinew_topic_read("served", text, sizeof text, NULL) == SINEW_ERROR_TIMEOUT);
    fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        reads_orders();
        exit(0);
    }
    OK(sinew_queue_wait_for_reader("to the child", -1));
    for (char number = 'a'; number < 'z'; number++)
        OK(sinew_queue_write("to the child", &number, 1, 60 * SECOND));
    CHECK(topic("served", text, sizeof text) == 1);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void bad_input(void)
{
    char text[4];
    FAILS(sinew_topic_write(NULL, "", 0), SINEW_ERROR_NULL_ARGUMENT, "`name` is null");
    FAILS(sinew_topic_write("bad", NULL, 1), SINEW_ERROR_NULL_ARGUMENT, "`data` is null");
    FAILS(sinew_topic_write("bad", text, SIZE_MAX), SINEW_ERROR_SHARED_MEMORY_LIMIT, "`size`");
    FAILS(sinew_topic_write("", "", 0), SINEW_ERROR_INVALID_NAME, "1 to 255");
    FAILS(sinew_topic_write("\xff", "", 0), SINEW_ERROR_INVALID_UTF8, "`name` is not UTF-8");
    FAILS(sinew_topic_read("bad", NULL, 1, NULL), SINEW_ERROR_NULL_ARGUMENT, "`data` is null");
    FAILS(sinew_queue_read(NULL, text, 4, NULL, 0), SINEW_ERROR_NULL_ARGUMENT, "`name` is null");
    FAILS(sinew_queue_join(NULL), SINEW_ERROR_NULL_ARGUMENT, "`name` is null");
    FAILS(sinew_queue_wait_for_reader(NULL, 0), SINEW_ERROR_NULL_ARGUMENT, "`name` is null");
    FAILS(sinew_queue_write("bad", NULL, 1, 0), SINEW_ERROR_NULL_ARGUMENT, "`data` is null");
    FAILS(sinew_variable_read("bad", NULL, 1, NULL), SINEW_ERROR_NULL_ARGUMENT, "`data` is null");
    FAILS(sinew_variable_write("bad", NULL, 1), SINEW_ERROR_NULL_ARGUMENT, "`data` is null");
    FAILS(sinew_raw_close(NULL), SINEW_ERROR_NULL_ARGUMENT, "`name` is null");
    OK(sinew_topic_write("bad", "", 0));
    FAILS(sinew_queue_join("bad"), SINEW_ERROR_NAME_IN_USE, "it is a topic of `[u8]`");
}

int main(void)
{
    topics();
    queues();
    variables();
    processes();
    bad_input();
    return 0;
}
