// Writes to a queue, from which every listener gets every message: run `listener` beside it.
#include <sinew/sinew.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    sinew_queue_wait_for_reader("chatter", -1); // without a reader nothing is kept
    for (int number = 1; number <= 10; number++) {
        char text[64];
        snprintf(text, sizeof text, "Hello World: %d", number);
        if (sinew_queue_write("chatter", text, strlen(text), -1) != SINEW_OK) {
            fprintf(stderr, "%s\n", sinew_error_message());
            return 1;
        }
        printf("Publishing: '%s'\n", text);
        sleep(1);
    }
    return 0;
}
