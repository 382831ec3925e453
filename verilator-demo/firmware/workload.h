/* The program that the core runs. It is plain C without a library, compiled twice: for the core, and for the host,
 * where the harness runs it to know what the core must print and which checksum it must reach. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*put_char_fn)(char c);

/* Runs everything, prints one line per part, returns a checksum over all results. */
uint32_t workload_run(void);

/* On the host only: runs it, printing through put. */
uint32_t host_run(put_char_fn put);

/* Parts in separate files. */
uint32_t interpret_program(void);
void start_samples(void);
uint32_t filter_samples(void);

#ifdef __cplusplus
}
#endif

#endif
