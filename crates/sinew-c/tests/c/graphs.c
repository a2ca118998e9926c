/* The graph: nodes, topics, services and endpoints, here and in another process, and its changes. */
#include "process.h"

#include "text.h"
#include <pthread.h>

static const sinew_duration soon = 20 * (sinew_duration)1000000000;

#define OTHER_HASH "RIHS01_00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static const sinew_message_type *message_type(const char *name)
{
    const sinew_message_type *of = NULL;
    OK(sinew_message_type_known(name, OTHER_HASH, &of));
    return of;
}

static sinew_publisher *publisher(const sinew_node *node, const char *topic, const sinew_qos *qos)
{
    sinew_publisher *made = NULL;
    sinew_publisher_options options = {.size = sizeof options, .qos = qos};
    OK(sinew_publisher_new(node, topic, message_type("test_interfaces/msg/Scan"), &options, &made));
    return made;
}

static sinew_graph_snapshot *snapshot_of(const sinew_graph *graph)
{
    sinew_graph_snapshot *snapshot = NULL;
    OK(sinew_graph_snapshot_new(graph, &snapshot));
    return snapshot;
}

static size_t count(const sinew_graph_snapshot *snapshot, sinew_endpoint_kind kind, const char *name,
    const char *node)
{
    const sinew_endpoint_filter filter = {.size = sizeof filter, .kind = kind, .name = name,
        .node_name = node};
    const size_t all = sinew_graph_snapshot_endpoint_count(snapshot);
    size_t found = 0;
    for (size_t at = 0;; ++at) {
        OK(sinew_graph_snapshot_find(snapshot, &filter, &at));
        if (at == all) {
            return found;
        }
        ++found;
    }
}

/* The only endpoint of a kind and name. */
static sinew_endpoint_info only(const sinew_graph_snapshot *snapshot, sinew_endpoint_kind kind,
    const char *name)
{
    CHECK(count(snapshot, kind, name, NULL) == 1);
    const sinew_endpoint_filter filter = {.size = sizeof filter, .kind = kind, .name = name};
    size_t at = 0;
    OK(sinew_graph_snapshot_find(snapshot, &filter, &at));
    sinew_endpoint_info info = {.size = sizeof info};
    OK(sinew_graph_snapshot_endpoint(snapshot, at, &info));
    CHECK(info.kind == kind && strcmp(info.name, name) == 0);
    return info;
}

static bool has_node(const sinew_graph_snapshot *snapshot, const char *name, sinew_place place)
{
    sinew_node_info info = {.size = sizeof info};
    for (size_t at = 0; at < sinew_graph_snapshot_node_count(snapshot); ++at) {
        OK(sinew_graph_snapshot_node(snapshot, at, &info));
        if (strcmp(info.name, name) == 0) {
            CHECK((info.program == NULL) == (info.place == SINEW_PLACE_HERE));
            return info.place == place;
        }
    }
    return false;
}

static void changed(void *counter)
{
    atomic_fetch_add((atomic_int *)counter, 1);
}

static void dropped(void *counter)
{
    atomic_fetch_add((atomic_int *)counter, 1000000);
}

/* Lists show the ends of this context. */
static void names(const sinew_node *node)
{
    sinew_strings *name = NULL;
    OK(sinew_node_resolve_topic_name(node, "~/map", &name));
    CHECK(sinew_strings_length(name) == 1 && strcmp(sinew_strings_at(name, 0), "/mapper/map") == 0);
    sinew_strings_free(name);
    OK(sinew_node_resolve_service_name(node, "double", &name));
    CHECK(strcmp(sinew_strings_at(name, 0), "/double") == 0);
    sinew_strings_free(name);
    FAILS(sinew_node_resolve_topic_name(node, "no map", &name), SINEW_ERROR_INVALID_NAME, "`no map`");
    FAILS(sinew_node_resolve_service_name(node, NULL, &name), SINEW_ERROR_NULL_ARGUMENT,
          "`service` is null");
}

