/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that compress blocks (../lz4.h) and do other work, begun in the order in which it is handed over.
 */
#ifndef USCOPE_POOL_H
#define USCOPE_POOL_H

#include <stdint.h>

/* One block; the caller keeps it, and all it points to, until it is done. */
struct block {
    uint16_t *table; /* LZ4_TABLE_BYTES */
    const uint8_t *source;
    uint8_t *target;
    uint32_t size;   /* bytes at `source` */
    uint32_t prefix; /* bytes in front of `target` that the checksum is to include */
    uint32_t number; /* the caller's own */
    /* results */
    uint32_t length;   /* bytes at `target` */
    uint32_t checksum; /* CRC-32 of prefix and block */
    struct block *next;
    /* Other work than compressing it, and how it is freed; NULL: neither. */
    void (*work)(struct block *block);
    void (*drop)(struct block *block);
};

struct pool;

/* Called on a thread of the pool. */
typedef void block_done(void *receiver, struct block *block);

/* NULL: no memory, or not one thread could be started. Fewer than asked for are no error. */
struct pool *pool_open(uint32_t threads, block_done *done, void *receiver);
void pool_submit(struct pool *pool, struct block *block);
/* Waits for what is being compressed. Returns what nobody has begun, as a list: it will not be done. */
struct block *pool_close(struct pool *pool);

#endif
