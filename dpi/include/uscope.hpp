// SPDX-License-Identifier: Apache-2.0
/**
 * @file uscope.hpp
 * The client for C++17, header only, over uscope.h. Every call is an inline call of its C twin, with the
 * handle's ids as arguments: it costs the same and allocates nothing.
 *
 *     uscope::trace trace(uscope::options("core0"));                  // throws uscope::error
 *     auto rob = trace.storage("core0/rob");
 *     auto pc = rob.field<std::uint64_t>("pc");                       // throws when it has another type
 *     auto flush = trace.event<std::uint32_t, std::uint8_t>("core0/flush");
 *     {
 *         uscope::cycle cycle(trace, time_ps);
 *         rob.set(3, pc, 0x80000000);
 *         flush(7u, std::uint8_t{1});
 *     }
 *
 * A trace is used by one thread at a time, different traces by different threads, as in C. A
 * default-constructed trace is legal everywhere and records nothing. The code that `uscope codegen --cpp`
 * writes has names and types that the compiler checks.
 */
#ifndef USCOPE_HPP
#define USCOPE_HPP

#ifndef __cplusplus
#error "uscope.hpp is C++; C includes uscope.h"
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "uscope.h"

namespace uscope
{

/** What a call that throws has thrown: the code of docs/reference/errors.md, and the message. */
class error : public std::runtime_error
{
  public:
    error(std::string code, const std::string &message)
        : std::runtime_error(code + ": " + message), code_(std::move(code))
    {
    }
    const std::string &code() const noexcept
    {
        return code_;
    }