static void lists(sinew_node *node, const sinew_graph *graph)
{
    const sinew_qos latched = {.size = sizeof latched, .durability = SINEW_DURABILITY_TRANSIENT_LOCAL,
        .depth = 3,
                               .deadline = 1000000000};
    sinew_publisher *maps = publisher(node, "map", &latched);
    sinew_subscription *subscription = NULL;
    OK(sinew_subscription_new(node, "map", message_type("test_interfaces/msg/Other"), NULL, &subscription));
    sinew_publisher *feedback = NULL;
    OK(sinew_publisher_new(node, "dock/_action/feedback",
        message_type("test_interfaces/action/Dock_FeedbackMessage"), NULL,
                           &feedback));
    const sinew_service_type *doubling = NULL;
    OK(sinew_service_type_known("test_interfaces/srv/Double", OTHER_HASH, &doubling));
    sinew_pulled_server *server = NULL;
    OK(sinew_pulled_server_new(node, "double", doubling, NULL, &server));
    sinew_client *client = NULL;
    OK(sinew_client_new(node, "double", doubling, NULL, &client));

    CHECK(sinew_graph_publisher_count(graph, "/map") == 1 && sinew_graph_subscription_count(graph,
          "/map") == 1);
    CHECK(sinew_graph_server_count(graph, "/double") == 1 && sinew_graph_client_count(graph, "/double") == 1);
    CHECK(sinew_graph_publisher_count(graph, "map") == 0);
    sinew_graph_snapshot *snapshot = snapshot_of(graph);
    CHECK(has_node(snapshot, "/mapper", SINEW_PLACE_HERE) && !has_node(snapshot, "/nobody",
          SINEW_PLACE_HERE));
    const sinew_endpoint_info map = only(snapshot, SINEW_ENDPOINT_PUBLISHER, "/map");
    CHECK(strcmp(map.node_name, "/mapper") == 0 && strcmp(map.type_name, "test_interfaces/msg/Scan") == 0);
    CHECK(strcmp(map.type_hash, OTHER_HASH) == 0 && map.place == SINEW_PLACE_HERE && map.pid == 0);
    CHECK(map.qos->durability == SINEW_DURABILITY_TRANSIENT_LOCAL &&
          map.qos->reliability == SINEW_RELIABILITY_RELIABLE);
    CHECK(map.qos->depth == 3 && map.qos->deadline == 1000000000 && map.leaves_process &&
          map.program == NULL);
    sinew_gid gid;
    OK(sinew_publisher_gid(maps, &gid));
    CHECK(memcmp(&gid, &map.gid, sizeof gid) == 0);
    const sinew_endpoint_info calling = only(snapshot, SINEW_ENDPOINT_CLIENT, "/double");
    OK(sinew_client_gid(client, &gid));
    CHECK(memcmp(&gid, &calling.gid, sizeof gid) == 0 && strcmp(calling.type_name,
          "test_interfaces/srv/Double") == 0);
    CHECK(only(snapshot, SINEW_ENDPOINT_SERVER, "/double").kind == SINEW_ENDPOINT_SERVER);
    CHECK(count(snapshot, SINEW_ENDPOINT_ANY, "/map", NULL) == 2 && count(snapshot, SINEW_ENDPOINT_ANY,
          NULL, "/nobody") == 0);
    CHECK(count(snapshot, SINEW_ENDPOINT_ANY, NULL, NULL) == sinew_graph_snapshot_endpoint_count(snapshot));
    CHECK(count(snapshot, SINEW_ENDPOINT_CLIENT, NULL, "/mapper") == 1);

    sinew_name_and_types named = {.size = sizeof named};
    bool is_there = false;
    for (size_t at = 0; at < sinew_graph_snapshot_topic_count(snapshot); ++at) {
        OK(sinew_graph_snapshot_topic(snapshot, at, &named));
        if (strcmp(named.name, "/map") == 0) {
            is_there = true;
            CHECK(named.type_count == 2 && strcmp(named.types[0], "test_interfaces/msg/Other") == 0 &&
                  !named.is_hidden);
        } else if (strcmp(named.name, "/dock/_action/feedback") == 0) {
            CHECK(named.is_hidden && named.type_count == 1);
        }
    }
    CHECK(is_there && sinew_graph_snapshot_action_count(snapshot) == 1);
    OK(sinew_graph_snapshot_action(snapshot, 0, &named));
    CHECK(strcmp(named.name, "/dock") == 0 && strcmp(named.types[0], "test_interfaces/action/Dock") == 0);
    is_there = false;
    for (size_t at = 0; at < sinew_graph_snapshot_service_count(snapshot); ++at) {
        OK(sinew_graph_snapshot_service(snapshot, at, &named));
        is_there |= strcmp(named.name, "/double") == 0 && named.type_count == 1;
    }
    CHECK(is_there && sinew_graph_snapshot_unreadable_count(snapshot) == 0);

    /* Bad input. */
    FAILS(sinew_graph_snapshot_topic(snapshot, 1000, &named), SINEW_ERROR_INVALID_ENUMERATOR,
          "`index` can't be 1000");
    FAILS(sinew_graph_snapshot_topic(snapshot, 0, NULL), SINEW_ERROR_NULL_ARGUMENT, "`topic` is null");
    named.size = 3;
    FAILS(sinew_graph_snapshot_topic(snapshot, 0, &named), SINEW_ERROR_INVALID_STRUCTURE,
          "sinew_name_and_types");
    sinew_node_info info = {.size = sizeof info};
    FAILS(sinew_graph_snapshot_node(snapshot, 1000, &info), SINEW_ERROR_INVALID_ENUMERATOR,
          "`index` can't be 1000");
    sinew_endpoint_info end = {.size = sizeof end};
    FAILS(sinew_graph_snapshot_endpoint(snapshot, 1000, &end), SINEW_ERROR_INVALID_ENUMERATOR,
          "`index` can't be 1000");
    sinew_endpoint_filter filter = {.size = sizeof filter, .kind = 9};
    size_t at = 0;
    FAILS(sinew_graph_snapshot_find(snapshot, &filter, &at), SINEW_ERROR_INVALID_ENUMERATOR,
          "`kind` can't be 9");
    FAILS(sinew_graph_snapshot_find(snapshot, NULL, NULL), SINEW_ERROR_NULL_ARGUMENT, "`index` is null");
    at = SIZE_MAX;
    OK(sinew_graph_snapshot_find(snapshot, NULL, &at));
    CHECK(at == sinew_graph_snapshot_endpoint_count(snapshot));
    CHECK(sinew_graph_snapshot_unreadable(snapshot, 0) == NULL);
    sinew_graph_snapshot_free(snapshot);
    CHECK(sinew_graph_snapshot_node_count(snapshot) == 0 && strstr(sinew_error_message(),
          "it was freed") != NULL);
    FAILS(sinew_graph_snapshot_new(graph, NULL), SINEW_ERROR_NULL_ARGUMENT, "`snapshot` is null");
    FAILS(sinew_graph_snapshot_new((const sinew_graph *)(const void *)node, &snapshot),
          SINEW_ERROR_INVALID_HANDLE,
          "`graph` is no sinew_graph");
    CHECK(sinew_graph_publisher_count(graph, NULL) == 0 && strstr(sinew_error_message(),
          "`topic` is null") != NULL);
    sinew_publisher_free(maps);
    sinew_publisher_free(feedback);
    sinew_subscription_free(subscription);
    sinew_pulled_server_free(server);
    sinew_client_free(client);
    CHECK(sinew_graph_publisher_count(graph, "/map") == 0);
}

