// SPDX-License-Identifier: Apache-2.0
// What recording costs a SystemC model on its own thread, in processor time. One measurement a process, since
// the kernel of SystemC is one a process. Prints JSON.
//
//     bench signals none|vcd|uscope SIGNALS PERCENT CYCLES
//     bench transactions none|uscope COUNT RUNS
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "uscope_systemc.hpp"

using namespace sc_core;

static double cpu_ns()
{
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/** Signals of the widths of a design: a third each of one bit, 32 bits and 64 bits. In each cycle some
 * change. */
SC_MODULE(design)
{
    sc_vector<sc_signal<bool>> bits;
    sc_vector<sc_signal<std::uint32_t>> words;
    sc_vector<sc_signal<sc_dt::sc_uint<64>>> longs;
    unsigned changes, at = 0;
    SC_HAS_PROCESS(design);
    design(sc_module_name name, unsigned signals, unsigned changing)
        : sc_module(name), bits("bits", signals / 3), words("words", signals / 3),
          longs("longs", signals - 2 * (signals / 3)), changes(changing)
    {
        SC_METHOD(step);
    }
    void step()
    {
        const auto size = static_cast<unsigned>(bits.size() + words.size() + longs.size());
        for (unsigned i = 0; i < changes; i++) {
            const unsigned n = at;
            at = (at + 7919) % size;
            if (n < bits.size())
                bits[n].write(!bits[n].read());
            else if (n < bits.size() + words.size()) {
                auto &one = words[n - bits.size()];
                one.write(one.read() * 5 + 1);
            } else {
                auto &one = longs[n - bits.size() - words.size()];
                one.write(one.read() + 1);
            }
        }
        next_trigger(1, SC_NS);
    }
    template <class S> static void add_all(sc_trace_file * file, const S &all)
    {
        for (const auto &one : all)
            sc_trace(file, one, one.name());
    }
    void add_to(sc_trace_file * file)
    {
        add_all(file, bits);
        add_all(file, words);
        add_all(file, longs);
    }
};

static void signals(const std::string &backend, unsigned count, double percent, int cycles)
{
    design top("top", count, static_cast<unsigned>(count * percent / 100 + 0.5));
    sc_trace_file *file = nullptr;
    if (backend == "vcd") file = sc_create_vcd_trace_file("bench");
    if (backend == "uscope") file = uscope_create_trace_file("bench");
    if (file) top.add_to(file);
    sc_start(200, SC_NS); // headers, the first values
    const double started = cpu_ns();
    sc_start(cycles, SC_NS);
    const double took = cpu_ns() - started;
    if (backend == "vcd") sc_close_vcd_trace_file(file);
    if (backend == "uscope") uscope_close_trace_file(file);
    std::printf("{\"ns_per_cycle\": %f}\n", took / cycles);
}

/** Bus accesses with three attributes. ns for each. */
static double transactions(uscope::tx_generator &read, int count)
{
    const double started = cpu_ns();
    for (int i = 0; i < count; i++) {
        const auto n = static_cast<std::uint64_t>(i);
        const auto one = read.begin("addr", 0x80000000 + 4 * n, "len", 4u, "data", n * 0x9E3779B97F4A7C15u);
        one.end();
    }
    return (cpu_ns() - started) / count;
}

static void transactions(const std::string &backend, int count, int runs)
{
    uscope::tx_database db("bench_tx",
                           backend == "none" ? uscope::tx_backend::none : uscope::tx_backend::uscope);
    uscope::tx_fiber bus(db, "top.bus", "transactor");
    uscope::tx_generator read(bus, "read");
    sc_start(1, SC_NS);
    transactions(read, count); // touches the memory of the client
    std::vector<double> took;
    for (int run = 0; run < runs; run++) {
        db.flush();
        took.push_back(transactions(read, count));
    }
    std::sort(took.begin(), took.end());
    std::printf("{\"ns_per_transaction\": %f, \"min\": %f, \"max\": %f}\n", took[took.size() / 2],
                took.front(), took.back());
}

int sc_main(int argc, char **argv)
{
    sc_report_handler::set_actions(SC_INFO, SC_DO_NOTHING); // stdout is the result
    const std::string part = argc > 1 ? argv[1] : "", backend = argc > 2 ? argv[2] : "";
    if (part == "signals" && argc == 6)
        signals(backend, static_cast<unsigned>(std::atoi(argv[3])), std::atof(argv[4]), std::atoi(argv[5]));
    else if (part == "transactions" && argc == 5)
        transactions(backend, std::atoi(argv[3]), std::atoi(argv[4]));
    else {
        std::fprintf(stderr, "usage: see the head of bench/systemc/bench.cpp\n");
        return 2;
    }
    return 0;
}
