/*
 * Sinew: communication for robots at memory speed. Written from the sources of `sinew-c`; don't edit.
 *
 * Handles are pointers to opaque structures; each has one `.._free`, which accepts null. A function
 * that can fail returns a `sinew_status`; `sinew_error_message()` is the sentence of a thread's last
 * failure. Functions that only ask return their answer, and 0 or null after a failure. Texts are UTF-8
 * and end with a NUL; those that are returned belong to their handle. Structures with options begin
 * with their size: zero is the default of every field, so `{.size = sizeof(struct ..)}` is a start.
 * Every function may be called from any thread, unless it says otherwise; nothing may use a handle
 * while another thread frees it. Callbacks must not let an exception pass.
 */

#ifndef SINEW_H
#define SINEW_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/** Success, and the reasons of failures: the values of `sinew_status`. */
enum {
    SINEW_OK = 0,
    /** The context is shut down. */
    SINEW_ERROR_SHUTDOWN = 1,
    /** The entity or queue was closed. */
    SINEW_ERROR_CLOSED = 2,
    /** It did not happen in time. */
    SINEW_ERROR_TIMEOUT = 3,
    /** The wait would never end: who should end it waits for the caller. */
    SINEW_ERROR_WOULD_DEADLOCK = 4,
    /** The operating system refused something. */
    SINEW_ERROR_SYSTEM = 5,
    /** A callback, or code that it was given, panicked. */
    SINEW_ERROR_PANICKED = 6,
    /** A callback returned an error. */
    SINEW_ERROR_CALLBACK_FAILED = 7,
    /** It was cancelled. */
    SINEW_ERROR_CANCELLED = 8,
    /** The other side refused. */
    SINEW_ERROR_REFUSED = 9,
    /** Two types that should be the same differ. */
    SINEW_ERROR_OTHER_TYPE = 10,
    /** Bytes are no valid encoded form of the type. */
    SINEW_ERROR_UNDECODABLE = 11,
    /** A value can't be encoded. */
    SINEW_ERROR_UNENCODABLE = 12,
    /** The message is held elsewhere as well, and can't be copied. */
    SINEW_ERROR_NOT_SOLE = 13,
    /** The other side answered what makes no sense. */
    SINEW_ERROR_NONSENSE = 14,
    /** A name of a node, topic, service or namespace is invalid. */
    SINEW_ERROR_INVALID_NAME = 100,
    /** A rule that renames is invalid. */
    SINEW_ERROR_INVALID_REMAPPING = 101,
    /** An argument of the command line can't be used. */
    SINEW_ERROR_INVALID_ARGUMENT = 102,
    /** An environment variable has a value that can't be used. */
    SINEW_ERROR_INVALID_ENVIRONMENT = 103,
    /** The QoS contradicts itself. */
    SINEW_ERROR_INVALID_QOS = 104,
    /** A period or rate is out of range. */
    SINEW_ERROR_INVALID_PERIOD = 105,
    /** A descriptor is always ready. */
    SINEW_ERROR_ALWAYS_READY = 106,
    /** A limit that must be at least 1 is 0. */
    SINEW_ERROR_ZERO_LIMIT = 107,
    /** The handler of signals could not be installed. */
    SINEW_ERROR_INTERRUPTS = 108,
    /** A name is no name of a type. */
    SINEW_ERROR_INVALID_TYPE_NAME = 200,
    /** The text of a type's hash is invalid. */
    SINEW_ERROR_INVALID_TYPE_HASH = 201,
    /** The process knows the maximum number of types. */
    SINEW_ERROR_TOO_MANY_TYPES = 202,
    /** A type is described by a table that contradicts itself. */
    SINEW_ERROR_INVALID_TYPE_TABLE = 203,
    /** Another type is registered under the key. */
    SINEW_ERROR_TYPE_KEY_TAKEN = 204,
    /** The type can't be copied, but has to be. */
    SINEW_ERROR_NO_CLONE = 205,
    /** The type has no form of ROS 2 from which another is derived. */
    SINEW_ERROR_NO_ROS_TYPE = 206,
    /** An encoded message can't be written in place as asked. */
    SINEW_ERROR_INVALID_DRAFT = 207,
    /** There is no memory. */
    SINEW_ERROR_NO_MEMORY = 208,
    /** A subscription that must get every message has no room. */
    SINEW_ERROR_HISTORY_FULL = 300,
    /** The shared memory has no room. */
    SINEW_ERROR_NO_SPACE = 301,
    /** A limit of the shared memory is reached. */
    SINEW_ERROR_SHARED_MEMORY_LIMIT = 302,
    /** The directory for shared memory can't be used. */
    SINEW_ERROR_SHARED_MEMORY_PLACE = 303,
    /** The participant has left its domain. */
    SINEW_ERROR_PARTICIPANT_LEFT = 304,
    /** The service has no server. */
    SINEW_ERROR_NO_SERVER = 400,
    /** The service has a server already. */
    SINEW_ERROR_SERVICE_TAKEN = 401,
    /** The maximum number of requests waits already. */
    SINEW_ERROR_TOO_MANY_REQUESTS = 402,
    /** The server went away before it answered. */
    SINEW_ERROR_SERVER_GONE = 403,
    /** The gateway to the server's network went away. */
    SINEW_ERROR_GATEWAY_GONE = 404,
    /** The server dropped the request. */
    SINEW_ERROR_REQUEST_DROPPED = 405,
    /** Nobody waits for the response any more. */
    SINEW_ERROR_RESPONSE_UNCLAIMED = 406,
    /** Calls are nested too deeply. */
    SINEW_ERROR_CALLS_TOO_DEEP = 407,
    /** The way to the other process failed. */
    SINEW_ERROR_TRANSPORT_FAILED = 408,
    /** The server holds no such request, or has answered it already. */
    SINEW_ERROR_REQUEST_NOT_IN_HAND = 410,
    /** The client has the maximum number of calls with responses that were not taken. */
    SINEW_ERROR_TOO_MANY_RESPONSES = 411,
    /** An executor can't have these options. */
    SINEW_ERROR_INVALID_EXECUTOR_OPTIONS = 500,
    /** Another executor serves it. */
    SINEW_ERROR_SERVED_ELSEWHERE = 501,
    /** It has a callback, so a wait set can't watch it. */
    SINEW_ERROR_HAS_CALLBACK = 502,
    /** The executor and the context have different clocks. */
    SINEW_ERROR_OTHER_CLOCK = 503,
    /** The executor is being spun already. */
    SINEW_ERROR_BUSY = 504,
    /** There is nothing to spin. */
    SINEW_ERROR_NOTHING_TO_SPIN = 505,
    /** The spin was stopped before it had what it waited for. */
    SINEW_ERROR_STOPPED = 506,
    /** Only an executor in virtual time can move time. */
    SINEW_ERROR_NOT_VIRTUAL = 507,
    /** A thread can't be started, or have its priority or cores. */
    SINEW_ERROR_THREAD = 508,
    /** The clock changed during a sleep. */
    SINEW_ERROR_CLOCK_CHANGED = 509,
    /** The process has another logger. */
    SINEW_ERROR_LOGGER_TAKEN = 510,
    /** A parameter has no name. */
    SINEW_ERROR_EMPTY_PARAMETER_NAME = 600,
    /** The parameter is declared already. */
    SINEW_ERROR_PARAMETER_DECLARED = 601,
    /** The parameter is not declared. */
    SINEW_ERROR_PARAMETER_NOT_DECLARED = 602,
    /** The parameter has another type. */
    SINEW_ERROR_OTHER_PARAMETER_TYPE = 603,
    /** The parameter can't have the value. */
    SINEW_ERROR_INVALID_PARAMETER_VALUE = 604,
    /** The parameter has no value. */
    SINEW_ERROR_PARAMETER_UNINITIALIZED = 605,
    /** A callback for parameters can't change any. */
    SINEW_ERROR_IN_PARAMETER_CALLBACK = 606,
    /** A text for parameters can't be read. */
    SINEW_ERROR_INVALID_PARAMETER_TEXT = 607,
    /** No such node serves its parameters. */
    SINEW_ERROR_NO_SUCH_NODE = 608,
    /** The server rejected the goal. */
    SINEW_ERROR_GOAL_REJECTED = 700,
    /** The server doesn't know the goal. */
    SINEW_ERROR_UNKNOWN_GOAL = 701,
    /** No goal can be cancelled by that time. */
    SINEW_ERROR_NO_CANCEL_TIME = 702,
    /** No transform names the frame. */
    SINEW_ERROR_UNKNOWN_FRAME = 800,
    /** The name of a frame is invalid. */
    SINEW_ERROR_INVALID_FRAME_NAME = 801,
    /** The frames are not connected. */
    SINEW_ERROR_NOT_CONNECTED = 802,
    /** The time is outside what is kept. */
    SINEW_ERROR_EXTRAPOLATION = 803,
    /** The frames form a loop. */
    SINEW_ERROR_FRAME_LOOP = 804,
    /** A transform has invalid numbers. */
    SINEW_ERROR_INVALID_TRANSFORM = 805,
    /** There are too many frames. */
    SINEW_ERROR_TOO_MANY_FRAMES = 806,
    /** The managed node can't make the transition now. */
    SINEW_ERROR_TRANSITION_NOT_ALLOWED = 900,
    /** The managed node's transition failed. */
    SINEW_ERROR_TRANSITION_FAILED = 901,
    /** The managed node is in an unknown state. */
    SINEW_ERROR_UNKNOWN_STATE = 902,
    /** A managed node was lost. */
    SINEW_ERROR_NODE_LOST = 903,
    /** A file or directory is no bag. */
    SINEW_ERROR_NOT_A_BAG = 1000,
    /** The bag has a format or a version that is not read. */
    SINEW_ERROR_UNSUPPORTED_BAG = 1001,
    /** The bag is damaged. */
    SINEW_ERROR_DAMAGED_BAG = 1002,
    /** There is something where a bag should be written. */
    SINEW_ERROR_BAG_EXISTS = 1003,
    /** The bag has no such topic. */
    SINEW_ERROR_UNKNOWN_TOPIC = 1004,
    /** The file of a bag can't have more of something. */
    SINEW_ERROR_BAG_FULL = 1005,
    /** An argument of a function of C is null. */
    SINEW_ERROR_NULL_ARGUMENT = 1100,
    /** A handle of C is of another kind, or was freed. */
    SINEW_ERROR_INVALID_HANDLE = 1101,
    /** A structure of C has a size that doesn't fit. */
    SINEW_ERROR_INVALID_STRUCTURE = 1102,
    /** A text of C is not UTF-8. */
    SINEW_ERROR_INVALID_UTF8 = 1103,
    /** A number is none of an enumeration of C. */
    SINEW_ERROR_INVALID_ENUMERATOR = 1104,
};


