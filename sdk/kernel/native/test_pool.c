/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks handed to threads: each is compressed once, and a pool that is closed gives back what it has not
 * begun. */
#include "pool.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lz4.h"
#include "../test_random.h"
#include "crc32.h"

enum { BLOCKS = 40, MOST = 50000, PREFIX = 4 };

struct work {
    struct block block;
    uint16_t table[LZ4_TABLE_BYTES / 2];
    uint8_t source[MOST + LZ4_SLACK];
    uint8_t target[PREFIX + MOST + MOST / 255 + 16 + LZ4_SLACK];
    int done;
};

static struct work works[BLOCKS];
static int written[2];

static void fill(struct work *work, uint32_t number)
{
    memset(work, 0, sizeof *work);
    uint32_t size = random_below(MOST);
    for (uint32_t i = 0; i < size; i++)
        work->source[i] = (uint8_t)(random_below(9) ? i / 7 : random_below(256));
    memcpy(work->target, &size, PREFIX);
    work->block = (struct block){
        .table = work->table,
        .source = work->source,
        .target = work->target + PREFIX,
        .size = size,
        .prefix = PREFIX,
        .number = number,
    };
}

/* Through a pipe, because the threads of the pool share only that with this one. */
static void note_done(void *receiver, struct block *block)
{
    if (write(*(int *)receiver, &block->number, sizeof block->number) != sizeof block->number) abort();
}

static bool wait_for_one(void)
{
    uint32_t number;
    if (read(written[0], &number, sizeof number) != sizeof number) return false;
    works[number].done++;
    return true;
}

static bool is_right(const struct work *work)
{
    static uint16_t table[LZ4_TABLE_BYTES / 2];
    static uint8_t target[MOST + MOST / 255 + 16 + LZ4_SLACK];
    const struct block *block = &work->block;
    uint32_t length = lz4_compress(table, work->source, block->size, target);
    return work->done == 1 && block->length == length && memcmp(block->target, target, length) == 0 &&
           block->checksum == crc32_of(work->target, PREFIX + length);
}

static bool compresses_each_once(uint32_t threads)
{
    struct pool *pool = pool_open(threads, note_done, &written[1]);
    if (!pool) return false;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        fill(works + i, i);
        pool_submit(pool, &works[i].block);
        /* Now and then until it has nothing left to do. */
        while (i % 9 == 8 && works[i].done == 0)
            if (!wait_for_one()) return false;
    }
    int open = 0;
    for (uint32_t i = 0; i < BLOCKS; i++)
        open += works[i].done == 0;
    while (open--)
        if (!wait_for_one()) return false;
    bool good = pool_close(pool) == NULL;
    for (uint32_t i = 0; i < BLOCKS; i++)
        good = good && is_right(works + i);
    return good;
}

static bool gives_back_what_is_not_begun(void)
{
    struct pool *pool = pool_open(1, note_done, &written[1]);
    if (!pool) return false;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        fill(works + i, i);
        pool_submit(pool, &works[i].block);
    }
    int rest = 0;
    for (struct block *block = pool_close(pool); block; block = block->next, rest++)
        if (works[block->number].done++) return false;
    for (int i = rest; i < BLOCKS; i++)
        if (!wait_for_one()) return false;
    for (uint32_t i = 0; i < BLOCKS; i++)
        if (works[i].done != 1) return false;
    return true;
}

int main(void)
{
    if (pipe(written)) return 1;
    bool results[] = {compresses_each_once(1), compresses_each_once(3), gives_back_what_is_not_begun()};
    const char *const names[] = {"one thread", "three threads", "closed before its time"};
    int failed = 0, count = sizeof results / sizeof *results;
    for (int i = 0; i < count; i++) {
        printf("%s %s\n", results[i] ? "ok  " : "FAIL", names[i]);
        failed += !results[i];
    }
    printf("%d tests, %d failed\n", count, failed);
    return failed != 0;
}
