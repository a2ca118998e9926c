/* A library needs a source: all of this one's functions come from the static library. */
#include <sinew/sinew.h>
