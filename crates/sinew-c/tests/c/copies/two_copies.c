/* Two copies of the library in one process: each has its own contexts, which meet as those of two
 * processes. */
#include "other.h"

int main(void)
{
    void *other = other_copy();
    OTHER(sinew_version);
    OTHER(sinew_context_new);
    OTHER(sinew_node_new);
    OTHER(sinew_message_type_known);
    OTHER(sinew_subscription_new);
    OTHER(sinew_subscription_take);
    OTHER(sinew_message_free);
    OTHER(sinew_subscription_free);
    OTHER(sinew_node_free);
    OTHER(sinew_context_free);
    CHECK(other_sinew_version() != sinew_version()); // each copy has a text of its own
    CHECK(strcmp(other_sinew_version(), sinew_version()) == 0);

    const char *hash = "RIHS01_0000000000000000000000000000000000000000000000000000000000000001";
    sinew_context *context = NULL, *other_context = NULL;
    sinew_node *node = NULL, *other_node = NULL;
    const sinew_message_type *type = NULL, *other_type = NULL;
    sinew_publisher *publisher = NULL;
    sinew_subscription *subscription = NULL;
    OK(sinew_context_new(NULL, &context));
    OK(other_sinew_context_new(NULL, &other_context));
    OK(sinew_node_new(context, "one", NULL, &node));
    OK(other_sinew_node_new(other_context, "other", NULL, &other_node));
    OK(sinew_message_type_known("demo_msgs/msg/Word", hash, &type));
    OK(other_sinew_message_type_known("demo_msgs/msg/Word", hash, &other_type));
    OK(sinew_publisher_new(node, "words", type, NULL, &publisher));
    OK(other_sinew_subscription_new(other_node, "words", other_type, NULL, &subscription));
    OK(sinew_publisher_wait_for_subscriptions(publisher, 1, -1));
    const uint8_t bytes[8] = {0, 1, 0, 0, 7, 0, 0, 0};
    OK(sinew_publisher_publish_bytes(publisher, bytes, sizeof bytes));
    sinew_message *message = NULL;
    while (message == NULL) // it is in shared memory already
        (void)other_sinew_subscription_take(subscription, &message, NULL);
    other_sinew_message_free(message);
    other_sinew_subscription_free(subscription);
    other_sinew_node_free(other_node);
    other_sinew_context_free(other_context);
    sinew_publisher_free(publisher);
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
