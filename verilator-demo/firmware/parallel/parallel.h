/* The program that several cores run on one memory. It is plain C with the compiler's atomic builtins, compiled twice: for
 * the cores, and for the host, where one thread plays the only core. The results do not depend on which core does what, and when. */
#ifndef PARALLEL_H
#define PARALLEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*put_char_fn)(char c);

/* Run by every core. Core 0 prints, and gets the checksum over all results. */
uint32_t parallel_run(uint32_t core, uint32_t cores);

/* On the host only: runs it as one core, printing through put. */
uint32_t host_run(put_char_fn put);

/* Written for the core in boot.S, for the host in host.c. */
void platform_put(char c);

#ifdef __cplusplus
}
#endif

#endif
