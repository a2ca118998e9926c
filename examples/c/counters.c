// Two variables that one process writes and any number reads:
// `counters master`, `counters even`, `counters odd`.
#include <sinew/sinew.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void master(void)
{
    for (int even = 0, odd = 1; even < 200; even += 2, odd += 2) {
        if (sinew_variable_write("even", &even, sizeof even) != SINEW_OK ||
            sinew_variable_write("odd", &odd, sizeof odd) != SINEW_OK) {
            puts(sinew_error_message()); // there is a master already
            return;
        }
        printf("even = %d, odd = %d\n", even, odd);
        sleep(1);
    }
}

static void reader(const char *name)
{
    // Without a master there is no value: the readers end with it.
    for (int value; sinew_variable_read(name, &value, sizeof value, NULL) == SINEW_OK; usleep(100000))
        printf("%s = %d\n", name, value);
    puts(sinew_error_message());
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "master") == 0) master();
    else if (argc > 1) reader(argv[1]);
    return 0;
}
