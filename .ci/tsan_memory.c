/* What a library of Rust calls of ThreadSanitizer's runtime, and gcc 12's runtime doesn't have. The functions of the C
 * library are those that the runtime watches. */
#include <string.h>

void *__tsan_memcpy(void *to, const void *from, size_t length) { return memcpy(to, from, length); }
void *__tsan_memmove(void *to, const void *from, size_t length) { return memmove(to, from, length); }
void *__tsan_memset(void *to, int byte, size_t length) { return memset(to, byte, length); }
