#include "publisher.hpp"

#include <rmw/allocators.h>
#include <rmw/rmw.h>

#include <memory>
#include <utility>

#include "check.hpp"
#include "names.hpp"
#include "node.hpp"
#include "qos.hpp"

namespace rmw_sinew {

namespace {

Publisher::Handle handle_of(
  const sinew_node * node, const char * topic, const MessageSupport & support,
  const rmw_qos_profile_t & profile)
{
  const sinew_qos qos = qos_of(profile);
  auto options = sinew::detail::options<sinew_publisher_options>();
  options.qos = &qos;
  options.keep_events = true;
  Publisher::Handle handle;
  require(sinew_publisher_new(node, topic, support.type(), &options, sinew::detail::Out(handle)));
  return handle;
}

}  // namespace

Publisher::Publisher(
  const sinew_node * node, const rosidl_message_type_support_t * type_support, const char * topic,
  const rmw_qos_profile_t & profile)
: support_(type_support), topic_(topic),
  avoid_ros_namespace_conventions_(profile.avoid_ros_namespace_conventions),
  handle_(handle_of(node, topic, support_, profile)) {}

void Publisher::publish(const void * message) const
{
  const std::size_t size = support_.encoded_size(message);
  DraftHandle draft;
  require(sinew_publisher_draft(get(), size, sinew::detail::Out(draft)));
  const std::size_t length = support_.encode(message, sinew_draft_bytes(draft.get()), size);
  if (length < size) {
    require(sinew_draft_truncate(draft.get(), length));
  }
  require(sinew_publisher_publish_draft(get(), draft.release()));
}

void Publisher::publish_encoded(const rmw_serialized_message_t & message) const
{
  require(sinew_publisher_publish_bytes(get(), message.buffer, message.buffer_length));
}

void * Publisher::borrow()
{
  DraftHandle draft;
  const std::size_t length = MessageSupport::HEADER_SIZE + support_.plain_size();
  require(sinew_publisher_draft(get(), length, sinew::detail::Out(draft)));
  void * value = support_.begin_plain(sinew_draft_bytes(draft.get()), length);
  loans_.add(value, std::move(draft));
  return value;
}

void Publisher::publish_loan(const void * value)
{
  require(sinew_publisher_publish_draft(get(), loans_.remove(value).release()));
}

rmw_qos_profile_t Publisher::profile() const
{
  auto qos = sinew::detail::options<sinew_qos>();
  require(sinew_publisher_qos(get(), &qos));
  rmw_qos_profile_t profile = profile_of(qos);
  profile.avoid_ros_namespace_conventions = avoid_ros_namespace_conventions_;
  return profile;
}

namespace {

struct FreePublisher {
  void operator()(rmw_publisher_t * publisher) const { rmw_publisher_free(publisher); }
};

rmw_publisher_t * create(
  const rmw_node_t * node, const rosidl_message_type_support_t * type_support, const char * topic,
  const rmw_qos_profile_t & profile, const rmw_publisher_options_t & options)
{
  if (options.require_unique_network_flow_endpoints ==
    RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED)
  {
    throw Failure{fail(
              RMW_RET_UNSUPPORTED,
              "unique network flow endpoints are required, but shared memory has none")};
  }
  require_full_name(topic, profile);
  auto publisher =
    std::make_unique<Publisher>(node_of(*node).get(), type_support, topic, profile);
  std::unique_ptr<rmw_publisher_t, FreePublisher> made(rmw_publisher_allocate());
  if (made == nullptr) {
    throw std::bad_alloc();
  }
  *made = rmw_publisher_t{};
  made->implementation_identifier = identifier;
  made->topic_name = publisher->topic();
  made->options = options;
  made->can_loan_messages = publisher->can_loan();
  made->data = publisher.release();
  return made.release();
}

}  // namespace
}  // namespace rmw_sinew

extern "C" {

using rmw_sinew::guarded;
using rmw_sinew::publisher_of;
using rmw_sinew::result;

rmw_publisher_t * rmw_create_publisher(
  const rmw_node_t * node, const rosidl_message_type_support_t * type_support,
  const char * topic_name, const rmw_qos_profile_t * qos_profile,
  const rmw_publisher_options_t * publisher_options)
{
  SINEW_CHECK_HANDLE_OR_NULL(node);
  SINEW_CHECK_NOT_NULL(type_support, nullptr);
  SINEW_CHECK_NOT_NULL(topic_name, nullptr);
  SINEW_CHECK_NOT_NULL(qos_profile, nullptr);
  SINEW_CHECK_NOT_NULL(publisher_options, nullptr);
  return rmw_sinew::guarded_pointer([&] {
    return rmw_sinew::create(node, type_support, topic_name, *qos_profile, *publisher_options);
  });
}

rmw_ret_t rmw_destroy_publisher(rmw_node_t * node, rmw_publisher_t * publisher)
{
  SINEW_CHECK_HANDLE(node);
  SINEW_CHECK_HANDLE(publisher);
  return guarded([&] {
    delete static_cast<rmw_sinew::Publisher *>(publisher->data);
    rmw_publisher_free(publisher);
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_publish(
  const rmw_publisher_t * publisher, const void * ros_message, rmw_publisher_allocation_t *)
{
  SINEW_CHECK_HANDLE(publisher);
  SINEW_CHECK_ARGUMENT(ros_message);
  return guarded([&] {
    publisher_of(publisher).publish(ros_message);
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_publish_serialized_message(
  const rmw_publisher_t * publisher, const rmw_serialized_message_t * serialized_message,
  rmw_publisher_allocation_t *)
{
  SINEW_CHECK_HANDLE(publisher);
  SINEW_CHECK_ARGUMENT(serialized_message);
  return guarded([&] {
    publisher_of(publisher).publish_encoded(*serialized_message);
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_publisher_count_matched_subscriptions(
  const rmw_publisher_t * publisher, size_t * subscription_count)
{
  SINEW_CHECK_HANDLE(publisher);
  SINEW_CHECK_ARGUMENT(subscription_count);
  *subscription_count = sinew_publisher_subscription_count(publisher_of(publisher).get());
  return RMW_RET_OK;
}

rmw_ret_t rmw_publisher_get_actual_qos(const rmw_publisher_t * publisher, rmw_qos_profile_t * qos)
{
  SINEW_CHECK_HANDLE(publisher);
  SINEW_CHECK_ARGUMENT(qos);
  return guarded([&] {
    *qos = publisher_of(publisher).profile();
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_publisher_assert_liveliness(const rmw_publisher_t * publisher)
{
  SINEW_CHECK_HANDLE(publisher);
  return result(sinew_publisher_assert_liveliness(publisher_of(publisher).get()));
}

rmw_ret_t rmw_publisher_wait_for_all_acked(
  const rmw_publisher_t * publisher, rmw_time_t wait_timeout)
{
  SINEW_CHECK_HANDLE(publisher);
  return result(
    sinew_publisher_wait_for_all_acked(
      publisher_of(publisher).get(), rmw_sinew::timeout_of(wait_timeout)));
}

}  // extern "C"
