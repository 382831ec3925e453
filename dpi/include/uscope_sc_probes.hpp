// SPDX-License-Identifier: Apache-2.0
/**
 * @file uscope_sc_probes.hpp
 * How values of SystemC's types become words of a trace, and the tables of signals that are compared in each
 * cycle: one table for each type, so that the comparison is inline.
 */
#ifndef USCOPE_SC_PROBES_HPP
#define USCOPE_SC_PROBES_HPP

#include <algorithm>
#include <functional>
#include <memory>

#include "uscope_sc_common.hpp"

namespace uscope
{
namespace detail
{

/** The place at which a signal is recorded: known when the trace is open. */
struct place {
    std::string scope;
    std::uint16_t storage = 0, field = 0;
};

/** A cycle that begins when something has changed. */
class sink
{
  public:
    sink(uscope_writer_t *w, std::uint64_t time) noexcept : w_(w), time_(time)
    {
    }
    void open() noexcept
    {
        if (open_) return;
        open_ = true;
        uscope_begin_cycle(w_, time_);
    }
    void set(std::uint16_t storage, std::uint16_t field, std::uint64_t value) noexcept
    {
        open();
        uscope_slot_set(w_, storage, 0, field, value);
    }
    void end() noexcept
    {
        if (open_) uscope_end_cycle(w_);
    }

