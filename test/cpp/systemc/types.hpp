// SPDX-License-Identifier: Apache-2.0
// Objects of every type that sc_trace() takes, by reference, by pointer, as signal and as port. In each step
// all get other values, and the program prints what SystemC says of them; the test compares that with the
// trace.
#ifndef TEST_SYSTEMC_TYPES_HPP
#define TEST_SYSTEMC_TYPES_HPP

#include <cinttypes>
#include <cstdio>
#include <functional>
#include <memory>
#include <type_traits>

#include "library.hpp"

#include "uscope_systemc.hpp"

namespace types
{
using namespace sc_core;
using namespace sc_dt;

constexpr int STEPS = 12;

/** Bits of the values of a step: all, the highest, none, the lowest, then those of a generator. */
class bits_of_step
{
  public:
    void begin(int step)
    {
        step_ = step;
    }
    std::string bits(int count, const char *digits = "01")
    {
        std::string made(static_cast<std::size_t>(count), '0');
        if (step_ == 1) made.assign(made.size(), '1');
        if (step_ == 2) made.front() = '1';
        if (step_ == 4) made.back() = '1';
        if (step_ > 4)
            for (char &digit : made)
                digit = digits[next() % std::strlen(digits)];
        return made;
    }
    std::uint64_t word(int bits_wanted = 64)
    {
        return std::stoull(bits(bits_wanted), nullptr, 2);
    }

  private:
    std::uint64_t next()
    {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return state_ >> 33;
    }
    int step_ = 0;
    std::uint64_t state_ = 30;
};

/** Bit by bit: SystemC assigns strings to vectors of 32, 64, ... bits with a shift that C++ does not define.
 */
template <class Vector> void fill(Vector &vector, const std::string &bits)
{
    const int length = vector.length();
    for (int i = 0; i < length; i++)
        vector.set_bit(i, sc_logic(bits[static_cast<std::size_t>(length - 1 - i)]).value());
}

struct subject {
    std::string name;
    std::function<void(bits_of_step &)> change;
    /** Kind and value: i an integer, v bits, r a double's bits, l a label. */
    std::function<std::string()> shown;
};

inline std::string real(double value)
{
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return "r " + std::to_string(bits);
}

/** The objects live as long as this. */
class subjects
{
  public:
    explicit subjects(sc_trace_file *file) : file_(file)
    {
    }
    void change(int step)
    {
        source_.begin(step);
        for (const subject &one : all_)
            one.change(source_);
    }
    void show() const
    {
        for (const subject &one : all_)
            std::printf("%s %s\n", one.name.c_str(), one.shown().c_str());
    }

