// SPDX-License-Identifier: Apache-2.0
// A Verilator test bench that also sees the client's C header: the declarations must agree.
#include <cstdio>
#include <cstdlib>

#include "Vtop.h"
#include "Vtop__Dpi.h"
#include "uscope.h"
#include "verilated.h"

int main(int argc, char **argv)
{
    Verilated::commandArgs(argc, argv);
    Vtop top;
    while (!Verilated::gotFinish()) {
        top.clk = !top.clk;
        top.eval();
    }
    top.final();
    return 0;
}
