// The front end of C++: what a program that includes `sinew/sinew.hpp` calls.
#include "c_only.h"
#include "handles.hpp"
#include "messages.hpp"
#include "topics.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "sinew/sinew.hpp"

namespace
{

using test_msgs::Numbers;

/// A wait set, and what its last wait found.
struct WaitSet
{
  sinew::WaitSet set;
  std::unique_ptr<sinew::WaitResult> found;

  explicit WaitSet(sinew::FaultPolicy on_error)
  : set(on_error) {}
};

}  // namespace

// ---- what the shared functions ask for ----

static const sinew_context * context_in(const void * context) {return in<sinew::Context>(context)->handle();}
static const sinew_node * node_in(const void * node) {return in<Node>(node)->node->handle();}
static const sinew_client * client_in(const void * client)
{
  return in<sinew::Client<Numbers>>(client)->handle();
}
static const sinew_server * server_in(const void * server)
{
  return in<sinew::Service<Numbers>>(server)->handle();
}
static const sinew_executor * executor_in(const void * executor)
{
  return in<sinew::Executor>(executor)->handle();
}
static const sinew_wait_set * set_in(const void * set) {return in<WaitSet>(set)->set.handle();}
static const sinew_service_type * service_type() {return sinew::detail::service_type<Numbers>();}

// ---- contexts, nodes, groups ----

sinew_status front_context_new(
  std::uint32_t domain, const char * directory, const void * clock, void ** context)
{
  if (clock != nullptr) {
    sinew_context * made = nullptr;
    const auto status = new_context(domain, directory, clock, &made);
    return status != SINEW_OK ? status :
           put<sinew::Context>(sinew::Result(sinew::Context::adopt(made)), context);
  }
  sinew::InitOptions options;
  options.set_domain_id(domain);
  options.shared_memory = directory != nullptr;
  options.shutdown_on_signal = false;
  if (directory != nullptr) {
    options.directory = directory;
  }
  return put<sinew::Context>(sinew::Context::try_make(0, nullptr, options), context);
}

void front_context_free(void * context) {drop<sinew::Context>(context);}
void front_context_shutdown(const void * context) {in<sinew::Context>(context)->shutdown();}
bool front_context_is_valid(const void * context) {return in<sinew::Context>(context)->is_valid();}

sinew_status front_node_new(const void * context, const char * name, void ** node)
{
  return attempt(
    [&] {
      const auto options = sinew::NodeOptions().context(in<sinew::Context>(context));
      *node = new std::shared_ptr<Node>(
        std::make_shared<Node>(std::make_shared<sinew::Node>(name, options)));
    });
}

void front_node_free(void * node) {drop<Node>(node);}

sinew_status front_group_new(const void * node, bool reentrant, void ** group)
{
  const auto type =
    reentrant ? sinew::CallbackGroupType::Reentrant : sinew::CallbackGroupType::MutuallyExclusive;
  return put<sinew::CallbackGroup>(in<Node>(node)->node->try_create_callback_group(type), group);
}

void front_group_free(void * group) {drop<sinew::CallbackGroup>(group);}
void front_group_set_priority(const void * group, std::int32_t priority)
{
  in<sinew::CallbackGroup>(group)->set_priority(priority);
}
void front_group_pause(const void * group) {in<sinew::CallbackGroup>(group)->pause();}
void front_group_resume(const void * group) {in<sinew::CallbackGroup>(group)->resume();}

// ---- publishers ----

sinew_status front_publisher_new(
  const void * node, const char * topic, int type, const sinew_qos * qos, front_handler handler,
  void ** publisher)
{
  sinew::PublisherOptions options;
  if (handler.event != 0) {
    set_event(options.event_callbacks, handler.event, {handler.function, handler.context});
  }
  const sinew::QoS offered(sinew::QoSInitialization::from_rmw(*qos), *qos);
  auto & in_node = *in<Node>(node)->node;
  const auto make = type == FRONT_NUMBER ? new_publisher<Number> : new_publisher<Text>;
  return attempt([&] {*publisher = make(in_node, topic, offered, options);});
}

void front_publisher_free(void * publisher) {drop<AnyPublisher>(publisher);}

sinew_status front_publisher_publish(const void * publisher, const std::uint8_t * bytes, std::size_t length)
{
  return attempt([&] {in<AnyPublisher>(publisher)->publish(bytes, length);});
}

std::size_t front_publisher_subscription_count(const void * publisher)
{
  return in<AnyPublisher>(publisher)->base().get_subscription_count();
}

