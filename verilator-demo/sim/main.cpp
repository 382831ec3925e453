// Runs the core until it stops, shows what it prints, and checks that against the same program run on the host.
//
//   Vtop [+firmware=FILE] [+report=FILE] [+max-cycles=N] [+quiet] [+notrace] [+schema=FILE] [+trace=NAME]
//
// The last lines on stdout sum up the run: one for people, and one of JSON, which goes to the report file instead if
// there is one.
// Exit status: 0 the program ended and its output and checksum are right, 1 they are not or it did not end,
// 2 wrong arguments.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "Vtop.h"
#include "harness.h"
#include "workload.h"

namespace {

const CommandLine kCommandLine(
    "Vtop [+firmware=FILE] [+report=FILE] [+max-cycles=N] [+quiet] [+notrace] [+schema=FILE] [+trace=NAME]");

struct Outcome {
  bool halted = false;
  Cost cost;
  std::string console;
  std::vector<uint64_t> counters;
  std::vector<uint32_t> registers;
};

Options parse(int argc, char **argv) {
  Options options;
  std::string value;
  for (int i = 1; i < argc; i++) {
    const std::string arg = argv[i];
    if (!kCommandLine.take_common(arg, &options) && !take(arg, "+trace=", &value)) {
      kCommandLine.refuse("unknown argument: " + arg);
    }
  }
  kCommandLine.find_firmware(&options, "firmware.hex");
  return options;
}

class Bench {
 public:
  Bench(VerilatedContext *context, bool quiet) : top_(context), quiet_(quiet) {}
  ~Bench() { top_.final(); }

  Outcome run(uint64_t max_cycles) {
    Outcome outcome;
    top_.rst_i = 1;
    for (int i = 0; i < 2; i++) clock(&outcome);
    top_.rst_i = 0;
    const Cost before = now();
    for (uint64_t cycle = 0; cycle < max_cycles && !top_.halted_o; cycle++) clock(&outcome);
    const Cost after = now();
    outcome.cost = after - before;
    outcome.halted = top_.halted_o;
    // One cycle more: what the last edge did is seen, and traced, in the cycle after it.
    if (outcome.halted) clock(&outcome);
    for (unsigned i = 0; i < 32; i++) outcome.registers.push_back(read_register(i));
    for (unsigned i = 0; i < kNumCounters; i++) outcome.counters.push_back(read_counter(i));
    return outcome;
  }

  Vtop *operator->() { return &top_; }

 private:
  void clock(Outcome *outcome) { clock_cycle(top_, quiet_, &outcome->console); }

  uint32_t read_register(unsigned index) {
    top_.debug_reg_i = static_cast<CData>(index);
    top_.eval();
    return top_.debug_reg_data_o;
  }

  uint64_t read_counter(unsigned index) {
    top_.debug_counter_i = static_cast<CData>(index);
    top_.eval();
    return top_.debug_counter_data_o;
  }

  Vtop top_;
  bool quiet_;
};

std::string expected_console;
void expect_char(char c) { expected_console.push_back(c); }

// One JSON object in one line; 64-bit integers as decimal strings.
std::string to_json(Bench &top, const Outcome &outcome, uint32_t expected, bool passed) {
  std::string json = "{\"program\":\"verilator-demo\",\"passed\":";
  json += passed ? "true" : "false";
  json += ",\"halted\":" + std::string(outcome.halted ? "true" : "false");
  json += ",\"cause\":" + std::to_string(top->halt_cause_o);
  json += ",\"pc\":" + std::to_string(top->halt_pc_o);
  json += ",\"tval\":" + std::to_string(top->halt_tval_o);
  json += ",\"result\":" + (top->result_valid_o ? std::to_string(top->result_o) : std::string("null"));
  json += ",\"expected\":" + std::to_string(expected) + ",\"counters\":" + counters_to_json(kCounters, outcome.counters);
  json += ",\"registers\":" + registers_to_json(outcome.registers);
  json += ",\"wall_ns\":\"" + std::to_string(outcome.cost.wall_ns) + "\",\"cpu_ns\":\"";
  return json + std::to_string(outcome.cost.cpu_ns) + "\"}";
}

// Says on stderr what is wrong; true when nothing is.
bool judge(Bench &top, const Outcome &outcome, uint32_t expected) {
  if (!outcome.halted) {
    std::fprintf(stderr, "the program did not end within the cycle limit (+max-cycles)\n");
  } else if (top->halt_cause_o != kCauseEcall) {
    std::fprintf(stderr, "the core stopped with mcause %u at pc %08x, value %08x\n", top->halt_cause_o, top->halt_pc_o,
                 top->halt_tval_o);
  } else {
    return judge_result(*top.operator->(), "core", expected, outcome.console, expected_console);
  }
  return false;
}

}  // namespace

int main(int argc, char **argv) {
  const Options options = parse(argc, argv);
  const auto context = make_context(argc, argv, options);
  const uint32_t expected = host_run(expect_char);
  bool passed;
  std::string json;
  {
    Bench top(context.get(), options.quiet);
    const Outcome outcome = top.run(options.max_cycles);
    passed = judge(top, outcome, expected);
    json = to_json(top, outcome, expected, passed);
    const double cycles = static_cast<double>(outcome.counters[0]);
    std::printf("%s: %llu cycles, %llu instructions, IPC %.3f\n", passed ? "passed" : "FAILED",
                static_cast<unsigned long long>(outcome.counters[0]), static_cast<unsigned long long>(outcome.counters[2]),
                cycles > 0 ? static_cast<double>(outcome.counters[2]) / cycles : 0.0);
  }
  return end_with_report(options, json, passed);
}
