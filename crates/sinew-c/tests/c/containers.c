/* Containers: components of the program and of shared libraries, loaded and unloaded. */
#include "check.h"

static int living;

typedef struct camera {
    sinew_node *node;
} camera;

static sinew_status make_camera(void *context, const sinew_node_request *request, void **component,
                                const sinew_node **node)
{
    CHECK(strcmp(context, "the context") == 0);
    sinew_node_request *kept = NULL;
    OK(sinew_node_request_copy(request, &kept));
    sinew_context *of_container = NULL;
    OK(sinew_node_request_context(kept, &of_container));
    sinew_node_options options = {.size = sizeof options, .request = kept, .node_namespace = "/own"};
    camera *made = calloc(1, sizeof *made);
    CHECK(made != NULL);
    sinew_status status = sinew_node_new(of_container, "camera", &options, &made->node);
    sinew_context_free(of_container);
    sinew_node_request_free(kept);
    if (status != SINEW_OK) {
        free(made);
        return status;
    }
    ++living;
    *component = made;
    *node = made->node;
    return SINEW_OK;
}

static void destroy_camera(void *component)
{
    camera *ended = component;
    sinew_node_free(ended->node);
    free(ended);
    --living;
}

static sinew_status refuse(void *context, const sinew_node_request *request, void **component,
                           const sinew_node **node)
{
    (void)context, (void)request, (void)component, (void)node;
    sinew_error_set(SINEW_ERROR_SYSTEM, "no camera is connected", NULL, NULL);
    return SINEW_ERROR_SYSTEM;
}

static sinew_status make_nothing(void *context, const sinew_node_request *request, void **component,
                                 const sinew_node **node)
{
    (void)context, (void)request, (void)component, (void)node;
    return SINEW_OK;
}

static const sinew_component nothing = {.size = sizeof nothing, .type_name = "demo::Nothing",
                                        .create = make_nothing};
static const sinew_component refuser = {.size = sizeof refuser, .type_name = "demo::Refuser",
                                        .create = refuse, .next = &nothing};
static const sinew_component first = {.size = sizeof first, .type_name = "drivers::Camera",
                                      .create = make_camera, .destroy = destroy_camera,
                                      .context = "the context", .next = &refuser};

/* Checks the names of all nodes, each followed by a space. */
static void nodes_are(const sinew_container *container, const char *expected, const uint64_t *numbers)
{
    sinew_strings *names = NULL;
    uint64_t ids[8] = {0};
    char all[256] = "";
    OK(sinew_container_nodes(container, &names, ids, 8));
    for (size_t i = 0; i < sinew_strings_length(names); ++i) {
        strncat(all, sinew_strings_at(names, i), 60);
        strncat(all, " ", 2);
        CHECK(ids[i] == numbers[i]);
    }
    CHECK(strcmp(all, expected) == 0);
    sinew_strings_free(names);
}

