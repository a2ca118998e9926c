/// All of Sinew for C++: nodes, topics, services, timers, parameters, executors, logging.
///
/// C++17, header-only over the C interface (`sinew.h`); link with the library `sinew`. Messages come
/// from `sinew-generate-cpp`: see `sinew/message.hpp`.
#ifndef SINEW_SINEW_HPP
#define SINEW_SINEW_HPP

#include "sinew/callback_group.hpp"
#include "sinew/clock.hpp"
#include "sinew/context.hpp"
#include "sinew/create_timer.hpp"
#include "sinew/descriptor_source.hpp"
#include "sinew/draft.hpp"
#include "sinew/duration.hpp"
#include "sinew/error.hpp"
#include "sinew/event.hpp"
#include "sinew/executor.hpp"
#include "sinew/executors.hpp"
#include "sinew/group.hpp"
#include "sinew/guard_condition.hpp"
#include "sinew/loaned_message.hpp"
#include "sinew/logger.hpp"
#include "sinew/logging.hpp"
#include "sinew/message_info.hpp"
#include "sinew/message_view.hpp"
#include "sinew/node.hpp"
#include "sinew/node_options.hpp"
#include "sinew/publisher.hpp"
#include "sinew/publisher_options.hpp"
#include "sinew/qos.hpp"
#include "sinew/rate.hpp"
#include "sinew/rclcpp_logging.hpp"
#include "sinew/serialized_message.hpp"
#include "sinew/span.hpp"
#include "sinew/subscription.hpp"
#include "sinew/subscription_options.hpp"
#include "sinew/time.hpp"
#include "sinew/timer.hpp"
#include "sinew/type_support.hpp"
#include "sinew/wait_set.hpp"

#endif  // SINEW_SINEW_HPP