  private:
    uscope_writer_t *w_;
    std::uint64_t time_;
    bool open_ = false;
};

inline const char *unsigned_type(int bits)
{
    return bits <= 8 ? "u8" : bits <= 16 ? "u16" : bits <= 32 ? "u32" : "u64";
}
inline const char *signed_type(int bits)
{
    return bits <= 8 ? "i8" : bits <= 16 ? "i16" : bits <= 32 ? "i32" : "i64";
}
inline std::uint64_t double_bits(double value)
{
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
inline std::uint64_t low_bits(std::uint64_t value, int bits)
{
    return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

/**
 * A type that is one word of the trace. A reader's call gives what is compared from cycle to cycle; word()
 * makes the word of it that is recorded.
 */
template <class T> struct one_word {
    static constexpr bool single = true;
    using value = T;
    unsigned words() const
    {
        return 1;
    }
    std::string name(const std::string &leaf, unsigned) const
    {
        return leaf;
    }
    static std::uint64_t word(T compared)
    {
        return detail::word(compared);
    }
};

/** Integers of C++. */
template <class T> struct integer_reader : one_word<T> {
    integer_reader(const T &of) : object(&of)
    {
    }
    std::string type(unsigned) const
    {
        constexpr int bits = static_cast<int>(8 * sizeof(T));
        return std::is_signed_v<T> ? signed_type(bits) : unsigned_type(bits);
    }
    T operator()() const
    {
        return *object;
    }
    const T *object;
};
/** Those that are traced with fewer bits than their type: the low bits. */
template <class T> struct narrow_reader : one_word<std::uint64_t> {
    narrow_reader(const T &of, int width) : object(&of), bits(width)
    {
    }
    std::string type(unsigned) const
    {
        return unsigned_type(bits);
    }
    std::uint64_t operator()() const
    {
        return low_bits(detail::word(*object), bits);
    }
    const T *object;
    int bits;
};
struct bool_reader : one_word<bool> {
    bool_reader(const bool &of) : object(&of)
    {
    }
    std::string type(unsigned) const
    {
        return "bool";
    }
    bool operator()() const
    {
        return *object;
    }
    const bool *object;
};
struct bit_reader : one_word<bool> {
    bit_reader(const sc_dt::sc_bit &of) : object(&of)
    {
    }
    std::string type(unsigned) const
    {
        return "bool";
    }
    bool operator()() const
    {
        return object->to_bool();
    }
    const sc_dt::sc_bit *object;
};
struct logic_reader : one_word<std::uint8_t> {
    logic_reader(const sc_dt::sc_logic &of) : object(&of)
    {
    }
    std::string type(unsigned) const
    {
        return "sc_logic";
    }
    std::uint8_t operator()() const
    {
        return static_cast<std::uint8_t>(object->value());
    }
    const sc_dt::sc_logic *object;
};
/** Compared in ticks, recorded in ps. */
struct time_reader : one_word<std::uint64_t> {
    time_reader(const sc_core::sc_time &of) : object(&of)
    {
    }
    std::string type(unsigned) const
    {
        return "u64";
    }
    std::uint64_t operator()() const
    {
        return object->value();
    }
    static std::uint64_t word(std::uint64_t ticks)
    {
        static clockwork clock;
        return clock.ps(sc_core::sc_time::from_value(ticks));
    }
    const sc_core::sc_time *object;
};
struct int_base_reader : one_word<std::int64_t> {
    int_base_reader(const sc_dt::sc_int_base &of) : object(&of)
    {
    }
    std::string type(unsigned) const
    {
        return signed_type(object->length());
    }
    std::int64_t operator()() const
    {
        return object->to_int64();
    }
    const sc_dt::sc_int_base *object;
};
struct uint_base_reader : one_word<std::uint64_t> {
    uint_base_reader(const sc_dt::sc_uint_base &of) : object(&of)
    {
    }
    std::string type(unsigned) const
    {
        return unsigned_type(object->length());
    }
    std::uint64_t operator()() const
    {
        return object->to_uint64();
    }
    const sc_dt::sc_uint_base *object;
};
/** Real numbers and fixed point: the bits of the IEEE 754 double. */
template <class T> struct real_reader : one_word<std::uint64_t> {
    real_reader(const T &of) : object(&of)
    {
    }
    std::string name(const std::string &leaf, unsigned) const
    {
        return leaf + ".f64";
    }
    std::string type(unsigned) const
    {
        return "u64";
    }
    std::uint64_t operator()() const
    {
        if constexpr (std::is_arithmetic_v<T>)
            return double_bits(static_cast<double>(*object));
        else
            return double_bits(object->to_double());
    }
    const T *object;
};
struct enum_reader : one_word<std::uint8_t> {
    enum_reader(const unsigned &of, std::uint8_t undefined, const std::string &name)
        : object(&of), enumeration(name), last(undefined)
    {
    }
    std::string type(unsigned) const
    {
        return enumeration;
    }
    std::uint8_t operator()() const
    {
        return *object < last ? static_cast<std::uint8_t>(*object) : last;
    }
    const unsigned *object;
    std::string enumeration;
    std::uint8_t last;
};

/**
 * Vectors. Up to 64 bits they are a field x and, of logic, x.xz: which bits are Z or X. Longer ones are wide
 * fields (docs/reference/format.md#wide-fields), for which the values of a bit in SystemC are those of the
 * format.
 */
template <class T> struct vector_reader {
    static constexpr bool single = false;
    static constexpr bool is_logic = std::is_same_v<T, sc_dt::sc_lv_base>;
    static constexpr bool is_signed = std::is_same_v<T, sc_dt::sc_signed>;
    static constexpr bool is_number = is_signed || std::is_same_v<T, sc_dt::sc_unsigned>;
    vector_reader(const T &of) : object(&of), bits(of.length())
    {
    }
    unsigned value_words() const
    {
        return static_cast<unsigned>((bits + 63) / 64);
    }
    unsigned words() const
    {
        return value_words() * (is_logic ? 2 : 1);
    }
    std::string name(const std::string &leaf, unsigned i) const
    {
        const bool unknown = i >= value_words();
        if (bits <= 64) return unknown ? leaf + ".xz" : leaf;
        return leaf + ".bits" + std::to_string(bits) + (unknown ? ".x" : ".") +
               std::to_string(unknown ? i - value_words() : i);
    }
    std::string type(unsigned) const
    {
        return is_signed && bits <= 64 ? signed_type(bits) : unsigned_type(bits);
    }
    void read(std::uint64_t *out) const
    {
        if constexpr (is_number) {
            if (bits > 64)
                read_digits(out);
            else if constexpr (is_signed)
                out[0] = static_cast<std::uint64_t>(object->to_int64());
            else
                out[0] = object->to_uint64();
        } else
            read_vector(out);
    }
    /** The kernel's digits have 30 bits; those of a negative number are of its two's complement. */
    void read_digits(std::uint64_t *out) const
    {
        constexpr int digit_bits = BITS_PER_DIGIT;
        thread_local std::vector<sc_dt::sc_digit> digits;
        digits.assign(static_cast<std::size_t>(bits / digit_bits + 2), 0);
        object->concat_get_data(digits.data(), 0);
        std::fill(out, out + words(), 0);
        for (int i = 0; i * digit_bits < bits; i++) {
            const std::uint64_t digit = digits[static_cast<std::size_t>(i)];
            const int at = i * digit_bits, word = at / 64, shift = at % 64;
            out[word] |= digit << shift;
            if (shift + digit_bits > 64 && 64 * (word + 1) < bits) out[word + 1] |= digit >> (64 - shift);
        }
        out[words() - 1] = low_bits(out[words() - 1], (bits - 1) % 64 + 1);
    }
    void read_vector(std::uint64_t *out) const
    {
        const int digits = (bits + 31) / 32;
        const unsigned values = value_words(), last = values - 1;
        const int rest = (bits - 1) % 64 + 1;
        for (unsigned at = 0; at < values; at++) {
            const int low = 2 * static_cast<int>(at);
            out[at] = pair(object->get_word(low), low + 1 < digits ? object->get_word(low + 1) : 0);
            if constexpr (is_logic)
                out[values + at] =
                    pair(object->get_cword(low), low + 1 < digits ? object->get_cword(low + 1) : 0);
        }
        out[last] = low_bits(out[last], rest);
        if constexpr (is_logic) out[values + last] = low_bits(out[values + last], rest);
    }
    template <class Digit> static std::uint64_t pair(Digit low, Digit high)
    {
        return static_cast<std::uint32_t>(low) | std::uint64_t{static_cast<std::uint32_t>(high)} << 32;
    }
    const T *object;
    int bits;
};

template <class T> struct reader_for {
    using type = std::conditional_t<std::is_floating_point_v<T>, real_reader<T>, integer_reader<T>>;
};
#define USCOPE_SC_READER(of, by)                                                                             \
    template <> struct reader_for<of> {                                                                      \
        using type = by;                                                                                     \
    };
USCOPE_SC_READER(bool, bool_reader)
USCOPE_SC_READER(sc_dt::sc_bit, bit_reader)
USCOPE_SC_READER(sc_dt::sc_logic, logic_reader)
USCOPE_SC_READER(sc_core::sc_time, time_reader)
USCOPE_SC_READER(sc_dt::sc_int_base, int_base_reader)
USCOPE_SC_READER(sc_dt::sc_uint_base, uint_base_reader)
USCOPE_SC_READER(sc_dt::sc_signed, vector_reader<sc_dt::sc_signed>)
USCOPE_SC_READER(sc_dt::sc_unsigned, vector_reader<sc_dt::sc_unsigned>)
USCOPE_SC_READER(sc_dt::sc_bv_base, vector_reader<sc_dt::sc_bv_base>)
USCOPE_SC_READER(sc_dt::sc_lv_base, vector_reader<sc_dt::sc_lv_base>)
USCOPE_SC_READER(sc_dt::sc_fxval, real_reader<sc_dt::sc_fxval>)
USCOPE_SC_READER(sc_dt::sc_fxval_fast, real_reader<sc_dt::sc_fxval_fast>)
USCOPE_SC_READER(sc_dt::sc_fxnum, real_reader<sc_dt::sc_fxnum>)
USCOPE_SC_READER(sc_dt::sc_fxnum_fast, real_reader<sc_dt::sc_fxnum_fast>)
#undef USCOPE_SC_READER
template <class T> using reader_of = typename reader_for<T>::type;

/** The signals of one type. A dense storage begins with zeros, so that a value of 0 need not be recorded. */
class table_base
{
  public:
    virtual ~table_base() = default;
    virtual void poll(sink &out) = 0;
    /** The ids are known. */
    void resolve()
    {
        for (std::size_t i = 0; i < places_.size(); i++)
            ids_[i] = {places_[i]->storage, places_[i]->field};
    }

  protected:
    void add_place(const place *where)
    {
        places_.push_back(where);
        ids_.push_back({0, 0});
    }
    struct ids {
        std::uint16_t storage, field;
    };
    std::vector<ids> ids_;

  private:
    std::vector<const place *> places_;
};

/** The probes of types that are one word. What is compared lies next to each other: most signals do not
 * change. */
template <class Reader> class word_table : public table_base
{
  public:
    void add(Reader reader, const place *where)
    {
        readers_.push_back(reader);
        last_.push_back({});
        add_place(where);
    }
    void poll(sink &out) override
    {
        const Reader *const readers = readers_.data();
        last *const known = last_.data();
        for (std::size_t i = 0, n = readers_.size(); i < n; i++) {
            const typename Reader::value now = readers[i]();
            if (now == known[i].value) continue;
            known[i].value = now;
            out.set(ids_[i].storage, ids_[i].field, Reader::word(now));
        }
    }

  private:
    struct last {
        typename Reader::value value{};
    };
    std::vector<Reader> readers_;
    std::vector<last> last_;
};

/** The probes of vectors. */
template <class Reader> class vector_table : public table_base
{
  public:
    void add(Reader reader, const place *where)
    {
        readers_.push_back(reader);
        last_.resize(last_.size() + reader.words(), 0);
        if (now_.size() < reader.words()) now_.resize(reader.words());
        add_place(where);
    }
    void poll(sink &out) override
    {
        std::uint64_t *known = last_.data();
        for (std::size_t i = 0; i < readers_.size(); i++) {
            const unsigned words = readers_[i].words();
            readers_[i].read(now_.data());
            for (unsigned n = 0; n < words; n++, known++) {
                if (now_[n] == *known) continue;
                *known = now_[n];
                out.set(ids_[i].storage, static_cast<std::uint16_t>(ids_[i].field + n), *known);
            }
        }
    }

  private:
    std::vector<Reader> readers_;
    std::vector<std::uint64_t> last_, now_;
};
template <class Reader>
using table = std::conditional_t<Reader::single, word_table<Reader>, vector_table<Reader>>;

} // namespace detail
} // namespace uscope

#endif
