/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts PCS and STRINGS: distinct instructions and strings of a segment, as
 * sdk/src/trace-index/reference/text-sets.ts has them.
 */
#ifndef USCOPE_INDEX_TEXTS_H
#define USCOPE_INDEX_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

/* More would not be stored (sdk/src/trace-index/recording/size-limit.ts): one entry for this number of bytes
 * of frames. */
enum { MAX_SET = 8192, SET_HEADS = 2 * MAX_SET, LEAST_SET = 1024, BYTES_PER_ENTRY = 512 };

struct text {
    uint64_t key;
    uint32_t bits, unused;
};

/* A set of pairs: a hash table of entries. */
struct text_set {
    struct text *entries; /* MAX_SET */
    uint16_t *heads;      /* SET_HEADS: entry + 1; NULL: there is no set */
    uint32_t count;
    uint32_t limit; /* of entries, at most MAX_SET */
    bool full;      /* there are more */
};

/* What was last written to the slots of a catalog; the flags are of fields set since it was noted, and of
 * `list`. */
enum { HAS_PC = 1, HAS_BITS = 2, LISTED = 4 };

struct written {
    struct text_set set;
    uint64_t *pc;
    uint32_t *bits;
    uint8_t *flags;
    uint16_t *list; /* slots set in this frame */
    uint32_t listed;
    uint32_t pc_field, bits_field;
};

void text_set_add(struct text_set *set, uint64_t key, uint32_t bits);
/* By key, then bits, rising: in one of both memories, which is returned. */
const struct text *text_set_sort(struct text_set *set, struct text *spare);

void written_note(struct written *written, uint32_t slot);
/* The frame is over. */
void written_settle(struct written *written);
/* The slot is cleared, or another instruction comes into it. */
void written_leave(struct written *written, uint32_t slot, bool is_cleared);

static inline void written_set(struct written *written, uint32_t slot, uint32_t field, uint64_t value)
{
    bool is_pc = field == written->pc_field;
    uint8_t flag = is_pc ? HAS_PC : HAS_BITS;
    if (!written->set.full) { /* else what it would find is not kept */
        if (written->flags[slot] & flag) written_note(written, slot);
        if (!(written->flags[slot] & LISTED)) written->list[written->listed++] = (uint16_t)slot;
        written->flags[slot] |= flag | LISTED;
    }
    if (is_pc)
        written->pc[slot] = value;
    else
        written->bits[slot] = (uint32_t)value;
}

#endif
