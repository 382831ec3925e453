/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer's inner loop, compiled: a run of ordinary frames goes from records
 * (docs/bridge-protocol.md#records) to the delta blob of a segment (docs/format.md#interleaved-frames) and
 * into the shadow state, in one pass.
 *
 * The writer's plain path (sdk/src/writer/frames/frame-checker.ts, frame-encoder.ts) is its reference: a
 * property test compares the files that the two write. The plain path also takes what is not ordinary (a
 * frame that a message cuts, one that is out of order or breaks the schema, one with which a segment ends),
 * and everything where there is no WebAssembly.
 *
 * Built by the Makefile next to it for wasm32, where every pointer below is an offset into the one memory
 * shared with TypeScript (sdk/src/writer/frames/frame-kernel.ts, which knows the order of the members), and
 * natively for its own test.
 */
#ifndef USCOPE_FRAME_RUN_H
#define USCOPE_FRAME_RUN_H

#include <stdint.h>

#include "sums.h"

struct storage;

/*
 * What SET, or ADD, does to a field of a storage's slots; of a property, nothing but the mask. A storage has
 * two for each field, SET and ADD, then two for each property.
 */
struct op {
    uint64_t mask;   /* truncates to the field's width */
    uint64_t head;   /* first half of its records, of slot 0 */
    uint32_t apart;  /* ADDS, SUMMED: does more than to write */
    uint32_t source; /* the sum it goes to */
    const struct storage *storage;
    uint64_t *cells; /* of slot 0 */
    /* what followed it in the same slot the last time, to be tried first */
    uint64_t step;     /* from the first half of this one's record to that of the next */
    int32_t cell_step; /* bytes */
    const struct op *next;
    const struct op *after; /* what followed it in another slot or storage the last time */
};

enum { ADDS = 1, SUMMED = 2 };

struct storage {
    uint32_t slots, fields, properties;
    uint32_t number;    /* of the schema */
    uint32_t sparse;    /* checkpoints hold its occupied slots only, else all */
    uint32_t *occupied; /* number of its slots that are */
    uint64_t *cells;    /* of slot 0, and of the others after it */
    uint64_t *property_cells;
    uint8_t *mask;  /* occupied slots */
    struct op *ops; /* see there */
};

struct run {
    /* where things are */
    const uint32_t *words; /* records */
    uint8_t *out;          /* encoded frames; room for the records' bytes and OUT_SLACK more */
    const struct storage *storages;
    const uint64_t *events; /* first half of an event's record, by type */
    uint32_t num_storages, num_events;
    struct sums sums;
    /* what to do */
    uint32_t end;          /* words */
    uint32_t margin_begin; /* of frames that begin at or after this word, only whole ones are tried */
    uint32_t soft_limit, hard_limit; /* bytes of `out` at which the segment is to be cut */
    /* in and out */
    uint32_t begin;   /* first word not taken */
    uint32_t compact; /* form of the last frame */
    /* out */
    uint32_t out_length; /* bytes */
    uint32_t frames, active_frames, items;
    uint32_t dropped; /* a frame was begun and given up: the state holds a part of it */
    struct op *none;  /* in: an op of a storage without slots, apart, followed by itself */
    uint64_t grid;    /* ps: the segment ends before this time */
    uint64_t last;    /* in and out: time of the last frame, ps */
    uint64_t ordinal; /* in and out: of the next frame */
};

enum { OUT_SLACK = 64, CHECKPOINT_SLACK = 8 };

void frame_run(struct run *r);

void sums_add(struct run *r, uint32_t source, uint32_t lo, uint32_t hi);
void sums_end_frame(struct run *r, uint32_t lo, uint32_t hi);
void sums_abort_frame(struct run *r);
/* Hands on everything that is open. */
void sums_close(struct run *r);

/*
 * The checkpoint of the state (docs/format.md#checkpoints), at an address with room for it and
 * CHECKPOINT_SLACK; returns its size.
 */
uint32_t encode_checkpoint(const struct run *r, uint8_t *out);

/* Provided by the caller: the STRING record at this word. */
IMPORT("take_string") void take_string(uint32_t word);

#endif
