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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    /** For another process the name is something else. */
    SINEW_ERROR_NAME_IN_USE = 305,
    /** The variable has a master already. */
    SINEW_ERROR_MASTER_TAKEN = 306,
    /** The writer does not wait for the reader any more. */
    SINEW_ERROR_CUT_OFF = 307,
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
    /** A place of C for a result is too small, or has another size than the result. */
    SINEW_ERROR_WRONG_CAPACITY = 1105,
};


/**
 * A process's presence in a domain: the root of its nodes. Most programs have one. Contexts of one
 * process and of several meet if they have the same domain and directory.
 */
typedef struct sinew_context sinew_context;

/**
 * A node: a name under which publishers, subscriptions, services and timers are made.
 */
typedef struct sinew_node sinew_node;

/**
 * The only writer of a variable. When it is freed, or its process ends, the variable has no value
 * and may get another master.
 */
typedef struct sinew_raw_master sinew_raw_master;

/**
 * A queue with many writers and many readers: every reader gets every message that was written
 * after it joined.
 *
 * A handle joins as a reader when it first reads, or by `sinew_raw_queue_join`; a handle that only
 * writes never does. Messages of one writing process arrive in their order. A full queue blocks its
 * writers and an empty one its readers. Messages that are written while there is no reader are not
 * kept: see `sinew_raw_queue_wait_for_reader`. A reader that dies is removed and disturbs no other.
 */
typedef struct sinew_raw_queue sinew_raw_queue;

/**
 * A process's presence among the raw names of a domain. Few programs need one: without one, names
 * are opened in the process's default space, that of `SINEW_DIR` and `SINEW_DOMAIN_ID` (else
 * `ROS_DOMAIN_ID`, else 0) of the environment.
 */
typedef struct sinew_raw_space sinew_raw_space;

/**
 * The newest value of a name, with many writers and many readers; nothing ever blocks. A handle
 * both writes and reads, and gets each value once, also its own, unless a newer one comes before it
 * reads.
 *
 * A value lives as long as the handles of the process that wrote it, and a handle that got it keeps
 * it until a newer one comes. So a handle that is opened late has the last value at once, if a process
 * that wrote it still has the topic open. A value that is read is never torn.
 */
typedef struct sinew_raw_topic sinew_raw_topic;

/**
 * A reader of a variable, which one process, its master, writes. It may be opened before there is a
 * master, and gets the current value at any time, never a torn one. A variable lives as long as its
 * master. Readers map the master's memory read-only.
 */
typedef struct sinew_raw_variable sinew_raw_variable;

/**
 * 0 (`SINEW_OK`), or the reason of a failure, one of `SINEW_ERROR_..`. A number keeps its meaning;
 * new ones may come, so treat those that you don't know as failures.
 */
typedef int32_t sinew_status;

/**
 * A choice with a default: `SINEW_DEFAULT`, `SINEW_NO` or `SINEW_YES`.
 */
typedef int sinew_choice;

/**
 * Nanoseconds. As a timeout, a negative number is for ever.
 */
typedef int64_t sinew_duration;

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
   * The delay after which its nodes log hints about endpoints without a counterpart. 0: 5 s; negative: never.
   */
  sinew_duration hints_after;
} sinew_context_options;

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
 * The options of `sinew_raw_queue_open`. Zero is the default of every field.
 */
typedef struct sinew_raw_queue_options {
  /**
   * `sizeof(struct sinew_raw_queue_options)`.
   */
  size_t size;
  /**
   * Number of messages of this process that each reader may have yet to read. 0: 64. The first
   * handle that a process opens decides for all of them.
   */
  size_t capacity;
  /**
   * Time for which a reader of another process may block this handle without reading, before it
   * is cut off: no writer waits for it any more, and its next read fails with
   * `SINEW_ERROR_CUT_OFF`. 0 or negative: without a limit.
   */
  sinew_duration patience;
} sinew_raw_queue_options;

/**
 * A value's origin.
 */
typedef struct sinew_raw_origin {
  /**
   * When the value was written: nanoseconds of the machine's monotonic clock (`CLOCK_MONOTONIC`), the
   * same for all its processes.
   */
  int64_t stamp;
  /**
   * The id of the writing process's space, which no other one has or had: see
   * `sinew_raw_space_id`(super::space::sinew_raw_space_id).
   */
  uint64_t writer;
} sinew_raw_origin;

/**
 * The options of `sinew_raw_space_join`. Zero is the default of every field.
 */
