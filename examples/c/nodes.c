// A node that publishes a speed ten times a second, and one that prints it: `sinew topic echo /speed` shows it as well.
// Ends with Ctrl-C, or after as many messages as the first argument says.
#include <sinew/sinew.h>
#include <stdio.h>
#include <stdlib.h>

// A message of ROS 2, std_msgs/msg/Float64, as a structure of C.
typedef struct {
    double data;
} float64;

static const sinew_type_table FLOAT64 = {
    .size = sizeof(sinew_type_table),
    .name = "std_msgs/msg/Float64",
    .hash = "RIHS01_705ba9c3d1a09df43737eb67095534de36fd426c0587779bda2bc51fe790182a",
    .value_size = sizeof(float64),
    .alignment = sizeof(double),
    .is_plain = true, // its bytes are its encoded form, so it needs no functions
};

typedef struct {
    sinew_publisher *publisher;
    sinew_executor *executor;
    float64 speed;
    long left; // messages until the end; negative: for ever
} driver;

static sinew_status drive(void *context, const sinew_timer_info *info)
{
    (void)info;
    driver *self = context;
    self->speed.data += 0.1;
    return sinew_publisher_publish_value(self->publisher, &self->speed);
}

// The message belongs to the callback.
static sinew_status show(void *context, sinew_message *message, const sinew_message_info *info)
{
    driver *self = context;
    const float64 *speed = sinew_message_value(message);
    printf("%.1f m/s, %lld ns old\n", speed->data, (long long)info->latency);
    sinew_message_free(message);
    return self->left > 0 && --self->left == 0 ? sinew_executor_stop(self->executor) : SINEW_OK;
}

int main(int argc, const char **argv)
{
    // The command line may change names: nodes --ros-args -r __ns:=/arm
    sinew_context_options options = {.size = sizeof options, .argc = argc, .argv = argv, .interrupts = SINEW_YES};
    sinew_context *context = NULL;
    sinew_node *node = NULL;
    const sinew_message_type *type = NULL;
    sinew_subscription *subscription = NULL;
    sinew_timer *timer = NULL;
    driver self = {.left = argc > 1 ? strtol(argv[1], NULL, 10) : -1};
    if (sinew_context_new(&options, &context) != SINEW_OK ||
        sinew_node_new(context, "driver", NULL, &node) != SINEW_OK ||
        sinew_message_type_register(&FLOAT64, &type) != SINEW_OK ||
        sinew_executor_new(NULL, &self.executor) != SINEW_OK ||
        sinew_executor_add_node(self.executor, node) != SINEW_OK ||
        sinew_publisher_new(node, "speed", type, NULL, &self.publisher) != SINEW_OK ||
        sinew_subscription_new_with_callback(node, "speed", type, NULL, show, &self, NULL, &subscription) != SINEW_OK ||
        sinew_timer_new(node, 100000000, NULL, drive, &self, NULL, &timer) != SINEW_OK ||
        sinew_executor_spin(self.executor) != SINEW_OK)
        fprintf(stderr, "%s\n", sinew_error_message());
    // In any order; null is fine.
    sinew_timer_free(timer);
    sinew_subscription_free(subscription);
    sinew_publisher_free(self.publisher);
    sinew_executor_free(self.executor);
    sinew_node_free(node);
    sinew_context_free(context);
    return 0;
}