  private:
    std::string code_;
};

/** What a call that does not throw fills in: empty when all is well. */
struct status {
    std::string code, message;
    explicit operator bool() const noexcept
    {
        return code.empty();
    }
};

/** An index of a string, from trace::string. */
struct text {
    std::uint32_t index;
};

/**
 * A value of more than 64 bits (docs/reference/format.md#wide-fields): 64-bit words, the lowest first. Of one
 * with four states `unknown` says which bits are not known: x where the value has a 1, z where it has a 0.
 */
template <unsigned Bits, bool FourStates = false> struct wide {
    static_assert(Bits > 64 && Bits <= 65536, "up to 64 bits are an integer; 65,536 are the most");
    static constexpr unsigned words = (Bits + 63) / 64;
    std::array<std::uint64_t, words> value{};
    std::array<std::uint64_t, FourStates ? words : 0> unknown{};

    wide() noexcept = default;
    wide(const std::array<std::uint64_t, words> &bits) noexcept : value(bits)
    {
    }
    wide(const std::array<std::uint64_t, words> &bits,
         const std::array<std::uint64_t, FourStates ? words : 0> &unknown_bits) noexcept
        : value(bits), unknown(unknown_bits)
    {
    }
};

/** Elements next to each other that someone else owns: an array, a std::vector, a std::array, a std::span. */
template <class T> class span
{
  public:
    constexpr span() noexcept = default;
    constexpr span(const T *data, std::size_t size) noexcept : data_(data), size_(size)
    {
    }
    template <std::size_t N> constexpr span(const T (&array)[N]) noexcept : data_(array), size_(N)
    {
    }
    template <class C, class = decltype(static_cast<const T *>(std::declval<const C &>().data()))>
    constexpr span(const C &container) noexcept : data_(container.data()), size_(container.size())
    {
    }
    constexpr const T *begin() const noexcept
    {
        return data_;
    }
    constexpr const T *end() const noexcept
    {
        return data_ + size_;
    }
    constexpr std::size_t size() const noexcept
    {
        return size_;
    }

  private:
    const T *data_ = nullptr;
    std::size_t size_ = 0;
};

namespace detail
{

[[noreturn]] inline void raise()
{
    throw error(uscope_last_error_code(), uscope_last_error_message());
}

template <class T> struct same {
    using type = T;
};
/** Keeps a parameter out of deduction: the handle says the type, the value is converted to it. */
template <class T> using given = typename same<T>::type;

/** A value as the client takes it: 64 bits, sign-extended when its type is signed. */
template <class T> constexpr unsigned long long word(T value) noexcept
{
    if constexpr (std::is_same_v<T, text>)
        return value.index;
    else if constexpr (std::is_enum_v<T>)
        return static_cast<unsigned long long>(static_cast<std::underlying_type_t<T>>(value));
    else {
        static_assert(std::is_integral_v<T>,
                      "fields hold integers, bool, enums, uscope::text and uscope::wide");
        return static_cast<unsigned long long>(value);
    }
}

/** A type of one field has 0 here. A wide one has its bits, and how many fields hold it. */
template <class T> struct width {
    static constexpr unsigned bits = 0, words = 1;
};
template <unsigned Bits, bool FourStates> struct width<wide<Bits, FourStates>> {
    static constexpr unsigned bits = Bits, words = wide<Bits, FourStates>::words * (FourStates ? 2 : 1);
};
template <class T> constexpr bool is_wide = width<T>::bits != 0;

/** The words of a value, from `at` on, which moves past them. */
template <class T> constexpr void store(unsigned long long *words, std::size_t &at, const T &value) noexcept
{
    if constexpr (is_wide<T>) {
        for (const std::uint64_t one : value.value)
            words[at++] = one;
        for (const std::uint64_t one : value.unknown)
            words[at++] = one;
    } else
        words[at++] = word(value);
}

/** Number of the field type that holds T (docs/reference/format.md#fields). */
template <class T> constexpr int type_number() noexcept
{
    if constexpr (is_wide<T>)
        return 4; // of each of its fields
    else if constexpr (std::is_same_v<T, text>)
        return 10;
    else if constexpr (std::is_same_v<T, bool>)
        return 9;
    else if constexpr (std::is_enum_v<T>)
        return 11;
    else {
        static_assert(std::is_integral_v<T>,
                      "fields hold integers, bool, enums, uscope::text and uscope::wide");
        constexpr int size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
        return (std::is_signed_v<T> ? 5 : 1) + size;
    }
}

inline const char *type_name(int number) noexcept
{
    static const char *const names[] = {"none", "u8",  "u16", "u32",  "u64",    "i8",
                                        "i16",  "i32", "i64", "bool", "string", "an enum"};
    return names[number > 0 && number < 12 ? number : 0];
}

/** An enum's field may be used as the number that it is. */
template <class T> constexpr bool fits(int actual) noexcept
{
    return actual == type_number<T>() || (actual == 11 && std::is_same_v<T, std::uint8_t>);
}

template <class... V>
inline void put(uscope_writer_t *w, std::uint16_t storage, std::uint16_t slot, V... values) noexcept
{
    constexpr std::size_t n = sizeof...(V);
    static_assert(n >= 1 && n <= 8);
    if constexpr (n == 1)
        uscope_slot_put1(w, storage, slot, values...);
    else if constexpr (n == 2)
        uscope_slot_put2(w, storage, slot, values...);
    else if constexpr (n == 3)
        uscope_slot_put3(w, storage, slot, values...);
    else if constexpr (n == 4)
        uscope_slot_put4(w, storage, slot, values...);
    else if constexpr (n == 5)
        uscope_slot_put5(w, storage, slot, values...);
    else if constexpr (n == 6)
        uscope_slot_put6(w, storage, slot, values...);
    else if constexpr (n == 7)
        uscope_slot_put7(w, storage, slot, values...);
    else
        uscope_slot_put8(w, storage, slot, values...);
}

template <class... V> inline void emit(uscope_writer_t *w, std::uint16_t event, V... values) noexcept
{
    constexpr std::size_t n = sizeof...(V);
    static_assert(n <= 8);
    if constexpr (n == 0)
        uscope_event0(w, event);
    else if constexpr (n == 1)
        uscope_event1(w, event, values...);
    else if constexpr (n == 2)
        uscope_event2(w, event, values...);
    else if constexpr (n == 3)
        uscope_event3(w, event, values...);
    else if constexpr (n == 4)
        uscope_event4(w, event, values...);
    else if constexpr (n == 5)
        uscope_event5(w, event, values...);
    else if constexpr (n == 6)
        uscope_event6(w, event, values...);
    else if constexpr (n == 7)
        uscope_event7(w, event, values...);
    else
        uscope_event8(w, event, values...);
}

template <std::size_t... I>
inline void put_words(uscope_writer_t *w, std::uint16_t storage, std::uint16_t slot,
                      const unsigned long long *words, std::index_sequence<I...>) noexcept
{
    put(w, storage, slot, words[I]...);
}
template <std::size_t... I>
inline void emit_words(uscope_writer_t *w, std::uint16_t event, const unsigned long long *words,
                       std::index_sequence<I...>) noexcept
{
    emit(w, event, words[I]...);
}

/** Bytes of a field. */
template <class T> constexpr unsigned bytes_of() noexcept
{
    if constexpr (std::is_same_v<T, bool> || std::is_enum_v<T>)
        return 1;
    else if constexpr (is_wide<T>)
        return 8;
    else
        return sizeof(T);
}

/** Any fields of a slot, from 0 on: up to eight are one call. */
template <class... V>
inline void put_all(uscope_writer_t *w, std::uint16_t storage, std::uint16_t slot,
                    const V &...values) noexcept
{
    constexpr std::size_t n = (std::size_t{0} + ... + width<V>::words);
    static_assert(n >= 1);
    if constexpr (n <= 8 && !(is_wide<V> || ...))
        put(w, storage, slot, word(values)...);
    else {
        unsigned long long words[n];
        std::size_t at = 0;
        (store(words, at, values), ...);
        put_words(w, storage, slot, words, std::make_index_sequence<(n < 8 ? n : 8)>());
        for (std::size_t i = 8; i < n; i++)
            uscope_slot_set(w, storage, slot, static_cast<std::uint16_t>(i), words[i]);
    }
}

/** An event of any fields; of more than eight its payload is packed here. */
template <class... V>
inline void emit_all(uscope_writer_t *w, std::uint16_t event, const V &...values) noexcept
{
    constexpr std::size_t n = (std::size_t{0} + ... + width<V>::words);
    if constexpr (n <= 8 && !(is_wide<V> || ...))
        emit(w, event, word(values)...);
    else {
        unsigned long long words[n];
        std::size_t at = 0;
        (store(words, at, values), ...);
        if constexpr (n <= 8)
            emit_words(w, event, words, std::make_index_sequence<n>());
        else {
            constexpr std::size_t size = (std::size_t{0} + ... + (width<V>::words * bytes_of<V>()));
            unsigned char payload[size];
            std::size_t from = 0, to = 0;
            const auto pack = [&](unsigned count, unsigned bytes) {
                for (unsigned i = 0; i < count; i++, from++)
                    for (unsigned byte = 0; byte < bytes; byte++)
                        payload[to++] = static_cast<unsigned char>(words[from] >> (8 * byte));
            };
            (pack(width<V>::words, bytes_of<V>()), ...);
            uscope_event_bytes(w, event, payload, static_cast<std::uint32_t>(size));
        }
    }
}

} // namespace detail

/** A schema made by calls; each throws uscope::error for what could not be written down. */
class schema
{
  public:
    schema() : schema_(uscope_schema_new())
    {
        if (!schema_) throw std::bad_alloc();
    }
    static schema from_file(const std::string &path)
    {
        return schema(uscope_schema_from_file(path.c_str()));
    }
    static schema from_text(const std::string &yaml, const std::string &name = "schema")
    {
        return schema(uscope_schema_from_text(yaml.c_str(), name.c_str()));
    }
    schema(const schema &) = delete;
    schema &operator=(const schema &) = delete;
    schema(schema &&other) noexcept : schema_(std::exchange(other.schema_, nullptr))
    {
    }
    schema &operator=(schema &&other) noexcept
    {
        std::swap(schema_, other.schema_);
        return *this;
    }
    ~schema()
    {
        uscope_schema_free(schema_);
    }