/**
 * A publisher of `/clock`: a time of its own, which advances with steady time at a chosen speed,
 * and can be paused, stepped and set. A domain should have only one.
 */
typedef struct sinew_clock_publisher sinew_clock_publisher;

/**
 * A process's presence in a domain: the root of its nodes. Most programs have one. Contexts of one
 * process and of several meet if they have the same domain and directory.
 *
 * A child of `fork()` has no part in its parent's context: making something there fails with
 * `SINEW_ERROR_PARTICIPANT_LEFT`, and no thread of the library runs in it. It should call `exec()`
 * or `_exit()`; the parent goes on undisturbed.
 */
typedef struct sinew_context sinew_context;

/**
 * A descriptor source: it runs a callback whenever a file descriptor is ready.
 */
typedef struct sinew_descriptor_source sinew_descriptor_source;

/**
 * An executor: it runs the callbacks of the contexts, nodes and groups that were added to it, in
 * the order in which their messages arrived and their timers were due.
 */
typedef struct sinew_executor sinew_executor;

/**
 * A callback group: which callbacks may run at the same time. Every node has a default group, in
 * which entities are that were made without another one.
 */
typedef struct sinew_group sinew_group;

/**
 * A guard condition: it runs a callback in an executor when any thread triggers it.
 */
typedef struct sinew_guard_condition sinew_guard_condition;

/**
 * A handler for jumps of ROS time.
 */
typedef struct sinew_jump_handler sinew_jump_handler;

/**
 * A logger: a name under which lines are logged, with a level. That of node `/robot/arm` is
 * `robot.arm`; lines of a node's logger and of those below it are published on `/rosout` too.
 */
typedef struct sinew_logger sinew_logger;

/**
 * A node: a name under which publishers, subscriptions, services and timers are made.
 */
typedef struct sinew_node sinew_node;

/**
 * A rate: it paces a thread's own loop at fixed times. In an executor a timer does that.
 */
typedef struct sinew_rate sinew_rate;

/**
 * Stops an executor or a wait set, also one that is freed meanwhile.
 */
typedef struct sinew_stop_handle sinew_stop_handle;

/**
 * A timer: it runs a callback again and again, at fixed times.
 */
typedef struct sinew_timer sinew_timer;

/**
 * What a timer's callback gets to know. It is valid during the call only.
 */
typedef struct sinew_timer_info sinew_timer_info;

/**
 * A clock that only the program moves: the time of a context that was made with it, on all of its
 * clocks. `sinew_executor_advance` moves it from timer to timer.
 */
typedef struct sinew_virtual_clock sinew_virtual_clock;

/**
 * A wait set: it waits until entities are ready, and leaves it to the program to run their
 * callbacks or to take their messages. For loops with a rule of their own; others take an
 * executor.
 */
typedef struct sinew_wait_set sinew_wait_set;

/**
 * Nanoseconds since the beginning of a clock: since 1970 for `SINEW_CLOCK_ROS` and
 * `SINEW_CLOCK_SYSTEM`.
 */
typedef int64_t sinew_time;

/**
 * A clock.
 */
typedef int sinew_clock_kind;

/**
 * 0 (`SINEW_OK`), or the reason of a failure, one of `SINEW_ERROR_..`. A number keeps its meaning;
 * new ones may come, so treat those that you don't know as failures.
 */
typedef int32_t sinew_status;

/**
 * Nanoseconds. As a timeout, a negative number is for ever.
 */
typedef int64_t sinew_duration;

/**
 * A choice with a default: `SINEW_DEFAULT`, `SINEW_NO` or `SINEW_YES`.
 */
typedef int sinew_choice;

/**
 * The jumps that a handler gets. Zero is the default of every field: changes of the source, and
 * all jumps back.
 */
typedef struct sinew_jump_threshold {
  /**
   * `sizeof(struct sinew_jump_threshold)`.
   */
  size_t size;
  /**
   * Whether changes of the source count, however far apart the times are. By default they do.
   */
  sinew_choice on_clock_change;
  /**
   * The shortest jump forward that counts. Every message of `/clock` is a jump of a step. 0:
   * none.
   */
  sinew_duration min_forward;
  /**
   * The shortest jump back that counts. 0: all; negative: none.
   */
  sinew_duration min_backward;
} sinew_jump_threshold;

/**
 * How the source of ROS time changed.
 */
typedef int sinew_clock_change;

/**
 * A jump of ROS time.
 */
typedef struct sinew_time_jump {
  /**
   * The change of its source.
   */
  sinew_clock_change change;
  /**
   * The time before.
   */
  sinew_time before;
  /**
   * The time from now on.
   */
  sinew_time after;
} sinew_time_jump;

/**
 * A function that is called after a jump, on the thread that set the time; several threads may
 * call it at once. `jump` is valid during the call only.
 */
typedef void (*sinew_jump_callback)(void *context, const struct sinew_time_jump *jump);

/**
 * Frees the context of a callback, when the library calls it no more. It may run on any thread.
 */
typedef void (*sinew_drop)(void *context);

/**
 * The options of `sinew_clock_publisher_new`. Zero is the default of every field.
 */
typedef struct sinew_clock_publisher_options {
  /**
   * `sizeof(struct sinew_clock_publisher_options)`.
   */
  size_t size;
  /**
   * The steady time from one message to the next. 0: 25 ms.
   */
  sinew_duration period;
  /**
   * The time at which it begins, by default 0.
   */
  sinew_time start;
  /**
   * The speed as a multiple of steady time's. 0: 1.
   */
  double speed;
  /**
   * Whether it begins with a pause.
   */
  bool is_paused;
} sinew_clock_publisher_options;

/**
 * The options of `sinew_context_new`. Zero is the default of every field.
 */