typedef struct sinew_raw_space_options {
  /**
   * `sizeof(struct sinew_raw_space_options)`.
   */
  size_t size;
  /**
   * The domain. The environment does not change it.
   */
  uint32_t domain;
  /**
   * The directory in which each domain has its own. Null: `SINEW_DIR` of the environment, else
   * `/dev/shm/sinew-<uid>`.
   */
  const char *directory;
} sinew_raw_space_options;

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

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

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
 * Writes the newest value of a topic: `size` bytes of `data`. Needs no set-up and no end: the first
 * call with a name opens it, which takes some milliseconds, in the domain and directory of the
 * environment (`SINEW_DOMAIN_ID`, `SINEW_DIR`). Never blocks after that; copies the value once.
 *
 * A name has 1 to 255 bytes, and is unique in its domain across topics, queues and variables. For
 * threads, forks and the process's end see `sinew_raw_close`; for what a topic is, `sinew_raw_topic`.
 *
 * Fails with `SINEW_ERROR_NAME_IN_USE` if the name is something else for another process, and with
 * `SINEW_ERROR_NO_SPACE` if the shared memory has no room.
 */
sinew_status sinew_topic_write(const char *name,
                               const void *data,
                               size_t size);

/**
 * Reads the newest value of a topic into `data`, which has `capacity` bytes. Never blocks, except
 * the first call with a name, which opens it; copies the value once. The process gets each value
 * once, also its own, unless a newer one comes before it reads.
 *
 * `*size` is the value's size. `size` may be null: then only a value of exactly `capacity` bytes is
 * taken.
 *
 * Fails with `SINEW_ERROR_TIMEOUT` if there is no new value: nothing is written then. Fails with
 * `SINEW_ERROR_WRONG_CAPACITY` if the value doesn't fit: then `*size` is its size, and it stays to be
 * read until a newer one comes.
 */
sinew_status sinew_topic_read(const char *name,
                              void *data,
                              size_t capacity,
                              size_t *size);

/**
 * Writes a message to a queue: every reader gets it. Blocks while a reader has no room (for 64
 * messages), for at most `timeout`. The first call with a name opens it. A message that is written
 * while there is no reader is not kept: see `sinew_queue_wait_for_reader`.
 *
 * Fails with `SINEW_ERROR_HISTORY_FULL` if a reader had no room in time: then no reader gets the
 * message.
 */
sinew_status sinew_queue_write(const char *name,
                               const void *data,
                               size_t size,
                               sinew_duration timeout);

/**
 * Reads the next message of a queue into `data`, which has `capacity` bytes; blocks until there is
 * one, for at most `timeout`. The process's first call joins as a reader: it gets the messages that
 * are written afterwards. Threads that read one queue share its messages, and take turns.
 *
 * `*size` is the message's size. `size` may be null: then only a message of exactly `capacity`
 * bytes is taken.
 *
 * Fails with `SINEW_ERROR_TIMEOUT` if no message comes in time. Fails with
 * `SINEW_ERROR_WRONG_CAPACITY` if the message doesn't fit: then `*size` is its size, and the next
 * read gets it.
 */
sinew_status sinew_queue_read(const char *name,
                              void *data,
                              size_t capacity,
                              size_t *size,
                              sinew_duration timeout);

/**
 * Joins a queue as a reader, unless the process is one: it gets every message that is written after
 * this returns.
 */
sinew_status sinew_queue_join(const char *name);

/**
 * Blocks until a queue has a reader, in this process or another, for at most `timeout`. Readers
 * that are there get all messages written afterwards.
 *
 * Fails with `SINEW_ERROR_TIMEOUT` if none joins in time.
 */
sinew_status sinew_queue_wait_for_reader(const char *name, sinew_duration timeout);

/**
 * Writes the value of a variable: `size` bytes of `data`. The first call with a name makes the
 * process the variable's master, its only writer, until it ends or calls `sinew_raw_close`. Never
 * blocks after that.
 *
 * Fails with `SINEW_ERROR_MASTER_TAKEN` if another process is the master; the sentence names it.
 */
sinew_status sinew_variable_write(const char *name, const void *data, size_t size);

/**
 * Reads the current value of a variable into `data`, which has `capacity` bytes, any number of
 * times. Never blocks, except the first call with a name, which opens it.
 *
 * `*size` is the value's size. `size` may be null: then the value must have exactly `capacity`
 * bytes.
 *
 * Fails with `SINEW_ERROR_TIMEOUT` while there is no master, and so no value, and with
 * `SINEW_ERROR_WRONG_CAPACITY` if the value doesn't fit: then `*size` is its size.
 */
