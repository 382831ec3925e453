// SPDX-License-Identifier: Apache-2.0
/**
 * @file uscope_sc_probes.hpp
 * How values of SystemC's types become words of a trace, and the tables of signals that are compared in each
 * cycle: one table for each type, so that the comparison is inline.
 */
#ifndef USCOPE_SC_PROBES_HPP
#define USCOPE_SC_PROBES_HPP

#include <functional>
#include <memory>

#include "uscope_sc_common.hpp"

namespace uscope
{
namespace detail
{

/** Where a signal is recorded: known when the trace is open. */
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
inline std::uint64_t low_bits(std::uint64_t value, int bits)
{
    return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

/** One word: what most types are. */
struct one_word {
    static constexpr bool single = true;
    unsigned words() const
    {
        return 1;
    }
    std::string suffix(unsigned) const
    {
        return "";
    }
};

/** Integers of C++. Those of fewer bits than their type are recorded as their low bits. */
template <class T> struct integer_reader : one_word {
    integer_reader(const T &of, int width)
        : object(&of), bits(width <= 0 || width > full ? full : width), narrow(bits < full)
    {
    }
    static constexpr int full = static_cast<int>(8 * sizeof(T));
    std::string type(unsigned) const
    {
        return std::is_signed_v<T> && !narrow ? signed_type(bits) : unsigned_type(bits);
    }
    std::uint64_t operator()() const
    {
        const auto value = static_cast<std::uint64_t>(static_cast<long long>(*object));
        return narrow ? low_bits(value, bits) : std::is_signed_v<T> ? value : low_bits(value, full);
    }
    const T *object;
    int bits;
    bool narrow;
};
struct bool_reader : one_word {
    bool_reader(const bool &of, int) : object(&of)
    {
    }
    std::string type(unsigned) const
    {
        return "bool";
    }
    std::uint64_t operator()() const
    {
        return *object;
    }
    const bool *object;
};
struct bit_reader : one_word {
    bit_reader(const sc_dt::sc_bit &of, int) : object(&of)
    {
    }
    std::string type(unsigned) const
    {
        return "bool";
    }
    std::uint64_t operator()() const
    {
        return object->to_bool();
    }
    const sc_dt::sc_bit *object;
};
struct logic_reader : one_word {
    logic_reader(const sc_dt::sc_logic &of, int) : object(&of)
    {
    }
    std::string type(unsigned) const
    {
        return "sc_logic";
    }
    std::uint64_t operator()() const
    {
        return static_cast<std::uint64_t>(object->value());
    }
    const sc_dt::sc_logic *object;
};
struct time_reader : one_word {
    time_reader(const sc_core::sc_time &of, int) : object(&of)
    {
    }
    std::string type(unsigned) const
    {
        return "u64";
    }
    std::uint64_t operator()() const
    {
        static clockwork clock;
        return clock.ps(*object);
    }
    const sc_core::sc_time *object;
};
struct int_base_reader : one_word {
    int_base_reader(const sc_dt::sc_int_base &of, int) : object(&of)
    {
    }
    std::string type(unsigned) const
    {
        return signed_type(object->length());
    }
    std::uint64_t operator()() const
    {
        return static_cast<std::uint64_t>(object->to_int64());
    }
    const sc_dt::sc_int_base *object;
};
struct uint_base_reader : one_word {
    uint_base_reader(const sc_dt::sc_uint_base &of, int) : object(&of)
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
template <class T> struct real_reader : one_word {
    real_reader(const T &of, int) : object(&of)
    {
    }
    std::string suffix(unsigned) const
    {
        return ".f64";
    }
    std::string type(unsigned) const
    {
        return "u64";
    }
    std::uint64_t operator()() const
    {
        double value;
        if constexpr (std::is_arithmetic_v<T>)
            value = static_cast<double>(*object);
        else
            value = object->to_double();
        std::uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    const T *object;
};
struct enum_reader : one_word {
    enum_reader(const unsigned &of, unsigned undefined) : object(&of), last(undefined)
    {
    }
    std::uint64_t operator()() const
    {
        return *object < last ? *object : last;
    }
    const unsigned *object;
    unsigned last;
};

/** Vectors: words of 64 bits, lowest first: x, x.w1, x.w2, ...; of logic also which bits are Z or X: x.xz,
 * x.xz1, ... */
template <class T> struct vector_reader {
    static constexpr bool single = false;
    static constexpr bool is_logic = std::is_same_v<T, sc_dt::sc_lv_base>;
    static constexpr bool is_number =
        std::is_same_v<T, sc_dt::sc_signed> || std::is_same_v<T, sc_dt::sc_unsigned>;
    vector_reader(const T &of, int) : object(&of), bits(of.length())
    {
        if constexpr (is_number) copy = std::make_shared<sc_dt::sc_bv_base>(bits);
    }
    unsigned value_words() const
    {
        return static_cast<unsigned>((bits + 63) / 64);
    }
    unsigned words() const
    {
        return value_words() * (is_logic ? 2 : 1);
    }
    std::string suffix(unsigned i) const
    {
        const bool mask = i >= value_words();
        const unsigned at = mask ? i - value_words() : i;
        if (mask) return at ? ".xz" + std::to_string(at) : ".xz";
        return at ? ".w" + std::to_string(at) : "";
    }
    std::string type(unsigned i) const
    {
        const unsigned at = i % value_words();
        const int left = bits - static_cast<int>(64 * at);
        return std::is_same_v<T, sc_dt::sc_signed> && bits <= 64 ? signed_type(left) : unsigned_type(left);
    }
    void read(std::uint64_t *out) const
    {
        if constexpr (is_number) {
            if (bits <= 64) {
                if constexpr (std::is_same_v<T, sc_dt::sc_signed>)
                    out[0] = static_cast<std::uint64_t>(object->to_int64());
                else
                    out[0] = object->to_uint64();
                return;
            }
            *copy = *object;
            values(*copy, out);
        } else {
            values(*object, out);
        }
    }
    template <class V> void values(const V &vector, std::uint64_t *out) const
    {
        const int digits = (bits + 31) / 32;
        for (unsigned i = 0; i < words(); i++)
            out[i] = 0;
        for (int i = 0; i < digits; i++) {
            const unsigned at = static_cast<unsigned>(i) / 2, shift = i % 2 ? 32u : 0u;
            out[at] |= std::uint64_t{static_cast<std::uint32_t>(vector.get_word(i))} << shift;
            if constexpr (is_logic)
                out[value_words() + at] |= std::uint64_t{static_cast<std::uint32_t>(vector.get_cword(i))}
                                           << shift;
        }
        const int rest = bits % 64;
        if (rest == 0) return;
        for (unsigned i = value_words() - 1; i < words(); i += value_words())
            out[i] = low_bits(out[i], rest);
    }
    const T *object;
    int bits;
    std::shared_ptr<sc_dt::sc_bv_base> copy;
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

class table_base
{
  public:
    virtual ~table_base() = default;
    virtual void resolve() = 0;
    virtual void poll(sink &out) = 0;
};

/** The signals of one type. A dense storage begins with zeros, so that a value of 0 need not be recorded. */
template <class Reader> class table : public table_base
{
  public:
    void add(Reader reader, place *where)
    {
        if (!where) return;
        const unsigned words = [&] {
            if constexpr (Reader::single)
                return 1u;
            else
                return reader.words();
        }();
        rows_.push_back({std::move(reader), 0, 0, static_cast<std::uint32_t>(old_.size()), where});
        if constexpr (!Reader::single) {
            old_.resize(old_.size() + words, 0);
            if (now_.size() < words) now_.resize(words);
        }
    }
    void resolve() override
    {
        for (row &one : rows_) {
            one.storage = one.where->storage;
            one.field = one.where->field;
        }
    }
    void poll(sink &out) override
    {
        if constexpr (Reader::single) {
            if (last_.size() != rows_.size()) last_.assign(rows_.size(), 0);
            const row *const rows = rows_.data();
            std::uint64_t *const last = last_.data();
            for (std::size_t i = 0, n = rows_.size(); i < n; i++) {
                const std::uint64_t value = rows[i].reader();
                if (value == last[i]) continue;
                last[i] = value;
                out.set(rows[i].storage, rows[i].field, value);
            }
        } else {
            for (row &one : rows_) {
                one.reader.read(now_.data());
                for (unsigned i = 0, n = one.reader.words(); i < n; i++) {
                    std::uint64_t &old = old_[one.first + i];
                    if (now_[i] == old) continue;
                    old = now_[i];
                    out.set(one.storage, static_cast<std::uint16_t>(one.field + i), old);
                }
            }
        }
    }

  private:
    struct row {
        Reader reader;
        std::uint16_t storage, field;
        std::uint32_t first;
        place *where;
    };
    std::vector<row> rows_;
    std::vector<std::uint64_t> last_, old_, now_;
};

} // namespace detail
} // namespace uscope

#endif
