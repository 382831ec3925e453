/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that grows with what is in flight; nothing is given back before the end. */
#ifndef USCOPE_PIPELINE_MEMORY_H
#define USCOPE_PIPELINE_MEMORY_H

#include <stdint.h>

/* Bytes, 16-aligned; NULL: there are no more. */
void *memory_take(uint32_t bytes);
/* Zeros for `count` things of this size, that begin with the first `used` ones of `before`; it stops the
 * program when there are no more. */
void *memory_grow(const void *before, uint32_t used, uint32_t count, uint32_t size);

#endif
