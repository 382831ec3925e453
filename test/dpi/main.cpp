// Runs a model for as many clock cycles as the first argument says.
#include <cstdlib>
#include <memory>

#include "Vtop.h"
#include "verilated.h"

int main(int argc, char **argv)
{
    Verilated::commandArgs(argc, argv);
    auto top = std::make_unique<Vtop>();
    const long cycles = argc > 1 ? std::atol(argv[1]) : 1000;
    for (long i = 0; i < 2 * cycles && !Verilated::gotFinish(); i++) {
        top->clk_i = !top->clk_i;
        top->eval();
    }
    top->final();
    return 0;
}
