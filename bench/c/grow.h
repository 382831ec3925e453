/* A trace whose width is free: how cost grows with items per cycle and with storages. */
#ifndef BENCH_GROW_H
#define BENCH_GROW_H

#include <stdint.h>

/* `cycles` of `items` each, over the first `storages` storages of the schema in turn, each of 64 slots with
 * one U32. Prints one JSON object: items, the seconds to the completed file, ns per item of the thread, and
 * the file's bytes. */
void bench_grow(uint64_t cycles, uint64_t items, uint64_t storages);

#endif
