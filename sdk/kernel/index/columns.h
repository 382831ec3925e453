/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of numbers in the shortest of some forms: docs/format.md#index-columns,
 * sdk/src/trace-index/columns.ts. */
#ifndef USCOPE_INDEX_COLUMNS_H
#define USCOPE_INDEX_COLUMNS_H

#include <stdint.h>

#include "output.h"

enum form { FORM_ZERO, FORM_CONSTANT, FORM_PLAIN, FORM_SPARSE, FORM_DIFFERENCES, FORM_PACKED };
/* Most bits of a packed number. */
enum { MAX_PACKED_BITS = 24 };

/* Numbers of a table, one row after the other. */
struct table {
    const uint64_t *cells;
    uint32_t rows, columns;
    uint32_t stride; /* cells from row to row */
};

void put_columns(struct output *out, const struct table *table);

#endif
