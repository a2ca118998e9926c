/* Another copy of the library in this process, for the test programs. */
#ifndef OTHER_H
#define OTHER_H

#include "../check.h"
#include <dlfcn.h>

/* The function of the copy `other`. */
#define OTHER(name)                                                                                   \
    __typeof__(&name) other_##name;                                                                   \
    find(other, #name, &other_##name)

static inline void find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    CHECK(symbol != NULL);
    memcpy(function, &symbol, sizeof symbol);
}

static inline void *other_copy(void)
{
    void *other = dlopen(getenv("COPY"), RTLD_NOW | RTLD_LOCAL);
    CHECK(other != NULL);
    return other;
}

#endif
