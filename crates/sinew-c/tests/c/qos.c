/* Quality of service as C sees it. */
#include "text.h"

static sinew_node *node;
static const sinew_message_type *type;

static sinew_qos offered(const sinew_qos *wanted)
{
    sinew_publisher_options options = {.size = sizeof options, .qos = wanted};
    sinew_publisher *publisher = NULL;
    OK(sinew_publisher_new(node, "of_publisher", type, &options, &publisher));
    sinew_qos qos = {.size = sizeof qos};
    OK(sinew_publisher_qos(publisher, &qos));
    sinew_publisher_free(publisher);
    return qos;
}

static void refused(sinew_qos wanted, sinew_status status, const char *sentence)
{
    wanted.size = sizeof wanted;
    sinew_publisher_options options = {.size = sizeof options, .qos = &wanted};
    sinew_publisher *publisher = NULL;
    FAILS(sinew_publisher_new(node, "of_publisher", type, &options, &publisher), status, sentence);
    sinew_subscription_options others = {.size = sizeof others, .qos = &wanted};
    sinew_subscription *subscription = NULL;
    FAILS(sinew_subscription_new(node, "of_publisher", type, &others, &subscription), status, sentence);
}

static void every_policy(void)
{
    sinew_qos qos = offered(NULL);
    CHECK(qos.history == SINEW_HISTORY_KEEP_LAST && qos.depth == 10 && qos.max_samples == 0);
    CHECK(qos.reliability == SINEW_RELIABILITY_RELIABLE && qos.durability == SINEW_DURABILITY_VOLATILE);
    CHECK(qos.liveliness == SINEW_LIVELINESS_AUTOMATIC && qos.max_blocking_time == 100 * 1000 * 1000);
    CHECK(qos.deadline == 0 && qos.lifespan == 0 && qos.lease == 0);

    sinew_qos wanted = {.size = sizeof wanted};
    wanted.history = SINEW_HISTORY_KEEP_ALL;
    wanted.max_samples = 7;
    wanted.reliability = SINEW_RELIABILITY_BEST_EFFORT;
    wanted.durability = SINEW_DURABILITY_TRANSIENT_LOCAL;
    wanted.liveliness = SINEW_LIVELINESS_MANUAL_BY_TOPIC;
    wanted.deadline = 1000000001;
    wanted.lifespan = 1000000002;
    wanted.lease = 1000000003;
    wanted.max_blocking_time = 1;
    qos = offered(&wanted);
    CHECK(memcmp(&qos, &wanted, sizeof qos) == 0);

    wanted = (sinew_qos){.size = sizeof wanted, .deadline = -1, .lifespan = INT64_MAX, .max_blocking_time = -1};
    qos = offered(&wanted);
    CHECK(qos.deadline == 0 && qos.lifespan == 0 && qos.max_blocking_time == -1);
}

static void profiles(void)
{
    const sinew_qos *sensor = sinew_qos_sensor_data(), *rosout = sinew_qos_rosout();
    CHECK(sensor->size == sizeof *sensor && sensor->depth == 5);
    CHECK(sensor->reliability == SINEW_RELIABILITY_BEST_EFFORT);
    CHECK(rosout->durability == SINEW_DURABILITY_TRANSIENT_LOCAL && rosout->depth == 1000);
    CHECK(rosout->lifespan == 10 * INT64_C(1000000000));
    CHECK(sinew_qos_default()->depth == 10 && sinew_qos_services()->depth == 10);
    CHECK(sinew_qos_system_default()->depth == 10 && sinew_qos_clock()->depth == 1);
    CHECK(sinew_qos_parameters()->depth == 1000 && sinew_qos_parameter_events()->depth == 1000);
    sinew_qos latest = *sinew_qos_sensor_data();
    latest.depth = 1;
    CHECK(offered(&latest).depth == 1 && sinew_qos_sensor_data()->depth == 5);
}

/* The choice is left to the other ends. */
static void best_available(void)
{
    sinew_qos best = *sinew_qos_best_available();
    CHECK(best.reliability == SINEW_RELIABILITY_BEST_AVAILABLE && best.depth == 10);
    CHECK(best.deadline == SINEW_DURATION_BEST_AVAILABLE && best.lease == SINEW_DURATION_BEST_AVAILABLE);
    sinew_publisher_options options = {.size = sizeof options, .qos = sinew_qos_sensor_data()};
    sinew_publisher *publisher = NULL;
    OK(sinew_publisher_new(node, "best", type, &options, &publisher));
    sinew_subscription_options others = {.size = sizeof others, .qos = &best};
    sinew_subscription *subscription = NULL;
    OK(sinew_subscription_new(node, "best", type, &others, &subscription));
    sinew_qos qos = {.size = sizeof qos};
    OK(sinew_subscription_qos(subscription, &qos));
    CHECK(qos.reliability == SINEW_RELIABILITY_BEST_EFFORT && qos.durability == SINEW_DURABILITY_VOLATILE);
    CHECK(sinew_subscription_publisher_count(subscription) == 1);
    sinew_subscription_free(subscription);
    sinew_publisher_free(publisher);
}