typedef struct sinew_context_options {
  /**
   * `sizeof(struct sinew_context_options)`.
   */
  size_t size;
  /**
   * The number of texts in `argv`.
   */
  int argc;
  /**
   * The command line, from which `--ros-args` are taken: names, remapping, parameters, log
   * levels. Null: none.
   */
  const char *const *argv;
  /**
   * Whether `domain` counts. Otherwise the domain is `SINEW_DOMAIN_ID` of the environment, else
   * `ROS_DOMAIN_ID`, else 0.
   */
  bool has_domain;
  /**
   * The domain.
   */
  uint32_t domain;
  /**
   * The directory in which each domain has its own. Null: `SINEW_DIR` of the environment, else
   * `/dev/shm/sinew-<uid>`.
   */
  const char *directory;
  /**
   * Whether its nodes reach those of other processes of the host. By default they do.
   */
  sinew_choice shared_memory;
  /**
   * Whether SIGINT (Ctrl-C) and SIGTERM shut the context down. By default they don't.
   */
  sinew_choice interrupts;
  /**
   * Whether ROS time follows `/clock`. By default the command line decides.
   */
  sinew_choice use_sim_time;
  /**
   * The delay after which its nodes log hints about endpoints without a counterpart. 0: 5 s;
   * negative: never.
   */
  sinew_duration hints_after;
  /**
   * A clock that only the program moves, for tests. Null: the machine's.
   */
  const struct sinew_virtual_clock *virtual_clock;
} sinew_context_options;

/**
 * The options of `sinew_descriptor_source_new`. Zero is the default of every field.
 */
typedef struct sinew_descriptor_source_options {
  /**
   * `sizeof(struct sinew_descriptor_source_options)`.
   */
  size_t size;
  /**
   * The group in which the callback runs. Null: the node's default group. With a group of
   * another node the source belongs to that node.
   */
  const struct sinew_group *group;
  /**
   * Whether it waits for room to write. By default it waits for something to read.
   */
  bool writable;
} sinew_descriptor_source_options;

/**
 * For what a file descriptor was ready.
 */
typedef struct sinew_readiness {
  /**
   * There is something to read, even if only the end of the file.
   */
  bool readable;
  /**
   * There is room to write; only for a source for writing.
   */
  bool writable;
  /**
   * The other end sends nothing more. There may still be data to read.
   */
  bool closed;
  /**
   * An error waits to be read, or a pipe has no reader any more.
   */
  bool failed;
} sinew_readiness;

/**
 * The callback of a descriptor source. `readiness` is valid during the call only. It returns
 * `SINEW_OK`, or a failure, of which `on_error` of the executor says what happens.
 */
typedef sinew_status (*sinew_descriptor_source_callback)(void *context,
                                                         const struct sinew_readiness *readiness);

/**
 * Where the threads of an executor run while they spin.
 */
typedef int sinew_placement;

/**
 * What an executor or wait set does about a callback that fails.
 */
typedef int sinew_fault_policy;

/**
 * The options of `sinew_executor_new`. Zero is the default of every field.
 */
typedef struct sinew_executor_options {
  /**
   * `sizeof(struct sinew_executor_options)`.
   */
  size_t size;
  /**
   * The number of threads that run callbacks, with the one that spins; 61 at most. 0: one, so
   * all callbacks run on the thread that spins.
   */
  size_t threads;
  /**
   * One thread for each core that the process may use, instead of `threads`.
   */
  bool one_per_core;
  /**
   * Whether a separate thread watches the timers, for executors that are busy with long
   * callbacks on all threads.
   */
  bool timer_thread;
  /**
   * Whether a thread that calls a service may run the server's callback itself, in the place of
   * a thread of the executor that rests. Excludes `realtime_priority` and listed cores.
   */
  bool caller_runs;
  /**
   * Whether all memory of the process is locked into RAM when the executor spins.
   */
  bool lock_memory;
  /**
   * The priority of its threads under `SCHED_FIFO` while they spin, 1 (lowest) to 99. 0: none.
   */
  uint8_t realtime_priority;
  /**
   * Where its threads run while they spin. By default on a core of its own each.
   */
  sinew_placement placement;
  /**
   * The numbers of the cores, with `SINEW_PLACEMENT_CORES`.
   */
  const size_t *cores;
  /**
   * The number of cores.
   */
  size_t core_count;
  /**
   * The time for which an idle thread looks for messages of other processes before it sleeps,
   * which keeps a core busy. 0: not at all.
   */
  sinew_duration spin_before_park;
  /**
   * What happens when a callback fails. By default it is logged.
   */
  sinew_fault_policy on_error;
} sinew_executor_options;

/**
 * The kind of a callback group.
 */
typedef int sinew_group_kind;

/**
 * The options of `sinew_group_new`. Zero is the default of every field.
 */
typedef struct sinew_group_options {
  /**
   * `sizeof(struct sinew_group_options)`.
   */
  size_t size;
  /**
   * The kind: by default `SINEW_GROUP_MUTUALLY_EXCLUSIVE`.
   */
  sinew_group_kind kind;
  /**
   * The priority, by default 0: of the groups that are ready, an executor runs those of the
   * highest priority first. It interrupts no callback.
   */
  int32_t priority;
} sinew_group_options;

/**
 * The options of `sinew_guard_condition_new`. Zero is the default of every field.
 */
typedef struct sinew_guard_condition_options {
  /**
   * `sizeof(struct sinew_guard_condition_options)`.
   */
  size_t size;
  /**
   * The group in which the callback runs. Null: the node's default group. With a group of
   * another node the guard condition belongs to that node.
   */
  const struct sinew_group *group;
  /**
   * Its name in log lines, as when its callback fails. Null: "guard condition".
   */
  const char *name;
} sinew_guard_condition_options;

/**
 * The callback of a guard condition. `count` is the number of triggers since it last ran. It
 * returns `SINEW_OK`, or a failure, of which `on_error` of the executor says what happens.
 */
typedef sinew_status (*sinew_guard_condition_callback)(void *context, uint64_t count);

/**
 * A listener, which needs no executor: it is called with the number of triggers, on the thread
 * that triggers, by several threads at once if these trigger at once.
 */
typedef void (*sinew_guard_condition_listener)(void *context, uint64_t count);

/**
 * The options of `sinew_logging_init`. Zero is the default of every field.
 */
typedef struct sinew_logging_options {
  /**
   * `sizeof(struct sinew_logging_options)`.
   */
  size_t size;
  /**
   * Whether lines go to the console. By default they do, unless a context's command line has
   * `--disable-stdout-logs`.
   */
  sinew_choice console;
  /**
   * Whether lines go into a file. By default they do, unless a context's command line has
   * `--disable-external-lib-logs`.
   */
  sinew_choice file;
  /**
   * Whether lines of nodes go to `/rosout`. By default they do, unless their context's command
   * line has `--disable-rosout-logs`.
   */
  sinew_choice rosout;
  /**
   * The directory of the file. Null: `$ROS_LOG_DIR`, else `$ROS_HOME/log`, else `~/.ros/log`.
   */
  const char *directory;
  /**
   * The beginning of the file's name. Null: that of the program, or `--log-file-name`.
   */
  const char *file_name;
} sinew_logging_options;

/**
 * A level of log lines, with ROS 2's numbers.
 */
typedef int sinew_log_level;

/**
 * The memory of a log statement of the macros: when it last logged. Its first value is zeros.
 */
typedef struct sinew_log_memory {
  /**
   * The library's own.
   */
  int64_t last;
} sinew_log_memory;

/**
 * The options of `sinew_node_new`. Zero is the default of every field.
 */
typedef struct sinew_node_options {
  /**
   * `sizeof(struct sinew_node_options)`.
   */
  size_t size;
  /**
   * The namespace. Null: `/`, or that of the command line.
   */
  const char *node_namespace;
  /**
   * Whether the node takes its names exactly as they are given, has nothing from the command
   * line, and no parameters or services of its own: for a binding below another client library.
   */
  bool is_bare;
  /**
   * Whether parameters can be set that were not declared. By default they can't.
   */
  sinew_choice allow_undeclared_parameters;
  /**
   * Whether parameters of the command line and of files are declared by themselves. By default they aren't.
   */
  sinew_choice declare_overrides;
  /**
   * Whether the node has the services with which others read and set its parameters. By default it has.
   */
  sinew_choice parameter_services;
  /**
   * Whether the node publishes changes of its parameters. By default it does.
   */
  sinew_choice parameter_events;
  /**
   * Whether the node logs hints about endpoints without a counterpart. By default it does.
   */
  sinew_choice hints;
  /**
   * Rules that rename, as `from:=to`, for this node.
   */
  const char *const *remap;
  /**
   * The number of rules.
   */
  size_t remap_count;
} sinew_node_options;

/**
 * The options of `sinew_timer_new`. Zero is the default of every field.
 */
