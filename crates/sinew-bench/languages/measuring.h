/* What the programs of `sinew bench languages` share: the clock, a core of their own, the times they keep,
 * and the line of JSON with which they end. */
#ifndef MEASURING_H
#define MEASURING_H

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/* Ends this process with the one that started it. */
static inline void end_with_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static inline int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Keeps the calling thread on a core. */
static inline void pin_to(int core)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    if (sched_setaffinity(0, sizeof cores, &cores) != 0) perror("sched_setaffinity"), exit(1);
}

/* Times in nanoseconds. If more come than there is room for, the newest replace the oldest. */
struct samples {
    int64_t *values;
    size_t room, recorded;
};

static inline struct samples samples_with_room_for(size_t room)
{
    struct samples samples;
    samples.values = (int64_t *)malloc(room * sizeof *samples.values);
    samples.room = room;
    samples.recorded = 0;
    if (samples.values == NULL) perror("malloc"), exit(1);
    memset(samples.values, 0xFF, room * sizeof *samples.values); /* every page is touched */
    return samples;
}

static inline void record(struct samples *samples, int64_t value)
{
    samples->values[samples->recorded++ % samples->room] = value;
}

/* Ends the measurement. */
static inline void print_measured(const struct samples *samples, uint64_t lost)
{
    const size_t kept = samples->recorded < samples->room ? samples->recorded : samples->room;
    printf("{\"samples\": {\"values\": [");
    for (size_t at = 0; at < kept; at++) printf(at == 0 ? "%lld" : ",%lld", (long long)samples->values[at]);
    printf("], \"recorded\": %llu}, \"lost\": %llu}\n", (unsigned long long)samples->recorded,
           (unsigned long long)lost);
    fflush(stdout);
}

#endif