sinew_status sinew_variable_read(const char *name, void *data, size_t capacity, size_t *size);

/**
 * Closes a name that this process opened by the functions that take one; a name that it didn't open
 * is no mistake. No program has to call this. The next call with the name opens it again.
 *
 * Hidden state: `sinew_topic_..`, `sinew_queue_..` and `sinew_variable_..` keep one handle for each
 * name and kind in a table of the process, from the first call with the name until this function is
 * called, or the process calls `exit` or returns from `main`. A value lives as long as a process
 * that wrote it or got it. The first name starts a thread, which sleeps while nothing changes.
 *
 * Any thread may call any of them at any time; threads of a process share the names' handles. After
 * a `fork`, the child opens names anew at its first call, and the parent's stay as they are; as with
 * most libraries, the child of a process with several threads may hang if another thread was just
 * opening a name. A call with a name costs some 50 ns more than one with a handle
 * (`sinew_raw_topic_open` and so on).
 */
sinew_status sinew_raw_close(const char *name);

/**
 * Opens a queue.
 *
 * `space` may be null: the process's default one; so may `options`. A name has 1 to 255 bytes and
 * is unique in its domain across topics, queues and variables. The caller frees `*queue` with
 * `sinew_raw_queue_free`.
 *
 * Fails with `SINEW_ERROR_NAME_IN_USE` if the name is something else for another process.
 */
sinew_status sinew_raw_queue_open(const struct sinew_raw_space *space,
                                  const char *name,
                                  const struct sinew_raw_queue_options *options,
                                  struct sinew_raw_queue **queue);

/**
 * Frees a handle to a queue; null is allowed. Messages that it has yet to read are lost.
 */
void sinew_raw_queue_free(struct sinew_raw_queue *queue);

/**
 * Joins as a reader, unless the handle is one: it gets every message that is written after this
 * returns. Blocks until all writers know it, for at most half a second if one of them doesn't
 * answer.
 */
sinew_status sinew_raw_queue_join(const struct sinew_raw_queue *queue);

/**
 * Blocks until the queue has a reader, in this process or another, for at most `timeout`. Readers
 * that are there get all messages written afterwards.
 *
 * Fails with `SINEW_ERROR_TIMEOUT` if none joins in time.
 */
sinew_status sinew_raw_queue_wait_for_reader(const struct sinew_raw_queue *queue,
                                             sinew_duration timeout);

/**
 * Writes a message of `size` bytes, which may be 0; blocks while a reader has no room, for at most
 * `timeout`. Several threads may write at once. Copies the message once.
 *
 * Fails with `SINEW_ERROR_HISTORY_FULL` if a reader had no room in time: then no reader gets the
 * message. The sentence names the reader's process.
 */
sinew_status sinew_raw_queue_write(const struct sinew_raw_queue *queue,
                                   const void *data,
                                   size_t size,
                                   sinew_duration timeout);

/**
 * Reads the next message into `data`, which has `capacity` bytes; blocks until there is one, for at
 * most `timeout`. Threads that read with one handle take turns. Copies the message once.
 *
 * `*size` is the message's size. `size` may be null: then only a message of exactly `capacity`
 * bytes is taken. `origin` may be null.
 *
 * Fails with `SINEW_ERROR_TIMEOUT` if no message comes in time. Fails with
 * `SINEW_ERROR_WRONG_CAPACITY` if the message doesn't fit: then `*size` is its size, and the next
 * read gets it.
 */
sinew_status sinew_raw_queue_read(const struct sinew_raw_queue *queue,
                                  void *data,
                                  size_t capacity,
                                  size_t *size,
                                  sinew_duration timeout,
                                  struct sinew_raw_origin *origin);

/**
 * Joins a domain with a presence of its own, which sees others of the same process like those of
 * other processes. Starts a thread, which sleeps while nothing changes; takes up to a millisecond.
 *
 * `options` may be null. The caller frees `*space` with `sinew_raw_space_free`. After a `fork`, the
 * child joins a space of its own.
 */
sinew_status sinew_raw_space_join(const struct sinew_raw_space_options *options,
                                  struct sinew_raw_space **space);

/**
 * Frees a handle to a space; null is allowed. The space ends with its last handle and everything
 * that was opened in it.
 */
void sinew_raw_space_free(struct sinew_raw_space *space);

/**
 * Returns the id that values written in the space have as their `writer`.
 */
uint64_t sinew_raw_space_id(const struct sinew_raw_space *space);

