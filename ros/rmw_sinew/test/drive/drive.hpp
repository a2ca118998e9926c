// What the programs that drive rmw_sinew share. They call it as rcl does.
#pragma once

#include <rcutils/error_handling.h>
#include <rmw/get_topic_endpoint_info.h>
#include <rmw/rmw.h>
#include <sys/types.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "types.hpp"

/// Ends the program with a sentence unless it holds.
#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      const rcutils_error_string_t error = rcutils_get_error_string(); \
      std::fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition, error.str); \
      std::exit(1); \
    } \
  } while (false)

/// A call of rmw that must succeed, without an error left behind.
#define OK(call) \
  do { \
    const rmw_ret_t checked = (call); \
    CHECK(checked == RMW_RET_OK && !rcutils_error_is_set()); \
  } while (false)

/// A call that must fail with this value, and an error that says why.
#define FAILS(call, value) \
  do { \
    const rmw_ret_t checked = (call); \
    CHECK(checked == (value) && rcutils_error_is_set()); \
    rcutils_reset_error(); \
  } while (false)

/// A call that must return null, and an error that says why.
#define MAKES_NOTHING(call) \
  do { \
    const void * made = (call); \
    CHECK(made == nullptr && rcutils_error_is_set()); \
    rcutils_reset_error(); \
  } while (false)

using Arguments = std::vector<std::string>;

/// Programs of this executable, by name. `main` runs the one that its first argument names.
std::map<std::string, std::function<void(const Arguments &)>> & programs();

/// Adds a program: `PROGRAM(topics) { .. }`, which has `arguments`.
#define PROGRAM(name) \
  static void run_##name(const Arguments & arguments); \
  static const bool added_##name = (programs()[#name] = run_##name, true); \
  static void run_##name([[maybe_unused]] const Arguments & arguments)

/// Options with an enclave, as rcl makes them.
class Options {
public:
  Options();
  ~Options();
  Options(const Options &) = delete;
  Options & operator=(const Options &) = delete;

  rmw_init_options_t rmw = rmw_get_zero_initialized_init_options();
};

class Context {
public:
  /// With what `change` does to the options.
  explicit Context(const std::function<void(rmw_init_options_t &)> & change = {});
  ~Context();
  Context(const Context &) = delete;
  Context & operator=(const Context &) = delete;

  rmw_context_t rmw = rmw_get_zero_initialized_context();
};

class Node {
public:
  Node(Context & context, const char * name, const char * name_space = "/");
  ~Node();
  Node(const Node &) = delete;
  Node & operator=(const Node &) = delete;

  rmw_node_t * const rmw;
};

/// The default profile, with changes.
rmw_qos_profile_t qos(const std::function<void(rmw_qos_profile_t &)> & change = {});
rmw_qos_profile_t keep_last(std::size_t depth);
rmw_qos_profile_t keep_all();
rmw_qos_profile_t transient_local(std::size_t depth);

class Publisher {
public:
  Publisher(
    Node & node, const rosidl_message_type_support_t * type, const char * topic,
    const rmw_qos_profile_t & profile = qos());
  ~Publisher();
  Publisher(const Publisher &) = delete;
  Publisher & operator=(const Publisher &) = delete;

  template <class Message>
  void publish(const Message & message) const { OK(rmw_publish(rmw, &message, nullptr)); }

  std::size_t matched() const;

  rmw_publisher_t * const rmw;

private:
  Node & node_;
};

class Subscription {
public:
  Subscription(
    Node & node, const rosidl_message_type_support_t * type, const char * topic,
    const rmw_qos_profile_t & profile = qos(), bool ignores_local = false);
  ~Subscription();
  Subscription(const Subscription &) = delete;
  Subscription & operator=(const Subscription &) = delete;

  /// Takes a message if there is one.
  template <class Message>
  bool take(Message & message, rmw_message_info_t * info = nullptr) const
  {
    bool taken = false;
    rmw_message_info_t unused = rmw_get_zero_initialized_message_info();
    OK(rmw_take_with_info(rmw, &message, &taken, info == nullptr ? &unused : info, nullptr));
    return taken;
  }

  /// Waits for a message.
  template <class Message>
  Message next(rmw_message_info_t * info = nullptr) const
  {
    Message message;
    while (!take(message, info)) {
      wait();
    }
    return message;
  }

  /// Waits until it is ready.
  void wait() const;

  std::size_t matched() const;

  rmw_subscription_t * const rmw;

private:
  Node & node_;
};

class Client {
public:
  Client(
    Node & node, const char * name, const rmw_qos_profile_t & profile = qos(),
    const rosidl_service_type_support_t * type = add_type());
  ~Client();
  Client(const Client &) = delete;
  Client & operator=(const Client &) = delete;

  bool is_available() const;
  std::int64_t send(std::int64_t a, std::int64_t b) const;
  bool take(AddResponse & response, rmw_service_info_t & info) const;

  /// Waits for a response.
  AddResponse next(rmw_service_info_t & info) const;

  rmw_client_t * const rmw;

private:
  Node & node_;
};

class Service {
public:
  Service(Node & node, const char * name, const rmw_qos_profile_t & profile = qos());
  ~Service();
  Service(const Service &) = delete;
  Service & operator=(const Service &) = delete;

  bool take(AddRequest & request, rmw_service_info_t & info) const;
  AddRequest next(rmw_service_info_t & info) const;

  /// Answers with this sum.
  void answer(rmw_service_info_t & info, std::int64_t sum) const;

  rmw_service_t * const rmw;

private:
  Node & node_;
};

/// What a wait is for, and then which of it is ready: entries that aren't become null.
struct Waiting {
  std::vector<void *> subscriptions, conditions, services, clients, events;

  /// Waits; null is for ever.
  rmw_ret_t wait(rmw_context_t * context, const rmw_time_t * timeout);

  /// Waits as long as a test may take, and must end before that.
  void must_end(rmw_context_t * context);
};

/// Two threads that wait for the same, and take once whenever it is ready.
class Takers {
public:
  Takers(
    Node & node, const std::function<void(Waiting &)> & what, const std::function<void()> & take);
  ~Takers() { stop(); }
  Takers(const Takers &) = delete;
  Takers & operator=(const Takers &) = delete;

  void stop();

private:
  std::atomic<bool> is_over_{false};
  std::vector<std::thread> threads_;
};

/// Waits until it holds, looking again at every change of the graph and now and then.
void wait_until(Node & node, const std::function<bool()> & holds);

/// A program of this executable in a process of its own.
class Peer {
public:
  explicit Peer(Arguments arguments);
  /// Lets it end, and checks that it ended well; or it was killed.
  ~Peer();
  Peer(const Peer &) = delete;
  Peer & operator=(const Peer &) = delete;

  void say(const std::string & line) const;
  /// Waits for its next line.
  std::string hear() const;
  /// With SIGKILL.
  void kill();

private:
  pid_t pid_;
  std::FILE * from_;
  std::FILE * to_;
};

/// In a peer: what the other end of the pipes gets, and what it says; false at the end.
void report(const std::string & line);
bool listen(std::string & line);
