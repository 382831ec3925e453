/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the client share. A trace is split in two: `struct uscopei_trace`, a slot of a static table with
 * what every call touches, and `struct uscopei_session`, on the heap, with the rest.
 *
 * Who writes what: the trace's thread owns the table slot and the session's first half; the I/O thread owns the
 * second half; what passes between them is atomic or under `uscopei_io.lock`.
 */
#ifndef USCOPE_INTERNAL_H
#define USCOPE_INTERNAL_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uscope.h"

/* Nothing below is seen outside the library; the compiler may address it directly. */
#pragma GCC visibility push(hidden)

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define COLD        __attribute__((cold, noinline))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Bridge protocol, docs/bridge-protocol.md §5 */
enum {
    RECORD_OP = 0x01,
    RECORD_EVENT = 0x03,
    RECORD_BEGIN = 0x10,
    RECORD_END = 0x11,
    RECORD_STRING = 0x12,
    RECORD_SNAPSHOT = 0x13,
    RECORD_BYTES = 16,
    MAX_ITEMS_PER_FRAME = 65535,
    MAX_PAYLOAD = 65520, /* of an event, of a string */
    DATA_HEADER_BYTES = 48,
    MAX_CONTROL_BYTES = 4 << 20,
};
enum { ACTION_SET = 1, ACTION_CLEAR = 2, ACTION_ADD = 3, ACTION_PROP_SET = 4 };

/* ------------------------------------------------------------------------------------------------ error codes */

typedef enum uscopei_code {
    E_NONE,
    /* operations: counted per trace */
    E_OP_STORAGE,
    E_OP_SLOT,
    E_OP_FIELD,
    E_OP_PROPERTY,
    E_OP_EVENT,
    E_OP_PAYLOAD,
    E_OP_VALUE,
    E_OP_TIME,
    E_OP_OUTSIDE_CYCLE,
    E_OP_NESTED_CYCLE,
    E_OP_STRING,
    E_OP_SNAPSHOT,
    E_OP_HANDLE,
    E_NUM_OP_CODES,
    /* the rest */
    E_SCHEMA_NAME = E_NUM_OP_CODES,
    E_SCHEMA_DUPLICATE,
    E_SCHEMA_LIMIT,
    E_FORMAT_TRUNCATED,
    E_FORMAT_LENGTH,
    E_FORMAT_VALUE,
    E_FORMAT_STRING_POOL,
    E_FORMAT_ID,
    E_READER_OPEN,
    E_BRIDGE_VERSION,
    E_BRIDGE_MESSAGE,
    E_BRIDGE_SEQUENCE,
    E_BRIDGE_NAME,
    E_BRIDGE_LIMIT,
    E_BRIDGE_NO_DAEMON,
    E_BRIDGE_LOST,
    E_BRIDGE_ENDPOINT,
    E_BRIDGE_INTERNAL,
    E_NUM_CODES
} uscopei_code;

const char *uscopei_code_name(uscopei_code code);

/* ------------------------------------------------------------------------------------ schema, as the calls need it */

/** Format text §4.2. */
enum {
    FT_U8 = 1, FT_U16, FT_U32, FT_U64, FT_I8, FT_I16, FT_I32, FT_I64, FT_BOOL, FT_STRING_REF, FT_ENUM,
};

struct storage_shape {
    uint16_t num_slots;
    uint16_t num_fields;
    uint32_t first_field; /* into field_limits and field_infos */
};

struct property_shape {
    uint32_t first; /* into field_limits and field_infos */
    uint32_t count;
};

struct event_shape {
    uint16_t num_fields;
    uint16_t size; /* payload bytes */
    uint32_t first_field; /* into event_fields */
};

/** Values below `limit` are good without a closer look; 0 for strings, which need one always. */
struct event_field {
    uint64_t limit;
    uint16_t offset; /* in the payload */
    uint8_t shift; /* the same in bits, where the payload fits the record itself */
    uint8_t type;
    uint8_t size;
    uint8_t enum_id;
    uint16_t reserved;
};

struct field_info {
    const char *name;
    uint8_t type;
    uint8_t enum_id;
};

