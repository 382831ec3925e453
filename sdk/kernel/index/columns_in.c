/* SPDX-License-Identifier: Apache-2.0 */
#include "columns_in.h"

#include "bytes.h"
#include "columns.h"

static double number_of(uint64_t value, bool is_signed)
{
    if (!is_signed) return (double)value;
    return (double)(int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* Small numbers, which most are, without a loop. */
static inline uint64_t get_small(struct input *in)
{
    if (in->at < in->end && *in->at < 0x80) return *in->at++;
    return get_leb(in);
}

static void get_constant(struct input *in, double *cells, uint32_t rows, uint32_t stride, bool is_signed)
{
    double value = number_of(get_leb(in), is_signed);
    for (uint32_t row = 0; row < rows; row++, cells += stride)
        *cells = value;
}

static void get_plain(struct input *in, double *cells, uint32_t rows, uint32_t stride, bool is_signed)
{
    for (uint32_t row = 0; row < rows && !in->failed; row++, cells += stride)
        *cells = number_of(get_small(in), is_signed);
}

static void get_sparse(struct input *in, double *cells, uint32_t rows, uint32_t stride, bool is_signed)
{
    uint64_t next = 0;
    for (uint64_t left = get_small(in); left > 0 && !in->failed; left--) {
        uint64_t distance = get_small(in);
        if (distance >= rows - next) in->failed = true;
        if (in->failed) return;
        next += distance;
        cells[next * stride] = number_of(get_small(in), is_signed);
        next++;
    }
}

static void get_differences(struct input *in, double *cells, uint32_t rows, uint32_t stride, bool is_signed)
{
    uint64_t value = 0;
    for (uint32_t row = 0; row < rows && !in->failed; row++, cells += stride) {
        uint64_t by = get_small(in);
        value += by >> 1 ^ (0 - (by & 1));
        *cells = number_of(value, is_signed);
    }
}

static void get_packed(struct input *in, double *cells, uint32_t rows, uint32_t stride, bool is_signed)
{
    uint64_t least = get_leb(in);
    const uint8_t *width = get_bytes(in, 1);
    uint32_t bits = width ? *width : 0, filled = 0;
    if (bits < 1 || bits > MAX_PACKED_BITS) in->failed = true;
    if (in->failed) return;
    const uint8_t *bytes = get_bytes(in, ((uint64_t)rows * bits + 7) / 8);
    if (!bytes) return;
    uint64_t word = 0;
    for (uint32_t row = 0; row < rows; row++, cells += stride) {
        for (; filled < bits; filled += 8)
            word |= (uint64_t)*bytes++ << filled;
        *cells = number_of(least + (word & (((uint64_t)1 << bits) - 1)), is_signed);
        word >>= bits;
        filled -= bits;
    }
}

bool get_columns(struct input *in, double *cells, uint32_t rows, uint32_t columns, const uint8_t *is_signed)
{
    clear_bytes(cells, (uint64_t)rows * columns * sizeof *cells);
    for (uint32_t column = 0; column < columns;) {
        const uint8_t *form = get_bytes(in, 1);
        if (!form) return false;
        if (*form == FORM_ZERO) {
            uint64_t more = get_leb(in);
            if (in->failed || more >= columns - column) return false;
            column += (uint32_t)more + 1;
            continue;
        }
        bool has_sign = is_signed && is_signed[column];
        double *first = cells + column++;
        if (*form == FORM_CONSTANT)
            get_constant(in, first, rows, columns, has_sign);
        else if (*form == FORM_PLAIN)
            get_plain(in, first, rows, columns, has_sign);
        else if (*form == FORM_SPARSE)
            get_sparse(in, first, rows, columns, has_sign);
        else if (*form == FORM_DIFFERENCES)
            get_differences(in, first, rows, columns, has_sign);
        else if (*form == FORM_PACKED)
            get_packed(in, first, rows, columns, has_sign);
        else
            return false;
        if (in->failed) return false;
    }
    return true;
}
