/* Services of one number, in ROS 2's encoded form, for the test programs. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include "check.h"
#include <stdatomic.h>

#define HASH "RIHS01_00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

typedef struct {
    const sinew_service_type *service;
    const sinew_message_type *request;
    const sinew_message_type *response;
} numbers;

static inline numbers numbers_get(void)
{
    numbers types;
    OK(sinew_service_type_known("test_interfaces/srv/Double", HASH, &types.service));
    types.request = sinew_service_type_request(types.service);
    types.response = sinew_service_type_response(types.service);
    return types;
}

/* A message with a number. */
static inline sinew_message *number(const sinew_message_type *of, int32_t value)
{
    unsigned char bytes[8] = {0, 1, 0, 0};
    memcpy(bytes + 4, &value, 4);
    sinew_message *message = NULL;
    OK(sinew_message_from_bytes(of, bytes, sizeof bytes, &message));
    return message;
}

/* The number in a message, which is freed. */
static inline int32_t value_of(sinew_message *message)
{
    const unsigned char *bytes = NULL;
    size_t length = 0;
    OK(sinew_message_encoded(message, &bytes, &length));
    CHECK(length == 8);
    int32_t value;
    memcpy(&value, bytes + 4, 4);
    sinew_message_free(message);
    return value;
}

/* Counts that a context was dropped. */
static inline void dropped(void *context)
{
    atomic_fetch_add((atomic_int *)context, 1);
}

#endif