struct storage_info {
    char *name; /* scope path without the root */
    uint32_t slot_size;
    bool sparse;
};

struct enum_label {
    const char *name;
    uint8_t value;
};

struct enum_info {
    const char *name;
    uint32_t first_label;
    uint32_t num_labels;
};

struct uscopei_schema {
    unsigned char *payload; /* the chunk; names point into it */
    size_t payload_size;
    uint32_t num_storages, num_events, num_enums, num_fields, num_event_fields, num_labels;
    struct storage_shape *storages;
    struct property_shape *properties;
    struct storage_info *storage_infos;
    uint64_t *field_limits; /* slot fields and properties of all storages */
    struct field_info *field_infos;
    struct event_shape *events;
    char **event_names;
    struct event_field *event_fields;
    const char **event_field_names;
    struct enum_info *enums;
    struct enum_label *labels;
    uint32_t *storages_by_name, *events_by_name; /* ids sorted by name */
    bool has_strings;
};

/** Decodes a schema chunk payload (§4). NULL and *code, *detail on bytes that do not make sense. */
struct uscopei_schema *uscopei_schema_decode(const void *bytes, size_t size, uscopei_code *code,
                                             const char **detail);
void uscopei_schema_destroy(struct uscopei_schema *schema);
unsigned uscopei_type_size(uint8_t type);
const char *uscopei_type_name(uint8_t type);
/** "u32", "enum flush_reason" */
const char *uscopei_describe_type(const struct uscopei_schema *schema, uint8_t type, uint8_t enum_id, char *out,
                                  size_t size);
/** Exclusive limit below which a value certainly fits (see struct event_field). */
uint64_t uscopei_type_limit(uint8_t type);

/* -------------------------------------------------------------------------------------------------- chunk memory */

enum { CHUNK_CONTINUES = 1 };

/** In the control page, one cache line each: what a reader of the memory needs (docs/client-memory.md). */
struct uscopei_chunk_entry {
    uint64_t order; /* position in the stream, from 1; 0: never used */
    uint64_t base_ordinal;
    uint32_t flags;
    uint32_t reserved0;
    _Atomic uint64_t published; /* bytes from the chunk's start that are complete */
    uint64_t reserved1[4];
};

/** What only this process needs to know of a chunk. */
struct uscopei_chunk {
    _Atomic uint32_t refs; /* messages in ZeroMQ's hands */
    _Atomic uint32_t sealed;
    uint32_t used;
    uint32_t next_free; /* index + 1 */
    uint64_t end_ordinal; /* free when frames below this are durable */
};

struct uscopei_pool {
    unsigned char *region;
    size_t region_size;
    unsigned char *control; /* the control page and chunk table: start of the region */
    unsigned char *data;
    struct uscopei_chunk_entry *entries;
    struct uscopei_chunk *chunks;
    uint32_t chunk_size, num_chunks;
    uint64_t credit; /* bytes that may be held */
    char path[192]; /* of the shared memory file, "" for anonymous memory */
    /* chunks in the order of the stream; positions count without wrapping */
    uint32_t *ring;
    uint32_t ring_mask;
    _Atomic uint64_t ring_head; /* written by the trace's thread */
    _Atomic uint32_t free_top; /* index + 1; pushed by the I/O thread, popped by the trace's thread */
    _Atomic uint64_t held; /* bytes in sealed chunks */
    struct uscopei_pool *next_grave;
};

struct uscopei_pool_identity {
    const uint8_t *session, *run;
    uint32_t core;
    const char *name;
};

/** NULL when memory is exhausted. *note says why shared memory was not used, if it was wanted. */
struct uscopei_pool *uscopei_pool_create(uint64_t credit, const char *directory,
                                         const struct uscopei_pool_identity *identity, const char **note);
/** Unmaps; `keep` leaves a shared file for recovery. Only when no message refers to it any more. */
void uscopei_pool_destroy(struct uscopei_pool *pool);
void uscopei_pool_unlink(struct uscopei_pool *pool);
bool uscopei_pool_idle(const struct uscopei_pool *pool);
/** Takes a free chunk; false when there is none or the credit is used up. */
bool uscopei_pool_take(struct uscopei_pool *pool, uint32_t *index);
void uscopei_pool_give_back(struct uscopei_pool *pool, uint32_t index);
void uscopei_pool_set_durable(struct uscopei_pool *pool, uint64_t frames);

