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
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "Vtop.h"
#include "harness.h"
#include "verilated.h"
#include "workload.h"

namespace {

struct Options {
  std::string firmware;
  std::string report;
  uint64_t max_cycles = 20'000'000;
  bool quiet = false;
};

struct Outcome {
  bool halted = false;
  Cost cost;
  std::string console;
  std::vector<uint64_t> counters;
  std::vector<uint32_t> registers;
};

[[noreturn]] void usage(const std::string &wrong) {
  std::fprintf(stderr,
               "%s\nusage: Vtop [+firmware=FILE] [+report=FILE] [+max-cycles=N] [+quiet] [+notrace] [+schema=FILE] "
               "[+trace=NAME]\n",
               wrong.c_str());
  std::exit(2);
}

Options parse(int argc, char **argv) {
  Options options;
  std::string value;
  for (int i = 1; i < argc; i++) {
    const std::string arg = argv[i];
    if (take(arg, "+firmware=", &options.firmware) || take(arg, "+report=", &options.report)) continue;
    if (take(arg, "+max-cycles=", &value)) {
      char *end = nullptr;
      options.max_cycles = std::strtoull(value.c_str(), &end, 10);
      if (value.empty() || *end != '\0' || options.max_cycles == 0) usage("+max-cycles needs a positive number: " + arg);
    } else if (arg == "+quiet") {
      options.quiet = true;
    } else if (!(arg == "+notrace" || take(arg, "+schema=", &value) || take(arg, "+trace=", &value) ||
                 take(arg, "+verilator+", &value))) {
      usage("unknown argument: " + arg);
    }
  }
  if (options.firmware.empty()) options.firmware = firmware_file("firmware.hex");
  if (access(options.firmware.c_str(), R_OK) != 0) usage("cannot read the program image " + options.firmware);
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
  void clock(Outcome *outcome) {
    top_.clk_i = 1;
    top_.eval();
    top_.clk_i = 0;
    top_.eval();
    if (top_.console_valid_o) {
      outcome->console.push_back(static_cast<char>(top_.console_byte_o));
      if (!quiet_) std::putchar(top_.console_byte_o);
    }
  }

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
  } else if (!top->result_valid_o) {
    std::fprintf(stderr, "the program ended without a result\n");
  } else if (top->result_o != expected) {
    std::fprintf(stderr, "wrong checksum: core %08x, host %08x\n", top->result_o, expected);
  } else if (outcome.console != expected_console) {
    std::fprintf(stderr, "the console differs from what the program prints on the host:\n%s", expected_console.c_str());
  } else {
    return true;
  }
  return false;
}

}  // namespace

int main(int argc, char **argv) {
  const Options options = parse(argc, argv);
  const std::string firmware = "+firmware=" + options.firmware;
  std::vector<const char *> arguments(argv, argv + argc);
  arguments.push_back(firmware.c_str());

  const auto context = std::make_unique<VerilatedContext>();
  context->commandArgs(static_cast<int>(arguments.size()), arguments.data());

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
  if (options.report.empty()) {
    std::printf("%s\n", json.c_str());
  } else if (!write_report(options.report, json)) {
    std::fprintf(stderr, "cannot write %s\n", options.report.c_str());
    return 1;
  }
  return passed ? 0 : 1;
}
