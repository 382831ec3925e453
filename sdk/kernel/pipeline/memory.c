/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#ifdef __wasm__

enum { PAGE_BYTES = 65536 };

extern uint8_t __heap_base;
static uint32_t next;

void *memory_take(uint32_t bytes)
{
    if (next == 0) next = ((uint32_t)&__heap_base + 15) & ~15u;
    uint64_t end = (uint64_t)next + ((bytes + 15u) & ~15u);
    uint64_t there = (uint64_t)__builtin_wasm_memory_size(0) * PAGE_BYTES;
    if (end > there) {
        uint64_t pages = (end - there + PAGE_BYTES - 1) / PAGE_BYTES;
        if (__builtin_wasm_memory_grow(0, (uint32_t)pages) == SIZE_MAX) return 0;
    }
    void *memory = (void *)next;
    next = (uint32_t)end;
    return memory;
}

#else

#include <stdlib.h>

/* For tests, which end soon. */
void *memory_take(uint32_t bytes)
{
    static void *all[1024];
    static uint32_t count;
    return count < 1024 ? all[count++] = malloc(bytes) : 0;
}

#endif

void *memory_grow(const void *before, uint32_t used, uint32_t count, uint32_t size)
{
    uint8_t *after = memory_take(count * size);
    if (!after) __builtin_trap();
    __builtin_memset(after, 0, count * size);
    if (used > 0) __builtin_memcpy(after, before, used * size);
    return after;
}
