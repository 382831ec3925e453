/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the instructions of one core through ops and events, in file order: the rules of
 * test/oracle/blocks/tracker.ts, compiled, for interleaved frames.
 *
 * Freestanding: nothing is allocated here. The owner provides memory for rows and logs; where that is short,
 * a call returns TRACKER_ROOM before it has changed anything, and can be repeated with more. Nothing in a
 * trace is trusted: ids, slots, fields and stages may have any value.
 *
 * A row is an instruction, in order of its birth or of its first appearance. What happens to rows is appended
 * to two logs, stages and all the rest, in order of time. tracker_take marks the rows to be handed out, and
 * tracker_remove removes them.
 *
 * All times are ticks: picoseconds / `tick_ps`, which is the period of the clock until a time is no multiple
 * of it.
 */
#ifndef USCOPE_TRACKER_H
#define USCOPE_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "items.h"

enum {
    TRACKER_NO_FIELD = 0xffffffff,
    TRACKER_NONE = 0xffffffff,
    TRACKER_SLOTS = 0x10000, /* an op can name */
    TRACKER_MAX_ENTRIES =
        4096, /* of each kind for one instruction; events of a frame that precede their birth */
    TRACKER_BATCH = 1024,
};

/* Where a field of an event lies, and how many of its bytes count; size 0: the event has no such field. */
struct tracker_field {
    uint32_t offset, size;
};

/* What an event is about; the trace may lack each of them. */
enum tracker_event {
    TRACKER_OTHER,
    TRACKER_STAGE,      /* id, stage */
    TRACKER_ANNOTATE,   /* id, text, kind */
    TRACKER_DEPENDENCY, /* id (dst_id), src_id, dep_type */
    TRACKER_FLUSH,      /* id, reason */
    TRACKER_STALL,      /* id, reason */
    TRACKER_TRAP,       /* id, cause, tval, target */
    TRACKER_CONTROL,
    TRACKER_EVENTS,
};

/* Numbers are in the order in which sdk/src/semantics/blocks/kernel/layout.ts writes them. */
struct tracker_plan {
    uint32_t storage, slots;
    uint32_t id_field, pc_field, bits_field, compressed_field, thread_field; /* or TRACKER_NO_FIELD */
    uint32_t num_events;
    const uint8_t *event_kinds;  /* a tracker_event by event type */
    const uint32_t *event_sizes; /* by event type */
    struct tracker_field fields[TRACKER_EVENTS][4];
    uint32_t adopts_strangers; /* follow ids beyond the slots that are first met in flight */
    /* Frames of v0.1 list ops first: a flush is about the one that was cleared, not about its successor. */
    uint32_t events_last;
    uint64_t period_ps; /* not 0 */
};

enum row_end { ROW_IN_FLIGHT, ROW_RETIRED, ROW_SQUASHED, ROW_LOST };

enum row_flag {
    ROW_HAS_PC = 1,
    ROW_HAS_BITS = 2,
    ROW_HAS_COMPRESSED = 4,
    ROW_COMPRESSED = 8,
    ROW_HAS_THREAD = 16,
    ROW_ABRIDGED = 32,
    ROW_FOLLOWED = 64, /* it will be handed out */
    ROW_NAMED = 128,   /* its id means it */
};

#define TRACKER_NO_TICK UINT64_MAX

struct row {
    uint64_t birth; /* TRACKER_NO_TICK: before what was looked at */
    uint64_t end;   /* TRACKER_NO_TICK: in flight */
    uint64_t pc;
    uint32_t bits, id, thread;
    uint32_t slot;
    uint32_t ordinal; /* births before it since tracking began; TRACKER_NONE */
    uint32_t last_stage;
    uint32_t flush, trap; /* entry of the log + 1 */
    uint16_t stages, stalls, annotations, dependencies;
    uint8_t how; /* a row_end */
    uint8_t flags;
    uint8_t reserved[6];
};

struct stage_entry {
    uint64_t tick;
    uint32_t row, value;
};

enum side_kind { SIDE_DEPENDENCY, SIDE_STALL, SIDE_ANNOTATION, SIDE_FLUSH, SIDE_TRAP, SIDE_KINDS };

/* Of a producer that has been removed its number and address are kept. */
enum producer { PRODUCER_UNKNOWN, PRODUCER_ROW, PRODUCER_GONE };

struct side_entry {
    uint64_t tick;
    uint32_t row;
    uint8_t kind, producer, producer_flags, known;
    uint32_t a;    /* id of the producer, reason, string */
    uint32_t b;    /* type of the dependency, kind of the annotation */
    uint64_t w[3]; /* row or number, and address of the producer; cause, tval, target */
};

/* What an id means. */
struct id_entry {
    uint32_t id;
    uint32_t live;   /* row + 1 */
    uint32_t closed; /* row + 1 of the one cleared in frame `frame` */
    uint32_t frame;
};

struct early_entry {
    uint64_t tick;
    uint32_t id, value;
    uint32_t is_annotation, annotation_kind;
};