    schema &dut(const std::string &key, const std::string &value)
    {
        return check(uscope_schema_dut(schema_, key.c_str(), value.c_str()));
    }
    schema &clock(const std::string &name, unsigned period_ps)
    {
        return check(uscope_schema_clock(schema_, name.c_str(), period_ps));
    }
    /** Labels get the values 0, 1, 2, ... */
    schema &enumeration(const std::string &name, const std::vector<std::string> &labels)
    {
        unsigned value = 0;
        for (const std::string &label : labels)
            check(uscope_schema_enum_value(schema_, name.c_str(), label.c_str(), value++));
        return *this;
    }
    schema &scope(const std::string &path, const std::string &protocol = "", const std::string &clock = "")
    {
        return check(uscope_schema_scope(schema_, path.c_str(), protocol.empty() ? nullptr : protocol.c_str(),
                                         clock.empty() ? nullptr : clock.c_str()));
    }
    /** Fields are pairs of a name and a type: {{"pc", "u64"}, {"done", "bool"}}. */
    using fields = std::vector<std::pair<std::string, std::string>>;
    schema &storage(const std::string &path, unsigned slots, uscope_storage_kind_t kind, const fields &of)
    {
        check(uscope_schema_storage(schema_, path.c_str(), slots, kind));
        for (const auto &[name, type] : of)
            check(uscope_schema_field(schema_, path.c_str(), name.c_str(), type.c_str()));
        return *this;
    }
    /** One u64, to add to. */
    schema &counter(const std::string &path)
    {
        return storage(path, 1, USCOPE_DENSE, {{"count", "u64"}});
    }
    schema &property(const std::string &storage, const std::string &name, const std::string &type,
                     uscope_property_role_t role = USCOPE_PLAIN, unsigned pair = 0)
    {
        return check(
            uscope_schema_property(schema_, storage.c_str(), name.c_str(), type.c_str(), role, pair));
    }
    schema &event(const std::string &path, const fields &of)
    {
        check(uscope_schema_event(schema_, path.c_str()));
        for (const auto &[name, type] : of)
            check(uscope_schema_event_field(schema_, path.c_str(), name.c_str(), type.c_str()));
        return *this;
    }
    uscope_schema_t *get() const noexcept
    {
        return schema_;
    }
    std::string text() const
    {
        const char *made = uscope_schema_text(schema_);
        return made ? made : "";
    }

