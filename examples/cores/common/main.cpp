// Runs a core until its program has ended, and prints cycles, result and processor time as JSON: from the first cycle until everything is written
// and closed. A model built with a waveform writes it to the file that the environment names in WAVEFORM.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "Vtop.h"
#include "verilated.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
using Waveform = VerilatedFstC;
#elif VM_TRACE
#include "verilated_vcd_c.h"
using Waveform = VerilatedVcdC;
#endif

// Processor time of all threads, user and system: what else runs on the machine changes it little.
static double cpu_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + 1e-6 * (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int main(int argc, char **argv) {
  const auto context = std::make_unique<VerilatedContext>();
  context->commandArgs(argc, argv);
  const uint64_t max_cycles = 20'000'000;
  uint64_t cycles = 0;
  int passed;
  {
    Vtop top(context.get());
#if VM_TRACE
    context->traceEverOn(true);
    Waveform waveform;
    top.trace(&waveform, 99);
    waveform.open(std::getenv("WAVEFORM"));
#endif
    const double before = cpu_seconds();
    for (; cycles < max_cycles && !(cycles > 8 && top.done); cycles++) {
      top.rst = cycles < 8;
      top.clk = 1;
      top.eval();
#if VM_TRACE
      waveform.dump(2 * cycles);
#endif
      top.clk = 0;
      top.eval();
#if VM_TRACE
      waveform.dump(2 * cycles + 1);
#endif
    }
    // What retires with the last store is shown within the next cycles.
    for (int i = 0; i < 40; i++) {
      top.clk = 1;
      top.eval();
      top.clk = 0;
      top.eval();
    }
    passed = top.done;
    // Whatever is written has to be in its file before the clock stops: a waveform is mostly packed when it is closed.
    top.final();
#if VM_TRACE
    waveform.close();
#endif
    std::fflush(nullptr);
    const double seconds = cpu_seconds() - before;
    std::printf("{\"cycles\":%llu,\"done\":%s,\"result\":%u,\"seconds\":%.6f}\n", (unsigned long long)cycles,
                passed ? "true" : "false", top.result, seconds);
  }
  return passed ? 0 : 1;
}
