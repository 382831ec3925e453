// What every core runs: sorting, a checksum with a table, multiplications and divisions (from libgcc where the core has none), bytes and
// halfwords, calls through pointers. The result is the same on all of them.
#include <stdint.h>

#define RESULT (*(volatile uint32_t *)0x10000000u)
#define TIMER (*(volatile uint32_t *)0x10000004u)

#ifndef ROUNDS
#define ROUNDS 2
#endif

volatile uint32_t traps, interrupts;

static uint32_t next(uint32_t *state) {
  uint32_t x = *state;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return *state = x;
}

static uint16_t values[64];
static uint32_t table[256];

static void sort(uint16_t *v, int n) {
  for (int i = 1; i < n; i++) {
    uint16_t x = v[i];
    int j = i;
    for (; j > 0 && v[j - 1] > x; j--) v[j] = v[j - 1];
    v[j] = x;
  }
}

static uint32_t crc(const uint8_t *bytes, int n) {
  uint32_t c = ~0u;
  for (int i = 0; i < n; i++) c = table[(c ^ bytes[i]) & 255] ^ (c >> 8);
  return ~c;
}

static int32_t add(int32_t a, int32_t b) { return a + b; }
static int32_t subtract(int32_t a, int32_t b) { return a - b; }
static int32_t multiply(int32_t a, int32_t b) { return a * b; }
static int32_t divide(int32_t a, int32_t b) { return b ? a / b : 7; }
static int32_t remain(int32_t a, int32_t b) { return b ? a % b : 9; }
static int32_t (*const operations[])(int32_t, int32_t) = {add, subtract, multiply, divide, remain};

#if defined(TRAPS)
static void provoke(void) { __asm__ volatile("ecall\n ebreak\n .word 0xffffffff" ::: "memory"); }
#else
static void provoke(void) {}
#endif

int main(void) {
  uint32_t state = 0x2545f491u, sum = 0;
  for (uint32_t n = 0; n < 256; n++) {
    uint32_t c = n;
    for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    table[n] = c;
  }
#ifdef INTERRUPTS
  TIMER = 500;
#endif
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < 64; i++) values[i] = (uint16_t)next(&state);
    sort(values, 64);
    uint32_t words = 0;
    for (int i = 0; i < 64; i++) words = words * 31 + values[i];
    sum = (sum << 1 | sum >> 31) ^ words ^ crc((const uint8_t *)"the quick brown fox", 19);
    for (int i = 0; i < 20; i++) {
      int32_t a = (int32_t)next(&state), b = (int32_t)next(&state) >> (i & 15);
      sum = sum * 5 + (uint32_t)operations[i % 5](a, b);
    }
    provoke();
  }
#ifdef INTERRUPTS
  TIMER = 0;
#endif
  RESULT = sum;
  for (;;) {
  }
}