typedef struct sinew_timer_options {
  /**
   * `sizeof(struct sinew_timer_options)`.
   */
  size_t size;
  /**
   * The group in which the callback runs. Null: the node's default group. With a group of
   * another node the timer belongs to that node.
   */
  const struct sinew_group *group;
  /**
   * The clock that it follows. By default that of the node: simulated time while that is used,
   * else steady time. `SINEW_CLOCK_STEADY` makes what ROS 2 calls a wall timer.
   */
  sinew_clock_kind clock;
  /**
   * Whether it runs without a call of `sinew_timer_reset`. By default it does.
   */
  sinew_choice autostart;
  /**
   * Whether it is cancelled when it has run once; `sinew_timer_reset` starts it again. By
   * default it isn't.
   */
  bool one_shot;
} sinew_timer_options;

/**
 * A timer's callback. It returns `SINEW_OK`, or a failure, of which `on_error` of the executor
 * says what happens. `info` is valid during the call only.
 */
typedef sinew_status (*sinew_timer_callback)(void *context, const struct sinew_timer_info *info);

/**
 * The options of `sinew_wait_set_new`. Zero is the default of every field.
 */
typedef struct sinew_wait_set_options {
  /**
   * `sizeof(struct sinew_wait_set_options)`.
   */
  size_t size;
  /**
   * What happens when a callback fails: it is logged, or `sinew_wait_set_run` returns it. By
   * default it is logged.
   */
  sinew_fault_policy on_error;
} sinew_wait_set_options;

/**
 * A function that is posted to a group. It returns `SINEW_OK`, or a failure, of which `on_error`
 * of the executor says what happens.
 */
typedef sinew_status (*sinew_work)(void *context);

/**
 * The source is the same.
 */
#define SINEW_CLOCK_SAME 0

/**
 * ROS time is simulated or set from now on.
 */
#define SINEW_CLOCK_ACTIVATED 1

/**
 * ROS time is the wall clock from now on.
 */
#define SINEW_CLOCK_DEACTIVATED 2

/**
 * What the library does by itself.
 */
#define SINEW_DEFAULT 0

/**
 * No.
 */
#define SINEW_NO 1

/**
 * Yes.
 */
#define SINEW_YES 2

/**
 * On a core of its own each, if the executor has several threads. The default.
 */
#define SINEW_PLACEMENT_SPREAD 0

/**
 * Where the kernel puts them.
 */
#define SINEW_PLACEMENT_OFF 1

/**
 * On the cores that are listed in the field `cores`.
 */
#define SINEW_PLACEMENT_CORES 2

/**
 * Logs the failure, with the entity's name, and continues. The default.
 */
#define SINEW_FAULT_REPORT 0

/**
 * Ends the spin, which returns `SINEW_ERROR_CALLBACK_FAILED`.
 */
#define SINEW_FAULT_STOP 1

/**
 * Its callbacks never run at the same time, in no executor. The default.
 */
#define SINEW_GROUP_MUTUALLY_EXCLUSIVE 0

/**
 * Its callbacks may run at the same time, even the same callback for several messages: they guard
 * the data that they share.
 */
#define SINEW_GROUP_REENTRANT 1

/**
 * No level of its own: that of the closest logger above it, else the level of all.
 */
#define SINEW_LOG_LEVEL_UNSET 0

/**
 * Information for developers.
 */
#define SINEW_LOG_LEVEL_DEBUG 10

/**
 * Information for operators. The level of all loggers that have no other.
 */
#define SINEW_LOG_LEVEL_INFO 20

/**
 * Something is not as it should be.
 */
#define SINEW_LOG_LEVEL_WARN 30

/**
 * Something failed.
 */
#define SINEW_LOG_LEVEL_ERROR 40

/**
 * The process is about to end because something failed.
 */
#define SINEW_LOG_LEVEL_FATAL 50

/**
 * The clock of a node, which timers and rates follow: simulated time while that is used (or ROS
 * time that was set), else steady time.
 */
#define SINEW_CLOCK_DEFAULT 0

/**
 * ROS time: simulated time while that is used, else the wall clock. For the stamps of messages.
 */
#define SINEW_CLOCK_ROS 1

/**
 * The wall clock.
 */
#define SINEW_CLOCK_SYSTEM 2

/**
 * Time that never jumps, the same for all processes of a host.
 */
#define SINEW_CLOCK_STEADY 3

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the time of the node's clock of this kind; `SINEW_CLOCK_DEFAULT` is ROS time here, which
 * belongs into the stamps of messages.
 */
sinew_time sinew_node_now(const struct sinew_node *node, sinew_clock_kind clock);

/**
 * Returns the time of the context's clock of this kind, as `sinew_node_now`.
 */
sinew_time sinew_context_now(const struct sinew_context *context, sinew_clock_kind clock);

/**
 * Returns the machine's steady time, which never jumps and is the same for all processes of a
 * host.
 */
sinew_time sinew_steady_now(void);

/**
 * Returns the machine's wall time: nanoseconds since 1970.
 */
sinew_time sinew_system_now(void);

/**
 * Sets the ROS time of a context, as a replay does that has no `/clock`. Timers and rates of its
 * nodes follow it from then on.
 */
sinew_status sinew_context_set_ros_time(const struct sinew_context *context, sinew_time time);

/**
 * Ends the time of `sinew_context_set_ros_time`: ROS time is the wall clock again.
 */
sinew_status sinew_context_clear_ros_time(const struct sinew_context *context);

/**
 * Sets whether the context follows simulated time, which comes on `/clock`. It is 0 until the
 * first message.
 */
sinew_status sinew_context_use_sim_time(const struct sinew_context *context, bool wanted);

/**
 * Returns whether the context follows simulated time.
 */
bool sinew_context_uses_sim_time(const struct sinew_context *context);

/**
 * Sleeps until the node's clock has advanced by `duration`; `SINEW_CLOCK_DEFAULT` is ROS time
 * here. Blocks the thread, so use timers in callbacks: in a callback of the executor that advances
 * the time the sleep never ends.
 *
 * Fails with `SINEW_ERROR_SHUTDOWN` if the context is shut down, and with
 * `SINEW_ERROR_CLOCK_CHANGED` if the clock's source changes meanwhile.
 */
sinew_status sinew_node_sleep_for(const struct sinew_node *node,
                                  sinew_clock_kind clock,
                                  sinew_duration duration);

/**
 * Sleeps until the node's clock shows `time`; not at all if it already does. Otherwise as
 * `sinew_node_sleep_for`.
 */
sinew_status sinew_node_sleep_until(const struct sinew_node *node,
                                    sinew_clock_kind clock,
                                    sinew_time time);

/**
 * Calls a function when the ROS time of the context jumps.
 *
 * `threshold` may be null. The caller ends it by `sinew_jump_handler_free`; if another thread sets
 * the time meanwhile, the function may be called once more. `drop_context` may be null; otherwise
 * it is called once, with `callback_context`: when the handler is gone, or at once if this
 * function fails.
 */
sinew_status sinew_context_on_time_jump(const struct sinew_context *context,
                                        const struct sinew_jump_threshold *threshold,
                                        sinew_jump_callback callback,
                                        void *callback_context,
                                        sinew_drop drop_context,
                                        struct sinew_jump_handler **handler);

/**
 * Frees a handler for jumps of time, which ends it; null is allowed.
 */
void sinew_jump_handler_free(struct sinew_jump_handler *handler);

/**
 * Makes a publisher of `/clock`. Its periodic messages need an executor that serves the node; each
 * call that changes the time publishes at once, on the caller's thread.
 *
 * `options` may be null. The caller frees `*publisher` with `sinew_clock_publisher_free`.
 */
sinew_status sinew_clock_publisher_new(const struct sinew_node *node,
                                       const struct sinew_clock_publisher_options *options,
                                       struct sinew_clock_publisher **publisher);

/**
 * Frees a handle to a publisher of `/clock`, which ends it; null is allowed.
 */
void sinew_clock_publisher_free(struct sinew_clock_publisher *publisher);

/**
 * Returns the time of this clock.
 */
sinew_time sinew_clock_publisher_now(const struct sinew_clock_publisher *publisher);

/**
 * Pauses the time. Fails as publishing does; the time is paused anyway.
 */
sinew_status sinew_clock_publisher_pause(const struct sinew_clock_publisher *publisher);

/**
 * Lets the time go on from where it stands. Fails as publishing does.
 */
sinew_status sinew_clock_publisher_resume(const struct sinew_clock_publisher *publisher);

/**
 * Returns whether the time is paused.
 */
