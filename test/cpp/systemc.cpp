// SPDX-License-Identifier: Apache-2.0
// Every type of the standard through the trace file, transactions of every kind of attribute, TLM transfers
// through recorders, and what is wrong. The argument says which part runs.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

#include "systemc/library.hpp"

#include "uscope_systemc.hpp"

#include "systemc/transport.hpp"
#include "systemc/types.hpp"

using namespace sc_core;
using namespace sc_dt;

// -- signals

SC_MODULE(signals)
{
    sc_signal<bool> flag{"flag"};
    sc_signal<int> count{"count"};
    sc_signal<sc_lv<70>> wide{"wide"};
    sc_signal<sc_bv<12>> bits{"bits"};
    sc_signal<sc_logic> logic{"logic"};
    sc_signal<sc_int<20>> small{"small"};
    sc_signal<sc_uint<33>> large{"large"};
    sc_signal<sc_bigint<90>> huge{"huge"};
    sc_signal<sc_biguint<64>> full{"full"};
    sc_signal<double> real{"real"};
    sc_signal<sc_fixed<16, 8>> fixed{"fixed"};
    sc_signal<sc_time> when{"when"};
    sc_signal<unsigned char> byte{"byte"};
    sc_signal<short> word{"word"};
    sc_bit bit{};
    unsigned state = 0;
    sc_event event{"event"};
    int steps;
    SC_HAS_PROCESS(signals);
    signals(sc_module_name name, int n) : sc_module(name), steps(n)
    {
        SC_THREAD(run);
    }
    void run()
    {
        for (int i = 1; i <= steps; i++) {
            flag = i % 2 == 1;
            count = -i;
            wide.write(sc_lv<70>(i % 2 ? "1ZX01" : "11"));
            bits.write(static_cast<unsigned>(i * 3));
            logic.write(sc_logic(i % 4));
            small.write(-i * 100);
            large.write((std::uint64_t{1} << 32) + static_cast<unsigned>(i));
            huge.write(-(sc_bigint<90>(i) << 70));
            full.write(sc_biguint<64>(~std::uint64_t{0}));
            real = i * 0.25;
            fixed.write(-1.5 * i);
            when.write(sc_time(i, SC_NS));
            byte = static_cast<unsigned char>(i);
            word = static_cast<short>(-i);
            bit = i % 2 == 1;
            state = static_cast<unsigned>(i) % 4;
            event.notify(SC_ZERO_TIME);
            wait(1, SC_NS);
        }
    }
    void add_to(sc_trace_file * file)
    {
        sc_trace(file, flag, "top.s.flag");
        sc_trace(file, count, "top.s.count");
        sc_trace(file, wide, "top.s.wide");
        sc_trace(file, bits, "top.s.bits");
        sc_trace(file, logic, "top.s.logic");
        sc_trace(file, small, "top.s.small");
        sc_trace(file, large, "top.s.large");
        sc_trace(file, huge, "top.s.huge");
        sc_trace(file, full, "top.s.full");
        sc_trace(file, real, "top.s.real");
        sc_trace(file, fixed, "top.s.fixed");
        sc_trace(file, when, "top.s.when");
        sc_trace(file, byte, "top.s.array(3)");
        sc_trace(file, word, "top.s.word", 4);
        sc_trace(file, bit, "bit");
        static const char *names[] = {"idle", "busy", "done", nullptr};
        sc_trace(file, state, "top.s.state", names);
        sc_trace(file, event, "top.s.event");
    }
};

static void run_signals()
{
    signals top("top", 20);
    sc_trace_file *file = uscope_create_trace_file("signals");
    top.add_to(file);
    sc_trace(file, top.flag, "top.s.flag"); // SCHEMA_DUPLICATE
    sc_write_comment(file, "half");
    sc_start(10, SC_NS);
    sc_trace(file, top.count, "top.late"); // OP_LATE
    sc_start(10, SC_NS);
    sc_stop();
    uscope_close_trace_file(file);
}

static void run_killed()
{
    signals top("top", 1000);
    sc_trace_file *file = uscope_create_trace_file("killed");
    top.add_to(file);
    uscope::tx_database db("killed_tx", uscope::tx_backend::ftr);
    uscope::tx_fiber fiber(db, "f");
    uscope::tx_generator gen(fiber, "g");
    sc_start(500, SC_NS);
    gen.begin("last", 500).end();
    std::raise(SIGKILL);
}

