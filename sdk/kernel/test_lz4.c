/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the compressor writes is decoded here by the rules of the LZ4 block format, strictly, and must be what
 * went in; natively under the sanitizers, in memory of exactly the promised size. Other decoders read it in
 * sdk/src/writer/compression/compression-pool.test.ts.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lz4.h"
#include "test_random.h"

enum { RUNS = 3000, MAX_SIZE = 200000 };

static uint32_t length(const uint8_t **at, uint32_t nibble)
{
    uint32_t sum = nibble;
    for (uint8_t byte = 255; nibble == 15 && byte == 255; sum += byte)
        byte = *(*at)++;
    return sum;
}

/* True when the block decodes to exactly these bytes and keeps the rules for its end. */
static bool decodes_to(const uint8_t *block, uint32_t block_size, const uint8_t *expected, uint32_t size)
{
    uint8_t *out = malloc(size + 1);
    const uint8_t *at = block, *end = block + block_size;
    uint32_t done = 0, last_match = 0;
    bool good = false;
    while (at < end) {
        uint8_t token = *at++;
        uint32_t literals = length(&at, token >> 4);
        if (literals > size - done || literals > (uint32_t)(end - at)) break;
        memcpy(out + done, at, literals);
        done += literals;
        at += literals;
        if (at == end) {
            good = done == size && (!last_match || (literals >= 5 && size - last_match >= 12));
            break;
        }
        uint32_t offset = (uint32_t)(at[0] | at[1] << 8);
        at += 2;
        uint32_t match = length(&at, token & 15) + 4;
        if (offset == 0 || offset > done || match > size - done) break;
        last_match = done;
        for (; match; match--, done++)
            out[done] = out[done - offset];
    }
    good = good && memcmp(out, expected, size) == 0;
    free(out);
    return good;
}

/* Anything from noise to long repetitions that differ in some bytes here and there, with matches near and
 * far. */
static void fill(uint8_t *bytes, uint32_t size)
{
    uint32_t period = 1 + random_below(random_below(2) ? 300 : 70000), noise = random_below(40);
    uint32_t letters = random_below(3) ? 4 : 256, longest = 1 + random_below(6), left = 0;
    for (uint32_t i = 0; i < size; i++) {
        if (left == 0 && noise && !random_below(noise)) left = 1 + random_below(longest);
        bool repeats = i >= period && left == 0;
        bytes[i] = repeats ? bytes[i - period] : (uint8_t)random_below(letters);
        left -= left > 0;
    }
}

enum { RECORD = 100, RECORDS = 1000, PLACES = 4 };

/* Records like the one before but for `gap` random bytes at four places; few bytes repeat by chance. */
static uint32_t size_of_records(uint16_t *table, uint32_t gap)
{
    uint32_t size = RECORD * RECORDS;
    uint8_t *source = malloc(size + LZ4_SLACK), *target = malloc(lz4_bound(size) + LZ4_SLACK);
    for (uint32_t i = 0; i < size; i++) {
        bool differs = i < RECORD || i % (RECORD / PLACES) < gap;
        source[i] = differs ? (uint8_t)random_below(256) : source[i - RECORD];
    }
    uint32_t block = lz4_compress(table, source, size, target);
    if (!decodes_to(target, block, source, size)) block = size;
    free(source);
    free(target);
    return block;
}

/* After one to four bytes that differ the match continues: a token, an offset, a longer length at most. */
static uint32_t count_unresumed(uint16_t *table)
{
    uint32_t failed = 0;
    for (uint32_t gap = 1; gap <= 4; gap++) {
        uint32_t block = size_of_records(table, gap), most = (RECORDS * PLACES + 15) * (4 + gap);
        failed += block > most;
        printf("records that differ by 4 x %u bytes: %u, at most %u\n", gap, block, most);
    }
    return failed;
}

struct writer {
    uint8_t *bytes;
    uint32_t size, capacity;
};

static void put_byte(struct writer *to, uint32_t byte)
{
    if (to->size < to->capacity) to->bytes[to->size++] = (uint8_t)byte;
}

