/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An LZ4 block compressor for delta blobs (docs/format.md#compression). Any LZ4 decoder reads what it writes.
 * It differs from the common one in how it looks for matches:
 *
 * - The frames of a trace differ from earlier ones in a few bytes here and there: a slot, a value. So where a
 *   match ends, it is first tried whether it continues after one to four bytes with the same offset. That
 *   needs no look into the table, whose result the next step would have to wait for, and stays with the one
 *   earlier frame that is most like this one: both faster and smaller.
 * - Where it does not continue, the records are like ones of several earlier frames: each has a new number,
 * of which the low byte differs, before bytes that were seen often. So the table is searched for what begins
 * one byte after the end of a match, and as long as that is found the offset at hand comes second. Only where
 *   neither knows anything is a match searched for byte by byte.
 * - What takes time there is waiting: for the table, for the bytes it names, for their comparison, and only
 *   then would be known where the next match begins. The lengths that are usual are therefore jumps instead
 *   of sums (behind_match), which the processor guesses.
 * - The table has 2^14 entries of 16 bits, a position modulo the 64 KiB an LZ4 offset can reach back.
 */
#ifndef USCOPE_LZ4_H
#define USCOPE_LZ4_H

#include <stdint.h>

enum {
    LZ4_TABLE_BITS = 14,
    LZ4_TABLE_BYTES = 2 << LZ4_TABLE_BITS,
    LZ4_SLACK = 32, /* bytes after `source` that may be read, and after the result that may be written */
};

/* Most bytes that `size` bytes may become. */
static inline uint32_t lz4_bound(uint32_t size)
{
    return size + size / 255 + 16;
}

/*
 * Compresses `size` bytes to `target`, which has room for lz4_bound(size) + LZ4_SLACK; returns the size of
 * the block. `table` has LZ4_TABLE_BYTES. The same bytes always become the same block.
 */
uint32_t lz4_compress(uint16_t *table, const uint8_t *source, uint32_t size, uint8_t *target);

#endif
