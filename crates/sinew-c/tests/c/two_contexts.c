/* Two contexts in one process: in two domains they have nothing to do with each other, in one they
   meet in shared memory, as two processes do. */
#include "text.h"

#define TOPIC "numbers"

static const sinew_message_type *type;

/* A context with its node, and both ends of a topic. */
typedef struct {
    sinew_context *context;
    sinew_node *node;
    sinew_publisher *publisher;
    sinew_subscription *subscription;
} side;

static side open_side(uint32_t domain, const char *name)
{
    side made = {NULL, NULL, NULL, NULL};
    sinew_context_options options = {.size = sizeof options, .has_domain = true, .domain = domain};
    OK(sinew_context_new(&options, &made.context));
    OK(sinew_node_new(made.context, name, NULL, &made.node));
    OK(sinew_publisher_new(made.node, TOPIC, type, NULL, &made.publisher));
    OK(sinew_subscription_new(made.node, TOPIC, type, NULL, &made.subscription));
    return made;
}

static void close_side(side *self)
{
    sinew_subscription_free(self->subscription);
    sinew_publisher_free(self->publisher);
    sinew_node_free(self->node);
    sinew_context_free(self->context);
}

static void publish(const side *from, unsigned char number)
{
    const unsigned char bytes[5] = {0, 1, 0, 0, number};
    OK(sinew_publisher_publish_bytes(from->publisher, bytes, sizeof bytes));
}

/* The next message's number and the way on which it came; waits for it. */
static int take(const side *at, sinew_transport *way)
{
    sinew_message *message = NULL;
    sinew_message_info info = {.size = sizeof info};
    while (message == NULL) {
        OK(sinew_subscription_take(at->subscription, &message, &info));
    }
    const uint8_t *bytes = NULL;
    size_t length = 0;
    OK(sinew_message_encoded(message, &bytes, &length));
    CHECK(length == 5);
    int number = bytes[4];
    sinew_message_free(message);
    *way = info.transport;
    return number;
}

static void is_empty(const side *at)
{
    sinew_message *message = NULL;
    OK(sinew_subscription_take(at->subscription, &message, NULL));
    CHECK(message == NULL);
}

static void match(const side *one, const side *other)
{
    OK(sinew_publisher_wait_for_subscriptions(one->publisher, 2, -1));
    OK(sinew_publisher_wait_for_subscriptions(other->publisher, 2, -1));
    OK(sinew_subscription_wait_for_publishers(one->subscription, 2, -1));
    OK(sinew_subscription_wait_for_publishers(other->subscription, 2, -1));
}

int main(void)
{
    type = known_type("test_interfaces/msg/Number");
    sinew_transport way = 0;

    /* Of two domains. */
    side left = open_side(3, "left"), right = open_side(4, "right");
    publish(&left, 1);
    publish(&right, 2);
    CHECK(take(&left, &way) == 1 && way == SINEW_TRANSPORT_INTRA);
    CHECK(take(&right, &way) == 2 && way == SINEW_TRANSPORT_INTRA);
    CHECK(sinew_publisher_subscription_count(left.publisher) == 1);

    /* Of one domain: each gets its own message within, and the other's through shared memory. */
    side twin = open_side(3, "twin");
    match(&left, &twin);
    publish(&left, 3);
    CHECK(take(&left, &way) == 3 && way == SINEW_TRANSPORT_INTRA);
    CHECK(take(&twin, &way) == 3 && way == SINEW_TRANSPORT_SHM);
    is_empty(&right);

    /* The end of one is none of the others'. */
    OK(sinew_context_shutdown(left.context));
    const unsigned char bytes[5] = {0, 1, 0, 0, 9};
    FAILS(sinew_publisher_publish_bytes(left.publisher, bytes, sizeof bytes), SINEW_ERROR_SHUTDOWN, "shut down");
    CHECK(sinew_context_is_valid(twin.context) && sinew_context_is_valid(right.context));
    publish(&twin, 4);
    CHECK(take(&twin, &way) == 4);
    publish(&right, 5);
    CHECK(take(&right, &way) == 5);
    is_empty(&right);

    close_side(&left);
    close_side(&right);
    close_side(&twin);
    return 0;
}
