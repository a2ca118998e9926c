/* What the test programs share. */
#ifndef CHECK_H
#define CHECK_H

#include <sinew/sinew.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with 1 unless the condition holds. */
#define CHECK(condition)                                                                              \
    do {                                                                                              \
        if (!(condition)) {                                                                           \
            fprintf(stderr, "%s:%d: %s (last failure: %s)\n", __FILE__, __LINE__, #condition,         \
                    sinew_error_message());                                                           \
            exit(1);                                                                                  \
        }                                                                                             \
    } while (0)

/* The call succeeds. */
#define OK(call) CHECK((call) == SINEW_OK)

/* The call fails with the status, and a sentence that contains the text. */
#define FAILS(call, status, text)                                                                     \
    do {                                                                                              \
        CHECK((call) == (status));                                                                    \
        CHECK(strstr(sinew_error_message(), (text)) != NULL);                                         \
    } while (0)

#endif
