/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When slots of one storage are taken in a segment, or events of one type happen: for questions about a
 * place. As `replay` it stops in front of what is not ordinary, and where it has no room for one more. It is
 * given the limits of the schema to know what that is.
 *
 * Pointers are offsets into the memory that sdk/src/reader/kernel/watch.ts fills; it knows the order of the
 * members.
 */
#ifndef USCOPE_WATCH_H
#define USCOPE_WATCH_H

#include <stdint.h>

struct watch_limits {
    uint32_t slots, fields, properties;
};

struct watch {
    const uint8_t *bytes; /* interleaved frames */
    uint32_t end;
    const struct watch_limits *limits; /* by storage */
    uint32_t num_storages;
    const uint32_t *event_sizes; /* packed payload bytes by event type */
    uint32_t num_events;
    /* in and out */
    uint32_t at;
    uint32_t items_left; /* of the present frame */
    uint32_t frames;     /* begun so far */
    uint32_t count;      /* of what was found */
    uint64_t time;       /* of the present frame, ps */
    uint64_t until;      /* in: frames after this time are not begun */
    /* in */
    uint32_t storage;      /* UINT32_MAX: no slots are looked for */
    uint8_t *taken;        /* by slot, in and out */
    uint32_t event;        /* UINT32_MAX: no events are */
    uint32_t label;        /* offset in the payload + 1; 0: any event is wanted */
    const uint8_t *wanted; /* by value of the label */
    uint64_t from;         /* events before this time are not wanted */
    uint64_t *times;
    uint16_t *slots;
    uint32_t capacity;
};

void watch(struct watch *w);

#endif
