/* The viewer of `sinew demo --languages`: reads each image where the filter wrote it. The camera's images have one
 * colour; so at the end it can say how many were not as they should be. */
#include "image.h"
#include <signal.h>
#include <sinew/sinew.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

static unsigned long wrong;

static void check(sinew_status status)
{
    if (status == SINEW_OK) return;
    fprintf(stderr, "viewer: %s\n", sinew_error_message());
    exit(1);
}

static bool has_one_colour(const uint8_t *bytes, size_t length)
{
    size_t first = 0, count = 0;
    if (!image_pixels(bytes, length, &first, &count) || count == 0) return false;
    return memcmp(bytes + first, bytes + first + 1, count - 1) == 0; /* each byte is equal to the next */
}

static sinew_status view(void *context, sinew_message *message, const sinew_message_info *info)
{
    (void)context, (void)info;
    const uint8_t *bytes = NULL;
    size_t length = 0;
    const sinew_status status = sinew_message_encoded(message, &bytes, &length);
    if (status == SINEW_OK && !has_one_colour(bytes, length)) wrong++;
    sinew_message_free(message);
    return status;
}

int main(int argc, char **argv)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* it ends with the demonstration */
    sinew_context_options options = {.size = sizeof options, .argc = argc, .argv = (const char *const *)argv};
    options.interrupts = SINEW_YES;
    sinew_context *context = NULL;
    sinew_node *node = NULL;
    sinew_subscription *subscription = NULL;
    const sinew_message_type *image = NULL;
    check(sinew_context_new(&options, &context));
    check(sinew_node_new(context, "viewer", NULL, &node));
    check(sinew_message_type_known("sensor_msgs/msg/Image", IMAGE_HASH, &image));
    check(sinew_subscription_new_with_callback(node, "negative", image, NULL, view, NULL, NULL, &subscription));
    check(sinew_spin(node));
    printf("%lu\n", wrong);
    sinew_subscription_free(subscription);
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
