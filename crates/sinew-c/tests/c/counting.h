/* An action that counts, for the test programs: its messages as structs of C. */
#ifndef COUNTING_H
#define COUNTING_H

#include "check.h"
#include <stdatomic.h>

typedef struct {
    uint8_t goal_id[16];
    int32_t goal;
} count_request;

typedef struct {
    int8_t status;
    int32_t result;
} count_response;

typedef struct {
    uint8_t goal_id[16];
    int32_t feedback;
} count_feedback;

#define COUNT "test_interfaces/action/Count"
#define HASH_OF(digit) "RIHS01_00112233445566778899aabbccddeeff00112233445566778899aabbccddee0" digit

static inline void count_free(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static inline sinew_status count_create(void *context, void *place)
{
    (void)context;
    *(count_response *)place = (count_response){.result = -1};
    return SINEW_OK;
}

static inline size_t count_size(void *context, const void *value)
{
    (void)context;
    (void)value;
    return 12;
}

static inline void count_encode(void *context, const void *value, uint8_t *bytes, size_t length)
{
    (void)context;
    const count_response *response = value;
    CHECK(length == 12);
    memset(bytes, 0, length);
    bytes[1] = 1;
    memcpy(bytes + 4, &response->status, 1);
    memcpy(bytes + 8, &response->result, 4);
}

static inline sinew_status count_decode(void *context, const uint8_t *bytes, size_t length, void *place,
                                        bool filled, char *sentence, size_t capacity)
{
    (void)context;
    (void)filled;
    if (length < 12) {
        snprintf(sentence, capacity, "a response has 12 bytes, not %zu", length);
        return SINEW_ERROR_UNDECODABLE;
    }
    count_response *response = place;
    memcpy(&response->status, bytes + 4, 1);
    memcpy(&response->result, bytes + 8, 4);
    return SINEW_OK;
}

static inline sinew_status count_clone(void *context, const void *from, void *place)
{
    (void)context;
    *(count_response *)place = *(const count_response *)from;
    return SINEW_OK;
}

static inline const sinew_message_type *count_type(sinew_type_table table)
{
    table.size = sizeof table;
    table.free = count_free;
    const sinew_message_type *type = NULL;
    OK(sinew_message_type_register(&table, &type));
    return type;
}

/* The parts; a response is copied by its clone function, or else by its encoded form. */
static inline sinew_action_parts count_parts(bool clones)
{
    sinew_action_parts parts = {
        .size = sizeof parts,
        .name = COUNT,
        .send_goal_hash = HASH_OF("1"),
        .get_result_hash = HASH_OF("2"),
        .request_goal_id = offsetof(count_request, goal_id),
        .request_goal = offsetof(count_request, goal),
        .response_status = offsetof(count_response, status),
        .response_result = offsetof(count_response, result),
        .feedback_goal_id = offsetof(count_feedback, goal_id),
        .feedback_feedback = offsetof(count_feedback, feedback),
    };
    parts.request = count_type((sinew_type_table){
        .name = COUNT "_SendGoal_Request",
        .hash = HASH_OF("3"),
        .value_size = sizeof(count_request),
        .alignment = 4,
        .is_plain = true,
    });
    parts.response = count_type((sinew_type_table){
        .name = COUNT "_GetResult_Response",
        .hash = HASH_OF("4"),
        .value_size = sizeof(count_response),
        .alignment = 4,
        .create = count_create,
        .clone = clones ? count_clone : NULL,
        .encoded_size = count_size,
        .encode = count_encode,
        .decode = count_decode,
    });
    parts.feedback = count_type((sinew_type_table){
        .name = COUNT "_FeedbackMessage",
        .hash = HASH_OF("5"),
        .value_size = sizeof(count_feedback),
        .alignment = 4,
        .is_plain = true,
    });
    return parts;
}

/* A message with a copy of the value. */
static inline sinew_message *adopted(const sinew_message_type *of, const void *value, size_t size)
{
    void *memory = malloc(size);
    CHECK(memory != NULL);
    memcpy(memory, value, size);
    sinew_message *message = NULL;
    OK(sinew_message_adopt(of, memory, &message));
    return message;
}

static inline sinew_message *a_goal(const sinew_action_parts *parts, int32_t goal)
{
    const count_request request = {.goal = goal};
    return adopted(parts->request, &request, sizeof request);
}

static inline sinew_message *a_result(const sinew_action_parts *parts, int32_t result)
{
    const count_response response = {.result = result};
    return adopted(parts->response, &response, sizeof response);
}

static inline sinew_message *some_feedback(const sinew_action_parts *parts, int32_t number)
{
    const count_feedback feedback = {.feedback = number};
    return adopted(parts->feedback, &feedback, sizeof feedback);
}

static inline void dropped(void *context)
{
    atomic_fetch_add((atomic_int *)context, 1);
}

#endif