static void bad_input(void)
{
    refused((sinew_qos){.history = 9}, SINEW_ERROR_INVALID_ENUMERATOR, "`history` can't be 9");
    refused((sinew_qos){.reliability = 3}, SINEW_ERROR_INVALID_ENUMERATOR, "`reliability` can't be 3");
    refused((sinew_qos){.durability = 3}, SINEW_ERROR_INVALID_ENUMERATOR, "`durability` can't be 3");
    refused((sinew_qos){.liveliness = 2}, SINEW_ERROR_INVALID_ENUMERATOR, "`liveliness` can't be 2");
    refused((sinew_qos){.depth = 9, .max_samples = 8}, SINEW_ERROR_INVALID_QOS, "keep_last(9)");
    refused((sinew_qos){.depth = SIZE_MAX}, SINEW_ERROR_INVALID_QOS, "16777216");
    sinew_qos qos = {.size = 1};
    sinew_publisher_options options = {.size = sizeof options, .qos = &qos};
    sinew_publisher *publisher = NULL;
    FAILS(sinew_publisher_new(node, "t", type, &options, &publisher), SINEW_ERROR_INVALID_STRUCTURE, "sinew_qos");
    options.qos = NULL;
    options.qos_overrides = 1;
    FAILS(sinew_publisher_new(node, "t", type, &options, &publisher), SINEW_ERROR_INVALID_ENUMERATOR,
          "`qos_overrides` can't be 1");
    OK(sinew_publisher_new(node, "t", type, NULL, &publisher));
    FAILS(sinew_publisher_qos(publisher, &qos), SINEW_ERROR_INVALID_STRUCTURE, "sinew_qos");
    FAILS(sinew_publisher_qos(publisher, NULL), SINEW_ERROR_NULL_ARGUMENT, "`qos` is null");
    /* A shorter structure, of an older program, is filled as far as it goes. */
    qos = (sinew_qos){.size = offsetof(sinew_qos, depth), .depth = 99};
    OK(sinew_publisher_qos(publisher, &qos));
    CHECK(qos.history == SINEW_HISTORY_KEEP_LAST && qos.depth == 99 && qos.size == offsetof(sinew_qos, depth));
    /* Fields that this library doesn't know become zero. */
    struct {
        sinew_qos known;
        uint64_t newer;
    } longer = {{.size = sizeof longer}, 99};
    OK(sinew_publisher_qos(publisher, &longer.known));
    CHECK(longer.known.depth == 10 && longer.newer == 0 && longer.known.size == sizeof longer);
    sinew_publisher_free(publisher);
}

static void compatibility(void)
{
    OK(sinew_qos_check_compatible(NULL, NULL));
    OK(sinew_qos_check_compatible(sinew_qos_rosout(), NULL));
    FAILS(sinew_qos_check_compatible(sinew_qos_sensor_data(), sinew_qos_rosout()), SINEW_ERROR_INVALID_QOS,
          "durability (offers volatile, asked transient_local)");
}

/* The command line changes what the program lets it. */
static void overrides(void)
{
    sinew_publisher_options options = {.size = sizeof options, .qos_overrides = SINEW_QOS_OVERRIDES_DEFAULT};
    sinew_publisher *publisher = NULL, *again = NULL, *left = NULL;
    OK(sinew_publisher_new(node, "scan", type, &options, &publisher));
    OK(sinew_publisher_new(node, "scan", type, &options, &again)); /* it shares the parameters */
    options.qos_overrides_id = "left";
    OK(sinew_publisher_new(node, "scan", type, &options, &left));
    sinew_qos qos = {.size = sizeof qos};
    OK(sinew_publisher_qos(publisher, &qos));
    CHECK(qos.depth == 3);
    OK(sinew_publisher_qos(again, &qos));
    CHECK(qos.depth == 3);
    sinew_publisher_free(again);
    OK(sinew_publisher_qos(left, &qos));
    CHECK(qos.depth == 4);
    sinew_subscription_options others = {.size = sizeof others};
    others.qos_overrides = SINEW_QOS_POLICY_DURABILITY | SINEW_QOS_POLICY_DEADLINE | SINEW_QOS_POLICY_LIFESPAN |
                           SINEW_QOS_POLICY_LIVELINESS | SINEW_QOS_POLICY_LEASE;
    sinew_subscription *subscription = NULL;
    OK(sinew_subscription_new(node, "scan", type, &others, &subscription));
    OK(sinew_subscription_qos(subscription, &qos));
    CHECK(qos.deadline == 5000000000 && qos.depth == 10);
    sinew_subscription_free(subscription);
    sinew_publisher_free(left);
    sinew_publisher_free(publisher);
}

int main(void)
{
    const char *const arguments[] = {"program", "--ros-args",
                                     "-p", "qos_overrides./scan.publisher.depth:=3",
                                     "-p", "qos_overrides./scan.publisher_left.depth:=4",
                                     "-p", "qos_overrides./scan.subscription.deadline:=5000000000"};
    sinew_context_options options = {.size = sizeof options, .argc = 8, .argv = arguments};
    sinew_context *context = NULL;
    OK(sinew_context_new(&options, &context));
    OK(sinew_node_new(context, "qos", NULL, &node));
    type = known_type("some_msgs/msg/Bytes");
    every_policy();
    profiles();
    best_available();
    bad_input();
    compatibility();
    overrides();
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