bool sinew_clock_publisher_is_paused(const struct sinew_clock_publisher *publisher);

/**
 * Moves the time forward, paused or not. Fails as publishing does.
 */
sinew_status sinew_clock_publisher_step(const struct sinew_clock_publisher *publisher,
                                        sinew_duration duration);

/**
 * Sets the time, possibly back. Fails as publishing does.
 */
sinew_status sinew_clock_publisher_set(const struct sinew_clock_publisher *publisher,
                                       sinew_time time);

/**
 * Sets the speed as a multiple of steady time's: 0 or more. Fails as publishing does, and with
 * `SINEW_ERROR_INVALID_PERIOD` for another number.
 */
sinew_status sinew_clock_publisher_set_speed(const struct sinew_clock_publisher *publisher,
                                             double speed);

/**
 * Publishes the time now, in addition to the periodic messages. Fails as publishing does.
 */
sinew_status sinew_clock_publisher_publish(const struct sinew_clock_publisher *publisher);

/**
 * Makes a context. Starts no thread and opens no file unless it follows `/clock` or handles
 * interrupts; the first node does both.
 *
 * `options` may be null. The caller frees `*context` with `sinew_context_free`.
 */
sinew_status sinew_context_new(const struct sinew_context_options *options,
                               struct sinew_context **context);

/**
 * Frees a handle to a context. The context ends with its last handle and everything that was made
 * with it; null is allowed.
 */
void sinew_context_free(struct sinew_context *context);

/**
 * Shuts the context down: everything that waits or spins in it returns, and later operations fail
 * with `SINEW_ERROR_SHUTDOWN`. Never blocks; any thread may call it.
 */
sinew_status sinew_context_shutdown(const struct sinew_context *context);

/**
 * Returns whether the context is usable: it was not shut down.
 */
bool sinew_context_is_valid(const struct sinew_context *context);

/**
 * Returns the domain.
 */
uint32_t sinew_context_domain(const struct sinew_context *context);

/**
 * Runs a callback whenever a file descriptor is ready, again and again as long as it is: a socket,
 * a pipe, a serial line. The source keeps a duplicate of its own, so the caller may close the
 * descriptor. It should not block when it is read: another thread may have read before. Even in a
 * reentrant group one callback of the source runs at a time.
 *
 * `options` may be null. The caller frees `*source` with `sinew_descriptor_source_free`.
 * `drop_context` may be null; otherwise it is called once, with `callback_context`: when the
 * source is gone, or at once if the function fails.
 *
 * Fails with `SINEW_ERROR_ALWAYS_READY` for a regular file, and with `SINEW_ERROR_SYSTEM` if the
 * descriptor is not open.
 */
sinew_status sinew_descriptor_source_new(const struct sinew_node *node,
                                         int descriptor,
                                         const struct sinew_descriptor_source_options *options,
                                         sinew_descriptor_source_callback callback,
                                         void *callback_context,
                                         sinew_drop drop_context,
                                         struct sinew_descriptor_source **source);

/**
 * Frees a handle to a descriptor source, which ends it and closes its duplicate; null is allowed.
 * No callback begins after this, but one may still run on another thread:
 * `sinew_descriptor_source_close` waits for it. Its own callback may call this.
 */
void sinew_descriptor_source_free(struct sinew_descriptor_source *source);

/**
 * Ends the source, and waits for its callback if that is running on another thread. Called in its
 * own callback it doesn't wait. The handle remains to be freed.
 */
sinew_status sinew_descriptor_source_close(const struct sinew_descriptor_source *source);

/**
 * Makes an executor. It starts no thread before it spins.
 *
 * `options` may be null. The caller frees `*executor` with `sinew_executor_free`.
 *
 * Options that contradict each other fail with `SINEW_ERROR_INVALID_EXECUTOR_OPTIONS`; those that
 * the machine refuses are an error of spinning.
 */
sinew_status sinew_executor_new(const struct sinew_executor_options *options,
                                struct sinew_executor **executor);

/**
 * Frees a handle to an executor; null is allowed. What it served waits for another executor. A
 * callback may free the executor that runs it: the executor then ends when its spin returns, so
 * stop it first.
 */
void sinew_executor_free(struct sinew_executor *executor);

/**
 * Returns the number of threads that run callbacks while it spins.
 */
size_t sinew_executor_threads(const struct sinew_executor *executor);

/**
 * Adds a context: all its present and future groups that no other executor serves. Allowed while
 * another thread spins the executor, which keeps the context until it is freed.
 */
sinew_status sinew_executor_add_context(const struct sinew_executor *executor,
                                        const struct sinew_context *context);

/**
 * Adds a node: all its present and future groups that no other executor serves. Allowed while
 * another thread spins the executor. Fails with `SINEW_ERROR_SERVED_ELSEWHERE` if another
 * executor serves it.
 */
sinew_status sinew_executor_add_node(const struct sinew_executor *executor,
                                     const struct sinew_node *node);

/**
 * Adds a group. To have an executor of its own it must be added before its node or context is
 * added to another one. Allowed while another thread spins the executor.
 */
sinew_status sinew_executor_add_group(const struct sinew_executor *executor,
                                      const struct sinew_group *group);

/**
 * Runs callbacks until the executor is stopped or a context of it is shut down; then it returns
 * `SINEW_OK`. Blocks. With several threads the others begin and end with it.
 *
 * Fails with `SINEW_ERROR_BUSY` if another thread spins the executor, with
 * `SINEW_ERROR_NOTHING_TO_SPIN` if nothing was added within two seconds, with
 * `SINEW_ERROR_CALLBACK_FAILED` if a callback failed and `on_error` says to stop, and with
 * `SINEW_ERROR_THREAD` if the machine refuses threads, priority, cores or memory.
 */
sinew_status sinew_executor_spin(const struct sinew_executor *executor);

/**
 * Runs the callbacks that are ready now, on this thread, and none that becomes ready meanwhile.
 * Doesn't wait. `ran` may be null; it gets the number of callbacks that ran.
 *
 * Fails as `sinew_executor_spin`.
 */
sinew_status sinew_executor_spin_some(const struct sinew_executor *executor, uint64_t *ran);

/**
 * Runs the callbacks that are ready, on this thread, and those that become ready meanwhile, until
 * none is left or `max` has passed: 0 runs one at most, a negative time is no limit. Doesn't wait.
 * `ran` may be null; it gets the number of callbacks that ran.
 *
 * Fails as `sinew_executor_spin`.
 */
sinew_status sinew_executor_spin_all(const struct sinew_executor *executor,
                                     sinew_duration max,
                                     uint64_t *ran);

/**
 * Runs one callback on this thread, and waits for one for at most `timeout` of real time. `ran`
 * may be null; it gets whether one ran. That none ran in time is no failure.
 *
 * Fails as `sinew_executor_spin`.
 */
sinew_status sinew_executor_spin_once(const struct sinew_executor *executor,
                                      sinew_duration timeout,
                                      bool *ran);

/**
 * Runs callbacks on all threads of the executor until `duration` has passed on a clock of the
 * node, which the executor must serve. `SINEW_CLOCK_DEFAULT` is ROS time here.
 *
 * Fails as `sinew_executor_spin`; with `SINEW_ERROR_STOPPED` if the executor was stopped before,
 * `SINEW_ERROR_SHUTDOWN` if the context was shut down, and `SINEW_ERROR_CLOCK_CHANGED` if the
 * clock's source changed.
 */
sinew_status sinew_executor_spin_for(const struct sinew_executor *executor,
                                     const struct sinew_node *node,
                                     sinew_clock_kind clock,
                                     sinew_duration duration);

/**
 * Advances virtual time from one timer to the next, and runs ready callbacks at each time, on this
 * thread. `ran` may be null; it gets the number of callbacks that ran. The same program does the
 * same in the same order every time.
 *
 * Fails as `sinew_executor_spin`, and with `SINEW_ERROR_NOT_VIRTUAL` if the contexts of the
 * executor have no virtual clock.
 */
sinew_status sinew_executor_advance(const struct sinew_executor *executor,
                                    sinew_duration duration,
                                    uint64_t *ran);

/**
 * Puts a file descriptor for the event loop of another library (epoll, poll, a user interface)
 * into `*descriptor`: it is readable while no thread spins the executor and a callback is ready or
 * a timer is due; the loop's thread then calls `sinew_executor_spin_some`. It belongs to the
 * executor: don't close or read it.
 *
 * Fails with `SINEW_ERROR_SYSTEM` if the operating system gives no more descriptors.
 */
