/*
 * Sinew: communication for robots at memory speed. Written from the sources of `sinew-c`.
 *
 * Handles are pointers to opaque structures; each has one `.._free`, which accepts null. A function
 * that can fail returns a `sinew_status`; `sinew_error_message()` is the sentence of a thread's
 * last failure. Functions that only ask return their answer, and 0 or null after a failure. Texts
 * are UTF-8 and end with a NUL; those that are returned belong to their handle. Structures begin
 * with their size, which the caller sets: `{.size = sizeof(struct ..)}` is a start, as zero is the
 * default of every option. Of a result, as much is filled as the caller's structure has.
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
    /** The context is initialised already. */
    SINEW_ERROR_ALREADY_INITIALIZED = 109,
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
    /** The message has no value, only its encoded form. */
    SINEW_ERROR_NO_VALUE = 209,
    /** The message has a value, so no encoded form of it can be read in place. */
    SINEW_ERROR_NOT_ENCODED = 210,
    /** The value was not adopted, so its memory can't be given away. */
    SINEW_ERROR_NOT_ADOPTED = 211,
    /** No type of this name is known. */
    SINEW_ERROR_UNKNOWN_TYPE = 212,
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
    /** The endpoint doesn't keep its statuses. */
    SINEW_ERROR_NOT_KEPT = 305,
    /** For another process the name is something else. */
    SINEW_ERROR_NAME_IN_USE = 306,
    /** The variable has a master already. */
    SINEW_ERROR_MASTER_TAKEN = 307,
    /** The writer does not wait for the reader any more. */
    SINEW_ERROR_CUT_OFF = 308,
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
    /** The goal's state doesn't allow it. */
    SINEW_ERROR_GOAL_STATE = 703,
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
    /** The container has no such component, or no such node is loaded. */
    SINEW_ERROR_UNKNOWN_COMPONENT = 950,
    /** A component can't be made. */
    SINEW_ERROR_COMPONENT_FAILED = 951,
    /** Two components have the same name. */
    SINEW_ERROR_COMPONENT_TWICE = 952,
    /** A file is no library of components for this program. */
    SINEW_ERROR_INVALID_LIBRARY = 953,
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
 * The form of `sinew_component_library`, of which a container knows this one only.
 */
#define SINEW_COMPONENT_ABI 1

/**
 * The number of bytes of a sentence in an event, with its NUL. A longer one ends with "..".
 */
#define SINEW_EVENT_SENTENCE 512

/**
 * The number of bytes that a callback of `sinew_node_on_set_parameters` has for its reason, with
 * the NUL at its end.
 */
#define SINEW_PARAMETER_REASON_SIZE 512

/**
 * The way to send goals to the server of an action.
 */
typedef struct sinew_action_client sinew_action_client;

/**
 * A server that executes the goals of an action.
 */
typedef struct sinew_action_server sinew_action_server;

/**
 * The types of an action. It lives as long as the process and is never freed; the same types are
 * always the same pointer.
 */
typedef struct sinew_action_type sinew_action_type;

/**
 * The way to call a service.
 */
typedef struct sinew_client sinew_client;

/**
 * A goal that a client has sent. Several handles may refer to one goal. Freeing them doesn't stop
 * the goal.
 */
typedef struct sinew_client_goal sinew_client_goal;

/**
 * A publisher of `/clock`: a time of its own, which advances with steady time at a chosen speed,
 * and can be paused, stepped and set. A domain should have only one.
 */
typedef struct sinew_clock_publisher sinew_clock_publisher;

/**
 * A container: a node with the services `~/_container/load_node`, `unload_node` and `list_nodes`
 * of ROS 2's `composition_interfaces`, which make nodes of components in this process. The
 * services run in the executor to which the context, or the container's node, was added.
 */
typedef struct sinew_container sinew_container;

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
 * A message that is being written in its encoded form, where other processes will read it if they
 * have a matching subscription. Freeing it publishes nothing.
 */
typedef struct sinew_draft sinew_draft;

/**
 * An executor: it runs the callbacks of the contexts, nodes and groups that were added to it, in
 * the order in which their messages arrived and their timers were due.
 */
typedef struct sinew_executor sinew_executor;

/**
 * The graph as a program sees it that takes part: its own context, all others of the domain on
 * this host, and what gateways have brought in from the network. It keeps its context alive, but
 * no node.
 *
 * Names are full names, after remapping: `/scan`, not `scan`. Each query looks for changes
 * elsewhere on the calling thread, on which listeners may run meanwhile.
 */
typedef struct sinew_graph sinew_graph;

/**
 * Waits for changes of the graph. It counts from when it was made: a change between two waits ends
 * the second one at once.
 */
typedef struct sinew_graph_changes sinew_graph_changes;

/**
 * A listener of the graph's changes.
 */
typedef struct sinew_graph_listener sinew_graph_listener;

/**
 * The nodes and endpoints that there were at one moment. Lists are sorted: nodes by name,
 * endpoints by kind, name and node, names by themselves. Lists are counted from 0, and have the
 * parameter services of nodes and other hidden names.
 */
typedef struct sinew_graph_snapshot sinew_graph_snapshot;

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
 * The management of a node: its state, the callbacks of its transitions, and the services with
 * which others see and change the state, as those of ROS 2's `LifecycleNode`.
 */
typedef struct sinew_lifecycle_node sinew_lifecycle_node;

/**
 * A logger: a name under which lines are logged, with a level. That of node `/robot/arm` is
 * `robot.arm`; lines of a node's logger and of those below it are published on `/rosout` too.
 */
typedef struct sinew_logger sinew_logger;

/**
 * A reference to a message of any type: a value, or its encoded form. Several references to one
 * message are the same pointer, each to be freed by itself; the last one, on any thread, destroys
 * the value or gives it back to its pool.
 *
 * While there are several references, nothing may change the value. A message that was freed or
 * given away is noticed only with `SINEW_DEBUG_HANDLES=1` in the environment.
 */
typedef struct sinew_message sinew_message;

/**
 * A type of messages. It lives as long as the process and is never freed; the same type is always
 * the same pointer.
 */
typedef struct sinew_message_type sinew_message_type;

/**
 * A node: a name under which publishers, subscriptions, services and timers are made.
 */
typedef struct sinew_node sinew_node;

/**
 * The settings with which a container has a component make its node: names, remap rules,
 * parameters, log level. The component passes it on in the options of its node.
 */
typedef struct sinew_node_request sinew_node_request;

/**
 * A declared parameter with its current value.
 */
typedef struct sinew_parameter sinew_parameter;

/**
 * A callback of a node for its parameters. Freeing it removes the callback.
 */
typedef struct sinew_parameter_callback sinew_parameter_callback;

/**
 * The way to the parameters of another node, in this process or another.
 */
typedef struct sinew_parameter_client sinew_parameter_client;

/**
 * Descriptions of parameters that a function returned.
 */
typedef struct sinew_parameter_descriptors sinew_parameter_descriptors;

/**
 * Names and values of parameters, in an order. Functions return and take them, and callers make
 * some.
 *
 * Any thread may use a list. What it returned is valid until the list is changed or freed.
 */
typedef struct sinew_parameter_list sinew_parameter_list;

/**
 * A call that was sent and can be polled.
 */
typedef struct sinew_pending_call sinew_pending_call;

/**
 * Decides whether a publisher of a managed node publishes.
 */
typedef struct sinew_publish_gate sinew_publish_gate;

/**
 * Sends messages of one type to all subscriptions of its topic. Any thread may publish, several at
 * once.
 */
typedef struct sinew_publisher sinew_publisher;

/**
 * A server with requests that the program takes by hand: for event loops of other libraries. No
 * executor and no callback runs.
 */
typedef struct sinew_pulled_server sinew_pulled_server;

/**
 * A rate: it paces a thread's own loop at fixed times. In an executor a timer does that.
 */
typedef struct sinew_rate sinew_rate;

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
 * writes never does. Messages of one writing process arrive in their order. A full queue blocks
 * its writers and an empty one its readers. Messages that are written while there is no reader are
 * not kept: see `sinew_raw_queue_wait_for_reader`. A reader that dies is removed and disturbs no
 * other.
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
 * both writes and reads, and gets each value once, also its own, unless a newer one comes before
 * it reads.
 *
 * A value lives as long as the handles of the process that wrote it, and a handle that got it
 * keeps it until a newer one comes. So a handle that is opened late has the last value at once, if
 * a process that wrote it still has the topic open. A value that is read is never torn.
 */
typedef struct sinew_raw_topic sinew_raw_topic;

/**
 * A reader of a variable, which one process, its master, writes. It may be opened before there is
 * a master, and gets the current value at any time, never a torn one. A variable lives as long as
 * its master. Readers map the master's memory read-only.
 */
typedef struct sinew_raw_variable sinew_raw_variable;

/**
 * The way to answer one request: now or later, from any thread.
 */
typedef struct sinew_responder sinew_responder;

/**
 * A service that answers its requests by a callback.
 */
typedef struct sinew_server sinew_server;

/**
 * A goal that its server has accepted. Any thread may use it. Freed before it has ended, it is
 * canceled, or aborted if the server's options say so.
 */
typedef struct sinew_server_goal sinew_server_goal;

/**
 * The types of a service: that of its requests, that of its responses, and its ROS 2 name and
 * hash. It lives as long as the process and is never freed; the same types are always the same
 * pointer.
 */
typedef struct sinew_service_type sinew_service_type;

/**
 * A callback for the end of a context.
 */
typedef struct sinew_shutdown_handler sinew_shutdown_handler;

/**
 * Stops an executor or a wait set, also one that is freed meanwhile.
 */
typedef struct sinew_stop_handle sinew_stop_handle;

/**
 * A list of texts that a function returned.
 */
typedef struct sinew_strings sinew_strings;

/**
 * Receives the messages of one type on a topic: by a callback that an executor runs, or taken by
 * hand.
 */
typedef struct sinew_subscription sinew_subscription;

/**
 * Publishes the transforms of frames: of moving ones on `/tf`, or of fixed ones on `/tf_static`.
 */
typedef struct sinew_tf_broadcaster sinew_tf_broadcaster;

/**
 * The frames, and their transforms over the last seconds. Any thread may use it; lookups run in
 * parallel and allocate nothing.
 */
typedef struct sinew_tf_buffer sinew_tf_buffer;

/**
 * Fills a buffer from `/tf` and `/tf_static` on the threads that deliver the messages, without an
 * executor. When ROS time jumps back, the buffer is cleared.
 */
typedef struct sinew_tf_listener sinew_tf_listener;

/**
 * A timer: it runs a callback again and again, at fixed times.
 */
typedef struct sinew_timer sinew_timer;

/**
 * What a timer's callback gets to know. It is valid during the call only.
 */
typedef struct sinew_timer_info sinew_timer_info;

/**
 * A place for a value that is about to become a message, for example by a placement `new`. Freeing
 * it destroys no value.
 */
typedef struct sinew_uninit_message sinew_uninit_message;

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
 * 0 (`SINEW_OK`), or the reason of a failure, one of `SINEW_ERROR_..`. A number keeps its meaning;
 * new ones may come, so treat those that you don't know as failures.
 */
typedef int32_t sinew_status;

/**
 * The options of `sinew_action_client_new`. Zero is the default of every field.
 */
typedef struct sinew_action_client_options {
  /**
   * `sizeof(struct sinew_action_client_options)`.
   */
  size_t size;
  /**
   * The group in which callbacks run; the client belongs to the group's node. Null: the node's
   * default group.
   */
  const struct sinew_group *group;
  /**
   * The number of feedback messages that wait: those of all goals on their way to the client,
   * and those of each goal for its callback. Beyond it the oldest is lost. 0: 10.
   */
  size_t feedback_depth;
} sinew_action_client_options;

/**
 * Nanoseconds. As a timeout, a negative number is for ever.
 */
typedef int64_t sinew_duration;

/**
 * The callback with the server's answer to a goal, called once, first. If `status` is `SINEW_OK`,
 * the goal was accepted, and the callback owns `goal`. Otherwise `goal` is null, and
 * `sinew_error_message()` says in this thread why: with `SINEW_ERROR_GOAL_REJECTED` the server
 * rejected it.
 */
typedef sinew_status (*sinew_goal_response_callback)(void *context,
                                                     sinew_status status,
                                                     struct sinew_client_goal *goal);

/**
 * The callback for feedback, called for each message. `message`, of `.._FeedbackMessage`, is lent
 * for the call; `sinew_message_clone` keeps it. `feedback` is the place of the feedback in it.
 */
typedef sinew_status (*sinew_feedback_callback)(void *context,
                                                const struct sinew_message *message,
                                                const void *feedback);

/**
 * The state of a goal, with ROS 2's numbers.
 */
typedef int sinew_goal_status;

/**
 * The callback with the result, called once, last. If `status` is `SINEW_OK`, `goal_status` says
 * how the goal ended, the callback owns `message`, of `.._GetResult_Response`, and `result` is the
 * place of the result in it; the message is shared with others, to be read only. Otherwise both
 * are null, and `sinew_error_message()` says in this thread why there is no result.
 */
typedef sinew_status (*sinew_result_callback)(void *context,
                                              sinew_status status,
                                              sinew_goal_status goal_status,
                                              struct sinew_message *message,
                                              const void *result);

/**
 * The callbacks of a goal, which share a context. Each may be null. The executor of the client's
 * group runs them, those of one goal never at the same time. They return `SINEW_OK`; anything else
 * is a failure of the callback, which the executor reports.
 */
typedef struct sinew_goal_callbacks {
  /**
   * `sizeof(struct sinew_goal_callbacks)`.
   */
  size_t size;
  /**
   * Gets the server's answer.
   */
  sinew_goal_response_callback response;
  /**
   * Gets feedback.
   */
  sinew_feedback_callback feedback;
  /**
   * Gets the result.
   */
  sinew_result_callback result;
} sinew_goal_callbacks;

/**
 * Frees the context of a callback, when the library calls it no more. It may run on any thread.
 */
typedef void (*sinew_drop)(void *context);

/**
 * The id of a goal: a UUID, which its client chooses.
 */
typedef struct sinew_goal_id {
  /**
   * The bytes, as in messages.
   */
  uint8_t bytes[16];
} sinew_goal_id;

/**
 * The outcome of a request to end goals early, with ROS 2's numbers.
 */
typedef int sinew_cancel_outcome;

/**
 * Nanoseconds since the beginning of a clock: since 1970 for `SINEW_CLOCK_ROS` and
 * `SINEW_CLOCK_SYSTEM`.
 */
typedef int64_t sinew_time;

/**
 * A goal in a list.
 */
typedef struct sinew_goal_info {
  /**
   * The goal's id.
   */
  struct sinew_goal_id id;
  /**
   * The time at which its server accepted it, by the server's clock. (Servers of rclcpp leave it
   * 0.)
   */
  sinew_time stamp;
  /**
   * Its state; `SINEW_GOAL_CANCELING` in the answer to a cancel request.
   */
  sinew_goal_status status;
} sinew_goal_info;

/**
 * The callback of a request to end goals early, run by the executor of the client's group. If
 * `status` is `SINEW_OK`, `goals` are the `count` goals that will end early. Otherwise
 * `sinew_error_message()` says in this thread why the outcome is unknown. The array lives until
 * the callback returns.
 *
 * It returns `SINEW_OK`. Anything else is a failure of the callback, which its executor reports.
 */
typedef sinew_status (*sinew_canceled_callback)(void *context,
                                                sinew_status status,
                                                sinew_cancel_outcome outcome,
                                                const struct sinew_goal_info *goals,
                                                size_t count);

/**
 * What an action server does with a goal that arrives while another one is executing.
 */
typedef int sinew_goal_policy;

/**
 * The options of `sinew_action_server_new`. Zero is the default of every field.
 */
typedef struct sinew_action_server_options {
  /**
   * `sizeof(struct sinew_action_server_options)`.
   */
  size_t size;
  /**
   * The group in which the callbacks run; the server belongs to the group's node. Null: the
   * node's default group.
   */
  const struct sinew_group *group;
  /**
   * Whether the goal and cancel callbacks, and the accepted callback of a deferred goal, run on
   * the thread that sends the request, or that receives it from another process, instead of in
   * an executor. Then goals are accepted and cancelled also while the group is busy; several
   * threads may run the callbacks at once, and they should be short.
   */
  bool is_immediate;
  /**
   * What becomes of a goal while another one is executing.
   */
  sinew_goal_policy policy;
  /**
   * The number of goals that may wait with `SINEW_GOALS_QUEUE`.
   */
  size_t queue;
  /**
   * The number of goals that may be active; further ones are rejected. 0: 1000.
   */
  size_t max_goals;
  /**
   * The number of ended goals with a result that is kept. 0: 1000.
   */
  size_t max_results;
  /**
   * The bytes of all kept results in encoded form. 0: 64 MiB.
   */
  size_t max_result_bytes;
  /**
   * The time for which a result is kept for later requests, from the end of its goal. 0: 10
   * seconds. Negative: until newer ones reach a limit.
   */
  sinew_duration result_timeout;
  /**
   * Whether a goal is aborted that is freed before it has ended. By default it is canceled.
   */
  bool aborts_on_free;
} sinew_action_server_options;

/**
 * A server's decision on a goal, with rclcpp's numbers.
 */
typedef int sinew_goal_response;

/**
 * Decides on a goal: it sets `*response`, which is 0 before. `request` is lent for the call, a
 * message of `.._SendGoal_Request`; `sinew_message_clone` keeps it. It returns `SINEW_OK`;
 * anything else is a failure of the callback, and the goal is rejected.
 */
typedef sinew_status (*sinew_goal_callback)(void *context,
                                            const struct sinew_goal_id *id,
                                            const struct sinew_message *request,
                                            sinew_goal_response *response);

/**
 * A server's decision on a request to end a goal early, with rclcpp's numbers.
 */
typedef int sinew_cancel_response;

/**
 * Decides whether a goal may be ended early: it sets `*response`, which is 0 before. It returns
 * `SINEW_OK`; anything else is a failure of the callback, and the goal continues.
 */
typedef sinew_status (*sinew_cancel_callback)(void *context,
                                              const struct sinew_goal_id *id,
                                              sinew_cancel_response *response);

/**
 * Gets a goal that was accepted, and owns it: it is executed here, or later on any thread, and
 * freed with `sinew_server_goal_free`. It returns `SINEW_OK`; anything else is a failure of the
 * callback.
 */
typedef sinew_status (*sinew_accepted_callback)(void *context, struct sinew_server_goal *goal);

/**
 * The callbacks of an action server, which share a context.
 */
typedef struct sinew_action_server_callbacks {
  /**
   * `sizeof(struct sinew_action_server_callbacks)`.
   */
  size_t size;
  /**
   * Decides on each goal. Null: each is accepted and executed.
   */
  sinew_goal_callback goal;
  /**
   * Decides on requests to end goals early. Null: each is accepted.
   */
  sinew_cancel_callback cancel;
  /**
   * Gets each goal that was accepted. Must not be null.
   */
  sinew_accepted_callback accepted;
} sinew_action_server_callbacks;

/**
 * The parts of an action's types. Messages are those with which ROS 2 carries goals, results and
 * feedback; the places of their fields are offsets in bytes, as of `offsetof`.
 */
typedef struct sinew_action_parts {
  /**
   * `sizeof(struct sinew_action_parts)`.
   */
  size_t size;
  /**
   * The ROS 2 name, `package/action/Name`.
   */
  const char *name;
  /**
   * The hash of the service `package/action/Name_SendGoal`, `RIHS01_` and 64 digits.
   */
  const char *send_goal_hash;
  /**
   * The hash of the service `package/action/Name_GetResult`.
   */
  const char *get_result_hash;
  /**
   * The type of `package/action/Name_SendGoal_Request`.
   */
  const struct sinew_message_type *request;
  /**
   * The type of `package/action/Name_GetResult_Response`. It needs a `create` function, and one
   * that copies values or an encoding: the server keeps results, and sends copies.
   */
  const struct sinew_message_type *response;
  /**
   * The type of `package/action/Name_FeedbackMessage`.
   */
  const struct sinew_message_type *feedback;
  /**
   * The place of the 16 bytes of `goal_id` in a request.
   */
  size_t request_goal_id;
  /**
   * The place of `goal` in a request.
   */
  size_t request_goal;
  /**
   * The place of `status`, one byte, in a response.
   */
  size_t response_status;
  /**
   * The place of `result` in a response.
   */
  size_t response_result;
  /**
   * The place of the 16 bytes of `goal_id` in a message with feedback.
   */
  size_t feedback_goal_id;
  /**
   * The place of `feedback` in a message with feedback.
   */
  size_t feedback_feedback;
} sinew_action_parts;

/**
 * The messages that wait for their reader: `SINEW_HISTORY_..`. The numbers are those of rmw.
 */
typedef int sinew_history;

/**
 * Whether messages may be lost on their way: `SINEW_RELIABILITY_..`. The numbers are those of rmw.
 */
typedef int sinew_reliability;

/**
 * Whether a subscription gets messages that were published before it: `SINEW_DURABILITY_..`. The
 * numbers are those of rmw.
 */
typedef int sinew_durability;

/**
 * How a publisher proves that it is alive: `SINEW_LIVELINESS_..`. The numbers are those of rmw.
 */
typedef int sinew_liveliness;

/**
 * The quality of service of a publisher or a subscription. Zero is the default of every field:
 * reliable, volatile, the last 10 messages.
 *
 * A publisher offers one, a subscription requests one; they match if the publisher offers
 * everything that the subscription requests. To change a named profile, copy it:
 * `sinew_qos qos = *sinew_qos_sensor_data(); qos.depth = 1;`.
 */
typedef struct sinew_qos {
  /**
   * `sizeof(struct sinew_qos)`.
   */
  size_t size;
  /**
   * The messages that wait for their reader. 0: keep last.
   */
  sinew_history history;
  /**
   * Whether messages may be lost on their way. 0: reliable.
   */
  sinew_reliability reliability;
  /**
   * Whether a subscription gets messages that were published before it. 0: volatile.
   */
  sinew_durability durability;
  /**
   * How a publisher proves that it is alive. 0: automatic.
   */
  sinew_liveliness liveliness;
  /**
   * The number of messages that keep last keeps, at most 16,777,216. 0: 10. Not used with keep
   * all.
   */
  size_t depth;
  /**
   * The most messages that an endpoint holds. 0: the depth with keep last, 1000 with keep all.
   */
  size_t max_samples;
  /**
   * The longest time between two messages: promised by a publisher, expected by a subscription.
   * 0 or negative: no limit.
   */
  sinew_duration deadline;
  /**
   * The time after its publication during which a message may be taken. 0 or negative: for ever.
   */
  sinew_duration lifespan;
  /**
   * The time for which a publisher counts as alive after its last sign of life. 0 or negative:
   * no limit. ROS 2's `liveliness_lease_duration`.
   */
  sinew_duration lease;
  /**
   * The longest time that publishing may wait for room, if both ends are reliable and keep all.
   * 0: 100 ms; negative: for ever; 1 hardly waits.
   */
  sinew_duration max_blocking_time;
} sinew_qos;

/**
 * The options of `sinew_client_new`. Zero is the default of every field.
 */
typedef struct sinew_client_options {
  /**
   * `sizeof(struct sinew_client_options)`.
   */
  size_t size;
  /**
   * The group in which callbacks for responses run; the client belongs to the group's node.
   * Null: the node's default group.
   */
  const struct sinew_group *group;
  /**
   * The number of requests sent by `sinew_client_send` that have no response yet, or one that
   * was not taken; further ones fail with `SINEW_ERROR_TOO_MANY_RESPONSES`. 0: 1000, or the
   * depth of the QoS if that is more.
   */
  size_t max_responses;
  /**
   * The time for which a thread that waits for another process polls before it sleeps. 0: it
   * sleeps at once.
   */
  sinew_duration spin_before_park;
  /**
   * The QoS, as in `sinew_server_options`. Null: that of services.
   */
  const struct sinew_qos *qos;
} sinew_client_options;

