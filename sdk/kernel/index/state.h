/* SPDX-License-Identifier: Apache-2.0 */
/* What a pass over one segment knows. */
#ifndef USCOPE_INDEX_STATE_H
#define USCOPE_INDEX_STATE_H

#include "../constants.h"
#include "bytes.h"
#include "output.h"
#include "pass.h"
#include "plan.h"
#include "rows.h"
#include "slots.h"
#include "texts.h"

enum {
    CARRY_SECTION_TIME = 1,
    CARRY_SECTION_ROWS = 2,
    CARRY_SHARE = 128,
    EVENT_HEAD_BYTES = 8,
    WIDE_BYTES = 16,
    COMPACT_BYTES = 9,
    READ_BEYOND = 4, /* bytes after an item */
    ALL_SLOTS = 0x10000,
};

/* What an op does. */
enum op_effect {
    OP_INVALID,
    OP_NONE,
    OP_ADD, /* to a counter */
    OP_COUNTER,
    OP_CLEAR,
    OP_WRITE, /* a field, and so on */
    OP_WRITE_ID,
    OP_WRITE_PC,
    OP_WRITE_BITS,
};

/* What is followed of a storage; many are not. */
struct followed {
    uint8_t *taken;          /* by slot: 1 taken, 0 free; of a storage without such slots there are none */
    struct group *group;     /* NULL: nothing of it is counted */
    struct track *track;     /* NULL: its occupancy is not */
    struct slots *slots;     /* of the core whose catalogue it is; NULL: of none */
    struct written *written; /* of the same; NULL: nothing of its texts is kept */
    uint64_t value;          /* of a counter */
    uint32_t num_slots, fields;
    uint32_t core, id_field, pc_field, bits_field; /* of the core whose catalogue it is */
    uint32_t column;
    uint32_t kind;
    uint32_t block_size;
    const uint8_t *block; /* in the checkpoint, after the head; NULL: none */
};

/*
 * What is known of ops that differ in slot and value only: a trace has few such kinds, and to look one up is
 * less than to decode an op and to check it.
 */
struct op_kind {
    uint64_t key; /* the first eight bytes without the slot; 0: nothing is known here */
    uint8_t *taken;
    struct followed *followed;
    uint32_t num_slots;
    uint16_t field;
    uint8_t action, effect; /* enum op_effect */
};
enum { OP_KINDS_BITS = 8, OP_KINDS = 1 << OP_KINDS_BITS };

/* What is done with an event besides counting it by its label. */
enum event_effect { EVENT_COUNTED, EVENT_ENTERS, EVENT_IS_MORE };

/* What is counted of an event type, for one look at each event. */
struct counted_event {
    uint64_t *const *row;  /* the present one of its group */
    const uint8_t *labels; /* value -> column, from the first one */
    uint32_t label; /* offset of the value in the item; without labels anything, of which all are column 0 */
    uint32_t column;
    uint32_t payload;
    uint32_t effect; /* enum event_effect */
    uint32_t string; /* offset in the item; 0: none */
    uint32_t role;
    /* Of a stage event: the core's slots, and where in the item its numbers are, with the bits that are
     * theirs. */
    struct slots *slots;
    uint32_t core;
    uint32_t id, id_mask, stage, stage_mask;
};

struct pass {
    struct index_job *job;
    const struct plan_head *head;
    const struct plan_storage *storages;
    const struct plan_event *events;
    const struct plan_core *cores;
    struct followed *followed;
    struct op_kind *kinds; /* OP_KINDS, by hash */
    struct counted_event *counted;
    struct group *groups;
    struct slots *slots; /* by core */
    struct closings closings;
    struct lives *lives;     /* by core */
    struct written *written; /* by core */
    struct stats *stats;     /* by core */
    struct text_set strings;
    struct text *spare; /* MAX_SET, to sort a set */
    const uint8_t *no_labels;
    uint64_t *no_row; /* of events that are not counted */
    uint32_t num_storages, num_events;
    uint32_t longest;          /* bytes of the longest item, with those after it that may be read */
    uint8_t *last_item;        /* `longest` bytes */
    const uint8_t *last_items; /* where the items begin that are so near the end */
    uint64_t from;             /* what it answers for begins here, ps */
    uint64_t time;             /* of the present frame; up to here it is accounted for, ps */
    bool is_exact;
    bool unsettled; /* something waits for the end of the frame */
    bool failed;    /* there was an item that is none */
};

static inline bool has_occupancy(const struct plan_storage *storage)
{
    bool can = storage->kind == STORAGE_SPARSE || storage->kind == STORAGE_DENSE_BUFFER;
    return can && storage->group != PLAN_NONE;
}

static inline uint32_t mask_bytes(const struct plan_storage *storage)
{
    return (storage->slots + 7) / 8;
}

/* No bits are set after the last slot. */
static inline bool is_mask(const uint8_t *mask, const struct plan_storage *storage)
{
    uint32_t bytes = mask_bytes(storage), spare = bytes * 8 - storage->slots;
    return !spare || !(mask[bytes - 1] >> (8 - spare));
}

static inline void take_mask(struct followed *followed, const uint8_t *mask)
{
    for (uint32_t slot = 0; slot < followed->num_slots; slot++)
        followed->taken[slot] = mask[slot >> 3] >> (slot & 7) & 1;
}

static inline uint32_t slots_taken(const struct followed *followed)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < followed->num_slots; slot++)
        count += followed->taken[slot];
    return count;
}

/* Lays out the scratch memory. */
void pass_open(struct pass *pass, struct index_job *job);
/* False: it does not follow the schema. */
bool load_checkpoint(struct pass *pass);
/* What the segment before has left; false: nothing is known of it. `last`: time of its last frame. */
bool load_carry(struct pass *pass, uint64_t *last);
/* What is in flight continues; what is no longer there was lost at `at`. */
void load_rows_carry(struct pass *pass, uint64_t last, uint64_t at);
/* The CARRY part. */
void put_carry(struct pass *pass, struct output *out);
/* The container; its size, 0: it does not fit. */
uint32_t put_container(struct pass *pass);

#endif
