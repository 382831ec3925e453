// SPDX-License-Identifier: Apache-2.0
// Times the ways of bench.sv, the best of several rounds each; what was recorded is carried off between rounds, so
// that waiting for memory is not measured.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "Vtop.h"
#include "verilated.h"

static void cycles(Vtop &top, int count)
{
    for (int i = 0; i < 2 * count; i++) {
        top.clk = !top.clk;
        top.eval();
    }
}

int main(int argc, char **argv)
{
    constexpr int Cycles = 4000, Rounds = 15, Slots = 32, Fields = 3;
    Verilated::commandArgs(argc, argv);
    Vtop top;
    double best[3];
    std::fill(best, best + 3, 1e30);
    for (int round = 0; round < Rounds; round++) {
        for (unsigned way = 0; way < 3; way++) {
            top.way = way;
            const auto start = std::chrono::steady_clock::now();
            cycles(top, Cycles);
            const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
            best[way] = std::min(best[way], took.count() / Cycles);
            top.flush = 1;
            cycles(top, 1);
            top.flush = 0;
        }
    }
    top.final();
    const double single = best[1] - best[0], batched = best[2] - best[0];
    std::printf("a cycle without items                %6.1f ns\n", best[0]);
    std::printf("uscope_slot_set, one field per call  %6.1f ns per call, %5.1f ns per slot of %d fields\n",
                single / (Slots * Fields), single / Slots, Fields);
    std::printf("uscope_slot_put3, one slot per call  %6.1f ns per call, %5.1f ns per slot of %d fields\n",
                batched / Slots, batched / Slots, Fields);
    std::printf("a slot in one call takes %.2f of the time\n", batched / single);
    return 0;
}
