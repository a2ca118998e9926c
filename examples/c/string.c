// The newest value of a topic, with any number of writers and readers:
// `string publisher`, `string subscriber`; `string exit` ends the subscribers.
#include <sinew/sinew.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void publisher(void)
{
    char text[64];
    for (int number = 0; number < 100; number++) {
        sleep(1);
        snprintf(text, sizeof text, "greeting %d", number);
        printf("string = %s\n", text);
        sinew_topic_write("string", text, strlen(text) + 1);
    }
}

static void subscriber(void)
{
    char text[64] = "-";
    for (size_t size; text[0] != 0; usleep(100000))
        if (sinew_topic_read("string", text, sizeof text, &size) == SINEW_OK && text[0] != 0)
            printf("string = %s\n", text);
}

int main(int argc, char **argv)
{
    const char *role = argc > 1 ? argv[1] : "";
    if (strcmp(role, "publisher") == 0) publisher();
    if (strcmp(role, "subscriber") == 0) subscriber();
    if (strcmp(role, "exit") == 0) sinew_topic_write("string", "", 1);
    return 0;
}
