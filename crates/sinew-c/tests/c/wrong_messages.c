/* Pointers to messages that are none, where mistakes are looked for. */
#define _POSIX_C_SOURCE 200809L
#include "text.h"

int main(void)
{
    CHECK(setenv("SINEW_DEBUG_HANDLES", "1", 1) == 0);
    static text_counts counts;
    const sinew_message_type *type = text_type(&counts);
    sinew_message *message = NULL, *other = NULL;
    OK(sinew_message_adopt(type, text_new("hello"), &message));
    other = sinew_message_clone(message);
    sinew_message_free(message);
    CHECK(strcmp(text_of_message(other), "hello") == 0); /* one reference is left */
    void *value = NULL;
    OK(sinew_message_into_adopted(other, &value));
    CHECK(sinew_message_value(message) == NULL);
    CHECK(strstr(sinew_error_message(), "no sinew_message: it was freed") != NULL);
    sinew_message_free(message); /* is noticed */
    CHECK(strstr(sinew_error_message(), "no sinew_message: it was freed") != NULL);
    FAILS(sinew_message_duplicate((sinew_message *)value, &other), SINEW_ERROR_INVALID_HANDLE, "never returned");
    counts_are(&counts, 0, 0, 0);
    text_delete(value);

    /* A failure gives the reference back, and it counts again. */
    const uint8_t broken[] = {0, 1, 0, 0};
    OK(sinew_message_from_bytes(type, broken, sizeof broken, &message));
    FAILS(sinew_message_into_value(message, &other), SINEW_ERROR_UNDECODABLE, "4 bytes are no text");
    FAILS(sinew_message_into_adopted(message, &value), SINEW_ERROR_NOT_ADOPTED, "adopted");
    CHECK(sinew_message_encoded_length(message) == 4);
    sinew_message_free(message);
    CHECK(sinew_message_encoded_length(message) == 0);

    int foreign = 0;
    CHECK(sinew_message_type_name((const sinew_message_type *)(void *)&foreign) == NULL);
    CHECK(strstr(sinew_error_message(), "never returned the pointer") != NULL);
    return 0;
}