static void *waits_for_ever(void *changes)
{
    bool has_changed = true;
    OK(sinew_graph_changes_wait(changes, -1, &has_changed));
    CHECK(!has_changed); /* the context was shut down */
    return NULL;
}

/* Receivers and listeners notice each change. */
static void changes(sinew_node *node, const sinew_graph *graph)
{
    sinew_graph_changes *news = NULL;
    OK(sinew_graph_changes_new(graph, &news));
    bool has_changed = true;
    OK(sinew_graph_changes_wait(news, 0, &has_changed));
    CHECK(!has_changed);
    atomic_int calls = 0;
    sinew_graph_listener *listener = NULL;
    OK(sinew_graph_on_change(graph, changed, &calls, dropped, &listener));
    for (int at = 0; at < 3; ++at) {
        const int before = atomic_load(&calls);
        sinew_publisher *scans = publisher(node, "scan", NULL);
        const int made = atomic_load(&calls);
        CHECK(made > before);
        OK(sinew_graph_changes_wait(news, 0, &has_changed));
        CHECK(has_changed);
        sinew_publisher_free(scans);
        CHECK(atomic_load(&calls) > made);
        OK(sinew_graph_changes_wait(news, 0, &has_changed));
        CHECK(has_changed);
    }
    sinew_graph_listener_free(listener);
    const int last = atomic_load(&calls);
    CHECK(last >= 1000000);
    sinew_publisher_free(publisher(node, "scan", NULL));
    CHECK(atomic_load(&calls) == last);

    FAILS(sinew_graph_on_change(graph, NULL, &calls, dropped, &listener), SINEW_ERROR_NULL_ARGUMENT,
          "`callback` is null");
    FAILS(sinew_graph_on_change(NULL, changed, &calls, dropped, &listener), SINEW_ERROR_NULL_ARGUMENT,
          "`graph` is null");
    FAILS(sinew_graph_on_change(graph, changed, &calls, dropped, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`listener` is null");
    CHECK(atomic_load(&calls) == last + 3000000);
    FAILS(sinew_graph_changes_wait(news, 0, NULL), SINEW_ERROR_NULL_ARGUMENT, "`has_changed` is null");
    FAILS(sinew_graph_changes_wait(NULL, 0, &has_changed), SINEW_ERROR_NULL_ARGUMENT, "`changes` is null");
    FAILS(sinew_graph_changes_new(graph, NULL), SINEW_ERROR_NULL_ARGUMENT, "`changes` is null");
    sinew_graph_changes_free(news);
}

/* Waits until the graph has that number of publishers on /far. */
static void wait_for_far(const sinew_graph *graph, size_t publishers)
{
    sinew_graph_changes *news = NULL;
    OK(sinew_graph_changes_new(graph, &news));
    while (sinew_graph_publisher_count(graph, "/far") != publishers) {
        bool has_changed = false;
        OK(sinew_graph_changes_wait(news, soon, &has_changed));
        CHECK(has_changed);
    }
    sinew_graph_changes_free(news);
}

/* What another process has, seen from inside and from outside. */
static void another_process(char *program, const sinew_graph *graph)
{
    const pid_t other = start(program, "far");
    wait_for_far(graph, 1);
    sinew_graph_snapshot *views[2] = {snapshot_of(graph), NULL};
    OK(sinew_graph_snapshot_read(0, NULL, &views[1]));
    for (int at = 0; at < 2; ++at) {
        const sinew_endpoint_info far = only(views[at], SINEW_ENDPOINT_PUBLISHER, "/far");
        CHECK(strcmp(far.node_name, "/far_away") == 0 && strcmp(far.type_hash, TEXT_HASH) == 0);
        CHECK(far.place == SINEW_PLACE_PROCESS && far.pid == (uint64_t)other && far.program != NULL);
        CHECK(far.qos->reliability == SINEW_RELIABILITY_BEST_EFFORT && far.qos->depth == 5);
        CHECK(has_node(views[at], "/far_away", SINEW_PLACE_PROCESS));
        /* From outside, nothing is here. */
        CHECK(has_node(views[at], "/mapper", at == 0 ? SINEW_PLACE_HERE : SINEW_PLACE_PROCESS));
    }
    size_t place = 0;
    const sinew_endpoint_filter filter = {.size = sizeof filter, .name = "/far"};
    OK(sinew_graph_snapshot_find(views[0], &filter, &place));
    sinew_strings *description = NULL;
    OK(sinew_graph_describe(graph, views[0], place, &description));
    CHECK(sinew_strings_length(description) == 1);
    CHECK(strstr(sinew_strings_at(description, 0), "std_msgs/msg/String") != NULL);
    sinew_strings_free(description);
    FAILS(sinew_graph_describe(graph, views[0], 1000, &description), SINEW_ERROR_INVALID_ENUMERATOR,
          "`index` can't be 1000");
    sinew_graph_snapshot_free(views[0]);
    sinew_graph_snapshot_free(views[1]);
    CHECK(kill(other, SIGKILL) == 0 && ended(other) == -SIGKILL);
    wait_for_far(graph, 0);
}

/* The other process: it has a publisher until it is killed. */
static int far(sinew_context *context)
{
    sinew_node *node = NULL;
    OK(sinew_node_new(context, "far_away", NULL, &node));
    sinew_type_table table = {.size = sizeof table, .name = TEXT_NAME, .hash = TEXT_HASH,
        .description = TEXT_DESCRIPTION};
    table.value_size = table.alignment = 1;
    table.is_plain = true;
    const sinew_message_type *text_type = NULL;
    OK(sinew_message_type_register(&table, &text_type));
    const sinew_qos sensor = {.size = sizeof sensor, .reliability = SINEW_RELIABILITY_BEST_EFFORT,
        .depth = 5};
    sinew_publisher_options options = {.size = sizeof options, .qos = &sensor};
    sinew_publisher *made = NULL;
    OK(sinew_publisher_new(node, "far", text_type, &options, &made));
    for (;;) {
        pause();
    }
}

int main(int argc, char **argv)
{
    sinew_context *context = NULL;
    sinew_node *node = NULL;
    OK(sinew_context_new(NULL, &context));
    if (argc > 1 && strcmp(argv[1], "far") == 0) {
        return far(context);
    }
    sinew_graph *graph = NULL, *again = NULL;
    OK(sinew_context_graph(context, &graph));
    sinew_graph_snapshot *empty = snapshot_of(graph);
    CHECK(sinew_graph_snapshot_node_count(empty) == 0 && sinew_graph_snapshot_endpoint_count(empty) == 0);
    sinew_graph_snapshot_free(empty);
    OK(sinew_node_new(context, "mapper", NULL, &node));
    OK(sinew_node_graph(node, &again));
    names(node);
    lists(node, graph);
    changes(node, again);
    another_process(argv[0], graph);
    OK(sinew_graph_snapshot_read(99, "/nonexistent/sinew", &empty));
    CHECK(sinew_graph_snapshot_node_count(empty) == 0);
    sinew_graph_snapshot_free(empty);
    FAILS(sinew_node_graph(NULL, &again), SINEW_ERROR_NULL_ARGUMENT, "`node` is null");
    FAILS(sinew_context_graph(context, NULL), SINEW_ERROR_NULL_ARGUMENT, "`graph` is null");

    sinew_graph_changes *news = NULL;
    OK(sinew_graph_changes_new(graph, &news));
    pthread_t waiting;
    CHECK(pthread_create(&waiting, NULL, waits_for_ever, news) == 0);
    OK(sinew_context_shutdown(context));
    CHECK(pthread_join(waiting, NULL) == 0);
    FAILS(sinew_context_graph(context, &again), SINEW_ERROR_SHUTDOWN, "shut down");
    sinew_graph_changes_free(news);
    sinew_graph_free(graph);
    sinew_graph_free(again);
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
