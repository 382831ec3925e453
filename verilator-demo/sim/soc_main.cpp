// Runs several cores on one memory until all have stopped, shows what they print, and checks that against the same program
// run on the host.
//
//   Vsoc [+cores=N] [+firmware=FILE] [+report=FILE] [+max-cycles=N] [+quiet] [+notrace] [+schema=FILE] [+noc-schema=FILE]
//
// N is 1 to the number of cores built, which is what it is by default. The last lines on stdout sum up the run: one for
// people, and one of JSON, which goes to the report file instead if there is one. Exit status as in main.cpp.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "Vsoc.h"
#include "harness.h"
#include "parallel.h"

namespace {

// In the order of port_counter_e in rtl/bus_pkg.sv; the names are those of the counters in noc.yaml.
const char *const kPortCounters[] = {"requests", "grants",  "retries",     "wait_cycles",  "lines",
                                     "writes",   "atomics", "sc_failures", "invalidations"};
constexpr unsigned kNumPortCounters = sizeof kPortCounters / sizeof *kPortCounters;

const CommandLine kCommandLine(
    "Vsoc [+cores=N] [+firmware=FILE] [+report=FILE] [+max-cycles=N] [+quiet] [+notrace] [+schema=FILE] [+noc-schema=FILE]");

struct SocOptions : Options {
  uint64_t cores = 0;  // 0: all
};

// What is known of one core at the end.
struct Core {
  bool halted = false;
  uint32_t cause = 0, pc = 0, tval = 0;
  std::vector<uint64_t> counters, port;
  std::vector<uint32_t> registers;
};

struct Outcome {
  bool halted = false;
  uint64_t cycles = 0;
  Cost cost;
  std::string console;
  std::vector<Core> cores;
};

SocOptions parse(int argc, char **argv) {
  SocOptions options;
  std::string value;
  for (int i = 1; i < argc; i++) {
    const std::string arg = argv[i];
    if (take(arg, "+cores=", &value)) options.cores = kCommandLine.positive(arg, value);
    else if (!kCommandLine.take_common(arg, &options) && !take(arg, "+noc-schema=", &value)) {
      kCommandLine.refuse("unknown argument: " + arg);
    }
  }
  kCommandLine.find_firmware(&options, "parallel/parallel.hex");
  return options;
}

class Bench {
 public:
  Bench(VerilatedContext *context, const SocOptions &options) : top_(context), quiet_(options.quiet) {
    top_.harts_i = 0;
    top_.eval();
    cores_ = options.cores ? options.cores : top_.max_harts_o;
    if (cores_ > top_.max_harts_o) kCommandLine.refuse("there are " + std::to_string(top_.max_harts_o) + " cores");
    top_.harts_i = static_cast<IData>(cores_);
  }
  ~Bench() { top_.final(); }

  Outcome run(uint64_t max_cycles) {
    Outcome outcome;
    top_.rst_i = 1;
    for (int i = 0; i < 2; i++) clock(&outcome);
    top_.rst_i = 0;
    const Cost before = now();
    while (outcome.cycles < max_cycles && !top_.halted_o) {
      clock(&outcome);
      outcome.cycles++;
    }
    outcome.cost = now() - before;
    outcome.halted = top_.halted_o;
    // One cycle more: what the last edge did is seen, and traced, in the cycle after it.
    clock(&outcome);
    for (unsigned core = 0; core < cores_; core++) outcome.cores.push_back(inspect(core));
    return outcome;
  }

  Vsoc *operator->() { return &top_; }

 private:
  void clock(Outcome *outcome) { clock_cycle(top_, quiet_, &outcome->console); }

  Core inspect(unsigned index) {
    Core core;
    top_.debug_hart_i = static_cast<CData>(index);
    top_.eval();
    core.halted = top_.halt_o;
    core.cause = top_.halt_cause_o;
    core.pc = top_.halt_pc_o;
    core.tval = top_.halt_tval_o;
    for (unsigned i = 0; i < 32; i++) {
      top_.debug_reg_i = static_cast<CData>(i);
      top_.eval();
      core.registers.push_back(top_.debug_reg_data_o);
    }
    for (unsigned i = 0; i < kNumCounters; i++) {
      top_.debug_counter_i = static_cast<CData>(i);
      top_.eval();
      core.counters.push_back(top_.debug_counter_data_o);
    }
    for (unsigned i = 0; i < kNumPortCounters; i++) {
      top_.debug_port_counter_i = static_cast<CData>(i);
      top_.eval();
      core.port.push_back(top_.debug_port_counter_data_o);
    }
    return core;
  }