  private:
    explicit schema(uscope_schema_t *made) : schema_(made)
    {
        if (!made) detail::raise();
    }
    schema &check(int result)
    {
        if (result != 0) detail::raise();
        return *this;
    }
    uscope_schema_t *schema_;
};

/** What is said at open; see uscope_open_options_t. */
struct options {
    std::string name;
    const uscope::schema *schema = nullptr;
    std::uint32_t core_index = USCOPE_NO_CORE;
    unsigned long long interval_ps = 0;
    std::uint32_t credit_mib = 0;
    std::string schema_sha256, variables;
    std::vector<std::pair<std::string, std::string>> dut;

    explicit options(std::string trace_name) : name(std::move(trace_name))
    {
    }
};

/** A field of a storage, of the type T. */
template <class T> struct field {
    std::uint16_t id;
};

/** A storage. A handle is a few bytes, to be passed by value; it is valid as long as its trace is open. */
class storage
{
  public:
    storage() noexcept = default;
    storage(uscope_writer_t *trace, int id) noexcept : w_(trace), id_(static_cast<std::uint16_t>(id))
    {
    }

    /** Throws OP_FIELD when there is no such field, OP_VALUE when it has another type. */
    template <class T> uscope::field<T> field(const char *name) const
    {
        status why;
        const uscope::field<T> found = this->field<T>(name, why);
        if (!why) throw error(why.code, why.message);
        return found;
    }
    template <class T> uscope::field<T> field(const char *name, status &why) const
    {
        why = status{};
        if (!w_) return {0};
        const int id = uscope_field_id(w_, id_, first_of<T>(name).c_str());
        return found<T>("field", name, id, id < 0 ? -1 : uscope_field_type(w_, id_, id), why);
    }
    /** Throws OP_PROPERTY when there is no such property, OP_VALUE when it has another type. */
    template <class T> uscope::field<T> property(const char *name) const
    {
        status why;
        const uscope::field<T> found = this->property<T>(name, why);
        if (!why) throw error(why.code, why.message);
        return found;
    }
    template <class T> uscope::field<T> property(const char *name, status &why) const
    {
        why = status{};
        if (!w_) return {0};
        const int id = uscope_property_id(w_, id_, first_of<T>(name).c_str());
        return found<T>("property", name, id, id < 0 ? -1 : uscope_property_type(w_, id_, id), why);
    }

