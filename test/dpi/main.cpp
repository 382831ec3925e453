// Runs a model for as many clock cycles as the first argument says. `+half_ps=N`: simulated time between edges; without it none passes.
#include <cstdlib>
#include <memory>

#include "Vtop.h"
#include "verilated.h"

int main(int argc, char **argv)
{
    Verilated::commandArgs(argc, argv);
    auto top = std::make_unique<Vtop>();
    const long cycles = argc > 1 ? std::atol(argv[1]) : 1000;
    const char *half = Verilated::commandArgsPlusMatch("half_ps=");
    const long half_ps = *half ? std::atol(half + 9) : 0;
    for (long i = 0; i < 2 * cycles && !Verilated::gotFinish(); i++) {
        top->clk_i = !top->clk_i;
        top->eval();
        Verilated::timeInc(half_ps);
    }
    top->final();
    return 0;
}
