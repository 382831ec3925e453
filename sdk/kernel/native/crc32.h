/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32 as in zlib, gzip and PNG (reflected polynomial 0xEDB88320): what the commit record of a segment
 * holds of its blob.
 */
#ifndef USCOPE_CRC32_H
#define USCOPE_CRC32_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32_of(const uint8_t *bytes, size_t size);
/* The same without instructions that not every processor has. */
uint32_t crc32_portable(const uint8_t *bytes, size_t size);

#endif
