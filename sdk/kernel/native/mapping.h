/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of other processes mapped for reading. Without protection, another process that truncates such a
 * file would end this one with SIGBUS at the next read. Here the rest of the mapping becomes zeros instead.
 *
 * The handler of SIGBUS is set with the first mapping. It passes other signals on to the previous handler.
 */
#ifndef USCOPE_MAPPING_H
#define USCOPE_MAPPING_H

#include <stddef.h>
#include <stdint.h>

enum { MAPPINGS_MAX = 256 };

/* The first `size` bytes of the file; NULL: they cannot be mapped, or there are MAPPINGS_MAX already. */
uint8_t *mapping_open(int fd, size_t size);
void mapping_close(uint8_t *start);

#endif