static inline unsigned char *chunk_base(const struct uscopei_pool *pool, uint32_t index)
{
    return pool->data + (size_t)index * pool->chunk_size;
}

/* --------------------------------------------------------------------------------------------------- the trace */

enum {
    MAX_TRACES = 256,
    /* A power of two, so that one mask finds the slot of a handle; small, so that traces do not share cache sets. */
    TRACE_STRIDE = 512,
};

struct uscopei_session;

/**
 * A handle is the address of a slot plus the slot's generation (1..511), so a handle of an earlier trace in the same
 * slot is not one of the present trace. `frame_handle` is the handle inside a cycle and 0 otherwise: one compare says that the
 * handle is good and the call is at the right place.
 */
struct uscopei_trace {
    /* first cache line: every op */
    uintptr_t frame_handle;
    unsigned char *cursor;
    unsigned char *limit; /* a single record may be appended while cursor < limit */
    const struct storage_shape *storages;
    const uint64_t *field_limits;
    const struct event_shape *events;
    const struct event_field *event_fields;
    uint32_t num_storages, num_events;

    /* second: every cycle */
    uintptr_t idle_handle; /* the handle between cycles, else 0 */
    uint64_t last_time;
    uint64_t next_checkpoint; /* UINT64_MAX without a callback */
    uint64_t ordinal; /* of the open or the next frame */
    unsigned char *item_base; /* items of the frame are counted from here */
    unsigned char *chunk;
    _Atomic uint64_t *published;
    uint32_t items_before; /* items of the frame in earlier chunks */
    uint32_t extra_records; /* records since item_base that are no items of their own */

    /* third: seldom */
    _Atomic uint32_t failed; /* set by the I/O thread */
    uint32_t reserved;
    uintptr_t handle; /* 0: slot is free */
    const struct property_shape *properties;
    struct uscopei_session *session;
    uint32_t generation;
};

union uscopei_slot {
    struct uscopei_trace trace;
    unsigned char bytes[TRACE_STRIDE];
};

extern union uscopei_slot uscopei_traces[MAX_TRACES];
extern atomic_bool uscopei_forked;

/** The slot a value claims to belong to, NULL when it is no handle at all. */
static inline struct uscopei_trace *slot_of(const void *w)
{
    uintptr_t value = (uintptr_t)w;
    if (UNLIKELY(value - (uintptr_t)uscopei_traces >= sizeof uscopei_traces))
        return NULL;
    return (struct uscopei_trace *)(value & ~(uintptr_t)(TRACE_STRIDE - 1));
}

/** True when the handle is good and its trace inside a cycle; then *t is the trace. */
static inline bool in_frame(const void *w, struct uscopei_trace **t)
{
    uintptr_t value = (uintptr_t)w;
    if (UNLIKELY(value - (uintptr_t)uscopei_traces >= sizeof uscopei_traces))
        return false;
    *t = (struct uscopei_trace *)(value & ~(uintptr_t)(TRACE_STRIDE - 1));
    return LIKELY((*t)->frame_handle == value);
}

/** Where the trace's thread stands, when frame_handle and idle_handle do not say it. */
typedef enum uscopei_state {
    ST_NORMAL, /* in a cycle or between two */
    ST_REJECTED_CYCLE, /* a begin_cycle was refused: its items are too */
    ST_CALLBACK,
    ST_UNTRACED, /* failed; calls do nothing */
} uscopei_state;

/** Where the I/O thread stands with a trace. */
typedef enum uscopei_link {
    LINK_NEED_OPEN,
    LINK_OPENING,
    LINK_STREAMING,
    LINK_CLOSING,
    LINK_DONE,
} uscopei_link;

struct uscopei_string_cache;
struct uscopei_reported;

