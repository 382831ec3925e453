/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LZ4 blocks (docs/format.md#compression) decompressed, for the reader. What breaks the block format is not
 * reported but refused: the decoder in sdk/src/format/compression.ts has the last word on such blocks, and
 * says what is wrong with them.
 */
#ifndef USCOPE_LZ4_DECODE_H
#define USCOPE_LZ4_DECODE_H

#include <stdint.h>

/* Bytes after source and target that may be read and written: copies go in whole vectors. */
enum { LZ4_SLACK = 32 };

/* 1 when the block of `size` bytes yields exactly `raw_size` bytes, which then are at `target`. */
uint32_t lz4_decompress(const uint8_t *source, uint32_t size, uint8_t *target, uint32_t raw_size);

#endif
