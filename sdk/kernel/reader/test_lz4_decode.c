/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks drawn at random, of sequences of every length and distance, against a decoder that follows the block
 * format byte by byte: whole, cut, damaged, and promised another size. Source and target have exactly the
 * slack that is allowed, under the sanitizers.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test_random.h"
#include "lz4_decode.h"

enum { RUNS = 20000, MAX_BLOCK = 1 << 14, MAX_RAW = 1 << 17 };

/* Mostly short, at times around what a nibble or a byte holds. */
static uint32_t random_length(void)
{
    static const uint32_t limits[] = {4, 16, 24, 64, 300, 1200};
    return random_below(limits[random_below(6)]);
}

static uint8_t *put_length(uint8_t *at, uint32_t rest)
{
    for (; rest >= 255; rest -= 255)
        *at++ = 255;
    *at++ = (uint8_t)rest;
    return at;
}

/* A block of some sequences; says how many bytes it yields. */
static uint32_t make_block(uint8_t *block, uint32_t *raw_size)
{
    uint8_t *at = block;
    uint32_t raw = 0;
    for (uint32_t left = random_below(40);; left--) {
        uint32_t literals = random_length(), match = random_length();
        *at++ = (uint8_t)((literals < 15 ? literals : 15) << 4 | (match < 15 ? match : 15));
        if (literals >= 15) at = put_length(at, literals - 15);
        for (uint32_t i = 0; i < literals; i++)
            *at++ = (uint8_t)random_below(256);
        raw += literals;
        if (left == 0 || at - block > MAX_BLOCK / 2 || raw == 0) break;
        uint32_t near = random_below(2) ? 20 : 0xffff, most = raw < near ? raw : near;
        uint32_t distance = 1 + random_below(most);
        *at++ = (uint8_t)distance;
        *at++ = (uint8_t)(distance >> 8);
        if (match >= 15) at = put_length(at, match - 15);
        raw += match + 4;
    }
    *raw_size = raw;
    return (uint32_t)(at - block);
}

static bool plain_length(const uint8_t *block, uint32_t size, uint32_t *at, uint64_t *length)
{
    uint8_t byte;
    if (*length != 15) return true;
    do {
        if (*at >= size) return false;
        byte = block[(*at)++];
        *length += byte;
    } while (byte == 255);
    return true;
}

static bool plain_decompress(const uint8_t *block, uint32_t size, uint8_t *out, uint32_t raw_size)
{
    uint32_t at = 0, done = 0;
    while (at < size) {
        uint8_t token = block[at++];
        uint64_t literals = token >> 4, match = token & 15;
        if (!plain_length(block, size, &at, &literals)) return false;
        if (literals > size - at || literals > raw_size - done) return false;
        for (; literals; literals--)
            out[done++] = block[at++];
        if (at == size) return done == raw_size;
        if (size - at < 2) return false;
        uint32_t distance = (uint32_t)(block[at] | block[at + 1] << 8);
        at += 2;
        if (!plain_length(block, size, &at, &match)) return false;
        match += 4;
        if (distance == 0 || distance > done || match > raw_size - done) return false;
        for (; match; match--, done++)
            out[done] = out[done - distance];
    }
    return false;
}

static bool agrees(const uint8_t *block, uint32_t size, uint32_t raw_size)
{
    uint8_t *source = malloc(size + LZ4_SLACK), *target = malloc(raw_size + LZ4_SLACK);
    uint8_t *expected = malloc(raw_size + 1);
    memcpy(source, block, size);
    memset(source + size, 0xaa, LZ4_SLACK);
    bool good = plain_decompress(block, size, expected, raw_size);
    bool same = lz4_decompress(source, size, target, raw_size) == good;
    if (good) same = same && memcmp(target, expected, raw_size) == 0;
    free(source);
    free(target);
    free(expected);
    return same;
}

int main(void)
{
    static uint8_t block[MAX_BLOCK * 2];
    uint32_t good = 0;
    for (int run = 0; run < RUNS; run++) {
        uint32_t raw_size, size = make_block(block, &raw_size);
        if (raw_size > MAX_RAW) continue;
        static uint8_t out[MAX_RAW + 1];
        good += plain_decompress(block, size, out, raw_size);
        bool same = agrees(block, size, raw_size);
        same = same && agrees(block, random_below(size + 1), raw_size);
        same = same && agrees(block, size, raw_size + random_below(3));
        if (raw_size) same = same && agrees(block, size, random_below(raw_size));
        block[random_below(size)] ^= (uint8_t)(1 + random_below(255));
        same = same && agrees(block, size, raw_size);
        if (same) continue;
        printf("run %d: a block of %u bytes for %u is decoded differently\n", run, size, raw_size);
        return 1;
    }
    if (good < RUNS / 2) {
        printf("only %u of the blocks are valid\n", good);
        return 1;
    }
    printf("lz4_decompress: %d blocks, whole, cut and damaged\n", RUNS);
    return 0;
}