std::uint64_t front_publisher_published(const void * publisher)
{
  return in<AnyPublisher>(publisher)->base().get_statistics().published;
}

void front_publisher_assert_liveliness(const void * publisher)
{
  (void)in<AnyPublisher>(publisher)->base().assert_liveliness();
}

void front_publisher_gid(const void * publisher, sinew_gid * gid)
{
  const sinew::Gid own = in<AnyPublisher>(publisher)->base().get_gid();
  std::memcpy(gid->bytes, own.data(), own.size());
}

// ---- subscriptions ----

sinew_status front_subscription_new(
  const void * node, const void * group, const char * topic, const front_subscription_options * with,
  void ** subscription)
{
  sinew::SubscriptionOptions options;
  options.callback_group = group_in(group);
  options.ignore_local_publications = with->ignore_own_publications;
  if (with->handler.event != 0) {
    auto & events = options.event_callbacks;
    const Callback<front_event> handler(with->handler.function, with->handler.context);
    set_event(events, with->handler.event, handler);
    if (with->handler.event == SINEW_EVENT_LIVELINESS_CHANGED) {
      set(events.liveliness_callback, handler);
    } else if (with->handler.event == SINEW_EVENT_MESSAGE_LOST) {
      set(events.message_lost_callback, handler);
    }
  }
  return attempt(
    [&] {*subscription = new_subscription(*in<Node>(node), topic, *with, std::move(options));});
}

void front_subscription_free(void * subscription) {drop<AnySubscription>(subscription);}
void front_subscription_close(const void * subscription) {close<AnySubscription>(subscription);}

sinew_status front_subscription_take(
  const void * subscription, front_receive receive, void * context, sinew_gid * publisher, bool * taken)
{
  // The context is the caller's.
  const Callback<front_receive> with(receive, {context, [](void *) {}});
  sinew::MessageInfo info;
  const auto status = attempt([&] {*taken = in<AnySubscription>(subscription)->take(with, info);});
  const sinew::Gid gid = info.publisher();
  std::memcpy(publisher->bytes, gid.data(), gid.size());
  return status;
}

void front_subscription_set_listener(
  const void * subscription, sinew_listener listener, front_context_of context)
{
  in<AnySubscription>(subscription)->base().set_on_new_message_callback(
    [with = Callback<sinew_listener>(listener, context)](std::size_t count) {with.call(count);});
}

std::size_t front_subscription_publisher_count(const void * subscription)
{
  return in<AnySubscription>(subscription)->base().get_publisher_count();
}

void front_subscription_statistics(const void * subscription, sinew_subscription_statistics * statistics)
{
  *statistics = in<AnySubscription>(subscription)->base().get_statistics();
}

// ---- timers and guard conditions ----

sinew_status front_timer_new(
  const void * node, const void * group, std::int64_t period, int clock, front_elapsed callback,
  front_context_of context, void ** timer)
{
  const auto & in_node = in<Node>(node)->node;
  const std::chrono::nanoseconds every(period);
  const auto itself = std::make_shared<std::weak_ptr<sinew::TimerBase>>();
  const auto call =
    [itself, with = Callback<front_elapsed>(callback, context)](const sinew::TimerInfo & info) {
      const front_timer_info about{
        info.expected_call_time.nanoseconds(), info.actual_call_time.nanoseconds(), info.skipped,
        itself.get()};
      with(&about);
    };
  return attempt(
    [&] {
      // It begins when its callback knows it.
      sinew::TimerBase::SharedPtr made;
      if (clock == SINEW_CLOCK_DEFAULT) {
        made = in_node->create_timer(every, call, group_in(group), false);
      } else if (clock == SINEW_CLOCK_STEADY) {
        made = in_node->create_wall_timer(every, call, group_in(group), false);
      } else {
        const auto other = std::make_shared<sinew::Clock>(static_cast<sinew::ClockType>(clock));
        made = sinew::create_timer(in_node, other, every, call, group_in(group), false);
      }
      *itself = made;
      made->reset();
      *timer = new sinew::TimerBase::SharedPtr(std::move(made));
    });
}

void front_timer_free(void * timer) {drop<sinew::TimerBase>(timer);}
void front_timer_close(const void * timer) {close<sinew::TimerBase>(timer);}
void front_timer_cancel(const void * timer) {in<sinew::TimerBase>(timer)->cancel();}
void front_timer_reset(const void * timer) {in<sinew::TimerBase>(timer)->reset();}
std::uint64_t front_timer_skipped(const void * timer) {return in<sinew::TimerBase>(timer)->skipped();}
int front_timer_clock(const void * timer) {return in<sinew::TimerBase>(timer)->get_clock_type();}