    /** By reference, and by pointer. */
    template <class T, class Change, class Shown>
    void add(const std::string &name, std::shared_ptr<T> object, Change change, Shown shown)
    {
        const auto changed = [object, change](bits_of_step &source) { change(*object, source); };
        const auto value = [object, shown] { return shown(*object); };
        sc_trace(file_, *object, "top.types." + name);
        sc_trace(file_, object.get(), "top.types." + name + "_p");
        all_.push_back({name, changed, value});
        all_.push_back({name + "_p", [](bits_of_step &) {}, value});
    }
    /** An integer of C++: whole, and with every width; 0, negative widths and ones too large are the whole.
     */
    template <class T> void integer(const std::string &name)
    {
        constexpr int size = 8 * static_cast<int>(sizeof(T));
        const auto object = std::make_shared<T>();
        add(
            name, object, [](T &to, bits_of_step &source) { to = static_cast<T>(source.word(size)); },
            [](T value) { return "i " + std::to_string(value); });
        for (int width = -1; width <= size + 1; width++) {
            const bool is_whole = width <= 0 || width >= size;
            const std::string key = name + "_" + std::to_string(width + 1);
            if (width % 2 == 0)
                sc_trace(file_, *object, "top.types." + key, width);
            else
                sc_trace(file_, object.get(), "top.types." + key, width);
            all_.push_back({key, [](bits_of_step &) {},
                            [object, width, is_whole] {
                                const auto low = static_cast<std::uint64_t>(*object) &
                                                 ((std::uint64_t{1} << (is_whole ? 0 : width)) - 1);
                                return "i " + (is_whole ? std::to_string(*object) : std::to_string(low));
                            }});
        }
    }
    /** sc_int, sc_uint, sc_bigint, sc_biguint. */
    template <class T, class Base> void number(const std::string &name)
    {
        const auto object = std::make_shared<T>();
        add(
            name, std::shared_ptr<Base>(object, object.get()),
            [](Base &to, bits_of_step &source) {
                sc_bv_base bits(to.length());
                fill(bits, source.bits(to.length()));
                to = bits;
            },
            [](const Base &value) { return "i " + value.to_string(SC_DEC); });
    }
    template <int... W> void numbers()
    {
        const auto with = [](const char *name, int width) { return name + std::to_string(width); };
        (number<sc_int<W>, sc_int_base>(with("sc_int", W)), ...);
        (number<sc_uint<W>, sc_uint_base>(with("sc_uint", W)), ...);
    }
    template <int... W> void wide_numbers()
    {
        const auto with = [](const char *name, int width) { return name + std::to_string(width); };
        (number<sc_bigint<W>, sc_signed>(with("bigint", W)), ...);
        (number<sc_biguint<W>, sc_unsigned>(with("biguint", W)), ...);
    }
    template <class T> void vector(const std::string &name, std::shared_ptr<T> object, const char *digits)
    {
        add(
            name, object,
            [digits](T &to, bits_of_step &source) { fill(to, source.bits(to.length(), digits)); },
            [](const T &value) { return "v " + value.to_string(); });
    }
    void vectors(std::initializer_list<int> widths)
    {
        for (const int width : widths) {
            vector("bv" + std::to_string(width), std::make_shared<sc_bv_base>(width), "01");
            vector("lv" + std::to_string(width), std::make_shared<sc_lv_base>(width), "01ZX");
        }
    }
    /** Fixed point, from eighths. */
    template <class Base, class T> void fixed(const std::string &name, std::shared_ptr<T> object)
    {
        add(
            name, std::shared_ptr<Base>(object, object.get()),
            [](Base &to, bits_of_step &source) {
                to = static_cast<double>(static_cast<std::int16_t>(source.word(16))) / 8;
            },
            [](const Base &value) { return real(value.to_double()); });
    }
    template <class T> void floating(const std::string &name)
    {
        add(
            name, std::make_shared<T>(),
            [](T &to, bits_of_step &source) {
                using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
                const auto bits = static_cast<word>(source.word(8 * static_cast<int>(sizeof(T))));
                std::memcpy(&to, &bits, sizeof to);
            },
            [](T value) { return real(static_cast<double>(value)); });
    }
    /** A signal's change is written; by its name and its value it is as any object. */
    template <class S, class Change, class Shown>
    void signal(const std::string &name, S &of, Change change, Shown shown)
    {
        all_.push_back({name, change, [&of, shown] { return shown(of); }});
    }

