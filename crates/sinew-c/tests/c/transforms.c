/* tf2: buffers, listeners, broadcasters. */
#include "check.h"
#include <math.h>
#include <pthread.h>

#define SECOND INT64_C(1000000000)

static const sinew_transform identity = {.rotation = {0, 0, 0, 1}};

static sinew_stamped_transform moved(const char *parent, const char *child, sinew_time stamp, double x)
{
    sinew_stamped_transform transform = {parent, child, stamp, identity};
    transform.transform.translation[0] = x;
    return transform;
}

static void lookups(void)
{
    sinew_tf_buffer *buffer = NULL;
    sinew_transform found;
    sinew_time stamp = 1;
    OK(sinew_tf_buffer_new(NULL, &buffer));
    FAILS(sinew_tf_buffer_lookup(buffer, "odom", "base", 0, 0, &found, NULL), SINEW_ERROR_UNKNOWN_FRAME,
          "\"odom\"");

    sinew_stamped_transform first = moved("odom", "base", 10 * SECOND, 1);
    sinew_stamped_transform second = moved("odom", "/base", 11 * SECOND, 3);
    sinew_stamped_transform lidar = moved("base", "lidar", 0, 0.5);
    OK(sinew_tf_buffer_set(buffer, &first, false, "odometry"));
    OK(sinew_tf_buffer_set(buffer, &second, false, NULL));
    OK(sinew_tf_buffer_set(buffer, &lidar, true, "description"));
    OK(sinew_tf_buffer_lookup(buffer, "odom", "lidar", 10 * SECOND + SECOND / 2, 0, &found, &stamp));
    CHECK(fabs(found.translation[0] - 2.5) < 1e-12 && fabs(found.rotation[3] - 1) < 1e-12);
    CHECK(stamp == 10 * SECOND + SECOND / 2);
    OK(sinew_tf_buffer_lookup(buffer, "odom", "lidar", 0, 0, &found, &stamp));
    CHECK(fabs(found.translation[0] - 3.5) < 1e-12 && stamp == 11 * SECOND);
    CHECK(sinew_tf_buffer_can_transform(buffer, "lidar", "odom", 0, 0));

    // The robot's motion within the second, seen from where it is now.
    sinew_tf_query query = {.size = sizeof query, .target = "base", .target_time = 11 * SECOND,
                            .source = "base", .source_time = 10 * SECOND, .fixed = "odom"};
    OK(sinew_tf_buffer_lookup_over_time(buffer, &query, &found, &stamp));
    CHECK(fabs(found.translation[0] + 2) < 1e-12 && stamp == 11 * SECOND);
    query.wait_for = -1; // it is there
    OK(sinew_tf_buffer_lookup_over_time(buffer, &query, &found, NULL));
    query.source_time = 1;
    query.wait_for = 0;
    FAILS(sinew_tf_buffer_lookup_over_time(buffer, &query, &found, NULL), SINEW_ERROR_EXTRAPOLATION, "odom");
    query.fixed = NULL;
    FAILS(sinew_tf_buffer_lookup_over_time(buffer, &query, &found, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`fixed`");

    FAILS(sinew_tf_buffer_lookup(buffer, "odom", "base", 12 * SECOND, 0, &found, NULL),
          SINEW_ERROR_EXTRAPOLATION, "1000 ms behind");
    // For ever would be too long: what is in the past never comes.
    FAILS(sinew_tf_buffer_lookup(buffer, "odom", "base", 1, -1, &found, NULL), SINEW_ERROR_EXTRAPOLATION,
          "long ago");
    FAILS(sinew_tf_buffer_lookup(buffer, "odom", "lidr", 0, 1000, &found, NULL), SINEW_ERROR_UNKNOWN_FRAME,
          "did you mean \"lidar\"?");
    CHECK(!sinew_tf_buffer_can_transform(buffer, "odom", "lidr", 0, 0));
    CHECK(strstr(sinew_error_message(), "lidr") != NULL);
    sinew_stamped_transform other = moved("map", "tree", 0, 1);
    OK(sinew_tf_buffer_set(buffer, &other, true, NULL));
    FAILS(sinew_tf_buffer_lookup(buffer, "odom", "tree", 0, 0, &found, NULL), SINEW_ERROR_NOT_CONNECTED,
          "two trees");

    sinew_strings *names = NULL, *parents = NULL;
    OK(sinew_tf_buffer_frames(buffer, &names, &parents));
    CHECK(sinew_strings_length(names) == 5 && sinew_strings_length(parents) == 5);
    CHECK(strcmp(sinew_strings_at(names, 0), "base") == 0 && strcmp(sinew_strings_at(parents, 0), "odom") == 0);
    CHECK(strcmp(sinew_strings_at(names, 2), "map") == 0 && strcmp(sinew_strings_at(parents, 2), "") == 0);
    sinew_strings_free(names);
    sinew_strings_free(parents);
    OK(sinew_tf_buffer_frames(buffer, &names, NULL));
    sinew_strings_free(names);

    OK(sinew_tf_buffer_clear(buffer));
    CHECK(!sinew_tf_buffer_can_transform(buffer, "odom", "base", 0, 0));
    CHECK(sinew_tf_buffer_can_transform(buffer, "base", "lidar", 0, 0));
    sinew_tf_buffer_free(buffer);
    FAILS(sinew_tf_buffer_clear(buffer), SINEW_ERROR_INVALID_HANDLE, "`buffer`");
}

static void bad_transforms(void)
{
    sinew_tf_buffer_options options = {.size = sizeof options, .history = 2 * SECOND, .max_samples = 10,
                                       .max_frames = 3};
    sinew_tf_buffer *buffer = NULL;
    OK(sinew_tf_buffer_new(&options, &buffer));
    sinew_stamped_transform bad = moved("odom", "odom", 0, 1);
    FAILS(sinew_tf_buffer_set(buffer, &bad, false, NULL), SINEW_ERROR_FRAME_LOOP, "can't lie in itself");
    bad = moved("odom", "", 0, 1);
    FAILS(sinew_tf_buffer_set(buffer, &bad, false, NULL), SINEW_ERROR_INVALID_FRAME_NAME, "child_frame_id");
    bad = moved("odom", "base", 0, NAN);
    FAILS(sinew_tf_buffer_set(buffer, &bad, false, NULL), SINEW_ERROR_INVALID_TRANSFORM, "finite");
    bad = moved("odom", "base", 0, 1);
    bad.transform.rotation[3] = 2;
    FAILS(sinew_tf_buffer_set(buffer, &bad, false, NULL), SINEW_ERROR_INVALID_TRANSFORM, "unit quaternion");
    bad = moved("odom", "base", 10 * SECOND, 1);
    OK(sinew_tf_buffer_set(buffer, &bad, false, NULL));
    bad.stamp = 7 * SECOND;
    FAILS(sinew_tf_buffer_set(buffer, &bad, false, NULL), SINEW_ERROR_EXTRAPOLATION, "2 s that are kept");
    bad = moved("arm", "hand", 0, 1);
    FAILS(sinew_tf_buffer_set(buffer, &bad, true, NULL), SINEW_ERROR_TOO_MANY_FRAMES, "maximum of 3");
    bad.child = NULL;
    FAILS(sinew_tf_buffer_set(buffer, &bad, true, NULL), SINEW_ERROR_NULL_ARGUMENT, "`child`");
    FAILS(sinew_tf_buffer_set(buffer, NULL, true, NULL), SINEW_ERROR_NULL_ARGUMENT, "`transform`");
    FAILS(sinew_tf_buffer_lookup(buffer, "odom", "base", 0, 0, NULL, NULL), SINEW_ERROR_NULL_ARGUMENT,
          "`transform`");
    sinew_tf_buffer_free(buffer);
    options.history = -1;
    FAILS(sinew_tf_buffer_new(&options, &buffer), SINEW_ERROR_INVALID_PERIOD, "`history`");
}

static void *wait_for_arm(void *buffer)
{
    sinew_transform found;
    OK(sinew_tf_buffer_lookup(buffer, "base", "arm", 0, -1, &found, NULL));
    CHECK(found.translation[0] > 3.9);
    return NULL;
}

/* From broadcasters to listeners; a thread waits meanwhile. */
static void topics(void)
{
    sinew_context *context = NULL;
    sinew_node *node = NULL;
    sinew_tf_buffer *buffer = NULL, *late = NULL;
    sinew_tf_listener *listener = NULL, *late_listener = NULL;
    sinew_tf_broadcaster *moving = NULL, *fixed = NULL;
    OK(sinew_context_new(NULL, &context));
    OK(sinew_node_new(context, "poses", NULL, &node));
    OK(sinew_tf_buffer_new(NULL, &buffer));
    OK(sinew_tf_listener_new(buffer, node, &listener));
    OK(sinew_tf_broadcaster_new(node, false, &moving));
    OK(sinew_tf_broadcaster_new(node, true, &fixed));
    pthread_t waiting;
    CHECK(pthread_create(&waiting, NULL, wait_for_arm, buffer) == 0);
    sinew_stamped_transform both[] = {moved("odom", "base", 5 * SECOND, 1), moved("base", "arm", 5 * SECOND, 4)};
    OK(sinew_tf_broadcaster_send(moving, both, 2));
    CHECK(pthread_join(waiting, NULL) == 0);
    sinew_stamped_transform lidar = moved("base", "lidar", 0, 2), camera = moved("base", "camera", 0, 3);
    OK(sinew_tf_broadcaster_send(fixed, &lidar, 1));
    OK(sinew_tf_broadcaster_send(fixed, &camera, 1));
    sinew_transform found;
    OK(sinew_tf_buffer_lookup(buffer, "odom", "lidar", 5 * SECOND, 0, &found, NULL));
    CHECK(fabs(found.translation[0] - 3) < 1e-12);
    // One that comes late has all fixed frames.
    OK(sinew_tf_buffer_new(NULL, &late));
    OK(sinew_tf_listener_new(late, node, &late_listener));
    OK(sinew_tf_buffer_lookup(late, "lidar", "camera", 0, -1, &found, NULL));
    CHECK(fabs(found.translation[0] - 1) < 1e-12);

    lidar.parent = NULL;
    FAILS(sinew_tf_broadcaster_send(fixed, &lidar, 1), SINEW_ERROR_NULL_ARGUMENT, "`parent`");
    FAILS(sinew_tf_broadcaster_send(fixed, NULL, 1), SINEW_ERROR_NULL_ARGUMENT, "`transforms`");
    sinew_tf_listener_free(listener);
    both[1].transform.translation[0] = 9;
    both[1].stamp = 6 * SECOND;
    OK(sinew_tf_broadcaster_send(moving, both + 1, 1));
    OK(sinew_tf_buffer_lookup(buffer, "base", "arm", 0, 0, &found, NULL));
    CHECK(found.translation[0] < 5); // the listener has ended
    sinew_context_shutdown(context);
    FAILS(sinew_tf_broadcaster_send(moving, both, 2), SINEW_ERROR_SHUTDOWN, "");
    sinew_tf_listener_free(late_listener);
    sinew_tf_broadcaster_free(moving);
    sinew_tf_broadcaster_free(fixed);
    FAILS(sinew_tf_broadcaster_send(fixed, both, 2), SINEW_ERROR_INVALID_HANDLE, "`broadcaster`");
    sinew_tf_buffer_free(buffer);
    sinew_tf_buffer_free(late);
    sinew_node_free(node);
    sinew_context_free(context);
}

int main(void)
{
    lookups();
    bad_transforms();
    topics();
    return 0;
}
