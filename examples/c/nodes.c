// A node with its names, which the command line may change: `nodes --ros-args -r __ns:=/arm`.
#include <sinew/sinew.h>
#include <stdio.h>

int main(int argc, const char **argv)
{
    sinew_context_options options = {.size = sizeof options, .argc = argc, .argv = argv};
    sinew_context *context = NULL;
    sinew_node *node = NULL;
    if (sinew_context_new(&options, &context) != SINEW_OK ||
        sinew_node_new(context, "driver", NULL, &node) != SINEW_OK) {
        fprintf(stderr, "%s\n", sinew_error_message());
        return 1;
    }
    printf("%s in domain %u\n", sinew_node_full_name(node), (unsigned)sinew_context_domain(context));
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
