/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a segment applied to a state, for the reader: what FrameCursor and StorageState.apply
 * (sdk/src/format/frame-cursor.ts, sdk/src/state/storage-state.ts) do with ordinary items. It stops in front
 * of everything else: a frame that begins late, an id that the schema does not have, damage, the last bytes.
 *
 * Pointers are offsets into the memory that sdk/src/reader/kernel/replay.ts fills; it knows the order of the
 * members.
 */
#ifndef USCOPE_REPLAY_H
#define USCOPE_REPLAY_H

#include <stdint.h>

struct storage {
    uint32_t slots, fields, properties;
    uint32_t *occupied; /* number of its slots that are */
    uint64_t *cells;    /* of slot 0, and of the others after it */
    uint64_t *property_cells;
    uint8_t *mask;              /* occupied slots */
    const uint64_t *value_mask; /* truncates to the width of each field, then of each property */
};

struct replay {
    const uint8_t *bytes; /* interleaved frames */
    uint32_t end;
    const struct storage *storages;
    uint32_t num_storages;
    const uint32_t *event_sizes; /* packed payload bytes by event type */
    uint32_t num_events;
    /* in and out */
    uint32_t at;
    uint32_t items_left; /* of the present frame */
    uint32_t frames;     /* begun so far */
    uint32_t reserved;
    uint64_t time;  /* of the present frame, ps */
    uint64_t until; /* in: frames after this time are not begun */
};

void replay(struct replay *r);

#endif
