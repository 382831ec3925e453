/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the clock groups while a segment is walked, and how many slots of the storages in them are
 * taken. */
#ifndef USCOPE_INDEX_ROWS_H
#define USCOPE_INDEX_ROWS_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_CELLS = 1 << 18, MAX_ROWS = 1 << 16 };

/* How many slots of a storage are taken, as a step function of time. */
struct track {
    uint64_t since;      /* up to here it is accounted for, ps */
    uint64_t *histogram; /* time by number of slots */
    uint32_t slots, count;
    /* Of the present row; least UINT32_MAX: it has not lasted any time yet. */
    uint32_t least, most;
    uint32_t column;    /* of the sum */
    struct track *next; /* of the group */
};

struct group {
    uint64_t period, bucket_ps;
    uint64_t bucket, end; /* present bucket, and where it ends, ps */
    uint64_t *row;        /* present row; row[-1] is its span - 1 */
    uint64_t *cells;
    uint64_t *counted; /* by column: cycle + 1 that it has counted last */
    uint64_t cycle, cycle_time;
    uint64_t now; /* cycle of the present frame */
    uint32_t columns, rows, capacity;
    bool aligned;
    bool full; /* more rows than it may have: what follows is not kept */
    struct track *tracks, **last_track;
};

void group_open(struct group *group, uint64_t time);
/* A frame at or after the end of the present row. */
void group_advance(struct group *group, uint64_t time);
/* The last frame was at `to`. */
void group_close(struct group *group, uint64_t to);

/* What is there has lasted until then. */
static inline void track_lasted(struct track *track, uint64_t until, uint64_t *row)
{
    if (until <= track->since) return;
    uint64_t time = until - track->since;
    uint32_t count = track->count;
    row[track->column] += count * time;
    track->histogram[count] += time;
    if (count < track->least) track->least = count;
    if (count > track->most) track->most = count;
    track->since = until;
}

/* Counts the cycle of a time, once. */
static inline void count_cycle(struct group *group, uint64_t time, uint32_t column)
{
    if (group->cycle_time != time) {
        group->cycle = time / group->period + 1;
        group->cycle_time = time;
    }
    if (group->counted[column] == group->cycle) return;
    group->counted[column] = group->cycle;
    group->row[column]++;
}

#endif
