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

/* The greatest number that is packed. */
static const uint64_t MAX_PACKED = (uint64_t)1 << 51;

static uint64_t packed_size(uint64_t least, uint64_t most, uint32_t rows)
{
    if (most > MAX_PACKED || (most - least) >> MAX_PACKED_BITS) return UINT64_MAX;
    return leb_size(least) + 1 + ((uint64_t)rows * bit_size(most - least) + 7) / 8;
}

static void put_packed(struct output *out, const struct table *table, uint32_t column, uint64_t least,
                       uint64_t most)
{
    uint32_t bits = bit_size(most - least), filled = 0;
    uint64_t word = 0;
    put_leb(out, least);
    put_byte(out, (uint8_t)bits);
    for (uint32_t row = 0; row < table->rows; row++) {
        word |= (cell(table, row, column) - least) << filled;
        for (filled += bits; filled >= 8; filled -= 8, word >>= 8)
            put_byte(out, (uint8_t)word);
    }
    if (filled) put_byte(out, (uint8_t)word);
}

static void put_column(struct output *out, const struct table *table, uint32_t column)
{
    if (is_constant(table, column)) {
        put_byte(out, FORM_CONSTANT);
        put_leb(out, cell(table, 0, column));
        return;
    }
    uint64_t plain = 0, sparse = 0, differences = 0, before = 0, least = UINT64_MAX, most = 0;
    uint32_t filled = 0, next = 0;
    for (uint32_t row = 0; row < table->rows; row++) {
        uint64_t value = cell(table, row, column);
        if (value < least) least = value;
        if (value > most) most = value;
        plain += leb_size(value);
        differences += leb_size(zigzag(value - before));
        before = value;
        if (!value) continue;
        sparse += leb_size(row - next) + leb_size(value);
        next = row + 1;
        filled++;
    }
    sparse += leb_size(filled);
    uint64_t packed = packed_size(least, most, table->rows);
    /* Of two that are as short the first. */
    if (packed < plain && packed < sparse && packed < differences) {
        put_byte(out, FORM_PACKED);
        put_packed(out, table, column, least, most);
    } else if (plain <= sparse && plain <= differences) {
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
