/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of containers that the pass makes of random segments, whole and damaged, for the sanitizers. What
 * they are is compared with their reference in TypeScript. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "directory.h"
#include "parts.h"
#include "pass.h"
#include "test_segments.h"

enum { OUT_BYTES = 1 << 20, CONTAINER_BYTES = 1 << 16, MAX_PARTS = 16, HEAD_BYTES = 32, ENTRY_BYTES = 8 };

static uint16_t u16_at(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static uint32_t u32_at(const uint8_t *bytes)
{
    return u16_at(bytes) | (uint32_t)u16_at(bytes + 2) << 16;
}

/* The parts of a container in one block of just their size. */
static struct bytes parts_of(const uint8_t *container, uint32_t *count, bool damaged)
{
    *count = u32_at(container + 28);
    assert(*count <= MAX_PARTS);
    struct given_part entries[MAX_PARTS];
    const uint8_t *at = container + HEAD_BYTES + *count * ENTRY_BYTES;
    uint32_t head = *count * (uint32_t)sizeof *entries, size = head;
    for (uint32_t i = 0; i < *count; i++) {
        const uint8_t *entry = container + HEAD_BYTES + i * ENTRY_BYTES;
        entries[i] = (struct given_part){u16_at(entry), u16_at(entry + 2), size, u32_at(entry + 4)};
        size += entries[i].size;
    }
    uint8_t *bytes = malloc(size);
    memcpy(bytes + head, at, size - head);
    for (uint32_t i = 0; damaged && i < *count; i++) {
        struct given_part *part = entries + i;
        if (random_below(4) == 0) part->kind = PART_DROPPED;
        if (part->size && random_below(3) == 0)
            bytes[part->offset + random_below(part->size)] = (uint8_t)random_below(256);
        if (part->size && random_below(6) == 0) part->size = random_below(part->size);
    }
    memcpy(bytes, entries, head);
    return (struct bytes){bytes, size};
}

static uint32_t make_container(const uint32_t *words, uint64_t start, struct bytes *carry, uint8_t *out)
{
    struct bytes checkpoint = random_checkpoint(), frames = random_frames();
    uint32_t scratch = index_scratch_bytes(words, 0);
    struct index_job job = {
        .plan = words,
        .checkpoint = checkpoint.at,
        .checkpoint_size = checkpoint.size,
        .frames = frames.at,
        .frames_size = frames.size,
        .carry = carry->at,
        .carry_size = carry->size,
        .carry_known = CARRY_KNOWN,
        .scratch = malloc(scratch),
        .scratch_size = scratch,
        .out = out,
        .out_size = CONTAINER_BYTES,
        .start = start,
    };
    uint32_t size = index_segment(&job);
    assert(size);
    free(carry->at);
    *carry = copy_of(out + job.carry_at, job.carry_length);
    free(checkpoint.at), free(frames.at), free(job.scratch);
    return size;
}

/* Walks what was put out. */
static uint32_t count_pieces(const struct directory_job *job, uint32_t from, uint32_t lists)
{
    uint32_t count = 0;
    assert(job->made <= job->out_size);
    for (uint32_t at = from; at < job->made; count++) {
        struct made_piece piece;
        assert(job->made - at >= sizeof piece);
        memcpy(&piece, job->out + at, sizeof piece);
        assert(piece.list < lists && piece.level <= 16);
        at += (uint32_t)sizeof piece + (piece.size + 7) / 8 * 8;
        assert(at <= job->made);
    }
    return count;
}

static uint32_t run(const struct test_plan *plan, uint32_t segments, bool damaged, uint32_t room)
{
    const uint32_t *words = (const uint32_t *)(const void *)plan;
    uint64_t step = 60000;
    struct directory_job job = {.plan = words, .out = malloc(room), .out_size = room, .end = segments * step};
    job.scratch_size = directory_scratch_bytes(&job);
    job.scratch = malloc(job.scratch_size);
    directory_open(&job);
    struct bytes carry = {malloc(1), 0};
    uint8_t *container = malloc(CONTAINER_BYTES);
    uint32_t cores = plan->head.cores, lists = plan->head.groups + 2 * cores + 1, pieces = 0, result = 1;
    for (uint32_t i = 0; i < segments && result; i++) {
        make_container(words, i * step, &carry, container);
        struct bytes parts = parts_of(container, &job.num_parts, damaged);
        job.parts = parts.at;
        job.parts_size = parts.size;
        result = directory_add(&job);
        if (result) pieces += count_pieces(&job, cores * 8, lists);
        free(parts.at);
    }
    while (result == 1) {
        result = directory_finish(&job);
        if (result) pieces += count_pieces(&job, 0, lists);
    }
    free(carry.at), free(container), free(job.out), free(job.scratch);
    return pieces;
}

int main(void)
{
    struct test_plan plan = make_plan();
    uint32_t pieces = 0;
    for (uint32_t round = 0; round < 24; round++) {
        uint32_t made = run(&plan, 1 + random_below(40), round % 2 == 1, OUT_BYTES);
        assert(made || round % 2 == 1);
        pieces += made;
        /* Without the room for it nothing is put out. */
        run(&plan, 3, false, random_below(400));
    }
    printf("directory: %u pieces\n", pieces);
    return 0;
}
