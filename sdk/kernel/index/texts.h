/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts PCS and STRINGS: distinct instructions and strings of a segment, as
 * test/oracle/index/text-sets.ts has them.
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

/* What was last written to a slot of a catalog; the flags are of fields set since it was noted, and of
 * `list`.
 */
enum { HAS_PC = 1, HAS_BITS = 2, LISTED = 4 };

struct slot_text {
    uint64_t pc;
    uint32_t bits, flags;
};

struct written {
    struct text_set set;
    struct slot_text *slots;
    uint16_t *list; /* slots set in this frame */
    uint32_t listed;
    bool *unsettled; /* set where something waits for the end of the frame */
};

void text_set_add(struct text_set *set, uint64_t key, uint32_t bits);
/* By key, then bits, rising: in one of both memories, which is returned. */
const struct text *text_set_sort(struct text_set *set, struct text *spare);

void written_note(struct written *written, struct slot_text *slot);
/* The frame is over. */
void written_settle(struct written *written);
/* Another instruction comes into the slot: what was written is of the one before. */
static inline void written_leave(struct written *written, uint32_t slot)
{
    struct slot_text *text = written->slots + slot;
    if (text->flags & (HAS_PC | HAS_BITS)) written_note(written, text);
}

static inline void written_clear(struct written *written, uint32_t slot)
{
    written_leave(written, slot);
    written->slots[slot].pc = 0;
    written->slots[slot].bits = 0;
}

/* `flag`: HAS_PC or HAS_BITS. */
static inline void written_flag(struct written *written, uint32_t slot, uint32_t flag)
{
    if (written->set.full) return; /* what it would find is not kept */
    struct slot_text *text = written->slots + slot;
    if (text->flags & flag) written_note(written, text);
    if (!(text->flags & LISTED)) {
        written->list[written->listed++] = (uint16_t)slot;
        *written->unsettled = true;
    }
    text->flags |= flag | LISTED;
}

static inline void written_pc(struct written *written, uint32_t slot, uint64_t pc)
{
    written_flag(written, slot, HAS_PC);
    written->slots[slot].pc = pc;
}

static inline void written_bits(struct written *written, uint32_t slot, uint64_t bits)
{
    written_flag(written, slot, HAS_BITS);
    written->slots[slot].bits = (uint32_t)bits;
}

#endif
