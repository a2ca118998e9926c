/* Parameters of a node, from the program itself, from another node and from another process. */
#include "process.h"

#include <stdatomic.h>

static const sinew_duration soon = 20 * (sinew_duration)1000000000;

typedef sinew_parameter_value value;

static value bool_value(bool one)
{
    return (value){.kind = SINEW_PARAMETER_BOOL, .bool_value = one};
}

static value integer(int64_t one)
{
    return (value){.kind = SINEW_PARAMETER_INTEGER, .integer_value = one};
}

static value floating(double one)
{
    return (value){.kind = SINEW_PARAMETER_DOUBLE, .double_value = one};
}

static value string(const char *one)
{
    return (value){.kind = SINEW_PARAMETER_STRING, .string_value = one};
}

/* The node has the parameter with a value. */
static void has(const sinew_node *node, const char *name, value expected)
{
    sinew_parameter_list *list = NULL;
    OK(sinew_node_get_parameters(node, &name, 1, &list));
    value found;
    OK(sinew_parameter_list_get(list, name, &found));
    CHECK(found.kind == expected.kind && found.length == expected.length);
    switch (found.kind) {
    case SINEW_PARAMETER_BOOL:
        CHECK(found.bool_value == expected.bool_value);
        break;
    case SINEW_PARAMETER_INTEGER:
        CHECK(found.integer_value == expected.integer_value);
        break;
    case SINEW_PARAMETER_DOUBLE:
        CHECK(found.double_value >= expected.double_value && found.double_value <= expected.double_value);
        break;
    case SINEW_PARAMETER_STRING:
        CHECK(strcmp(found.string_value, expected.string_value) == 0);
        break;
    case SINEW_PARAMETER_BYTE_ARRAY:
        CHECK(memcmp(found.byte_array, expected.byte_array, found.length) == 0);
        break;
    case SINEW_PARAMETER_BOOL_ARRAY:
        CHECK(memcmp(found.bool_array, expected.bool_array, found.length * sizeof(bool)) == 0);
        break;
    case SINEW_PARAMETER_INTEGER_ARRAY:
        CHECK(memcmp(found.integer_array, expected.integer_array, found.length * sizeof(int64_t)) == 0);
        break;
    case SINEW_PARAMETER_DOUBLE_ARRAY:
        CHECK(memcmp(found.double_array, expected.double_array, found.length * sizeof(double)) == 0);
        break;
    case SINEW_PARAMETER_STRING_ARRAY:
        for (size_t at = 0; at < found.length; ++at) {
            CHECK(strcmp(found.string_array[at], expected.string_array[at]) == 0);
        }
        break;
    default:
        CHECK(found.kind == SINEW_PARAMETER_NOT_SET);
    }
    sinew_parameter_list_free(list);
}

