/* A second process of a test program: the program itself, with the name of its role. */
#ifndef PROCESS_H
#define PROCESS_H

#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static inline pid_t start(char *program, const char *role)
{
    pid_t pid = 0;
    char second[32];
    CHECK(strlen(role) < sizeof second);
    strcpy(second, role);
    char *const arguments[] = {program, second, NULL};
    CHECK(posix_spawn(&pid, program, NULL, NULL, arguments, environ) == 0);
    return pid;
}

/* Waits for its end, and returns its exit code, or minus the signal that ended it. */
static inline int ended(pid_t pid)
{
    int how = 0;
    CHECK(waitpid(pid, &how, 0) == pid);
    return WIFEXITED(how) ? WEXITSTATUS(how) : -WTERMSIG(how);
}

#endif
