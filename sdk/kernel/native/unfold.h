/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lane records (docs/bridge-protocol.md#lane-records) -> the plain records of their items, a piece of a
 * message at a time. sdk/src/bridge/session/unfold-lanes.ts is its reference, and does the work where there
 * is no addon; a property test compares the two.
 *
 * The message may lie in memory of another process, which may change or truncate it meanwhile.
 */
#ifndef USCOPE_UNFOLD_H
#define USCOPE_UNFOLD_H

#include <stdint.h>

#include "../constants.h"

/* The room that a piece has at least, in words: for the items of one record of 64 lanes. */
enum { UNFOLDED_WORDS_MAX = ADD_LANES_MAX * RECORD_WORDS };

/* Why a piece ends. */
enum unfold_stop {
    UNFOLD_PIECE,  /* it is full, or the message at its end */
    UNFOLD_APART,  /* the next record, of `length` words with its payload, is too large for any piece */
    UNFOLD_REFUSED /* the next record is not allowed */
};

/* TypeScript knows the order of the members. */
struct unfold {
    uint32_t at;         /* word of the message that is next; in and out */
    uint32_t length;     /* words in the piece */
    uint32_t extra;      /* items of the open frame that its END does not count, modulo 2^32; in and out */
    uint32_t refused[4]; /* the record that is not allowed, as it was read */
};

/* `words` up to `end`, which is a multiple of 4, into `piece`, which has `room`. */
enum unfold_stop unfold_lanes(struct unfold *unfold, const uint32_t *words, uint32_t end, uint32_t *piece,
                              uint32_t room);

#endif
