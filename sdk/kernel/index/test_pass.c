/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of random items, whole and damaged, for the sanitizers. What the pass makes is compared with its
 * reference in TypeScript. */
#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "pass.h"
#include "test_segments.h"

enum { OUT_BYTES = 1 << 14 };

static void damage(struct bytes *bytes)
{
    if (bytes->size && random_below(2)) bytes->at[random_below(bytes->size)] = (uint8_t)random_below(256);
    if (bytes->size && random_below(3) == 0) {
        struct bytes cut = copy_of(bytes->at, random_below(bytes->size));
        free(bytes->at);
        *bytes = cut;
    }
}

/* Allocated once, exactly: to have the system clear so much for each run took nine tenths of the test. */
static uint8_t *scratch_of(uint32_t strange, uint32_t size)
{
    static uint8_t *made[2];
    if (!made[strange]) made[strange] = malloc(size);
    return made[strange];
}

static uint32_t run(const struct test_plan *plan, uint64_t start, struct bytes *carry, bool damaged,
                    uint32_t room)
{
    struct bytes parts[] = {random_checkpoint(), random_frames(), *carry};
    if (damaged) damage(parts + random_below(3));
    const uint32_t *words = (const uint32_t *)(const void *)plan;
    uint32_t strange = random_below(2), scratch = index_scratch_bytes(words, strange);
    struct index_job job = {
        .plan = words,
        .checkpoint = parts[0].at,
        .checkpoint_size = parts[0].size,
        .frames = parts[1].at,
        .frames_size = parts[1].size,
        .carry = parts[2].at,
        .carry_size = parts[2].size,
        .carry_known = random_below(4) ? CARRY_KNOWN : CARRY_UNKNOWN,
        .scratch = scratch_of(strange, scratch),
        .scratch_size = scratch,
        .out = malloc(room ? room : 1),
        .out_size = room,
        .strange_slots = strange,
        .start = start,
    };
    uint32_t size = index_segment(&job);
    assert(size <= room && size % 8 == 0);
    *carry = parts[2];
    if (size) {
        assert(job.carry_at + job.carry_length <= size);
        *carry = copy_of(job.out + job.carry_at, job.carry_length);
        free(parts[2].at);
    }
    free(parts[0].at), free(parts[1].at), free(job.out);
    return size;
}

int main(void)
{
    struct test_plan plan = make_plan();
    uint32_t made = 0;
    for (uint32_t round = 0; round < 500; round++) {
        struct bytes carry = {malloc(1), 0};
        for (uint32_t segment = 0; segment < 4; segment++) {
            uint32_t size = run(&plan, segment * 6000, &carry, round % 2 == 1, OUT_BYTES);
            assert(size || round % 2 == 1);
            made += size != 0;
            /* Without the room for it there is none. */
            run(&plan, segment * 6000, &carry, false, random_below(200));
        }
        free(carry.at);
    }
    printf("index: %u containers\n", made);
    return 0;
}
