/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as the per-cycle calls see it: the slot of a handle, and how records are put into its chunk. */
#ifndef USCOPE_TRACE_H
#define USCOPE_TRACE_H

#include "memory/pool.h"
#include "schema/schema.h"

#pragma GCC visibility push(hidden)

enum {
    MAX_TRACES = 256,
    /* As many as the number in a handle can name, a power of two. Slot 0 is that of the null handle, traces
       are in 1..MAX_TRACES, the others are never touched. */
    NUM_SLOTS = 512,
    /* A power of two; small, so that traces do not share cache sets. */
    TRACE_STRIDE = 512,
    RECORDS_PER_LINE = 64 / RECORD_BYTES,
};

struct uscopei_session;

/** Why a begin_cycle takes the careful path. */
enum {
    ATTENTION_FAILED = 1,  /* set by the I/O thread: it has given the trace up */
    ATTENTION_COMMAND = 2, /* set by the I/O thread: a command from outside waits */
    ATTENTION_MARKS = 4,   /* control events wait for the next frame */
    ATTENTION_PAUSED = 8,  /* nothing is recorded */
    ATTENTION_RESYNC = 16, /* the callback shall be called */
};

/*
 * A handle is not an address: a mark that no address has, the number of a slot, and the slot's generation
 * (1..511), so a handle of an earlier trace in the same slot is not one of the present trace. Any value names
 * some slot of the table, which is therefore looked into without asking first what the value is.
 */
#define HANDLE_MARK ((uintptr_t)0xF75C << (sizeof(uintptr_t) * 8 - 16))
#define HANDLE_SLOT ((uintptr_t)(NUM_SLOTS - 1) * TRACE_STRIDE)

/**
 * `frame_handle` is the handle inside a cycle and 0 otherwise: one compare says that the handle is good and
 * the call is at the right place.
 */
struct uscopei_trace {
    /* first cache line: every op */
    uintptr_t frame_handle;
    unsigned char *cursor;
    unsigned char *limit; /* a single record may be appended while cursor < limit */
    const struct storage_shape *storages;
    const struct event_shape *events;
    uint16_t num_storages, num_events;
    uint32_t num_strings; /* as the session's: what indexes of strings stay below */
    /* item and lane records of the frame in earlier chunks, less the records since item_base that are not
     * items; wraps */
    uint32_t more_items;
    uint32_t num_countable; /* storages below have a field and a slot, which is not disabled */
    const struct property_shape *properties;

    /* second: every cycle */
    uintptr_t idle_handle; /* the handle between cycles, else 0 */
    uint64_t last_time;
    uint64_t next_checkpoint; /* UINT64_MAX without a callback */
    uint64_t ordinal;         /* of the open or the next frame */
    unsigned char *item_base; /* records of the frame are counted from here */
    unsigned char *chunk;
    _Atomic uint64_t *published;
    _Atomic uint32_t attention; /* ATTENTION_ bits: the next begin_cycle must look closer */
    uint32_t lane_bytes; /* so far after item_base lane records may be written; 0: not here (chunks.c) */

    /* third: seldom */
    uintptr_t handle;    /* 0: slot is free */
    uint64_t next_asked; /* from when on uscope_checkpoint_due says yes; 0: not asked yet */
    uint64_t next_stop;  /* the lower of next_checkpoint and next_asked */
    const uint64_t *field_limits;
    const struct event_field *event_fields;
    struct uscopei_session *session;
    unsigned char *chunk_end; /* here, so that a step (chunks.c) need not look further for it */
};

union uscopei_slot {
    struct uscopei_trace trace;
    unsigned char bytes[TRACE_STRIDE];
};

extern union uscopei_slot uscopei_traces[NUM_SLOTS];

/** The slot a value claims to belong to. That of the null handle has no storages, no events and no room. */
static inline struct uscopei_trace *slot_of(const void *w)
{
    unsigned char *table = (unsigned char *)uscopei_traces;
    return (struct uscopei_trace *)(void *)(table + ((uintptr_t)w & HANDLE_SLOT));
}

/** True when the handle is good and its trace inside a cycle, and for the null handle; then *t is its slot.
 */
static inline bool in_frame(const void *w, struct uscopei_trace **t)
{
    *t = slot_of(w);
    return LIKELY((*t)->frame_handle == (uintptr_t)w);
}

static inline void set_next_stop(struct uscopei_trace *t)
{
    t->next_stop = t->next_checkpoint < t->next_asked ? t->next_checkpoint : t->next_asked;
}

static inline void set_next_checkpoint(struct uscopei_trace *t, uint64_t time_ps)
{
    t->next_checkpoint = time_ps;
    set_next_stop(t);
}

static inline void set_next_asked(struct uscopei_trace *t, uint64_t time_ps)
{
    t->next_asked = time_ps;
    set_next_stop(t);
}

