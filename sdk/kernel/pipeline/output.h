/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a trace (docs/bridge-protocol.md#records), gathered in frames: one per time at which
 * something happens. The reference is sdk/src/formats/pipeline/frames.ts with writer/records/record-batch.ts.
 */
#ifndef USCOPE_PIPELINE_OUTPUT_H
#define USCOPE_PIPELINE_OUTPUT_H

#include <stdint.h>

#include "../constants.h"
#include "bytes.h"

enum {
    BATCH_WORDS = 64 * 1024,
    /* A frame that is this large is pushed before its time ends. */
    MOST_WAITING_WORDS = 2 * 1024 * 1024,
};

/* Type and payload size of an event. */
struct event {
    uint32_t id, size;
};

/* Records that are not pushed yet. */
const uint32_t *words_at(void);
uint32_t words_length(void);
void words_clear(void);

/* Whether they are to be pushed, after `frame_close`. */
uint32_t is_full(void);
/* The same before something happens at `time`: a frame of an earlier time is closed. */
uint32_t is_full_before(uint64_t time);
void frame_close(void);
/* After the last record. */
void finish(void);

/* What happens from here on happens at `time`; never decreasing. */
void move_to(uint64_t time);
void put_op(uint32_t action, uint32_t storage, uint32_t slot, uint32_t field, uint64_t value);
/* The payload, of zeros, which the caller fills before the next item. */
uint8_t *put_event(struct event event);
void put_string(uint64_t index, const uint8_t *text, uint32_t size);

INLINE void put8(uint8_t *at, uint64_t value)
{
    *at = (uint8_t)value;
}

INLINE void put16(uint8_t *at, uint64_t value)
{
    uint16_t part = (uint16_t)value;
    __builtin_memcpy(at, &part, sizeof part);
}

INLINE void put32(uint8_t *at, uint64_t value)
{
    uint32_t part = (uint32_t)value;
    __builtin_memcpy(at, &part, sizeof part);
}

INLINE void put64(uint8_t *at, uint64_t value)
{
    __builtin_memcpy(at, &value, sizeof value);
}

#endif