struct uscopei_session {
    struct uscopei_trace *trace;
    char name[208];
    uint8_t id[16];
    uint8_t run[16];
    bool has_run;
    uint32_t core;
    uint64_t interval_ps; /* wanted, then agreed */
    uint64_t credit; /* wanted, then agreed */
    char *schema_text; /* NULL: the daemon's default */
    char *schema_name;
    char **dut; /* key, value, key, value, ... */
    uint32_t num_dut;

    /* -- the trace's thread */
    uscopei_state state;
    struct uscopei_schema *schema;
    uint64_t frame_bytes; /* of the open frame, in earlier chunks */
    uint64_t frame_limit; /* a frame this large is split at the end of its chunk */
    uint32_t current; /* chunk */
    uint64_t order; /* of the current chunk */
    uint32_t num_strings;
    struct uscopei_string_cache *strings;
    uint64_t rejected[E_NUM_OP_CODES];
    uint64_t rejected_total;
    struct uscopei_reported *reported;
    uscope_checkpoint_fn callback;
    void *callback_data;
    bool failure_handled;

    /* -- given by one to the other */
    struct uscopei_pool *pool; /* set before pool_ready */
    atomic_bool pool_ready;
    atomic_bool waiting; /* the trace's thread waits for credit */
    _Atomic uint64_t flush_frames; /* uscope_flush waits for everything below this */
    atomic_bool want_close;
    atomic_bool abandoned; /* the trace's thread is done with the session: the I/O thread frees it */
    uint64_t total_frames; /* set before want_close */
    pthread_cond_t changed; /* with uscopei_io.lock */
    _Atomic uint64_t durable;

    /* under uscopei_io.lock */
    bool opened, closed;
    unsigned char *schema_payload; /* from `opened` */
    size_t schema_payload_size;
    char file_path[1024];
    char fail_code[40];
    char fail_message[1024];
    uscope_close_stats_t stats;
    struct uscopei_session *next_pending;

    /* -- the I/O thread */
    uscopei_link link;
    bool ever_opened;
    bool close_sent;
    uint64_t request; /* of the open in flight */
    uint64_t open_deadline; /* ms; for the first open only */
    uint32_t trace_number, epoch;
    uint64_t seq;
    uint64_t tail_position; /* ring position of the oldest chunk held */
    uint64_t send_position;
    uint32_t send_offset;
    uint64_t next_frame; /* ordinal of the first record at send_offset, when that is not the chunk's start */
    uint64_t sent_frames; /* frames sent, at least in part */
    uint64_t unsent_since; /* ms, 0: nothing unsent */
    bool stalled;
};

static inline const void *handle_of(const struct uscopei_session *s)
{
    return (const void *)s->trace->handle;
}

/* trace_table.c */
/** A free slot with a fresh handle, NULL when 256 traces are open. */
struct uscopei_trace *uscopei_slot_acquire(struct uscopei_session *session);
void uscopei_slot_release(struct uscopei_trace *t);
/** The open trace of a handle; NULL, with OP_HANDLE reported unless the handle is null. */
struct uscopei_trace *uscopei_resolve(const void *w, const char *call);
/** A handle of this table that has been valid once and is no more. */
bool uscopei_is_stale(const void *w);
void uscopei_install_fork_guard(void);

/* chunks.c: the trace's side of the chunk memory */
/** Room for `bytes` more and an END, splitting the frame or waiting for credit as needed. False: the trace failed. */
bool uscopei_make_room(struct uscopei_trace *t, size_t bytes);
bool uscopei_first_chunk(struct uscopei_trace *t);
void uscopei_seal_last(struct uscopei_trace *t);
void uscopei_set_limit(struct uscopei_trace *t);
uint32_t uscopei_frame_items(const struct uscopei_trace *t);
/** Runs the failure policy once after the I/O thread has given the trace up. */
void uscopei_handle_failure(struct uscopei_trace *t);
/** The policy itself; returns only to go on untraced. */
void uscopei_failure_policy(void *w, const char *code, const char *message);

static inline void put_record(unsigned char *at, uint64_t low, uint64_t high)
{
    uint64_t *words = (uint64_t *)(void *)__builtin_assume_aligned(at, RECORD_BYTES);
    words[0] = low;
    words[1] = high;
}