static void put_number(struct writer *to, uint64_t number, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        put_byte(to, (uint32_t)(number >> (8 * i)) & 255);
}

/* An item of a frame (docs/format.md#interleaved-frames): ops of a slot whose value is often the same number,
 * events of an entity. */
static void put_item(struct writer *to, uint32_t entity)
{
    uint32_t kind = random_below(8), field = random_below(4);
    if (kind < 4) {
        put_number(to, 3, 4); /* tag and type */
        put_number(to, 5, 4);
        put_number(to, entity, 4);
        put_byte(to, random_below(8));
    } else if (kind < 7) {
        put_number(to, 0x0101 | (uint64_t)random_below(3) << 16, 4);
        put_number(to, entity % 512, 2);
        put_number(to, field, 2);
        put_number(to, field == 0 ? entity : random_below(field == 1 ? 16 : 1u << 30), 8);
    } else {
        put_number(to, 0x0102 | random_below(3) << 16, 3);
        put_number(to, entity % 512, 2);
        put_number(to, field, 2);
        put_number(to, random_below(4), 2);
    }
}

/* Frames of items, of which some end early or have a byte changed when `broken`. */
static void fill_trace(struct writer *to, bool broken)
{
    uint32_t entity = random_below(100000), window = 1 + random_below(20);
    while (to->size < to->capacity) {
        uint32_t items = random_below(30);
        put_number(to, 0x07e8, 2);
        put_number(to, items, 2);
        for (uint32_t i = 0; i < items; i++) {
            uint32_t begin = to->size;
            put_item(to, entity - random_below(window));
            if (!broken || random_below(20)) continue;
            to->size -= random_below(to->size - begin + 1);
            if (to->size) to->bytes[random_below(to->size)] ^= 1;
        }
        entity += random_below(3);
    }
}

enum { TRACES = 400, TRACE_SHARE = 2 };

/* Whole traces become less than half of their bytes; broken ones are right as well. */
static uint32_t count_wrong_traces(uint16_t *table)
{
    uint32_t failed = 0;
    uint64_t before = 0, after = 0;
    for (uint32_t i = 0; i < TRACES; i++) {
        bool broken = i % 2;
        uint32_t size = 1 + random_below(MAX_SIZE);
        uint8_t *source = malloc(size + LZ4_SLACK), *target = malloc(lz4_bound(size) + LZ4_SLACK);
        fill_trace(&(struct writer){source, 0, size}, broken);
        uint32_t block = lz4_compress(table, source, size, target);
        failed += block > lz4_bound(size) || !decodes_to(target, block, source, size);
        before += broken ? 0 : size;
        after += broken ? 0 : block;
        free(source);
        free(target);
    }
    printf("%d traces, %u wrong: %llu bytes became %llu\n", TRACES, failed, (unsigned long long)before,
           (unsigned long long)after);
    return failed + (after * TRACE_SHARE > before);
}

int main(void)
{
    uint16_t *table = malloc(LZ4_TABLE_BYTES);
    uint32_t failed = 0;
    uint64_t before = 0, after = 0;
    for (uint32_t i = 0; i < RUNS; i++) {
        uint32_t size = i < 64 ? i : random_below(i % 8 ? 2000 : MAX_SIZE);
        uint8_t *source = malloc(size + LZ4_SLACK), *target = malloc(lz4_bound(size) + LZ4_SLACK);
        fill(source, size);
        uint32_t block = lz4_compress(table, source, size, target);
        failed += block > lz4_bound(size) || !decodes_to(target, block, source, size);
        before += size;
        after += block;
        free(source);
        free(target);
    }
    printf("%d blocks, %u wrong: %llu bytes became %llu\n", RUNS, failed, (unsigned long long)before,
           (unsigned long long)after);
    uint32_t unresumed = count_unresumed(table);
    uint32_t traces = count_wrong_traces(table);
    printf("%d tests, %d failed\n", 3, (failed != 0) + (unresumed != 0) + (traces != 0));
    free(table);
    return failed || unresumed || traces;
}
