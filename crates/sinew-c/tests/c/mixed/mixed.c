/* A node of Rust and one of a C library in one process, with one copy of Sinew. */
#include "../check.h"

int main(void)
{
    sinew_context *context = NULL;
    sinew_container *container = NULL;
    sinew_strings *names = NULL;
    uint64_t id = 0;
    OK(sinew_context_new(NULL, &context));
    OK(sinew_container_new(context, "container", NULL, &container));
    OK(sinew_container_load_node(container, "demo::Ticker", NULL, &id));
    OK(sinew_container_add_library(container, getenv("COMPONENT_LIBRARY")));
    OK(sinew_container_load_node(container, "drivers::Lidar", NULL, &id));
    OK(sinew_container_nodes(container, &names, NULL, 0));
    CHECK(sinew_strings_length(names) == 2);
    CHECK(strcmp(sinew_strings_at(names, 0), "/ticker") == 0);
    CHECK(strcmp(sinew_strings_at(names, 1), "/lidar") == 0);
    sinew_strings_free(names);
    sinew_container_free(container);
    sinew_context_free(context);
    return 0;
}
