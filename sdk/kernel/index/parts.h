/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of the parts of a container: docs/format.md#index-containers. */
#ifndef USCOPE_INDEX_PARTS_H
#define USCOPE_INDEX_PARTS_H

enum {
    PART_TIME = 1,
    PART_ROWS = 2,
    PART_STATS = 3,
    PART_PCS = 4,
    PART_STRINGS = 5,
    PART_CARRY = 6,
    PART_OCCUPANCY = 7,
    PART_DROPPED = 8,
};

#endif
