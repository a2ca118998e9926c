/*
 * Log lines with a format as of printf: SINEW_INFO(logger, "battery at %f V", volts), with DEBUG,
 * INFO, WARN, ERROR or FATAL. The arguments are evaluated only if the line is logged. Each has
 * three more forms: SINEW_INFO_ONCE logs the first time only, SINEW_INFO_SKIPFIRST each time but
 * the first, and SINEW_INFO_THROTTLE(logger, period, ..) at most once in a period in nanoseconds.
 * Each statement of the program has its own memory.
 */
#if defined(__GNUC__)
__attribute__((format(printf, 6, 7)))
#endif
static inline void
sinew_log_printf(const sinew_logger *logger, sinew_log_level level, const char *file,
                 const char *function, uint32_t line, const char *format, ...)
{
    char usual[512];
    char *text = usual;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(usual, sizeof usual, format, arguments);
    va_end(arguments);
    if (length < 0) { /* an argument can't be written: at least the format can */
        (void)sinew_log(logger, level, file, function, line, format);
        return;
    }
    if ((size_t)length >= sizeof usual) {
        char *const longer = (char *)malloc((size_t)length + 1);
        if (longer != NULL) { /* without memory the beginning is logged */
            va_start(arguments, format);
            (void)vsnprintf(longer, (size_t)length + 1, format, arguments);
            va_end(arguments);
            text = longer;
        }
    }
    (void)sinew_log(logger, level, file, function, line, text);
    if (text != usual) {
        free(text);
    }
}

/* Logs if the level is enabled and then, looked at after that, the condition holds. */
#define SINEW_LOG_IF(logger, level, condition, ...)                                                \
    do {                                                                                           \
        if (sinew_logger_is_enabled((logger), (level)) && (condition)) {                           \
            sinew_log_printf((logger), (level), __FILE__, __func__, __LINE__, __VA_ARGS__);        \
        }                                                                                          \
    } while (0)

#define SINEW_LOG(logger, level, ...) SINEW_LOG_IF(logger, level, true, __VA_ARGS__)

#define SINEW_LOG_ONCE(logger, level, ...)                                                         \
    do {                                                                                           \
        static sinew_log_memory sinew_said = {0};                                                  \
        SINEW_LOG_IF(logger, level, sinew_log_is_first(&sinew_said), __VA_ARGS__);                 \
    } while (0)

#define SINEW_LOG_SKIPFIRST(logger, level, ...)                                                    \
    do {                                                                                           \
        static sinew_log_memory sinew_said = {0};                                                  \
        SINEW_LOG_IF(logger, level, !sinew_log_is_first(&sinew_said), __VA_ARGS__);                \
    } while (0)

#define SINEW_LOG_THROTTLE(logger, level, period, ...)                                             \
    do {                                                                                           \
        static sinew_log_memory sinew_said = {0};                                                  \
        SINEW_LOG_IF(logger, level, sinew_log_is_due((logger), &sinew_said, (period)),             \
                     __VA_ARGS__);                                                                 \
    } while (0)

#define SINEW_DEBUG(logger, ...) SINEW_LOG(logger, SINEW_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define SINEW_DEBUG_ONCE(logger, ...) SINEW_LOG_ONCE(logger, SINEW_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define SINEW_DEBUG_SKIPFIRST(logger, ...) \
    SINEW_LOG_SKIPFIRST(logger, SINEW_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define SINEW_DEBUG_THROTTLE(logger, period, ...) \
    SINEW_LOG_THROTTLE(logger, SINEW_LOG_LEVEL_DEBUG, period, __VA_ARGS__)
#define SINEW_INFO(logger, ...) SINEW_LOG(logger, SINEW_LOG_LEVEL_INFO, __VA_ARGS__)
#define SINEW_INFO_ONCE(logger, ...) SINEW_LOG_ONCE(logger, SINEW_LOG_LEVEL_INFO, __VA_ARGS__)
#define SINEW_INFO_SKIPFIRST(logger, ...) \
    SINEW_LOG_SKIPFIRST(logger, SINEW_LOG_LEVEL_INFO, __VA_ARGS__)
#define SINEW_INFO_THROTTLE(logger, period, ...) \
    SINEW_LOG_THROTTLE(logger, SINEW_LOG_LEVEL_INFO, period, __VA_ARGS__)
#define SINEW_WARN(logger, ...) SINEW_LOG(logger, SINEW_LOG_LEVEL_WARN, __VA_ARGS__)
#define SINEW_WARN_ONCE(logger, ...) SINEW_LOG_ONCE(logger, SINEW_LOG_LEVEL_WARN, __VA_ARGS__)
#define SINEW_WARN_SKIPFIRST(logger, ...) \
    SINEW_LOG_SKIPFIRST(logger, SINEW_LOG_LEVEL_WARN, __VA_ARGS__)
#define SINEW_WARN_THROTTLE(logger, period, ...) \
    SINEW_LOG_THROTTLE(logger, SINEW_LOG_LEVEL_WARN, period, __VA_ARGS__)
#define SINEW_ERROR(logger, ...) SINEW_LOG(logger, SINEW_LOG_LEVEL_ERROR, __VA_ARGS__)
#define SINEW_ERROR_ONCE(logger, ...) SINEW_LOG_ONCE(logger, SINEW_LOG_LEVEL_ERROR, __VA_ARGS__)
#define SINEW_ERROR_SKIPFIRST(logger, ...) \
    SINEW_LOG_SKIPFIRST(logger, SINEW_LOG_LEVEL_ERROR, __VA_ARGS__)
#define SINEW_ERROR_THROTTLE(logger, period, ...) \
    SINEW_LOG_THROTTLE(logger, SINEW_LOG_LEVEL_ERROR, period, __VA_ARGS__)
#define SINEW_FATAL(logger, ...) SINEW_LOG(logger, SINEW_LOG_LEVEL_FATAL, __VA_ARGS__)
#define SINEW_FATAL_ONCE(logger, ...) SINEW_LOG_ONCE(logger, SINEW_LOG_LEVEL_FATAL, __VA_ARGS__)
#define SINEW_FATAL_SKIPFIRST(logger, ...) \
    SINEW_LOG_SKIPFIRST(logger, SINEW_LOG_LEVEL_FATAL, __VA_ARGS__)
#define SINEW_FATAL_THROTTLE(logger, period, ...) \
    SINEW_LOG_THROTTLE(logger, SINEW_LOG_LEVEL_FATAL, period, __VA_ARGS__)
