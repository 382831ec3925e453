// What the harnesses of one core (main.cpp) and of several (soc_main.cpp) have in common.
#ifndef HARNESS_H
#define HARNESS_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "verilated.h"

// Causes as in the privileged architecture (mcause), rtl/rv_pkg.sv.
constexpr unsigned kCauseEcall = 11;

#ifdef O3
// In the order of o3_counter_e, o3_stall_e and slot_class_e in rtl/o3/o3_pkg.sv; the names are those of the counters in o3.yaml.
inline const char *const kCounters[] = {
    "cycles",          "fetched_insns",   "committed_insns", "squashed_insns",     "flushes",
    "branches",        "branches_taken",  "jumps",           "mispredicts",        "loads",
    "stores",          "loads_forwarded", "muldivs",         "icache_misses",      "dcache_accesses",
    "dcache_misses",   "exceptions",      "interrupts",      "dispatched_insns",   "issued_insns",
    "replays",         "load_retries",    "order_violations",
    "stalls_rob_full", "stalls_int_queue_full", "stalls_muldiv_queue_full", "stalls_mem_queue_full",
    "stalls_load_queue_full", "stalls_store_queue_full", "stalls_free_list_empty", "stalls_checkpoints_full",
    "stalls_serialize", "stalls_wait_for_interrupt", "stalls_icache_miss", "stalls_recovery", "stalls_fetch_bubble",
    "slots_retiring",  "slots_bad_speculation", "slots_frontend", "slots_backend_memory", "slots_backend_core",
    "slots_idle"};
#else
// In the order of counter_e in rtl/rv_pkg.sv; the names are those of the counters in schema.yaml.
inline const char *const kCounters[] = {
    "cycles",          "fetched_insns",   "committed_insns", "squashed_insns",     "flushes",
    "branches",        "branches_taken",  "jumps",           "mispredicts",        "loads",
    "stores",          "loads_forwarded", "muldivs",         "icache_misses",      "dcache_accesses",
    "dcache_misses",   "exceptions",      "interrupts",      "atomics",            "stalls_load_use",
    "stalls_mul_div",  "stalls_icache_miss", "stalls_dcache_miss", "stalls_store_buffer_full", "stalls_store_drain",
    "stalls_serialize", "stalls_wait_for_interrupt", "stalls_atomic"};
#endif
constexpr unsigned kNumCounters = sizeof kCounters / sizeof *kCounters;

// What the simulator's thread spent on the cycles alone, opening and closing of the trace left out.
struct Cost {
  uint64_t wall_ns = 0;
  uint64_t cpu_ns = 0;
};

inline Cost operator-(const Cost &a, const Cost &b) { return {a.wall_ns - b.wall_ns, a.cpu_ns - b.cpu_ns}; }

// A file of the folder `firmware` next to that of the simulator's program.
inline std::string firmware_file(const std::string &name) {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length < 0) return "firmware/" + name;
  std::string exe(path, static_cast<size_t>(length));
  const std::string folder = exe.substr(0, exe.rfind('/'));
  return folder + "/../firmware/" + name;
}

inline bool take(const std::string &arg, const char *prefix, std::string *value) {
  const std::string p(prefix);
  if (arg.compare(0, p.size(), p) != 0) return false;
  *value = arg.substr(p.size());
  return true;
}

struct Options {
  std::string firmware;
  std::string report;
  uint64_t max_cycles = 20'000'000;
  bool quiet = false;
};

// What the command lines have in common; wrong arguments end the program with the status 2.
class CommandLine {
 public:
  explicit CommandLine(const char *usage) : usage_(usage) {}

  [[noreturn]] void refuse(const std::string &wrong) const {
    std::fprintf(stderr, "%s\nusage: %s\n", wrong.c_str(), usage_);
    std::exit(2);
  }

  uint64_t positive(const std::string &arg, const std::string &value) const {
    char *end = nullptr;
    const uint64_t number = std::strtoull(value.c_str(), &end, 10);
    if (value.empty() || value[0] == '-' || *end != '\0' || number == 0) refuse("a positive number is needed: " + arg);
    return number;
  }