static inline uint64_t op_word(unsigned action, uint16_t storage, uint16_t slot, uint16_t field)
{
    return RECORD_OP | (uint64_t)action << 8 | (uint64_t)storage << 16 | (uint64_t)slot << 32 |
           (uint64_t)field << 48;
}

static inline uint64_t event_word(uint16_t type, uint32_t size)
{
    return RECORD_EVENT | (uint64_t)type << 16 | (uint64_t)size << 32;
}

static inline void put_snapshot(unsigned char *at, uint16_t storage, uint32_t size, uint32_t offset, uint32_t total)
{
    put_record(at, RECORD_SNAPSHOT | (uint64_t)storage << 16 | (uint64_t)size << 32, offset | (uint64_t)total << 32);
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
    t->items_before = 0;
    t->extra_records = 0;
}

/* schema_builder.c */
const char *uscopei_schema_source_name(const uscope_schema_t *schema);

/* values.c */
/** Checks a value against a type. E_NONE, E_OP_VALUE or E_OP_STRING. `strings` is the number of strings defined. */
uscopei_code uscopei_check_value(uint8_t type, uint64_t value, uint32_t strings);
/** "0x1_0000_0000" */
void uscopei_format_hex(uint64_t value, char *out, size_t size);

/* strings.c */
struct uscopei_string_cache *uscopei_string_cache_new(void);
void uscopei_string_cache_free(struct uscopei_string_cache *cache);
bool uscopei_valid_utf8(const unsigned char *text, size_t length);

/* rejected.c */
struct uscopei_reported *uscopei_reported_new(void);
void uscopei_reported_free(struct uscopei_reported *reported);
/** Counts a rejection, and reports it once per code and id. */
COLD PRINTF(4, 5) void uscopei_reject(struct uscopei_trace *t, uscopei_code code, uint64_t id,
                                      const char *format, ...);
/** A failed call that refuses nothing of the trace (a name lookup): reported once, not counted. */
COLD PRINTF(4, 5) void uscopei_complain(struct uscopei_trace *t, uscopei_code code, uint64_t id,
                                        const char *format, ...);

/* diagnostics.c */
/** One line to the message handler or stderr; "uscope: " is put before it. */
PRINTF(1, 2) void uscopei_say(const char *format, ...);
void uscopei_set_error(const char *code, const char *message);
PRINTF(2, 3) void uscopei_error(uscopei_code code, const char *format, ...);
/** Sets the thread's error and says it. */
PRINTF(2, 3) void uscopei_error_say(uscopei_code code, const char *format, ...);

/* config.c */
struct uscopei_config {
    char endpoint[256];
    uint64_t open_timeout_ms, timeout_ms;
    uint32_t credit_mib;
    bool stop_on_failure;
    bool shared_memory;
    char memory_directory[128];
    bool has_run;
    uint8_t run[16];
    uint32_t core;
};
/** Read from the environment at the first use. */
const struct uscopei_config *uscopei_get_config(void);
uint64_t uscopei_now_ms(void);
/** Start time of this process in clock ticks since boot, 0 when unknown. */
uint64_t uscopei_process_start(void);
bool uscopei_random_bytes(void *out, size_t size);
/** Contents of a file, NUL-terminated; NULL with the thread's error set. */
char *uscopei_read_file(const char *path, size_t *size);

/* io.c: what other threads ask of the I/O thread */
struct uscopei_io_shared {
    pthread_mutex_t lock;
};
extern struct uscopei_io_shared uscopei_io;
/** Hands a new session over and starts the thread if needed. False when it cannot be started. */
bool uscopei_io_submit(struct uscopei_session *s);
void uscopei_io_wake(void);
/** Ends the thread and closes the connection; at exit, after the last trace is closed. */
void uscopei_io_shutdown(void);
bool uscopei_io_is_self(void);

/* session.c */
/** A session for these options, NULL with the thread's error set. */
struct uscopei_session *uscopei_session_new(const uscope_open_options_t *options);
void uscopei_session_free(struct uscopei_session *s);

#pragma GCC visibility pop

#endif
