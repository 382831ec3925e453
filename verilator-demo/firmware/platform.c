/* What the core lacks: a console, multiplication, division, and the memory functions a compiler may call. */
#include <stddef.h>
#include <stdint.h>

#include "workload.h"

#define CONSOLE (*(volatile uint32_t *)0x10000000u)
#define RESULT (*(volatile uint32_t *)0x10000004u)

static void console_put(char c) { CONSOLE = (uint8_t)c; }

/* Called by start.S; the core stops at the ECALL that follows its return. */
void firmware_main(void) { RESULT = workload_run(console_put); }

/* Names and signatures below are those that the compiler's code generator expects. */

uint32_t __mulsi3(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (; b; b >>= 1, a <<= 1) {
    if (b & 1) product += a;
  }
  return product;
}

static uint32_t divide(uint32_t dividend, uint32_t divisor, uint32_t *remainder) {
  uint32_t quotient = 0, rest = 0;
  for (int bit = 31; bit >= 0; bit--) {
    uint32_t carry = rest >> 31;
    rest = (rest << 1) | ((dividend >> bit) & 1);
    if (carry || rest >= divisor) {
      rest -= divisor;
      quotient |= 1u << bit;
    }
  }
  *remainder = rest;
  return quotient;
}

uint32_t __udivsi3(uint32_t a, uint32_t b) {
  uint32_t remainder;
  return divide(a, b, &remainder);
}

uint32_t __umodsi3(uint32_t a, uint32_t b) {
  uint32_t remainder;
  divide(a, b, &remainder);
  return remainder;
}

void *memset(void *to, int value, size_t n) {
  uint8_t *p = to;
  while (n--) *p++ = (uint8_t)value;
  return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
  uint8_t *p = to;
  const uint8_t *q = from;
  while (n--) *p++ = *q++;
  return to;
}
