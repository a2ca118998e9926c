// Prints the messages of a queue, until none comes for 5 s: run `talker` beside it.
#include <sinew/sinew.h>
#include <stdio.h>

int main(void)
{
    char text[64];
    size_t size;
    sinew_status status;
    while ((status = sinew_queue_read("chatter", text, sizeof text, &size, 5000000000)) == SINEW_OK)
        printf("I heard: '%.*s'\n", (int)size, text);
    puts(sinew_error_message());
    return status == SINEW_ERROR_TIMEOUT ? 0 : 1;
}