SC_MODULE(thrower){SC_CTOR(thrower){SC_THREAD(run);
}
void run()
{
    wait(5, SC_NS);
    SC_REPORT_ERROR("model", "it broke");
}
}
;

static void run_exception()
{
    signals top("top", 20);
    thrower bad("bad");
    uscope::tx_database second("second"); // reports go into both
    second.open();
    sc_trace_file *file = uscope_create_trace_file("exception");
    top.add_to(file);
    try {
        sc_start();
    } catch (const sc_report &) {
        std::puts("caught");
    }
    uscope_close_trace_file(file);
}

/** The model is gone when the file is closed; the file has the last time step all the same. */
static void run_gone()
{
    sc_trace_file *file = uscope_create_trace_file("gone");
    {
        signals top("top", 20);
        top.add_to(file);
        sc_start();
    }
    uscope_close_trace_file(file);
}

/** Names that are alike, and more than fit. */
static void run_names()
{
    static bool flags[400];
    sc_event event("event");
    flags[0] = flags[1] = flags[2] = true;
    sc_trace_file *file = uscope_create_trace_file("names");
    sc_trace(file, flags[0], "top.signals");
    sc_trace(file, flags[1], "top.signals.x");
    sc_trace(file, event, "top.signals");
    sc_trace(file, event, "top.s.x");
    sc_trace(file, flags[2], "sc.report");
    const std::string longer(200, 'x');
    std::string deep;
    for (int i = 0; i < 400; i++) {
        if (i % 50 == 0) deep += "level" + std::to_string(i) + ".";
        sc_trace(file, flags[i], deep + longer + "." + longer + std::to_string(i)); // SCHEMA_LIMIT
    }
    sc_start(1, SC_NS);
    sc_trace_file *other = sc_create_vcd_trace_file("other");
    uscope_close_trace_file(other);   // OP_HANDLE
    uscope::tx_database none(*other); // OP_HANDLE
    sc_close_vcd_trace_file(other);
    uscope_close_trace_file(file);
}

// -- transactions

struct request {
    std::uint64_t addr;
    bool burst;
};
namespace uscope
{
template <> struct tx_traits<request> {
    static void record(tx_attributes &to, const char *, const request &value)
    {
        to("addr", value.addr);
        to("burst", value.burst);
    }
};
/** A type whose recording reports, or throws. */
struct hostile {
    bool throws;
};
template <> struct tx_traits<hostile> {
    static void record(tx_attributes &to, const char *name, const hostile &value)
    {
        to(name, 1);
        SC_REPORT_WARNING("model", "reported");
        if (value.throws) throw 1;
    }
};
} // namespace uscope

/** What is wrong becomes an exception where the user says so, but none leaves a destructor. */
static void run_hostile()
{
    sc_report_handler::set_actions(SC_WARNING, SC_LOG);
    sc_report_handler::set_actions("/uscope/OP_VALUE", SC_THROW);
    sc_report_handler::set_actions("/uscope/OP_TX_CLOSED", SC_THROW);
    auto db = std::make_unique<uscope::tx_database>("hostile");
    uscope::tx_fiber fiber(*db, "f");
    uscope::tx_generator gen(fiber, "g");
    gen.begin("reports", uscope::hostile{false}).end();
    const auto open = gen.begin();
    try {
        open.record("throws", uscope::hostile{true});
    } catch (int) {
        std::puts("thrown");
    }
    open.end("after", 2, "invalid", "\xff", std::string("string"), 3);
    db.reset(); // OP_VALUE at the end
    gen.begin("lost", 1).end();
    uscope::tx_generator late(fiber, "late");
    late.begin("lost", 1).end();
    try {
        open.end();
    } catch (const sc_report &) {
        std::puts("closed");
    }
}

