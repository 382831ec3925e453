/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody who asked for a name that is not there may have meant. */
#ifndef USCOPEI_SUGGEST_H
#define USCOPEI_SUGGEST_H

#include <stddef.h>
#include <stdint.h>

/* `index` from 0; the name lives as long as `names`. */
typedef const char *(*uscopei_name_fn)(const void *names, uint32_t index);

/* Writes "; did you mean "a", "b"?" with up to three of `count` names that are near, "; there are none"
 * without any names, or else the first few that there are; always a complete text of less than `size` bytes.
 * Returns `out`. */
const char *uscopei_suggest(const char *name, uscopei_name_fn name_of, const void *names, uint32_t count,
                            char *out, size_t size);

#endif
