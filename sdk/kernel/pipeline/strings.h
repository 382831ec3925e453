/* SPDX-License-Identifier: Apache-2.0 */
/* The strings of a trace; the reference is sdk/src/formats/pipeline/trace-strings.ts, which forgets at the
 * same places. */
#ifndef USCOPE_PIPELINE_STRINGS_H
#define USCOPE_PIPELINE_STRINGS_H

#include <stdint.h>

/* Number of the string, of at most MAX_STRING_BYTES; a new one becomes a record. Up to 8 bytes after it are
 * read. */
uint32_t string_of(const uint8_t *text, uint32_t size);

#endif
