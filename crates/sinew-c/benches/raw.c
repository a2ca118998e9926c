/* The roles of `examples/raw_figures.rs` in C, which starts this: ROLE SIZE CHUNKS names|handles.
 *
 * Prints the nanoseconds of one operation: of a tenth of the chunks it was at most that. */
#include <sinew/sinew.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHUNK 200

static bool by_name;
static char *data;
static size_t size;

struct end {
    const char *name;
    sinew_raw_topic *topic;
    sinew_raw_variable *variable;
    sinew_raw_master *master;
};

static void check(sinew_status status)
{
    if (status != SINEW_OK) {
        fprintf(stderr, "%s\n", sinew_error_message());
        exit(1);
    }
}

static void until_there(sinew_status status, bool *is_there)
{
    *is_there = status != SINEW_ERROR_TIMEOUT;
    if (*is_there) check(status);
}

static void topic_write(const struct end *end)
{
    check(by_name ? sinew_topic_write(end->name, data, size) : sinew_raw_topic_write(end->topic, data, size));
}

static void topic_read(const struct end *end)
{
    for (bool is_there = false; !is_there;)
        until_there(by_name ? sinew_topic_read(end->name, data, size, NULL)
                            : sinew_raw_topic_read(end->topic, data, size, NULL, NULL),
                    &is_there);
}

static struct end topic(const char *name)
{
    struct end end = {.name = name};
    if (!by_name) check(sinew_raw_topic_open(NULL, name, &end.topic));
    else if (sinew_topic_read(name, NULL, 0, NULL) == SINEW_OK) exit(1);
    return end;
}

static void variable_write(const struct end *end)
{
    check(by_name ? sinew_variable_write(end->name, data, size) : sinew_raw_master_write(end->master, data, size));
}

static void variable_read(const struct end *end)
{
    for (bool is_there = false; !is_there;)
        until_there(by_name ? sinew_variable_read(end->name, data, size, NULL)
                            : sinew_raw_variable_read(end->variable, data, size, NULL, NULL),
                    &is_there);
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int ascending(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    if (argc != 5) return 2;
    enum { PING, PONG, ALONE, WRITE, READ, NONE } role = PING;
    static const char *const names[] = {"ping", "pong", "alone", "write", "read"};
    while (role < NONE && strcmp(argv[1], names[role]) != 0) role++;
    const size_t chunks = strtoul(argv[3], NULL, 10);
    size = strtoul(argv[2], NULL, 10);
    data = calloc(1, size);
    by_name = strcmp(argv[4], "names") == 0;

    struct end there = {0}, back = {0}, value = {.name = "value"};
    if (role == PING || role == PONG || role == ALONE) {
        there = topic("there");
        back = topic("back");
    } else if (role == WRITE && !by_name) check(sinew_raw_master_open(NULL, "value", data, size, &value.master));
    else if (role == READ && !by_name) check(sinew_raw_variable_open(NULL, "value", &value.variable));

    double *times = calloc(chunks + 1, sizeof *times);
    for (size_t chunk = 0; chunks == 0 || chunk <= chunks; chunk++) { /* the first one warms up */
        const double start = now_ns();
        for (int number = 0; number < CHUNK; number++) {
            if (role == PING) topic_write(&there), topic_read(&back);
            else if (role == PONG) topic_read(&there), topic_write(&back);
            else if (role == ALONE) topic_write(&there), topic_read(&there);
            else if (role == WRITE) variable_write(&value);
            else variable_read(&value);
        }
        if (chunks > 0) times[chunk] = (now_ns() - start) / CHUNK;
    }
    qsort(times + 1, chunks, sizeof *times, ascending);
    printf("%.1f\n", times[1 + chunks / 10]);
    return 0;
}