static inline bool has_failed(struct uscopei_trace *t)
{
    return (atomic_load(&t->attention) & ATTENTION_FAILED) != 0;
}

/* trace_table.c */
/** A free slot with a fresh handle, NULL when 256 traces are open. */
struct uscopei_trace *uscopei_slot_acquire(struct uscopei_session *session);
void uscopei_slot_release(struct uscopei_trace *t);
/** The open trace of a handle; NULL, with OP_HANDLE reported unless the handle is null. */
struct uscopei_trace *uscopei_resolve(const void *w, const char *call);
/** What a handle is that is not one of an open trace. */
enum uscopei_handle_kind { HANDLE_GARBAGE, HANDLE_CLOSED, HANDLE_INHERITED };
enum uscopei_handle_kind uscopei_handle_kind_of(const void *w);
/** The system gives a forked child an empty table, where it can. */
void uscopei_table_install(void);
/** In a forked child: no trace is open. */
void uscopei_table_forget(void);

/*
 * The memory ahead was last read by the thread that sent it, on another core: asked for early, its cache
 * lines are here when their turn comes.
 */
static inline void prefetch_ahead(const unsigned char *at)
{
    __builtin_prefetch(at + 1024, 1);
}

static inline void store_record(unsigned char *at, uint64_t low, uint64_t high)
{
    uint64_t *words = (uint64_t *)(void *)__builtin_assume_aligned(at, RECORD_BYTES);
    words[0] = low;
    words[1] = high;
}

static inline void put_record(unsigned char *at, uint64_t low, uint64_t high)
{
    prefetch_ahead(at);
    store_record(at, low, high);
}

/* Added to the word of an operation, the same one on the next field. */
#define OP_FIELD   (UINT64_C(1) << 48)
/** The same one on the next slot. */
#define OP_SLOT    (UINT64_C(1) << 32)
/** The same one on the next storage. */
#define OP_STORAGE (UINT64_C(1) << 16)

static inline uint64_t whole_op(uint32_t half, uint16_t slot, uint16_t field)
{
    return half | (uint64_t)slot << 32 | (uint64_t)field << 48;
}

static inline uint64_t op_word(unsigned action, uint16_t storage, uint16_t slot, uint16_t field)
{
    return whole_op(op_half(action, storage), slot, field);
}

/** The same of a storage whose shape is at hand, which has half of it ready. */
static inline uint64_t slot_word(const struct storage_shape *shape, unsigned action, uint16_t slot,
                                 uint16_t field)
{
    return whole_op(shape->set + ((action - ACTION_SET) << 8), slot, field);
}

/* Lane records (docs/reference/bridge-protocol.md#lane-records). Which lanes of a SET_LANES or an
 * EVENT_LANES, LANE_SHIFT says.
 */
#define LANE_SHIFT 8

static inline uint64_t add_lanes_word(uint16_t storage)
{
    return RECORD_ADD_LANES | (uint64_t)storage << 16;
}

static inline uint64_t set_lanes_word(uint16_t storage, uint16_t slot, uint16_t field)
{
    return RECORD_SET_LANES | (uint64_t)storage << 16 | (uint64_t)slot << 32 | (uint64_t)field << 48;
}

/** `shift`: bits by which the number of the lane is moved in the payload. */
static inline uint64_t event_lanes_word(uint16_t type, unsigned size, unsigned shift)
{
    return RECORD_EVENT_LANES | (uint64_t)type << 16 | (uint64_t)size << 32 | (uint64_t)shift << 40;
}

/** There may be a lane record at the cursor. */
static inline bool may_put_lanes(const struct uscopei_trace *t)
{
    return LIKELY((size_t)(t->cursor - t->item_base) < t->lane_bytes);
}

static inline void put_snapshot(unsigned char *at, uint16_t storage, uint32_t size, uint32_t offset,
                                uint32_t total)
{
    put_record(at, RECORD_SNAPSHOT | (uint64_t)storage << 16 | (uint64_t)size << 32,
               offset | (uint64_t)total << 32);
}

static inline void put_string(unsigned char *at, uint32_t length, uint64_t index)
{
    put_record(at, RECORD_STRING | (uint64_t)length << 32, index);
}

/** Ends the frame at the cursor, which always has room for it, and publishes it. */
static inline void put_end(struct uscopei_trace *t, uint32_t items)
{
    put_record(t->cursor, RECORD_END | (uint64_t)items << 32, t->ordinal);
    t->cursor += RECORD_BYTES;
    t->ordinal++;
    atomic_store_explicit(t->published, (uint64_t)(t->cursor - t->chunk), memory_order_release);
}

static inline void start_items(struct uscopei_trace *t)
{
    t->item_base = t->cursor;
    t->more_items = 0;
}

#pragma GCC visibility pop

#endif
