// A harness in C++ instead of tb.sv: clock and reset for `core`, which is the top module then.
#include <cstdio>

#include "Vcore.h"
#include "verilated.h"

static void clock(VerilatedContext &context, Vcore &core) {
  for (int level : {0, 1}) {
    core.clk = level;
    core.eval();
    context.timeInc(500);
  }
}

int main(int argc, char **argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vcore core(&context);
  core.rst = 1;
  clock(context, core);
  core.rst = 0;
  int cycles = 0;
  for (; cycles < 1000 && !core.halted; cycles++) clock(context, core);
  clock(context, core);  // the tracer records what the last edge did
  core.final();          // runs the tracer's final block, which closes the trace
  std::printf("halted after %d cycles\n", cycles);
  return 0;
}
