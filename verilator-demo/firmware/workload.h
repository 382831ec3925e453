/* The program that the core runs. It is plain C without a library, compiled twice: for the core, and for the host,
 * where the harness runs it to know what the core must print and which checksum it must reach. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*put_char_fn)(char c);

/* Runs everything, prints one line per part through put, returns a checksum over all results. */
uint32_t workload_run(put_char_fn put);

#ifdef __cplusplus
}
#endif

#endif