static void lists(void)
{
    sinew_parameter_list *list = NULL;
    OK(sinew_parameter_list_new(&list));
    value one = integer(1);
    OK(sinew_parameter_list_set(list, "one", &one));
    one = string("two");
    OK(sinew_parameter_list_set(list, "two", &one));
    one = integer(11);
    OK(sinew_parameter_list_set(list, "one", &one));
    OK(sinew_parameter_list_set_text(list, "three", "[1.5, 2.5]"));
    CHECK(sinew_parameter_list_length(list) == 3);
    const char *name = NULL;
    OK(sinew_parameter_list_at(list, 0, &name, &one));
    CHECK(strcmp(name, "one") == 0 && one.integer_value == 11);
    OK(sinew_parameter_list_at(list, 2, NULL, &one));
    CHECK(one.kind == SINEW_PARAMETER_DOUBLE_ARRAY && one.length == 2 && one.double_array[1] > 2.4);
    OK(sinew_parameter_list_at(list, 1, &name, NULL));
    CHECK(strcmp(name, "two") == 0);
    CHECK(sinew_parameter_list_remove(list, "two") && !sinew_parameter_list_remove(list, "two"));
    FAILS(sinew_parameter_list_at(list, 2, &name, &one), SINEW_ERROR_INVALID_ENUMERATOR, "there are 2");
    FAILS(sinew_parameter_list_get(list, "two", &one), SINEW_ERROR_PARAMETER_NOT_DECLARED,
          "no parameter 'two'");
    FAILS(sinew_parameter_list_set_text(list, "bad", "[1, on]"), SINEW_ERROR_INVALID_PARAMETER_TEXT, "");
    one.kind = 10;
    FAILS(sinew_parameter_list_set(list, "bad", &one), SINEW_ERROR_INVALID_ENUMERATOR, "`kind` can't be 10");
    one = (value){.kind = SINEW_PARAMETER_STRING};
    FAILS(sinew_parameter_list_set(list, "bad", &one), SINEW_ERROR_NULL_ARGUMENT, "`string_value` is null");
    one = (value){.kind = SINEW_PARAMETER_INTEGER_ARRAY, .length = 3};
    FAILS(sinew_parameter_list_set(list, "bad", &one), SINEW_ERROR_NULL_ARGUMENT, "`integer_array` is null");
    one.integer_array = &one.integer_value;
    one.length = SIZE_MAX;
    FAILS(sinew_parameter_list_set(list, "bad", &one), SINEW_ERROR_INVALID_STRUCTURE, "fit into memory");
    FAILS(sinew_parameter_list_set(list, "bad", NULL), SINEW_ERROR_NULL_ARGUMENT, "`value` is null");
    one = string("\xff");
    FAILS(sinew_parameter_list_set(list, "bad", &one), SINEW_ERROR_INVALID_UTF8,
          "`string_value` is not UTF-8");
    CHECK(sinew_parameter_list_length(list) == 2);
    sinew_parameter_list_free(list);
    CHECK(sinew_parameter_list_length(list) == 0 && strstr(sinew_error_message(), "it was freed") != NULL);

    OK(sinew_parameter_list_parse("/**: {ros__parameters: {rate: 30}}\ncamera: {ros__parameters: {name: left}}",
                                  "/camera", &list));
    CHECK(sinew_parameter_list_length(list) == 2);
    OK(sinew_parameter_list_get(list, "name", &one));
    CHECK(strcmp(one.string_value, "left") == 0);
    sinew_parameter_list_free(list);
    FAILS(sinew_parameter_list_parse("camera: {ros__parameters: {rate: [1, on]}}", "/camera", &list),
          SINEW_ERROR_INVALID_PARAMETER_TEXT, "line 1");

    /* What stands under each pattern. */
    const char *const file = "camera: {ros__parameters: {rate: 30}}\n/**: {ros__parameters: {rate: 10, gain: 0.5}}";
    sinew_strings *patterns = NULL;
    OK(sinew_parameter_file_patterns(file, &patterns));
    CHECK(sinew_strings_length(patterns) == 2 && strcmp(sinew_strings_at(patterns, 0), "/camera") == 0);
    CHECK(strcmp(sinew_strings_at(patterns, 1), "/**") == 0);
    sinew_strings_free(patterns);
    OK(sinew_parameter_list_parse_under(file, "/camera", &list));
    CHECK(sinew_parameter_list_length(list) == 1);
    OK(sinew_parameter_list_get(list, "rate", &one));
    CHECK(one.integer_value == 30);
    sinew_parameter_list_free(list);
    OK(sinew_parameter_list_parse_under(file, "/lidar", &list));
    CHECK(sinew_parameter_list_length(list) == 0);
    sinew_parameter_list_free(list);
    CHECK(sinew_parameter_file_pattern_matches("/**", "/left/camera"));
    CHECK(!sinew_parameter_file_pattern_matches("/camera", "/left/camera"));
    CHECK(!sinew_parameter_file_pattern_matches("a*", "/a") && !sinew_parameter_file_pattern_matches(NULL, "/a"));
    FAILS(sinew_parameter_file_patterns("a: [", &patterns), SINEW_ERROR_INVALID_PARAMETER_TEXT, "line");
    FAILS(sinew_parameter_file_patterns(NULL, &patterns), SINEW_ERROR_NULL_ARGUMENT, "`file_text` is null");
    FAILS(sinew_parameter_list_parse_under(file, NULL, &list), SINEW_ERROR_NULL_ARGUMENT, "`pattern` is null");
}

