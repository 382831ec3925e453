/* SPDX-License-Identifier: Apache-2.0 */
#include "columns.h"

static uint64_t cell(const struct table *table, uint32_t row, uint32_t column)
{
    return table->cells[(uint64_t)row * table->stride + column];
}

static bool is_zero(const struct table *table, uint32_t column)
{
    for (uint32_t row = 0; row < table->rows; row++)
        if (cell(table, row, column)) return false;
    return true;
}

static bool is_constant(const struct table *table, uint32_t column)
{
    for (uint32_t row = 1; row < table->rows; row++)
        if (cell(table, row, column) != cell(table, 0, column)) return false;
    return true;
}

static void put_plain(struct output *out, const struct table *table, uint32_t column)
{
    for (uint32_t row = 0; row < table->rows; row++)
        put_leb(out, cell(table, row, column));
}

static void put_sparse(struct output *out, const struct table *table, uint32_t column, uint32_t filled)
{
    put_leb(out, filled);
    uint32_t next = 0;
    for (uint32_t row = 0; row < table->rows; row++) {
        uint64_t value = cell(table, row, column);
        if (!value) continue;
        put_leb(out, row - next);
        put_leb(out, value);
        next = row + 1;
    }
}

static void put_differences(struct output *out, const struct table *table, uint32_t column)
{
    uint64_t before = 0;
    for (uint32_t row = 0; row < table->rows; row++) {
        uint64_t value = cell(table, row, column);
        put_leb(out, zigzag(value - before));
        before = value;
    }
}

static void put_column(struct output *out, const struct table *table, uint32_t column)
{
    if (is_constant(table, column)) {
        put_byte(out, FORM_CONSTANT);
        put_leb(out, cell(table, 0, column));
        return;
    }
    uint64_t plain = 0, sparse = 0, differences = 0, before = 0;
    uint32_t filled = 0, next = 0;
    for (uint32_t row = 0; row < table->rows; row++) {
        uint64_t value = cell(table, row, column);
        plain += leb_size(value);
        differences += leb_size(zigzag(value - before));
        before = value;
        if (!value) continue;
        sparse += leb_size(row - next) + leb_size(value);
        next = row + 1;
        filled++;
    }
    sparse += leb_size(filled);
    /* Of two that are as short the first. */
    if (plain <= sparse && plain <= differences) {
        put_byte(out, FORM_PLAIN);
        put_plain(out, table, column);
    } else if (sparse <= differences) {
        put_byte(out, FORM_SPARSE);
        put_sparse(out, table, column, filled);
    } else {
        put_byte(out, FORM_DIFFERENCES);
        put_differences(out, table, column);
    }
}

void put_columns(struct output *out, const struct table *table)
{
    for (uint32_t column = 0; column < table->columns;) {
        uint32_t end = column;
        while (end < table->columns && is_zero(table, end))
            end++;
        if (end > column) {
            put_byte(out, FORM_ZERO);
            put_leb(out, end - column - 1);
            column = end;
            continue;
        }
        put_column(out, table, column++);
    }
}
