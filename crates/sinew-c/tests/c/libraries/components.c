/* A shared library with components, right or wrong as the compiler's options say. */
#include <sinew/sinew.h>
#include <stdlib.h>

#ifndef ABI
#define ABI SINEW_COMPONENT_ABI
#endif

/* The node is the component. */
static sinew_status make_lidar(void *name, const sinew_node_request *request, void **component,
                               const sinew_node **node)
{
    sinew_node_options options = {.size = sizeof options, .request = request};
    sinew_context *context = NULL;
    sinew_node *made = NULL;
    sinew_status status = sinew_node_request_context(request, &context);
    if (status == SINEW_OK)
        status = sinew_node_new(context, name, &options, &made);
    sinew_context_free(context);
    *component = made;
    *node = made;
    return status;
}

static void destroy_lidar(void *component)
{
    sinew_node_free(component);
}

#ifdef OWN_COPY
static const char *own_version(void)
{
    return "0.0.9";
}
#define VERSION own_version
#else
#define VERSION sinew_version
#endif

#ifdef NO_TABLE
#define sinew_components other_components
#endif
const sinew_component_library *sinew_components(void);

const sinew_component_library *sinew_components(void)
{
    static sinew_component_library library;
    static sinew_component lidar;
    lidar = (sinew_component){.size = sizeof lidar, .type_name = "drivers::Lidar", .create = make_lidar,
                              .destroy = destroy_lidar, .context = "lidar"};
    library = (sinew_component_library){.size = sizeof library, .abi = ABI, .version = VERSION,
                                        .components = &lidar};
    return &library;
}
