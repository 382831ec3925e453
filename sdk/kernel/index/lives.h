/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part ROWS of one core: what becomes of its instructions, counted by groups of 64, as
 * test/oracle/index/row-walk.ts has it.
 */
#ifndef USCOPE_INDEX_LIVES_H
#define USCOPE_INDEX_LIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "plan.h"
#include "stats.h"

enum {
    GROUP_ROWS = 64,
    MAX_GROUPS = 2048,
    MAX_LATE = 256,
    MAX_CARRIED = 4096,
    MAX_EARLY = 4096,
    NO_STAGE = 0xff,
};

static const uint64_t MAX_ROW_CYCLES = (uint64_t)1 << 51;

/* Cells of a group; then for each stage the cycles in it, and the longest stay. */
enum {
    LIFE_FIRST, /* birth */
    LIFE_LAST,  /* birth; of an earlier group its distance */
    LIFE_END,   /* of the one that ended last, + 1; 0: none */
    LIFE_RETIRED,
    LIFE_FLUSHED,
    LIFE_ENDED,
    LIFE_STALLS,
    LIFE_STAGES,
};

/* Flags of what is in a slot. */
enum { SLOT_TAKEN = 1, SLOT_BORN = 2, SLOT_FLUSHED = 4, SLOT_SPECIAL = 8 };

/* An instruction in flight, with all that a stage event needs: half a cache line. */
struct life {
    uint64_t entered; /* cycle */
    uint64_t *cells;  /* of its group; NULL: its row is not known */
    uint64_t born;    /* cycle */
    uint32_t id;
    uint8_t stage; /* NO_STAGE: none */
    uint8_t flags; /* of its slot */
};

/* A stage of this frame whose instruction is not known yet. */
struct early {
    uint32_t id, value;
};

struct lives {
    /* MAX_LATE earlier groups, and those of the segment. */
    uint64_t *cells;
    uint64_t *group; /* of the last birth */
    struct early *early;
    uint64_t *distances;     /* MAX_CARRIED, of what the carry holds */
    uint8_t *marks;          /* one for each group */
    const uint8_t *stage_of; /* value -> column */
    const uint64_t *now;     /* cycle of the present frame */
    bool *unsettled;         /* set where something waits for the end of the frame */
    uint32_t stages;         /* columns; 0: rows are not followed */
    uint32_t stride;
    uint32_t capacity; /* groups of the segment */
    uint32_t groups, late, births, num_early;
    bool full; /* there are more groups, none of which is followed, or cycles are too large */
    bool exact;
    bool lost; /* one that was in flight is no longer there when the segment begins */
    struct stats *stats;
};

static inline uint64_t *life_cells(const struct lives *lives, uint32_t group)
{
    return lives->cells + (uint64_t)group * lives->stride;
}

/* Number of a group among the cells. */
static inline uint32_t life_group(const struct lives *lives, const struct life *life)
{
    return (uint32_t)((uint64_t)(life->cells - lives->cells) / lives->stride);
}

/* The stay in its stage ends: how long it was, in the row. */
static inline uint64_t life_leave(const struct life *life, uint64_t now)
{
    uint64_t *time = life->cells + LIFE_STAGES + 2 * life->stage, stay = now - life->entered;
    time[0] += stay;
    time[1] = stay > time[1] ? stay : time[1]; /* without a branch: no one can foresee it */
    return stay;
}

/* The stay ends as it should. */
static inline void life_stay(const struct lives *lives, const struct life *life, uint64_t now)
{
    stats_add(lives->stats, life->stage, life_leave(life, now));
}

static inline void life_enter(const struct lives *lives, struct life *life, uint32_t value, uint64_t now)
{
    if (!life->cells) return;
    if (life->stage != NO_STAGE) life_stay(lives, life, now);
    life->stage = value < PLAN_MAP_BYTES ? lives->stage_of[value] : (uint8_t)(lives->stages - 1);
    life->entered = now;
}

static inline void life_end(const struct lives *lives, const struct life *life, bool retired)
{
    if (!life->cells) return;
    uint64_t now = *lives->now;
    life->cells[LIFE_ENDED]++;
    life->cells[LIFE_RETIRED] += retired;
    life->cells[LIFE_END] = now + 1;
    if (retired) {
        if (life->stage != NO_STAGE) life_stay(lives, life, now);
        stats_add(lives->stats, lives->stages, now - life->born);
    } else if (life->stage != NO_STAGE) {
        life_leave(life, now);
    }
}

static inline void life_flush(const struct lives *lives, struct life *life)
{
    if (!life->cells) return;
    if (life->stage != NO_STAGE) {
        life_leave(life, *lives->now);
        lives->stats->cut[life->stage]++;
    }
    life->stage = NO_STAGE;
    life->cells[LIFE_FLUSHED]++;
}

static inline void life_stall(const struct life *life)
{
    if (life->cells) life->cells[LIFE_STALLS]++;
}

/* Where the next row begins a group; false: there is no room for one more. */
bool lives_next_group(struct lives *lives);
/* Stages of this frame that came before their instruction. */
void life_enter_early(const struct lives *lives, struct life *life);

/* The next row is that of `life`, whose id is known. */
static inline void life_birth(struct lives *lives, struct life *life)
{
    life->cells = 0;
    life->stage = NO_STAGE;
    if (lives->births % GROUP_ROWS == 0 && !lives_next_group(lives)) return;
    lives->births++;
    uint64_t now = *lives->now;
    life->cells = lives->group;
    life->cells[LIFE_LAST] = now;
    life->born = now;
    if (lives->num_early) life_enter_early(lives, life);
}

void lives_postpone(struct lives *lives, uint32_t id, uint32_t value);

/* Earlier groups by `distances`; false: there are too many. */
bool lives_begin(struct lives *lives, uint32_t count);
/* The earlier group of a distance that `lives_begin` got. */
uint32_t lives_earlier(const struct lives *lives, uint64_t distance);
/* From the first row of its group to the first row of the next segment. */
uint64_t life_distance(const struct lives *lives, const struct life *life);

#endif
