/* SPDX-License-Identifier: Apache-2.0 */
/* What the loops ask of the compiler, which has no library here. */
#ifndef USCOPE_BLOCKS_COMPILER_H
#define USCOPE_BLOCKS_COMPILER_H

#define COPY(to, from, size) __builtin_memcpy(to, from, size)
#define CLEAR(at, size)      __builtin_memset(at, 0, size)
/* The loop over items takes them in, and keeps an item in registers. */
#define INLINE               static inline __attribute__((always_inline))
#define APART                static __attribute__((noinline))
#define RARE(condition)      __builtin_expect((condition) != 0, 0)

#endif
