/* SPDX-License-Identifier: Apache-2.0 */
/* The table of ops for tests: of all storages one after the other, and after them the one that no record
 * is. */
#ifndef USCOPE_TEST_OPS_H
#define USCOPE_TEST_OPS_H

#include "frame_run.h"

/* `masks` of all fields and properties; after the storages is one without slots. */
static void fill_ops(const struct storage *storages, uint32_t count, const uint64_t *masks, struct op *none)
{
    *none = (struct op){.apart = ADDS, .storage = storages + count, .next = none, .after = none};
    for (uint32_t id = 0; id < count; id++) {
        const struct storage *s = storages + id;
        for (uint32_t i = 0; i < 2 * (s->fields + s->properties); i++) {
            uint32_t action = i & 1 ? 3 : 1, field = i / 2;
            s->ops[i] = (struct op){.mask = *(masks + field),
                                    .head = 1 | action << 8 | id << 16 | (uint64_t)field << 48,
                                    .apart = i & 1 ? ADDS : 0,
                                    .storage = s,
                                    .cells = s->cells + field,
                                    .next = none,
                                    .after = none};
        }
        masks += s->fields + s->properties;
    }
}

#endif