    template <class T>
    void set(std::uint16_t slot, uscope::field<T> field, const detail::given<T> &value) const noexcept
    {
        each(value, field.id,
             [&](std::uint16_t at, unsigned long long word) { uscope_slot_set(w_, id_, slot, at, word); });
    }
    /** Adds any delta; the field wraps at its width. */
    template <class T> void add(std::uint16_t slot, uscope::field<T> field, long long delta) const noexcept
    {
        static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>, "only numbers are added to");
        uscope_slot_add(w_, id_, slot, field.id, static_cast<unsigned long long>(delta));
    }
    /** To field 0 of slot 0: a counter. */
    void count(unsigned long long delta = 1) const noexcept
    {
        uscope_slot_add(w_, id_, 0, 0, delta);
    }
    /** Fields 0, 1, ... of a slot, up to eight of them in one call. */
    template <class... V> void put(std::uint16_t slot, const V &...values) const noexcept
    {
        detail::put_all(w_, id_, slot, values...);
    }
    void clear(std::uint16_t slot) const noexcept
    {
        uscope_slot_clear(w_, id_, slot);
    }
    template <class T>
    void set_property(uscope::field<T> property, const detail::given<T> &value) const noexcept
    {
        each(value, property.id,
             [&](std::uint16_t at, unsigned long long word) { uscope_prop_set(w_, id_, at, word); });
    }

    /** The field of as many slots as there are values, from `first` on. */
    template <class T>
    void set_slots(std::uint16_t first, uscope::field<T> field, detail::given<span<T>> values) const noexcept
    {
        for (const T value : values)
            uscope_slot_set(w_, id_, first++, field.id, detail::word<T>(value));
    }
    void clear_slots(span<std::uint16_t> slots) const noexcept
    {
        for (const std::uint16_t slot : slots)
            uscope_slot_clear(w_, id_, slot);
    }
    /** Slot i gets bits [i * width, (i + 1) * width) of `values`, for each bit of `lanes`. */
    template <class T>
    void set_lanes(uscope::field<T> field, unsigned long long lanes, unsigned long long values,
                   unsigned width) const noexcept
    {
        uscope_slot_set_lanes(w_, id_, field.id, lanes, values, width);
    }
    void clear_lanes(unsigned long long lanes) const noexcept
    {
        uscope_slot_clear_lanes(w_, id_, lanes);
    }
    /** Adds 1 to this counter (bit 0) and to those that follow it in the schema. */
    void count_lanes(unsigned long long lanes) const noexcept
    {
        uscope_count_lanes(w_, id_, lanes);
    }
    unsigned slots() const noexcept
    {
        const int slots = w_ ? uscope_num_slots(w_, id_) : 0;
        return slots > 0 ? static_cast<unsigned>(slots) : 0;
    }
    std::uint16_t id() const noexcept
    {
        return id_;
    }

