/* A class of the program: a text on the heap. A value points to itself, as strings and lists of C++ do:
   nothing may move it. */
#ifndef TEXT_H
#define TEXT_H

#include "check.h"
#include <stdatomic.h>

#define TEXT_NAME "std_msgs/msg/String"
#define TEXT_HASH "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
#define TEXT_DESCRIPTION                                                                              \
    "{\"type_description\": {\"type_name\": \"std_msgs/msg/String\", \"fields\": [{\"name\": \"data\", "  \
    "\"type\": {\"type_id\": 17, \"capacity\": 0, \"string_capacity\": 0, \"nested_type_name\": \"\"}, "  \
    "\"default_value\": \"\"}]}, \"referenced_type_descriptions\": []}"

typedef struct text {
    struct text *itself;
    char *chars;
} text;

/* How often the functions were called: their context. */
typedef struct text_counts {
    atomic_int dropped, freed, created, cloned, encoded, decoded;
    atomic_bool clone_fails;
} text_counts;

static inline void text_put(text *place, const char *chars)
{
    size_t length = strlen(chars) + 1;
    place->itself = place;
    place->chars = malloc(length);
    CHECK(place->chars != NULL);
    memcpy(place->chars, chars, length);
}

static inline text *text_new(const char *chars)
{
    text *made = malloc(sizeof *made);
    CHECK(made != NULL);
    text_put(made, chars);
    return made;
}

static inline const char *text_of(const void *value)
{
    const text *self = value;
    CHECK(self != NULL && self->itself == self);
    return self->chars;
}

static inline const char *text_of_message(const sinew_message *message)
{
    return text_of(sinew_message_value(message));
}

static inline void text_drop(void *context, void *value)
{
    text *self = value;
    CHECK(self->itself == self);
    self->itself = NULL;
    free(self->chars);
    ((text_counts *)context)->dropped++;
}

static inline void text_free(void *context, void *memory)
{
    free(memory);
    ((text_counts *)context)->freed++;
}

/* Ends a value that belongs to the program. */
static inline void text_delete(void *value)
{
    text_counts counts = {0};
    text_drop(&counts, value);
    text_free(&counts, value);
}

static inline sinew_status text_create(void *context, void *place)
{
    text_put(place, "");
    ((text_counts *)context)->created++;
    return SINEW_OK;
}

static inline sinew_status text_clone(void *context, const void *value, void *place)
{
    text_counts *counts = context;
    if (counts->clone_fails) {
        return SINEW_ERROR_NO_MEMORY;
    }
    text_put(place, text_of(value));
    counts->cloned++;
    return SINEW_OK;
}

static inline size_t text_encoded_size(void *context, const void *value)
{
    (void)context;
    return 4 + 4 + strlen(text_of(value)) + 1;
}

static inline void text_encode(void *context, const void *value, uint8_t *bytes, size_t length)
{
    const uint8_t header[] = {0, 1, 0, 0};
    uint32_t count = (uint32_t)(length - 8);
    memcpy(bytes, header, 4);
    memcpy(bytes + 4, &count, 4);
    memcpy(bytes + 8, text_of(value), count);
    ((text_counts *)context)->encoded++;
}

static inline sinew_status text_decode(void *context, const uint8_t *bytes, size_t length, void *place,
                                       bool filled, char *sentence, size_t capacity)
{
    uint32_t count = 0;
    if (length >= 8) {
        memcpy(&count, bytes + 4, 4);
    }
    if (count == 0 || count > length - 8 || bytes[8 + count - 1] != 0) {
        snprintf(sentence, capacity, "%zu bytes are no text", length);
        return SINEW_ERROR_UNDECODABLE;
    }
    if (filled) {
        free(((text *)place)->chars);
    }
    text_put(place, (const char *)bytes + 8);
    ((text_counts *)context)->decoded++;
    return SINEW_OK;
}

static inline sinew_type_table text_table(text_counts *counts)
{
    sinew_type_table table = {.size = sizeof table, .name = TEXT_NAME, .hash = TEXT_HASH};
    table.value_size = sizeof(text);
    table.alignment = _Alignof(text);
    table.context = counts;
    table.drop = text_drop;
    table.free = text_free;
    table.create = text_create;
    table.clone = text_clone;
    table.encoded_size = text_encoded_size;
    table.encode = text_encode;
    table.decode = text_decode;
    return table;
}

static inline const sinew_message_type *text_type(text_counts *counts)
{
    sinew_type_table table = text_table(counts);
    const sinew_message_type *type = NULL;
    OK(sinew_message_type_register(&table, &type));
    return type;
}

/* A type that is known by name only: its messages are bytes. */
static inline const sinew_message_type *known_type(const char *name)
{
    const sinew_message_type *type = NULL;
    OK(sinew_message_type_known(name, "RIHS01_0707070707070707070707070707070707070707070707070707070707070707", &type));
    return type;
}

static inline void counts_are(const text_counts *counts, int dropped, int freed, int cloned)
{
    if (counts->dropped != dropped || counts->freed != freed || counts->cloned != cloned) {
        fprintf(stderr, "dropped %d, freed %d, cloned %d\n", counts->dropped, counts->freed, counts->cloned);
        exit(1);
    }
}

#endif
