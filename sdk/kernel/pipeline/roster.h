/* SPDX-License-Identifier: Apache-2.0 */
/* Which instructions of a log are in flight; the reference is sdk/src/formats/pipeline/roster.ts. */
#ifndef USCOPE_PIPELINE_ROSTER_H
#define USCOPE_PIPELINE_ROSTER_H

#include <stdint.h>

enum { MOST_LIVES = 1 << 16 };

/* Whether the address of an instruction is to be looked for in what is said of it. */
enum pc_state {
    PC_NOT_SEEN,
    /* No more: it is known, or there is none. */
    PC_SETTLED,
    /* The caller looks for it. */
    PC_CALLER,
};

struct life {
    uint64_t id;
    uint32_t slot;
    /* Number of the instruction. */
    uint32_t birth;
    uint16_t is_taken;
    uint8_t is_declared;
    uint8_t pc;
};

uint32_t roster_count(void);
/* NULL: it is not in flight. Valid until the next call that adds or removes. */
struct life *roster_get(uint64_t id);
/* Of one that is not in flight: whether its number is above all so far. */
int roster_is_new(uint64_t id);
/* It is not in flight yet, and there are fewer than MOST_LIVES. */
struct life *roster_add(uint64_t id);
void roster_remove(struct life *life);

#endif