  Vsoc top_;
  uint64_t cores_ = 0;
  bool quiet_;
};

std::string expected_console;
void expect_char(char c) { expected_console.push_back(c); }

std::string to_json(const Core &core) {
  return "{\"halted\":" + std::string(core.halted ? "true" : "false") + ",\"cause\":" + std::to_string(core.cause) +
         ",\"pc\":" + std::to_string(core.pc) + ",\"tval\":" + std::to_string(core.tval) +
         ",\"counters\":" + counters_to_json(kCounters, core.counters) +
         ",\"port\":" + counters_to_json(kPortCounters, core.port) +
         ",\"registers\":" + registers_to_json(core.registers) + "}";
}

// One JSON object in one line; 64-bit integers as decimal strings.
std::string to_json(Bench &top, const Outcome &outcome, uint32_t expected, bool passed) {
  std::string json = "{\"program\":\"verilator-demo parallel\",\"passed\":";
  json += passed ? "true" : "false";
  json += ",\"halted\":" + std::string(outcome.halted ? "true" : "false");
  json += ",\"cycles\":\"" + std::to_string(outcome.cycles) + "\"";
  json += ",\"result\":" + (top->result_valid_o ? std::to_string(top->result_o) : std::string("null"));
  json += ",\"expected\":" + std::to_string(expected) + ",\"cores\":[";
  for (size_t i = 0; i < outcome.cores.size(); i++) json += (i ? "," : "") + to_json(outcome.cores[i]);
  json += "],\"wall_ns\":\"" + std::to_string(outcome.cost.wall_ns) + "\",\"cpu_ns\":\"";
  return json + std::to_string(outcome.cost.cpu_ns) + "\"}";
}

// Says on stderr what is wrong with a core; true when nothing is.
bool judge(const Core &core, size_t index) {
  if (!core.halted) {
    std::fprintf(stderr, "core %zu did not end within the cycle limit (+max-cycles)\n", index);
  } else if (core.cause != kCauseEcall) {
    std::fprintf(stderr, "core %zu stopped with mcause %u at pc %08x, value %08x\n", index, core.cause, core.pc, core.tval);
  } else {
    return true;
  }
  return false;
}

bool judge(Bench &top, const Outcome &outcome, uint32_t expected) {
  bool sound = true;
  for (size_t i = 0; i < outcome.cores.size(); i++) sound = judge(outcome.cores[i], i) && sound;
  if (!sound) return false;
  if (!outcome.halted) {
    std::fprintf(stderr, "something is on its way to memory and never gets there\n");
    return false;
  }
  return judge_result(*top.operator->(), "cores", expected, outcome.console, expected_console);
}

}  // namespace

int main(int argc, char **argv) {
  const SocOptions options = parse(argc, argv);
  const auto context = make_context(argc, argv, options);
  const uint32_t expected = host_run(expect_char);
  bool passed;
  std::string json;
  {
    Bench top(context.get(), options);
    const Outcome outcome = top.run(options.max_cycles);
    passed = judge(top, outcome, expected);
    json = to_json(top, outcome, expected, passed);
    uint64_t instructions = 0;
    for (const Core &core : outcome.cores) instructions += core.counters[2];
    std::printf("%s: %zu cores, %llu cycles, %llu instructions, IPC %.3f\n", passed ? "passed" : "FAILED",
                outcome.cores.size(), static_cast<unsigned long long>(outcome.cycles),
                static_cast<unsigned long long>(instructions),
                outcome.cycles ? static_cast<double>(instructions) / static_cast<double>(outcome.cycles) : 0.0);
  }
  return end_with_report(options, json, passed);
}