/**
 * An identity, unique among all participants: ROS 2's `rmw_gid_t`.
 */
typedef struct sinew_gid {
  /**
   * The bytes.
   */
  uint8_t bytes[16];
} sinew_gid;

/**
 * The callback of one call, run by the executor of the client's group. If `status` is `SINEW_OK`,
 * it owns `response`. Otherwise `response` is null, and `sinew_error_message()` says in this
 * thread why there is none.
 *
 * It returns `SINEW_OK`. Anything else is a failure of the callback, which its executor reports.
 */
typedef sinew_status (*sinew_response_callback)(void *context,
                                                sinew_status status,
                                                struct sinew_message *response);

/**
 * Identifies a request among those of its client.
 */
typedef struct sinew_request_id {
  /**
   * The request's number among those of its client, from 1. With the client's gid it is the
   * `sinew_request_key` by which the server knows the request.
   */
  uint64_t sequence;
  /**
   * For the client.
   */
  uint32_t place;
} sinew_request_id;

/**
 * The callback of one call, run on the thread that answers. Otherwise as
 * `sinew_response_callback`.
 */
typedef void (*sinew_immediate_response_callback)(void *context,
                                                  sinew_status status,
                                                  struct sinew_message *response);

/**
 * What a client knows about a response, or about the failure that stands for it.
 */
typedef struct sinew_response_info {
  /**
   * `sizeof(struct sinew_response_info)`.
   */
  size_t size;
  /**
   * The id that `sinew_client_send` returned.
   */
  struct sinew_request_id id;
  /**
   * `SINEW_OK`, or the reason why the call failed.
   */
  sinew_status status;
  /**
   * The wall time at which the server answered, or the call failed. For a server of another
   * host, the time at which its answer reached this one.
   */
  sinew_time source_time;
  /**
   * The wall time at which the program took the response.
   */
  sinew_time reception_time;
  /**
   * The time from the answer to its reception.
   */
  sinew_duration latency;
} sinew_response_info;

/**
 * Is called with the number of new things: messages, requests, changes of a status. It runs on the
 * thread that brought them about, under no lock of the library, and several threads may call it at
 * once.
 */
typedef void (*sinew_listener)(void *context, uint64_t count);

/**
 * Counts of a client's calls so far.
 */
typedef struct sinew_client_statistics {
  /**
   * `sizeof(struct sinew_client_statistics)`.
   */
  size_t size;
  /**
   * Calls, including those that were not accepted.
   */
  uint64_t calls;
  /**
   * Calls that were answered with a response.
   */
  uint64_t answered;
  /**
   * Calls that ended with an error other than a timeout.
   */
  uint64_t failed;
  /**
   * Calls that were given up, and timeouts.
   */
  uint64_t abandoned;
  /**
   * Calls that wait for their answer now.
   */
  uint64_t waiting;
} sinew_client_statistics;

/**
 * A clock.
 */
typedef int sinew_clock_kind;

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
 * Makes a component and its node, with the node's option `request`. `*component` belongs to the
 * container, which passes it to `destroy` of the `sinew_component` when the node is unloaded;
 * `*node` is a handle that lives as long as the component.
 *
 * `request` is valid during the call. It returns `SINEW_OK`, or a failure, which the container
 * reports with the sentence of the thread's last failure (`sinew_error_set`).
 */
typedef sinew_status (*sinew_component_create)(void *context,
                                               const struct sinew_node_request *request,
                                               void **component,
                                               const struct sinew_node **node);

/**
 * A kind of node that a container can make. One of a shared library lives as long as the library,
 * which is never unloaded.
 */
typedef struct sinew_component {
  /**
   * `sizeof(struct sinew_component)`.
   */
  size_t size;
  /**
   * Its name in requests, mostly `package::Type`.
   */
  const char *type_name;
  /**
   * Makes a component and its node. Never called twice at the same time.
   */
  sinew_component_create create;
  /**
   * Destroys a component, with its node. Null: nothing is to be done.
   */
  sinew_drop destroy;
  /**
   * The first argument of `create`.
   */
  void *context;
  /**
   * The next component of the list; null: this is the last one.
   */
  const struct sinew_component *next;
} sinew_component;

/**
 * The options of `sinew_container_new`. Zero is the default of every field.
 */
typedef struct sinew_container_options {
  /**
   * `sizeof(struct sinew_container_options)`.
   */
  size_t size;
  /**
   * The first of the program's own components; null: it has none. They and what they name live
   * as long as the process.
   */
  const struct sinew_component *components;
  /**
   * Shared libraries with components, as `sinew_container_add_library` takes them.
   */
  const char *const *libraries;
  /**
   * The number of libraries.
   */
  size_t library_count;
} sinew_container_options;

/**
 * A level of log lines, with ROS 2's numbers.
 */
typedef int sinew_log_level;

/**
 * The options of `sinew_container_load_node`. Zero is the default of every field.
 */
typedef struct sinew_load_node_options {
  /**
   * `sizeof(struct sinew_load_node_options)`.
   */
  size_t size;
  /**
   * The package in which the component is searched if the container doesn't have it: its
   * libraries are those that it lists in ROS 2's index, in the directories of
   * `AMENT_PREFIX_PATH`. With a slash in it: the path of a library. Null: nothing is searched.
   */
  const char *package;
  /**
   * The node's name. Null: that of the component.
   */
  const char *node_name;
  /**
   * The node's namespace. Null: that of the component.
   */
  const char *node_namespace;
  /**
   * Rules that rename, as `from:=to`.
   */
  const char *const *remap;
  /**
   * The number of rules.
   */
  size_t remap_count;
  /**
   * Values for its parameters. Null: none.
   */
  const struct sinew_parameter_list *parameters;
  /**
   * The level of its logger. `SINEW_LOG_LEVEL_UNSET`: that of the process.
   */
  sinew_log_level log_level;
} sinew_load_node_options;

/**
 * The signals that shut down the contexts of the process with `interrupts`: `SINEW_SIGNALS_..`.
 */
typedef int sinew_signals;

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
  /**
   * The signals for which a context with `interrupts` installs handlers, if the process has
   * none.
   */
  sinew_signals signals;
} sinew_context_options;

/**
 * A function that is called once, when a context is shut down.
 */
typedef void (*sinew_shutdown_callback)(void *context);

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
 * Ends of the other kind that match. `rmw_matched_status_t`.
 */
typedef struct sinew_matched {
  /**
   * `sizeof(struct sinew_matched)`.
   */
  size_t size;
  /**
   * The number of ends that have ever matched.
   */
  uint64_t total;
  /**
   * The number of them since it was taken last.
   */
  uint64_t total_change;
  /**
   * The number of ends that match now.
   */
  uint64_t current;
  /**
   * The change of `current` since it was taken last.
   */
  int64_t current_change;
} sinew_matched;

/**
 * A policy of a QoS, or several added up: `SINEW_QOS_POLICY_..`. The numbers are those of rmw.
 */
typedef uint32_t sinew_qos_policy;

/**
 * Ends of the same topic that request or offer an incompatible QoS.
 * `rmw_qos_incompatible_event_status_t`.
 */
typedef struct sinew_incompatible_qos {
  /**
   * `sizeof(struct sinew_incompatible_qos)`.
   */
  size_t size;
  /**
   * The number of such ends.
   */
  uint64_t total;
  /**
   * The number of them since it was taken last.
   */
  uint64_t total_change;
  /**
   * The policy that prevented the last match; 0: none has been prevented.
   */
  sinew_qos_policy last_policy;
  /**
   * The node of the last one, and the offered and the requested value.
   */
  char last_reason[SINEW_EVENT_SENTENCE];
} sinew_incompatible_qos;

/**
 * Ends of the same topic that have another type. `rmw_incompatible_type_status_t`.
 */
typedef struct sinew_incompatible_type {
  /**
   * `sizeof(struct sinew_incompatible_type)`.
   */
  size_t size;
  /**
   * The number of such ends.
   */
  uint64_t total;
  /**
   * The number of them since it was taken last.
   */
  uint64_t total_change;
  /**
   * The node of the last one, and its type.
   */
  char last_reason[SINEW_EVENT_SENTENCE];
} sinew_incompatible_type;

/**
 * Missed deadlines: one for each period without a message. `rmw_offered_deadline_missed_status_t`,
 * `rmw_requested_deadline_missed_status_t`.
 */
typedef struct sinew_deadline_missed {
  /**
   * `sizeof(struct sinew_deadline_missed)`.
   */
  size_t size;
  /**
   * The number of missed periods.
   */
  uint64_t total;
  /**
   * The number of them since it was taken last.
   */
  uint64_t total_change;
} sinew_deadline_missed;

/**
 * Expired leases of a publisher. `rmw_liveliness_lost_status_t`.
 */
typedef struct sinew_liveliness_lost {
  /**
   * `sizeof(struct sinew_liveliness_lost)`.
   */
  size_t size;
  /**
   * The number of expiries.
   */
  uint64_t total;
  /**
   * The number of them since it was taken last.
   */
  uint64_t total_change;
} sinew_liveliness_lost;

/**
 * Publishers that match a subscription. `rmw_liveliness_changed_status_t`.
 */
typedef struct sinew_liveliness_changed {
  /**
   * `sizeof(struct sinew_liveliness_changed)`.
   */
  size_t size;
  /**
   * The number of them that are alive now.
   */
  uint64_t alive;
  /**
   * The number of them that exist, but have given no sign of life within their lease.
   */
  uint64_t not_alive;
  /**
   * The change of `alive` since it was taken last.
   */
  int64_t alive_change;
  /**
   * The change of `not_alive` since it was taken last.
   */
  int64_t not_alive_change;
} sinew_liveliness_changed;

/**
 * Lost messages of a subscription: they gave way to newer ones, found its history full, could not
 * be decoded, or were lost on the network. `rmw_message_lost_status_t`.
 */
typedef struct sinew_message_lost {
  /**
   * `sizeof(struct sinew_message_lost)`.
   */
  size_t size;
  /**
   * The number of lost messages.
   */
  uint64_t total;
  /**
   * The number of them since it was taken last.
   */
  uint64_t total_change;
  /**
   * The number of messages in `total` that could not be decoded.
   */
  uint64_t undecodable;
  /**
   * The problem with the last one of these; empty if there was none.
   */
  char last_problem[SINEW_EVENT_SENTENCE];
} sinew_message_lost;

/**
 * An event of an endpoint that keeps its events: `SINEW_EVENT_..`.
 */
typedef int sinew_event;

/**
 * Where the threads of an executor run while they spin.
 */
typedef int sinew_placement;

/**
 * What an executor or wait set does about a callback that fails.
 */
typedef int sinew_fault_policy;

/**
 * The order in which an executor begins callbacks that are ready.
 */
typedef int sinew_dispatch_order;

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
  /**
   * Which of the callbacks that are ready begins first. By default the one that has been ready
   * longest.
   */
  sinew_dispatch_order dispatch_order;
} sinew_executor_options;

/**
 * Is called after a change of the graph.
 */
typedef void (*sinew_graph_callback)(void *context);

/**
 * Where a node or an endpoint lives: `SINEW_PLACE_..`.
 */
typedef int sinew_place;

/**
 * A node of a snapshot. Its texts live as long as the snapshot.
 */
typedef struct sinew_node_info {
  /**
   * `sizeof(struct sinew_node_info)`.
   */
  size_t size;
  /**
   * The full name: namespace and name.
   */
  const char *name;
  /**
   * Where it lives.
   */
  sinew_place place;
  /**
   * The process id, in another process its own PID namespace's, on the network that of the
   * gateway; 0 for `SINEW_PLACE_HERE`.
   */
  uint64_t pid;
  /**
   * The name of that process's program; null for `SINEW_PLACE_HERE`.
   */
  const char *program;
} sinew_node_info;

/**
 * A topic, service or action of a snapshot. Its texts live as long as the snapshot.
 */
typedef struct sinew_name_and_types {
  /**
   * `sizeof(struct sinew_name_and_types)`.
   */
  size_t size;
  /**
   * The full name.
   */
  const char *name;
  /**
   * The names of its types, sorted: one, if its endpoints agree.
   */
  const char *const *types;
  /**
   * The number of types.
   */
  size_t type_count;
  /**
   * Whether tools hide it unless they are asked for it: a part of its name begins with an
   * underscore.
   */
  bool is_hidden;
} sinew_name_and_types;

/**
 * The kind of an endpoint: `SINEW_ENDPOINT_..`.
 */
typedef int sinew_endpoint_kind;

/**
 * A publisher, subscription, server or client of a snapshot. What it points to lives as long as
 * the snapshot.
 */
typedef struct sinew_endpoint_info {
  /**
   * `sizeof(struct sinew_endpoint_info)`.
   */
  size_t size;
  /**
   * Its kind.
   */
  sinew_endpoint_kind kind;
  /**
   * The full name of its node.
   */
  const char *node_name;
  /**
   * The full name of its topic or service.
   */
  const char *name;
  /**
   * The name of its type.
   */
  const char *type_name;
  /**
   * The hash of its type, `RIHS01_..`; null for a type without one, which stays in its process.
   */
  const char *type_hash;
  /**
   * Its QoS: offered by a publisher or a server, requested by the others.
   */
  const struct sinew_qos *qos;
  /**
   * Its identity. For a publisher of the network, that of the gateway's publisher that stands
   * for it.
   */
  struct sinew_gid gid;
  /**
   * Whether its messages can leave its process.
   */
  bool leaves_process;
  /**
   * Where it lives.
   */
  sinew_place place;
  /**
   * As in `sinew_node_info`.
   */
  uint64_t pid;
  /**
   * As in `sinew_node_info`.
   */
  const char *program;
} sinew_endpoint_info;

/**
 * Which endpoints are wanted. Zero is the default of every field: all.
 */
typedef struct sinew_endpoint_filter {
  /**
   * `sizeof(struct sinew_endpoint_filter)`.
   */
  size_t size;
  /**
   * Only those of this kind.
   */
  sinew_endpoint_kind kind;
  /**
   * Only those of this topic or service, by its full name. Null: of all.
   */
  const char *name;
  /**
   * Only those of nodes with this full name. Null: of all.
   */
  const char *node_name;
} sinew_endpoint_filter;

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
 * The kind of a name: `SINEW_NAME_..`.
 */
typedef int sinew_name_kind;

/**
 * An invalid name.
 */
typedef struct sinew_invalid_name {
  /**
   * `sizeof(struct sinew_invalid_name)`, set by the caller.
   */
  size_t size;
  /**
   * Its kind.
   */
  sinew_name_kind kind;
  /**
   * The name, as it was given.
   */
  const char *name;
  /**
   * The byte at which the first problem starts, counted from 0: in the name, or in what it
   * expands to.
   */
  size_t index;
} sinew_invalid_name;

/**
 * A state of a managed node: one in which it stays, or a transition that is going on.
 */
typedef int sinew_lifecycle_state;

/**
 * A callback of a transition; `previous` is the state in which it began. It returns
 * `SINEW_CALLBACK_SUCCESS`, `_FAILURE` or `_ERROR`, the numbers of
 * `lifecycle_msgs/msg/Transition`, or a status.
 *
 * It runs on the thread that makes the transition, under no lock, one of a node at a time.
 */
typedef sinew_status (*sinew_lifecycle_callback)(void *context, sinew_lifecycle_state previous);

/**
 * The callbacks of a managed node. Those that are null succeed, except `on_error`.
 */
typedef struct sinew_lifecycle_callbacks {
  /**
   * `sizeof(struct sinew_lifecycle_callbacks)`.
   */
  size_t size;
  /**
   * Makes the node's resources.
   */
  sinew_lifecycle_callback on_configure;
  /**
   * Releases them.
   */
  sinew_lifecycle_callback on_cleanup;
  /**
   * Starts work. The gates of publishers are open; managed groups run once this has returned.
   */
  sinew_lifecycle_callback on_activate;
  /**
   * Stops work. Managed groups don't run any more; gates close once this has returned.
   */
  sinew_lifecycle_callback on_deactivate;
  /**
   * Ends the node. After `SINEW_CALLBACK_FAILURE` the node is finalized nevertheless.
   */
  sinew_lifecycle_callback on_shutdown;
  /**
   * Follows an error of another callback. After `SINEW_CALLBACK_SUCCESS` the node is
   * unconfigured, else finalized. Null: finalized.
   */
  sinew_lifecycle_callback on_error;
} sinew_lifecycle_callbacks;

/**
 * A transition of a managed node.
 */
typedef int sinew_lifecycle_transition;

/**
 * A step from a state to another: what ROS 2 calls a transition.
 */
typedef struct sinew_lifecycle_step {
  /**
   * Its number in `lifecycle_msgs/msg/Transition`.
   */
  sinew_lifecycle_transition id;
  /**
   * Where it begins.
   */
  sinew_lifecycle_state start;
  /**
   * Where it ends.
   */
  sinew_lifecycle_state goal;
} sinew_lifecycle_step;

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
   * Whether parameters of the command line and of files are declared by themselves. By default
   * they aren't.
   */
  sinew_choice declare_overrides;
  /**
   * Whether the node has the services with which others read and set its parameters. By default
   * it has.
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
  /**
   * Values for the node's parameters, which come before their defaults, the command line and
   * files. Null: none.
   */
  const struct sinew_parameter_list *parameter_overrides;
  /**
   * The settings of a container, for the node of a component, which take precedence. Null: none.
   */
  const struct sinew_node_request *request;
  /**
   * Whether names, remapping and parameters of the context's command line are used. By default
   * they are.
   */
  sinew_choice use_global_arguments;
  /**
   * Whether log lines of the node go to `/rosout`. By default they do, unless the command line
   * has `--disable-rosout-logs`.
   */
  sinew_choice rosout;
  /**
   * The QoS of these lines. Null: `sinew_qos_rosout()`.
   */
  const struct sinew_qos *rosout_qos;
  /**
   * The QoS with which changes of parameters are published. Null:
   * `sinew_qos_parameter_events()`.
   */
  const struct sinew_qos *parameter_event_qos;
  /**
   * Whether other processes read and set levels of loggers through services of the node, until
   * its handle is freed. By default they don't.
   */
  sinew_choice logger_services;
} sinew_node_options;

/**
 * The type of a parameter: `SINEW_PARAMETER_..`. The numbers are those of
 * `rcl_interfaces/msg/ParameterType`.
 */
typedef int sinew_parameter_type;

/**
 * The value of a parameter: its type, and the field of that type. So `{.kind =
 * SINEW_PARAMETER_DOUBLE, .double_value = 1.5}` is one, and `{.kind =
 * SINEW_PARAMETER_INTEGER_ARRAY, .integer_array = numbers, .length = 3}` is another.
 *
 * What a value points to belongs to the caller, if the caller made it; the library copies it. In a
 * value from the library it belongs to the list that the value is from.
 */
typedef struct sinew_parameter_value {
  /**
   * The type.
   */
  sinew_parameter_type kind;
  /**
   * For `SINEW_PARAMETER_BOOL`.
   */
  bool bool_value;
  /**
   * For `SINEW_PARAMETER_INTEGER`.
   */
  int64_t integer_value;
  /**
   * For `SINEW_PARAMETER_DOUBLE`.
   */
  double double_value;
  /**
   * For `SINEW_PARAMETER_STRING`.
   */
  const char *string_value;
  /**
   * The number of elements of an array.
   */
  size_t length;
  /**
   * For `SINEW_PARAMETER_BYTE_ARRAY`.
   */
  const uint8_t *byte_array;
  /**
   * For `SINEW_PARAMETER_BOOL_ARRAY`.
   */
  const bool *bool_array;
  /**
   * For `SINEW_PARAMETER_INTEGER_ARRAY`.
   */
  const int64_t *integer_array;
  /**
   * For `SINEW_PARAMETER_DOUBLE_ARRAY`.
   */
  const double *double_array;
  /**
   * For `SINEW_PARAMETER_STRING_ARRAY`.
   */
  const char *const *string_array;
} sinew_parameter_value;

/**
 * The options of `sinew_node_declare_parameter`. Zero is the default of every field.
 */
typedef struct sinew_parameter_options {
  /**
   * `sizeof(struct sinew_parameter_options)`.
   */
  size_t size;
  /**
   * The type, if there is no default value, or if that should be converted to it without loss.
   */
  sinew_parameter_type kind;
  /**
   * Whether the parameter may have no value. Without it, a parameter without a default value
   * must have a value from the command line or a file.
   */
  bool is_optional;
  /**
   * Whether values may have any type, which may change later. Such a parameter can be
   * undeclared.
   */
  bool is_dynamic;
  /**
   * Whether it can't be set once it is declared. The command line and files still set it.
   */
  bool is_read_only;
  /**
   * Whether the command line and files don't set it.
   */
  bool ignores_overrides;
  /**
   * Whether the ranges below count: that of integers for an integer, that of doubles for a
   * double.
   */
  bool has_range;
  /**
   * The smallest integer.
   */
  int64_t integer_from;
  /**
   * The greatest integer.
   */
  int64_t integer_to;
  /**
   * A value is `integer_from` plus a multiple of this, or `integer_to`. 0: any value.
   */
  uint64_t integer_step;
  /**
   * The smallest double.
   */
  double double_from;
  /**
   * The greatest double.
   */
  double double_to;
  /**
   * A value is `double_from` plus a multiple of this, or `double_to`. 0: any value.
   */
  double double_step;
  /**
   * The description, for people. Null: none.
   */
  const char *description;
  /**
   * Rules for the values beyond type and range, for people. Null: none.
   */
  const char *constraints;
} sinew_parameter_options;

/**
 * The callback of `sinew_node_on_pre_set_parameters`. It may change the list, which lives until
 * it returns.
 */
typedef void (*sinew_pre_set_parameters_callback)(void *context, struct sinew_parameter_list *list);

/**
 * The callback of `sinew_node_on_set_parameters`. It returns `SINEW_OK` to accept the values.
 * Anything else refuses them: then it may write a sentence to `reason`, at most `reason_size`
 * bytes with the NUL at its end, for the caller that sets the parameters. The list lives until it
 * returns.
 */
typedef sinew_status (*sinew_on_set_parameters_callback)(void *context,
                                                         const struct sinew_parameter_list *list,
                                                         char *reason,
                                                         size_t reason_size);

/**
 * The callback of `sinew_node_on_post_set_parameters`. The list lives until it returns.
 */
typedef void (*sinew_post_set_parameters_callback)(void *context,
                                                   const struct sinew_parameter_list *list);

/**
 * The options of `sinew_parameter_client_new`. Zero is the default of every field.
 */
typedef struct sinew_parameter_client_options {
  /**
   * `sizeof(struct sinew_parameter_client_options)`.
   */
  size_t size;
  /**
   * The group of its clients. Null: the node's default group.
   */
  const struct sinew_group *group;
} sinew_parameter_client_options;

/**
 * The description of a parameter. Its texts live as long as the list that it is from.
 */
typedef struct sinew_parameter_descriptor {
  /**
   * `sizeof(struct sinew_parameter_descriptor)`.
   */
  size_t size;
  /**
   * The parameter's name.
   */
  const char *name;
  /**
   * The type, which values must have unless it is dynamic.
   */
  sinew_parameter_type kind;
  /**
   * Its purpose, for people.
   */
  const char *description;
  /**
   * Rules for the values beyond type and range, for people.
   */
  const char *constraints;
  /**
   * Whether it can't be set.
   */
  bool is_read_only;
  /**
   * Whether values may have any type.
   */
  bool is_dynamic;
  /**
   * Whether it has a range: in the fields of integers for an integer, in those of doubles for a
   * double.
   */
  bool has_range;
  /**
   * The smallest integer.
   */
  int64_t integer_from;
  /**
   * The greatest integer.
   */
  int64_t integer_to;
  /**
   * A value is `integer_from` plus a multiple of this, or `integer_to`. 0: any value.
   */
  uint64_t integer_step;
  /**
   * The smallest double.
   */
  double double_from;
  /**
   * The greatest double.
   */
  double double_to;
  /**
   * A value is `double_from` plus a multiple of this, or `double_to`. 0: any value.
   */
  double double_step;
} sinew_parameter_descriptor;