  // True for an argument that every harness takes, or that the simulation reads by itself.
  bool take_common(const std::string &arg, Options *options) const {
    std::string value;
    if (take(arg, "+max-cycles=", &value)) options->max_cycles = positive(arg, value);
    else if (arg == "+quiet") options->quiet = true;
    else {
      return take(arg, "+firmware=", &options->firmware) || take(arg, "+report=", &options->report) ||
             arg == "+notrace" || take(arg, "+schema=", &value) || take(arg, "+verilator+", &value);
    }
    return true;
  }

  void find_firmware(Options *options, const char *name) const {
    if (options->firmware.empty()) options->firmware = firmware_file(name);
    if (access(options->firmware.c_str(), R_OK) != 0) refuse("cannot read the program image " + options->firmware);
  }

 private:
  const char *usage_;
};

// With the command line, and the program image for the memory.
inline std::unique_ptr<VerilatedContext> make_context(int argc, char **argv, const Options &options) {
  const std::string firmware = "+firmware=" + options.firmware;
  std::vector<const char *> arguments(argv, argv + argc);
  arguments.push_back(firmware.c_str());
  auto context = std::make_unique<VerilatedContext>();
  context->commandArgs(static_cast<int>(arguments.size()), arguments.data());
  return context;
}

// One cycle; shows and keeps what the program prints.
template <class Top>
void clock_cycle(Top &top, bool quiet, std::string *console) {
  top.clk_i = 1;
  top.eval();
  top.clk_i = 0;
  top.eval();
  if (top.console_valid_o) {
    console->push_back(static_cast<char>(top.console_byte_o));
    if (!quiet) std::putchar(top.console_byte_o);
  }
}

// Of a program that has ended: says on stderr what is wrong with its result and its output; true when nothing is.
template <class Top>
bool judge_result(const Top &top, const char *who, uint32_t expected, const std::string &console,
                  const std::string &expected_console) {
  if (!top.result_valid_o) {
    std::fprintf(stderr, "the program ended without a result\n");
  } else if (top.result_o != expected) {
    std::fprintf(stderr, "wrong checksum: %s %08x, host %08x\n", who, top.result_o, expected);
  } else if (console != expected_console) {
    std::fprintf(stderr, "the console differs from what the program prints on the host:\n%s", expected_console.c_str());
  } else {
    return true;
  }
  return false;
}

inline uint64_t read_clock(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

inline Cost now() { return {read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_THREAD_CPUTIME_ID)}; }

// Values for a JSON report: 64-bit integers as decimal strings, under the names of the counters.
inline std::string counters_to_json(const char *const *names, const std::vector<uint64_t> &counters) {
  std::string json = "{";
  for (size_t i = 0; i < counters.size(); i++) {
    json += (i ? ",\"" : "\"") + std::string(names[i]) + "\":\"" + std::to_string(counters[i]) + "\"";
  }
  return json + "}";
}

inline std::string registers_to_json(const std::vector<uint32_t> &registers) {
  std::string json = "[";
  for (size_t i = 0; i < registers.size(); i++) json += (i ? "," : "") + std::to_string(registers[i]);
  return json + "]";
}

inline bool write_report(const std::string &path, const std::string &json) {
  std::FILE *file = std::fopen(path.c_str(), "w");
  if (!file) return false;
  const bool written = std::fprintf(file, "%s\n", json.c_str()) > 0;
  return std::fclose(file) == 0 && written;
}

// The report goes to its file, or to stdout; the exit status.
inline int end_with_report(const Options &options, const std::string &json, bool passed) {
  if (options.report.empty()) {
    std::printf("%s\n", json.c_str());
  } else if (!write_report(options.report, json)) {
    std::fprintf(stderr, "cannot write %s\n", options.report.c_str());
    return 1;
  }
  return passed ? 0 : 1;
}

#endif
