/* Types and messages, without a topic. */
#include "text.h"

static void known_types(void)
{
    const sinew_message_type *type = known_type("some_msgs/msg/Bytes");
    CHECK(known_type("some_msgs/msg/Bytes") == type);
    CHECK(strcmp(sinew_message_type_name(type), "some_msgs/msg/Bytes") == 0);
    CHECK(strncmp(sinew_message_type_hash(type), "RIHS01_0707", 11) == 0);
    CHECK(sinew_message_type_has_encoding(type) && !sinew_message_type_is_plain(type));
    CHECK(sinew_message_type_description(type) == NULL && sinew_message_type_context(type) == NULL);
    const sinew_message_type *other = NULL;
    FAILS(sinew_message_type_known("Bytes", TEXT_HASH, &other), SINEW_ERROR_INVALID_TYPE_NAME, "`Bytes`");
    FAILS(sinew_message_type_known("a/msg/B", "RIHS01_7", &other), SINEW_ERROR_INVALID_TYPE_HASH, "64 hexa");
    FAILS(sinew_message_type_known(NULL, TEXT_HASH, &other), SINEW_ERROR_NULL_ARGUMENT, "`name`");
    FAILS(sinew_message_type_known("a/msg/B", NULL, &other), SINEW_ERROR_NULL_ARGUMENT, "`hash`");
    FAILS(sinew_message_type_known("a/msg/B", TEXT_HASH, NULL), SINEW_ERROR_NULL_ARGUMENT, "`message_type`");
    FAILS(sinew_message_type_named(NULL, &other), SINEW_ERROR_NULL_ARGUMENT, "`name`");
    FAILS(sinew_message_type_named("a/msg/Unknown", &other), SINEW_ERROR_UNKNOWN_TYPE, "`a/msg/Unknown`");
    FAILS(sinew_message_type_named("std_srvs/srv/Empty", &other), SINEW_ERROR_UNKNOWN_TYPE, "package/msg/Name");
    FAILS(sinew_message_type_named("std_msgs/msg/Bool", NULL), SINEW_ERROR_NULL_ARGUMENT, "`message_type`");
    OK(sinew_message_type_named("std_msgs/msg/Bool", &other)); /* of ROS 2's packages */
    CHECK(strncmp(sinew_message_type_hash(other), "RIHS01_feb91e995ff9ebd0", 23) == 0);
    const sinew_service_type *service = NULL;
    FAILS(sinew_service_type_named("std_msgs/msg/Bool", &service), SINEW_ERROR_UNKNOWN_TYPE, "package/srv/Name");
    FAILS(sinew_service_type_named("a/srv/B", NULL), SINEW_ERROR_UNKNOWN_TYPE, "`a/srv/B`");
    OK(sinew_service_type_named("std_srvs/srv/Empty", &service));
    CHECK(strcmp(sinew_service_type_name(service), "std_srvs/srv/Empty") == 0);
    CHECK(sinew_message_type_name(NULL) == NULL);
}

