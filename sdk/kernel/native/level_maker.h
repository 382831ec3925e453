/* SPDX-License-Identifier: Apache-2.0 */
/* The levels of an index directory (../index/directory.h) with memory for them, made while segments are
 * written. */
#ifndef USCOPE_LEVEL_MAKER_H
#define USCOPE_LEVEL_MAKER_H

#include <stdint.h>

#include "../index/directory.h"

struct level_maker;

/* Takes a copy of the plan. NULL: no memory, or the schema is too large. */
struct level_maker *level_maker_open(const uint32_t *plan, uint32_t words, uint64_t start, uint64_t end);
void level_maker_close(struct level_maker *maker);

/* What was put out, until the next call; NULL: it cannot be made this way. */
const uint8_t *level_maker_add(struct level_maker *maker, const uint8_t *parts, uint32_t size, uint32_t count,
                               uint32_t *made);
/* Of the next list. */
const uint8_t *level_maker_finish(struct level_maker *maker, uint64_t end, uint32_t *made);

#endif
