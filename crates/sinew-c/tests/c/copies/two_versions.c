/* Libraries of two versions in one process: each refuses the other's handles, and nothing happens to
 * them. */
#include "other.h"

/* The other library's function fails, and says why. */
#define OTHER_FAILS(call)                                                                             \
    do {                                                                                              \
        CHECK((call) == SINEW_ERROR_INVALID_HANDLE);                                                  \
        CHECK(strstr(other_sinew_error_message(), "a library of another version in this process"));   \
    } while (0)

int main(void)
{
    void *other = other_copy();
    OTHER(sinew_version);
    OTHER(sinew_error_message);
    OTHER(sinew_context_new);
    OTHER(sinew_context_is_valid);
    OTHER(sinew_context_free);
    OTHER(sinew_node_new);
    OTHER(sinew_node_name);
    OTHER(sinew_node_free);
    CHECK(strcmp(other_sinew_version(), sinew_version()) != 0);

    sinew_context *context = NULL, *other_context = NULL;
    sinew_node *node = NULL, *other_node = NULL;
    OK(sinew_context_new(NULL, &context));
    OK(other_sinew_context_new(NULL, &other_context));
    OK(sinew_node_new(context, "one", NULL, &node));
    OK(other_sinew_node_new(other_context, "other", NULL, &other_node));

    const char *sentence = "a library of another version in this process";
    sinew_node *none = NULL;
    OTHER_FAILS(other_sinew_node_new(context, "none", NULL, &none));
    FAILS(sinew_node_new(other_context, "none", NULL, &none), SINEW_ERROR_INVALID_HANDLE, sentence);
    CHECK(none == NULL);
    CHECK(other_sinew_node_name(node) == NULL && strstr(other_sinew_error_message(), sentence) != NULL);
    CHECK(sinew_node_name(other_node) == NULL && strstr(sinew_error_message(), sentence) != NULL);
    CHECK(!other_sinew_context_is_valid(context) && !sinew_context_is_valid(other_context));
    other_sinew_node_free(node);
    other_sinew_context_free(context);
    sinew_node_free(other_node);
    sinew_context_free(other_context);

    /* They live, and their own libraries know them. */
    CHECK(strcmp(sinew_node_name(node), "one") == 0 && sinew_context_is_valid(context));
    CHECK(strcmp(other_sinew_node_name(other_node), "other") == 0);
    CHECK(other_sinew_context_is_valid(other_context));
    other_sinew_node_free(other_node);
    other_sinew_context_free(other_context);
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
