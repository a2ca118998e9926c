/* How programs end: by a signal, by exit() while executors run, and what a forked child can do. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static sinew_context *context;
static sinew_node *node;
static sinew_executor *executor;

static void open_all(size_t threads)
{
    const sinew_context_options options = {.size = sizeof options, .interrupts = SINEW_YES};
    OK(sinew_context_new(&options, &context));
    OK(sinew_node_new(context, "ending", NULL, &node));
    const sinew_executor_options several = {.size = sizeof several, .threads = threads};
    OK(sinew_executor_new(&several, &executor));
    OK(sinew_executor_add_context(executor, context));
}

static void close_all(void)
{
    sinew_executor_free(executor);
    sinew_node_free(node);
    sinew_context_free(context);
}

static sinew_status interrupt(void *unused)
{
    (void)unused;
    CHECK(kill(getpid(), SIGINT) == 0);
    return SINEW_OK;
}

/* Ctrl-C ends a spin. */
static void interrupted(size_t threads)
{
    open_all(threads);
    OK(sinew_node_post(node, interrupt, NULL, NULL));
    OK(sinew_executor_spin(executor));
    CHECK(!sinew_context_is_valid(context));
    close_all();
}

static sinew_status leave(void *unused)
{
    (void)unused;
    exit(7); /* while this and other threads of the executor run */
}

static sinew_status again(void *unused)
{
    (void)unused;
    return sinew_node_post(node, again, NULL, NULL);
}

static sinew_status meet(void *barrier)
{
    const int met = pthread_barrier_wait(barrier);
    CHECK(met == 0 || met == PTHREAD_BARRIER_SERIAL_THREAD);
    return SINEW_OK;
}

static void *spin(void *unused)
{
    (void)unused;
    OK(sinew_executor_spin(executor));
    return NULL;
}

/* main returns while an executor is busy on other threads. */
static void left_behind(void)
{
    open_all(3);
    static pthread_barrier_t barrier;
    CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
    OK(sinew_node_post(node, meet, &barrier, NULL));
    OK(sinew_node_post(node, again, NULL, NULL));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, spin, NULL) == 0);
    OK(meet(&barrier));
}

/* Returns how a child ended: its exit code. */
static int ended(pid_t child)
{
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int run(const char *program, char *mode)
{
    char name[] = "processes";
    char *const arguments[] = {name, mode, NULL};
    pid_t child = 0;
    CHECK(posix_spawn(&child, program, NULL, NULL, arguments, environ) == 0);
    return ended(child);
}

static sinew_status count(void *calls)
{
    ++*(int *)calls;
    return SINEW_OK;
}

/* A child without exec: it has no part in the domain, and its parent doesn't notice it. */
static void forked(void)
{
    open_all(1);
    int calls = 0;
    OK(sinew_node_post(node, count, &calls, NULL));
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sinew_node *other = NULL;
        FAILS(sinew_node_new(context, "child", NULL, &other), SINEW_ERROR_PARTICIPANT_LEFT, "fork");
        OK(sinew_context_shutdown(context));
        _exit(3);
    }
    CHECK(ended(child) == 3);
    OK(sinew_executor_spin_all(executor, -1, NULL));
    CHECK(calls == 1);
    sinew_node *second = NULL;
    OK(sinew_node_new(context, "second", NULL, &second));
    sinew_node_free(second);
    close_all();
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        switch (argv[1][0]) {
        case 's':
            interrupted(1);
            return 5;
        case 'm':
            interrupted(3);
            return 6;
        case 'e':
            open_all(3);
            OK(sinew_node_post(node, leave, NULL, NULL));
            OK(sinew_executor_spin(executor));
            return 1;
        case 'l':
            left_behind();
            return 8;
        default:
            return 1;
        }
    }
    char single[] = "single", multi[] = "multi", leaving[] = "exit", left[] = "left";
    CHECK(run(argv[0], single) == 5);
    CHECK(run(argv[0], multi) == 6);
    CHECK(run(argv[0], leaving) == 7);
    CHECK(run(argv[0], left) == 8);
    forked();
    return 0;
}
