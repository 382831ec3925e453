/* What the program needs beyond C: written for the core in platform.c and dot.S, for the host in host.c. */
#ifndef PLATFORM_H
#define PLATFORM_H

#include <stdint.h>

/* Prints a character; on the core a system call. */
void platform_put(char c);

/* Bits that are set; on the core by an instruction that it does not have and that a trap handler emulates. */
uint32_t platform_count_ones(uint32_t value);

/* A word at any address; on the core by a load that is not aligned and a trap handler. */
uint32_t platform_load_unaligned(const uint8_t *at);

/* Calls tick again and again, from a timer interrupt every `period` cycles, until it is stopped. */
void platform_start_timer(uint32_t period, void (*tick)(void));
void platform_stop_timer(void);

/* Waits for a tick unless *counter has moved on from `seen` already. */
void platform_wait(const volatile uint32_t *counter, uint32_t seen);

/* Sum of the 64-bit products. */
uint64_t dot_product(const uint32_t *a, const uint32_t *b, uint32_t n);

#endif
