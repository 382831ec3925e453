/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of a page, before they are encoded. A column has one definition level for each value: 1, or 0 where
 * it is missing. Each function copies the values that are there to `present`, and returns how many these are.
 */
#ifndef USCOPE_PARQUET_COLUMNS_H
#define USCOPE_PARQUET_COLUMNS_H

#include <stdint.h>

/* Whole numbers of at most 53 bits; NaN: missing. */
uint32_t present_numbers(const double *values, uint32_t count, int64_t *present, uint32_t *levels);
/* Numbers of 64 bits; `missing` is not 0 where there is none. */
uint32_t present_words(const int64_t *values, const uint8_t *missing, uint32_t count, int64_t *present,
                       uint32_t *levels);
/* Indices of a dictionary; negative: missing. */
uint32_t present_codes(const int32_t *values, uint32_t count, uint32_t *present, uint32_t *levels);

/*
 * Levels of a field of the entries of lists. `counts` has the entries of each row, `levels` what the
 * functions above give for the field of all entries; `filled` is the level of a field that is there. A row
 * without entries has level 1. Returns the number of levels.
 */
uint32_t list_levels(const uint32_t *counts, uint32_t rows, const uint32_t *levels, uint32_t filled,
                     uint32_t *repetition, uint32_t *definition);

/* The smallest and the largest of at least one value. */
void bounds(const int64_t *values, uint32_t count, int64_t *lowest_and_highest);

#endif
