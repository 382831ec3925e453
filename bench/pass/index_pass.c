/* The index of recorded segments, made again and again on one thread: what the pass costs by itself.
 *
 * - index_pass FILE RUNS: prints the least and the median time of all segments in one JSON object.
 *
 * FILE has u32 words in the machine's order: words of the plan, its CRC, the plan; then for each segment the
 * two halves of its start in ps, bytes of its checkpoint and of its frames; then both, each up to a multiple
 * of 8.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../sdk/kernel/index/pass.h"
#include "../c/measure.h"

enum { MAX_CONTAINER = 4 << 20, MAX_RUNS = 1000 };

typedef struct {
    const uint32_t *plan;
    uint32_t plan_words, plan_crc;
    const uint8_t *segments, *end;
    uint8_t *scratch, *out;
    uint32_t scratch_size;
} recording_t;

static void fail(const char *why)
{
    fprintf(stderr, "index_pass: %s\n", why);
    exit(1);
}

static void *allocate(size_t size)
{
    void *memory = malloc(size);
    if (!memory) fail("no memory");
    memset(memory, 1, size); /* touched, so that no page is missing when the clock runs */
    return memory;
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) fail("the file cannot be read");
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = allocate(*size);
    if (fread(bytes, 1, *size, file) != *size) fail("the file cannot be read");
    fclose(file);
    return bytes;
}

static recording_t open_recording(const char *path)
{
    size_t size;
    const uint8_t *bytes = read_file(path, &size);
    const uint32_t *words = (const uint32_t *)(const void *)bytes;
    recording_t recording = {.plan = words + 2, .plan_words = words[0], .plan_crc = words[1]};
    recording.segments = (const uint8_t *)(words + 2 + words[0]);
    recording.end = bytes + size;
    recording.scratch_size = index_scratch_bytes(recording.plan, 0);
    if (recording.scratch_size == UINT32_MAX) fail("the schema is too large");
    recording.scratch = allocate(recording.scratch_size);
    recording.out = allocate(MAX_CONTAINER);
    return recording;
}

static uint32_t padded(uint32_t size)
{
    return (size + 7) & ~7u;
}

/* All segments with the carry of the one before; returns the bytes of their containers. */
static uint64_t make_all(const recording_t *recording)
{
    static uint8_t carry[MAX_CONTAINER];
    uint32_t carry_size = 0;
    uint64_t bytes = 0;
    for (const uint8_t *at = recording->segments; at < recording->end;) {
        uint32_t head[4];
        memcpy(head, at, sizeof head);
        const uint8_t *checkpoint = at + sizeof head, *frames = checkpoint + padded(head[2]);
        struct index_job job = {
            .plan = recording->plan,
            .checkpoint = checkpoint,
            .frames = frames,
            .carry = carry,
            .scratch = recording->scratch,
            .out = recording->out,
            .checkpoint_size = head[2],
            .frames_size = head[3],
            .carry_size = carry_size,
            .carry_known = CARRY_KNOWN,
            .scratch_size = recording->scratch_size,
            .out_size = MAX_CONTAINER,
            .plan_crc = recording->plan_crc,
            .start = head[0] | (uint64_t)head[1] << 32,
        };
        uint32_t size = index_segment(&job);
        if (!size) fail("a segment does not follow the schema");
        carry_size = job.carry_length;
        memcpy(carry, recording->out + job.carry_at, carry_size);
        bytes += size;
        at = frames + padded(head[3]);
    }
    return bytes;
}

int main(int argc, char **argv)
{
    if (argc != 3) fail("arguments: FILE RUNS");
    recording_t recording = open_recording(argv[1]);
    uint32_t runs = (uint32_t)strtoul(argv[2], NULL, 10);
    if (runs < 1 || runs > MAX_RUNS) fail("RUNS is from 1 to 1000");
    double times[MAX_RUNS];
    uint64_t bytes = 0;
    for (uint32_t run = 0; run < runs; run++) {
        uint64_t start = thread_ns();
        bytes = make_all(&recording);
        times[run] = (double)(thread_ns() - start);
    }
    qsort(times, runs, sizeof *times, by_double);
    printf("{\"ns_min\": %.0f, \"ns_median\": %.0f, \"container_bytes\": %lu}\n", times[0], times[runs / 2],
           (unsigned long)bytes);
    return 0;
}
