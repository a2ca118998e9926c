/* The viewer of `sinew demo --languages`, a component: reads each image where the filter wrote it. The camera's images
 * have one colour; so at the end it can say how many were not as they should be. */
#include "image.h"
#include <sinew/sinew.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    sinew_node *node;
    sinew_subscription *images;
    unsigned long wrong;
} viewer;

static bool has_one_colour(const uint8_t *bytes, size_t length)
{
    size_t first = 0, count = 0;
    if (!image_pixels(bytes, length, &first, &count) || count == 0) return false;
    return memcmp(bytes + first, bytes + first + 1, count - 1) == 0; /* each byte is equal to the next */
}

static sinew_status view(void *context, sinew_message *message, const sinew_message_info *info)
{
    (void)info;
    viewer *self = context;
    const uint8_t *bytes = NULL;
    size_t length = 0;
    const sinew_status status = sinew_message_encoded(message, &bytes, &length);
    if (status == SINEW_OK && !has_one_colour(bytes, length)) self->wrong++;
    sinew_message_free(message);
    return status;
}

static sinew_status make(viewer *self, sinew_context *context, const sinew_node_request *request)
{
    sinew_node_options options = {.size = sizeof options, .request = request};
    const sinew_message_type *image = NULL;
    sinew_status status = sinew_node_new(context, "viewer", &options, &self->node);
    if (status == SINEW_OK) status = sinew_message_type_known("sensor_msgs/msg/Image", IMAGE_HASH, &image);
    if (status != SINEW_OK) return status;
    return sinew_subscription_new_with_callback(self->node, "negative", image, NULL, view, self, NULL, &self->images);
}

static void destroy(void *component)
{
    viewer *self = component;
    sinew_subscription_free(self->images);
    sinew_node_free(self->node);
    printf("%lu\n", self->wrong);
    free(self);
}

static sinew_status create(void *none, const sinew_node_request *request, void **component, const sinew_node **node)
{
    (void)none;
    viewer *self = calloc(1, sizeof *self);
    if (self == NULL) return SINEW_ERROR_NO_MEMORY;
    sinew_context *context = NULL;
    sinew_status status = sinew_node_request_context(request, &context);
    if (status == SINEW_OK) status = make(self, context, request);
    sinew_context_free(context);
    if (status != SINEW_OK) {
        destroy(self);
        return status;
    }
    *component = self;
    *node = self->node;
    return SINEW_OK;
}

/* What a container calls. */
const sinew_component_library *sinew_components(void)
{
    static const sinew_component component = {
        .size = sizeof component, .type_name = "demo::Viewer", .create = create, .destroy = destroy};
    static const sinew_component_library library = {
        .size = sizeof library, .abi = SINEW_COMPONENT_ABI, .version = sinew_version, .components = &component};
    return &library;
}
