// What the harnesses of one core (main.cpp) and of several (soc_main.cpp) have in common.
#ifndef HARNESS_H
#define HARNESS_H

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include <unistd.h>

// Causes as in the privileged architecture (mcause), rtl/rv_pkg.sv.
constexpr unsigned kCauseEcall = 11;

// In the order of counter_e in rtl/rv_pkg.sv; the names are those of the counters in schema.yaml.
inline const char *const kCounters[] = {
    "cycles",          "fetched_insns",   "committed_insns", "squashed_insns",     "flushes",
    "branches",        "branches_taken",  "jumps",           "mispredicts",        "loads",
    "stores",          "loads_forwarded", "muldivs",         "icache_misses",      "dcache_accesses",
    "dcache_misses",   "exceptions",      "interrupts",      "atomics",            "stalls_load_use",
    "stalls_mul_div",  "stalls_icache_miss", "stalls_dcache_miss", "stalls_store_buffer_full", "stalls_store_drain",
    "stalls_serialize", "stalls_wait_for_interrupt", "stalls_atomic"};
constexpr unsigned kNumCounters = sizeof kCounters / sizeof *kCounters;

// What the simulator's thread spent on the cycles alone, opening and closing of the trace left out.
struct Cost {
  uint64_t wall_ns = 0;
  uint64_t cpu_ns = 0;
};

inline Cost operator-(const Cost &a, const Cost &b) { return {a.wall_ns - b.wall_ns, a.cpu_ns - b.cpu_ns}; }

// A file of the folder `firmware` beside that of the simulator's program.
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

#endif