/**
 * The options of `sinew_publisher_new`. Zero is the default of every field.
 */
typedef struct sinew_publisher_options {
  /**
   * `sizeof(struct sinew_publisher_options)`.
   */
  size_t size;
  /**
   * The QoS that it offers. Null: the default.
   */
  const struct sinew_qos *qos;
  /**
   * The policies that parameters may change, added up: `SINEW_QOS_OVERRIDES_DEFAULT` are those
   * of ROS 2. They are declared as `qos_overrides./TOPIC.publisher.depth` and so on.
   */
  sinew_qos_policy qos_overrides;
  /**
   * Distinguishes it from the node's other publishers on the topic, in the names of these
   * parameters: `publisher_ID`. Null: nothing does.
   */
  const char *qos_overrides_id;
  /**
   * Whether it keeps its events, for `sinew_publisher_take_matched` and its like, and for
   * `sinew_publisher_set_event_listener`. No executor has to run; one thread of the context
   * notices missed deadlines and expired leases. Warnings of mismatches are not logged then.
   */
  bool keep_events;
  /**
   * Whether `pool_capacity` counts. Otherwise it is 64, and more for publishers that keep all.
   */
  bool has_pool_capacity;
  /**
   * The most messages in its pool. Each further one is allocated on its own.
   */
  size_t pool_capacity;
} sinew_publisher_options;

/**
 * A publisher's counters.
 */
typedef struct sinew_publisher_statistics {
  /**
   * `sizeof(struct sinew_publisher_statistics)`.
   */
  size_t size;
  /**
   * Messages published.
   */
  uint64_t published;
  /**
   * Copies that were made to publish, or for subscriptions that own their messages.
   */
  uint64_t copies;
  /**
   * Encodings of values that are not plain.
   */
  uint64_t encodings;
  /**
   * Decodings of messages that were published in their encoded form.
   */
  uint64_t decodings;
  /**
   * Messages that were published in their encoded form.
   */
  uint64_t drafts;
  /**
   * Messages retained for late joiners now.
   */
  uint64_t retained;
  /**
   * Blocks of its pool, free or lent.
   */
  uint64_t pooled;
} sinew_publisher_statistics;

/**
 * The options of `sinew_server_new` and `sinew_pulled_server_new`. Zero is the default of every
 * field.
 */
typedef struct sinew_server_options {
  /**
   * `sizeof(struct sinew_server_options)`.
   */
  size_t size;
  /**
   * The group in which the callback runs; the server belongs to the group's node. Null: the
   * node's default group.
   */
  const struct sinew_group *group;
  /**
   * The number of requests that may wait or be in hand; callers beyond it fail with
   * `SINEW_ERROR_TOO_MANY_REQUESTS`. 0: 1000, or the depth of the QoS if that is more.
   */
  size_t max_requests;
  /**
   * Whether the callback runs on the thread that calls, or that receives from other processes,
   * instead of in an executor. Then several threads may run it at once, and it should be short.
   */
  bool is_immediate;
  /**
   * The QoS. Null: that of services. Services are reliable and volatile, and keep every request
   * until it is answered, so only the history counts, and best effort is served as reliable.
   * What can't be honoured fails with `SINEW_ERROR_INVALID_QOS`: transient local, a deadline, a
   * lifespan, a lease, liveliness that is manual by topic.
   */
  const struct sinew_qos *qos;
} sinew_server_options;

/**
 * Identifies a request at its server: the client, and the request's number at this client.
 */
typedef struct sinew_request_key {
  /**
   * The client.
   */
  struct sinew_gid client;
  /**
   * The request's number among those of its client, from 1.
   */
  uint64_t sequence;
} sinew_request_key;

/**
 * What is known about a request.
 */
typedef struct sinew_request_info {
  /**
   * `sizeof(struct sinew_request_info)`.
   */
  size_t size;
  /**
   * Identifies the request.
   */
  struct sinew_request_key key;
  /**
   * The wall time of the call.
   */
  sinew_time source_time;
  /**
   * The wall time at which the server took the request.
   */
  sinew_time reception_time;
  /**
   * The time from the call to its reception; for a request from another host, from its arrival
   * at this one.
   */
  sinew_duration latency;
  /**
   * The time from the publication of the first message of the chain that led to this request.
   * What is published or called in a server's callback continues the chain of its request.
   */
  sinew_duration chain_latency;
  /**
   * The number of the chain's first message, unique among those of one participant.
   */
  uint64_t chain;
} sinew_request_info;

/**
 * Counts of a server's requests so far.
 */
typedef struct sinew_server_statistics {
  /**
   * `sizeof(struct sinew_server_statistics)`.
   */
  size_t size;
  /**
   * Requests that entered its queue.
   */
  uint64_t received;
  /**
   * Requests that wait in it now.
   */
  uint64_t waiting;
  /**
   * Requests that are with a responder, or were taken by hand, and have no answer yet.
   */
  uint64_t in_hand;
  /**
   * Responses that reached their callers.
   */
  uint64_t answered;
  /**
   * Errors that reached their callers.
   */
  uint64_t failed;
  /**
   * Requests that were dropped without an answer.
   */
  uint64_t dropped;
  /**
   * Answers that no caller waited for any more.
   */
  uint64_t unclaimed;
  /**
   * Requests that their callers took back from the queue.
   */
  uint64_t withdrawn;
  /**
   * Requests that found the queue full.
   */
  uint64_t refused;
} sinew_server_statistics;

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
   * When the value was written: nanoseconds of the machine's monotonic clock
   * (`CLOCK_MONOTONIC`), the same for all its processes.
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
 * Is called once, as soon as a goal must end early.
 */
typedef void (*sinew_goal_cancel_callback)(void *context);

/**
 * The callback of a server. It owns `request` and `responder`: it answers with
 * `sinew_responder_respond` or `sinew_responder_fail`, at once or later and on any thread, and
 * frees the request with `sinew_message_free`. `info` lives until it returns.
 *
 * It returns `SINEW_OK`. Anything else is logged as a failure of the callback; it answers no
 * request.
 */
typedef sinew_status (*sinew_request_callback)(void *context,
                                               struct sinew_message *request,
                                               const struct sinew_request_info *info,
                                               struct sinew_responder *responder);

/**
 * The events that a client or a server publishes about its requests and responses:
 * `SINEW_SERVICE_INTROSPECTION_..`, with the numbers of `rcl_service_introspection_state_t`.
 */
typedef int sinew_service_introspection;

/**
 * Returns whether a message passes. It gets the value, or null and the encoded form if there is
 * only that; both are valid during the call. It is called before anything is copied or queued: on
 * the publisher's thread, or for a publisher in another process on any thread of this process that
 * runs an executor, takes, or makes an endpoint. Several threads may call it at once. It must be
 * quick.
 */
typedef bool (*sinew_filter)(void *context, const void *value, const uint8_t *bytes, size_t length);

/**
 * The options of `sinew_subscription_new` and `sinew_subscription_new_with_callback`. Zero is
 * the default of every field.
 *
 * The library takes over the contexts in any case, also if making the subscription fails; only if
 * the size of this structure is wrong, it leaves them alone.
 */
typedef struct sinew_subscription_options {
  /**
   * `sizeof(struct sinew_subscription_options)`.
   */
  size_t size;
  /**
   * The QoS that it requests. Null: the default.
   */
  const struct sinew_qos *qos;
  /**
   * The policies that parameters may change, added up: `SINEW_QOS_OVERRIDES_DEFAULT` are those
   * of ROS 2. They are declared as `qos_overrides./TOPIC.subscription.depth` and so on.
   */
  sinew_qos_policy qos_overrides;
  /**
   * Distinguishes it from the node's other subscriptions to the topic, in the names of these
   * parameters: `subscription_ID`. Null: nothing does.
   */
  const char *qos_overrides_id;
  /**
   * The callback group. Null: the node's own, which is mutually exclusive.
   */
  const struct sinew_group *group;
  /**
   * Whether each message is its own, the only reference. A copy is made only if another
   * subscription gets the message as well. For a type with a `clone`.
   */
  bool owned;
  /**
   * Whether it takes messages in their encoded form, in place and unchecked, if they exist in
   * it: those of other processes, and drafts. No effect together with a filter or `owned`, which
   * need values, nor on a plain type. Messages of a type that is known by name only always have
   * it.
   */
  bool accept_encoded;
  /**
   * Whether messages of publishers of its own node are ignored.
   */
  bool ignore_own_publications;
  /**
   * Whether it keeps its events, for `sinew_subscription_take_matched` and its like, and for
   * `sinew_subscription_set_event_listener`. No executor has to run; one thread of the context
   * notices missed deadlines and leases. Warnings of mismatches are not logged then.
   */
  bool keep_events;
  /**
   * Whether the callback gets `info`, which reads a clock. By default it does; otherwise it gets
   * null.
   */
  sinew_choice message_info;
  /**
   * Lets only some messages pass. Null: all pass.
   */
  sinew_filter filter;
  /**
   * The first argument of the filter.
   */
  void *filter_context;
  /**
   * Drops the filter's context. May be null.
   */
  sinew_drop filter_drop_context;
  /**
   * Is called for each message that arrives, from the first one on; see
   * `sinew_subscription_set_listener`. Null: none.
   */
  sinew_listener listener;
  /**
   * The first argument of the listener.
   */
  void *listener_context;
  /**
   * Drops the listener's context. May be null.
   */
  sinew_drop listener_drop_context;
  /**
   * The period with which the age and period of its messages are published, as
   * `statistics_msgs/msg/MetricsMessage`, by the executor of its group. 0: they aren't.
   */
  sinew_duration topic_statistics_period;
  /**
   * The topic on which they are published. Null: `/statistics`.
   */
  const char *topic_statistics_topic;
} sinew_subscription_options;

/**
 * The transport that brought a message to its subscription: `SINEW_TRANSPORT_..`.
 */
typedef int sinew_transport;

/**
 * What is known about a message.
 */
typedef struct sinew_message_info {
  /**
   * `sizeof(struct sinew_message_info)`.
   */
  size_t size;
  /**
   * The wall time of its publication.
   */
  sinew_time source_time;
  /**
   * The wall time at which it was taken from the subscription's buffer.
   */
  sinew_time reception_time;
  /**
   * Its number among its publisher's messages, from 1. Gaps are messages that this subscription
   * never got, or lost to newer ones.
   */
  uint64_t publication_sequence;
  /**
   * Its number among those that reached this subscription's buffer, from 1.
   */
  uint64_t reception_sequence;
  /**
   * The time from publication to reception; for a message from another host, from its arrival at
   * this one.
   */
  sinew_duration latency;
  /**
   * The time from the publication of the first message of the chain that led to this one. A
   * message that is published in a subscription's callback continues the chain of the callback's
   * message.
   */
  sinew_duration chain_latency;
  /**
   * The number of the chain's first message, unique among those of one participant.
   */
  uint64_t chain;
  /**
   * Its publisher.
   */
  struct sinew_gid publisher;
  /**
   * The transport that brought it.
   */
  sinew_transport transport;
} sinew_message_info;

/**
 * Is called with each message, which belongs to it: it has to free or publish the reference.
 * `info` is valid during the call. Returns nonzero if it failed, for example with the status of a
 * function that it called: the executor reports that, or its spin returns it.
 *
 * In a mutually exclusive group it is never called twice at once; in a reentrant one it may be.
 */
typedef sinew_status (*sinew_subscription_callback)(void *context,
                                                    struct sinew_message *message,
                                                    const struct sinew_message_info *info);

/**
 * A subscription's counters.
 */
typedef struct sinew_subscription_statistics {
  /**
   * `sizeof(struct sinew_subscription_statistics)`.
   */
  size_t size;
  /**
   * Messages that entered the history.
   */
  uint64_t received;
  /**
   * Messages that were taken out of it, by the callback or by hand.
   */
  uint64_t taken;
  /**
   * Messages that wait in it now.
   */
  uint64_t waiting;
  /**
   * Messages that gave way to newer ones (keep last), here or at their publisher.
   */
  uint64_t overwritten;
  /**
   * Messages that were lost before they reached this host. They do not count as received.
   */
  uint64_t missed;
  /**
   * Messages that found the history full (keep all).
   */
  uint64_t refused;
  /**
   * Messages dropped at the end of their lifespan.
   */
  uint64_t expired;
  /**
   * Copies made for it.
   */
  uint64_t copies;
  /**
   * Values decoded from messages of other processes.
   */
  uint64_t decodings;
  /**
   * Encoded messages that were handed out to be read in place.
   */
  uint64_t views;
} sinew_subscription_statistics;

/**
 * The options of `sinew_tf_buffer_new`. Zero is the default of every field.
 */
typedef struct sinew_tf_buffer_options {
  /**
   * `sizeof(struct sinew_tf_buffer_options)`.
   */
  size_t size;
  /**
   * How long a frame's transforms are kept before its latest one. 0: 10 s.
   */
  sinew_duration history;
  /**
   * The most transforms of a frame, of 72 bytes each. 0: 100,000.
   */
  size_t max_samples;
  /**
   * The most frames. 0: 10,000.
   */
  size_t max_frames;
} sinew_tf_buffer_options;

/**
 * A rotation, then a translation: the pose of a frame in another one.
 */
typedef struct sinew_transform {
  /**
   * x, y and z in m.
   */
  double translation[3];
  /**
   * A unit quaternion: x, y, z and w.
   */
  double rotation[4];
} sinew_transform;

/**
 * The pose of the frame `child` in the frame `parent` at a time. A slash before a name is removed.
 */
typedef struct sinew_stamped_transform {
  /**
   * The frame in which the other lies: `header.frame_id`.
   */
  const char *parent;
  /**
   * The frame: `child_frame_id`.
   */
  const char *child;
  /**
   * When.
   */
  sinew_time stamp;
  /**
   * From the child's coordinates to those of the parent.
   */
  struct sinew_transform transform;
} sinew_stamped_transform;

/**
 * A query with two times, for `sinew_tf_buffer_lookup_over_time`.
 */
typedef struct sinew_tf_query {
  /**
   * `sizeof(struct sinew_tf_query)`.
   */
  size_t size;
  /**
   * The frame to whose coordinates the transform leads.
   */
  const char *target;
  /**
   * The time of the target. 0: the latest.
   */
  sinew_time target_time;
  /**
   * The frame from whose coordinates it leads.
   */
  const char *source;
  /**
   * The time of the source. 0: the latest.
   */
  sinew_time source_time;
  /**
   * The frame that is at rest between the two times.
   */
  const char *fixed;
  /**
   * How long it waits for each of both. 0: not at all; negative: for ever.
   */
  sinew_duration wait_for;
} sinew_tf_query;

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
 * A type of messages as the program describes it, for `sinew_message_type_register`. Zero is the
 * default of every field but the name.
 *
 * The functions may be called at any time until the process ends, by any thread, and by several at
 * once with the same context. A value stays at its address from the moment it is made until it is
 * destroyed, so it may point into itself. No exception may leave a function.
 */
typedef struct sinew_type_table {
  /**
   * `sizeof(struct sinew_type_table)`.
   */
  size_t size;
  /**
   * The ROS 2 name, `package/msg/Name`. A type without an encoding may have any other name, of
   * at most 512 bytes.
   */
  const char *name;
  /**
   * The hash of its description, `RIHS01_` and 64 hexadecimal digits; required with an encoding.
   */
  const char *hash;
  /**
   * The description as ROS 2's JSON text, for tools. Its hash must be `hash`. Null: none.
   */
  const char *description;
  /**
   * The size of a value in bytes; 0 is valid.
   */
  size_t value_size;
  /**
   * The alignment of a value in bytes, a power of two. 0: 1.
   */
  size_t alignment;
  /**
   * Whether `key` counts.
   */
  bool has_key;
  /**
   * Whether every value's bytes are its encoded form after the header, on this machine, without
   * padding, and any bytes are a valid value. Such values are read and written in shared memory,
   * so the type must not have a `drop`; its encoding functions may be left out.
   */
  bool is_plain;
  /**
   * 128 bits that stand for all that two parts of a program have to agree on to pass a pointer:
   * language, ABI and definition. Registrations under one key are one type.
   */
  uint64_t key[2];
  /**
   * Passed to every function. It has to live as long as the process.
   */
  void *context;
  /**
   * Destroys a value, but does not free its memory. Null: nothing needs to be done.
   */
  void (*drop)(void *context, void *value);
  /**
   * Frees the memory of an adopted value that was destroyed. Without it, no value can be
   * adopted.
   */
  void (*free)(void *context, void *memory);
  /**
   * Makes a first value, for `sinew_publisher_loan`. Nonzero: there is none. Null: a plain value
   * is all zeros.
   */
  sinew_status (*create)(void *context, void *place);
  /**
   * Makes a copy of a value in a place; required where a subscription owns its messages.
   * Nonzero: there is none. Null: a plain value's bytes are copied.
   */
  sinew_status (*clone)(void *context, const void *value, void *place);
  /**
   * Returns the stamp of the value's header, for the age of messages in statistics.
   */
  sinew_time (*stamp)(void *context, const void *value);
  /**
   * Returns the length of the value's encoded form in bytes, including the header of 4 bytes.
   * The encoding is this and the next two; a type without it stays in its process.
   */
  size_t (*encoded_size)(void *context, const void *value);
  /**
   * Writes the encoded form, of the length that `encoded_size` returned for the same value.
   */
  void (*encode)(void *context, const void *value, uint8_t *bytes, size_t length);
  /**
   * Reads a value from bytes that may come from another process, so it must check them. If
   * `filled`, `place` holds a value, which is replaced and stays valid after a failure;
   * otherwise there is none, nor after a failure. Returns nonzero after a failure, and writes
   * the problem to `sentence`, which has room for `capacity` bytes with the NUL and is empty
   * before.
   */
  sinew_status (*decode)(void *context,
                         const uint8_t *bytes,
                         size_t length,
                         void *place,
                         bool filled,
                         char *sentence,
                         size_t capacity);
  /**
   * Checks that a value has an encoded form, for types of which some values don't: with a
   * bounded string, for example. It is called before a value is published or sent, so `encode`
   * never gets one that it refused. Null: every value has one. Returns nonzero after a failure,
   * and writes the problem to `sentence`, as `decode`.
   */
  sinew_status (*check)(void *context, const void *value, char *sentence, size_t capacity);
} sinew_type_table;

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
 * The components of a shared library. It exports a function without parameters with the name
 * `sinew_components` (C linkage) that returns a pointer to this structure.
 */
typedef struct sinew_component_library {
  /**
   * `sizeof(struct sinew_component_library)`.
   */
  size_t size;
  /**
   * `SINEW_COMPONENT_ABI` of the header with which the library was compiled.
   */
  uint32_t abi;
  /**
   * `sinew_version`, by which the container notices a library that is linked with a copy of
   * Sinew of its own.
   */
  const char *(*version)(void);
  /**
   * The first of its components; null: it has none.
   */
  const struct sinew_component *components;
} sinew_component_library;

/**
 * The goals are canceling, or there was nothing to cancel.
 */
#define SINEW_CANCEL_DONE 0

/**
 * The server refused.
 */
#define SINEW_CANCEL_REJECTED 1

/**
 * The server doesn't know the goal.
 */
#define SINEW_CANCEL_UNKNOWN_GOAL 2

/**
 * The goal has ended, or is already canceling.
 */
#define SINEW_CANCEL_GOAL_TERMINATED 3

/**
 * The goal is rejected.
 */
#define SINEW_GOAL_REJECT 1

/**
 * The goal is accepted and begins, now or when the server's policy allows: then the accepted
 * callback gets it.
 */
#define SINEW_GOAL_ACCEPT_AND_EXECUTE 2

/**
 * The goal is accepted; the accepted callback gets it at once, and it begins by
 * `sinew_server_goal_execute`. No policy applies to it.
 */
#define SINEW_GOAL_ACCEPT_AND_DEFER 3

/**
 * The goal continues.
 */
#define SINEW_CANCEL_REJECT 1

/**
 * The goal is asked to end.
 */
#define SINEW_CANCEL_ACCEPT 2

/**
 * The accepted callback has not got the goal yet, which the program needs to decide: the cancel
 * callback is called again after the callbacks that wait in the group, and the accepted one is
 * among them. A goal that waits for its turn under the server's policy ends early at once.
 */
#define SINEW_CANCEL_LATER 3

/**
 * Both are executed. The default, as in ROS 2.
 */
#define SINEW_GOALS_PARALLEL 0

/**
 * The new one is rejected.
 */
#define SINEW_GOALS_REJECT 1

/**
 * The new one waits until those before it have ended.
 */
#define SINEW_GOALS_QUEUE 2

/**
 * The executing one is asked to end, and the new one begins then. One that waits meanwhile is
 * canceled.
 */
#define SINEW_GOALS_NEWEST_WINS 3

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
 * An end of the other kind matched, or ceased to match.
 */
#define SINEW_EVENT_MATCHED 1

/**
 * The topic has an end with an incompatible QoS.
 */
#define SINEW_EVENT_INCOMPATIBLE_QOS 2

/**
 * The topic has an end with another type.
 */
#define SINEW_EVENT_INCOMPATIBLE_TYPE 3

/**
 * The publisher was silent for longer than it offers, or the subscription for longer than it
 * requests.
 */
#define SINEW_EVENT_DEADLINE_MISSED 4

/**
 * Of a publisher: its lease expired.
 */
#define SINEW_EVENT_LIVELINESS_LOST 5

/**
 * Of a subscription: a publisher came or went, its lease expired, or it lives again.
 */
#define SINEW_EVENT_LIVELINESS_CHANGED 6

/**
 * Of a subscription: messages were lost.
 */
#define SINEW_EVENT_MESSAGE_LOST 7

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
 * The one that has been ready longest begins. The default.
 */
#define SINEW_DISPATCH_BY_TIME 0

/**
 * What a callback makes ready begins right after it on the same thread, before what was ready
 * earlier, up to 64 in a row.
 */
#define SINEW_DISPATCH_RUN_NEXT 1

/**
 * The server doesn't know the goal, or the client has received nothing about it yet.
 */
#define SINEW_GOAL_UNKNOWN 0

/**
 * It was accepted, and has not begun.
 */
#define SINEW_GOAL_ACCEPTED 1

/**
 * The server is executing it.
 */
#define SINEW_GOAL_EXECUTING 2

/**
 * It was asked to end early, and has not ended yet.
 */
#define SINEW_GOAL_CANCELING 3

/**
 * It has reached its aim.
 */
#define SINEW_GOAL_SUCCEEDED 4

/**
 * It ended early, as requested.
 */
#define SINEW_GOAL_CANCELED 5

/**
 * The server gave it up.
 */
#define SINEW_GOAL_ABORTED 6

/**
 * In a filter: every kind.
 */
#define SINEW_ENDPOINT_ANY 0

/**
 * Publishes messages on a topic.
 */
#define SINEW_ENDPOINT_PUBLISHER 1

/**
 * Receives messages of a topic.
 */
#define SINEW_ENDPOINT_SUBSCRIPTION 2

/**
 * Calls a service.
 */
#define SINEW_ENDPOINT_CLIENT 3

/**
 * Answers requests of a service.
 */
#define SINEW_ENDPOINT_SERVER 4

/**
 * In the context that looks.
 */
#define SINEW_PLACE_HERE 1

/**
 * In another context of this host: of another process, or of this one.
 */
#define SINEW_PLACE_PROCESS 2

/**
 * On the network: another host, or a program of ROS 2. A gateway brings it to this host.
 */
#define SINEW_PLACE_NETWORK 3

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
 * A kind that this version doesn't know.
 */
#define SINEW_NAME_OTHER 0

/**
 * The name of a node.
 */
#define SINEW_NAME_NODE 1

/**
 * A namespace.
 */