/**
 * Opens a topic. Returns when all its writers know that this handle reads, or after half a second
 * if one of them doesn't answer.
 *
 * `space` may be null: the process's default one. A name has 1 to 255 bytes and is unique in its
 * domain across topics, queues and variables. The caller frees `*topic` with `sinew_raw_topic_free`.
 *
 * Fails with `SINEW_ERROR_NAME_IN_USE` if the name is something else for another process; the
 * sentence names it.
 */
sinew_status sinew_raw_topic_open(const struct sinew_raw_space *space,
                                  const char *name,
                                  struct sinew_raw_topic **topic);

/**
 * Frees a handle to a topic; null is allowed. With the process's last handle of the name, the values
 * that the process wrote end.
 */
void sinew_raw_topic_free(struct sinew_raw_topic *topic);

/**
 * Writes a value of `size` bytes, which may be 0. Never blocks; copies the value once. Once warm it
 * allocates nothing and makes no system call.
 *
 * Fails with `SINEW_ERROR_NO_SPACE` if the shared memory has no room.
 */
sinew_status sinew_raw_topic_write(const struct sinew_raw_topic *topic,
                                   const void *data,
                                   size_t size);

/**
 * Reads the newest value into `data`, which has `capacity` bytes. Never blocks; copies the value
 * once.
 *
 * `*size` is the value's size. `size` may be null: then only a value of exactly `capacity` bytes is
 * taken. `origin` may be null.
 *
 * Fails with `SINEW_ERROR_TIMEOUT` if this handle has read the newest value already, or if there is
 * none: nothing is written then. Fails with `SINEW_ERROR_WRONG_CAPACITY` if the value doesn't fit:
 * then `*size` is its size, and it stays to be read until a newer one comes.
 */
sinew_status sinew_raw_topic_read(const struct sinew_raw_topic *topic,
                                  void *data,
                                  size_t capacity,
                                  size_t *size,
                                  struct sinew_raw_origin *origin);

/**
 * Opens a variable for reading. Returns when its master, if there is one, knows that this handle
 * reads, or after half a second if it doesn't answer.
 *
 * `space` may be null: the process's default one. A name has 1 to 255 bytes and is unique in its
 * domain across topics, queues and variables. The caller frees `*variable` with
 * `sinew_raw_variable_free`.
 *
 * Fails with `SINEW_ERROR_NAME_IN_USE` if the name is something else for another process.
 */
sinew_status sinew_raw_variable_open(const struct sinew_raw_space *space,
                                     const char *name,
                                     struct sinew_raw_variable **variable);

/**
 * Frees a handle to a reader of a variable; null is allowed.
 */
void sinew_raw_variable_free(struct sinew_raw_variable *variable);

/**
 * Reads the current value into `data`, which has `capacity` bytes. Never blocks; copies the value
 * once. The value can be read any number of times. The end of a master is noticed within milliseconds.
 *
 * `*size` is the value's size. `size` may be null: then the value must have exactly `capacity`
 * bytes. `origin` may be null.
 *
 * Fails with `SINEW_ERROR_TIMEOUT` while there is no master, and with `SINEW_ERROR_WRONG_CAPACITY`
 * if the value doesn't fit: then `*size` is its size.
 */
sinew_status sinew_raw_variable_read(const struct sinew_raw_variable *variable,
                                     void *data,
                                     size_t capacity,
                                     size_t *size,
                                     struct sinew_raw_origin *origin);

/**
 * Becomes a variable's master. The variable has the value in `data`, of `size` bytes, when this returns.
 *
 * `space` may be null: the process's default one. The caller frees `*master` with
 * `sinew_raw_master_free`.
 *
 * Fails with `SINEW_ERROR_MASTER_TAKEN` if there is a master already; the sentence names its process.
 */
sinew_status sinew_raw_master_open(const struct sinew_raw_space *space,
                                   const char *name,
                                   const void *data,
                                   size_t size,
                                   struct sinew_raw_master **master);

/**
 * Frees a handle to a master, with which the variable's value ends; null is allowed.
 */
void sinew_raw_master_free(struct sinew_raw_master *master);

/**
 * Writes a value of `size` bytes, which may be 0. Never blocks; several threads may write at once.
 *
 * Fails with `SINEW_ERROR_NO_SPACE` if the shared memory has no room.
 */
sinew_status sinew_raw_master_write(const struct sinew_raw_master *master,
                                    const void *data,
                                    size_t size);

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

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SINEW_H */
