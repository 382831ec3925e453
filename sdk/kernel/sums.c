/* SPDX-License-Identifier: Apache-2.0 */
/* The sums as the writer's plain path feeds them, op by op. */
#include "frame_run.h"

#ifdef __wasm__ /* what frame-kernel.ts and kernel-sums.ts know of these structures */
_Static_assert(sizeof(struct run) == 28 * 4 && sizeof(struct sum) == 20 * 4, "words");
_Static_assert(sizeof(struct storage) == 10 * 4 && sizeof(struct op) == 14 * 4, "words of the tables' rows");
_Static_assert(__builtin_offsetof(struct run, end) == 10 * 4 &&
                   __builtin_offsetof(struct run, grid) == 22 * 4,
               "order");
_Static_assert(__builtin_offsetof(struct sum, bucket_end) == 10 * 4, "order");
#endif

void sums_add(struct run *r, uint32_t source, uint32_t lo, uint32_t hi)
{
    sums_add_to(&r->sums, source, (uint64_t)hi << 32 | lo);
}

void sums_end_frame(struct run *r, uint32_t lo, uint32_t hi)
{
    sums_end(&r->sums, (uint64_t)hi << 32 | lo);
}

void sums_abort_frame(struct run *r)
{
    sums_drop(&r->sums);
}

void sums_close(struct run *r)
{
    for (uint32_t source = 0; source < r->sums.length; source++) {
        close_cycle(r->sums.sum + source, source);
        close_bucket(r->sums.sum + source, source);
    }
}
