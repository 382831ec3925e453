// SPDX-License-Identifier: Apache-2.0
// The C++ half of bench_probe.sv. Writes one JSON object into the file named by BENCH_REPORT: cycles, elapsed time and processor time
// of the simulator's thread between the first sample and the last. Start, opening and closing a trace are outside.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <ctime>

#include "verilated.h"

namespace {

struct Sample {
  unsigned long long cycle;
  int64_t elapsed_ns;
  int64_t cpu_ns;
};

Sample first_sample, last_sample;
bool sampled = false;

int64_t now(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * int64_t{1'000'000'000} + t.tv_nsec;
}

}  // namespace

extern "C" void bench_sample(unsigned long long cycle) {
  last_sample = {cycle, now(CLOCK_MONOTONIC), now(CLOCK_THREAD_CPUTIME_ID)};
  if (!sampled) first_sample = last_sample;
  sampled = true;
}

extern "C" void bench_report() {
  const char *path = std::getenv("BENCH_REPORT");
  std::FILE *file = path ? std::fopen(path, "w") : nullptr;
  if (!file) return;
  std::fprintf(file, "{\"cycles\":%llu,\"elapsed_ns\":%lld,\"cpu_ns\":%lld}\n", last_sample.cycle - first_sample.cycle,
               static_cast<long long>(last_sample.elapsed_ns - first_sample.elapsed_ns),
               static_cast<long long>(last_sample.cpu_ns - first_sample.cpu_ns));
  std::fclose(file);
}

#if VM_TRACE
extern "C" const char *bench_wave_path() {
  Verilated::threadContextp()->traceEverOn(true);
  const char *path = std::getenv("BENCH_WAVE");
  return path ? path : "wave";
}

extern "C" void bench_half_period() { Verilated::threadContextp()->timeInc(500); }
#endif