  private:
    /** Name of the first of the fields that hold a T. */
    template <class T> static std::string first_of(const char *name)
    {
        if constexpr (detail::is_wide<T>)
            return std::string(name) + ".bits" + std::to_string(detail::width<T>::bits) + ".0";
        else
            return name;
    }
    template <class T>
    static uscope::field<T> found(const char *what, const char *name, int id, int actual, status &why)
    {
        if (id < 0)
            why = {uscope_last_error_code(), uscope_last_error_message()};
        else if (detail::fits<T>(actual))
            return {static_cast<std::uint16_t>(id)};
        else
            why = {"OP_VALUE", std::string(what) + " \"" + name + "\" is " + detail::type_name(actual) +
                                   ", the handle is for " + detail::type_name(detail::type_number<T>()) +
                                   "; use the type of the schema"};
        return {0xFFFF};
    }
    /** Calls with the number of each field that holds the value, from `first` on, and its word. */
    template <class T, class F> static void each(const T &value, std::uint16_t first, F call) noexcept
    {
        if constexpr (detail::is_wide<T>) {
            for (const std::uint64_t word : value.value)
                call(first++, word);
            for (const std::uint64_t word : value.unknown)
                call(first++, word);
        } else
            call(first, detail::word(value));
    }
    uscope_writer_t *w_ = nullptr;
    std::uint16_t id_ = 0;
};

/** An event whose fields have the types T. */
template <class... T> class event
{
  public:
    event() noexcept = default;
    event(uscope_writer_t *trace, int id) noexcept : w_(trace), id_(static_cast<std::uint16_t>(id))
    {
    }
    void operator()(const detail::given<T> &...values) const noexcept
    {
        detail::emit_all(w_, id_, values...);
    }
    /** An event of one field for each bit of `lanes`: its value is bits [i * width, (i + 1) * width). */
    void lanes(unsigned long long lanes, unsigned long long values, unsigned width) const noexcept
    {
        static_assert(sizeof...(T) == 1, "events of two fields take the second one, too");
        uscope_event1_lanes(w_, id_, lanes, values, width);
    }
    /** The same of two fields: the second one is `second` + i * `step`. */
    void lanes(unsigned long long lanes, unsigned long long values, unsigned width, unsigned second,
               unsigned step) const noexcept
    {
        static_assert(sizeof...(T) == 2, "lanes are of events of one or two fields");
        uscope_event2_lanes(w_, id_, lanes, values, width, second, step);
    }
    std::uint16_t id() const noexcept
    {
        return id_;
    }

  private:
    uscope_writer_t *w_ = nullptr;
    std::uint16_t id_ = 0;
};

/** An open trace; closed by its destructor. Movable; handles made from it stay valid. */
class trace
{
  public:
    trace() noexcept = default;
    /** Throws what uscope_writer_open_opts fails with: BRIDGE_NO_DAEMON, SCHEMA_..., ... */
    explicit trace(const options &how)
    {
        if (!open(how)) detail::raise();
    }
    /** Does not throw: the trace is null when `why` has a code. */
    trace(const options &how, status &why)
    {
        why = status{};
        if (!open(how)) why = {uscope_last_error_code(), uscope_last_error_message()};
    }
    /** Takes over a handle from uscope_writer_open_opts. */
    explicit trace(uscope_writer_t *opened) noexcept : w_(opened)
    {
    }
    trace(const trace &) = delete;
    trace &operator=(const trace &) = delete;
    trace(trace &&other) noexcept : w_(std::exchange(other.w_, nullptr))
    {
    }
    trace &operator=(trace &&other) noexcept
    {
        if (this != &other) {
            uscope_close(w_);
            w_ = std::exchange(other.w_, nullptr);
        }
        return *this;
    }
    ~trace()
    {
        uscope_close(w_);
    }

    uscope_writer_t *get() const noexcept
    {
        return w_;
    }
    explicit operator bool() const noexcept
    {
        return w_ != nullptr;
    }

