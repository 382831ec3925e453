/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include "bytes.h"

static void begin_row(struct group *group)
{
    uint64_t stride = group->columns + 1;
    /* After the rows that are kept there is room for one more. */
    group->row = group->cells + group->rows * stride + 1;
    clear_bytes(group->row - 1, stride * sizeof *group->row);
}

static void set_bucket(struct group *group, uint64_t bucket)
{
    group->bucket = bucket;
    bool is_last = bucket >= UINT64_MAX / group->bucket_ps;
    group->end = is_last ? UINT64_MAX : (bucket + 1) * group->bucket_ps;
}

void group_open(struct group *group, uint64_t time)
{
    group->aligned = time % group->period == 0;
    group->cycle_time = UINT64_MAX;
    set_bucket(group, time / group->bucket_ps);
    begin_row(group);
}

/* The present row ends, and the next one begins with bucket `next`. */
static void end_row(struct group *group, uint64_t next)
{
    for (struct track *track = group->tracks; track; track = track->next) {
        if (track->least != UINT32_MAX) {
            group->row[track->column + 1] = track->least + 1;
            group->row[track->column + 2] = track->most + 1;
        }
        track->least = UINT32_MAX;
        track->most = 0;
    }
    group->row[-1] = next - group->bucket - 1;
    if (group->rows < group->capacity)
        group->rows++;
    else
        group->full = true;
    set_bucket(group, next);
    begin_row(group);
}

static void end_row_at(struct group *group, uint64_t next)
{
    for (struct track *track = group->tracks; track; track = track->next)
        track_lasted(track, next * group->bucket_ps, group->row);
    end_row(group, next);
}

void group_advance(struct group *group, uint64_t time)
{
    uint64_t bucket = time / group->bucket_ps;
    if (bucket == group->bucket) return;
    end_row_at(group, group->bucket + 1);
    if (bucket > group->bucket) end_row_at(group, bucket);
}

void group_close(struct group *group, uint64_t to)
{
    for (struct track *track = group->tracks; track; track = track->next)
        track_lasted(track, to, group->row);
    end_row(group, group->bucket + 1);
}
