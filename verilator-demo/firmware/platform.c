/* The core's side of platform.h: devices, system calls, traps. */
#include "platform.h"

#include <stddef.h>

#include "workload.h"

#define CONSOLE (*(volatile uint32_t *)0x10000000u)
#define RESULT (*(volatile uint32_t *)0x10000004u)
#define TIMER_COMPARE ((volatile uint32_t *)0x02004000u)
#define TIMER_NOW ((volatile uint32_t *)0x0200bff8u)

#define CSR_READ(name) ({ uint32_t v_; __asm__ volatile("csrr %0, " #name : "=r"(v_)); v_; })
#define CSR_WRITE(name, value) __asm__ volatile("csrw " #name ", %0" : : "r"(value) : "memory")
#define CSR_SET(name, bits) __asm__ volatile("csrs " #name ", %0" : : "r"(bits) : "memory")
#define CSR_CLEAR(name, bits) __asm__ volatile("csrc " #name ", %0" : : "r"(bits) : "memory")

enum { MSTATUS_MIE = 1 << 3, MIE_TIMER = 1 << 7 };

enum cause { ILLEGAL = 2, BREAKPOINT = 3, LOAD_MISALIGNED = 4, ECALL = 11 };
#define TIMER_INTERRUPT 0x80000007u

/* Called by start.S, which stops the core when it returns. */
void firmware_main(void) { RESULT = workload_run(); }

void platform_put(char c) {
  register uint32_t a0 __asm__("a0") = (uint8_t)c;
  __asm__ volatile("ecall" : : "r"(a0) : "memory");
}

/* An R-type instruction of the custom-0 opcode space. */
uint32_t platform_count_ones(uint32_t value) {
  uint32_t count;
  __asm__ volatile(".insn r 0x0b, 0, 0, %0, %1, x0" : "=r"(count) : "r"(value));
  return count;
}

uint32_t platform_load_unaligned(const uint8_t *at) {
  uint32_t word;
  __asm__ volatile("lw %0, 0(%1)" : "=r"(word) : "r"(at) : "memory");
  return word;
}

/* ---- timer */

static void (*on_tick)(void);
static uint32_t tick_period;
static uint64_t next_tick;

/* The high word is out of reach while the low one changes, so that no interrupt comes by mistake. */
static void set_compare(uint64_t time) {
  TIMER_COMPARE[1] = 0xffffffffu;
  TIMER_COMPARE[0] = (uint32_t)time;
  TIMER_COMPARE[1] = (uint32_t)(time >> 32);
}

static uint64_t read_time(void) {
  uint32_t high, low;
  do {
    high = TIMER_NOW[1];
    low = TIMER_NOW[0];
  } while (high != TIMER_NOW[1]);
  return (uint64_t)high << 32 | low;
}

void platform_start_timer(uint32_t period, void (*tick)(void)) {
  on_tick = tick;
  tick_period = period;
  next_tick = read_time() + period;
  set_compare(next_tick);
  CSR_SET(mie, MIE_TIMER);
  CSR_SET(mstatus, MSTATUS_MIE);
}

void platform_stop_timer(void) {
  CSR_CLEAR(mstatus, MSTATUS_MIE);
  CSR_CLEAR(mie, MIE_TIMER);
}

/* With interrupts off nothing happens between the look and the sleep; wfi ends all the same. */
void platform_wait(const volatile uint32_t *counter, uint32_t seen) {
  CSR_CLEAR(mstatus, MSTATUS_MIE);
  if (*counter == seen) __asm__ volatile("wfi" : : : "memory");
  CSR_SET(mstatus, MSTATUS_MIE);
}

/* ---- traps; x[n] is register xn of the program, for reading and writing */

static void count_ones_in(uint32_t *x, uint32_t inst) {
  uint32_t value = x[(inst >> 15) & 31], count = 0;
  for (; value; value &= value - 1) count++;
  x[(inst >> 7) & 31] = count;
}

static void load_in_parts(uint32_t *x, uint32_t inst, uint32_t address) {
  const uint8_t *from = (const uint8_t *)address;
  uint32_t value = from[0] | (uint32_t)from[1] << 8;
  uint32_t funct3 = (inst >> 12) & 7;
  if (funct3 == 2) value |= (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
  if (funct3 == 1) value = (uint32_t)(int32_t)(int16_t)value;
  x[(inst >> 7) & 31] = value;
}

/* Nobody knows what to do: the core stops with the exception. */
static void give_up(void) {
  CSR_WRITE(mtvec, 0);
  __asm__ volatile("mret");
}

void trap_handler(uint32_t *x) {
  uint32_t cause = CSR_READ(mcause), pc = CSR_READ(mepc), value = CSR_READ(mtval);
  if (cause == TIMER_INTERRUPT) {
    next_tick += tick_period;
    set_compare(next_tick);
    on_tick();
    return;
  }
  if (cause == ECALL) CONSOLE = x[10];
  else if (cause == ILLEGAL && (value & 0xfe00707fu) == 0x0b) count_ones_in(x, value);
  else if (cause == LOAD_MISALIGNED) load_in_parts(x, *(const uint32_t *)pc, value);
  else if (cause != BREAKPOINT) give_up();
  CSR_WRITE(mepc, pc + 4);
}

/* ---- names that the compiler's code generator expects */

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