static void run_transactions()
{
    uscope::tx_database db("tx", uscope::tx_backend::ftr);
    uscope::tx_fiber bus(db, "top.bus", "transactor"), other(db, "top.other");
    uscope::tx_generator read(bus, "read"), declared(bus, "declared", {}), off(other, "off");
    const auto one = read.begin("request", request{0xFFFFFFFF00000040u, true});
    sc_start(100, SC_PS);
    const auto two = declared.begin("undeclared", -5); // OP_TX_ATTRIBUTE
    two.record("real", 1.5)
        .record("text", "a \"b\"")
        .record("string", std::string("s"))
        .record("time", sc_time(3, SC_NS));
    two.record("int", sc_int<9>(-3)).record("uint", sc_uint<9>(3)).record("bv", sc_bv<4>("0101"));
    two.record("lv", sc_lv<4>("01XZ")).record("fixed", sc_fixed<8, 4>(-2.25)).record("logic", sc_logic('Z'));
    enum class balance : int { owed = -2 };
    char chars[] = "chars";
    char *const pointer = chars;
    two.record("view", std::string_view("a view").substr(2, 3)).record("chars", pointer);
    two.record("owed", balance::owed).record("ufixed", sc_ufixed<8, 4>(2.5)).record("ufix", sc_ufix(8, 4));
    one.relate("next", two);
    db.record("top.o*", false);
    const auto none = off.begin("lost", 1);
    none.record("lost", 2);
    none.end();
    bus.record(false); // what has begun goes on
    read.begin("hidden", 3).end();
    bus.record(true);
    sc_start(100, SC_PS);
    two.end();
    one.end("result", "ok");
    one.end();             // OP_TX_ENDED
    one.record("late", 1); // OP_TX_ENDED
    const auto open = read.begin();
    db.record("top.other", true);
    off.begin("again", 4).end();
    db.close();
    open.end(); // OP_TX_CLOSED
    uscope::tx_database nothing("nothing", uscope::tx_backend::none);
    uscope::tx_fiber fiber(nothing, "f");
    uscope::tx_generator gen(fiber, "g");
    gen.begin("x", 1).end();
}

// -- TLM

struct tag : tlm::tlm_extension<tag> {
    unsigned value = 7;
    tlm_extension_base *clone() const override
    {
        return new tag(*this);
    }
    void copy_from(const tlm_extension_base &from) override
    {
        value = static_cast<const tag &>(from).value;
    }
};

constexpr std::uint64_t UNANSWERED = 0x666;

SC_MODULE(memory)
{
    tlm_utils::simple_target_socket<memory, 64> socket{"socket"};
    tlm_utils::peq_with_cb_and_phase<memory> queue;
    unsigned char bytes[256] = {};
    SC_CTOR(memory) : queue(this, &memory::later)
    {
        socket.register_b_transport(this, &memory::b_transport);
        socket.register_nb_transport_fw(this, &memory::nb_transport_fw);
        socket.register_get_direct_mem_ptr(this, &memory::get_direct_mem_ptr);
        socket.register_transport_dbg(this, &memory::transport_dbg);
    }
    void access(tlm::tlm_generic_payload & trans)
    {
        unsigned char *at = bytes + trans.get_address() % 248;
        if (trans.is_write())
            std::memcpy(at, trans.get_data_ptr(), trans.get_data_length());
        else
            std::memcpy(trans.get_data_ptr(), at, trans.get_data_length());
        trans.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    void b_transport(tlm::tlm_generic_payload & trans, sc_time & delay)
    {
        access(trans);
        delay += sc_time(10, SC_NS);
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload & trans, tlm::tlm_phase & phase,
                                       sc_time & delay)
    {
        if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
        if (trans.get_address() == UNANSWERED) return tlm::TLM_ACCEPTED;
        access(trans);
        if (trans.get_address() == 0) {
            delay += sc_time(3, SC_NS);
            return tlm::TLM_COMPLETED;
        }
        queue.notify(trans, tlm::BEGIN_RESP, delay + sc_time(20, SC_NS));
        phase = tlm::END_REQ;
        delay += sc_time(2, SC_NS);
        return tlm::TLM_UPDATED;
    }
    void later(tlm::tlm_generic_payload & trans, const tlm::tlm_phase &)
    {
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_time delay = SC_ZERO_TIME;
        socket->nb_transport_bw(trans, phase, delay);
    }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload &, tlm::tlm_dmi & dmi)
    {
        dmi.set_start_address(0);
        dmi.set_end_address(255);
        dmi.allow_read_write();
        return true;
    }
    unsigned transport_dbg(tlm::tlm_generic_payload & trans)
    {
        return trans.get_data_length();
    }
};