sinew_status sinew_executor_descriptor(const struct sinew_executor *executor, int *descriptor);

/**
 * Makes the current spin return after its running callbacks, or the next one, if none runs. Never
 * blocks; any thread and any callback may call it, but no handler of a signal.
 */
sinew_status sinew_executor_stop(const struct sinew_executor *executor);

/**
 * Makes a handle that stops the executor, for a thread that may outlive it. The caller frees it
 * with `sinew_stop_handle_free`.
 */
sinew_status sinew_executor_stop_handle(const struct sinew_executor *executor,
                                        struct sinew_stop_handle **stop);

/**
 * Stops the executor or wait set, as `sinew_executor_stop` and `sinew_wait_set_stop`. Does nothing
 * once that is gone.
 */
sinew_status sinew_stop_handle_stop(const struct sinew_stop_handle *stop);

/**
 * Frees a handle that stops an executor or wait set; null is allowed.
 */
void sinew_stop_handle_free(struct sinew_stop_handle *stop);

/**
 * Runs the callbacks of a node on this thread until its context is shut down: an executor of one
 * thread, the node and a spin in one. Blocks.
 *
 * Fails as `sinew_executor_add_node` and `sinew_executor_spin`.
 */
sinew_status sinew_spin(const struct sinew_node *node);

/**
 * Makes a callback group of a node.
 *
 * `options` may be null. The caller frees `*group` with `sinew_group_free`; entities keep their
 * group.
 */
sinew_status sinew_group_new(const struct sinew_node *node,
                             const struct sinew_group_options *options,
                             struct sinew_group **group);

/**
 * Frees a handle to a group; null is allowed. The group ends with its last entity.
 */
void sinew_group_free(struct sinew_group *group);

/**
 * Sets the group's priority; see `sinew_group_options`.
 */
sinew_status sinew_group_set_priority(const struct sinew_group *group, int32_t priority);

/**
 * Pauses the group: no callback of it begins any more. Waits for a callback that runs on another
 * thread, unless that thread waits for this one. Messages wait meanwhile as their QoS allows, and
 * timers are not due. Does nothing if the group is paused.
 */
sinew_status sinew_group_pause(const struct sinew_group *group);

/**
 * Resumes the group. Volatile subscriptions drop what came meanwhile, timers are due one period
 * later, everything else runs now. Never blocks. Does nothing if the group is not paused.
 */
sinew_status sinew_group_resume(const struct sinew_group *group);

/**
 * Makes a guard condition.
 *
 * `options` may be null. The caller frees `*guard` with `sinew_guard_condition_free`.
 * `drop_context` may be null; otherwise it is called once, with `callback_context`: when the guard
 * condition is gone, or at once if the function fails.
 */
sinew_status sinew_guard_condition_new(const struct sinew_node *node,
                                       const struct sinew_guard_condition_options *options,
                                       sinew_guard_condition_callback callback,
                                       void *callback_context,
                                       sinew_drop drop_context,
                                       struct sinew_guard_condition **guard);

/**
 * Frees a handle to a guard condition, which ends it; null is allowed. No callback begins after
 * this, but one may still run on another thread: `sinew_guard_condition_close` waits for it. Its
 * own callback may call this.
 */
void sinew_guard_condition_free(struct sinew_guard_condition *guard);

/**
 * Ends the guard condition, and waits for its callback if that is running on another thread.
 * Called in its own callback it doesn't wait. The handle remains to be freed.
 */
sinew_status sinew_guard_condition_close(const struct sinew_guard_condition *guard);

/**
 * Triggers it: an executor runs the callback, once for all triggers that came before. Never
 * blocks.
 */
sinew_status sinew_guard_condition_trigger(const struct sinew_guard_condition *guard);

/**
 * Sets a listener, in the place of a former one. If there were triggers since the callback last
 * ran, it is called at once with their number. It may trigger other guard conditions, and replace
 * or clear itself. `drop_context` is as for `sinew_guard_condition_new`.
 */
sinew_status sinew_guard_condition_set_listener(const struct sinew_guard_condition *guard,
                                                sinew_guard_condition_listener listener,
                                                void *listener_context,
                                                sinew_drop drop_context);

/**
 * Removes the listener. It may still be called for triggers that are happening on other threads.
 */
sinew_status sinew_guard_condition_clear_listener(const struct sinew_guard_condition *guard);

/**
 * Sends all log lines of the process to the console, into a file and to `/rosout`, as programs of
 * ROS 2 do. Without it lines go nowhere, except the library's own warnings, which go to standard
 * error. A program calls it at the beginning of `main`, once; a library doesn't.
 *
 * Starts the thread that writes, so that no line blocks its caller. `exit()` waits for lines, for
 * a second at most. `options` may be null.
 *
 * Fails with `SINEW_ERROR_LOGGER_TAKEN` if the process has a logger already.
 */
sinew_status sinew_logging_init(const struct sinew_logging_options *options);

/**
 * Waits until all earlier lines are written, for at most `timeout`, and returns whether they are.
 */
bool sinew_logging_flush(sinew_duration timeout);

/**
 * Makes a logger without a node: its lines are not on `/rosout`, unless a node has the name. The
 * caller frees `*logger` with `sinew_logger_free`.
 */
sinew_status sinew_logger_new(const char *name, struct sinew_logger **logger);

/**
 * Makes a handle to the logger of a node. The caller frees `*logger` with `sinew_logger_free`.
 */
sinew_status sinew_node_logger(const struct sinew_node *node, struct sinew_logger **logger);

/**
 * Makes a logger below another one: `hand` below `robot.arm` is `robot.arm.hand`. The caller frees
 * `*child` with `sinew_logger_free`.
 */
sinew_status sinew_logger_child(const struct sinew_logger *logger,
                                const char *name,
                                struct sinew_logger **child);

/**
 * Frees a handle to a logger; null is allowed. Its level stays.
 */
void sinew_logger_free(struct sinew_logger *logger);

/**
 * Returns the logger's name. The text lives as long as the handle.
 */
const char *sinew_logger_name(const struct sinew_logger *logger);

/**
 * Returns the level from which on it logs: its own, else that of the closest logger above it.
 */
sinew_log_level sinew_logger_level(const struct sinew_logger *logger);

/**
 * Sets the logger's level in the whole process; `SINEW_LOG_LEVEL_UNSET` removes it.
 */
sinew_status sinew_logger_set_level(const struct sinew_logger *logger, sinew_log_level level);

/**
 * Returns whether lines of that level are logged.
 */
bool sinew_logger_is_enabled(const struct sinew_logger *logger, sinew_log_level level);

/**
 * Lets other processes read and set levels of loggers through services of the node, as
 * `sinew log level` and ROS 2's tools do, until the context ends.
 */
sinew_status sinew_node_start_logger_services(const struct sinew_node *node);

/**
 * Logs a line as it is, if its level is enabled. Never blocks. The macros `SINEW_INFO(logger, ..)`
 * and so on are shorter, and have a format as `printf`.
 *
 * `file` and `function` may be null. What is not UTF-8 in the texts is replaced.
 */
sinew_status sinew_log(const struct sinew_logger *logger,
                       sinew_log_level level,
                       const char *file,
                       const char *function,
                       uint32_t line,
                       const char *text);

/**
 * Returns whether the statement with this memory logs for the first time. For `SINEW_INFO_ONCE`
 * and so on.
 */
bool sinew_log_is_first(struct sinew_log_memory *memory);

/**
 * Returns whether the statement with this memory last logged at least `period` ago, by the ROS
 * time of the logger's node, else by steady time; or never, or if the time went back. For
 * `SINEW_INFO_THROTTLE` and so on.
 */
bool sinew_log_is_due(const struct sinew_logger *logger,
                      struct sinew_log_memory *memory,
                      sinew_duration period);

/**
 * Makes a node. The first one of a context joins the domain, which starts a thread.
 *
 * `options` may be null. The caller frees `*node` with `sinew_node_free`; the node keeps its context.
 */
sinew_status sinew_node_new(const struct sinew_context *context,
                            const char *name,
                            const struct sinew_node_options *options,
                            struct sinew_node **node);

/**
 * Frees a handle to a node; null is allowed. What was made with the node keeps working.
 */
void sinew_node_free(struct sinew_node *node);

/**
 * Returns the node's name without its namespace. The text lives as long as the handle.
 */
const char *sinew_node_name(const struct sinew_node *node);

/**
 * Returns the node's namespace, which begins with `/`. The text lives as long as the handle.
 */
