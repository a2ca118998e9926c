/* Publishes messages of 64 bytes: `time NANOSECONDS`, or `messages COUNT`.
 *
 * As `src/languages/publish.rs` in Rust. */
#include "measuring.h"
#include <sinew/sinew.h>

enum { CHUNK = 100, ROOM = 1 << 14 };

static sinew_publisher *publisher;
static uint8_t message[64] = {0, 1};

static void check(sinew_status status)
{
    if (status == SINEW_OK) return;
    fprintf(stderr, "%s\n", sinew_error_message());
    exit(1);
}

static void publish(int64_t count)
{
    for (int64_t number = 0; number < count; number++)
        check(sinew_publisher_publish_bytes(publisher, message, sizeof message));
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    end_with_parent();
    const int64_t extent = strtoll(argv[2], NULL, 10);
    static const char hash[] = "RIHS01_0707070707070707070707070707070707070707070707070707070707070707";
    const sinew_context_options options = {.size = sizeof options, .shared_memory = SINEW_NO};
    sinew_context *context;
    sinew_node *node;
    sinew_subscription *subscription;
    const sinew_message_type *type;
    check(sinew_context_new(&options, &context));
    check(sinew_node_new(context, "node", NULL, &node));
    check(sinew_message_type_known("some_msgs/msg/Bytes", hash, &type));
    check(sinew_publisher_new(node, "bytes", type, NULL, &publisher));
    check(sinew_subscription_new(node, "bytes", type, NULL, &subscription));

    struct samples samples = samples_with_room_for(ROOM);
    if (strcmp(argv[1], "messages") == 0) {
        publish(extent);
    } else {
        publish(CHUNK); /* warms up */
        int64_t now = now_ns();
        const int64_t until = now + extent;
        while (now < until) {
            const int64_t began = now;
            publish(CHUNK);
            now = now_ns();
            record(&samples, now - began);
        }
    }
    print_measured(&samples, 0);
    return 0;
}
