/// Quality of service: the messages that are kept for readers, and the promises that are made.
#ifndef SINEW_QOS_HPP
#define SINEW_QOS_HPP

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

#include "sinew/duration.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew
{

/// The messages that wait for their reader.
enum class HistoryPolicy
{
  SystemDefault = 0,
  /// The newest messages, up to the depth. The default.
  KeepLast = SINEW_HISTORY_KEEP_LAST,
  /// All messages.
  KeepAll = SINEW_HISTORY_KEEP_ALL,
};

/// Whether messages may be lost on their way.
enum class ReliabilityPolicy
{
  SystemDefault = 0,
  /// Messages are sent again until they arrive. The default.
  Reliable = SINEW_RELIABILITY_RELIABLE,
  /// Messages may be lost.
  BestEffort = SINEW_RELIABILITY_BEST_EFFORT,
  /// The strictest one with which the endpoint matches all other ends that exist when it is made.
  BestAvailable = SINEW_RELIABILITY_BEST_AVAILABLE,
};

/// Whether a subscription gets messages that were published before it.
enum class DurabilityPolicy
{
  SystemDefault = 0,
  /// It gets the history of each publisher that still exists.
  TransientLocal = SINEW_DURABILITY_TRANSIENT_LOCAL,
  /// It doesn't. The default.
  Volatile = SINEW_DURABILITY_VOLATILE,
  /// As `ReliabilityPolicy::BestAvailable`.
  BestAvailable = SINEW_DURABILITY_BEST_AVAILABLE,
};

/// How a publisher proves that it is alive.
enum class LivelinessPolicy
{
  SystemDefault = 0,
  /// By existing in a process that lives. The default.
  Automatic = SINEW_LIVELINESS_AUTOMATIC,
  /// By publishing, or by `assert_liveliness`, at least once in every lease.
  ManualByTopic = SINEW_LIVELINESS_MANUAL_BY_TOPIC,
  /// As `ReliabilityPolicy::BestAvailable`.
  BestAvailable = SINEW_LIVELINESS_BEST_AVAILABLE,
};

/// Beginnings of a QoS: `QoS(KeepLast(10))`, `QoS(KeepAll())`.
struct QoSInitialization
{
  HistoryPolicy history_policy;
  /// The number of messages that `KeepLast` keeps; 0: the default, 10.
  std::size_t depth;

  static QoSInitialization from_rmw(const sinew_qos & profile)
  {
    return {static_cast<HistoryPolicy>(profile.history), profile.depth};
  }
};

struct KeepAll : QoSInitialization
{
  KeepAll()
  : QoSInitialization{HistoryPolicy::KeepAll, 0} {}
};

struct KeepLast : QoSInitialization
{
  explicit KeepLast(std::size_t count)
  : QoSInitialization{HistoryPolicy::KeepLast, count} {}
};

/// The quality of service that a publisher offers or a subscription requests. They match if the
/// publisher offers everything that the subscription requests.
///
/// The setters return the QoS: `QoS(10).best_effort().transient_local()`. A depth stands for a QoS:
/// `create_publisher<T>("topic", 10)`.
class QoS
{
public:
  /// The last `depth` messages; 0: the default, 10. At most 16,777,216.
  QoS(std::size_t depth)  // NOLINT(runtime/explicit)
  : QoS(KeepLast(depth)) {}

  /// All else is as in the profile, by default reliable and volatile.
  explicit QoS(
    const QoSInitialization & initialization, const sinew_qos & profile = *sinew_qos_default())
  : profile_(profile)
  {
    history(initialization.history_policy);
    profile_.depth = initialization.depth;
  }

  /// The QoS in the form of the C interface, which may be changed.
  sinew_qos & get_rmw_qos_profile() noexcept {return profile_;}
  const sinew_qos & get_rmw_qos_profile() const noexcept {return profile_;}

  HistoryPolicy history() const noexcept {return static_cast<HistoryPolicy>(profile_.history);}
  QoS & history(HistoryPolicy policy) noexcept
  {
    profile_.history = static_cast<sinew_history>(policy);
    return *this;
  }
  QoS & keep_all() noexcept {return history(HistoryPolicy::KeepAll);}
  QoS & keep_last(std::size_t depth) noexcept
  {
    profile_.depth = depth;
    return history(HistoryPolicy::KeepLast);
  }
  std::size_t depth() const noexcept {return profile_.depth;}

  ReliabilityPolicy reliability() const noexcept
  {
    return static_cast<ReliabilityPolicy>(profile_.reliability);
  }
  QoS & reliability(ReliabilityPolicy policy) noexcept
  {
    profile_.reliability = static_cast<sinew_reliability>(policy);
    return *this;
  }
  QoS & reliable() noexcept {return reliability(ReliabilityPolicy::Reliable);}
  QoS & best_effort() noexcept {return reliability(ReliabilityPolicy::BestEffort);}
  QoS & reliability_best_available() noexcept
  {
    return reliability(ReliabilityPolicy::BestAvailable);
  }

  DurabilityPolicy durability() const noexcept
  {
    return static_cast<DurabilityPolicy>(profile_.durability);
  }
  QoS & durability(DurabilityPolicy policy) noexcept
  {
    profile_.durability = static_cast<sinew_durability>(policy);
    return *this;
  }
  QoS & transient_local() noexcept {return durability(DurabilityPolicy::TransientLocal);}
  QoS & durability_volatile() noexcept {return durability(DurabilityPolicy::Volatile);}
  QoS & durability_best_available() noexcept {return durability(DurabilityPolicy::BestAvailable);}

  /// The longest time between two messages: promised by a publisher, expected by a subscription.
  /// Zero or less: no limit, the default.
  Duration deadline() const noexcept {return Duration::from_nanoseconds(profile_.deadline);}
  QoS & deadline(const Duration & deadline) noexcept
  {
    profile_.deadline = deadline.nanoseconds();
    return *this;
  }

  /// The time after its publication during which a message may be taken. Zero or less: for ever,
  /// the default.
  Duration lifespan() const noexcept {return Duration::from_nanoseconds(profile_.lifespan);}
  QoS & lifespan(const Duration & lifespan) noexcept
  {
    profile_.lifespan = lifespan.nanoseconds();
    return *this;
  }

  LivelinessPolicy liveliness() const noexcept
  {
    return static_cast<LivelinessPolicy>(profile_.liveliness);
  }
  QoS & liveliness(LivelinessPolicy policy) noexcept
  {
    profile_.liveliness = static_cast<sinew_liveliness>(policy);
    return *this;
  }

  /// The time for which a publisher counts as alive after its last sign of life. Zero or less: no
  /// limit, the default.
  Duration liveliness_lease_duration() const noexcept
  {
    return Duration::from_nanoseconds(profile_.lease);
  }
  QoS & liveliness_lease_duration(const Duration & lease) noexcept
  {
    profile_.lease = lease.nanoseconds();
    return *this;
  }

  friend bool operator==(const QoS & one, const QoS & other) noexcept
  {
    const sinew_qos & a = one.profile_;
    const sinew_qos & b = other.profile_;
    return a.history == b.history && a.depth == b.depth && a.reliability == b.reliability &&
           a.durability == b.durability && a.liveliness == b.liveliness &&
           a.deadline == b.deadline && a.lifespan == b.lifespan && a.lease == b.lease;
  }
  friend bool operator!=(const QoS & one, const QoS & other) noexcept {return !(one == other);}

protected:
  /// A named profile, with another history.
  QoS(const sinew_qos & profile, const QoSInitialization & initialization)
  : QoS(initialization, profile) {}

private:
  sinew_qos profile_;
};

/// The last message, best effort: for `/clock`.
class ClockQoS : public QoS
{
public:
  explicit ClockQoS(
    const QoSInitialization & history = QoSInitialization::from_rmw(*sinew_qos_clock()))
  : QoS(*sinew_qos_clock(), history) {}
};

/// The last 5 messages, best effort: for sensors.
class SensorDataQoS : public QoS
{
public:
  explicit SensorDataQoS(
    const QoSInitialization & history = QoSInitialization::from_rmw(*sinew_qos_sensor_data()))
  : QoS(*sinew_qos_sensor_data(), history) {}
};

/// The last 1000 messages: for the services of parameters.
class ParametersQoS : public QoS
{
public:
  explicit ParametersQoS(
    const QoSInitialization & history = QoSInitialization::from_rmw(*sinew_qos_parameters()))
  : QoS(*sinew_qos_parameters(), history) {}
};

/// The last 10 messages: for requests and responses.
class ServicesQoS : public QoS
{
public:
  explicit ServicesQoS(
    const QoSInitialization & history = QoSInitialization::from_rmw(*sinew_qos_services()))
  : QoS(*sinew_qos_services(), history) {}
};

/// The last 1000 messages: for `/parameter_events`.
class ParameterEventsQoS : public QoS
{
public:
  explicit ParameterEventsQoS(
    const QoSInitialization & history = QoSInitialization::from_rmw(*sinew_qos_parameter_events()))
  : QoS(*sinew_qos_parameter_events(), history) {}
};

/// The last 1000 messages, for late joiners as well: for `/rosout`.
class RosoutQoS : public QoS
{
public:
  explicit RosoutQoS(
    const QoSInitialization & history = QoSInitialization::from_rmw(*sinew_qos_rosout()))
  : QoS(*sinew_qos_rosout(), history) {}
};

/// The default, as there is no middleware below that could have another.
class SystemDefaultsQoS : public QoS
{
public:
  explicit SystemDefaultsQoS(
    const QoSInitialization & history = QoSInitialization::from_rmw(*sinew_qos_system_default()))
  : QoS(*sinew_qos_system_default(), history) {}
};

/// The strictest policies with which the endpoint matches all other ends that exist when it is
/// made.
class BestAvailableQoS : public QoS
{
public:
  explicit BestAvailableQoS(
    const QoSInitialization & history = QoSInitialization::from_rmw(*sinew_qos_best_available()))
  : QoS(*sinew_qos_best_available(), history) {}
};

/// A policy of a QoS, with its number in rmw.
enum class QosPolicyKind : unsigned
{
  Invalid = 0,
  Durability = SINEW_QOS_POLICY_DURABILITY,
  Deadline = SINEW_QOS_POLICY_DEADLINE,
  Liveliness = SINEW_QOS_POLICY_LIVELINESS,
  Reliability = SINEW_QOS_POLICY_RELIABILITY,
  History = SINEW_QOS_POLICY_HISTORY,
  Lifespan = SINEW_QOS_POLICY_LIFESPAN,
  Depth = SINEW_QOS_POLICY_DEPTH,
  LivelinessLeaseDuration = SINEW_QOS_POLICY_LEASE,
};

/// Whether a QoS that parameters have changed can be used; if not, `reason` says why.
struct QosCallbackResult
{
  bool successful = false;
  std::string reason;
};

using QosCallback = std::function<QosCallbackResult(const QoS &)>;

/// The policies of an endpoint that parameters may change when it is made:
/// `qos_overrides./TOPIC.publisher.depth` and so on.
class QosOverridingOptions
{
public:
  /// None.
  QosOverridingOptions() = default;

  /// These. The validation gets the QoS of the endpoint before anything is published or received by
  /// the program. The id distinguishes the endpoint from the node's others on the topic.
  QosOverridingOptions(
    std::initializer_list<QosPolicyKind> policies, QosCallback validation = nullptr,
    std::string id = {})
  : validation_(std::move(validation)), id_(std::move(id))
  {
    for (const QosPolicyKind policy : policies) {
      policies_ |= static_cast<sinew_qos_policy>(policy);
    }
  }

  /// History, depth and reliability.
  static QosOverridingOptions with_default_policies(
    QosCallback validation = nullptr, std::string id = {})
  {
    return QosOverridingOptions(
      {QosPolicyKind::History, QosPolicyKind::Depth, QosPolicyKind::Reliability},
      std::move(validation), std::move(id));
  }

  const std::string & get_id() const noexcept {return id_;}
  const QosCallback & get_validation_callback() const noexcept {return validation_;}

  /// The policies, added up.
  sinew_qos_policy policies() const noexcept {return policies_;}

private:
  sinew_qos_policy policies_ = 0;
  QosCallback validation_;
  std::string id_;
};

enum class QoSCompatibility {Ok, Warning, Error};

struct QoSCheckCompatibleResult
{
  QoSCompatibility compatibility;
  /// Why not, with the offered and the requested value.
  std::string reason;
};

/// Returns whether a publisher and a subscription with these QoS match.
inline QoSCheckCompatibleResult qos_check_compatible(
  const QoS & publisher, const QoS & subscription)
{
  const auto status = sinew_qos_check_compatible(
    &publisher.get_rmw_qos_profile(), &subscription.get_rmw_qos_profile());
  if (status == SINEW_OK) {
    return {QoSCompatibility::Ok, ""};
  }
  return {QoSCompatibility::Error, sinew_error_message()};
}

namespace detail
{

/// Runs the validation of an endpoint's QoS, if there is one.
inline Result<void> validate(const QosOverridingOptions & overrides, const QoS & qos)
{
  if (!overrides.get_validation_callback()) {
    return {};
  }
  const QosCallbackResult result = overrides.get_validation_callback()(qos);
  if (result.successful) {
    return {};
  }
  return Error(
    SINEW_ERROR_INVALID_QOS,
    "the QoS that parameters have changed was refused: " + result.reason);
}

/// Returns the QoS that `read` gets for an endpoint.
template<class Endpoint, class Read>
QoS qos_of(const Endpoint * endpoint, Read read)
{
  QoS qos(10);
  check(read(endpoint, &qos.get_rmw_qos_profile()));
  return qos;
}

}  // namespace detail

}  // namespace sinew

#endif  // SINEW_QOS_HPP