#define SINEW_NAME_NAMESPACE 2

/**
 * The name of a topic.
 */
#define SINEW_NAME_TOPIC 3

/**
 * The name of a service.
 */
#define SINEW_NAME_SERVICE 4

/**
 * The transition is done. As `SINEW_OK`.
 */
#define SINEW_CALLBACK_SUCCESS 97

/**
 * The transition is not possible now: the node returns to its state.
 */
#define SINEW_CALLBACK_FAILURE 98

/**
 * The transition failed: `on_error` is called. As any other status, with the sentence of which the
 * failure is reported.
 */
#define SINEW_CALLBACK_ERROR 99

/**
 * The node has no resources: they were not made yet, or are cleaned up.
 */
#define SINEW_STATE_UNCONFIGURED 1

/**
 * The node has its resources, but does not work.
 */
#define SINEW_STATE_INACTIVE 2

/**
 * The node works.
 */
#define SINEW_STATE_ACTIVE 3

/**
 * The node has ended.
 */
#define SINEW_STATE_FINALIZED 4

/**
 * From unconfigured to inactive.
 */
#define SINEW_STATE_CONFIGURING 10

/**
 * From inactive to unconfigured.
 */
#define SINEW_STATE_CLEANING_UP 11

/**
 * To finalized.
 */
#define SINEW_STATE_SHUTTING_DOWN 12

/**
 * From inactive to active.
 */
#define SINEW_STATE_ACTIVATING 13

/**
 * From active to inactive.
 */
#define SINEW_STATE_DEACTIVATING 14

/**
 * After an error, to unconfigured or finalized.
 */
#define SINEW_STATE_ERROR_PROCESSING 15

/**
 * From unconfigured to inactive.
 */
#define SINEW_TRANSITION_CONFIGURE 1

/**
 * From inactive to unconfigured.
 */
#define SINEW_TRANSITION_CLEANUP 2

/**
 * From inactive to active.
 */
#define SINEW_TRANSITION_ACTIVATE 3

/**
 * From active to inactive.
 */
#define SINEW_TRANSITION_DEACTIVATE 4

/**
 * To finalized, from any other state in which the node stays. ROS 2 has the numbers 6 and 7 for
 * the same from inactive and active, which are accepted.
 */
#define SINEW_TRANSITION_SHUTDOWN 5

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
 * Inside the process.
 */
#define SINEW_TRANSPORT_INTRA 1

/**
 * Between processes of one host, through shared memory.
 */
#define SINEW_TRANSPORT_SHM 2

/**
 * From another host, through a gateway.
 */
#define SINEW_TRANSPORT_NETWORK 3

/**
 * No value.
 */
#define SINEW_PARAMETER_NOT_SET 0

/**
 * A boolean.
 */
#define SINEW_PARAMETER_BOOL 1

/**
 * A signed integer of 64 bits.
 */
#define SINEW_PARAMETER_INTEGER 2

/**
 * A floating-point number of 64 bits.
 */
#define SINEW_PARAMETER_DOUBLE 3

/**
 * A text.
 */
#define SINEW_PARAMETER_STRING 4

/**
 * Bytes.
 */
#define SINEW_PARAMETER_BYTE_ARRAY 5

/**
 * Booleans.
 */
#define SINEW_PARAMETER_BOOL_ARRAY 6

/**
 * Integers.
 */
#define SINEW_PARAMETER_INTEGER_ARRAY 7

/**
 * Floating-point numbers.
 */
#define SINEW_PARAMETER_DOUBLE_ARRAY 8

/**
 * Texts.
 */
#define SINEW_PARAMETER_STRING_ARRAY 9

/**
 * The newest messages, up to the depth. The default.
 */
#define SINEW_HISTORY_KEEP_LAST 1

/**
 * All messages, up to `max_samples`.
 */
#define SINEW_HISTORY_KEEP_ALL 2

/**
 * Messages are sent again until they arrive. The default.
 */
#define SINEW_RELIABILITY_RELIABLE 1

/**
 * Messages may be lost: a fresh message is worth more than a repeated one.
 */
#define SINEW_RELIABILITY_BEST_EFFORT 2

/**
 * The strictest one with which the endpoint matches all other ends that exist when it is made.
 */
#define SINEW_RELIABILITY_BEST_AVAILABLE 4

/**
 * It gets the history of each publisher that still exists.
 */
#define SINEW_DURABILITY_TRANSIENT_LOCAL 1

/**
 * It doesn't. The default.
 */
#define SINEW_DURABILITY_VOLATILE 2

/**
 * The strictest one with which the endpoint matches all other ends that exist when it is made.
 */
#define SINEW_DURABILITY_BEST_AVAILABLE 4

/**
 * By existing in a process that lives. The default.
 */
#define SINEW_LIVELINESS_AUTOMATIC 1

/**
 * By publishing, or by `sinew_publisher_assert_liveliness`, at least once in every lease.
 */
#define SINEW_LIVELINESS_MANUAL_BY_TOPIC 3

/**
 * The strictest one with which the endpoint matches all other ends that exist when it is made.
 */
#define SINEW_LIVELINESS_BEST_AVAILABLE 5

/**
 * As a deadline or lease: the strictest one with which the endpoint matches all other ends that
 * exist when it is made.
 */
#define SINEW_DURATION_BEST_AVAILABLE 9223372036854775806

/**
 * The durability.
 */
#define SINEW_QOS_POLICY_DURABILITY 2

/**
 * The deadline.
 */
#define SINEW_QOS_POLICY_DEADLINE 4

/**
 * The liveliness.
 */
#define SINEW_QOS_POLICY_LIVELINESS 8

/**
 * The reliability.
 */
#define SINEW_QOS_POLICY_RELIABILITY 16

/**
 * The history.
 */
#define SINEW_QOS_POLICY_HISTORY 32

/**
 * The lifespan.
 */
#define SINEW_QOS_POLICY_LIFESPAN 64

/**
 * The depth.
 */
#define SINEW_QOS_POLICY_DEPTH 128

/**
 * The lease of the liveliness.
 */
#define SINEW_QOS_POLICY_LEASE 256

/**
 * History, depth and reliability: the policies that ROS 2 lets parameters change.
 */
#define SINEW_QOS_OVERRIDES_DEFAULT 176

/**
 * No events. The default, which costs nothing.
 */
#define SINEW_SERVICE_INTROSPECTION_OFF 0

/**
 * Events without content: the time, the client and the sequence number.
 */
#define SINEW_SERVICE_INTROSPECTION_METADATA 1

/**
 * Events with the content of requests and responses.
 */
#define SINEW_SERVICE_INTROSPECTION_CONTENTS 2

/**
 * SIGINT (Ctrl-C) and SIGTERM, as `SINEW_SIGNALS_ALL`.
 */
#define SINEW_SIGNALS_DEFAULT 0

/**
 * SIGINT (Ctrl-C) and SIGTERM.
 */
#define SINEW_SIGNALS_ALL 1

/**
 * SIGINT alone.
 */
#define SINEW_SIGNALS_INT 2

/**
 * SIGTERM alone.
 */
#define SINEW_SIGNALS_TERM 3

/**
 * None.
 */
#define SINEW_SIGNALS_NONE 4

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
 * Makes a client of an action. There needn't be a server yet.
 *
 * `options` may be null. The caller frees `*client`.
 */
sinew_status sinew_action_client_new(const struct sinew_node *node,
                                     const char *name,
                                     const struct sinew_action_type *action_type,
                                     const struct sinew_action_client_options *options,
                                     struct sinew_action_client **client);

/**
 * Frees a client. It ends once the handles of its goals are freed as well: until then their
 * callbacks run. Null is allowed.
 */
void sinew_action_client_free(struct sinew_action_client *client);

/**
 * Ends the callbacks of the client's goals and cancel requests: none begins any more. Waits for
 * one that runs on another thread; not in a callback of the client. Goals go on. The handle is
 * still to be freed.
 */
sinew_status sinew_action_client_close(const struct sinew_action_client *client);

/**
 * Returns the action's full name, after remapping. The text lives as long as the handle.
 */
const char *sinew_action_client_name(const struct sinew_action_client *client);

/**
 * Returns whether there is a server: its three services, and publishers of both topics.
 */
bool sinew_action_client_is_server_ready(const struct sinew_action_client *client);

/**
 * Blocks until there is a server. Returns false if none came within `timeout` (negative: for
 * ever), or if the context was shut down. Not for callbacks: the thread does nothing else
 * meanwhile.
 */
bool sinew_action_client_wait_for_server(const struct sinew_action_client *client,
                                         sinew_duration timeout);

/**
 * Sends a goal: a message of `.._SendGoal_Request`, in which this sets a new id. Takes over the
 * message, also if it fails. One with other references is copied, if its type can. Never blocks.
 * If there is no server, the goal waits for one.
 *
 * `callbacks` may be null, and so may `goal`; the caller frees `*goal`. What goes wrong with the
 * goal afterwards, also that it could not be sent, is for the response callback and
 * `sinew_client_goal_wait`. The library drops the context with `drop_context` when no callback
 * will run any more, and also if this function fails.
 *
 * The client asks for the result by itself, and keeps it as long as there is a handle to the goal.
 */
sinew_status sinew_action_client_send_goal(const struct sinew_action_client *client,
                                           struct sinew_message *request,
                                           const struct sinew_goal_callbacks *callbacks,
                                           void *context,
                                           sinew_drop drop_context,
                                           struct sinew_client_goal **goal);

/**
 * Asks the server to end a goal early. Never blocks. The callback may be null; the library drops
 * its context when it has run or never will, because the client was freed or this function fails.
 * For the id of zeros the callback gets `SINEW_ERROR_UNKNOWN_GOAL`, as ROS 2 takes it for all goals.
 */
sinew_status sinew_action_client_cancel_goal(const struct sinew_action_client *client,
                                             const struct sinew_goal_id *id,
                                             sinew_canceled_callback callback,
                                             void *context,
                                             sinew_drop drop_context);

/**
 * Asks the server to end all goals early, also those of other clients. Otherwise as
 * `sinew_action_client_cancel_goal`.
 */
sinew_status sinew_action_client_cancel_all(const struct sinew_action_client *client,
                                            sinew_canceled_callback callback,
                                            void *context,
                                            sinew_drop drop_context);

/**
 * Asks the server to end the goals early that it accepted at this time of its clock or before,
 * also those of other clients. For time 0 the callback gets `SINEW_ERROR_NO_CANCEL_TIME`, as ROS 2
 * takes it for all goals. Otherwise as `sinew_action_client_cancel_goal`.
 */
sinew_status sinew_action_client_cancel_before(const struct sinew_action_client *client,
                                               sinew_time stamp,
                                               sinew_canceled_callback callback,
                                               void *context,
                                               sinew_drop drop_context);

/**
 * Makes a server of an action.
 *
 * `options` may be null. The caller frees `*server`, which ends it. The library drops the context
 * of the callbacks with `drop_context` when the server and its goals have ended, and no thread
 * runs a callback any more, and also if this function fails.
 *
 * An executor runs the callbacks in the server's group, those that decide as well unless the
 * options say that they are immediate. So where one callback of an exclusive group executes a
 * goal, no goal is accepted or cancelled meanwhile: execute it on another thread, or use a
 * reentrant group and an executor with several threads.
 *
 * Fails with `SINEW_ERROR_SERVICE_TAKEN` if the action has a server in this context, or with
 * `SINEW_ERROR_INVALID_NAME`, `SINEW_ERROR_SHUTDOWN` and so on.
 */
sinew_status sinew_action_server_new(const struct sinew_node *node,
                                     const char *name,
                                     const struct sinew_action_type *action_type,
                                     const struct sinew_action_server_options *options,
                                     const struct sinew_action_server_callbacks *callbacks,
                                     void *context,
                                     sinew_drop drop_context,
                                     struct sinew_action_server **server);

/**
 * Frees a server, which ends it: its goals are asked to end, and clients that wait for a result
 * get a failure. Doesn't wait for a callback that runs. Null is allowed.
 */
void sinew_action_server_free(struct sinew_action_server *server);

/**
 * Ends the server, and waits until its callback, if that is running on another thread, has
 * returned; not in its own callback. The handle is still to be freed.
 */
sinew_status sinew_action_server_close(const struct sinew_action_server *server);

/**
 * Returns the action's full name, after remapping. The text lives as long as the handle.
 */
const char *sinew_action_server_name(const struct sinew_action_server *server);

/**
 * Gets the goals that the server knows, in the order in which they were accepted: those that have
 * not ended, and those with a result that is kept. Writes up to `capacity` of them to `goals`, and
 * returns how many there are.
 */
size_t sinew_action_server_goals(const struct sinew_action_server *server,
                                 struct sinew_goal_info *goals,
                                 size_t capacity);

/**
 * Gets the types of an action. Memory for them is needed once, and never freed.
 *
 * Fails with `SINEW_ERROR_OTHER_TYPE` if a message has another name than ROS 2 gives it, with
 * `SINEW_ERROR_INVALID_TYPE_TABLE` if a field lies outside its message or there is no first
 * result, with `SINEW_ERROR_NO_CLONE`, `SINEW_ERROR_INVALID_TYPE_HASH` and so on.
 */
sinew_status sinew_action_type_new(const struct sinew_action_parts *parts,
                                   const struct sinew_action_type **action_type);

/**
 * Returns the action's ROS 2 name, `package/action/Name`.
 */
const char *sinew_action_type_name(const struct sinew_action_type *action_type);

/**
 * Makes a client of a service. There needn't be a server yet.
 *
 * `options` may be null. The caller frees `*client`.
 */
sinew_status sinew_client_new(const struct sinew_node *node,
                              const char *name,
                              const struct sinew_service_type *service_type,
                              const struct sinew_client_options *options,
                              struct sinew_client **client);

/**
 * Frees a client. Callbacks that did not run are dropped, and so are responses that were not
 * taken; a call that can be polled keeps the client. Null is allowed.
 */
void sinew_client_free(struct sinew_client *client);

/**
 * Ends the client, and waits until its callback for a response, if that is running on another
 * thread, has returned; not for those of `sinew_client_call_then_immediately`, nor in its own
 * callback. Callbacks that wait for a response are dropped; threads that wait for one, and later
 * calls, fail with `SINEW_ERROR_CLOSED`. The handle is still to be freed.
 */
sinew_status sinew_client_close(const struct sinew_client *client);

/**
 * Returns the service's full name, after remapping. The text lives as long as the handle.
 */
const char *sinew_client_name(const struct sinew_client *client);

/**
 * Gets the QoS with which the client sends requests and receives responses: that of services, with
 * the history of its options. The caller sets the `size`.
 */
sinew_status sinew_client_qos(const struct sinew_client *client, struct sinew_qos *qos);

/**
 * Gets the client's gid, as servers see it in `sinew_request_key`.
 */
sinew_status sinew_client_gid(const struct sinew_client *client, struct sinew_gid *gid);

/**
 * Gets a place for a request in the client's pool, for a placement `new`. Once the pool is warm,
 * allocates nothing.
 */
sinew_status sinew_client_uninit(const struct sinew_client *client,
                                 struct sinew_uninit_message **uninit);

/**
 * Returns whether there is a server with the client's types.
 */
bool sinew_client_is_server_ready(const struct sinew_client *client);

/**
 * Blocks until there is a server with the client's types. Returns false if none came within
 * `timeout` (negative: for ever), or if the context was shut down. Not for callbacks: the thread
 * does nothing else meanwhile.
 */
bool sinew_client_wait_for_server(const struct sinew_client *client, sinew_duration timeout);

/**
 * Calls the service and waits for the response, for at most `timeout` (negative: for ever). Takes
 * over the request, also if it fails. The caller owns `*response`.
 *
 * In a callback, the waiting thread runs the server itself if it can, so one thread is enough for
 * a chain of calls; calls can be nested 64 deep. Fails with `SINEW_ERROR_NO_SERVER`,
 * `SINEW_ERROR_TIMEOUT`, `SINEW_ERROR_SERVER_GONE`, `SINEW_ERROR_CALLBACK_FAILED` (the server
 * answered with an error), `SINEW_ERROR_WOULD_DEADLOCK` and so on.
 *
 * A request with other references is copied, if its type can (else `SINEW_ERROR_NOT_SOLE`); one in
 * encoded form is decoded. Keep a reference of your own to send it again.
 */
sinew_status sinew_client_call(const struct sinew_client *client,
                               struct sinew_message *request,
                               sinew_duration timeout,
                               struct sinew_message **response);

/**
 * Calls the service. The executor of the client's group runs the callback with the result, once.
 * Never blocks. Takes over the request, also if it fails.
 *
 * `id` may be null; `*id` is for `sinew_client_give_up`. The library drops the context with
 * `drop_context` when the callback has run or never will, because the client was freed, the
 * request was given up or this function fails. Fails if the request was not accepted: with
 * `SINEW_ERROR_TOO_MANY_REQUESTS` and so on.
 */
sinew_status sinew_client_call_then(const struct sinew_client *client,
                                    struct sinew_message *request,
                                    sinew_response_callback callback,
                                    void *context,
                                    sinew_drop drop_context,
                                    struct sinew_request_id *id);

/**
 * Calls the service. The callback runs with the result, once, on the thread that answers (for a
 * server of another process: on the thread that receives), perhaps before this function returns.
 * It should be short, and may publish and call. Never blocks. Takes over the request, also if it
 * fails.
 *
 * `id` may be null; `*id` is for `sinew_client_withdraw`. The library drops the context as for
 * `sinew_client_call_then`.
 */
sinew_status sinew_client_call_then_immediately(const struct sinew_client *client,
                                                struct sinew_message *request,
                                                sinew_immediate_response_callback callback,
                                                void *context,
                                                sinew_drop drop_context,
                                                struct sinew_request_id *id);

/**
 * Calls the service; the program takes the response by `sinew_client_take_response`, and
 * recognises it by `*id`. For event loops of other libraries: no executor and no callback runs.
 * Never blocks. Takes over the request, also if it fails.
 *
 * Each accepted request brings one response to take. Until it is taken, or the request is
 * withdrawn or given up, the call counts against `max_responses` of the client's options.
 */
sinew_status sinew_client_send(const struct sinew_client *client,
                               struct sinew_message *request,
                               struct sinew_request_id *id);

/**
 * Takes the response that came first of those that were not taken yet. `*taken` says whether there
 * was one. If the call succeeded, the caller owns `*response`. If it failed, `*response` is null,
 * `info->status` is the reason, and `sinew_error_message()` is its sentence. `info` may be null;
 * otherwise the caller sets its `size`. Never blocks; any thread may take.
 */
sinew_status sinew_client_take_response(const struct sinew_client *client,
                                        bool *taken,
                                        struct sinew_message **response,
                                        struct sinew_response_info *info);

/**
 * Gives up a request that was sent, also one with a callback, which is dropped: its response will
 * not come, or is dropped if it waits to be taken. A request that no server has taken is dropped
 * as well. For calls with a time limit. Returns false if the response was taken already, and for
 * an id that this client never returned. Never blocks.
 */
bool sinew_client_give_up(const struct sinew_client *client, struct sinew_request_id id);

/**
 * Takes back a request that was sent, or one with an immediate callback, if no server has taken
 * it: then no server will, the caller owns `*request`, there is no response, and the callback is
 * dropped. Otherwise `*request` is null. Never blocks.
 */
sinew_status sinew_client_withdraw(const struct sinew_client *client,
                                   struct sinew_request_id id,
                                   struct sinew_message **request);

/**
 * Sets the listener for responses that can be taken, or wait for a callback of
 * `sinew_client_call_then`, instead of the former one. If some wait already, it is called at
 * once. It may use the client; for what comes while it runs, it is called when it has returned.
 *
 * The library drops the context when the listener is replaced or cleared, or the client ends, and
 * also if this function fails. A thread that gives a response just then may call the listener once
 * more, before the context is dropped.
 */
sinew_status sinew_client_set_listener(const struct sinew_client *client,
                                       sinew_listener callback,
                                       void *context,
                                       sinew_drop drop_context);

/**
 * Removes the listener.
 */
sinew_status sinew_client_clear_listener(const struct sinew_client *client);

/**
 * Gets a client's counters. The caller sets the `size`.
 */
sinew_status sinew_client_read_statistics(const struct sinew_client *client,
                                          struct sinew_client_statistics *statistics);

/**
 * Frees a handle to a goal; the goal continues. Null is allowed.
 */
void sinew_client_goal_free(struct sinew_client_goal *goal);

/**
 * Gets the goal's id, which exists before the server knows the goal.
 */
sinew_status sinew_client_goal_id(const struct sinew_client_goal *goal, struct sinew_goal_id *id);

/**
 * Waits for the server's answer, for at most `timeout` (negative: for ever). Succeeds if the goal
 * was accepted, also if it was before. In a callback, the waiting thread runs the server itself if
 * it can.
 *
 * Fails with `SINEW_ERROR_GOAL_REJECTED`. With `SINEW_ERROR_NO_SERVER`, `SINEW_ERROR_TIMEOUT` or
 * `SINEW_ERROR_WOULD_DEADLOCK` the goal is given up: a server that accepts it later is asked to
 * cancel it, and later calls fail likewise. With `SINEW_ERROR_GOAL_STATE` another thread waits.
 */
sinew_status sinew_client_goal_wait(const struct sinew_client_goal *goal, sinew_duration timeout);

/**
 * Gets the time at which the server accepted the goal, by the server's clock. Fails with
 * `SINEW_ERROR_GOAL_STATE` if it has not accepted it.
 */
sinew_status sinew_client_goal_stamp(const struct sinew_client_goal *goal, sinew_time *stamp);

/**
 * Returns the last state that the client has received; `SINEW_GOAL_UNKNOWN` if the server has not
 * accepted the goal.
 */
sinew_goal_status sinew_client_goal_status(const struct sinew_client_goal *goal);

/**
 * Returns the number of feedback messages that were lost, as far as is known: newer ones displaced
 * them before the callback ran. A larger `feedback_depth` loses fewer.
 */
uint64_t sinew_client_goal_feedback_lost(const struct sinew_client_goal *goal);

/**
 * Waits for the result of a goal that was accepted, for at most `timeout` (negative: for ever),
 * any number of times. `*goal_status` says how the goal ended. The caller owns `*message`, of
 * `.._GetResult_Response`, which is shared with others, to be read only; `*result` is the place of
 * the result in it. All three may be null, but `result` needs the message. In a callback, the
 * waiting thread runs the server itself if it can.
 *
 * Fails with `SINEW_ERROR_TIMEOUT` (the goal continues), `SINEW_ERROR_SERVER_GONE`,
 * `SINEW_ERROR_UNKNOWN_GOAL`, `SINEW_ERROR_WOULD_DEADLOCK`, or with `SINEW_ERROR_GOAL_STATE` if
 * the server has not accepted the goal.
 */
sinew_status sinew_client_goal_wait_for_result(const struct sinew_client_goal *goal,
                                               sinew_duration timeout,
                                               sinew_goal_status *goal_status,
                                               struct sinew_message **message,
                                               const void **result);

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
 * Returns whether ROS time is simulated or set, and not the wall clock.
 */
bool sinew_context_ros_time_is_active(const struct sinew_context *context);

/**
 * Sleeps until the context's clock has advanced by `duration`, as `sinew_node_sleep_for`.
 */
sinew_status sinew_context_sleep_for(const struct sinew_context *context,
                                     sinew_clock_kind clock,
                                     sinew_duration duration);

/**
 * Sleeps until the context's clock shows `time`, as `sinew_node_sleep_until`.
 */
sinew_status sinew_context_sleep_until(const struct sinew_context *context,
                                       sinew_clock_kind clock,
                                       sinew_time time);

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
 * Makes a container with this node name, and loads the nodes that the context's command line
 * names: `--component TYPE` or `--component TYPE=NODE`, outside `--ros-args`.
 *
 * `options` may be null. The caller frees `*container` with `sinew_container_free`.
 *
 * Fails with `SINEW_ERROR_INVALID_LIBRARY` if a library can't be used,
 * `SINEW_ERROR_COMPONENT_FAILED` if a node can't be made, and as `sinew_node_new`.
 */