  private:
    sc_trace_file *file_;
    bits_of_step source_;
    std::vector<subject> all_;
};

/** Ports, traced before they are bound. */
SC_MODULE(ports)
{
    sc_in<bool> flag{"flag"};
    sc_in<sc_uint<20>> count{"count"};
    sc_inout<sc_bv<70>> wide{"wide"};
    sc_out<double> level{"level"};
    sc_in_resolved wire{"wire"};
    sc_in_rv<5> bus{"bus"};
    SC_CTOR(ports)
    {
    }
    void add_to(sc_trace_file * file, const std::string &prefix) const
    {
        sc_trace(file, flag, prefix + "flag");
        sc_trace(file, count, prefix + "count");
        sc_trace(file, wide, prefix + "wide");
        sc_trace(file, level, prefix + "level");
        sc_trace(file, wire, prefix + "wire");
        sc_trace(file, bus, prefix + "bus");
    }
};

SC_MODULE(stepping)
{
    sc_signal<bool> flag{"flag"};
    sc_signal<sc_uint<20>> count{"count"};
    sc_signal<sc_bv<70>> wide{"wide"};
    sc_buffer<double> level{"level"};
    sc_signal_resolved wire{"wire"};
    sc_signal_rv<5> bus{"bus"};
    sc_signal<char> narrow_char{"narrow_char"};
    sc_signal<short> narrow_short{"narrow_short"};
    sc_signal<int> narrow_int{"narrow_int"};
    sc_signal<long> narrow_long{"narrow_long"};
    sc_event event{"event"};
    unsigned state = 0;
    ports inner{"inner"};
    sc_trace_file *file;
    subjects all;
    SC_HAS_PROCESS(stepping);
    stepping(sc_module_name name, sc_trace_file * to) : sc_module(name), file(to), all(to)
    {
        inner.flag(flag);
        inner.count(count);
        inner.wide(wide);
        inner.level(level);
        inner.wire(wire);
        inner.bus(bus);
        add_numbers();
        add_others();
        add_signals();
        SC_THREAD(run);
    }
    void add_numbers()
    {
        all.integer<unsigned char>("uchar");
        all.integer<unsigned short>("ushort");
        all.integer<unsigned int>("uint");
        all.integer<unsigned long>("ulong");
        all.integer<char>("char");
        all.integer<short>("short");
        all.integer<int>("int");
        all.integer<long>("long");
        all.integer<sc_dt::int64>("int64");
        all.integer<sc_dt::uint64>("uint64");
        all.numbers<1, 2, 8, 9, 31, 32, 33, 63, 64>();
        all.wide_numbers<1, 30, 31, 60, 64, 65, 90, 128, 129, 1000>();
    }
    void add_others()
    {
        all.vectors({1, 2, 31, 32, 33, 63, 64, 65, 70, 96, 97, 128, 129, 1000});
        all.floating<float>("float");
        all.floating<double>("double");
        all.fixed<sc_fxnum>("fixed", std::make_shared<sc_fixed<16, 13>>());
        all.fixed<sc_fxnum>("ufixed", std::make_shared<sc_ufixed<9, 4>>());
        all.fixed<sc_fxnum>("fix", std::make_shared<sc_fix>(70, 60));
        all.fixed<sc_fxnum>("ufix", std::make_shared<sc_ufix>(16, 12));
        all.fixed<sc_fxnum_fast>("fixed_fast", std::make_shared<sc_fixed_fast<16, 13>>());
        all.fixed<sc_fxnum_fast>("ufixed_fast", std::make_shared<sc_ufixed_fast<9, 4>>());
        all.fixed<sc_fxnum_fast>("fix_fast", std::make_shared<sc_fix_fast>(16, 12));
        all.fixed<sc_fxnum_fast>("ufix_fast", std::make_shared<sc_ufix_fast>(16, 12));
        all.fixed<sc_fxval>("fxval", std::make_shared<sc_fxval>(0.0));
        all.fixed<sc_fxval_fast>("fxval_fast", std::make_shared<sc_fxval_fast>(0.0));
        all.add(
            "bool", std::make_shared<bool>(), [](bool &to, bits_of_step &source) { to = source.word(1); },
            [](bool value) { return "i " + std::to_string(value); });
        all.add(
            "bit", std::make_shared<sc_bit>(),
            [](sc_bit &to, bits_of_step &source) { to = source.word(1) != 0; },
            [](sc_bit value) { return std::string("i ") + value.to_char(); });
        all.add(
            "logic", std::make_shared<sc_logic>(),
            [](sc_logic &to, bits_of_step &source) { to = source.bits(1, "01ZX")[0]; },
            [](sc_logic value) {
                const std::string names[] = {"zero", "one", "Z", "X"};
                return "l " + names[value.value()];
            });
        all.add(
            "time", std::make_shared<sc_time>(),
            [](sc_time &to, bits_of_step &source) { to = sc_time::from_value(source.word()); },
            [](const sc_time &value) { return "i " + std::to_string(value.value()); });
    }
    void add_signals()
    {
        static const char *literals[] = {"idle", "busy", "done", nullptr};
        sc_trace(file, state, "top.types.state", literals);
        all.signal(
            "state", state, [this](bits_of_step &source) { state = static_cast<unsigned>(source.word(2)); },
            [](unsigned value) { return std::string("l ") + (value < 3 ? literals[value] : "undefined"); });
        sc_trace(file, event, "top.types.event");
        int nothing = 0;
        sc_trace(file, static_cast<const void *>(&nothing), "top.types.nothing"); // SystemC records nothing
        sc_trace(file, flag, "top.types.flag");
        inner.add_to(file, "top.types.port_");
        for (const std::string prefix : {"", "port_"}) {
            all.signal(
                prefix + "flag", flag, [this](bits_of_step &source) { flag = source.word(1) != 0; },
                [](const auto &signal) { return "i " + std::to_string(signal.read()); });
        }
        all.signal(
            "port_count", count,
            [this](bits_of_step &source) { count = static_cast<unsigned>(source.word(20)); },
            [](const auto &signal) { return "i " + signal.read().to_string(SC_DEC); });
        all.signal(
            "port_wide", wide, [this](bits_of_step &source) { wide = sc_bv<70>(source.bits(70).c_str()); },
            [](const auto &signal) { return "v " + signal.read().to_string(); });
        all.signal(
            "port_level", level,
            [this](bits_of_step &source) { level = static_cast<double>(source.word(20)) / 4; },
            [](const auto &signal) { return real(signal.read()); });
        all.signal(
            "port_wire", wire, [this](bits_of_step &source) { wire = sc_logic(source.bits(1, "01ZX")[0]); },
            [](const auto &signal) {
                const std::string names[] = {"zero", "one", "Z", "X"};
                return "l " + names[signal.read().value()];
            });
        all.signal(
            "port_bus", bus, [this](bits_of_step &source) { bus = sc_lv<5>(source.bits(5, "01ZX").c_str()); },
            [](const auto &signal) { return "v " + signal.read().to_string(); });
        narrow("narrow_char", narrow_char, 5);
        narrow("narrow_short", narrow_short, 9);
        narrow("narrow_int", narrow_int, 17);
        narrow("narrow_long", narrow_long, 40);
    }
    template <class T> void narrow(const std::string &name, sc_signal<T> &signal, int width)
    {
        sc_trace(file, signal, "top.types." + name, width);
        all.signal(
            name, signal,
            [&signal](bits_of_step &source) {
                signal = static_cast<T>(source.word(8 * static_cast<int>(sizeof(T))));
            },
            [width](const auto &of) {
                const auto low = static_cast<std::uint64_t>(of.read()) & ((std::uint64_t{1} << width) - 1);
                return "i " + std::to_string(low);
            });
    }
    void run()
    {
        for (int step = 1; step <= STEPS; step++) {
            wait(1, SC_NS);
            all.change(step);
            if (step % 3 == 0) event.notify(SC_ZERO_TIME);
            if (step % 4 == 0) sc_write_comment(file, "step " + std::to_string(step));
            if (step == 6) tprintf(file, "%s of %d", "six", STEPS);
            wait(SC_ZERO_TIME);
            std::printf("@ %" PRIu64 "\n", static_cast<std::uint64_t>(sc_time_stamp().value()));
            all.show();
        }
    }
};

inline void run_types()
{
    sc_trace_file *file = uscope_create_trace_file("types");
    file->set_time_unit(1, SC_NS); // changes nothing: times of the trace are ps
    stepping top("top", file);
    sc_start();
    uscope_close_trace_file(file);
}

/** Times of a kernel whose resolution is not 1 ps are ps in the trace. */
inline void run_resolution(const std::string &name, double value, sc_time_unit unit)
{
    sc_set_time_resolution(value, unit);
    sc_signal<sc_time> when("when");
    sc_trace_file *file = uscope_create_trace_file(name.c_str());
    sc_trace(file, when, "when");
    uscope::tx_database db(*file);
    uscope::tx_fiber fiber(db, "f");
    uscope::tx_generator made(fiber, "g");
    for (int step = 1; step <= 3; step++) {
        const sc_time length(1500 * step, unit);
        when = length;
        const auto one = made.begin("took", length);
        sc_start(length);
        one.end();
    }
    uscope_close_trace_file(file);
}
} // namespace types

#endif
