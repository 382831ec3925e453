/* SPDX-License-Identifier: Apache-2.0 */
/* Unions of what segments name, as test/oracle/index/unions.ts makes them. */
#ifndef USCOPE_INDEX_UNIONS_H
#define USCOPE_INDEX_UNIONS_H

#include "arena.h"
#include "output.h"
#include "texts.h"

enum { SET_FAN_OUT = 16, MAX_SET_LEVEL = 6, MAX_UNION = 4 * MAX_SET };

struct named_set {
    struct text *entries; /* MAX_UNION */
    uint32_t count;
    bool is_known;
};

struct union_level {
    struct named_set set;
    uint32_t segments; /* that it has, or unions of the finer level */
};

struct unions {
    struct union_level levels[MAX_SET_LEVEL];
    struct named_set given, spare;
    uint32_t list, segments;
    bool has_bits;
};

void unions_lay_out(struct unions *unions, struct arena *arena, uint32_t list, bool has_bits);
/* NULL: it is not known what the next segment names. */
void unions_add(struct unions *unions, const uint8_t *bytes, uint32_t size, struct output *out);
void unions_finish(struct unions *unions, struct output *out);

#endif