    void begin_cycle(unsigned long long time_ps) const noexcept
    {
        uscope_begin_cycle(w_, time_ps);
    }
    void end_cycle() const noexcept
    {
        uscope_end_cycle(w_);
    }
    /** False when a checkpoint is due: give snapshots, then begin the cycle. */
    bool next_cycle(unsigned long long time_ps) const noexcept
    {
        return uscope_next_cycle(w_, time_ps) == 0;
    }
    /** The next cycle crosses the grid of checkpoints: snapshots are legal until it begins. */
    bool checkpoint_due(unsigned long long time_ps) const noexcept
    {
        return uscope_checkpoint_due(w_, time_ps) != 0;
    }
    uscope::text string(const char *value) const noexcept
    {
        return {uscope_string(w_, value)};
    }
    uscope::text string(const std::string &value) const noexcept
    {
        return string(value.c_str());
    }

    /** Throws OP_STORAGE when there is none. */
    uscope::storage storage(const char *name) const
    {
        return {w_, found(uscope_storage_id(w_, name))};
    }
    uscope::storage storage(const char *name, status &why) const
    {
        return {w_, found(uscope_storage_id(w_, name), why)};
    }
    /** Throws OP_EVENT when there is none, OP_PAYLOAD or OP_VALUE when its fields have other types. */
    template <class... T> uscope::event<T...> event(const char *name) const
    {
        status why;
        const uscope::event<T...> found = this->event<T...>(name, why);
        if (!why) throw error(why.code, why.message);
        return found;
    }
    template <class... T> uscope::event<T...> event(const char *name, status &why) const
    {
        const int id = found(uscope_event_id(w_, name), why);
        if (w_ && id >= 0) check_fields<T...>(name, id, why);
        return {w_, id};
    }
    unsigned enum_value(const char *enum_name, const char *label) const
    {
        return static_cast<unsigned>(found(uscope_enum_value(w_, enum_name, label)));
    }

    void enable(const char *scope) const noexcept
    {
        uscope_enable(w_, scope);
    }
    void disable(const char *scope) const noexcept
    {
        uscope_disable(w_, scope);
    }
    void trigger(const char *label) const noexcept
    {
        uscope_trigger(w_, label);
    }

    /** Waits until every complete cycle is durable. Throws when the trace has failed or a cycle is open. */
    void flush() const
    {
        if (w_ && uscope_flush(w_) != 0) detail::raise();
    }
    bool flush(std::nothrow_t) const noexcept
    {
        return !w_ || uscope_flush(w_) == 0;
    }
    /** Waits until the file is complete, and says what it holds. Throws when it is not. */
    uscope_close_stats_t close()
    {
        uscope_close_stats_t stats{};
        if (w_ && uscope_close_stats(std::exchange(w_, nullptr), &stats) != 0) detail::raise();
        return stats;
    }
    uscope_close_stats_t close(status &why)
    {
        uscope_close_stats_t stats{};
        why = status{};
        if (w_ && uscope_close_stats(std::exchange(w_, nullptr), &stats) != 0)
            why = {uscope_last_error_code(), uscope_last_error_message()};
        return stats;
    }
    std::string path() const
    {
        return uscope_path(w_);
    }
    unsigned long long rejected() const noexcept
    {
        return uscope_rejected(w_);
    }