const char *sinew_node_namespace(const struct sinew_node *node);

/**
 * Returns the node's name with its namespace. The text lives as long as the handle.
 */
const char *sinew_node_full_name(const struct sinew_node *node);

/**
 * Makes a rate. It begins now: the n-th round is due n periods later, however long rounds take.
 *
 * `SINEW_CLOCK_DEFAULT` is the clock of the node: simulated time while that is used, else steady
 * time. The caller frees `*rate` with `sinew_rate_free`.
 *
 * Fails with `SINEW_ERROR_INVALID_PERIOD` if the period is not positive.
 */
sinew_status sinew_rate_new(const struct sinew_node *node,
                            sinew_duration period,
                            sinew_clock_kind clock,
                            struct sinew_rate **rate);

/**
 * Frees a handle to a rate; null is allowed.
 */
void sinew_rate_free(struct sinew_rate *rate);

/**
 * Sleeps until the next round is due; not at all if it already is. `skipped` may be null; it gets
 * the number of rounds that were over before this one could begin: 0 if the loop keeps up.
 *
 * Blocks, so don't call it in callbacks. If another thread sleeps by the same rate, this one gets
 * a later round. Fails with `SINEW_ERROR_SHUTDOWN` once the context is shut down, which ends a
 * loop.
 */
sinew_status sinew_rate_sleep(const struct sinew_rate *rate, uint64_t *skipped);

/**
 * Restarts the rate: the next round is due one period from now. Waits for a thread that sleeps.
 */
sinew_status sinew_rate_reset(const struct sinew_rate *rate);

/**
 * Returns the time from one round to the next.
 */
sinew_duration sinew_rate_period(const struct sinew_rate *rate);

/**
 * Returns the sentence of this thread's last failure, in English, or an empty text: what failed,
 * where, the limit and the remedy. It is never null, and valid until the thread's next failure.
 */
const char *sinew_error_message(void);

/**
 * Returns the meaning of a status in one sentence, in English, for example "It did not happen in
 * time.". The text is never null and lives as long as the process.
 */
const char *sinew_status_meaning(sinew_status status);

/**
 * Makes a timer, which is due for the first time one period from now: the n-th due time is the
 * first one plus n periods, however late callbacks run. One that can't keep up skips periods and
 * counts them.
 *
 * `options` may be null. The caller frees `*timer` with `sinew_timer_free`. `drop_context` may be
 * null; otherwise it is called once, with `callback_context`: when the timer is gone, or at once
 * if the function fails.
 *
 * Fails with `SINEW_ERROR_INVALID_PERIOD` if the period is not positive.
 */
sinew_status sinew_timer_new(const struct sinew_node *node,
                             sinew_duration period,
                             const struct sinew_timer_options *options,
                             sinew_timer_callback callback,
                             void *callback_context,
                             sinew_drop drop_context,
                             struct sinew_timer **timer);

/**
 * Frees a handle to a timer, which ends it; null is allowed. No callback begins after this, but
 * one may still run on another thread: `sinew_timer_close` waits for it. The timer's own callback
 * may call this.
 */
void sinew_timer_free(struct sinew_timer *timer);

/**
 * Ends the timer, and waits for its callback if that is running on another thread. Called in its
 * own callback it doesn't wait. The handle remains to be freed.
 */
sinew_status sinew_timer_close(const struct sinew_timer *timer);

/**
 * Frees the handle, and keeps the timer until its context ends.
 */
sinew_status sinew_timer_detach(struct sinew_timer *timer);

/**
 * Stops the timer until `sinew_timer_reset`.
 */
sinew_status sinew_timer_cancel(const struct sinew_timer *timer);

/**
 * Starts the timer again: it is due one period from now.
 */
sinew_status sinew_timer_reset(const struct sinew_timer *timer);

/**
 * Returns whether the timer is cancelled.
 */
bool sinew_timer_is_cancelled(const struct sinew_timer *timer);

/**
 * Returns the time from one due time to the next.
 */
sinew_duration sinew_timer_period(const struct sinew_timer *timer);

/**
 * Returns the time of its clock until it is due: 0 if it is, and -1 if it is cancelled.
 */
sinew_duration sinew_timer_time_until_next(const struct sinew_timer *timer);

/**
 * Returns the number of periods that it has skipped because it couldn't keep up.
 */
uint64_t sinew_timer_skipped(const struct sinew_timer *timer);

/**
 * Returns the clock that it uses now: one that follows its node's clock changes when simulated
 * time begins or ends.
 */
sinew_clock_kind sinew_timer_clock(const struct sinew_timer *timer);

/**
 * Returns the time at which it was due, in the time of its clock.
 */
sinew_time sinew_timer_info_due(const struct sinew_timer_info *info);

/**
 * Returns the time at which it was called, in the time of its clock.
 */
sinew_time sinew_timer_info_actual(const struct sinew_timer_info *info);

/**
 * Returns the number of later due times that have passed as well, and are skipped.
 */
uint64_t sinew_timer_info_skipped(const struct sinew_timer_info *info);

/**
 * Cancels the timer from its callback, which may not know its handle yet.
 */
sinew_status sinew_timer_info_cancel(const struct sinew_timer_info *info);

/**
 * Makes a clock at time 0. The caller frees `*clock` with `sinew_virtual_clock_free`; contexts
 * keep it.
 */
sinew_status sinew_virtual_clock_new(struct sinew_virtual_clock **clock);

/**
 * Frees a handle to a virtual clock; null is allowed.
 */
void sinew_virtual_clock_free(struct sinew_virtual_clock *clock);

/**
 * Returns the time of the clock.
 */
sinew_time sinew_virtual_clock_now(const struct sinew_virtual_clock *clock);

/**
 * Moves the clock forward, and wakes executors that wait for it.
 */
sinew_status sinew_virtual_clock_advance(const struct sinew_virtual_clock *clock,
                                         sinew_duration duration);

/**
 * Moves the clock to a time, possibly back, and wakes executors that wait for it.
 */
sinew_status sinew_virtual_clock_set(const struct sinew_virtual_clock *clock, sinew_time time);

/**
 * Makes an empty wait set.
 *
 * `options` may be null. The caller frees `*set` with `sinew_wait_set_free`.
 */
sinew_status sinew_wait_set_new(const struct sinew_wait_set_options *options,
                                struct sinew_wait_set **set);

/**
 * Frees a handle to a wait set; null is allowed, and so is a call in a callback that it runs. What
 * it served waits for an executor.
 */
void sinew_wait_set_free(struct sinew_wait_set *set);

/**
 * Adds a context with all its callbacks, as `sinew_executor_add_context`.
 */
sinew_status sinew_wait_set_add_context(const struct sinew_wait_set *set,
                                        const struct sinew_context *context);

/**
 * Adds a node with all its callbacks, as `sinew_executor_add_node`.
 */
sinew_status sinew_wait_set_add_node(const struct sinew_wait_set *set,
                                     const struct sinew_node *node);

/**
 * Adds a group with all its callbacks, as `sinew_executor_add_group`.
 */
sinew_status sinew_wait_set_add_group(const struct sinew_wait_set *set,
                                      const struct sinew_group *group);

/**
 * Waits until something is ready, for at most `timeout` of real time, and puts the number of
 * entities that are ready into `*count`: 0 after the timeout, which is no failure. They have the
 * indices 0 to `*count - 1`, in the order in which an executor would run them, until the next
 * wait.
 *
 * Ready are timers that are due, guard conditions that were triggered, subscriptions with messages
 * and so on. One that is neither run nor emptied is ready again at the next wait, which then
 * doesn't block.
 *
 * Fails with `SINEW_ERROR_STOPPED` after `sinew_wait_set_stop` or if a context is shut down, with
 * `SINEW_ERROR_NOTHING_TO_SPIN` if it would wait for ever for nothing, and with `SINEW_ERROR_BUSY`
 * while the wait set is in use.
 */
sinew_status sinew_wait_set_wait(const struct sinew_wait_set *set,
                                 sinew_duration timeout,
                                 size_t *count);

/**
 * Runs the callback of the entity at an index of the last wait, on this thread, for its oldest
 * message or event. `ran` may be null; it gets whether a callback ran: none does if the entity was
 * emptied or freed meanwhile, or has no callback.
 *
 * Fails with `SINEW_ERROR_CALLBACK_FAILED` if the callback failed and `on_error` says to stop, and
 * with `SINEW_ERROR_BUSY` while another thread or a callback runs an entity of the wait set.
 */
