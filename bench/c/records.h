/* The workload as the 16-byte records of docs/reference/bridge-protocol.md#records, written to plain memory
 * without any check. Two uses: the floor under the client (it stores the same records, and checks them), and
 * the input of the writer's benchmark. */
#ifndef BENCH_RECORDS_H
#define BENCH_RECORDS_H

#include <stdint.h>

#include "../../sdk/kernel/constants.h"

typedef struct {
    uint64_t lo, hi;
} record_t;

typedef struct {
    record_t *next;
    uint64_t frame;
    uint32_t items;
} record_sink_t;

static inline void put_record(record_sink_t *s, uint64_t lo, uint64_t hi)
{
    s->next->lo = lo;
    s->next->hi = hi;
    s->next++;
}

static inline void put_op(record_sink_t *s, uint64_t action, uint64_t storage, uint64_t slot, uint64_t field,
                          uint64_t value)
{
    put_record(s, RECORD_OP | action << 8 | storage << 16 | slot << 32 | field << 48, value);
    s->items++;
}

/* Both events of the workload are {U32, ENUM}: five bytes. */
static inline void put_event(record_sink_t *s, uint64_t type, uint32_t id, uint8_t value)
{
    put_record(s, RECORD_EVENT | type << 16 | 5ull << 32, id | (uint64_t)value << 32);
    s->items++;
}

static inline void put_begin(record_sink_t *s, uint64_t time_ps)
{
    put_record(s, RECORD_BEGIN, time_ps);
    s->items = 0;
}

static inline void put_end(record_sink_t *s)
{
    put_record(s, RECORD_END | (uint64_t)s->items << 32, s->frame++);
}

#endif
