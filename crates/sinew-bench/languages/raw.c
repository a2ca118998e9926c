/* Topics and variables without nodes: ROLE SIZE NANOSECONDS CORE handles|names.
 *
 * As `src/languages/raw.rs` in Rust. With 0 nanoseconds the role is played until this process is ended. */
#include "measuring.h"
#include <sinew/sinew.h>

enum { CHUNK = 100, ROOM = 1 << 14 };

static bool by_name;
static char *data;
static size_t size;

/* A topic or variable: its handle, or only its name. */
struct end {
    const char *name;
    sinew_raw_topic *topic;
    sinew_raw_variable *variable;
    sinew_raw_master *master;
};

static void check(sinew_status status)
{
    if (status == SINEW_OK) return;
    fprintf(stderr, "%s\n", sinew_error_message());
    exit(1);
}

/* Whether there was something to read. */
static bool has_read(sinew_status status)
{
    if (status == SINEW_ERROR_TIMEOUT) return false;
    check(status);
    return true;
}

static void topic_write(const struct end *end)
{
    check(by_name ? sinew_topic_write(end->name, data, size) : sinew_raw_topic_write(end->topic, data, size));
}

static void topic_read(const struct end *end)
{
    while (!has_read(by_name ? sinew_topic_read(end->name, data, size, NULL)
                             : sinew_raw_topic_read(end->topic, data, size, NULL, NULL))) {}
}

static struct end topic(const char *name)
{
    struct end end = {.name = name};
    if (!by_name) check(sinew_raw_topic_open(NULL, name, &end.topic));
    else if (sinew_topic_read(name, NULL, 0, NULL) == SINEW_OK) exit(1); /* from now on it is read */
    return end;
}

static void variable_write(const struct end *end)
{
    check(by_name ? sinew_variable_write(end->name, data, size)
                  : sinew_raw_master_write(end->master, data, size));
}

static void variable_read(const struct end *end)
{
    while (!has_read(by_name ? sinew_variable_read(end->name, data, size, NULL)
                             : sinew_raw_variable_read(end->variable, data, size, NULL, NULL))) {}
}

enum role { PING, PONG, WRITE, READ, NONE };

static void chunk(enum role role, const struct end *there, const struct end *back, const struct end *value)
{
    for (int number = 0; number < CHUNK; number++) {
        switch (role) {
        case PING: topic_write(there), topic_read(back); break;
        case PONG: topic_read(there), topic_write(back); break;
        case WRITE: variable_write(value); break;
        default: variable_read(value); break;
        }
    }
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"ping", "pong", "write", "read"};
    enum role role = PING;
    if (argc != 6) return 2;
    end_with_parent();
    while (role < NONE && strcmp(argv[1], names[role]) != 0) role++;
    if (role == NONE) return 2;
    size = strtoul(argv[2], NULL, 10);
    data = calloc(1, size);
    const int64_t time = strtoll(argv[3], NULL, 10);
    by_name = strcmp(argv[5], "names") == 0;

    struct end there = {0}, back = {0}, value = {.name = "value"};
    if (role == PING || role == PONG) there = topic("there"), back = topic("back");
    else if (role == WRITE && !by_name) check(sinew_raw_master_open(NULL, "value", data, size, &value.master));
    else if (role == READ && !by_name) check(sinew_raw_variable_open(NULL, "value", &value.variable));
    pin_to(atoi(argv[4]));
    if (time == 0) {
        puts("null"); /* it is ready */
        fflush(stdout);
        for (;;) chunk(role, &there, &back, &value);
    }

    struct samples samples = samples_with_room_for(ROOM);
    chunk(role, &there, &back, &value); /* warms up */
    int64_t now = now_ns();
    const int64_t until = now + time;
    while (now < until) {
        const int64_t began = now;
        chunk(role, &there, &back, &value);
        now = now_ns();
        record(&samples, now - began);
    }
    print_measured(&samples, 0);
    return 0;
}