static void components_of_the_program(sinew_context *context)
{
    sinew_container_options options = {.size = sizeof options, .components = &first};
    sinew_container *container = NULL;
    OK(sinew_container_new(context, "container", &options, &container));
    CHECK(strcmp(sinew_container_full_name(container), "/container") == 0);
    sinew_strings *types = NULL;
    OK(sinew_container_types(container, &types));
    CHECK(sinew_strings_length(types) == 3);
    CHECK(strcmp(sinew_strings_at(types, 0), "demo::Nothing") == 0);
    sinew_strings_free(types);

    // The command line has named the first one.
    nodes_are(container, "/left/eye ", (uint64_t[]){1});
    uint64_t id = 0;
    OK(sinew_container_load_node(container, "drivers::Camera", NULL, &id));
    CHECK(id == 2 && living == 2);
    const char *rules[] = {"image:=picture"};
    sinew_parameter_list *parameters = NULL;
    OK(sinew_parameter_list_parse("/**: {ros__parameters: {rate: 5}}", "/any", &parameters));
    sinew_load_node_options named = {.size = sizeof named, .node_name = "right", .node_namespace = "/arm",
                                     .remap = rules, .remap_count = 1, .parameters = parameters,
                                     .log_level = SINEW_LOG_LEVEL_DEBUG};
    OK(sinew_container_load_node(container, "drivers::Camera", &named, &id));
    sinew_parameter_list_free(parameters);
    named.parameters = NULL;
    nodes_are(container, "/left/eye /own/camera /arm/right ", (uint64_t[]){1, 2, 3});

    OK(sinew_container_unload_node(container, 2));
    CHECK(living == 2);
    FAILS(sinew_container_unload_node(container, 2), SINEW_ERROR_UNKNOWN_COMPONENT, "those that are: 1, 3");

    FAILS(sinew_container_load_node(container, "drivers::Camra", NULL, &id), SINEW_ERROR_UNKNOWN_COMPONENT,
          "did you mean `drivers::Camera`?");
    FAILS(sinew_container_load_node(container, "demo::Refuser", NULL, &id), SINEW_ERROR_COMPONENT_FAILED,
          "demo::Refuser refused: no camera is connected");
    FAILS(sinew_container_load_node(container, "demo::Nothing", NULL, &id), SINEW_ERROR_COMPONENT_FAILED,
          "`node` is null");
    named.log_level = 7;
    FAILS(sinew_container_load_node(container, "drivers::Camera", &named, &id),
          SINEW_ERROR_COMPONENT_FAILED, "log level 7");
    named.log_level = 1000;
    FAILS(sinew_container_load_node(container, "drivers::Camera", &named, &id),
          SINEW_ERROR_INVALID_ENUMERATOR, "`log_level` can't be 1000");
    named = (sinew_load_node_options){.size = sizeof named, .node_name = "a b"};
    FAILS(sinew_container_load_node(container, "drivers::Camera", &named, &id),
          SINEW_ERROR_COMPONENT_FAILED, "a b");
    FAILS(sinew_container_load_node(container, NULL, NULL, &id), SINEW_ERROR_NULL_ARGUMENT, "`type_name`");
    FAILS(sinew_container_load_node(container, "drivers::Camera", NULL, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`id`");
    named.size = 3;
    FAILS(sinew_container_load_node(container, "drivers::Camera", &named, &id),
          SINEW_ERROR_INVALID_STRUCTURE, "sinew_load_node_options");
    CHECK(living == 2);
    sinew_container_free(container);
    CHECK(living == 0);
    FAILS(sinew_container_unload_node(container, 1), SINEW_ERROR_INVALID_HANDLE, "`container`");
}

static void wrong_components(sinew_context *context)
{
    sinew_component wrong = {.size = sizeof wrong, .create = make_nothing};
    sinew_container_options options = {.size = sizeof options, .components = &wrong};
    sinew_container *container = NULL;
    FAILS(sinew_container_new(context, "container", &options, &container), SINEW_ERROR_NULL_ARGUMENT,
          "`type_name`");
    wrong.type_name = "demo Nothing";
    FAILS(sinew_container_new(context, "container", &options, &container), SINEW_ERROR_INVALID_NAME,
          "without spaces");
    wrong = (sinew_component){.size = sizeof wrong, .type_name = "demo::Nothing"};
    FAILS(sinew_container_new(context, "container", &options, &container), SINEW_ERROR_NULL_ARGUMENT,
          "`create`");
    FAILS(sinew_container_new(NULL, "container", NULL, &container), SINEW_ERROR_NULL_ARGUMENT, "`context`");
    FAILS(sinew_container_new(context, "1 2", NULL, &container), SINEW_ERROR_INVALID_NAME, "1 2");
    // The command line names a component that isn't there.
    FAILS(sinew_container_new(context, "container", NULL, &container), SINEW_ERROR_COMPONENT_FAILED,
          "drivers::Camera");
    CHECK(container == NULL);
}

static void fails_to_load(sinew_container *container, const char *directory, const char *name,
                          const char *sentence)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FAILS(sinew_container_add_library(container, path), SINEW_ERROR_INVALID_LIBRARY, sentence);
}

/* Those of `libraries/components.c`, in this directory. */
static void components_of_libraries(const char *directory)
{
    sinew_context *context = NULL;
    sinew_container *container = NULL;
    OK(sinew_context_new(NULL, &context));
    OK(sinew_container_new(context, "container", NULL, &container));
    fails_to_load(container, directory, "libabi.so", "header for components of the form 77");
    fails_to_load(container, directory, "libown.so", "a copy of Sinew of its own, version 0.0.9");
    fails_to_load(container, directory, "libnone.so", "has no components for Sinew");

    char path[4096];
    snprintf(path, sizeof path, "%s/libright.so", directory);
    uint64_t id = 0;
    sinew_load_node_options options = {.size = sizeof options, .package = path, .node_name = "front"};
    FAILS(sinew_container_load_node(container, "drivers::Radar", &options, &id),
          SINEW_ERROR_UNKNOWN_COMPONENT, "did you mean `drivers::Lidar`?");
    OK(sinew_container_load_node(container, "drivers::Lidar", &options, &id));
    OK(sinew_container_add_library(container, path));
    OK(sinew_container_load_node(container, "drivers::Lidar", NULL, &id));
    nodes_are(container, "/front /lidar ", (uint64_t[]){1, 2});
    // By the index of packages.
    sinew_container *other = NULL;
    OK(sinew_container_new(context, "other", NULL, &other));
    options = (sinew_load_node_options){.size = sizeof options, .package = "drivers"};
    OK(sinew_container_load_node(other, "drivers::Lidar", &options, &id));
    options.package = "robots";
    FAILS(sinew_container_load_node(other, "drivers::Arm", &options, &id), SINEW_ERROR_UNKNOWN_COMPONENT,
          "the package robots lists no component `drivers::Arm`");
    sinew_container_free(other);
    sinew_container_free(container);
    sinew_context_free(context);
}

int main(void)
{
    const char *arguments[] = {"program", "--component", "drivers::Camera=/left/eye"};
    sinew_context_options options = {.size = sizeof options, .argc = 3, .argv = arguments};
    sinew_context *context = NULL;
    OK(sinew_context_new(&options, &context));
    components_of_the_program(context);
    wrong_components(context);
    sinew_context_free(context);

    CHECK(strchr(sinew_version(), '.') != NULL);
    sinew_container *container = NULL;
    OK(sinew_context_new(NULL, &context));
    OK(sinew_container_new(context, "container", NULL, &container));
    FAILS(sinew_container_add_library(container, "libm.so.6"), SINEW_ERROR_INVALID_LIBRARY,
          "has no components");
    FAILS(sinew_container_add_library(container, "/nowhere/lib.so"), SINEW_ERROR_INVALID_LIBRARY,
          "/nowhere/lib.so can't be loaded");
    FAILS(sinew_container_add_library(container, NULL), SINEW_ERROR_NULL_ARGUMENT, "`path`");
    sinew_container_free(container);
    sinew_context_free(context);

    const char *wrong[] = {"container", "--verbose"};
    CHECK(sinew_container_run(2, wrong) == 1);
    CHECK(strstr(sinew_error_message(), "the option `--verbose` is unknown") != NULL);
    wrong[1] = "--library";
    CHECK(sinew_container_run(2, wrong) == 1);
    CHECK(strstr(sinew_error_message(), "`--library` needs a value") != NULL);
    wrong[1] = "--threads=0";
    CHECK(sinew_container_run(2, wrong) == 1);
    CHECK(strstr(sinew_error_message(), "`--threads` can't be `0`") != NULL);

    const char *directory = getenv("COMPONENT_LIBRARIES");
    if (directory != NULL) // ctest has none
        components_of_libraries(directory);
    return 0;
}
