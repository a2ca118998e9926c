/* Log lines: levels, the macros, and what arrives in the file. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>

static int evaluated;

static int seen(int value)
{
    ++evaluated;
    return value;
}

/* Returns the text of the log file, of which there is one. The caller frees it. */
static char *log_file(void)
{
    CHECK(sinew_logging_flush(-1));
    const char *const place = getenv("ROS_LOG_DIR");
    DIR *const directory = opendir(place);
    CHECK(directory != NULL);
    char *text = NULL;
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (strncmp(entry->d_name, "of_c_", 5) != 0) {
            continue;
        }
        CHECK(text == NULL);
        char path[1024];
        CHECK(snprintf(path, sizeof path, "%s/%s", place, entry->d_name) < (int)sizeof path);
        FILE *const file = fopen(path, "r");
        CHECK(file != NULL);
        text = calloc(1, 1 << 20);
        CHECK(text != NULL && fread(text, 1, (1 << 20) - 1, file) > 0);
        fclose(file);
    }
    closedir(directory);
    CHECK(text != NULL);
    return text;
}

static size_t count(const char *text, const char *word)
{
    size_t found = 0;
    for (const char *place = strstr(text, word); place != NULL; place = strstr(place + 1, word)) {
        ++found;
    }
    return found;
}

static void *say_once(void *logger)
{
    for (int i = 0; i < 100; ++i) {
        SINEW_WARN_ONCE(logger, "one of many threads");
    }
    return NULL;
}