static void described_types(void)
{
    const sinew_message_type *type = NULL;
    OK(sinew_message_type_described(TEXT_DESCRIPTION, &type));
    CHECK(strcmp(sinew_message_type_name(type), "std_msgs/msg/String") == 0);
    CHECK(strcmp(sinew_message_type_hash(type), TEXT_HASH) == 0);
    CHECK(strstr(sinew_message_type_description(type), "\"name\": \"data\"") != NULL);
    const sinew_message_type *known = NULL;
    OK(sinew_message_type_known("std_msgs/msg/String", TEXT_HASH, &known));
    CHECK(known == type);
    FAILS(sinew_message_type_described("{}", &type), SINEW_ERROR_INVALID_TYPE_TABLE, "`description`");
    FAILS(sinew_message_type_described(NULL, &type), SINEW_ERROR_NULL_ARGUMENT, "`description`");
    FAILS(sinew_message_type_described(TEXT_DESCRIPTION, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`message_type`");
}

static sinew_status text_check(void *counts, const void *value, char *sentence, size_t capacity)
{
    (void)counts, (void)value, (void)sentence, (void)capacity;
    return SINEW_OK;
}

static void tables(void)
{
    static text_counts counts, others;
    const sinew_message_type *type = NULL, *same = NULL;
    sinew_type_table table = text_table(&counts);
    table.description = TEXT_DESCRIPTION;
    table.has_key = true;
    table.key[0] = 7;
    OK(sinew_message_type_register(&table, &type));
    CHECK(sinew_message_type_value_size(type) == sizeof(text));
    CHECK(sinew_message_type_alignment(type) == _Alignof(text));
    CHECK(sinew_message_type_can_clone(type) && sinew_message_type_has_encoding(type));
    CHECK(strstr(sinew_message_type_description(type), "\"type_id\": 17") != NULL);
    CHECK(sinew_message_type_context(type) == &counts);

    table.context = &others;
    OK(sinew_message_type_register(&table, &same));
    CHECK(same == type && sinew_message_type_context(same) == &counts);
    table.value_size++;
    FAILS(sinew_message_type_register(&table, &same), SINEW_ERROR_TYPE_KEY_TAKEN, TEXT_NAME);
    CHECK(text_type(&counts) != type); /* without a key, each is one of its own */

    FAILS(sinew_message_type_register(NULL, &same), SINEW_ERROR_NULL_ARGUMENT, "`table`");
    table = text_table(&counts);
    FAILS(sinew_message_type_register(&table, NULL), SINEW_ERROR_NULL_ARGUMENT, "`message_type`");
    table.size = 1;
    FAILS(sinew_message_type_register(&table, &same), SINEW_ERROR_INVALID_STRUCTURE, "sinew_type_table");
    table = text_table(&counts);
    table.name = NULL;
    FAILS(sinew_message_type_register(&table, &same), SINEW_ERROR_NULL_ARGUMENT, "`name`");
    table.name = "Text";
    FAILS(sinew_message_type_register(&table, &same), SINEW_ERROR_INVALID_TYPE_NAME, "`Text`");
    table = text_table(&counts);
    table.hash = NULL;
    FAILS(sinew_message_type_register(&table, &same), SINEW_ERROR_INVALID_TYPE_TABLE, "no hash");
    table = text_table(&counts);
    table.encode = NULL;
    FAILS(sinew_message_type_register(&table, &same), SINEW_ERROR_INVALID_TYPE_TABLE, "encode and decode");
    table = text_table(&counts);
    table.alignment = 3;
    FAILS(sinew_message_type_register(&table, &same), SINEW_ERROR_INVALID_TYPE_TABLE, "alignment of 3");
    table = text_table(&counts);
    table.description = "{}";
    FAILS(sinew_message_type_register(&table, &same), SINEW_ERROR_INVALID_TYPE_TABLE, "JSON");
    table = text_table(&counts);
    table.description = TEXT_DESCRIPTION;
    table.name = "std_msgs/msg/Other";
    FAILS(sinew_message_type_register(&table, &same), SINEW_ERROR_INVALID_TYPE_TABLE, "of another type");
    table = text_table(&counts);
    table.is_plain = true;
    FAILS(sinew_message_type_register(&table, &same), SINEW_ERROR_INVALID_TYPE_TABLE, "drop function");
    table = text_table(&counts);
    table.check = text_check;
    table.encoded_size = NULL;
    table.encode = NULL;
    table.decode = NULL;
    FAILS(sinew_message_type_register(&table, &same), SINEW_ERROR_INVALID_TYPE_TABLE, "no encode");
}

/* A value that the program made passes through the library at its address. */
static void adopted_values(const sinew_message_type *type, text_counts *counts)
{
    text *value = text_new("hello");
    sinew_message *message = NULL;
    OK(sinew_message_adopt(type, value, &message));
    CHECK(sinew_message_type_of(message) == type && !sinew_message_is_encoded(message));
    CHECK(sinew_message_value(message) == value && sinew_message_is_sole(message));
    CHECK(sinew_message_value_mut(message) == value);

    sinew_message *other = sinew_message_clone(message);
    CHECK(other == message && !sinew_message_is_sole(message));
    CHECK(sinew_message_value_mut(message) == NULL);
    CHECK(strstr(sinew_error_message(), "other references") != NULL);
    void *taken = NULL;
    FAILS(sinew_message_into_adopted(message, &taken), SINEW_ERROR_NOT_SOLE, "other references");
    CHECK(!sinew_message_is_adopted(message));
    sinew_message_free(other);
    CHECK(sinew_message_is_adopted(message));
    CHECK(strcmp(text_of_message(message), "hello") == 0); /* it was not lost */
    OK(sinew_message_into_adopted(message, &taken));
    CHECK(taken == value);
    counts_are(counts, 0, 0, 0);

    OK(sinew_message_adopt(type, value, &message));
    OK(sinew_message_duplicate(message, &other));
    sinew_message_free(message);
    counts_are(counts, 1, 1, 1);
    CHECK(strcmp(text_of_message(other), "hello") == 0 && sinew_message_value(other) != value);
    CHECK(!sinew_message_is_adopted(other));
    FAILS(sinew_message_into_adopted(other, &taken), SINEW_ERROR_NOT_ADOPTED, "was not adopted");
    counts->clone_fails = true;
    FAILS(sinew_message_duplicate(other, &message), SINEW_ERROR_PANICKED, "`clone`");
    counts->clone_fails = false;
    sinew_message_free(other);
    counts_are(counts, 2, 1, 1); /* its memory is the library's */
}

static void places(const sinew_message_type *type, text_counts *counts)
{
    int dropped = counts->dropped;
    sinew_uninit_message *uninit = NULL;
    sinew_message *message = NULL;
    OK(sinew_uninit_message_new(type, &uninit));
    void *place = sinew_uninit_message_place(uninit);
    text_put(place, "placed");
    OK(sinew_uninit_message_assume_init(uninit, &message));
    CHECK(sinew_message_value(message) == place);
    FAILS(sinew_uninit_message_assume_init(uninit, &message), SINEW_ERROR_INVALID_HANDLE, "was freed");
    sinew_message_free(message);
    CHECK(counts->dropped == dropped + 1);
    OK(sinew_uninit_message_new(type, &uninit));
    sinew_uninit_message_free(uninit); /* there is no value */
    CHECK(counts->dropped == dropped + 1);
}

static void encoded_forms(const sinew_message_type *type)
{
    const uint8_t hi[] = {0, 1, 0, 0, 3, 0, 0, 0, 'h', 'i', 0};
    sinew_message *message = NULL, *value = NULL;
    OK(sinew_message_from_bytes(type, hi, sizeof hi, &message));
    CHECK(sinew_message_is_encoded(message) && sinew_message_encoded_length(message) == sizeof hi);
    CHECK(sinew_message_value(message) == NULL);
    CHECK(strstr(sinew_error_message(), "in encoded form") != NULL);
    const uint8_t *bytes = NULL;
    size_t length = 0;
    OK(sinew_message_encoded(message, &bytes, &length));
    CHECK(bytes != hi && length == sizeof hi && memcmp(bytes, hi, length) == 0);
    OK(sinew_message_into_value(message, &value));
    CHECK(strcmp(text_of_message(value), "hi") == 0);
    OK(sinew_message_into_value(value, &message));
    CHECK(message == value);
    FAILS(sinew_message_encoded(value, &bytes, &length), SINEW_ERROR_NOT_ENCODED, "sinew_message_encode_into");
    uint8_t out[16] = {0};
    FAILS(sinew_message_encode_into(value, out, 10, &length), SINEW_ERROR_UNENCODABLE, "needs 11 bytes");
    CHECK(length == 11 && out[1] == 0);
    OK(sinew_message_encode_into(value, out, sizeof out, &length));
    CHECK(length == sizeof hi && memcmp(out, hi, length) == 0);
    sinew_message_free(value);

    const uint8_t broken[] = {0, 1, 0, 0, 9, 0, 0, 0, 'h', 'i', 0};
    OK(sinew_message_from_bytes(type, broken, sizeof broken, &message));
    FAILS(sinew_message_into_value(message, &value), SINEW_ERROR_UNDECODABLE, "11 bytes are no text");
    CHECK(sinew_message_encoded_length(message) == sizeof broken); /* it was not lost */
    sinew_message_free(message);
    FAILS(sinew_message_from_bytes(type, hi, 3, &message), SINEW_ERROR_UNDECODABLE, "header of 4 bytes");
    FAILS(sinew_message_from_bytes(type, NULL, 3, &message), SINEW_ERROR_NULL_ARGUMENT, "`bytes`");
    FAILS(sinew_message_from_bytes(NULL, hi, 9, &message), SINEW_ERROR_NULL_ARGUMENT, "`message_type`");
}

/* A type that stays inside and can do nothing. */
static void poor_types(void)
{
    sinew_type_table table = {.size = sizeof table, .name = "number", .value_size = 4, .alignment = 4};
    const sinew_message_type *type = NULL;
    OK(sinew_message_type_register(&table, &type));
    CHECK(sinew_message_type_hash(type) == NULL && sinew_message_type_context(type) == NULL);
    CHECK(!sinew_message_type_can_clone(type) && !sinew_message_type_has_encoding(type));
    int number = 7;
    sinew_message *message = NULL, *copy = NULL;
    FAILS(sinew_message_adopt(type, &number, &message), SINEW_ERROR_INVALID_TYPE_TABLE, "no free function");
    const uint8_t bytes[8] = {0, 1};
    FAILS(sinew_message_from_bytes(type, bytes, 8, &message), SINEW_ERROR_UNENCODABLE, "no encoded form");
    sinew_uninit_message *uninit = NULL;
    OK(sinew_uninit_message_new(type, &uninit));
    memcpy(sinew_uninit_message_place(uninit), &number, sizeof number);
    OK(sinew_uninit_message_assume_init(uninit, &message));
    FAILS(sinew_message_duplicate(message, &copy), SINEW_ERROR_NO_CLONE, "number has no clone");
    uint8_t out[8];
    size_t length = 9;
    FAILS(sinew_message_encode_into(message, out, 8, &length), SINEW_ERROR_UNENCODABLE, "no encoded form");
    CHECK(length == 0);
    sinew_message_free(message);
}

/* A plain type needs no functions. */
static void plain_types(void)
{
    sinew_type_table table = {.size = sizeof table, .name = "std_msgs/msg/UInt32", .hash = TEXT_HASH};
    table.value_size = table.alignment = sizeof(uint32_t);
    table.is_plain = true;
    const sinew_message_type *type = NULL;
    OK(sinew_message_type_register(&table, &type));
    CHECK(sinew_message_type_is_plain(type));
    const uint8_t seven[] = {0, 1, 0, 0, 7, 0, 0, 0}, other_order[] = {0, 0, 0, 0, 0, 0, 0, 7};
    sinew_message *message = NULL, *value = NULL;
    OK(sinew_message_from_bytes(type, seven, sizeof seven, &message));
    OK(sinew_message_into_value(message, &value));
    CHECK(*(const uint32_t *)sinew_message_value(value) == 7);
    uint8_t out[8];
    size_t length = 0;
    OK(sinew_message_encode_into(value, out, sizeof out, &length));
    CHECK(length == 8 && memcmp(out, seven, 8) == 0);
    sinew_message_free(value);
    OK(sinew_message_from_bytes(type, other_order, sizeof other_order, &message));
    FAILS(sinew_message_into_value(message, &value), SINEW_ERROR_UNDECODABLE, "representation 0x0000");
    sinew_message_free(message);
    OK(sinew_message_from_bytes(type, seven, 7, &message));
    FAILS(sinew_message_into_value(message, &value), SINEW_ERROR_UNDECODABLE, "ends at byte 7");
    sinew_message_free(message);
}

static void nulls(void)
{
    sinew_message *message = NULL;
    void *value = NULL;
    size_t length = 0;
    const uint8_t *bytes = NULL;
    sinew_message_free(NULL);
    sinew_uninit_message_free(NULL);
    CHECK(sinew_message_clone(NULL) == NULL && sinew_message_value(NULL) == NULL);
    CHECK(sinew_message_type_of(NULL) == NULL && !sinew_message_is_sole(NULL));
    CHECK(strstr(sinew_error_message(), "`message` is null") != NULL);
    FAILS(sinew_message_encoded(NULL, &bytes, &length), SINEW_ERROR_NULL_ARGUMENT, "`message`");
    FAILS(sinew_message_into_value(NULL, &message), SINEW_ERROR_NULL_ARGUMENT, "`message`");
    FAILS(sinew_message_into_adopted(NULL, &value), SINEW_ERROR_NULL_ARGUMENT, "`message`");
    FAILS(sinew_message_duplicate(NULL, &message), SINEW_ERROR_NULL_ARGUMENT, "`message`");
}

int main(void)
{
    static text_counts counts, encoded;
    known_types();
    described_types();
    tables();
    adopted_values(text_type(&counts), &counts);
    places(text_type(&counts), &counts);
    encoded_forms(text_type(&encoded));
    CHECK(encoded.decoded == 1 && encoded.dropped == 1 && encoded.freed == 0);
    poor_types();
    plain_types();
    nulls();
    return 0;
}