struct tracker {
    const struct tracker_plan *plan;
    /* Memory, by the owner. */
    struct row *rows;
    struct stage_entry *stages;
    struct side_entry *sides;
    struct row *pending;       /* slots whose id has not been set */
    struct id_entry *ids;      /* a hash table; the capacity is a power of two */
    uint32_t *by_slot;         /* TRACKER_SLOTS */
    struct early_entry *early; /* TRACKER_MAX_ENTRIES */
    uint32_t *marks;           /* one for each row */
    uint32_t rows_capacity, stages_capacity, sides_capacity, pending_capacity, ids_capacity;
    /* In use. */
    uint32_t num_rows, num_stages, num_sides, num_pending, num_ids, num_early;
    uint32_t free_pending; /* + 1 */
    uint32_t frame;        /* stamp of the present frame, never 0 */
    uint32_t in_flight;    /* followed and not ended */
    uint32_t ended;        /* followed ones, since it was last set to 0 */
    uint32_t births;
    uint32_t accepts_births;
    uint32_t went_back;       /* a frame was earlier than the one before */
    uint32_t stops_at_frames; /* tracker_frame looks for the end of the range and of a batch */
    uint32_t is_past;         /* the end of the range */
    uint32_t watched;         /* rows below this number are */
    uint32_t watch;           /* those of them that are in flight */
    uint32_t num_followed;    /* rows that are */
    uint32_t off_grid;        /* a time was no multiple of the period: tick_ps is a divisor of it */
    uint32_t stage_range;     /* of the stages outside of the range only the last one before and the last one
                                 after it are kept */
    uint64_t time;            /* of the present frame, ps */
    uint64_t tick;            /* the same in ticks */
    uint64_t tick_ps;
    uint64_t step, step_ticks; /* between the last two frames */
    uint64_t from, to;         /* the range, ps; `to` UINT64_MAX: to the end */
};

enum tracker_result {
    TRACKER_MORE,      /* the segment has been followed to its end */
    TRACKER_ROOM,      /* short of memory: see tracker_need */
    TRACKER_IRREGULAR, /* the cursor is in front of damage */
    TRACKER_PAUSE,     /* at a frame: a batch has ended, or all rows that are watched */
    TRACKER_DONE,      /* at a frame: the range has ended, and all that were in flight then */
    TRACKER_SLICE,     /* at a frame: max_bytes have been followed */
};

/* Memory has been provided; nothing is followed. */
void tracker_reset(struct tracker *t);

/* Entries that must be free at least before a frame or op that returned TRACKER_ROOM is repeated. */
struct tracker_need {
    uint32_t rows, stages, sides, pending, ids;
};

/* The table of ids has been replaced by an empty one of another capacity: what is known of ids moves there.
 */
void tracker_rebuild_ids(struct tracker *t);

/* A frame begins. TRACKER_MORE, or TRACKER_ROOM: short of memory, see `need`; nothing has changed. */
enum tracker_result tracker_frame(struct tracker *t, uint64_t time, uint32_t num_items,
                                  struct tracker_need *need);

/* Of any storage. False: short of memory, nothing has changed. */
bool tracker_op(struct tracker *t, const struct item *op, uint32_t items_left, struct tracker_need *need);

/* The payload has the size that the plan says. */
void tracker_event(struct tracker *t, const struct item *event);

/* Follows the items of a segment until one of the results says why it stops, and calls nobody. */
enum tracker_result tracker_run(struct tracker *t, struct items *items, uint32_t max_bytes,
                                struct tracker_need *need);

/* A slot of the catalog as a checkpoint has it. */
struct listed {
    uint64_t id, pc, bits, compressed, thread;
};

/*
 * A segment begins. `is_first`: those in flight are new, their history is not known. Else those that the
 * checkpoint does not list are lost, others are new. `taken`: a bit for each slot; `listed`: one for each
 * slot.
 */
enum tracker_result tracker_continue(struct tracker *t, const uint8_t *taken, const struct listed *listed,
                                     uint64_t time, bool is_first, struct tracker_need *need);

/* Of the first rows those in flight are watched: tracker_run pauses when there are none left. */
void tracker_watch(struct tracker *t, uint32_t rows);

/* Those that exist now are not handed out. */
void tracker_unfollow(struct tracker *t);

enum {
    MARK_KEEP = 0xffffffff,
    MARK_DROP = 0xfffffffe, /* remove, do not hand out */
};

/*
 * Marks the rows that are handed out with 0, 1, ... and returns their number: with `all` every row, else
 * those that may be in order of birth. One that never ends must not make more than `max_held` wait. Those
 * that were over before `from` (ps) are dropped; their number is added.
 */
uint32_t tracker_take(struct tracker *t, bool all, uint32_t max_held, uint64_t from, uint32_t *num_dropped);

/* Marks the first rows, ended or not; their number. Those in flight are not handed out again, but others may
 * depend on them. */
uint32_t tracker_take_first(struct tracker *t, uint32_t rows);

/* Removes what is marked; the others move up. */
void tracker_remove(struct tracker *t);

#endif