void front_timer_info_cancel(const void * info)
{
  if (const auto timer = static_cast<const std::weak_ptr<sinew::TimerBase> *>(info)->lock()) {
    timer->cancel();
  }
}

sinew_status front_guard_new(
  const void * node, const void * group, front_triggered callback, front_context_of context,
  void ** guard)
{
  return attempt(
    [&] {
      *guard = new sinew::GuardCondition::SharedPtr(
        in<Node>(node)->node->create_guard_condition(
          [with = Callback<front_triggered>(callback, context)](std::size_t count) {with(count);},
          group_in(group)));
    });
}

void front_guard_free(void * guard) {drop<sinew::GuardCondition>(guard);}
void front_guard_close(const void * guard) {close<sinew::GuardCondition>(guard);}
void front_guard_trigger(const void * guard) {in<sinew::GuardCondition>(guard)->trigger();}

// ---- services ----

namespace
{

/// A request that is answered later.
struct Responder
{
  std::weak_ptr<sinew::Service<Numbers>> service;
  sinew::RequestId id;
};

template<class Answer>
sinew_status answered(void * responder, Answer && answer)
{
  const std::unique_ptr<Responder> own(static_cast<Responder *>(responder));
  const auto service = own->service.lock();
  return service ? status_of(answer(*service, own->id)) : front_failed("the service is gone");
}

}  // namespace

sinew_status front_server_new(
  const void * node, const void * group, const char * name, std::size_t max_requests,
  front_request callback, front_context_of context, void ** server)
{
  using Service = sinew::Service<Numbers>;
  return put<Service>(
    Service::try_make(
      in<Node>(node)->node->handle(), name,
      [with = Callback<front_request>(callback, context)](
        std::shared_ptr<Service> service, std::shared_ptr<sinew::RequestId> id,
        std::shared_ptr<Number> request) {
        const auto call = [&](const std::uint8_t * bytes, std::size_t length) {
          with(bytes, length, new Responder{service, *id});
        };
        hand_over(call, *request);
      }, group_in(group), max_requests),
    server);
}

void front_server_free(void * server) {drop<sinew::Service<Numbers>>(server);}

sinew_status front_respond(void * responder, const std::uint8_t * bytes, std::size_t length)
{
  return answered(
    responder, [&](sinew::Service<Numbers> & service, const sinew::RequestId & id) {
      return service.try_send_response(id, message_of<Number>(bytes, length));
    });
}

sinew_status front_fail(void * responder, const char * text)
{
  return answered(
    responder, [&](sinew::Service<Numbers> & service, const sinew::RequestId & id) {
      return service.try_send_error(id, text);
    });
}

void front_responder_free(void * responder) {(void)front_fail(responder, "nobody answered");}

sinew_status front_client_new(const void * node, const void * group, const char * name, void ** client)
{
  using Client = sinew::Client<Numbers>;
  return put<Client>(
    in<Node>(node)->node->try_create_client<Numbers>(name, sinew::ServicesQoS(), group_in(group)),
    client);
}

void front_client_free(void * client) {drop<sinew::Client<Numbers>>(client);}

bool front_client_wait_for_server(const void * client, std::int64_t timeout)
{
  return in<sinew::Client<Numbers>>(client)->wait_for_service(std::chrono::nanoseconds(timeout));
}

sinew_status front_client_call(
  const void * client, const std::uint8_t * bytes, std::size_t length, std::int64_t timeout,
  front_receive receive, void * context)
{
  const auto response = in<sinew::Client<Numbers>>(client)->try_call(
    message_of<Number>(bytes, length), std::chrono::nanoseconds(timeout));
  const auto call = [&](const std::uint8_t * answer, std::size_t size) {
      return receive(context, answer, size);
    };
  return response ? hand_over(call, **response) : failed(response.error());
}

sinew_status front_client_call_then(
  const void * client, const std::uint8_t * bytes, std::size_t length, front_result result,
  front_context_of context)
{
  using Client = sinew::Client<Numbers>;
  return attempt(
    [&] {
      in<Client>(client)->async_send_request(
        std::make_shared<Number>(message_of<Number>(bytes, length)),
        [with = Callback<front_result>(result, context)](Client::SharedFuture future) {
          Client::SharedResponse response;
          try {
            response = future.get();
          } catch (...) {
            const auto error = current_error();
            return with(error.code(), error.what(), nullptr, std::size_t{0});
          }
          const auto call = [&with](const std::uint8_t * answer, std::size_t size) {
            with(static_cast<sinew_status>(SINEW_OK), "", answer, size);
          };
          hand_over(call, *response);
        });
    });
}