static void write_lines(sinew_context *context, sinew_logger *logger)
{
    SINEW_INFO(logger, "ready");
    SINEW_DEBUG(logger, "hidden %d", seen(1));
    CHECK(evaluated == 0);
    SINEW_ERROR(logger, "%s has %d of %zu", "arm", seen(3), sizeof(int));
    CHECK(evaluated == 1);
    SINEW_FATAL(logger, "gone");
    for (int i = 0; i < 3; ++i) {
        SINEW_INFO_ONCE(logger, "once %d", i);
        SINEW_INFO_SKIPFIRST(logger, "later %d", i);
    }
    OK(sinew_context_set_ros_time(context, 1000));
    for (sinew_time now = 1000; now < 1030; now += 5) {
        OK(sinew_context_set_ros_time(context, now));
        SINEW_WARN_THROTTLE(logger, 10, "throttled at %lld", (long long)now);
    }
    OK(sinew_context_clear_ros_time(context));

    static char word[4096];
    memset(word, 'w', sizeof word - 1);
    SINEW_INFO(logger, "long:%s:end", word);
    OK(sinew_log(logger, SINEW_LOG_LEVEL_WARN, NULL, NULL, 0, "not a format: %d%s"));
    OK(sinew_log(logger, SINEW_LOG_LEVEL_WARN, "file.c", "main", 7, "bad \xff bytes"));

    pthread_t threads[4];
    for (size_t i = 0; i < 4; ++i) {
        CHECK(pthread_create(&threads[i], NULL, say_once, logger) == 0);
    }
    for (size_t i = 0; i < 4; ++i) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

static void levels(sinew_logger *logger, sinew_logger *child)
{
    CHECK(sinew_logger_level(logger) == SINEW_LOG_LEVEL_INFO);
    CHECK(!sinew_logger_is_enabled(logger, SINEW_LOG_LEVEL_DEBUG));
    CHECK(sinew_logger_is_enabled(logger, SINEW_LOG_LEVEL_INFO));
    OK(sinew_logger_set_level(logger, SINEW_LOG_LEVEL_DEBUG));
    CHECK(sinew_logger_level(child) == SINEW_LOG_LEVEL_DEBUG);
    SINEW_DEBUG(child, "shown %d", seen(2));
    OK(sinew_logger_set_level(child, SINEW_LOG_LEVEL_FATAL));
    SINEW_ERROR(child, "hidden");
    CHECK(sinew_logger_level(child) == SINEW_LOG_LEVEL_FATAL);
    OK(sinew_logger_set_level(child, SINEW_LOG_LEVEL_UNSET));
    CHECK(sinew_logger_level(child) == SINEW_LOG_LEVEL_DEBUG);
    FAILS(sinew_logger_set_level(child, 11), SINEW_ERROR_INVALID_ENUMERATOR, "`level` can't be 11");
    FAILS(sinew_logger_set_level(NULL, SINEW_LOG_LEVEL_INFO), SINEW_ERROR_NULL_ARGUMENT, "`logger`");
    CHECK(!sinew_logger_is_enabled(child, 0));
}

static void bad_input_is_refused(sinew_node *node, sinew_logger *logger)
{
    sinew_logger *other = NULL;
    FAILS(sinew_logging_init(NULL), SINEW_ERROR_LOGGER_TAKEN, "");
    const sinew_logging_options wrong = {.size = sizeof wrong, .file = 3};
    FAILS(sinew_logging_init(&wrong), SINEW_ERROR_INVALID_ENUMERATOR, "`file`");
    FAILS(sinew_log(NULL, SINEW_LOG_LEVEL_INFO, "", "", 1, "text"), SINEW_ERROR_NULL_ARGUMENT, "`logger`");
    FAILS(sinew_log(logger, SINEW_LOG_LEVEL_INFO, "", "", 1, NULL), SINEW_ERROR_NULL_ARGUMENT, "`text`");
    FAILS(sinew_log(logger, 25, "", "", 1, "text"), SINEW_ERROR_INVALID_ENUMERATOR, "`level`");
    FAILS(sinew_logger_new(NULL, &other), SINEW_ERROR_NULL_ARGUMENT, "`name`");
    FAILS(sinew_logger_new("\xff", &other), SINEW_ERROR_INVALID_UTF8, "`name`");
    FAILS(sinew_logger_new("a", NULL), SINEW_ERROR_NULL_ARGUMENT, "`logger`");
    FAILS(sinew_node_logger(NULL, &other), SINEW_ERROR_NULL_ARGUMENT, "`node`");
    FAILS(sinew_logger_child(logger, NULL, &other), SINEW_ERROR_NULL_ARGUMENT, "`name`");
    CHECK(sinew_logger_name((sinew_logger *)(void *)node) == NULL);
    CHECK(!sinew_log_is_first(NULL) && !sinew_log_is_due(logger, NULL, 1));
    CHECK(other == NULL);
    sinew_logger_free(NULL);
}

int main(void)
{
    const sinew_logging_options logging = {.size = sizeof logging, .console = SINEW_NO, .file_name = "of_c"};
    OK(sinew_logging_init(&logging));
    sinew_context_options options = {.size = sizeof options, .shared_memory = SINEW_NO};
    sinew_context *context = NULL;
    OK(sinew_context_new(&options, &context));
    const sinew_node_options in_robot = {.size = sizeof in_robot, .node_namespace = "/robot"};
    sinew_node *node = NULL;
    OK(sinew_node_new(context, "arm", &in_robot, &node));
    OK(sinew_node_start_logger_services(node));
    sinew_logger *logger = NULL, *child = NULL, *named = NULL;
    OK(sinew_node_logger(node, &logger));
    OK(sinew_logger_child(logger, "hand", &child));
    OK(sinew_logger_new("calibration", &named));
    CHECK(strcmp(sinew_logger_name(logger), "robot.arm") == 0);
    CHECK(strcmp(sinew_logger_name(child), "robot.arm.hand") == 0);
    CHECK(strcmp(sinew_logger_name(named), "calibration") == 0);

    write_lines(context, logger);
    levels(logger, child);
    SINEW_WARN(named, "of no node");
    sinew_log_memory memory = {0};
    CHECK(sinew_log_is_due(named, &memory, INT64_MAX) && !sinew_log_is_due(named, &memory, INT64_MAX));
    sinew_log_memory by_clock = {0};
    CHECK(sinew_log_is_due_at(&by_clock, 0, 10) && !sinew_log_is_due_at(&by_clock, 9, 10));
    CHECK(sinew_log_is_due_at(&by_clock, 10, 10) && sinew_log_is_due_at(&by_clock, 3, 10));
    CHECK(!sinew_log_is_due_at(NULL, 0, 10));
    bad_input_is_refused(node, logger);

    char *const text = log_file();
    CHECK(strstr(text, "[robot.arm]: ready\n") != NULL);
    CHECK(strstr(text, "[ERROR]") != NULL && strstr(text, "arm has 3 of 4") != NULL);
    CHECK(strstr(text, "[FATAL]") != NULL);
    CHECK(strstr(text, "hidden") == NULL);
    CHECK(count(text, "once 0") == 1 && count(text, "once ") == 1);
    CHECK(count(text, "later ") == 2 && count(text, "later 0") == 0);
    CHECK(count(text, "throttled") == 3 && count(text, "throttled at 1000") == 1);
    CHECK(count(text, "throttled at 1010") == 1 && count(text, "throttled at 1020") == 1);
    CHECK(strstr(text, "www:end\n") != NULL && strstr(text, "not a format: %d%s\n") != NULL);
    CHECK(strstr(text, "bad \xef\xbf\xbd bytes") != NULL);
    CHECK(count(text, "one of many threads") == 1);
    CHECK(strstr(text, "[robot.arm.hand]: shown 2") != NULL);
    CHECK(strstr(text, "[WARN]") != NULL && strstr(text, "[calibration]: of no node") != NULL);
    free(text);
    sinew_logger_free(named);
    sinew_logger_free(child);
    sinew_logger_free(logger);
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