SC_MODULE(initiator)
{
    tlm_utils::simple_initiator_socket<initiator, 64> socket{"socket"};
    sc_event answered;
    SC_CTOR(initiator)
    {
        socket.register_nb_transport_bw(this, &initiator::nb_transport_bw);
        SC_THREAD(run);
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload &, tlm::tlm_phase &, sc_time &)
    {
        answered.notify(SC_ZERO_TIME);
        return tlm::TLM_ACCEPTED;
    }
    void run()
    {
        std::uint64_t data = 0x1122334455667788u;
        tlm::tlm_generic_payload trans;
        tag extension;
        trans.set_extension(&extension);
        trans.set_data_ptr(reinterpret_cast<unsigned char *>(&data));
        trans.set_data_length(8);
        trans.set_streaming_width(8);
        trans.set_command(tlm::TLM_WRITE_COMMAND);
        trans.set_address(0x40);
        wait(100, SC_NS);
        sc_time delay(5, SC_NS);
        socket->b_transport(trans, delay);
        std::printf("b %s %s\n", delay.to_string().c_str(), trans.get_response_string().c_str());
        trans.set_command(tlm::TLM_READ_COMMAND);
        for (const unsigned address : {0u, 0x40u}) {
            trans.set_address(address);
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            delay = sc_time(1, SC_NS);
            const auto result = socket->nb_transport_fw(trans, phase, delay);
            std::printf("nb %d %s %s\n", static_cast<int>(result), phase.get_name(),
                        delay.to_string().c_str());
            if (result == tlm::TLM_COMPLETED) continue;
            wait(answered);
            phase = tlm::END_RESP;
            delay = SC_ZERO_TIME;
            socket->nb_transport_fw(trans, phase, delay);
        }
        std::printf("data %d\n", data == 0x1122334455667788u);
        tlm::tlm_dmi dmi;
        std::printf("dmi %d\n", socket->get_direct_mem_ptr(trans, dmi));
        std::printf("debug %u\n", socket->transport_dbg(trans));
        trans.clear_extension(&extension);
    }
};

static void run_tlm()
{
    uscope::tlm_extensions().push_back(
        [](const uscope::tx_handle &one, const tlm::tlm_generic_payload &trans, uscope::tx_phase when) {
            const tag *found = nullptr;
            trans.get_extension(found);
            if (found && when == uscope::tx_phase::begin) one.record("tag", found->value);
        });
    uscope::tx_database db("tlm");
    initiator from("from");
    memory to("to");
    uscope::tlm_recorder<64> outer("outer", db), inner("inner", db);
    from.socket.bind(outer.target);
    outer.initiator.bind(inner.target);
    inner.initiator.bind(to.socket);
    sc_start();
}

/** The initiator releases its payload in the call that answers it, and gives up on one that is never
 * answered. */
SC_MODULE(releasing), tlm::tlm_mm_interface
{
    tlm_utils::simple_initiator_socket<releasing, 64> socket{"socket"};
    sc_event answered;
    int freed = 0;
    SC_CTOR(releasing)
    {
        socket.register_nb_transport_bw(this, &releasing::nb_transport_bw);
        SC_THREAD(run);
    }
    void free(tlm::tlm_generic_payload * trans) override
    {
        freed++;
        delete trans;
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload & trans, tlm::tlm_phase &, sc_time &)
    {
        trans.release();
        answered.notify(SC_ZERO_TIME);
        return tlm::TLM_COMPLETED;
    }
    void send(tlm::tlm_generic_payload & trans, std::uint64_t address)
    {
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_time delay = SC_ZERO_TIME;
        trans.set_address(address);
        socket->nb_transport_fw(trans, phase, delay);
    }
    void run()
    {
        std::uint64_t data = 0;
        auto *const trans = new tlm::tlm_generic_payload(this);
        trans->acquire();
        trans->set_data_ptr(reinterpret_cast<unsigned char *>(&data));
        trans->set_data_length(8);
        trans->set_streaming_width(8);
        trans->set_read();
        send(*trans, UNANSWERED);
        wait(50, SC_NS);
        send(*trans, 0x40);
        wait(answered);
        std::printf("freed %d\n", freed);
    }
};

