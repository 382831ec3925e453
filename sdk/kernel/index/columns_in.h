/* SPDX-License-Identifier: Apache-2.0 */
/* Columns read into rows of doubles: docs/format.md#index-columns. */
#ifndef USCOPE_INDEX_COLUMNS_IN_H
#define USCOPE_INDEX_COLUMNS_IN_H

#include "output.h"

/* `columns` of `rows` numbers each: column `c` of row `r` comes to cells[r * columns + c]. `is_signed`: by
 * column, NULL: none. False: it is malformed. */
bool get_columns(struct input *in, double *cells, uint32_t rows, uint32_t columns, const uint8_t *is_signed);

#endif