static void declarations(sinew_node *node)
{
    sinew_parameter_options options = {.size = sizeof options};
    const unsigned char bytes[] = {1, 2};
    const bool bools[] = {true, false, true};
    const int64_t integers[] = {-1, 0, 1, 2};
    const double doubles[] = {0.5};
    const char *const strings[] = {"a", "", "\xc3\xa9"};
    const value all[] = {
        bool_value(true),
        integer(INT64_MIN),
        floating(1.5),
        string("text"),
        {.kind = SINEW_PARAMETER_BYTE_ARRAY, .byte_array = bytes, .length = 2},
        {.kind = SINEW_PARAMETER_BOOL_ARRAY, .bool_array = bools, .length = 3},
        {.kind = SINEW_PARAMETER_INTEGER_ARRAY, .integer_array = integers, .length = 4},
        {.kind = SINEW_PARAMETER_DOUBLE_ARRAY, .double_array = doubles, .length = 1},
        {.kind = SINEW_PARAMETER_STRING_ARRAY, .string_array = strings, .length = 3},
    };
    for (size_t at = 0; at < sizeof all / sizeof *all; ++at) {
        char name[] = "of_kind.0", optional[] = "optional.0", required[] = "required.0";
        name[8] = optional[9] = required[9] = (char)('1' + at);
        CHECK(!sinew_node_has_parameter(node, name));
        OK(sinew_node_declare_parameter(node, name, &all[at], NULL));
        CHECK(sinew_node_has_parameter(node, name));
        has(node, name, all[at]);
        OK(sinew_node_set_parameter(node, name, &all[at]));
        options = (sinew_parameter_options){.size = sizeof options, .kind = all[at].kind,
            .is_optional = true};
        OK(sinew_node_declare_parameter(node, optional, NULL, &options));
        has(node, optional, (value){.kind = SINEW_PARAMETER_NOT_SET});
        OK(sinew_node_set_parameter(node, optional, &all[at]));
        has(node, optional, all[at]);
        options.is_optional = false;
        FAILS(sinew_node_declare_parameter(node, required, NULL, &options),
              SINEW_ERROR_PARAMETER_UNINITIALIZED, required);
        const value other = all[at].kind == SINEW_PARAMETER_BOOL ? integer(1) : bool_value(true);
        FAILS(sinew_node_set_parameter(node, name, &other), SINEW_ERROR_REFUSED, name);
        FAILS(sinew_node_declare_parameter(node, required, &other, &options),
              SINEW_ERROR_OTHER_PARAMETER_TYPE, required);
    }
    bool yes = false;
    int64_t number = 0;
    double real = 0;
    OK(sinew_node_get_bool_parameter(node, "of_kind.1", &yes));
    OK(sinew_node_get_integer_parameter(node, "of_kind.2", &number));
    OK(sinew_node_get_double_parameter(node, "of_kind.3", &real));
    CHECK(yes && number == INT64_MIN && real > 1.4 && real < 1.6);
    FAILS(sinew_node_get_bool_parameter(node, "of_kind.2", &yes), SINEW_ERROR_OTHER_PARAMETER_TYPE,
          "integer, not of type bool");
    FAILS(sinew_node_get_double_parameter(node, "nothing", &real), SINEW_ERROR_PARAMETER_NOT_DECLARED,
          "'nothing'");
    FAILS(sinew_node_get_double_parameter(node, "of_kind.3", NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`value` is null");
    options = (sinew_parameter_options){.size = sizeof options, .kind = SINEW_PARAMETER_DOUBLE,
        .is_optional = true};
    OK(sinew_node_declare_parameter(node, "unset", NULL, &options));
    FAILS(sinew_node_get_double_parameter(node, "unset", &real), SINEW_ERROR_PARAMETER_UNINITIALIZED,
          "has no value");

    /* Ranges, descriptions, and what can't be set. */
    options = (sinew_parameter_options){.size = sizeof options, .has_range = true, .integer_to = 100,
        .integer_step = 25,
                                        .description = "An angle.", .constraints = "Quarters."};
    value one = integer(25);
    OK(sinew_node_declare_parameter(node, "angle", &one, &options));
    one = integer(80);
    FAILS(sinew_node_set_parameter(node, "angle", &one), SINEW_ERROR_REFUSED, "0 to 100, in steps of 25");
    options = (sinew_parameter_options){.size = sizeof options, .kind = SINEW_PARAMETER_DOUBLE,
        .has_range = true,
                                        .double_from = -1, .double_to = 1, .is_read_only = true};
    one = integer(1); /* converted */
    OK(sinew_node_declare_parameter(node, "gain", &one, &options));
    has(node, "gain", floating(1));
    FAILS(sinew_node_set_parameter(node, "gain", &one), SINEW_ERROR_REFUSED, "read-only");
    one = floating(2);
    FAILS(sinew_node_declare_parameter(node, "gain2", &one, &options),
          SINEW_ERROR_INVALID_PARAMETER_VALUE, "gain2");
    options = (sinew_parameter_options){.size = sizeof options, .is_dynamic = true};
    OK(sinew_node_declare_parameter(node, "any", &one, &options));
    one = string("now a text");
    OK(sinew_node_set_parameter(node, "any", &one));
    has(node, "any", one);
    OK(sinew_node_undeclare_parameter(node, "any"));
    CHECK(!sinew_node_has_parameter(node, "any"));
    FAILS(sinew_node_undeclare_parameter(node, "any"), SINEW_ERROR_PARAMETER_NOT_DECLARED, "'any'");
    CHECK(sinew_node_undeclare_parameter(node, "angle") != SINEW_OK);
    const char *const described[] = {"angle", "gain"};
    sinew_parameter_descriptors *descriptors = NULL;
    OK(sinew_node_describe_parameters(node, described, 2, &descriptors));
    CHECK(sinew_parameter_descriptors_length(descriptors) == 2);
    sinew_parameter_descriptor descriptor = {.size = sizeof descriptor};
    OK(sinew_parameter_descriptors_at(descriptors, 0, &descriptor));
    CHECK(strcmp(descriptor.name, "angle") == 0 && strcmp(descriptor.description, "An angle.") == 0);
    CHECK(strcmp(descriptor.constraints, "Quarters.") == 0 && descriptor.kind == SINEW_PARAMETER_INTEGER);
    CHECK(descriptor.has_range && descriptor.integer_to == 100 && descriptor.integer_step == 25 &&
          !descriptor.is_read_only);
    OK(sinew_parameter_descriptors_at(descriptors, 1, &descriptor));
    CHECK(descriptor.is_read_only && descriptor.has_range && descriptor.double_from < -0.9 &&
          !descriptor.is_dynamic);
    FAILS(sinew_parameter_descriptors_at(descriptors, 2, &descriptor), SINEW_ERROR_INVALID_ENUMERATOR,
          "there are 2");
    sinew_parameter_descriptors_free(descriptors);

    /* Handles. */
    sinew_parameter *handle = NULL;
    one = bool_value(true);
    OK(sinew_parameter_declare(node, "of_handle.bool", &one, NULL, &handle));
    one.bool_value = false;
    OK(sinew_node_set_parameter(node, "of_handle.bool", &one));
    OK(sinew_parameter_get_bool(handle, &yes));
    CHECK(!yes);
    FAILS(sinew_parameter_get_integer(handle, &number), SINEW_ERROR_OTHER_PARAMETER_TYPE, "another type");
    sinew_parameter_free(handle);
    one = integer(7);
    OK(sinew_parameter_declare(node, "of_handle.integer", &one, NULL, &handle));
    OK(sinew_parameter_get_integer(handle, &number));
    CHECK(number == 7);
    FAILS(sinew_parameter_get_integer(handle, NULL), SINEW_ERROR_NULL_ARGUMENT, "`value` is null");
    sinew_parameter_free(handle);
    one = floating(0.5);
    OK(sinew_parameter_declare(node, "of_handle.double", &one, NULL, &handle));
    OK(sinew_parameter_get_double(handle, &real));
    CHECK(real > 0.4 && real < 0.6);
    sinew_parameter_free(handle);
    one = string("text");
    OK(sinew_parameter_declare(node, "of_handle.text", &one, NULL, &handle));
    FAILS(sinew_parameter_get_double(handle, &real), SINEW_ERROR_OTHER_PARAMETER_TYPE, "by its name");
    sinew_parameter_free(handle);
    FAILS(sinew_parameter_declare(node, "of_handle.text", &one, NULL, &handle), SINEW_ERROR_PARAMETER_DECLARED,
          "'of_handle.text'");
    FAILS(sinew_parameter_declare(node, "of_handle.null", &one, NULL, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`parameter` is null");

    /* Bad input. */
    one = integer(1);
    FAILS(sinew_node_declare_parameter(node, "angle", &one, NULL), SINEW_ERROR_PARAMETER_DECLARED, "'angle'");
    FAILS(sinew_node_declare_parameter(node, "", &one, NULL), SINEW_ERROR_EMPTY_PARAMETER_NAME,
          "without a name");
    FAILS(sinew_node_declare_parameter(node, NULL, &one, NULL), SINEW_ERROR_NULL_ARGUMENT, "`name` is null");
    FAILS(sinew_node_declare_parameter(NULL, "x", &one, NULL), SINEW_ERROR_NULL_ARGUMENT, "`node` is null");
    FAILS(sinew_node_declare_parameter(node, "x", NULL, NULL), SINEW_ERROR_INVALID_STRUCTURE,
          "neither a default value nor a type");
    options = (sinew_parameter_options){.size = sizeof options, .kind = 77};
    FAILS(sinew_node_declare_parameter(node, "x", &one, &options), SINEW_ERROR_INVALID_ENUMERATOR,
          "`kind` can't be 77");
    options = (sinew_parameter_options){.size = sizeof options, .has_range = true};
    one = bool_value(true);
    FAILS(sinew_node_declare_parameter(node, "x", &one, &options), SINEW_ERROR_INVALID_STRUCTURE,
          "'x' has a range");
    options.integer_step = UINT64_MAX;
    one = integer(1);
    FAILS(sinew_node_declare_parameter(node, "x", &one, &options), SINEW_ERROR_INVALID_STRUCTURE,
          "`integer_step` can't be");
    CHECK(!sinew_node_has_parameter(node, "x"));

    const char *const prefix = "of_kind";
    sinew_strings *names = NULL;
    OK(sinew_node_list_parameters(node, &prefix, 1, 0, &names));
    CHECK(sinew_strings_length(names) == 9 && strcmp(sinew_strings_at(names, 0), "of_kind.1") == 0);
    CHECK(sinew_strings_at(names, 9) == NULL && strstr(sinew_error_message(), "there are 9") != NULL);
    sinew_strings_free(names);
    OK(sinew_node_list_parameters(node, NULL, 0, 1, &names));
    CHECK(sinew_strings_length(names) == 4); /* angle, gain, unset, use_sim_time */
    sinew_strings_free(names);
}

typedef struct {
    sinew_node *node;
    atomic_int pre, on, post, dropped;
} counts;

static void pre(void *context, sinew_parameter_list *list)
{
    atomic_fetch_add(&((counts *)context)->pre, 1);
    value found;
    if (sinew_parameter_list_get(list, "on", &found) == SINEW_OK && found.bool_value) {
        const value power = floating(1);
        OK(sinew_parameter_list_set(list, "power", &power));
    }
}

static sinew_status on(void *context, const sinew_parameter_list *list, char *reason, size_t reason_size)
{
    counts *counted = context;
    atomic_fetch_add(&counted->on, 1);
    const value one = integer(1);
    FAILS(sinew_node_declare_parameter(counted->node, "inside", &one, NULL),
          SINEW_ERROR_IN_PARAMETER_CALLBACK, "later");
    value found;
    if (sinew_parameter_list_get(list, "power", &found) == SINEW_OK && found.double_value > 1) {
        CHECK(reason_size == SINEW_PARAMETER_REASON_SIZE);
        snprintf(reason, reason_size, "%.0f is too much power", found.double_value);
        return SINEW_ERROR_REFUSED;
    }
    if (sinew_parameter_list_get(list, "power", &found) == SINEW_OK && found.double_value < 0) {
        memset(reason, 'x', reason_size); /* without an end */
        return -1;
    }
    if (sinew_parameter_list_get(list, "on", &found) == SINEW_OK && sinew_parameter_list_length(list) == 1 &&
        !found.bool_value) {
        return SINEW_ERROR_TIMEOUT; /* without a sentence */
    }
    return SINEW_OK;
}

static void post(void *context, const sinew_parameter_list *list)
{
    CHECK(sinew_parameter_list_length(list) > 0);
    atomic_fetch_add(&((counts *)context)->post, 1);
}

static void count_dropped(void *context)
{
    atomic_fetch_add(&((counts *)context)->dropped, 1);
}

/* The counts live longer than the context, which keeps a callback that is detached. */
static void callbacks(sinew_context *context, counts *counted)
{
    sinew_node *node = NULL;
    OK(sinew_node_new(context, "lamp", NULL, &node));
    counted->node = node;
    value one = bool_value(false);
    OK(sinew_node_declare_parameter(node, "on", &one, NULL));
    one = floating(0);
    OK(sinew_node_declare_parameter(node, "power", &one, NULL));
    sinew_parameter_callback *handles[3] = {NULL};
    OK(sinew_node_on_pre_set_parameters(node, pre, counted, count_dropped, &handles[0]));
    OK(sinew_node_on_set_parameters(node, on, counted, count_dropped, &handles[1]));
    OK(sinew_node_on_post_set_parameters(node, post, counted, count_dropped, &handles[2]));
    one = bool_value(true);
    OK(sinew_node_set_parameter(node, "on", &one));
    has(node, "power", floating(1)); /* by `pre` */
    one = floating(3);
    FAILS(sinew_node_set_parameter(node, "power", &one), SINEW_ERROR_REFUSED, "3 is too much power");
    one = floating(-3);
    FAILS(sinew_node_set_parameter(node, "power", &one), SINEW_ERROR_REFUSED, "xxxxxxxx");
    one = bool_value(false);
    FAILS(sinew_node_set_parameter(node, "on", &one), SINEW_ERROR_REFUSED, "It did not happen in time.");
    has(node, "on", bool_value(true));
    CHECK(atomic_load(&counted->pre) == 4 && atomic_load(&counted->on) == 4 && atomic_load(&counted->post) == 1);

    /* All or none. */
    sinew_parameter_list *list = NULL;
    OK(sinew_parameter_list_new(&list));
    one = bool_value(false);
    OK(sinew_parameter_list_set(list, "on", &one));
    one = floating(7);
    OK(sinew_parameter_list_set(list, "power", &one));
    FAILS(sinew_node_set_parameters(node, list), SINEW_ERROR_REFUSED, "7 is too much power");
    has(node, "on", bool_value(true));
    one = floating(0.5);
    OK(sinew_parameter_list_set(list, "power", &one));
    OK(sinew_node_set_parameters(node, list));
    has(node, "on", bool_value(false));
    FAILS(sinew_node_set_parameters(node, NULL), SINEW_ERROR_NULL_ARGUMENT, "`list` is null");
    sinew_parameter_list_free(list);

    FAILS(sinew_node_on_set_parameters(node, NULL, counted, count_dropped, &handles[0]),
          SINEW_ERROR_NULL_ARGUMENT,
          "`callback` is null");
    FAILS(sinew_node_on_set_parameters(node, on, counted, count_dropped, NULL),
          SINEW_ERROR_NULL_ARGUMENT, "`handle` is null");
    CHECK(atomic_load(&counted->dropped) == 2);
    sinew_parameter_callback_free(handles[1]);
    CHECK(atomic_load(&counted->dropped) == 3);
    one = floating(9);
    OK(sinew_node_set_parameter(node, "power", &one)); /* nothing refuses it now */
    sinew_parameter_callback_free(handles[0]);
    OK(sinew_parameter_callback_detach(handles[2]));
    FAILS(sinew_parameter_callback_detach(handles[2]), SINEW_ERROR_INVALID_HANDLE, "it was freed");
    OK(sinew_node_set_parameter(node, "power", &one));
    CHECK(atomic_load(&counted->dropped) == 4 && atomic_load(&counted->post) == 4);
    sinew_node_free(node);
}

/* The parameters of another node, which may be in another process. */
static void from_another_node(sinew_node *node, const char *of)
{
    sinew_parameter_client *client = NULL;
    OK(sinew_parameter_client_new(node, of, NULL, &client));
    CHECK(strcmp(sinew_parameter_client_node_name(client), "/camera") == 0);
    const char *const names[] = {"rate", "name"};
    sinew_parameter_list *list = NULL;
    OK(sinew_parameter_client_get(client, names, 2, soon, &list));
    value one;
    OK(sinew_parameter_list_get(list, "name", &one));
    CHECK(strcmp(one.string_value, "left") == 0);
    OK(sinew_parameter_list_at(list, 0, NULL, &one));
    CHECK(one.integer_value == 30);
    sinew_parameter_type kinds[2];
    OK(sinew_parameter_client_get_types(client, names, 2, soon, kinds));
    CHECK(kinds[0] == SINEW_PARAMETER_INTEGER && kinds[1] == SINEW_PARAMETER_STRING);
    sinew_parameter_descriptors *descriptors = NULL;
    OK(sinew_parameter_client_describe(client, names, 2, soon, &descriptors));
    sinew_parameter_descriptor descriptor = {.size = sizeof descriptor};
    OK(sinew_parameter_descriptors_at(descriptors, 0, &descriptor));
    CHECK(descriptor.has_range && descriptor.integer_to == 60 && strcmp(descriptor.description,
          "Frames each second.") == 0);
    sinew_parameter_descriptors_free(descriptors);

    /* One by one: the first is set, the second refused by its range, the third by the callback. */
    one = integer(40);
    OK(sinew_parameter_list_set(list, "rate", &one));
    one = string("bad");
    OK(sinew_parameter_list_set(list, "name", &one));
    sinew_strings *reasons = NULL;
    OK(sinew_parameter_client_set(client, list, soon, &reasons));
    CHECK(sinew_strings_length(reasons) == 2 && sinew_strings_at(reasons, 0) == NULL);
    CHECK(strstr(sinew_strings_at(reasons, 1), "no camera is bad") != NULL);
    sinew_strings_free(reasons);
    one = integer(50);
    OK(sinew_parameter_list_set(list, "rate", &one));
    FAILS(sinew_parameter_client_set_atomically(client, list, soon), SINEW_ERROR_REFUSED, "no camera is bad");
    CHECK(sinew_parameter_list_remove(list, "name"));
    one = integer(61);
    OK(sinew_parameter_list_set(list, "rate", &one));
    FAILS(sinew_parameter_client_set_atomically(client, list, soon), SINEW_ERROR_REFUSED,
          "its range is 1 to 60");
    one = integer(30);
    OK(sinew_parameter_list_set(list, "rate", &one));
    OK(sinew_parameter_client_set_atomically(client, list, soon));
    sinew_parameter_list_free(list);

    const char *const prefix = "lens";
    sinew_strings *listed = NULL, *prefixes = NULL;
    OK(sinew_parameter_client_list(client, &prefix, 1, 0, soon, &listed, &prefixes));
    CHECK(sinew_strings_length(listed) == 1 && strcmp(sinew_strings_at(listed, 0), "lens.focus") == 0);
    CHECK(sinew_strings_length(prefixes) == 1 && strcmp(sinew_strings_at(prefixes, 0), "lens") == 0);
    sinew_strings_free(listed);
    sinew_strings_free(prefixes);

    const char *const missing = "nothing";
    FAILS(sinew_parameter_client_get(client, &missing, 1, soon, &list),
          SINEW_ERROR_PARAMETER_NOT_DECLARED, "nothing");
    FAILS(sinew_parameter_client_get(client, names, 1, soon, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`list` is null");
    FAILS(sinew_parameter_client_get(client, NULL, 1, soon, &list), SINEW_ERROR_NULL_ARGUMENT,
          "`names` is null");
    FAILS(sinew_parameter_client_get_types(client, &missing, 1, soon, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`kinds` is null");
    FAILS(sinew_parameter_client_set(client, NULL, soon, &reasons), SINEW_ERROR_NULL_ARGUMENT,
          "`list` is null");
    sinew_parameter_client_free(client);
    OK(sinew_parameter_client_new(node, "nobody", NULL, &client));
    FAILS(sinew_parameter_client_list(client, NULL, 0, 0, 1000, &listed, NULL), SINEW_ERROR_NO_SUCH_NODE,
          "/nobody");
    sinew_parameter_client_free(client);
    FAILS(sinew_parameter_client_new(node, NULL, NULL, &client), SINEW_ERROR_NULL_ARGUMENT, "`of` is null");
}

static sinew_status no_bad_name(void *context, const sinew_parameter_list *list, char *reason,
    size_t reason_size)
{
    (void)context;
    value found;
    if (sinew_parameter_list_get(list, "name", &found) == SINEW_OK && strcmp(found.string_value,
        "bad") == 0) {
        snprintf(reason, reason_size, "no camera is bad");
        return SINEW_ERROR_REFUSED;
    }
    return SINEW_OK;
}

static sinew_node *camera(sinew_context *context)
{
    sinew_node *node = NULL;
    sinew_parameter_list *overrides = NULL;
    OK(sinew_parameter_list_new(&overrides));
    OK(sinew_parameter_list_set_text(overrides, "name", "left"));
    sinew_node_options options = {.size = sizeof options, .parameter_overrides = overrides};
    OK(sinew_node_new(context, "camera", &options, &node));
    sinew_parameter_list_free(overrides);
    sinew_parameter_options declared = {.size = sizeof declared, .has_range = true, .integer_from = 1,
        .integer_to = 60,
                                        .description = "Frames each second."};
    value one = integer(30);
    OK(sinew_node_declare_parameter(node, "rate", &one, &declared));
    one = string("right");
    OK(sinew_node_declare_parameter(node, "name", &one, NULL));
    has(node, "name", string("left"));
    one = floating(2);
    OK(sinew_node_declare_parameter(node, "lens.focus", &one, NULL));
    declared = (sinew_parameter_options){.size = sizeof declared, .ignores_overrides = true};
    OK(sinew_parameter_list_new(&overrides));
    OK(sinew_parameter_list_set_text(overrides, "fixed", "1"));
    options.parameter_overrides = overrides;
    sinew_node *other = NULL;
    OK(sinew_node_new(context, "fixed", &options, &other));
    one = integer(2);
    OK(sinew_node_declare_parameter(other, "fixed", &one, &declared));
    has(other, "fixed", one);
    sinew_node_free(other);
    sinew_parameter_list_free(overrides);
    sinew_parameter_callback *checks = NULL;
    OK(sinew_node_on_set_parameters(node, no_bad_name, NULL, NULL, &checks));
    OK(sinew_parameter_callback_detach(checks));
    return node;
}

int main(int argc, char **argv)
{
    sinew_context *context = NULL;
    sinew_node *node = NULL;
    OK(sinew_context_new(NULL, &context));
    if (argc > 1 && strcmp(argv[1], "ask") == 0) { /* the other process */
        OK(sinew_node_new(context, "far_tool", NULL, &node));
        from_another_node(node, "/camera");
        sinew_node_free(node);
        sinew_context_free(context);
        return 0;
    }
    lists();
    OK(sinew_node_new(context, "tool", NULL, &node));
    declarations(node);
    counts counted = {0};
    callbacks(context, &counted);
    sinew_node *cam = camera(context);
    from_another_node(node, "camera");
    CHECK(ended(start(argv[0], "ask")) == 0);
    sinew_node_free(cam);
    sinew_node_free(node);
    sinew_context_free(context);
    CHECK(atomic_load(&counted.dropped) == 5);
    return 0;
}