sinew_status sinew_wait_set_run(const struct sinew_wait_set *set, size_t index, bool *ran);

/**
 * Returns whether the entity at an index of the last wait is this timer.
 */
bool sinew_wait_set_is_timer(const struct sinew_wait_set *set,
                             size_t index,
                             const struct sinew_timer *timer);

/**
 * Returns whether the entity at an index of the last wait is this guard condition.
 */
bool sinew_wait_set_is_guard_condition(const struct sinew_wait_set *set,
                                       size_t index,
                                       const struct sinew_guard_condition *guard);

/**
 * Returns a description of the entity at an index of the last wait, for people, such as
 * "timer (10ms) of node /blinker". The text lives until the next wait. Allocates.
 */
const char *sinew_wait_set_describe(const struct sinew_wait_set *set, size_t index);

/**
 * Makes the current or the next wait return `SINEW_ERROR_STOPPED`. Never blocks; any thread may
 * call it.
 */
sinew_status sinew_wait_set_stop(const struct sinew_wait_set *set);

/**
 * Makes a handle that stops the wait set, for a thread that may outlive it. The caller frees it
 * with `sinew_stop_handle_free`.
 */
sinew_status sinew_wait_set_stop_handle(const struct sinew_wait_set *set,
                                        struct sinew_stop_handle **stop);

/**
 * Posts a function to the node's default group: an executor that serves the node runs it once, in
 * order with the group's messages and timers. Any thread may post, also a callback. Never blocks.
 *
 * `drop_context` may be null; otherwise it is called once, with `work_context`: after the function
 * has run, when it is dropped because the context ended, or at once if this function fails.
 *
 * Fails with `SINEW_ERROR_CLOSED` if the context is shut down.
 */
sinew_status sinew_node_post(const struct sinew_node *node,
                             sinew_work work,
                             void *work_context,
                             sinew_drop drop_context);

/**
 * Posts a function to a group, as `sinew_node_post`.
 */
sinew_status sinew_group_post(const struct sinew_group *group,
                              sinew_work work,
                              void *work_context,
                              sinew_drop drop_context);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SINEW_H */

/*
 * Log lines with a format as of printf: SINEW_INFO(logger, "battery at %f V", volts), with DEBUG, INFO, WARN, ERROR
 * or FATAL. The arguments are evaluated only if the line is logged. Each has three more forms: SINEW_INFO_ONCE logs
 * the first time only, SINEW_INFO_SKIPFIRST each time but the first, and SINEW_INFO_THROTTLE(logger, period, ..) at
 * most once in a period in nanoseconds. Each statement of the program has its own memory.
 */
#if defined(__GNUC__)
__attribute__((format(printf, 6, 7)))
#endif
static inline void
sinew_log_printf(const sinew_logger *logger, sinew_log_level level, const char *file, const char *function,
                 uint32_t line, const char *format, ...)
{
    char usual[512];
    char *text = usual;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(usual, sizeof usual, format, arguments);
    va_end(arguments);
    if (length < 0) { /* an argument can't be written: at least the format can */
        (void)sinew_log(logger, level, file, function, line, format);
        return;
    }
    if ((size_t)length >= sizeof usual) {
        char *const longer = (char *)malloc((size_t)length + 1);
        if (longer != NULL) { /* without memory the beginning is logged */
            va_start(arguments, format);
            (void)vsnprintf(longer, (size_t)length + 1, format, arguments);
            va_end(arguments);
            text = longer;
        }
    }
    (void)sinew_log(logger, level, file, function, line, text);
    if (text != usual) {
        free(text);
    }
}

/* Logs if the level is enabled and then, looked at after that, the condition holds. */
#define SINEW_LOG_IF(logger, level, condition, ...)                                                           \
    do {                                                                                                      \
        if (sinew_logger_is_enabled((logger), (level)) && (condition)) {                                      \
            sinew_log_printf((logger), (level), __FILE__, __func__, __LINE__, __VA_ARGS__);                   \
        }                                                                                                     \
    } while (0)

#define SINEW_LOG(logger, level, ...) SINEW_LOG_IF(logger, level, true, __VA_ARGS__)

#define SINEW_LOG_ONCE(logger, level, ...)                                                                    \
    do {                                                                                                      \
        static sinew_log_memory sinew_said = {0};                                                             \
        SINEW_LOG_IF(logger, level, sinew_log_is_first(&sinew_said), __VA_ARGS__);                            \
    } while (0)

#define SINEW_LOG_SKIPFIRST(logger, level, ...)                                                               \
    do {                                                                                                      \
        static sinew_log_memory sinew_said = {0};                                                             \
        SINEW_LOG_IF(logger, level, !sinew_log_is_first(&sinew_said), __VA_ARGS__);                           \
    } while (0)

#define SINEW_LOG_THROTTLE(logger, level, period, ...)                                                        \
    do {                                                                                                      \
        static sinew_log_memory sinew_said = {0};                                                             \
        SINEW_LOG_IF(logger, level, sinew_log_is_due((logger), &sinew_said, (period)), __VA_ARGS__);          \
    } while (0)

#define SINEW_DEBUG(logger, ...) SINEW_LOG(logger, SINEW_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define SINEW_DEBUG_ONCE(logger, ...) SINEW_LOG_ONCE(logger, SINEW_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define SINEW_DEBUG_SKIPFIRST(logger, ...) SINEW_LOG_SKIPFIRST(logger, SINEW_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define SINEW_DEBUG_THROTTLE(logger, period, ...) \
    SINEW_LOG_THROTTLE(logger, SINEW_LOG_LEVEL_DEBUG, period, __VA_ARGS__)
#define SINEW_INFO(logger, ...) SINEW_LOG(logger, SINEW_LOG_LEVEL_INFO, __VA_ARGS__)
#define SINEW_INFO_ONCE(logger, ...) SINEW_LOG_ONCE(logger, SINEW_LOG_LEVEL_INFO, __VA_ARGS__)
#define SINEW_INFO_SKIPFIRST(logger, ...) SINEW_LOG_SKIPFIRST(logger, SINEW_LOG_LEVEL_INFO, __VA_ARGS__)
#define SINEW_INFO_THROTTLE(logger, period, ...) \
    SINEW_LOG_THROTTLE(logger, SINEW_LOG_LEVEL_INFO, period, __VA_ARGS__)
#define SINEW_WARN(logger, ...) SINEW_LOG(logger, SINEW_LOG_LEVEL_WARN, __VA_ARGS__)
#define SINEW_WARN_ONCE(logger, ...) SINEW_LOG_ONCE(logger, SINEW_LOG_LEVEL_WARN, __VA_ARGS__)
#define SINEW_WARN_SKIPFIRST(logger, ...) SINEW_LOG_SKIPFIRST(logger, SINEW_LOG_LEVEL_WARN, __VA_ARGS__)
#define SINEW_WARN_THROTTLE(logger, period, ...) \
    SINEW_LOG_THROTTLE(logger, SINEW_LOG_LEVEL_WARN, period, __VA_ARGS__)
#define SINEW_ERROR(logger, ...) SINEW_LOG(logger, SINEW_LOG_LEVEL_ERROR, __VA_ARGS__)
#define SINEW_ERROR_ONCE(logger, ...) SINEW_LOG_ONCE(logger, SINEW_LOG_LEVEL_ERROR, __VA_ARGS__)
#define SINEW_ERROR_SKIPFIRST(logger, ...) SINEW_LOG_SKIPFIRST(logger, SINEW_LOG_LEVEL_ERROR, __VA_ARGS__)
#define SINEW_ERROR_THROTTLE(logger, period, ...) \
    SINEW_LOG_THROTTLE(logger, SINEW_LOG_LEVEL_ERROR, period, __VA_ARGS__)
#define SINEW_FATAL(logger, ...) SINEW_LOG(logger, SINEW_LOG_LEVEL_FATAL, __VA_ARGS__)
#define SINEW_FATAL_ONCE(logger, ...) SINEW_LOG_ONCE(logger, SINEW_LOG_LEVEL_FATAL, __VA_ARGS__)
#define SINEW_FATAL_SKIPFIRST(logger, ...) SINEW_LOG_SKIPFIRST(logger, SINEW_LOG_LEVEL_FATAL, __VA_ARGS__)
#define SINEW_FATAL_THROTTLE(logger, period, ...) \
    SINEW_LOG_THROTTLE(logger, SINEW_LOG_LEVEL_FATAL, period, __VA_ARGS__)