static void run_managed()
{
    uscope::tx_database db("managed"), other("other");
    uscope::tx_fiber jobs(other, "jobs");
    uscope::tx_generator job(jobs, "job");
    releasing from("from");
    memory to("to");
    uscope::tlm_recorder<64> recorder("recorder", db);
    from.socket.bind(recorder.target);
    recorder.initiator.bind(to.socket);
    tlm::tlm_generic_payload child;
    {
        // A transaction of another database, with the number of the first of ours.
        const uscope::tlm_child_of parent(job.begin(), child);
        sc_start();
    }
    std::printf("open %zu\n", uscope::detail::tlm_open().size());
}

static void run_unbound()
{
    uscope::tx_database db("unbound");
    initiator from("from");
    uscope::tlm_recorder<64> recorder("recorder", db);
    from.socket.bind(recorder.target);
    sc_start();
}

// -- delta cycles, sockets of other widths, and a warning that stops the simulation

SC_MODULE(counting_deltas)
{
    sc_signal<int> count{"count"};
    SC_CTOR(counting_deltas)
    {
        SC_THREAD(run);
    }
    void run()
    {
        for (int ns = 0; ns < 2; ns++) {
            for (int i = 0; i < 4; i++) {
                count = count.read() + 1;
                wait(SC_ZERO_TIME);
            }
            wait(1, SC_NS);
        }
    }
};

template <unsigned WIDTH> struct reader : sc_module {
    tlm_utils::simple_initiator_socket<reader, WIDTH> socket{"socket"};
    SC_HAS_PROCESS(reader);
    explicit reader(sc_module_name name) : sc_module(name)
    {
        SC_THREAD(run);
    }
    void run()
    {
        std::vector<unsigned char> data(WIDTH / 8);
        tlm::tlm_generic_payload trans;
        trans.set_command(tlm::TLM_READ_COMMAND);
        trans.set_data_ptr(data.data());
        trans.set_data_length(WIDTH / 8);
        trans.set_streaming_width(4);
        sc_time delay = SC_ZERO_TIME;
        socket->b_transport(trans, delay);
        tlm::tlm_dmi dmi;
        std::printf("%u bits: %s, dmi %d, debug %u\n", WIDTH, trans.get_response_string().c_str(),
                    socket->get_direct_mem_ptr(trans, dmi), socket->transport_dbg(trans));
    }
};
/** Has neither DMI nor debug accesses. */
template <unsigned WIDTH> struct answering : sc_module {
    tlm_utils::simple_target_socket<answering, WIDTH> socket{"socket"};
    explicit answering(sc_module_name name) : sc_module(name)
    {
        socket.register_b_transport(this, &answering::b_transport);
    }
    void b_transport(tlm::tlm_generic_payload &trans, sc_time &)
    {
        std::memset(trans.get_data_ptr(), 0x11, trans.get_data_length());
        trans.set_response_status(tlm::TLM_OK_RESPONSE);
        if (WIDTH == 32) socket->invalidate_direct_mem_ptr(0, 15);
    }
};
template <unsigned WIDTH> struct linked {
    reader<WIDTH> from;
    uscope::tlm_recorder<WIDTH> recorder;
    answering<WIDTH> to;
    linked(const std::string &name, uscope::tx_database &db)
        : from((name + "_from").c_str()), recorder(name.c_str(), db), to((name + "_to").c_str())
    {
        from.socket.bind(recorder.target);
        recorder.initiator.bind(to.socket);
    }
};

SC_MODULE(ending_twice)
{
    uscope::tx_generator &made;
    SC_HAS_PROCESS(ending_twice);
    ending_twice(sc_module_name name, uscope::tx_generator & of) : sc_module(name), made(of)
    {
        SC_THREAD(run);
    }
    void run()
    {
        wait(3, SC_NS);
        const auto one = made.begin();
        one.end();
        one.end(); // OP_TX_ENDED, which stops the simulation
        wait(3, SC_NS);
        std::puts("not reached");
    }
};

