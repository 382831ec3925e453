/* The host's side of platform.h, to know what the core must print. There is no clock here: time passes where the program
 * waits. */
#include "platform.h"

#include "workload.h"

static put_char_fn print;
static void (*on_tick)(void);

uint32_t host_run(put_char_fn put) {
  print = put;
  return workload_run();
}

void platform_put(char c) { print(c); }

uint32_t platform_count_ones(uint32_t value) {
  uint32_t count = 0;
  for (; value; value &= value - 1) count++;
  return count;
}

uint32_t platform_load_unaligned(const uint8_t *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

void platform_start_timer(uint32_t period, void (*tick)(void)) {
  (void)period;
  on_tick = tick;
}

void platform_stop_timer(void) { on_tick = 0; }

void platform_wait(const volatile uint32_t *counter, uint32_t seen) {
  if (*counter == seen) on_tick();
}

uint64_t dot_product(const uint32_t *a, const uint32_t *b, uint32_t n) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < n; i++) sum += (uint64_t)a[i] * b[i];
  return sum;
}
