/* Samples arrive from a timer interrupt and go through a ring; the program takes them out and filters them. */
#include "platform.h"
#include "workload.h"

enum { RING = 16, SAMPLES = 60, PERIOD = 600 };

static uint32_t ring[RING];
static volatile uint32_t arrived, taken;
static uint32_t source = 0x1234567u;

/* In interrupt context. A full ring leaves the sample for the next time, so that none is lost however slow the reader. */
static void take_sample(void) {
  if (arrived - taken == RING) return;
  source = source * 1664525u + 1013904223u;
  ring[arrived % RING] = source >> 8;
  arrived = arrived + 1;
}

void start_samples(void) { platform_start_timer(PERIOD, take_sample); }

uint32_t filter_samples(void) {
  uint32_t level = 0, peaks = 0;
  for (uint32_t n = 0; n < SAMPLES; n++) {
    while (arrived == n) platform_wait(&arrived, n);
    uint32_t sample = ring[n % RING];
    taken = n + 1;
    level = level - (level >> 3) + (sample >> 3);
    if (sample > level) peaks++;
  }
  platform_stop_timer();
  return level + peaks;
}
