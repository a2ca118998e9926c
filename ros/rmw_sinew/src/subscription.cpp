#include "subscription.hpp"

#include <rmw/allocators.h>
#include <rmw/rmw.h>

#include <memory>

#include "arrival.hpp"
#include "check.hpp"
#include "gid.hpp"
#include "names.hpp"
#include "node.hpp"
#include "qos.hpp"

namespace rmw_sinew {

Subscription::Subscription(
  const sinew_node * node, const rosidl_message_type_support_t * type_support, const char * topic,
  const rmw_qos_profile_t & profile, bool ignore_local_publications)
: support_(type_support), topic_(topic),
  avoid_ros_namespace_conventions_(profile.avoid_ros_namespace_conventions),
  handle_(make(node, profile, ignore_local_publications)) {}

Subscription::Handle Subscription::make(
  const sinew_node * node, const rmw_qos_profile_t & profile, bool ignore_local_publications)
{
  const sinew_qos qos = qos_of(profile);
  auto options = sinew::detail::options<sinew_subscription_options>();
  options.qos = &qos;
  options.accept_encoded = true;
  options.ignore_own_publications = ignore_local_publications;
  options.keep_events = true;
  options.listener = on_arrival;
  options.listener_context = listener_context();
  options.listener_drop_context = drop_listener;
  Handle handle;
  require(
    sinew_subscription_new(
      node, topic(), support_.type(), &options, sinew::detail::Out(handle)));
  return handle;
}

MessageHandle Subscription::take_message(sinew_message_info & about)
{
  Waitable::Take take(waitable());
  MessageHandle message;
  require(sinew_subscription_take(get(), sinew::detail::Out(message), &about));
  // The number of a message doesn't say how many were notified: Sinew also numbers those that were
  // lost on their way here.
  if (message) {
    take.took_one();
  } else {
    take.found_nothing();
  }
  return message;
}

MessageHandle Subscription::take(rmw_message_info_t * info)
{
  auto about = sinew::detail::options<sinew_message_info>();
  MessageHandle message = take_message(about);
  if (message && info != nullptr) {
    *info = rmw_get_zero_initialized_message_info();
    info->source_timestamp = about.source_time;
    // What was retained until then arrived when the subscription was made.
    const std::chrono::nanoseconds age = std::chrono::steady_clock::now() - begin_;
    info->received_timestamp = arrival_of(about, age.count());
    info->publication_sequence_number = about.publication_sequence;
    info->reception_sequence_number = about.reception_sequence;
    info->publisher_gid = gid_of(about.publisher);
    info->from_intra_process = false;
  }
  return message;
}

void Subscription::decode(const MessageHandle & message, void * value) const
{
  const Encoded encoded = encoded_of(message);
  support_.decode(encoded.bytes, encoded.length, value);
}

void * Subscription::lend(MessageHandle message)
{
  const Encoded encoded = encoded_of(message);
  void * value = support_.plain_value(encoded.bytes, encoded.length);
  if (value == nullptr) {
    // Of another byte order, or shorter than its type.
    throw std::runtime_error(
            std::string("a message of ") + sinew_message_type_name(support_.type()) +
            " can't be read in place: take it instead of borrowing it");
  }
  loans_.add(value, std::move(message));
  return value;
}

rmw_qos_profile_t Subscription::profile() const
{
  auto qos = sinew::detail::options<sinew_qos>();
  require(sinew_subscription_qos(get(), &qos));
  rmw_qos_profile_t profile = profile_of(qos);
  profile.avoid_ros_namespace_conventions = avoid_ros_namespace_conventions_;
  return profile;
}

namespace {

struct FreeSubscription {
  void operator()(rmw_subscription_t * subscription) const { rmw_subscription_free(subscription); }
};

rmw_subscription_t * create(
  const rmw_node_t * node, const rosidl_message_type_support_t * type_support, const char * topic,
  const rmw_qos_profile_t & profile, const rmw_subscription_options_t & options)
{
  if (options.require_unique_network_flow_endpoints ==
    RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED)
  {
    throw Failure{fail(
              RMW_RET_UNSUPPORTED,
              "unique network flow endpoints are required, but shared memory has none")};
  }
  require_full_name(topic, profile);
  auto subscription = std::make_unique<Subscription>(
    node_of(*node).get(), type_support, topic, profile, options.ignore_local_publications);
  std::unique_ptr<rmw_subscription_t, FreeSubscription> made(rmw_subscription_allocate());
  if (made == nullptr) {
    throw std::bad_alloc();
  }
  *made = rmw_subscription_t{};
  made->implementation_identifier = identifier;
  made->topic_name = subscription->topic();
  made->options = options;
  made->can_loan_messages = subscription->can_loan();
  made->is_cft_enabled = false;
  made->data = entity_data(subscription.release());
  return made.release();
}

}  // namespace
}  // namespace rmw_sinew

extern "C" {

using rmw_sinew::guarded;
using rmw_sinew::subscription_of;

rmw_subscription_t * rmw_create_subscription(
  const rmw_node_t * node, const rosidl_message_type_support_t * type_support,
  const char * topic_name, const rmw_qos_profile_t * qos_policies,
  const rmw_subscription_options_t * subscription_options)
{
  SINEW_CHECK_HANDLE_OR_NULL(node);
  SINEW_CHECK_NOT_NULL(type_support, nullptr);
  SINEW_CHECK_NOT_NULL(topic_name, nullptr);
  SINEW_CHECK_NOT_NULL(qos_policies, nullptr);
  SINEW_CHECK_NOT_NULL(subscription_options, nullptr);
  return rmw_sinew::guarded_pointer([&] {
    return rmw_sinew::create(
      node, type_support, topic_name, *qos_policies, *subscription_options);
  });
}

rmw_ret_t rmw_destroy_subscription(rmw_node_t * node, rmw_subscription_t * subscription)
{
  SINEW_CHECK_HANDLE(node);
  SINEW_CHECK_HANDLE(subscription);
  return guarded([&] {
    delete &subscription_of(subscription);
    rmw_subscription_free(subscription);
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_subscription_count_matched_publishers(
  const rmw_subscription_t * subscription, size_t * publisher_count)
{
  SINEW_CHECK_HANDLE(subscription);
  SINEW_CHECK_ARGUMENT(publisher_count);
  *publisher_count = sinew_subscription_publisher_count(subscription_of(subscription).get());
  return RMW_RET_OK;
}

rmw_ret_t rmw_subscription_get_actual_qos(
  const rmw_subscription_t * subscription, rmw_qos_profile_t * qos)
{
  SINEW_CHECK_HANDLE(subscription);
  SINEW_CHECK_ARGUMENT(qos);
  return guarded([&] {
    *qos = subscription_of(subscription).profile();
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_subscription_set_on_new_message_callback(
  rmw_subscription_t * subscription, rmw_event_callback_t callback, const void * user_data)
{
  SINEW_CHECK_HANDLE(subscription);
  return guarded([&] {
    subscription_of(subscription).waitable().set_callback(callback, user_data);
    return RMW_RET_OK;
  });
}

}  // extern "C"