// ---- executors ----

sinew_status front_executor_new(std::size_t threads, int on_error, void ** executor)
{
  using namespace sinew::executors;  // NOLINT(build/namespaces)
  sinew::ExecutorOptions options;
  options.on_error = static_cast<sinew::FaultPolicy>(on_error);
  return threads == 1 ?
         put<sinew::Executor>(SingleThreadedExecutor::try_make(options), executor) :
         put<sinew::Executor>(MultiThreadedExecutor::try_make(options, threads), executor);
}

void front_executor_free(void * executor) {drop<sinew::Executor>(executor);}

sinew_status front_executor_add_node(const void * executor, const void * node)
{
  return status_of(in<sinew::Executor>(executor)->try_add_node(*in<Node>(node)->node));
}

sinew_status front_executor_add_group(const void * executor, const void * group)
{
  return status_of(
    in<sinew::Executor>(executor)->try_add_callback_group(*in<sinew::CallbackGroup>(group)));
}

sinew_status front_executor_spin(const void * executor)
{
  return status_of(in<sinew::Executor>(executor)->try_spin());
}

sinew_status front_executor_spin_some(const void * executor)
{
  return status_of(in<sinew::Executor>(executor)->try_spin_some());
}

sinew_status front_executor_spin_all(const void * executor, std::int64_t max)
{
  return status_of(in<sinew::Executor>(executor)->try_spin_all(std::chrono::nanoseconds(max)));
}

sinew_status front_executor_descriptor(const void * executor, int * descriptor)
{
  return attempt([&] {*descriptor = in<sinew::Executor>(executor)->descriptor();});
}

// ---- wait sets ----

namespace
{

/// Stops an executor or a wait set that is still there.
using Stop = std::function<void ()>;

}  // namespace

sinew_status front_set_new(int on_error, void ** set)
{
  return attempt(
    [&] {
      *set = new std::shared_ptr<WaitSet>(
        std::make_shared<WaitSet>(static_cast<sinew::FaultPolicy>(on_error)));
    });
}

void front_set_free(void * set) {drop<WaitSet>(set);}

sinew_status front_set_add_node(const void * set, const void * node)
{
  return status_of(in<WaitSet>(set)->set.try_add_node(*in<Node>(node)->node));
}

sinew_status front_set_add_group(const void * set, const void * group)
{
  return status_of(in<WaitSet>(set)->set.try_add_callback_group(*in<sinew::CallbackGroup>(group)));
}

sinew_status front_set_add_subscription(const void * set, const void * subscription)
{
  return status_of(
    in<WaitSet>(set)->set.try_add_subscription(in<AnySubscription>(subscription)->base()));
}

sinew_status front_set_wait(const void * set, std::int64_t timeout, std::size_t * count)
{
  WaitSet & self = *in<WaitSet>(set);
  auto found = self.set.try_wait(std::chrono::nanoseconds(timeout));
  if (!found) {
    return failed(found.error());
  }
  self.found = std::make_unique<sinew::WaitResult>(*found);
  *count = found->size();
  switch (found->kind()) {
    case sinew::WaitResultKind::Interrupted: return SINEW_ERROR_STOPPED;
    case sinew::WaitResultKind::Empty: return SINEW_ERROR_NOTHING_TO_SPIN;
    default: return SINEW_OK;
  }
}

sinew_status front_set_run(const void * set, std::size_t index)
{
  return status_of((*in<WaitSet>(set)->found)[index].try_run());
}

bool front_set_is_subscription(const void * set, std::size_t index, const void * subscription)
{
  return (*in<WaitSet>(set)->found)[index].is(in<AnySubscription>(subscription)->base());
}

// ---- stopping ----

sinew_status front_executor_stop_handle(const void * executor, void ** stop)
{
  *stop = new Stop(
    [weak = std::weak_ptr(in<sinew::Executor>(executor))] {
      if (const auto there = weak.lock()) {
        there->cancel();
      }
    });
  return SINEW_OK;
}

sinew_status front_set_stop_handle(const void * set, void ** stop)
{
  *stop = new Stop(
    [weak = std::weak_ptr(in<WaitSet>(set))] {
      if (const auto there = weak.lock()) {
        there->set.stop();
      }
    });
  return SINEW_OK;
}

void front_stop(const void * stop) {(*static_cast<const Stop *>(stop))();}
void front_stop_free(void * stop) {delete static_cast<Stop *>(stop);}