sinew_status sinew_container_new(const struct sinew_context *context,
                                 const char *name,
                                 const struct sinew_container_options *options,
                                 struct sinew_container **container);

/**
 * Frees a container; null is allowed. Its nodes are unloaded: each component is destroyed on this
 * thread, or on the thread that loads or unloads a node now.
 */
void sinew_container_free(struct sinew_container *container);

/**
 * Returns the container's full node name. The text lives as long as the handle.
 */
const char *sinew_container_full_name(const struct sinew_container *container);

/**
 * Loads a shared library, which is never unloaded, and adds its components; they replace others of
 * the same names. `path` is that of a file, or a name without a slash that the system's linker
 * finds.
 *
 * Fails with `SINEW_ERROR_INVALID_LIBRARY` if it can't be loaded, has no components, or is built
 * for another version of Sinew or with a copy of its own.
 */
sinew_status sinew_container_add_library(const struct sinew_container *container, const char *path);

/**
 * Makes a node of a component, on this thread, as the service `load_node` does. `*id` is its
 * number for `sinew_container_unload_node`.
 *
 * `options` may be null. Fails with `SINEW_ERROR_UNKNOWN_COMPONENT`,
 * `SINEW_ERROR_COMPONENT_FAILED`, `SINEW_ERROR_BUSY` if another thread makes a node of the same
 * component, and as `sinew_node_new`.
 */
sinew_status sinew_container_load_node(const struct sinew_container *container,
                                       const char *type_name,
                                       const struct sinew_load_node_options *options,
                                       uint64_t *id);

/**
 * Unloads a node: destroys its component, on this thread. Fails with
 * `SINEW_ERROR_UNKNOWN_COMPONENT` if no node has the number.
 */
sinew_status sinew_container_unload_node(const struct sinew_container *container, uint64_t id);

/**
 * Gets the names of its components, sorted. The caller frees `*types`.
 */
sinew_status sinew_container_types(const struct sinew_container *container,
                                   struct sinew_strings **types);

/**
 * Gets the full names of its nodes, in the order of their numbers. The caller frees `*names`.
 *
 * `ids` may be null; otherwise it has `capacity` places, which get the numbers, as far as they
 * suffice.
 */
sinew_status sinew_container_nodes(const struct sinew_container *container,
                                   struct sinew_strings **names,
                                   uint64_t *ids,
                                   size_t capacity);

/**
 * The whole of a program that is a container: reads its command line, makes the nodes that it
 * names, and runs their callbacks until SIGINT or SIGTERM. `main` of the program `sinew-container`
 * only calls this, as may that of a program with Rust nodes of its own.
 *
 * Returns the program's exit code: 0, or 1 after a failure, which is printed.
 */
int sinew_container_run(int argc, const char *const *argv);

/**
 * Makes a context. Starts no thread and opens no file unless it follows `/clock` or handles
 * interrupts; the first node does both.
 *
 * `options` may be null. The caller frees `*context` with `sinew_context_free`.
 */
sinew_status sinew_context_new(const struct sinew_context_options *options,
                               struct sinew_context **context);

/**
 * Gets the arguments outside `--ros-args .. --`, with the program's name, for the program's own
 * parser. The caller frees `*rest`. Fails if one between them can't be used.
 */
sinew_status sinew_remove_ros_arguments(int argc,
                                        const char *const *argv,
                                        struct sinew_strings **rest);

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
 * As `sinew_context_shutdown`, with a reason, in which what is not UTF-8 is replaced. Null: none.
 */
sinew_status sinew_context_shutdown_because(const struct sinew_context *context,
                                            const char *reason);

/**
 * Gets why the context was shut down first: one text, with the reason that the program gave, or
 * the name of the signal; none while it isn't. The caller frees `*reason`.
 */
sinew_status sinew_context_shutdown_reason(const struct sinew_context *context,
                                           struct sinew_strings **reason);

/**
 * Calls a function once the context is shut down, by `sinew_context_shutdown` or by a signal, but
 * not if its last handle is freed instead. If it is shut down already, the function is called now.
 *
 * It is called on the thread that shuts the context down, after everything that waits in the
 * context was woken, so it may wait for threads to end. For a signal that is a thread of the
 * library.
 *
 * The caller ends it by `sinew_shutdown_handler_free`. `drop_context` may be null; otherwise it is
 * called once, with `callback_context`: after the call, when the handler is freed, or at once if
 * this function fails.
 */
sinew_status sinew_context_on_shutdown(const struct sinew_context *context,
                                       sinew_shutdown_callback callback,
                                       void *callback_context,
                                       sinew_drop drop_context,
                                       struct sinew_shutdown_handler **handler);

/**
 * Calls a function before the context is shut down, while everything still works; not if it is
 * shut down already. Otherwise as `sinew_context_on_shutdown`.
 */
sinew_status sinew_context_on_pre_shutdown(const struct sinew_context *context,
                                           sinew_shutdown_callback callback,
                                           void *callback_context,
                                           sinew_drop drop_context,
                                           struct sinew_shutdown_handler **handler);

/**
 * Frees a handler for a shutdown, which ends it; null is allowed. If another thread shuts the
 * context down meanwhile, the function may still be called.
 */
void sinew_shutdown_handler_free(struct sinew_shutdown_handler *handler);

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
 * Reserves memory for a message of `length` encoded bytes. It contains old content. A serializer
 * that learns the length only while it writes reserves the maximum, and truncates the draft.
 */
sinew_status sinew_publisher_draft(const struct sinew_publisher *publisher,
                                   size_t length,
                                   struct sinew_draft **draft);

/**
 * Returns the bytes, to be written by one thread at a time. They stay where they are until the
 * draft is published or freed.
 */
uint8_t *sinew_draft_bytes(const struct sinew_draft *draft);

/**
 * Returns the number of bytes.
 */
size_t sinew_draft_length(const struct sinew_draft *draft);

/**
 * Cuts the message to its first `length` bytes. Nothing is copied. Fails with
 * `SINEW_ERROR_INVALID_DRAFT` if it has fewer.
 */
sinew_status sinew_draft_truncate(const struct sinew_draft *draft, size_t length);

/**
 * Publishes the draft, which is used up in any case. The bytes are not checked, except that there
 * are the 4 of the header. Fails as `sinew_publisher_publish`.
 */
sinew_status sinew_publisher_publish_draft(const struct sinew_publisher *publisher,
                                           struct sinew_draft *draft);

/**
 * Frees a draft that is not published; null is allowed.
 */
void sinew_draft_free(struct sinew_draft *draft);

/**
 * Takes the subscriptions that match: totals, and the changes since it was taken last, which begin
 * anew. The caller sets the `size` of the event. Fails with `SINEW_ERROR_NOT_KEPT` if the
 * publisher doesn't keep its events. Never blocks. So do all functions that take an event.
 */
sinew_status sinew_publisher_take_matched(const struct sinew_publisher *publisher,
                                          struct sinew_matched *event);

/**
 * Takes the subscriptions that request an incompatible QoS.
 */
sinew_status sinew_publisher_take_incompatible_qos(const struct sinew_publisher *publisher,
                                                   struct sinew_incompatible_qos *event);

/**
 * Takes the subscriptions that have another type.
 */
sinew_status sinew_publisher_take_incompatible_type(const struct sinew_publisher *publisher,
                                                    struct sinew_incompatible_type *event);

/**
 * Takes the periods of the offered deadline in which nothing was published.
 */
sinew_status sinew_publisher_take_deadline_missed(const struct sinew_publisher *publisher,
                                                  struct sinew_deadline_missed *event);

/**
 * Takes the expiries of the publisher's lease.
 */
sinew_status sinew_publisher_take_liveliness_lost(const struct sinew_publisher *publisher,
                                                  struct sinew_liveliness_lost *event);

/**
 * Takes the publishers that match.
 */
sinew_status sinew_subscription_take_matched(const struct sinew_subscription *subscription,
                                             struct sinew_matched *event);

/**
 * Takes the publishers that offer an incompatible QoS.
 */
sinew_status sinew_subscription_take_incompatible_qos(const struct sinew_subscription *subscription,
                                                      struct sinew_incompatible_qos *event);

/**
 * Takes the publishers that have another type.
 */
sinew_status sinew_subscription_take_incompatible_type(const struct sinew_subscription *subscription,
                                                       struct sinew_incompatible_type *event);

/**
 * Takes the periods of the requested deadline in which no message came.
 */
sinew_status sinew_subscription_take_deadline_missed(const struct sinew_subscription *subscription,
                                                     struct sinew_deadline_missed *event);

/**
 * Takes the liveliness of the publishers that match.
 */
sinew_status sinew_subscription_take_liveliness_changed(const struct sinew_subscription *subscription,
                                                        struct sinew_liveliness_changed *event);

/**
 * Takes the messages that were lost.
 */
sinew_status sinew_subscription_take_message_lost(const struct sinew_subscription *subscription,
                                                  struct sinew_message_lost *event);

/**
 * Sets a listener for changes of an event of the publisher: it is called with 1 on the thread that
 * brought the change about or noticed it, and at once with the number of changes since the event
 * was taken last. It replaces the former one of this event; `drop_context` is called when it is
 * replaced or cleared, or the publisher ends, also if this fails.
 *
 * It runs under no lock. It may take events, replace or clear itself, publish, and make and free
 * endpoints. Fails with `SINEW_ERROR_NOT_KEPT` if the publisher doesn't keep its events.
 */
sinew_status sinew_publisher_set_event_listener(const struct sinew_publisher *publisher,
                                                sinew_event event,
                                                sinew_listener callback,
                                                void *context,
                                                sinew_drop drop_context);

/**
 * Removes the listener of an event. It may still be running on another thread, or be called there
 * for a change that is just being made.
 */
sinew_status sinew_publisher_clear_event_listener(const struct sinew_publisher *publisher,
                                                  sinew_event event);

/**
 * Sets a listener for changes of an event of the subscription, as
 * `sinew_publisher_set_event_listener`.
 */
sinew_status sinew_subscription_set_event_listener(const struct sinew_subscription *subscription,
                                                   sinew_event event,
                                                   sinew_listener callback,
                                                   void *context,
                                                   sinew_drop drop_context);

/**
 * Removes the listener of an event, as `sinew_publisher_clear_event_listener`.
 */
sinew_status sinew_subscription_clear_event_listener(const struct sinew_subscription *subscription,
                                                     sinew_event event);

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
 * Serves a context no more: all its groups that the executor serves. Their messages keep waiting,
 * and another executor may serve the context from now on. Returns false if the executor served
 * none of it.
 *
 * Allowed while another thread spins the executor. Waits for their callbacks that are running on
 * other threads; in a callback of such a group it doesn't wait for that one.
 */
bool sinew_executor_remove_context(const struct sinew_executor *executor,
                                   const struct sinew_context *context);

/**
 * Serves a node no more, as `sinew_executor_remove_context`.
 */
bool sinew_executor_remove_node(const struct sinew_executor *executor,
                                const struct sinew_node *node);

/**
 * Serves a group no more, as `sinew_executor_remove_context`.
 */
