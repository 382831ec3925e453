/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chunk memory of one trace: allocated whole at open, so that tracing never asks for memory. For local
 * endpoints it is a file in shared memory (docs/reference/bridge-protocol.md#memory-of-a-local-client), from
 * which the last cycles can be drained when this process dies.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/pool.h"

enum {
    PAGE = 4096,
    MIN_CHUNK = MAX_CHUNK / 8,
};

/** First bytes of the region, docs/reference/bridge-protocol.md#memory-of-a-local-client. */
struct control_page {
    uint32_t magic, layout_version;
    uint8_t session[16], run[16];
    uint32_t core, pid;
    uint64_t process_start;
    uint32_t chunk_size, num_chunks;
    uint64_t chunks_offset;
    uint32_t entry_size, entries_offset;
    _Atomic uint64_t durable_frames;
    _Atomic uint64_t unrecorded_frames;
    char name[208];
};
_Static_assert(sizeof(struct control_page) <= MEMORY_CONTROL_BYTES, "control page");
_Static_assert(offsetof(struct control_page, durable_frames) == 80, "as documented");
_Static_assert(offsetof(struct control_page, unrecorded_frames) == 88, "as documented");
_Static_assert(offsetof(struct control_page, name) == 96, "as documented");
_Static_assert(sizeof(struct uscopei_chunk_entry) == MEMORY_ENTRY_BYTES, "one cache line per chunk");
_Static_assert(offsetof(struct uscopei_chunk_entry, published) == 24, "as documented");

static uint32_t chunk_size_for(uint64_t credit)
{
    uint32_t size = MAX_CHUNK;
    while (size > MIN_CHUNK && size > credit / 16)
        size /= 2;
    return size;
}

/*
 * A record with payload does not span chunks, so a chunk may end with nearly 64 KiB unused. There are enough
 * chunks for the whole credit even then: the daemon, which counts what it has received, would otherwise wait
 * for bytes that cannot come.
 */
static void plan(struct uscopei_pool *pool, uint64_t credit)
{
    pool->credit = credit;
    pool->chunk_size = chunk_size_for(credit);
    uint64_t worst = pool->chunk_size - (MAX_PAYLOAD + 3 * RECORD_BYTES);
    pool->num_chunks = (uint32_t)((credit + worst - 1) / worst);
    if (pool->num_chunks < 2) pool->num_chunks = 2;
    size_t table = MEMORY_CONTROL_BYTES + pool->num_chunks * sizeof(struct uscopei_chunk_entry);
    size_t data = (table + PAGE - 1) / PAGE * PAGE;
    pool->region_size = data + (size_t)pool->num_chunks * pool->chunk_size;
}

static unsigned char *map(size_t size, int fd)
{
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void hex_of(const uint8_t *bytes, char *out)
{
    for (int i = 0; i < 16; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* The memory must exist before it is written: a write past what a small /dev/shm holds would kill the
 * simulator. */
static unsigned char *map_shared(struct uscopei_pool *pool, const char *directory, const uint8_t *session,
                                 const char **note)
{
    char hex[33];
    hex_of(session, hex);
    snprintf(pool->path, sizeof pool->path, "%s/uscope-%s.mem", directory, hex);
    int fd = open(pool->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        *note = strerror(errno);
        pool->path[0] = 0;
        return NULL;
    }
    int error = posix_fallocate(fd, 0, (off_t)pool->region_size);
    unsigned char *region = error ? NULL : map(pool->region_size, fd);
    if (!region) {
        *note = strerror(error ? error : errno);
        unlink(pool->path);
        pool->path[0] = 0;
    }
    close(fd);
    return region;
}

static void fill_control(struct uscopei_pool *pool, const struct uscopei_pool_identity *identity)
{
    struct control_page *page = (struct control_page *)(void *)pool->control;
    memcpy(page->session, identity->session, 16);
    memcpy(page->run, identity->run, 16);
    page->core = identity->core;
    struct uscopei_process process = uscopei_this_process();
    page->pid = process.pid;
    page->process_start = process.start;
    page->chunk_size = pool->chunk_size;
    page->num_chunks = pool->num_chunks;
    page->chunks_offset = (uint64_t)(pool->data - pool->region);
    page->entry_size = sizeof(struct uscopei_chunk_entry);
    page->entries_offset = MEMORY_CONTROL_BYTES;
    snprintf(page->name, sizeof page->name, "%s", identity->name);
    page->layout_version = MEMORY_LAYOUT_VERSION;
    atomic_thread_fence(memory_order_release);
    page->magic = MEMORY_MAGIC;
}

/* Touches every page now rather than in the middle of a cycle, and keeps a forked child from inheriting them.
 */
static void prepare_pages(struct uscopei_pool *pool)
{
    madvise(pool->region, pool->region_size, MADV_DONTFORK);
    if (!pool->path[0]) madvise(pool->region, pool->region_size, MADV_HUGEPAGE);
    for (size_t at = 0; at < pool->region_size; at += PAGE)
        *(volatile unsigned char *)(pool->region + at) = 0;
}

static bool make_tables(struct uscopei_pool *pool)
{
    uint32_t ring = 1;
    while (ring < pool->num_chunks)
        ring *= 2;
    pool->ring_mask = ring - 1;
    pool->ring = calloc(ring, sizeof *pool->ring);
    pool->chunks = calloc(pool->num_chunks, sizeof *pool->chunks);
    if (!pool->ring || !pool->chunks) return false;
    for (uint32_t i = pool->num_chunks; i-- > 0;)
        uscopei_pool_give_back(pool, i);
    return true;
}

struct uscopei_pool *uscopei_pool_create(uint64_t credit, const char *directory,
                                         const struct uscopei_pool_identity *identity, const char **note)
{
    *note = NULL;
    struct uscopei_pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    plan(pool, credit);
    if (directory) pool->region = map_shared(pool, directory, identity->session, note);
    if (!pool->region) pool->region = map(pool->region_size, -1);
    if (!pool->region || !make_tables(pool)) {
        uscopei_pool_unlink(pool);
        uscopei_pool_destroy(pool);
        return NULL;
    }
    pool->control = pool->region;
    pool->entries = (struct uscopei_chunk_entry *)(void *)(pool->region + MEMORY_CONTROL_BYTES);
    pool->data = pool->region + (pool->region_size - (size_t)pool->num_chunks * pool->chunk_size);
    prepare_pages(pool);
    fill_control(pool, identity);
    return pool;
}

void uscopei_pool_unlink(struct uscopei_pool *pool)
{
    if (pool->path[0]) unlink(pool->path);
    pool->path[0] = 0;
}

void uscopei_pool_destroy(struct uscopei_pool *pool)
{
    if (pool->region) munmap(pool->region, pool->region_size);
    free(pool->ring);
    free(pool->chunks);
    free(pool);
}

bool uscopei_pool_idle(const struct uscopei_pool *pool)
{
    for (uint32_t i = 0; i < pool->num_chunks; i++) {
        if (atomic_load_explicit(&pool->chunks[i].refs, memory_order_acquire) != 0) return false;
    }
    return true;
}

/*
 * The free chunks are a stack: the memory freed last is the one still in the caches. One thread pops, so what
 * it has read of the top stays true until it has taken it.
 */
bool uscopei_pool_take(struct uscopei_pool *pool, uint32_t *index)
{
    if (atomic_load_explicit(&pool->held, memory_order_acquire) + pool->chunk_size > pool->credit)
        return false;
    uint32_t top = atomic_load_explicit(&pool->free_top, memory_order_acquire);
    while (top != 0) {
        uint32_t next = pool->chunks[top - 1].next_free;
        if (atomic_compare_exchange_weak_explicit(&pool->free_top, &top, next, memory_order_acquire,
                                                  memory_order_acquire)) {
            *index = top - 1;
            return true;
        }
    }
    return false;
}

void uscopei_pool_give_back(struct uscopei_pool *pool, uint32_t index)
{
    uint32_t top = atomic_load_explicit(&pool->free_top, memory_order_relaxed);
    do {
        pool->chunks[index].next_free = top;
    } while (!atomic_compare_exchange_weak_explicit(&pool->free_top, &top, index + 1, memory_order_release,
                                                    memory_order_relaxed));
}

void uscopei_pool_set_durable(struct uscopei_pool *pool, uint64_t frames)
{
    struct control_page *page = (struct control_page *)(void *)pool->control;
    atomic_store_explicit(&page->durable_frames, frames, memory_order_release);
}

void uscopei_pool_count_unrecorded(struct uscopei_pool *pool)
{
    struct control_page *page = (struct control_page *)(void *)pool->control;
    uint64_t before = atomic_load_explicit(&page->unrecorded_frames, memory_order_relaxed);
    atomic_store_explicit(&page->unrecorded_frames, before + 1, memory_order_relaxed);
}