static void run_mixed()
{
    sc_report_handler::set_actions("/uscope/OP_TX_ENDED", SC_DISPLAY | SC_STOP);
    counting_deltas top("top");
    sc_trace_file *each = uscope_create_trace_file("deltas"), *last = uscope_create_trace_file("steps");
    sc_trace_delta_cycles(each, true);
    sc_trace(each, top.count, "top.count");
    sc_trace(last, top.count, "top.count");
    uscope::tx_database db("widths");
    db.record("?arrow.*", false); // made later
    uscope::tx_fiber fiber(db, "stops");
    uscope::tx_generator made(fiber, "g");
    linked<32> narrow("narrow", db), usual("usual", db);
    linked<256> wide("wide", db);
    ending_twice stops("stops", made);
    uscope::tlm_recorder<> lonely("lonely", db); // OP_UNBOUND, twice
    sc_start();
    std::printf("stopped at %s\n", sc_time_stamp().to_string().c_str());
    uscope_close_trace_file(each);
    uscope_close_trace_file(last);
}

// -- killed at any moment: begin, record and end in turn, and a signal; killed after some of these calls

constexpr int KILLS = 24;

static void run_until_killed(int calls)
{
    const std::string name = "kill" + std::to_string(calls);
    sc_signal<int> done("done");
    sc_trace_file *file = uscope_create_trace_file(name.c_str());
    sc_trace(file, done, "done");
    uscope::tx_database db(*file);
    uscope::tx_fiber fiber(db, "f");
    uscope::tx_generator gen(fiber, "g");
    uscope::tx_handle one;
    for (int i = 0; i < calls; i++) {
        done = i + 1;
        sc_start(1, SC_NS);
        if (i % 3 == 0)
            one = gen.begin();
        else if (i % 3 == 1)
            one.record("call", i);
        else
            one.end();
    }
    std::raise(SIGKILL);
}

/** Each part in a process, as SystemC has one simulation in each. */
static void run_in_process(char *program, const std::string &part, const std::string &argument)
{
    std::printf("== %s\n", part.c_str());
    std::fprintf(stderr, "== %s\n", part.c_str());
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        execl(program, program, part.c_str(), argument.c_str(), static_cast<char *>(nullptr));
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("ended with %d\n", WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
}

/** A mesh of routers that traces every port: more signals than a schema takes. The last three are one name.
 */
static void run_many()
{
    const sc_clock clk("clk", 10, SC_NS);
    std::vector<std::unique_ptr<sc_signal<int>>> all;
    const auto trace = [&](sc_trace_file *file, const std::string &name) {
        all.push_back(std::make_unique<sc_signal<int>>());
        sc_trace(file, *all.back(), name);
    };
    sc_trace_file *file = uscope_create_trace_file("many");
    for (int router = 0; router < 64; router++)
        for (const char direction : std::string("NESWL"))
            for (int k = 0; k < 20; k++)
                trace(file, "(" + std::to_string(router / 8) + ")(" + std::to_string(router % 8) + ")_" +
                                direction + "_flit_in.field(" + std::to_string(k) + ")");
    for (const char *name : {"a(1)_2", "a_1(2)", "a.1.2"})
        trace(file, name);
    for (int n = 1; n <= 20; n++) {
        for (std::size_t i = 0; i < all.size(); i += 97)
            all[i]->write(n);
        sc_start(10, SC_NS);
    }
    uscope_close_trace_file(file);
}

int sc_main(int argc, char **argv)
{
    if (argc > 2 && argv[1] == std::string("all")) {
        for (int i = 2; i < argc; i++)
            run_in_process(argv[0], argv[i], "");
        for (int calls = 1; calls <= KILLS; calls++)
            run_in_process(argv[0], "kill", std::to_string(calls));
        return 0;
    }
    const std::string part = argc > 1 ? argv[1] : "";
    if (part == "signals") run_signals();
    if (part == "types") types::run_types();
    if (part == "direct") transport::run_transport(false);
    if (part == "transport") transport::run_transport(true);
    if (part == "femtoseconds") types::run_resolution(part, 1, SC_FS);
    if (part == "nanoseconds") types::run_resolution(part, 10, SC_NS);
    if (part == "killed") run_killed();
    if (part == "exception") run_exception();
    if (part == "gone") run_gone();
    if (part == "names") run_names();
    if (part == "many") run_many();
    if (part == "hostile") run_hostile();
    if (part == "transactions") run_transactions();
    if (part == "managed") run_managed();
    if (part == "tlm") run_tlm();
    if (part == "unbound") run_unbound();
    if (part == "mixed") run_mixed();
    if (part == "kill") run_until_killed(std::atoi(argv[2]));
    return 0;
}