bool sinew_executor_remove_group(const struct sinew_executor *executor,
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
 * As `sinew_executor_spin_some`, until `max` has passed: 0 runs one callback at most, a negative
 * time is no limit.
 */
sinew_status sinew_executor_spin_some_for(const struct sinew_executor *executor,
                                          sinew_duration max,
                                          uint64_t *ran);

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
 * Gets the graph that a node is part of. The caller frees `*graph`.
 */
sinew_status sinew_node_graph(const struct sinew_node *node, struct sinew_graph **graph);

/**
 * Gets the graph of a context's domain. A context without a node joins the domain first. The
 * caller frees `*graph`.
 */
sinew_status sinew_context_graph(const struct sinew_context *context, struct sinew_graph **graph);

/**
 * Frees a handle to a graph; null is allowed.
 */
void sinew_graph_free(struct sinew_graph *graph);

/**
 * Returns the number of publishers on a topic, of any type.
 */
size_t sinew_graph_publisher_count(const struct sinew_graph *graph, const char *topic);

/**
 * Returns the number of subscriptions to a topic, of any type.
 */
size_t sinew_graph_subscription_count(const struct sinew_graph *graph, const char *topic);

/**
 * Returns the number of servers of a service.
 */
size_t sinew_graph_server_count(const struct sinew_graph *graph, const char *service);

/**
 * Returns the number of clients of a service.
 */
size_t sinew_graph_client_count(const struct sinew_graph *graph, const char *service);

/**
 * Gets all nodes and endpoints as they are now. The caller frees `*snapshot`.
 */
sinew_status sinew_graph_snapshot_new(const struct sinew_graph *graph,
                                      struct sinew_graph_snapshot **snapshot);

/**
 * Gets all nodes and endpoints of a domain as a program sees them that takes no part: it joins
 * nothing, no process notices it, and a domain that doesn't exist is empty. For tools. `directory`
 * may be null; it is that of `sinew_context_options`. The caller frees `*snapshot`.
 */
sinew_status sinew_graph_snapshot_read(uint32_t domain,
                                       const char *directory,
                                       struct sinew_graph_snapshot **snapshot);

/**
 * Gets the description of the type of an endpoint of a snapshot, as ROS 2's JSON text: one text,
 * or none if it is unknown. For a type of another process it reads a file. The caller frees
 * `*description`.
 */
sinew_status sinew_graph_describe(const struct sinew_graph *graph,
                                  const struct sinew_graph_snapshot *snapshot,
                                  size_t index,
                                  struct sinew_strings **description);

/**
 * Makes a receiver of the changes from now on, for one thread. The caller frees `*changes`.
 */
sinew_status sinew_graph_changes_new(const struct sinew_graph *graph,
                                     struct sinew_graph_changes **changes);

/**
 * Frees a receiver of changes; null is allowed.
 */
void sinew_graph_changes_free(struct sinew_graph_changes *changes);

/**
 * Blocks until a node, publisher, subscription, server or client has come or gone since the last
 * call. `*has_changed` is false if none did within `timeout` (negative: for ever), or if the
 * context was shut down. A change that no list shows may count as well, and several changes may
 * end one wait.
 *
 * Fails with `SINEW_ERROR_BUSY` if another thread waits with the same `changes`.
 */
sinew_status sinew_graph_changes_wait(const struct sinew_graph_changes *changes,
                                      sinew_duration timeout,
                                      bool *has_changed);

/**
 * Calls a function after each change, on the thread that made or noticed it, under no lock;
 * several threads may call it at once. It should be short: it may look at the graph and make
 * endpoints, and is called again for those once it has returned. One call may stand for several
 * changes, or for one that no list shows.
 *
 * The caller frees `*listener`, which ends the calls; a thread that notices a change just then may
 * still call it. The library drops the context with `drop_context` after the last call, and also
 * if this function fails.
 */
sinew_status sinew_graph_on_change(const struct sinew_graph *graph,
                                   sinew_graph_callback callback,
                                   void *context,
                                   sinew_drop drop_context,
                                   struct sinew_graph_listener **listener);

/**
 * Ends a listener; null is allowed.
 */
void sinew_graph_listener_free(struct sinew_graph_listener *listener);

/**
 * Frees a snapshot; null is allowed.
 */
void sinew_graph_snapshot_free(struct sinew_graph_snapshot *snapshot);

/**
 * Returns the number of nodes.
 */
size_t sinew_graph_snapshot_node_count(const struct sinew_graph_snapshot *snapshot);

/**
 * Gets a node. The caller sets the `size` of `*node`.
 */
sinew_status sinew_graph_snapshot_node(const struct sinew_graph_snapshot *snapshot,
                                       size_t index,
                                       struct sinew_node_info *node);

/**
 * Returns the number of topics that have a publisher or a subscription.
 */
size_t sinew_graph_snapshot_topic_count(const struct sinew_graph_snapshot *snapshot);

/**
 * Gets a topic. The caller sets the `size` of `*topic`.
 */
sinew_status sinew_graph_snapshot_topic(const struct sinew_graph_snapshot *snapshot,
                                        size_t index,
                                        struct sinew_name_and_types *topic);

/**
 * Returns the number of services that have a server or a client. Those of parameters and of
 * actions are services as well.
 */
size_t sinew_graph_snapshot_service_count(const struct sinew_graph_snapshot *snapshot);

/**
 * Gets a service. The caller sets the `size` of `*service`.
 */
sinew_status sinew_graph_snapshot_service(const struct sinew_graph_snapshot *snapshot,
                                          size_t index,
                                          struct sinew_name_and_types *service);

/**
 * Returns the number of actions that have a server or a client.
 */
size_t sinew_graph_snapshot_action_count(const struct sinew_graph_snapshot *snapshot);

/**
 * Gets an action, which is recognized by its feedback topic. The caller sets the `size` of
 * `*action`.
 */
sinew_status sinew_graph_snapshot_action(const struct sinew_graph_snapshot *snapshot,
                                         size_t index,
                                         struct sinew_name_and_types *action);

/**
 * Returns the number of endpoints.
 */
size_t sinew_graph_snapshot_endpoint_count(const struct sinew_graph_snapshot *snapshot);

/**
 * Gets an endpoint. The caller sets the `size` of `*endpoint`.
 */
sinew_status sinew_graph_snapshot_endpoint(const struct sinew_graph_snapshot *snapshot,
                                           size_t index,
                                           struct sinew_endpoint_info *endpoint);

/**
 * Looks for the next endpoint that passes a filter, from `*index` on. `*index` gets the place of
 * the one that was found, and is the number of endpoints if there is none:
 *
 * `for (size_t at = 0; sinew_graph_snapshot_find(snapshot, &filter, &at) == SINEW_OK && at <
 * count; ++at) ..`
 */
sinew_status sinew_graph_snapshot_find(const struct sinew_graph_snapshot *snapshot,
                                       const struct sinew_endpoint_filter *filter,
                                       size_t *index);

/**
 * Returns the number of participants and endpoints that the lists leave out, because this program
 * may not read them, or they belong to another version of Sinew. 0 for the snapshot of a
 * `sinew_graph`: its context logs them.
 */
size_t sinew_graph_snapshot_unreadable_count(const struct sinew_graph_snapshot *snapshot);

/**
 * Returns a sentence about one of those. It lives as long as the snapshot.
 */
const char *sinew_graph_snapshot_unreadable(const struct sinew_graph_snapshot *snapshot,
                                            size_t index);

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
 * Gets a handle to the node's default group, in which entities are that were made without another
 * one: for its priority, pauses, and executors of groups. The caller frees `*group`.
 */
sinew_status sinew_node_default_group(const struct sinew_node *node, struct sinew_group **group);

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
 * Gets the name about which this thread's last failure is, `SINEW_ERROR_INVALID_NAME`. Returns
 * whether there is one; `*name` is unchanged otherwise. The text is valid until the thread's next
 * failure.
 */
bool sinew_error_invalid_name(struct sinew_invalid_name *name);

/**
 * Manages a node, which is unconfigured at first.
 *
 * The service `~/change_state` runs in a callback group of its own; those that only tell the state
 * answer on the thread that receives the request. `callbacks` is copied; null: all transitions
 * succeed. `callback_context` is the first argument of all of them; `drop_context` may be null,
 * otherwise it is called once with it: when the management has ended, or at once if this fails.
 * The caller frees `*lifecycle` with `sinew_lifecycle_node_free`.
 */
sinew_status sinew_lifecycle_node_new(const struct sinew_node *node,
                                      const struct sinew_lifecycle_callbacks *callbacks,
                                      void *callback_context,
                                      sinew_drop drop_context,
                                      struct sinew_lifecycle_node **lifecycle);

/**
 * Ends the management, without a callback; null is allowed. A callback may still run on another
 * thread: `sinew_lifecycle_node_close` waits for it. The node remains.
 */
void sinew_lifecycle_node_free(struct sinew_lifecycle_node *lifecycle);

/**
 * Ends the service `~/change_state`, and waits for a callback of it that runs on another thread.
 * Called in a callback of the node it doesn't wait. The handle remains to be freed.
 */
sinew_status sinew_lifecycle_node_close(const struct sinew_lifecycle_node *lifecycle);

/**
 * Returns the state; during a transition that of the transition. 0 after a failure.
 */
sinew_lifecycle_state sinew_lifecycle_node_state(const struct sinew_lifecycle_node *lifecycle);

/**
 * Makes a transition on the calling thread, with its callback. `state` may be null; otherwise
 * `*state` is the state that it has led to, also after a failure.
 *
 * Fails with `SINEW_ERROR_TRANSITION_NOT_ALLOWED` if the transition can't begin now, for example
 * because another one is going on, and with `SINEW_ERROR_TRANSITION_FAILED` if the callback didn't
 * succeed.
 */
sinew_status sinew_lifecycle_node_change(const struct sinew_lifecycle_node *lifecycle,
                                         sinew_lifecycle_transition transition,
                                         sinew_lifecycle_state *state);

/**
 * Gets the steps that lead out of a state, or all if the state is 0. Returns their number; of more
 * than `capacity` the first ones are written. `steps` may be null if the capacity is 0.
 */
size_t sinew_lifecycle_steps(sinew_lifecycle_state state,
                             struct sinew_lifecycle_step *steps,
                             size_t capacity);

/**
 * Makes a callback group with callbacks that run only while the node is active. Its subscriptions
 * and timers begin anew with each activation; requests wait.
 *
 * `options` may be null. The caller frees `*group` with `sinew_group_free`; entities keep their
 * group.
 */
sinew_status sinew_lifecycle_node_group_new(const struct sinew_lifecycle_node *lifecycle,
                                            const struct sinew_group_options *options,
                                            struct sinew_group **group);

/**
 * Makes a gate for a publisher of the node, which is asked before each message whether to publish
 * it: from the begin of the activation to the end of the deactivation. The caller frees `*gate`
 * with `sinew_publish_gate_free`.
 */
sinew_status sinew_publish_gate_new(const struct sinew_lifecycle_node *lifecycle,
                                    const struct sinew_publisher *publisher,
                                    struct sinew_publish_gate **gate);

/**
 * Frees a gate; null is allowed.
 */
void sinew_publish_gate_free(struct sinew_publish_gate *gate);

/**
 * Returns whether a message is to be published now. If not, the caller drops it: it is counted,
 * and the first one after each deactivation logs a warning.
 */
bool sinew_publish_gate_admits(const struct sinew_publish_gate *gate);

/**
 * Returns the number of messages that were not admitted.
 */
uint64_t sinew_publish_gate_dropped(const struct sinew_publish_gate *gate);

/**
 * Returns the label of a state in `lifecycle_msgs/msg/State`, for example "inactive"; "unknown"
 * for other numbers. The text lives as long as the process.
 */
const char *sinew_lifecycle_state_label(sinew_lifecycle_state state);

/**
 * Returns the label of a step in `lifecycle_msgs/msg/Transition`, for example "configure" or
 * "transition_success"; an empty text for other numbers. It lives as long as the process.
 */
const char *sinew_lifecycle_transition_label(sinew_lifecycle_transition transition);

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
 * As `sinew_log_is_due`, by a clock of the caller, which shows `now`.
 */
bool sinew_log_is_due_at(struct sinew_log_memory *memory, sinew_time now, sinew_duration period);

/**
 * Frees a reference; null is allowed. The last one destroys the value.
 */
void sinew_message_free(struct sinew_message *message);

/**
 * Returns another reference to the same message. Increments a count.
 */
struct sinew_message *sinew_message_clone(const struct sinew_message *message);

/**
 * Returns whether this is the only reference, and no other process reads the message: then its
 * holder may change the value, or take it.
 */
bool sinew_message_is_sole(const struct sinew_message *message);

/**
 * Returns the type.
 */
const struct sinew_message_type *sinew_message_type_of(const struct sinew_message *message);

/**
 * Returns the value, to be read on any thread while a reference lives. Null, with
 * `SINEW_ERROR_NO_VALUE`, for a message in encoded form.
 */
const void *sinew_message_value(const struct sinew_message *message);

/**
 * Returns the value, to be changed. Null, with `SINEW_ERROR_NOT_SOLE`, if there are other
 * references, or with `SINEW_ERROR_NO_VALUE` for a message in encoded form.
 */
void *sinew_message_value_mut(struct sinew_message *message);

/**
 * Returns whether the message exists only in encoded form.
 */
bool sinew_message_is_encoded(const struct sinew_message *message);

/**
 * Gets the encoded form of a message that exists only in it, where it lies. The bytes belong to
 * the message. Fails with `SINEW_ERROR_NOT_ENCODED` for one with a value: see
 * `sinew_message_encode_into`.
 */
sinew_status sinew_message_encoded(const struct sinew_message *message,
                                   const uint8_t **bytes,
                                   size_t *length);

/**
 * Returns the length of the encoded form in bytes; 0 if the type has none. Calls the type's
 * `encoded_size` if the message has a value.
 */
size_t sinew_message_encoded_length(const struct sinew_message *message);

/**
 * Writes the encoded form to `bytes`, which has room for `capacity` bytes, and its length to
 * `length`. Fails with `SINEW_ERROR_UNENCODABLE`, and writes nothing but the length, if there is
 * less room; and if the type has no encoded form, with a length of 0.
 */
sinew_status sinew_message_encode_into(const struct sinew_message *message,
                                       uint8_t *bytes,
                                       size_t capacity,
                                       size_t *length);

/**
 * Converts a message to a value: the same message if it has one, otherwise it is decoded. The
 * reference is used up, and `*value` is one to the value. After a failure it is still the
 * caller's: with `SINEW_ERROR_UNDECODABLE` if the bytes are not valid.
 */
sinew_status sinew_message_into_value(struct sinew_message *message, struct sinew_message **value);

/**
 * Returns whether `sinew_message_into_adopted` would succeed: the value was adopted, and this is
 * the only reference.
 */
bool sinew_message_is_adopted(const struct sinew_message *message);

/**
 * Takes the value that was adopted, with its memory: the reference is used up, and the caller
 * destroys and frees the value. After a failure the reference is still the caller's: with
 * `SINEW_ERROR_NOT_SOLE` if there are others, or `SINEW_ERROR_NOT_ADOPTED`, for example for a
 * message that was decoded or copied.
 */
sinew_status sinew_message_into_adopted(struct sinew_message *message, void **value);

/**
 * Copies the value into a message of its own. Fails with `SINEW_ERROR_NO_CLONE` if the type can't
 * copy it.
 */
sinew_status sinew_message_duplicate(const struct sinew_message *message,
                                     struct sinew_message **copy);

/**
 * Makes a message from its encoded form, which is copied but not checked: subscriptions that can't
 * decode it lose it and report that. It has at least the 4 bytes of the header.
 */
sinew_status sinew_message_from_bytes(const struct sinew_message_type *message_type,
                                      const uint8_t *bytes,
                                      size_t length,
                                      struct sinew_message **message);

/**
 * Makes a message of a value where it lies, for example one that a `unique_ptr` released. The
 * type's `free` frees its memory. After a failure the value is still the caller's: with
 * `SINEW_ERROR_INVALID_TYPE_TABLE` if the type has no `free`.
 */
sinew_status sinew_message_adopt(const struct sinew_message_type *message_type,
                                 void *value,
                                 struct sinew_message **message);

/**
 * Makes a place for a value of the type, in an allocation of its own. (`sinew_publisher_uninit`
 * has places that allocate nothing.)
 */
sinew_status sinew_uninit_message_new(const struct sinew_message_type *message_type,
                                      struct sinew_uninit_message **uninit);

/**
 * Returns the place, with the size and alignment of the type's values. It is not initialised.
 */
void *sinew_uninit_message_place(const struct sinew_uninit_message *uninit);

/**
 * Makes the message, once the place has a valid value. The handle is used up.
 */
sinew_status sinew_uninit_message_assume_init(struct sinew_uninit_message *uninit,
                                              struct sinew_message **message);

/**
 * Frees a place without a value; null is allowed.
 */
void sinew_uninit_message_free(struct sinew_uninit_message *uninit);

/**
 * Gets a type that is known by name and hash only. Its messages exist in encoded form only: 4
 * bytes that identify the encoding, then plain CDR. Needs memory once for each name and hash; a
 * process can know 4096 of them.
 *
 * `name` is `package/msg/Name`, `hash` is `RIHS01_` and 64 hexadecimal digits. Endpoints match if
 * both are the same.
 */
sinew_status sinew_message_type_known(const char *name,
                                      const char *hash,
                                      const struct sinew_message_type **message_type);

/**
 * Gets the type with this description, as ROS 2's JSON text, and with its name and hash. Otherwise
 * as `sinew_message_type_known`, but tools can read the messages of its publishers, since they
 * find the description.
 */
sinew_status sinew_message_type_described(const char *description,
                                          const struct sinew_message_type **message_type);

/**
 * Returns the name, `package/msg/Name`.
 */
const char *sinew_message_type_name(const struct sinew_message_type *message_type);

/**
 * Returns the hash of its description, `RIHS01_..`; null for a type that stays in its process.
 */
const char *sinew_message_type_hash(const struct sinew_message_type *message_type);

/**
 * Returns its description as ROS 2's JSON text; null if it is unknown.
 */
const char *sinew_message_type_description(const struct sinew_message_type *message_type);

/**
 * Returns the size of a value in bytes.
 */
size_t sinew_message_type_value_size(const struct sinew_message_type *message_type);

/**
 * Returns the alignment of a value in bytes.
 */
size_t sinew_message_type_alignment(const struct sinew_message_type *message_type);

/**
 * Returns whether values can be copied, as subscriptions that own their messages need.
 */
bool sinew_message_type_can_clone(const struct sinew_message_type *message_type);

/**
 * Returns whether messages have an encoded form, in which they leave their process.
 */
bool sinew_message_type_has_encoding(const struct sinew_message_type *message_type);

/**
 * Returns whether values are read and written in shared memory as they are.
 */
bool sinew_message_type_is_plain(const struct sinew_message_type *message_type);

/**
 * Gets a type by its name alone, `package/msg/Name`, as one with messages in encoded form only:
 * see `sinew_message_type_known`. Its hash is that of the type of this name which the program
 * used first, or else that of ROS 2's package.
 *
 * Fails with `SINEW_ERROR_UNKNOWN_TYPE` if there is neither. The graph says which hash the
 * endpoints of a topic have: see `sinew_endpoint_info`.
 */
sinew_status sinew_message_type_named(const char *name,
                                      const struct sinew_message_type **message_type);

/**
 * Gets the types of a service by its name alone, `package/srv/Name`, as
 * `sinew_message_type_named` does that of a message.
 */
sinew_status sinew_service_type_named(const char *name,
                                      const struct sinew_service_type **service_type);

/**
 * Makes a node. The first one of a context joins the domain, which starts a thread.
 *
 * `options` may be null. The caller frees `*node` with `sinew_node_free`; the node keeps its
 * context.
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
 * Gets the full name that a publisher or subscription of the node has that is made with `topic`,
 * after remapping: one text. The caller frees `*name`. Fails with `SINEW_ERROR_INVALID_NAME`.
 */
sinew_status sinew_node_resolve_topic_name(const struct sinew_node *node,
                                           const char *topic,
                                           struct sinew_strings **name);

/**
 * Gets the full name of a service; otherwise as `sinew_node_resolve_topic_name`.
 */
sinew_status sinew_node_resolve_service_name(const struct sinew_node *node,
                                             const char *service,
                                             struct sinew_strings **name);

/**
 * Copies a request, for a component that keeps it after `create`. The caller frees `*copy` with
 * `sinew_node_request_free`.
 */
sinew_status sinew_node_request_copy(const struct sinew_node_request *request,
                                     struct sinew_node_request **copy);

/**
 * Frees a copy of a request; null is allowed.
 */
void sinew_node_request_free(struct sinew_node_request *request);

/**
 * Gets a handle to the context of the container, in which the node is made. The caller frees
 * `*context`.
 */
sinew_status sinew_node_request_context(const struct sinew_node_request *request,
                                        struct sinew_context **context);

/**
 * Declares a parameter. Its value is that of the command line or of a file if they have one, else
 * the default value, which may be null or not set if the options have a type. `options` may be
 * null.
 *
 * Callbacks that check values run. Fails with `SINEW_ERROR_PARAMETER_DECLARED`,
 * `SINEW_ERROR_OTHER_PARAMETER_TYPE`, `SINEW_ERROR_INVALID_PARAMETER_VALUE` (beyond its range, or
 * refused by a callback), `SINEW_ERROR_PARAMETER_UNINITIALIZED`,
 * `SINEW_ERROR_EMPTY_PARAMETER_NAME`, and in a callback for parameters with
 * `SINEW_ERROR_IN_PARAMETER_CALLBACK`.
 */
sinew_status sinew_node_declare_parameter(const struct sinew_node *node,
                                          const char *name,
                                          const struct sinew_parameter_value *default_value,
                                          const struct sinew_parameter_options *options);

/**
 * Declares a parameter, as `sinew_node_declare_parameter` does, and makes a handle that reads it
 * without searching for its name. The caller frees `*parameter`; the parameter stays declared.
 *
 * The handle reads a bool, an integer or a double that has a value and no dynamic type.
 */
sinew_status sinew_parameter_declare(const struct sinew_node *node,
                                     const char *name,
                                     const struct sinew_parameter_value *default_value,
                                     const struct sinew_parameter_options *options,
                                     struct sinew_parameter **parameter);

/**
 * Removes a parameter with a dynamic type. No callback runs. Fails with
 * `SINEW_ERROR_PARAMETER_NOT_DECLARED`, or if the parameter is read-only or has a fixed type.
 */
sinew_status sinew_node_undeclare_parameter(const struct sinew_node *node, const char *name);

/**
 * Returns whether the node has declared a parameter.
 */
bool sinew_node_has_parameter(const struct sinew_node *node, const char *name);

/**
 * Gets the values of parameters, in the order of the names. The caller frees `*list`. Fails with
 * `SINEW_ERROR_PARAMETER_NOT_DECLARED` if one is not declared.
 */
sinew_status sinew_node_get_parameters(const struct sinew_node *node,
                                       const char *const *names,
                                       size_t count,
                                       struct sinew_parameter_list **list);

/**
 * Gets the value of a boolean. Fails with `SINEW_ERROR_PARAMETER_NOT_DECLARED`,
 * `SINEW_ERROR_OTHER_PARAMETER_TYPE`, or `SINEW_ERROR_PARAMETER_UNINITIALIZED` if it has no value.
 */
sinew_status sinew_node_get_bool_parameter(const struct sinew_node *node,
                                           const char *name,
                                           bool *value);

/**
 * Gets the value of an integer; otherwise as `sinew_node_get_bool_parameter`.
 */
sinew_status sinew_node_get_integer_parameter(const struct sinew_node *node,
                                              const char *name,
                                              int64_t *value);

/**
 * Gets the value of a double; otherwise as `sinew_node_get_bool_parameter`.
 */
sinew_status sinew_node_get_double_parameter(const struct sinew_node *node,
                                             const char *name,
                                             double *value);

/**
 * Sets a parameter, as other nodes do by service: callbacks run, and the change is published. An
 * integer is right for a double.
 *
 * Waits while another thread declares or sets parameters of the node. Fails with
 * `SINEW_ERROR_PARAMETER_NOT_DECLARED`, or with `SINEW_ERROR_REFUSED` and the reason: its type,
 * its range, that it is read-only, or the sentence of a callback.
 */
sinew_status sinew_node_set_parameter(const struct sinew_node *node,
                                      const char *name,
                                      const struct sinew_parameter_value *value);

/**
 * Sets several parameters with one event: all of them, or none. Otherwise as
 * `sinew_node_set_parameter`.
 */
sinew_status sinew_node_set_parameters(const struct sinew_node *node,
                                       const struct sinew_parameter_list *list);

/**
 * Lists the sorted names of the node's parameters: those that equal one of the prefixes or lie
 * below it (`joint` and `joint.gain`), or all names if there is no prefix. If `depth` is not 0,
 * only names with fewer than `depth` points below the prefix. The caller frees `*names`.
 */
sinew_status sinew_node_list_parameters(const struct sinew_node *node,
                                        const char *const *prefixes,
                                        size_t count,
                                        uint64_t depth,
                                        struct sinew_strings **names);

/**
 * Gets the descriptions of parameters, in the order of the names. The caller frees `*descriptors`.
 * Fails with `SINEW_ERROR_PARAMETER_NOT_DECLARED` if one is not declared.
 */
sinew_status sinew_node_describe_parameters(const struct sinew_node *node,
                                            const char *const *names,
                                            size_t count,
                                            struct sinew_parameter_descriptors **descriptors);

/**
 * Adds a callback that gets a list of values before they are set, and may change, add and remove
 * values. An empty list is refused. Of several callbacks the one that was added last runs first.
 *
 * It runs on the thread that sets the parameters, under no lock; for requests of other processes,
 * on the thread that receives them. It may read parameters; declaring or setting any fails with
 * `SINEW_ERROR_IN_PARAMETER_CALLBACK`. Several threads may run it at once.
 *
 * The caller frees `*handle`, which removes the callback. The library drops the context with
 * `drop_context` afterwards, and also if this function fails.
 */
sinew_status sinew_node_on_pre_set_parameters(const struct sinew_node *node,
                                              sinew_pre_set_parameters_callback callback,
                                              void *context,
                                              sinew_drop drop_context,
                                              struct sinew_parameter_callback **handle);

/**
 * Adds a callback that accepts or refuses values, after their types and ranges were checked. It
 * also runs for the values of parameters that are being declared. If it refuses, nothing is set,
 * and the caller gets its sentence. Otherwise as `sinew_node_on_pre_set_parameters`.
 */
sinew_status sinew_node_on_set_parameters(const struct sinew_node *node,
                                          sinew_on_set_parameters_callback callback,
                                          void *context,
                                          sinew_drop drop_context,
                                          struct sinew_parameter_callback **handle);

/**
 * Adds a callback that gets values after they were set, and before the caller that set them gets
 * its answer. Otherwise as `sinew_node_on_pre_set_parameters`.
 */
sinew_status sinew_node_on_post_set_parameters(const struct sinew_node *node,
                                               sinew_post_set_parameters_callback callback,
                                               void *context,
                                               sinew_drop drop_context,
                                               struct sinew_parameter_callback **handle);

/**
 * Removes a callback; null is allowed. One that runs on another thread finishes; see
 * `sinew_parameter_callback_close`.
 */
void sinew_parameter_callback_free(struct sinew_parameter_callback *handle);

/**
 * Removes a callback, and waits until it has returned if another thread is setting parameters; not
 * in a callback for parameters of the node. The handle is still to be freed.
 */
sinew_status sinew_parameter_callback_close(const struct sinew_parameter_callback *handle);

/**
 * Frees the handle of a callback that stays until the context ends.
 */
sinew_status sinew_parameter_callback_detach(struct sinew_parameter_callback *handle);

/**
 * Makes a client for the parameters of the node `of`: a full name, or one in the namespace of
 * `node`. That node needn't be there yet.
 *
 * `options` may be null. The caller frees `*client`. Each function that asks blocks for at most
 * its timeout (negative: for ever); no executor has to run for it, here or there. It fails with
 * `SINEW_ERROR_NO_SUCH_NODE`, `SINEW_ERROR_TIMEOUT`, `SINEW_ERROR_PARAMETER_NOT_DECLARED`,
 * `SINEW_ERROR_REFUSED`, or as a call of a service does.
 */
sinew_status sinew_parameter_client_new(const struct sinew_node *node,
                                        const char *of,
                                        const struct sinew_parameter_client_options *options,
                                        struct sinew_parameter_client **client);

/**
 * Frees a client; null is allowed.
 */
void sinew_parameter_client_free(struct sinew_parameter_client *client);

/**
 * Returns the full name of the node that has the parameters. The text lives as long as the handle.
 */
const char *sinew_parameter_client_node_name(const struct sinew_parameter_client *client);

/**
 * Gets the values of parameters, in the order of the names: of all of them, or of none if one
 * isn't declared. The caller frees `*list`.
 */
sinew_status sinew_parameter_client_get(const struct sinew_parameter_client *client,
                                        const char *const *names,
                                        size_t count,
                                        sinew_duration timeout,
                                        struct sinew_parameter_list **list);

/**
 * Gets the types of parameters, in the order of the names; otherwise as
 * `sinew_parameter_client_get`. The caller has room for `count` types in `kinds`.
 */
sinew_status sinew_parameter_client_get_types(const struct sinew_parameter_client *client,
                                              const char *const *names,
                                              size_t count,
                                              sinew_duration timeout,
                                              sinew_parameter_type *kinds);

/**
 * Gets the descriptions of parameters, in the order of the names; otherwise as
 * `sinew_parameter_client_get`. The caller frees `*descriptors`.
 */
sinew_status sinew_parameter_client_describe(const struct sinew_parameter_client *client,
                                             const char *const *names,
                                             size_t count,
                                             sinew_duration timeout,
                                             struct sinew_parameter_descriptors **descriptors);

/**
 * Sets parameters one after the other. For each, `*reasons` has null if it is set, otherwise the
 * reason why it is not. The caller frees `*reasons`.
 */
sinew_status sinew_parameter_client_set(const struct sinew_parameter_client *client,
                                        const struct sinew_parameter_list *list,
                                        sinew_duration timeout,
                                        struct sinew_strings **reasons);

/**
 * Sets all of the parameters, or none, with one event. Fails with `SINEW_ERROR_REFUSED` and the
 * node's reason.
 */
sinew_status sinew_parameter_client_set_atomically(const struct sinew_parameter_client *client,
                                                   const struct sinew_parameter_list *list,
                                                   sinew_duration timeout);

/**
 * Lists the names of parameters, as `sinew_node_list_parameters` does. `*prefixes_found` gets the
 * parts before the last point of names that have one, each once; it may be null. The caller frees
 * both.
 */
sinew_status sinew_parameter_client_list(const struct sinew_parameter_client *client,
                                         const char *const *prefixes,
                                         size_t count,
                                         uint64_t depth,
                                         sinew_duration timeout,
                                         struct sinew_strings **names,
                                         struct sinew_strings **prefixes_found);

/**
 * Frees a list of descriptions; null is allowed.
 */
void sinew_parameter_descriptors_free(struct sinew_parameter_descriptors *descriptors);

/**
 * Returns the number of descriptions.
 */
size_t sinew_parameter_descriptors_length(const struct sinew_parameter_descriptors *descriptors);

/**
 * Gets a description, counted from 0. The caller sets its `size`.
 */
sinew_status sinew_parameter_descriptors_at(const struct sinew_parameter_descriptors *descriptors,
                                            size_t index,
                                            struct sinew_parameter_descriptor *descriptor);

/**
 * Frees a handle; null is allowed.
 */
void sinew_parameter_free(struct sinew_parameter *parameter);

/**
 * Reads the current value of a bool. Takes no lock and allocates nothing; any thread may read.
 * Fails with `SINEW_ERROR_OTHER_PARAMETER_TYPE`.
 */
sinew_status sinew_parameter_get_bool(const struct sinew_parameter *parameter, bool *value);

/**
 * Reads the current value of an integer; otherwise as `sinew_parameter_get_bool`.
 */
sinew_status sinew_parameter_get_integer(const struct sinew_parameter *parameter, int64_t *value);

/**
 * Reads the current value of a double; otherwise as `sinew_parameter_get_bool`.
 */
sinew_status sinew_parameter_get_double(const struct sinew_parameter *parameter, double *value);

/**
 * Makes an empty list. The caller frees `*list`.
 */
sinew_status sinew_parameter_list_new(struct sinew_parameter_list **list);

/**
 * Makes a list of the values that the text of a parameter file, YAML as ROS 2 has it, gives to the
 * node with this full name, in the order of their names. The caller frees `*list`.
 *
 * Fails with `SINEW_ERROR_INVALID_PARAMETER_TEXT`, and the line and column in the sentence.
 */
sinew_status sinew_parameter_list_parse(const char *file_text,
                                        const char *node_name,
                                        struct sinew_parameter_list **list);

/**
 * Gets the names and patterns of nodes in the text of a parameter file, each once and with the
 * first `/`, in their order: `/left/camera`, or one with `*` for any part. The caller frees
 * `*patterns`. Fails as `sinew_parameter_list_parse`.
 */
sinew_status sinew_parameter_file_patterns(const char *file_text, struct sinew_strings **patterns);

/**
 * Returns whether one of the `sinew_parameter_file_patterns` stands for the node with this full
 * name.
 */
bool sinew_parameter_file_pattern_matches(const char *pattern, const char *node_name);

/**
 * Makes a list of the values that stand in the text of a parameter file under one of its
 * `sinew_parameter_file_patterns`, without those of other patterns. Otherwise as
 * `sinew_parameter_list_parse`.
 */
sinew_status sinew_parameter_list_parse_under(const char *file_text,
                                              const char *pattern,
                                              struct sinew_parameter_list **list);

/**
 * Frees a list; null is allowed. The list that a callback gets is not the callback's to free.
 */
void sinew_parameter_list_free(struct sinew_parameter_list *list);

/**
 * Returns the number of parameters.
 */
size_t sinew_parameter_list_length(const struct sinew_parameter_list *list);

/**
 * Gets a parameter, counted from 0. `name` and `value` may be null.
 */
sinew_status sinew_parameter_list_at(const struct sinew_parameter_list *list,
                                     size_t index,
                                     const char **name,
                                     struct sinew_parameter_value *value);

/**
 * Gets the value of a parameter by its name. Fails with `SINEW_ERROR_PARAMETER_NOT_DECLARED` if
 * the list doesn't have it.
 */
sinew_status sinew_parameter_list_get(const struct sinew_parameter_list *list,
                                      const char *name,
                                      struct sinew_parameter_value *value);

/**
 * Sets a parameter of the list: its value if the list has it, otherwise it is added at the end. No
 * node is changed by that.
 */
sinew_status sinew_parameter_list_set(struct sinew_parameter_list *list,
                                      const char *name,
                                      const struct sinew_parameter_value *value);

/**
 * Sets a parameter of the list to a value that is written as after `-p NAME:=` on a command line;
 * otherwise as `sinew_parameter_list_set`. Fails with `SINEW_ERROR_INVALID_PARAMETER_TEXT`.
 */
sinew_status sinew_parameter_list_set_text(struct sinew_parameter_list *list,
                                           const char *name,
                                           const char *value_text);

/**
 * Removes a parameter from the list. Returns false if the list doesn't have it.
 */
bool sinew_parameter_list_remove(struct sinew_parameter_list *list, const char *name);

/**
 * Calls the service. The caller polls `*call` for the response, and frees it. Never blocks. Takes
 * over the request, also if it fails. The call keeps its client alive.
 */
sinew_status sinew_client_call_async(const struct sinew_client *client,
                                     struct sinew_message *request,
                                     struct sinew_pending_call **call);

/**
 * Looks whether a call is over. `*response` is null until it is; then it is the response, once,
 * and the caller owns it. Never blocks, and runs no callback: an executor has to serve the server,
 * for example in `sinew_executor_spin_until_complete`.
 *
 * Fails if the call failed, as `sinew_client_call` does, and with `SINEW_ERROR_CLOSED` once its
 * result was returned.
 */
sinew_status sinew_pending_call_poll(const struct sinew_pending_call *call,
                                     struct sinew_message **response);

/**
 * Runs callbacks on all threads of the executor until a call is over, with a response or a
 * failure: then it returns `SINEW_OK`, and `sinew_pending_call_poll` the result. Waits for at most
 * `timeout` of real time (negative: for ever; 0 runs what a look at the call needs and one
 * callback at most). The executor should serve the server, or another thread or process. Meanwhile
 * no other thread may use the call. ROS 2: `spin_until_future_complete`.
 *
 * Fails as `sinew_executor_spin`; with `SINEW_ERROR_TIMEOUT` if the call is not over in time, with
 * `SINEW_ERROR_STOPPED` if the executor was stopped or its context shut down before, and with
 * `SINEW_ERROR_CLOSED` if the result was returned before. The call goes on after a timeout.
 */
sinew_status sinew_executor_spin_until_complete(const struct sinew_executor *executor,
                                                const struct sinew_pending_call *call,
                                                sinew_duration timeout);

/**
 * Frees a call. One that is not over is given up: its response will not come. Null is allowed.
 */
void sinew_pending_call_free(struct sinew_pending_call *call);

/**
 * Makes a publisher. When this returns, it has matched the existing subscriptions.
 *
 * `options` may be null. The caller frees `*publisher` with `sinew_publisher_free`; it keeps its
 * node.
 */
sinew_status sinew_publisher_new(const struct sinew_node *node,
                                 const char *topic,
                                 const struct sinew_message_type *message_type,
                                 const struct sinew_publisher_options *options,
                                 struct sinew_publisher **publisher);

/**
 * Names memory that a program of another language touches each time before it publishes, for
 * example its own object for the publisher: a thread that wakes fetches it together with the
 * publisher's own memory. It may be gone later, as it is only named to the processor. No effect
 * after the first message that a thread publishes.
 */
sinew_status sinew_publisher_prefetch(const struct sinew_publisher *publisher,
                                      const void *start,
                                      size_t bytes);

/**
 * Frees a publisher; null is allowed. Messages that it published stay where they are.
 */
void sinew_publisher_free(struct sinew_publisher *publisher);

/**
 * Publishes a message: every matching subscription has it before this returns. Takes the reference
 * in any case, also after a failure.
 *
 * A message with one reference is published with its ownership: one subscription that owns its
 * messages gets the value itself, at its address. A message in encoded form may have another type
 * with the same name and hash.
 *
 * Blocks only if both ends are reliable and keep all, up to the QoS's `max_blocking_time`; then it
 * fails with `SINEW_ERROR_HISTORY_FULL`. Other failures: `SINEW_ERROR_OTHER_TYPE`,
 * `SINEW_ERROR_NO_SPACE`, `SINEW_ERROR_SHUTDOWN`, `SINEW_ERROR_UNENCODABLE` (the type's `check`
 * refused the value). After a failure no subscription has it.
 */
sinew_status sinew_publisher_publish(const struct sinew_publisher *publisher,
                                     struct sinew_message *message);

/**
 * Publishes a message by its encoded form, at least the 4 bytes of its header. The bytes are
 * copied once, to where subscriptions read them, and not checked: subscriptions that can't decode
 * them lose the message and report that. Fails as `sinew_publisher_publish`.
 */
sinew_status sinew_publisher_publish_bytes(const struct sinew_publisher *publisher,
                                           const uint8_t *bytes,
                                           size_t length);

/**
 * Publishes a copy of a value of the publisher's type, which stays the caller's. If only
 * subscriptions of other processes get it, it is encoded where it is. Fails as
 * `sinew_publisher_publish`, and with `SINEW_ERROR_NO_CLONE` if the type can't be copied.
 */
sinew_status sinew_publisher_publish_value(const struct sinew_publisher *publisher,
                                           const void *value);

/**
 * Makes a message of a value where it lies, as `sinew_message_adopt`.
 */
sinew_status sinew_publisher_adopt(const struct sinew_publisher *publisher,
                                   void *value,
                                   struct sinew_message **message);

/**
 * Publishes a value where it lies, for example one that a `unique_ptr` released, with its
 * ownership, as `sinew_publisher_publish`.
 *
 * The value is the library's, also after a failure, which destroys and frees it; but it is still
 * the caller's after `SINEW_ERROR_NULL_ARGUMENT`, `SINEW_ERROR_INVALID_HANDLE`, and
 * `SINEW_ERROR_INVALID_TYPE_TABLE`, which says that the type has no `free`.
 */
sinew_status sinew_publisher_publish_adopted(const struct sinew_publisher *publisher, void *value);

/**
 * Gets a message from the publisher's pool, to be changed in place (`sinew_message_value_mut`) and
 * published. It holds the content of an earlier message, with all its capacity, or a first value
 * by the type's `create`. Fails with `SINEW_ERROR_INVALID_TYPE_TABLE` if there is none.
 */
sinew_status sinew_publisher_loan(const struct sinew_publisher *publisher,
                                  struct sinew_message **message);

/**
 * Gets a place for a value in the publisher's pool, for a placement `new`. Once the pool is warm,
 * allocates nothing.
 */
sinew_status sinew_publisher_uninit(const struct sinew_publisher *publisher,
                                    struct sinew_uninit_message **uninit);

/**
 * Returns the topic's full name, after remapping. The text lives as long as the handle.
 */
const char *sinew_publisher_topic(const struct sinew_publisher *publisher);

/**
 * Returns the type of its messages.
 */
const struct sinew_message_type *sinew_publisher_message_type(const struct sinew_publisher *publisher);

/**
 * Gets its identity, as in the `sinew_message_info` of its messages.
 */
sinew_status sinew_publisher_gid(const struct sinew_publisher *publisher, struct sinew_gid *gid);

/**
 * Gets the QoS that it offers: what was left to other ends is chosen. The caller sets the `size`.
 */
sinew_status sinew_publisher_qos(const struct sinew_publisher *publisher, struct sinew_qos *qos);

/**
 * Returns the number of subscriptions that match now, in all processes.
 */
size_t sinew_publisher_subscription_count(const struct sinew_publisher *publisher);

/**
 * Waits until at least `count` subscriptions match. Fails with `SINEW_ERROR_TIMEOUT` after the
 * timeout, or when the context is shut down.
 */
sinew_status sinew_publisher_wait_for_subscriptions(const struct sinew_publisher *publisher,
                                                    size_t count,
                                                    sinew_duration timeout);

/**
 * Waits until the reliable subscriptions of other processes have read what was published. Fails
 * with `SINEW_ERROR_TIMEOUT` after the timeout, or when the context is shut down.
 */
sinew_status sinew_publisher_wait_for_all_acked(const struct sinew_publisher *publisher,
                                                sinew_duration timeout);

/**
 * Asserts its liveliness, if that is manual by topic. Publishing does so, too.
 */
sinew_status sinew_publisher_assert_liveliness(const struct sinew_publisher *publisher);

/**
 * Gets its counters. The caller sets the `size`.
 */
sinew_status sinew_publisher_read_statistics(const struct sinew_publisher *publisher,
                                             struct sinew_publisher_statistics *statistics);

/**
 * Makes a server with requests that the program takes by `sinew_pulled_server_take_request`.
 *
 * `options` may be null; `is_immediate` must be unset. The caller frees `*server`, which ends the
 * service. Fails as `sinew_server_new` does.
 */
sinew_status sinew_pulled_server_new(const struct sinew_node *node,
                                     const char *name,
                                     const struct sinew_service_type *service_type,
                                     const struct sinew_server_options *options,
                                     struct sinew_pulled_server **server);

/**
 * Frees a server, which ends the service: callers of requests that were not answered fail with
 * `SINEW_ERROR_SERVER_GONE`. Null is allowed.
 */
void sinew_pulled_server_free(struct sinew_pulled_server *server);

/**
 * Ends the service, as `sinew_pulled_server_free` does. The handle still has to be freed.
 */
sinew_status sinew_pulled_server_close(const struct sinew_pulled_server *server);

/**
 * Returns whether the server was closed, or its context was shut down.
 */
bool sinew_pulled_server_is_closed(const struct sinew_pulled_server *server);

/**
 * Returns the service's full name, after remapping. The text lives as long as the handle.
 */
const char *sinew_pulled_server_name(const struct sinew_pulled_server *server);

/**
 * Gets the server's QoS, as `sinew_server_qos`. The caller sets the `size`.
 */
sinew_status sinew_pulled_server_qos(const struct sinew_pulled_server *server,
                                     struct sinew_qos *qos);

/**
 * Takes the oldest request that was not taken yet. The caller owns `*request`, which is null if
 * none waits. `info->key` is for the answer; the caller sets `info->size`. Never blocks; any
 * thread may take.
 */
sinew_status sinew_pulled_server_take_request(const struct sinew_pulled_server *server,
                                              struct sinew_message **request,
                                              struct sinew_request_info *info);

/**
 * Gets a place for a response in the server's pool, for a placement `new`. Once the pool is warm,
 * allocates nothing.
 */
sinew_status sinew_pulled_server_uninit_response(const struct sinew_pulled_server *server,
                                                 struct sinew_uninit_message **uninit);

/**
 * Answers a request that was taken, on any thread and in any order. Takes over the response, also
 * if it fails.
 *
 * Fails with `SINEW_ERROR_REQUEST_NOT_IN_HAND` (it was never taken, or is answered already), with
 * `SINEW_ERROR_RESPONSE_UNCLAIMED` (no caller waits any more), or, if the response has another
 * type or can't be decoded or copied, with `SINEW_ERROR_OTHER_TYPE`, `SINEW_ERROR_UNDECODABLE`,
 * `SINEW_ERROR_NOT_SOLE`: then the request can still be answered.
 */
sinew_status sinew_pulled_server_respond(const struct sinew_pulled_server *server,
                                         const struct sinew_request_key *key,
                                         struct sinew_message *response);

/**
 * Answers a request that was taken with an error: the caller fails with
 * `SINEW_ERROR_CALLBACK_FAILED` and a sentence that contains `text`, in which what is not UTF-8 is
 * replaced. Otherwise as `sinew_pulled_server_respond`.
 */
sinew_status sinew_pulled_server_fail(const struct sinew_pulled_server *server,
                                      const struct sinew_request_key *key,
                                      const char *text);

/**
 * Returns whether a request is in hand and its caller still waits for the answer.
 */
bool sinew_pulled_server_is_awaited(const struct sinew_pulled_server *server,
                                    const struct sinew_request_key *key);

/**
 * Sets the listener for requests that can be taken, instead of the former one. If some wait
 * already, it is called at once. It may use the server; for what comes while it runs, it is called
 * when it has returned.
 *
 * The library drops the context as for `sinew_client_set_listener`.
 */
sinew_status sinew_pulled_server_set_listener(const struct sinew_pulled_server *server,
                                              sinew_listener callback,
                                              void *context,
                                              sinew_drop drop_context);

/**
 * Removes the listener.
 */
sinew_status sinew_pulled_server_clear_listener(const struct sinew_pulled_server *server);

/**
 * Gets a server's counters. The caller sets the `size`.
 */
sinew_status sinew_pulled_server_read_statistics(const struct sinew_pulled_server *server,
                                                 struct sinew_server_statistics *statistics);

/**
 * Returns the default: reliable, volatile, the last 10 messages. As all profiles, it lives as long
 * as the process.
 */
const struct sinew_qos *sinew_qos_default(void);

/**
 * Returns best effort, volatile, the last 5 messages: for sensors.
 */
const struct sinew_qos *sinew_qos_sensor_data(void);

/**
 * Returns reliable, volatile, the last 10 messages: for requests and responses.
 */
const struct sinew_qos *sinew_qos_services(void);

/**
 * Returns reliable, volatile, the last 1000 messages: for the services of parameters.
 */
const struct sinew_qos *sinew_qos_parameters(void);

/**
 * Returns reliable, volatile, the last 1000 messages: for `/parameter_events`.
 */
const struct sinew_qos *sinew_qos_parameter_events(void);

/**
 * Returns the default, as there is no middleware below that could have another.
 */
const struct sinew_qos *sinew_qos_system_default(void);

/**
 * Returns best effort, volatile, the last message: for `/clock`.
 */
const struct sinew_qos *sinew_qos_clock(void);

/**
 * Returns reliable, transient local, the last 1000 messages, for 10 seconds: for `/rosout`.
 */
const struct sinew_qos *sinew_qos_rosout(void);

/**
 * Returns the last 10 messages, with the strictest reliability, durability, deadline, liveliness
 * and lease with which the endpoint matches all other ends of its topic that exist when it is
 * made.
 */
const struct sinew_qos *sinew_qos_best_available(void);

/**
 * Checks whether a publisher that offers one QoS matches a subscription that requests another. If
 * not, fails with `SINEW_ERROR_INVALID_QOS` and a sentence that names each policy with both
 * values. Null is the default.
 */
sinew_status sinew_qos_check_compatible(const struct sinew_qos *offered,
                                        const struct sinew_qos *requested);

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
 * Writes the newest value of a topic: `size` bytes of `data`. Needs no set-up and no end: the
 * first call with a name opens it, which takes some milliseconds, in the domain and directory of
 * the environment (`SINEW_DOMAIN_ID`, `SINEW_DIR`). Never blocks after that; copies the value
 * once.
 *
 * A name has 1 to 255 bytes, and is unique in its domain across topics, queues and variables. For
 * threads, forks and the process's end see `sinew_raw_close`; for what a topic is,
 * `sinew_raw_topic`.
 *
 * Fails with `SINEW_ERROR_NAME_IN_USE` if the name is something else for another process, and with
 * `SINEW_ERROR_NO_SPACE` if the shared memory has no room.
 */
sinew_status sinew_topic_write(const char *name, const void *data, size_t size);

/**
 * Reads the newest value of a topic into `data`, which has `capacity` bytes. Never blocks, except
 * the first call with a name, which opens it; copies the value once. The process gets each value
 * once, also its own, unless a newer one comes before it reads.
 *
 * `*size` is the value's size. `size` may be null: then only a value of exactly `capacity` bytes
 * is taken.
 *
 * Fails with `SINEW_ERROR_TIMEOUT` if there is no new value: nothing is written then. Fails with
 * `SINEW_ERROR_WRONG_CAPACITY` if the value doesn't fit: then `*size` is its size, and it stays to
 * be read until a newer one comes.
 */
sinew_status sinew_topic_read(const char *name, void *data, size_t capacity, size_t *size);

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
 * one, for at most `timeout`. The process's first call joins as a reader: it gets the messages
 * that are written afterwards. Threads that read one queue share its messages, and take turns.
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
 * Joins a queue as a reader, unless the process is one: it gets every message that is written
 * after this returns.
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
 * process the variable's master, its only writer, until it ends or calls `sinew_raw_close`.
 * Never blocks after that.
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
 * Closes a name that this process opened by the functions that take one; a name that it didn't
 * open is no mistake. No program has to call this. The next call with the name opens it again.
 *
 * Hidden state: `sinew_topic_..`, `sinew_queue_..` and `sinew_variable_..` keep one handle for
 * each name and kind in a table of the process, from the first call with the name until this
 * function is called, or the process calls `exit` or returns from `main`. A value lives as long as
 * a process that wrote it or got it. The first name starts a thread, which sleeps while nothing
 * changes.
 *
 * Any thread may call any of them at any time; threads of a process share the names' handles.
 * After a `fork`, the child opens names anew at its first call, and the parent's stay as they are;
 * as with most libraries, the child of a process with several threads may hang if another thread
 * was just opening a name. A call with a name costs some 50 ns more than one with a handle
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
 * Reads the next message into `data`, which has `capacity` bytes; blocks until there is one, for
 * at most `timeout`. Threads that read with one handle take turns. Copies the message once.
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
 * `options` may be null. The caller frees `*space` with `sinew_raw_space_free`. After a `fork`,
 * the child joins a space of its own.
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
 * domain across topics, queues and variables. The caller frees `*topic` with
 * `sinew_raw_topic_free`.
 *
 * Fails with `SINEW_ERROR_NAME_IN_USE` if the name is something else for another process; the
 * sentence names it.
 */
sinew_status sinew_raw_topic_open(const struct sinew_raw_space *space,
                                  const char *name,
                                  struct sinew_raw_topic **topic);

/**
 * Frees a handle to a topic; null is allowed. With the process's last handle of the name, the
 * values that the process wrote end.
 */
void sinew_raw_topic_free(struct sinew_raw_topic *topic);

/**
 * Writes a value of `size` bytes, which may be 0. Never blocks; copies the value once. Once warm
 * it allocates nothing and makes no system call.
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
 * `*size` is the value's size. `size` may be null: then only a value of exactly `capacity` bytes
 * is taken. `origin` may be null.
 *
 * Fails with `SINEW_ERROR_TIMEOUT` if this handle has read the newest value already, or if there
 * is none: nothing is written then. Fails with `SINEW_ERROR_WRONG_CAPACITY` if the value doesn't
 * fit: then `*size` is its size, and it stays to be read until a newer one comes.
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
 * once. The value can be read any number of times. The end of a master is noticed within
 * milliseconds.
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
 * As `sinew_raw_variable_read`, for a reader that polls: a value is copied once. Fails with
 * `SINEW_ERROR_TIMEOUT` if this handle has read the current value already, too: nothing is written
 * then. A value that doesn't fit stays to be read until a newer one comes.
 */
sinew_status sinew_raw_variable_read_newer(const struct sinew_raw_variable *variable,
                                           void *data,
                                           size_t capacity,
                                           size_t *size,
                                           struct sinew_raw_origin *origin);

/**
 * Becomes a variable's master. The variable has the value in `data`, of `size` bytes, when this
 * returns.
 *
 * `space` may be null: the process's default one. The caller frees `*master` with
 * `sinew_raw_master_free`.
 *
 * Fails with `SINEW_ERROR_MASTER_TAKEN` if there is a master already; the sentence names its
 * process.
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
 * Frees a goal. If it has not ended, it ends now: see `sinew_action_server_options`. Null is
 * allowed.
 */
void sinew_server_goal_free(struct sinew_server_goal *goal);

/**
 * Gets the goal's id.
 */
sinew_status sinew_server_goal_id(const struct sinew_server_goal *goal, struct sinew_goal_id *id);

/**
 * Returns the message that brought the goal, of `.._SendGoal_Request`. It belongs to the handle.
 */
const struct sinew_message *sinew_server_goal_request(const struct sinew_server_goal *goal);

/**
 * Returns the goal itself, inside the message that brought it. It belongs to the handle.
 */
const void *sinew_server_goal_value(const struct sinew_server_goal *goal);

/**
 * Returns the goal's state.
 */
sinew_goal_status sinew_server_goal_status(const struct sinew_server_goal *goal);

/**
 * Returns whether the goal has not ended.
 */
bool sinew_server_goal_is_active(const struct sinew_server_goal *goal);

/**
 * Returns whether the goal must end early: a client requested it, a newer goal arrived, the server
 * is gone, or its context is shut down. Never blocks.
 */
bool sinew_server_goal_is_canceling(const struct sinew_server_goal *goal);

/**
 * Has a function called once, as soon as the goal must end early, on the thread that causes this;
 * or now, if it must already. It should be short. It replaces the former one.
 *
 * The library drops the context when the function has run or never will, and also if this function
 * fails: with `SINEW_ERROR_GOAL_STATE` if the goal has ended.
 */
sinew_status sinew_server_goal_on_cancel(const struct sinew_server_goal *goal,
                                         sinew_goal_cancel_callback callback,
                                         void *context,
                                         sinew_drop drop_context);

/**
 * Begins a goal that was deferred. (If it must end early already, it stays so.) Fails with
 * `SINEW_ERROR_GOAL_STATE` if it has begun.
 */
sinew_status sinew_server_goal_execute(const struct sinew_server_goal *goal);

/**
 * Publishes feedback to the clients: a message of `.._FeedbackMessage`, in which this sets the
 * goal's id. Takes over the message, also if it fails. One with other references is copied, if its
 * type can.
 *
 * Fails with `SINEW_ERROR_GOAL_STATE` if the goal doesn't execute, with `SINEW_ERROR_SERVER_GONE`,
 * `SINEW_ERROR_OTHER_TYPE`, `SINEW_ERROR_NOT_SOLE` and so on.
 */
sinew_status sinew_server_goal_publish_feedback(const struct sinew_server_goal *goal,
                                                struct sinew_message *feedback);

/**
 * Ends the goal as succeeded, with a message of `.._GetResult_Response`, in which this sets the
 * status. Takes over the message, also if it fails. One with other references is copied, if its
 * type can. The handle stays, and is to be freed.
 *
 * Fails with `SINEW_ERROR_GOAL_STATE` if the goal has not begun or has ended, and with
 * `SINEW_ERROR_OTHER_TYPE`, `SINEW_ERROR_NOT_SOLE` and so on: then it continues. With
 * `SINEW_ERROR_SERVER_GONE`, it has ended: its clients were notified when the server went.
 */
sinew_status sinew_server_goal_succeed(const struct sinew_server_goal *goal,
                                       struct sinew_message *result);

/**
 * Ends the goal as aborted: the server gives it up. Otherwise as `sinew_server_goal_succeed`.
 */
sinew_status sinew_server_goal_abort(const struct sinew_server_goal *goal,
                                     struct sinew_message *result);

/**
 * Ends the goal early, at the request of its client or of a newer goal, or of the server's own
 * accord; also one that has not begun. Otherwise as `sinew_server_goal_succeed`.
 */
sinew_status sinew_server_goal_canceled(const struct sinew_server_goal *goal,
                                        struct sinew_message *result);

/**
 * Makes a server that answers its requests by a callback.
 *
 * An executor runs the callback, unless the options say that it is immediate. `options` may be
 * null. The caller frees `*server`, which ends the service. The library drops the context of the
 * callback with `drop_context` when the server has ended and no thread runs the callback any more,
 * and also if this function fails.
 *
 * Fails with `SINEW_ERROR_SERVICE_TAKEN` if the service has a server in this context, or with
 * `SINEW_ERROR_INVALID_NAME`, `SINEW_ERROR_SHUTDOWN` and so on.
 */
sinew_status sinew_server_new(const struct sinew_node *node,
                              const char *name,
                              const struct sinew_service_type *service_type,
                              const struct sinew_server_options *options,
                              sinew_request_callback callback,
                              void *context,
                              sinew_drop drop_context,
                              struct sinew_server **server);

/**
 * Frees a server, which ends the service: callers that wait fail with `SINEW_ERROR_SERVER_GONE`,
 * and so do those of responders that were not used. Doesn't wait for a callback that runs. Null is
 * allowed.
 */
void sinew_server_free(struct sinew_server *server);

/**
 * Frees the handle of a server that lives on until its context ends.
 */
sinew_status sinew_server_detach(struct sinew_server *server);

/**
 * Ends the service, as `sinew_server_free` does, and waits until no other thread runs its
 * callback. The handle still has to be freed.
 */
sinew_status sinew_server_close(const struct sinew_server *server);

/**
 * Returns whether the server was closed, or its context was shut down.
 */
bool sinew_server_is_closed(const struct sinew_server *server);

/**
 * Returns the service's full name, after remapping. The text lives as long as the handle.
 */
const char *sinew_server_name(const struct sinew_server *server);

/**
 * Gets the QoS with which the server receives requests and sends responses: that of services, with
 * the history of its options. The caller sets the `size`.
 */
sinew_status sinew_server_qos(const struct sinew_server *server, struct sinew_qos *qos);

/**
 * Sets the listener for requests that wait for the callback, instead of the former one: it is
 * called with 1 for each that arrives, on the thread that calls or receives, and at once with the
 * number of those that wait. It counts, or wakes others; the callback gets the requests as before.
 * An immediate callback takes each request at once, so its listener is never called.
 *
 * The library drops the context as for `sinew_client_set_listener`.
 */
sinew_status sinew_server_set_listener(const struct sinew_server *server,
                                       sinew_listener callback,
                                       void *context,
                                       sinew_drop drop_context);

/**
 * Removes the listener.
 */
sinew_status sinew_server_clear_listener(const struct sinew_server *server);

/**
 * Gets a server's counters. The caller sets the `size`.
 */
sinew_status sinew_server_read_statistics(const struct sinew_server *server,
                                          struct sinew_server_statistics *statistics);

/**
 * Gets a place for the response in the server's pool, for a placement `new`. Once the pool is
 * warm, allocates nothing.
 */
sinew_status sinew_responder_uninit_response(const struct sinew_responder *responder,
                                             struct sinew_uninit_message **uninit);

/**
 * Answers a request, on any thread. Takes over the responder and the response, also if it fails;
 * but if `response` is null, the responder can still be used.
 *
 * A response with other references is copied, if its type can; one in encoded form is decoded.
 * Fails with `SINEW_ERROR_RESPONSE_UNCLAIMED` if no caller waits any more. If the response has
 * another type, can't be decoded or copied (`SINEW_ERROR_OTHER_TYPE`, `SINEW_ERROR_UNDECODABLE`,
 * `SINEW_ERROR_NOT_SOLE`), the caller fails with `SINEW_ERROR_REQUEST_DROPPED`.
 */
sinew_status sinew_responder_respond(struct sinew_responder *responder,
                                     struct sinew_message *response);

/**
 * Answers a request with an error: the caller fails with `SINEW_ERROR_CALLBACK_FAILED` and a
 * sentence that contains `text`, in which what is not UTF-8 is replaced. Takes over the responder,
 * unless `text` is null.
 */
sinew_status sinew_responder_fail(struct sinew_responder *responder, const char *text);

/**
 * Returns whether the caller still waits for the answer.
 */
bool sinew_responder_is_awaited(const struct sinew_responder *responder);

/**
 * Frees a responder without an answer: the caller fails with `SINEW_ERROR_REQUEST_DROPPED`. Null
 * is allowed.
 */
void sinew_responder_free(struct sinew_responder *responder);

/**
 * Publishes events of a server's requests and responses on the hidden topic
 * `<service>/_service_event`, with this QoS (null: the default one), in place of the former
 * setting. Their type is that which ROS 2 derives from the service's, `package/srv/Name_Event`:
 * `ros2 service echo` and `sinew topic echo` read them.
 *
 * Fails with `SINEW_ERROR_NO_ROS_TYPE` if the service has no ROS 2 type, or its description is
 * unknown: each message type needs one, or the service's is given to
 * `sinew_service_type_described`. Fails with `SINEW_ERROR_INVALID_QOS`, `SINEW_ERROR_SHUTDOWN`.
 */
sinew_status sinew_server_configure_introspection(const struct sinew_server *server,
                                                  sinew_service_introspection state,
                                                  const struct sinew_qos *qos);

/**
 * Publishes events of a server with requests that are taken by hand; as
 * `sinew_server_configure_introspection`. A request counts as received when it arrives.
 */
sinew_status sinew_pulled_server_configure_introspection(const struct sinew_pulled_server *server,
                                                         sinew_service_introspection state,
                                                         const struct sinew_qos *qos);

/**
 * Publishes events of a client; as `sinew_server_configure_introspection`. A request counts as
 * sent just before it is sent, a response as received when it arrives.
 */
sinew_status sinew_client_configure_introspection(const struct sinew_client *client,
                                                  sinew_service_introspection state,
                                                  const struct sinew_qos *qos);

/**
 * Gets the types of a service from those of its messages.
 *
 * `name` (`package/srv/Name`) and `hash` (`RIHS01_` and 64 digits) are those of ROS 2, by which
 * clients and servers in other processes and of other languages match. Both may be null: then the
 * types of request and response decide.
 *
 * Fails with `SINEW_ERROR_INVALID_TYPE_NAME`, `SINEW_ERROR_INVALID_TYPE_HASH`, or
 * `SINEW_ERROR_TOO_MANY_TYPES` (each name and hash costs memory that is never freed; a process can
 * know 4096 of them).
 */
sinew_status sinew_service_type_new(const char *name,
                                    const char *hash,
                                    const struct sinew_message_type *request,
                                    const struct sinew_message_type *response,
                                    const struct sinew_service_type **service_type);

/**
 * Gets the types of a service that is known by name and hash only: its requests and responses
 * exist in encoded form only. Arguments and failures are those of `sinew_service_type_new`, but
 * `name` and `hash` must not be null.
 */
sinew_status sinew_service_type_known(const char *name,
                                      const char *hash,
                                      const struct sinew_service_type **service_type);

/**
 * Gets the types of the service with this description, as ROS 2's JSON text, and with its name and
 * hash. Otherwise as `sinew_service_type_known`, but its clients and servers can publish events:
 * see `sinew_server_configure_introspection`.
 */
sinew_status sinew_service_type_described(const char *description,
                                          const struct sinew_service_type **service_type);

/**
 * Returns the service's ROS 2 name, `package/srv/Name`; null if it has none.
 */
const char *sinew_service_type_name(const struct sinew_service_type *service_type);

/**
 * Returns the service's hash, `RIHS01_..`; null if it has none.
 */
const char *sinew_service_type_hash(const struct sinew_service_type *service_type);

/**
 * Returns the type of the requests.
 */
const struct sinew_message_type *sinew_service_type_request(const struct sinew_service_type *service_type);

/**
 * Returns the type of the responses.
 */
const struct sinew_message_type *sinew_service_type_response(const struct sinew_service_type *service_type);

/**
 * Has signals shut down the contexts of the process with `interrupts`; a second one ends the
 * process. Changes nothing if handlers are installed already: the first context with `interrupts`
 * does that. `*installed`, which may be null, is whether this call did.
 */
sinew_status sinew_signals_install(sinew_signals signals, bool *installed);

/**
 * Gives the signals back the effect that they had before the handlers were installed. Returns
 * whether there were any.
 */
bool sinew_signals_uninstall(void);

/**
 * Returns the signals with handlers: `SINEW_SIGNALS_ALL`, `_INT`, `_TERM` or `_NONE`.
 */
sinew_signals sinew_signals_installed(void);

/**
 * Returns the sentence of this thread's last failure, in English, or an empty text: what failed,
 * where, the limit and the remedy. It is never null, and valid until the thread's next failure.
 */
const char *sinew_error_message(void);

/**
 * Sets this thread's last failure, for a callback that is about to return `status`, and for
 * bindings of other languages. `payload` goes with it, for example an exception: where the failure
 * of the callback becomes that of a function, such as `sinew_executor_spin`,
 * `sinew_error_payload` returns it. `text` is copied and should be UTF-8. `drop_payload` is called
 * once, on any thread, when no failure has the payload any more; both may be null.
 */
void sinew_error_set(sinew_status status, const char *text, void *payload, sinew_drop drop_payload);

/**
 * Returns what went with this thread's last failure, or null. It belongs to the failure: it is
 * valid until the thread's next one.
 */
void *sinew_error_payload(void);

/**
 * Returns the meaning of a status in one sentence, in English, for example "It did not happen in
 * time.". The text is never null and lives as long as the process.
 */
const char *sinew_status_meaning(sinew_status status);

/**
 * Frees a list; null is allowed.
 */
void sinew_strings_free(struct sinew_strings *strings);

/**
 * Returns the number of texts.
 */
size_t sinew_strings_length(const struct sinew_strings *strings);

/**
 * Returns one of the texts, counted from 0. It lives as long as the list.
 */
const char *sinew_strings_at(const struct sinew_strings *strings, size_t index);

/**
 * Makes a subscription from which messages are taken by hand. When this returns, it has matched
 * the existing publishers, and has the messages that they retain for late joiners.
 *
 * `options` may be null. The caller frees `*subscription` with `sinew_subscription_free`; it keeps
 * its node. Fails with `SINEW_ERROR_NO_CLONE` if it should own its messages and the type has no
 * `clone`.
 */
sinew_status sinew_subscription_new(const struct sinew_node *node,
                                    const char *topic,
                                    const struct sinew_message_type *message_type,
                                    const struct sinew_subscription_options *options,
                                    struct sinew_subscription **subscription);

/**
 * Makes a subscription with a callback that an executor runs for each message; see
 * `sinew_subscription_callback`. `drop_context` is called when the library needs the context no
 * more, also if this fails. The rest is as of `sinew_subscription_new`.
 */
sinew_status sinew_subscription_new_with_callback(const struct sinew_node *node,
                                                  const char *topic,
                                                  const struct sinew_message_type *message_type,
                                                  const struct sinew_subscription_options *options,
                                                  sinew_subscription_callback callback,
                                                  void *context,
                                                  sinew_drop drop_context,
                                                  struct sinew_subscription **subscription);

/**
 * Frees a subscription; null is allowed. A callback may free its own: it finishes, and its context
 * is dropped afterwards. Waits for nothing; see `sinew_subscription_close`.
 */
void sinew_subscription_free(struct sinew_subscription *subscription);

/**
 * Ends the subscription, and waits until its callback, if it is running on another thread, has
 * returned. The handle is still to be freed.
 */
sinew_status sinew_subscription_close(const struct sinew_subscription *subscription);

/**
 * Returns whether it was closed.
 */
bool sinew_subscription_is_closed(const struct sinew_subscription *subscription);

/**
 * Takes the oldest message that has not been taken yet. Never blocks. If there is none, `*message`
 * is null. `info` may be null; otherwise the caller sets its `size`.
 *
 * A subscription that owns its messages gets the only reference; one that accepts encoded messages
 * may get one in encoded form; any other gets a value that others may be reading, too.
 */
sinew_status sinew_subscription_take(const struct sinew_subscription *subscription,
                                     struct sinew_message **message,
                                     struct sinew_message_info *info);

/**
 * Sets a listener that is called with the number of new messages: with 1 for each that arrives,
 * and at once with the number of those that wait. It replaces the former one; `drop_context` is
 * called when it is replaced or cleared, also if this fails. For other event loops: it wakes them,
 * and they take the messages.
 */
sinew_status sinew_subscription_set_listener(const struct sinew_subscription *subscription,
                                             sinew_listener callback,
                                             void *context,
                                             sinew_drop drop_context);

/**
 * Removes the listener. It may still be running on another thread, or be called there for messages
 * that are just arriving.
 */
sinew_status sinew_subscription_clear_listener(const struct sinew_subscription *subscription);

/**
 * Returns the topic's full name, after remapping. The text lives as long as the handle.
 */
const char *sinew_subscription_topic(const struct sinew_subscription *subscription);

/**
 * Returns the type of its messages.
 */
const struct sinew_message_type *sinew_subscription_message_type(const struct sinew_subscription *subscription);

/**
 * Gets the QoS that it requests: what was left to other ends is chosen. The caller sets the
 * `size`.
 */
sinew_status sinew_subscription_qos(const struct sinew_subscription *subscription,
                                    struct sinew_qos *qos);

/**
 * Returns the number of publishers that match now, in all processes.
 */
size_t sinew_subscription_publisher_count(const struct sinew_subscription *subscription);

/**
 * Waits until at least `count` publishers match. Fails with `SINEW_ERROR_TIMEOUT` after the
 * timeout, or when the context is shut down.
 */
sinew_status sinew_subscription_wait_for_publishers(const struct sinew_subscription *subscription,
                                                    size_t count,
                                                    sinew_duration timeout);

/**
 * Gets its counters. The caller sets the `size`.
 */
sinew_status sinew_subscription_read_statistics(const struct sinew_subscription *subscription,
                                                struct sinew_subscription_statistics *statistics);

/**
 * Makes a buffer. `options` may be null. The caller frees `*buffer` with `sinew_tf_buffer_free`.
 */
sinew_status sinew_tf_buffer_new(const struct sinew_tf_buffer_options *options,
                                 struct sinew_tf_buffer **buffer);

/**
 * Frees a handle to a buffer; null is allowed. Listeners keep their buffer.
 */
void sinew_tf_buffer_free(struct sinew_tf_buffer *buffer);

/**
 * Adds a transform: at its time, or for all times if it is static. `authority` names its source,
 * for diagnostics; null: nothing does.
 *
 * Fails with `SINEW_ERROR_INVALID_FRAME_NAME`, `SINEW_ERROR_FRAME_LOOP` (a frame in itself),
 * `SINEW_ERROR_INVALID_TRANSFORM` (not finite, or no unit quaternion), `SINEW_ERROR_EXTRAPOLATION`
 * (older than what is kept) or `SINEW_ERROR_TOO_MANY_FRAMES`; the buffer is unchanged then.
 */
sinew_status sinew_tf_buffer_set(const struct sinew_tf_buffer *buffer,
                                 const struct sinew_stamped_transform *transform,
                                 bool is_static,
                                 const char *authority);

/**
 * Gets the transform from coordinates in the frame `source` to coordinates in the frame `target`
 * at a time, 0: the latest that all frames between them have. Between two stamps it is
 * interpolated; nothing is extrapolated. `stamp` may be null; otherwise `*stamp` is the time of
 * the transform, 0 if all on the way are static.
 *
 * Waits for it up to `wait_for`: 0 is not at all, negative is for ever. The thread that adds the
 * missing transform ends the wait.
 *
 * Fails with `SINEW_ERROR_UNKNOWN_FRAME`, `SINEW_ERROR_INVALID_FRAME_NAME`,
 * `SINEW_ERROR_NOT_CONNECTED`, `SINEW_ERROR_EXTRAPOLATION` or `SINEW_ERROR_FRAME_LOOP`; the
 * sentence names the frame, link or time that is missing.
 */
sinew_status sinew_tf_buffer_lookup(const struct sinew_tf_buffer *buffer,
                                    const char *target,
                                    const char *source,
                                    sinew_time time,
                                    sinew_duration wait_for,
                                    struct sinew_transform *transform,
                                    sinew_time *stamp);

/**
 * Gets the transform from coordinates in a frame at one time to coordinates in another one at
 * another time, with a third frame at rest: for example the motion of a robot. `stamp` may be
 * null. Fails as `sinew_tf_buffer_lookup`.
 */
sinew_status sinew_tf_buffer_lookup_over_time(const struct sinew_tf_buffer *buffer,
                                              const struct sinew_tf_query *query,
                                              struct sinew_transform *transform,
                                              sinew_time *stamp);

/**
 * Forgets all moving transforms; static ones stay.
 */
sinew_status sinew_tf_buffer_clear(const struct sinew_tf_buffer *buffer);

/**
 * Gets the names of all frames, sorted, and of the frame in which each of them lies, an empty text
 * for the root of a tree. The caller frees both; `parents` may be null.
 */
sinew_status sinew_tf_buffer_frames(const struct sinew_tf_buffer *buffer,
                                    struct sinew_strings **names,
                                    struct sinew_strings **parents);

/**
 * Makes a listener, which subscribes with this node and fills the buffer until it is freed with
 * `sinew_tf_listener_free`. Transforms that the buffer refuses are logged.
 */
sinew_status sinew_tf_listener_new(const struct sinew_tf_buffer *buffer,
                                   const struct sinew_node *node,
                                   struct sinew_tf_listener **listener);

/**
 * Frees a listener; null is allowed. The buffer keeps its transforms.
 */
void sinew_tf_listener_free(struct sinew_tf_listener *listener);

/**
 * Makes a broadcaster of moving frames, or of fixed ones if it is static. The caller frees
 * `*broadcaster` with `sinew_tf_broadcaster_free`.
 */
sinew_status sinew_tf_broadcaster_new(const struct sinew_node *node,
                                      bool is_static,
                                      struct sinew_tf_broadcaster **broadcaster);

/**
 * Frees a broadcaster; null is allowed. Fixed transforms that it sent reach no new listeners.
 */
void sinew_tf_broadcaster_free(struct sinew_tf_broadcaster *broadcaster);

/**
 * Publishes transforms in one message: of a static broadcaster with all that it sent before. Fails
 * as `sinew_publisher_publish`.
 */
sinew_status sinew_tf_broadcaster_send(const struct sinew_tf_broadcaster *broadcaster,
                                       const struct sinew_stamped_transform *transforms,
                                       size_t count);

/**
 * Returns whether `sinew_tf_buffer_lookup` would succeed, after the same wait. If not, the
 * sentence of the thread's last failure says why.
 */
bool sinew_tf_buffer_can_transform(const struct sinew_tf_buffer *buffer,
                                   const char *target,
                                   const char *source,
                                   sinew_time time,
                                   sinew_duration wait_for);

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
 * Registers a type for the life of the process, which can have 4096 of them. The table is copied.
 *
 * If a type is registered under the key, and its name, hash and layout are those of the table,
 * that type is returned and the table is not used; see `sinew_message_type_context`. Without a
 * key, each registration is a type of its own.
 *
 * Fails with `SINEW_ERROR_INVALID_TYPE_TABLE` and others that begin so if parts of the table
 * contradict each other.
 */
sinew_status sinew_message_type_register(const struct sinew_type_table *table,
                                         const struct sinew_message_type **message_type);

/**
 * Returns the context of the table in use; null for a type without a table of C. A caller that
 * registered a type a second time under its key finds another pointer than its own, and may free
 * its own.
 */
void *sinew_message_type_context(const struct sinew_message_type *message_type);

/**
 * Returns the version of the library, for example "0.1.0". Copies of the library in one process
 * return pointers to texts of their own. The text lives as long as the process.
 */
const char *sinew_version(void);

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
 * Removes a context, as `sinew_executor_remove_context`.
 */
bool sinew_wait_set_remove_context(const struct sinew_wait_set *set,
                                   const struct sinew_context *context);

/**
 * Removes a node, as `sinew_executor_remove_context`.
 */
bool sinew_wait_set_remove_node(const struct sinew_wait_set *set, const struct sinew_node *node);

/**
 * Removes a group, as `sinew_executor_remove_context`.
 */
bool sinew_wait_set_remove_group(const struct sinew_wait_set *set, const struct sinew_group *group);

/**
 * Adds a subscription without a callback: the program takes its messages by hand. Fails with
 * `SINEW_ERROR_HAS_CALLBACK` if it has one: a node, group or context adds that.
 */
sinew_status sinew_wait_set_add_subscription(const struct sinew_wait_set *set,
                                             const struct sinew_subscription *subscription);

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
 * Returns whether the entity at an index of the last wait is this subscription.
 */
bool sinew_wait_set_is_subscription(const struct sinew_wait_set *set,
                                    size_t index,
                                    const struct sinew_subscription *subscription);

/**
 * Returns whether the entity at an index of the last wait is this server.
 */
bool sinew_wait_set_is_server(const struct sinew_wait_set *set,
                              size_t index,
                              const struct sinew_server *server);

/**
 * Returns whether the entity at an index of the last wait is this client: a call with a callback
 * has its response.
 */
bool sinew_wait_set_is_client(const struct sinew_wait_set *set,
                              size_t index,
                              const struct sinew_client *client);

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

/*
 * Log lines with a format as of printf: SINEW_INFO(logger, "battery at %f V", volts), with DEBUG,
 * INFO, WARN, ERROR or FATAL. The arguments are evaluated only if the line is logged. Each has
 * three more forms: SINEW_INFO_ONCE logs the first time only, SINEW_INFO_SKIPFIRST each time but
 * the first, and SINEW_INFO_THROTTLE(logger, period, ..) at most once in a period in nanoseconds.
 * Each statement of the program has its own memory.
 */
#if defined(__GNUC__)
__attribute__((format(printf, 6, 7)))
#endif
static inline void
sinew_log_printf(const sinew_logger *logger, sinew_log_level level, const char *file,
                 const char *function, uint32_t line, const char *format, ...)
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
#define SINEW_LOG_IF(logger, level, condition, ...)                                                \
    do {                                                                                           \
        if (sinew_logger_is_enabled((logger), (level)) && (condition)) {                           \
            sinew_log_printf((logger), (level), __FILE__, __func__, __LINE__, __VA_ARGS__);        \
        }                                                                                          \
    } while (0)

#define SINEW_LOG(logger, level, ...) SINEW_LOG_IF(logger, level, true, __VA_ARGS__)

#define SINEW_LOG_ONCE(logger, level, ...)                                                         \
    do {                                                                                           \
        static sinew_log_memory sinew_said = {0};                                                  \
        SINEW_LOG_IF(logger, level, sinew_log_is_first(&sinew_said), __VA_ARGS__);                 \
    } while (0)

#define SINEW_LOG_SKIPFIRST(logger, level, ...)                                                    \
    do {                                                                                           \
        static sinew_log_memory sinew_said = {0};                                                  \
        SINEW_LOG_IF(logger, level, !sinew_log_is_first(&sinew_said), __VA_ARGS__);                \
    } while (0)

#define SINEW_LOG_THROTTLE(logger, level, period, ...)                                             \
    do {                                                                                           \
        static sinew_log_memory sinew_said = {0};                                                  \
        SINEW_LOG_IF(logger, level, sinew_log_is_due((logger), &sinew_said, (period)),             \
                     __VA_ARGS__);                                                                 \
    } while (0)

#define SINEW_DEBUG(logger, ...) SINEW_LOG(logger, SINEW_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define SINEW_DEBUG_ONCE(logger, ...) SINEW_LOG_ONCE(logger, SINEW_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define SINEW_DEBUG_SKIPFIRST(logger, ...) \
    SINEW_LOG_SKIPFIRST(logger, SINEW_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define SINEW_DEBUG_THROTTLE(logger, period, ...) \
    SINEW_LOG_THROTTLE(logger, SINEW_LOG_LEVEL_DEBUG, period, __VA_ARGS__)
#define SINEW_INFO(logger, ...) SINEW_LOG(logger, SINEW_LOG_LEVEL_INFO, __VA_ARGS__)
#define SINEW_INFO_ONCE(logger, ...) SINEW_LOG_ONCE(logger, SINEW_LOG_LEVEL_INFO, __VA_ARGS__)
#define SINEW_INFO_SKIPFIRST(logger, ...) \
    SINEW_LOG_SKIPFIRST(logger, SINEW_LOG_LEVEL_INFO, __VA_ARGS__)
#define SINEW_INFO_THROTTLE(logger, period, ...) \
    SINEW_LOG_THROTTLE(logger, SINEW_LOG_LEVEL_INFO, period, __VA_ARGS__)
#define SINEW_WARN(logger, ...) SINEW_LOG(logger, SINEW_LOG_LEVEL_WARN, __VA_ARGS__)
#define SINEW_WARN_ONCE(logger, ...) SINEW_LOG_ONCE(logger, SINEW_LOG_LEVEL_WARN, __VA_ARGS__)
#define SINEW_WARN_SKIPFIRST(logger, ...) \
    SINEW_LOG_SKIPFIRST(logger, SINEW_LOG_LEVEL_WARN, __VA_ARGS__)
#define SINEW_WARN_THROTTLE(logger, period, ...) \
    SINEW_LOG_THROTTLE(logger, SINEW_LOG_LEVEL_WARN, period, __VA_ARGS__)
#define SINEW_ERROR(logger, ...) SINEW_LOG(logger, SINEW_LOG_LEVEL_ERROR, __VA_ARGS__)
#define SINEW_ERROR_ONCE(logger, ...) SINEW_LOG_ONCE(logger, SINEW_LOG_LEVEL_ERROR, __VA_ARGS__)
#define SINEW_ERROR_SKIPFIRST(logger, ...) \
    SINEW_LOG_SKIPFIRST(logger, SINEW_LOG_LEVEL_ERROR, __VA_ARGS__)
#define SINEW_ERROR_THROTTLE(logger, period, ...) \
    SINEW_LOG_THROTTLE(logger, SINEW_LOG_LEVEL_ERROR, period, __VA_ARGS__)
#define SINEW_FATAL(logger, ...) SINEW_LOG(logger, SINEW_LOG_LEVEL_FATAL, __VA_ARGS__)
#define SINEW_FATAL_ONCE(logger, ...) SINEW_LOG_ONCE(logger, SINEW_LOG_LEVEL_FATAL, __VA_ARGS__)
#define SINEW_FATAL_SKIPFIRST(logger, ...) \
    SINEW_LOG_SKIPFIRST(logger, SINEW_LOG_LEVEL_FATAL, __VA_ARGS__)
#define SINEW_FATAL_THROTTLE(logger, period, ...) \
    SINEW_LOG_THROTTLE(logger, SINEW_LOG_LEVEL_FATAL, period, __VA_ARGS__)

#endif  /* SINEW_H */