  private:
    bool open(const options &how)
    {
        uscope_open_options_t given = USCOPE_OPEN_OPTIONS_INIT;
        std::vector<uscope_dut_property_t> properties;
        properties.reserve(how.dut.size());
        for (const auto &[key, value] : how.dut)
            properties.push_back({key.c_str(), value.c_str()});
        const uscope_dut_t dut = {static_cast<std::uint32_t>(properties.size()), properties.data()};
        given.name = how.name.c_str();
        given.schema = how.schema ? how.schema->get() : nullptr;
        given.dut = properties.empty() ? nullptr : &dut;
        given.core_index = how.core_index;
        given.interval_ps = how.interval_ps;
        given.credit_mib = how.credit_mib;
        given.schema_sha256 = how.schema_sha256.c_str();
        given.variables = how.variables.c_str();
        w_ = uscope_writer_open_opts(&given);
        return w_ != nullptr;
    }
    int found(int id) const
    {
        if (w_ && id < 0) detail::raise();
        return id < 0 ? 0 : id;
    }
    int found(int id, status &why) const
    {
        why = status{};
        if (w_ && id < 0) why = {uscope_last_error_code(), uscope_last_error_message()};
        return id;
    }
    template <class... T> void check_fields(const char *name, int id, status &why) const
    {
        const int fields = uscope_num_event_fields(w_, id);
        constexpr int wanted = (0 + ... + static_cast<int>(detail::width<T>::words));
        if (fields != wanted) {
            why = {"OP_PAYLOAD", std::string("event \"") + name + "\" has " + std::to_string(fields) +
                                     " fields, the handle is for " + std::to_string(wanted)};
            return;
        }
        int at = 0;
        (check_field<T>(name, id, at, why), ...);
        static_cast<void>(at);
    }
    /** `at` moves past the fields that hold a T. */
    template <class T> void check_field(const char *name, int id, int &at, status &why) const
    {
        const int last = at + static_cast<int>(detail::width<T>::words);
        int actual = 0;
        while (at < last && detail::fits<T>(actual = uscope_event_field_type(w_, id, at)))
            at++;
        if (!why || at == last) return;
        why = {"OP_VALUE", std::string("event \"") + name + "\": field " + std::to_string(at) + " is " +
                               detail::type_name(actual) + ", the handle is for " +
                               detail::type_name(detail::type_number<T>()) + "; use the type of the schema"};
    }
    uscope_writer_t *w_ = nullptr;
};

/** A cycle: begun by the constructor, ended by the destructor, also when an exception leaves it. */
class cycle
{
  public:
    cycle(const trace &of, unsigned long long time_ps) noexcept : w_(of.get())
    {
        uscope_begin_cycle(w_, time_ps);
    }
    cycle(const cycle &) = delete;
    cycle &operator=(const cycle &) = delete;
    ~cycle()
    {
        uscope_end_cycle(w_);
    }

  private:
    uscope_writer_t *w_;
};

/**
 * The state of a storage at a checkpoint, between cycles: begun by the constructor, ended by the destructor.
 * Every slot given is valid; of a dense storage all have to be given.
 */
class snapshot
{
  public:
    snapshot(const trace &of, storage which) noexcept : w_(of.get())
    {
        uscope_checkpoint_begin(w_, which.id());
    }
    snapshot(const snapshot &) = delete;
    snapshot &operator=(const snapshot &) = delete;
    ~snapshot()
    {
        uscope_checkpoint_end(w_);
    }
    /** All fields of a slot. */
    template <class... V> void slot(std::uint16_t slot, const V &...values) const noexcept
    {
        constexpr std::size_t n = (std::size_t{0} + ... + detail::width<V>::words);
        static_assert(n >= 1);
        unsigned long long words[n];
        std::size_t at = 0;
        (detail::store(words, at, values), ...);
        first(slot, words, std::make_index_sequence<(n < 8 ? n : 8)>());
        for (std::size_t i = 8; i < n; i++)
            uscope_checkpoint_field(w_, slot, static_cast<std::uint16_t>(i), words[i]);
    }

  private:
    template <std::size_t... I>
    void first(std::uint16_t slot, const unsigned long long *words, std::index_sequence<I...>) const noexcept
    {
        constexpr std::size_t n = sizeof...(I);
        if constexpr (n == 1)
            uscope_checkpoint_slot1(w_, slot, words[I]...);
        else if constexpr (n == 2)
            uscope_checkpoint_slot2(w_, slot, words[I]...);
        else if constexpr (n == 3)
            uscope_checkpoint_slot3(w_, slot, words[I]...);
        else if constexpr (n == 4)
            uscope_checkpoint_slot4(w_, slot, words[I]...);
        else if constexpr (n == 5)
            uscope_checkpoint_slot5(w_, slot, words[I]...);
        else if constexpr (n == 6)
            uscope_checkpoint_slot6(w_, slot, words[I]...);
        else if constexpr (n == 7)
            uscope_checkpoint_slot7(w_, slot, words[I]...);
        else
            uscope_checkpoint_slot8(w_, slot, words[I]...);
    }
    uscope_writer_t *w_;
};

} // namespace uscope

#endif
