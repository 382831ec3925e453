// SPDX-License-Identifier: Apache-2.0
/**
 * @file uscope_sc_tx.hpp
 * Transactions from SystemC: a database holds fibers (streams, of a kind), a fiber generators, a generator
 * makes transactions with attributes and relations (docs/how-to/transactions.md).
 *
 *     uscope::tx_database db("bus");                         // or of a trace file: tx_database db(*file)
 *     uscope::tx_fiber fiber(db, "top.bus", "transactor");
 *     uscope::tx_generator read(fiber, "read");
 *     auto one = read.begin("addr", addr, "burst", true);
 *     one.record("data", data);
 *     one.relate("answered_by", other);
 *     one.end("result", "ok");
 *
 * Every call is a cycle of the trace, so that nothing of it is lost when the model is killed.
 */
#ifndef USCOPE_SC_TX_HPP
#define USCOPE_SC_TX_HPP

#include "uscope_sc_trace.hpp"

namespace uscope
{

#ifdef USCOPE_NO_TRANSACTIONS
inline constexpr bool tx_enabled = false;
#else
inline constexpr bool tx_enabled = true;
#endif

/** The destination of transactions: into a µScope trace, into that and an FTR file that the daemon makes of
 * it when the trace is complete, or nowhere. */
enum class tx_backend { uscope, ftr, none };

/** When an attribute is recorded. */
enum class tx_phase : std::uint8_t { begin, record, end };

/** Types of attributes, by their number in FTR. */
enum class tx_type : std::uint8_t {
    boolean,
    enumeration,
    integer,
    unsigned_integer,
    floating_point,
    bit_vector,
    logic_vector,
    fixed_point,
    unsigned_fixed_point,
    pointer,
    string,
    time
};

class tx_database;
class tx_generator;
class tx_fiber;

/** Receives the attributes of a value: specialise tx_traits for a type of yours, and call this for each of
 * its members. */
class tx_attributes
{
  public:
    void number(const char *name, tx_type type, std::uint64_t bits);
    void string(const char *name, tx_type type, const char *value);
    template <class T> void operator()(const char *name, const T &value);

  private:
    friend class tx_database;
    tx_attributes(tx_database &to, std::uint64_t tx, tx_phase when, const char *name, std::uint32_t index)
        : database_(to), tx_(tx), phase_(when), name_(name), index_(index)
    {
    }
    std::uint32_t index_of(const char *name);
    tx_database &database_;
    std::uint64_t tx_;
    tx_phase phase_;
    const char *name_; // has the index
    std::uint32_t index_;
};

/** How a type is recorded: `static void record(tx_attributes &to, const char *name, const T &value)`. */
template <class T, class = void> struct tx_traits {
    static void record(tx_attributes &, const char *, const T &)
    {
        static_assert(sizeof(T) == 0, "no attribute can have this type: specialise uscope::tx_traits for it");
    }
};

/** A transaction: a value of a few bytes. A default-constructed one, and one of a fiber that is off, takes
 * every call. */
class tx_handle
{
  public:
    tx_handle() noexcept = default;
    explicit operator bool() const noexcept
    {
        return id_ != 0;
    }
    std::uint64_t id() const noexcept
    {
        return id_;
    }
    template <class Name, class T> const tx_handle &record(const Name &name, const T &value) const;
    /** Ends now, with attributes: names and values in turn. */
    template <class... A> void end(const A &...attributes) const;
    template <class... A> void end_at(const sc_core::sc_time &time, const A &...attributes) const;
    friend bool operator==(const tx_handle &a, const tx_handle &b) noexcept
    {
        return a.id_ == b.id_ && (a.id_ == 0 || a.database_ == b.database_);
    }
    friend bool operator!=(const tx_handle &a, const tx_handle &b) noexcept
    {
        return !(a == b);
    }
    /** This is the source; either may have ended. */
    void relate(const char *name, const tx_handle &sink) const;
    bool is_open() const;

  private:
    friend class tx_database;
    std::uint64_t id_ = 0;
    std::uint32_t database_ = 0, slot_ = 0, stream_ = 0;
};

class tx_database final : private sc_trace_file::guest
{
  public:
    /** A trace of this name for transactions only. */
    explicit tx_database(const char *name, tx_backend backend = tx_backend::uscope) : name_(name)
    {
        if (tx_enabled && backend != tx_backend::none) {
            own_ = std::make_unique<sc_trace_file>(name);
            attach(*own_, backend);
        } else
            join();
    }
    /** In the trace of a file's signals. One for each file, made before the simulation starts. */
    explicit tx_database(sc_core::sc_trace_file &file, tx_backend backend = tx_backend::uscope)
        : name_("transactions")
    {
        auto *const ours = dynamic_cast<sc_trace_file *>(&file);
        if (tx_enabled && ours && backend != tx_backend::none)
            attach(*ours, backend);
        else
            join();
        if (!ours)
            detail::warn("OP_HANDLE",
                         "tx_database: this is a trace file of another kind; nothing is recorded; use that "
                         "of uscope_create_trace_file");
    }
    tx_database(const tx_database &) = delete;
    tx_database &operator=(const tx_database &) = delete;
    ~tx_database()
    {
        close();
    }
    /** Handles that are used after this are reported. Transactions that have not ended are recorded as ones
     * that end where they began. */
    void close()
    {
        if (all()[number_] == this) all()[number_] = nullptr;
        if (file_) file_->dismiss(*this);
        file_ = nullptr;
        is_on_ = false;
        own_.reset();
    }

    /** Opens its trace before the first transaction or cycle. False when it cannot be, or is none. */
    bool open()
    {
        return file_ && file_->open();
    }
    /** Waits until all that was recorded is in the file. False when the trace has failed, or is none. */
    bool flush()
    {
        return w_ && uscope_flush(w_) == 0;
    }
    /** Switches the fibers whose names match: `*` is any characters, `?` one. Also those that are made later.
     */
    void record(const char *pattern, bool on);
    bool is_on() const noexcept
    {
        return is_on_;
    }

  private:
    friend class tx_fiber;
    friend class tx_generator;
    friend class tx_handle;
    friend class tx_attributes;
    struct declaration {
        std::uint32_t id, stream;
        std::string name, kind;
    };
    struct cached {
        const char *name = nullptr;
        char text[40] = {};
        std::uint32_t index = 0;
    };

    static std::vector<tx_database *> &all()
    {
        static std::vector<tx_database *> databases;
        return databases;
    }
    void join()
    {
        number_ = static_cast<std::uint32_t>(all().size());
        all().push_back(this);
    }
    void attach(sc_trace_file &file, tx_backend backend)
    {
        join();
        if (!file.invite(*this, "the database of transactions")) return;
        if (backend == tx_backend::ftr) file.copy_as("ftr");
        file_ = &file;
        is_on_ = true;
    }
    void describe(uscope::schema &schema) override
    {
        schema.enumeration("ftr_phase", {"begin", "record", "end"});
        schema.enumeration("ftr_type",
                           {"BOOLEAN", "ENUMERATION", "INTEGER", "UNSIGNED", "FLOATING_POINT_NUMBER",
                            "BIT_VECTOR", "LOGIC_VECTOR", "FIXED_POINT_INTEGER",
                            "UNSIGNED_FIXED_POINT_INTEGER", "POINTER", "STRING", "TIME"});
        schema.scope("tr", "tr", "tick");
        schema.event(
            "tr/dir",
            {{"tag", "u8"}, {"id", "u64"}, {"name", "string"}, {"stream", "u64"}, {"kind", "string"}});
        schema.event("tr/begin", {{"tx", "u64"}, {"stream", "u64"}, {"generator", "u64"}, {"t", "u64"}});
        schema.event("tr/end", {{"tx", "u64"}, {"t", "u64"}});
        schema.event("tr/attr", {{"tx", "u64"},
                                 {"idx", "u16"},
                                 {"phase", "ftr_phase"},
                                 {"name", "string"},
                                 {"type", "ftr_type"},
                                 {"bits", "u64"},
                                 {"str", "string"}});
        schema.event("tr/number", {{"tx", "u64"},
                                   {"name", "string"},
                                   {"phase", "ftr_phase"},
                                   {"type", "ftr_type"},
                                   {"bits", "u64"}});
        schema.event("tr/rel", {{"name", "string"},
                                {"src", "u64"},
                                {"sink", "u64"},
                                {"srcStream", "u64"},
                                {"sinkStream", "u64"}});
    }
    void opened(sc_trace_file &file) override
    {
        const uscope::trace &trace = file.trace();
        w_ = trace.get();
        const auto id = [&](const char *name) {
            return static_cast<std::uint16_t>(uscope_event_id(w_, name));
        };
        dir_ = id("tr/dir");
        begin_ = id("tr/begin");
        end_ = id("tr/end");
        attr_ = id("tr/attr");
        number_event_ = id("tr/number");
        rel_ = id("tr/rel");
        empty_ = uscope_string(w_, "");
        const sc_trace_file::instant now(file);
        for (const declaration &one : declared_)
            declare(one);
    }
    void closing() override
    {
        w_ = nullptr;
        is_on_ = false;
        file_ = nullptr;
        if (all()[number_] == this) all()[number_] = nullptr;
    }
    void declare(const declaration &one)
    {
        uscope_event5(w_, dir_, one.stream ? 17 : 16, one.id, uscope_string(w_, one.name.c_str()), one.stream,
                      uscope_string(w_, one.kind.c_str()));
    }
    std::uint32_t add(const std::string &name, std::uint32_t stream, const std::string &kind)
    {
        const auto id = static_cast<std::uint32_t>(declared_.size()) + 1;
        declared_.push_back({id, stream, name, kind});
        if (w_ && file_) {
            const sc_trace_file::instant now(*file_);
            declare(declared_.back());
        }
        return id;
    }
    /** The index of a name; the empty one of a name that is refused, and reported when the trace is closed.
     */
    std::uint32_t intern(const char *name)
    {
        const std::uint32_t index = uscope_string(w_, name);
        return index == USCOPE_NO_STRING ? empty_ : index;
    }
    cached &entry_of(const char *name)
    {
        const auto address = reinterpret_cast<std::uintptr_t>(name);
        return names_[(address >> 3 ^ address) & 255];
    }
    /** Names of attributes are mostly literals: found by their address, and compared as the address may be
     * reused. */
    template <class Name> std::uint32_t string(const Name &name)
    {
        if constexpr (std::is_array_v<Name>) {
            if constexpr (sizeof(Name) <= sizeof(cached::text)) {
                cached &one = entry_of(name);
                if (one.name == name && std::memcmp(one.text, name, sizeof(Name)) == 0) return one.index;
                one.name = name;
                std::memcpy(one.text, name, sizeof(Name));
                return one.index = intern(name);
            } else
                return intern(name);
        } else
            return intern(name);
    }
    static const char *text_of(const char *name)
    {
        return name;
    }
    static const char *text_of(const std::string &name)
    {
        return name.c_str();
    }
    void attributes(std::uint64_t, tx_phase)
    {
    }
    template <class Name, class T, class... More>
    void attributes(std::uint64_t tx, tx_phase when, const Name &name, const T &value, const More &...more)
    {
        const char *const text = text_of(name);
        std::uint32_t index;
        if constexpr (std::is_array_v<Name>)
            index = string(name);
        else
            index = string(text);
        tx_attributes to(*this, tx, when, text, index);
        tx_traits<T>::record(to, text, value);
        attributes(tx, when, more...);
    }
    template <class... A>
    tx_handle start(std::uint32_t stream, std::uint32_t generator, std::uint64_t t, const A &...given)
    {
        if (!w_ && !(file_ && file_->open() && w_)) return {};
        tx_handle made;
        made.id_ = ++begun_;
        made.database_ = number_;
        made.stream_ = stream;
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(open_.size()));
            open_.push_back(0);
        }
        made.slot_ = free_.back();
        free_.pop_back();
        open_[made.slot_] = made.id_;
        const sc_trace_file::instant now(*file_);
        uscope_event4(w_, begin_, made.id_, stream, generator, t);
        attributes(made.id_, tx_phase::begin, given...);
        return made;
    }
    /** The open database of a handle; null, reported, for one that is closed or a transaction that has ended.
     */
    static tx_database *of(const tx_handle &one, const char *call)
    {
        tx_database *const found = all()[one.database_];
        if (found && found->open_[one.slot_] == one.id_) return found;
        refuse(one, call, found);
        return nullptr;
    }
    static void refuse(const tx_handle &one, const char *call, const tx_database *found)
    {
        const std::string what = std::string(call) + ": transaction " + std::to_string(one.id_);
        if (found)
            detail::warn("OP_TX_ENDED", what + " has ended; nothing is recorded; keep no handle after end()");
        else
            detail::warn(
                "OP_TX_CLOSED",
                what +
                    " belongs to a database that is closed; nothing is recorded; end transactions before it is closed");
    }

    std::string name_;
    std::unique_ptr<sc_trace_file> own_;
    sc_trace_file *file_ = nullptr;
    uscope_writer_t *w_ = nullptr;
    bool is_on_ = false;
    std::uint16_t dir_ = 0, begin_ = 0, end_ = 0, attr_ = 0, number_event_ = 0, rel_ = 0;
    std::uint32_t empty_ = 0, number_ = 0;
    std::uint64_t begun_ = 0;
    std::vector<declaration> declared_;
    std::vector<std::uint64_t> open_;
    std::vector<std::uint32_t> free_;
    std::vector<tx_fiber *> fibers_;
    std::vector<std::pair<std::string, bool>> switches_;
    cached names_[256];
};

/** A stream of transactions, of a kind. Names are those of its module, for example. It may outlive its
 * database. */
class tx_fiber
{
  public:
    tx_fiber(tx_database &database, const std::string &name, const std::string &kind = "")
        : number_(database.number_), name_(name), id_(database.add(name, 0, kind))
    {
        for (const auto &[pattern, on] : database.switches_)
            if (detail::matches(pattern.c_str(), name.c_str())) on_ = on;
        database.fibers_.push_back(this);
    }
    tx_fiber(const tx_fiber &) = delete;
    tx_fiber &operator=(const tx_fiber &) = delete;
    ~tx_fiber()
    {
        if (tx_database *const open = database()) {
            auto &fibers = open->fibers_;
            fibers.erase(std::remove(fibers.begin(), fibers.end(), this), fibers.end());
        }
    }
    /** Transactions that begin while a fiber is off are not recorded. */
    void record(bool on) noexcept
    {
        on_ = on;
    }
    const std::string &name() const noexcept
    {
        return name_;
    }
    bool is_on() const noexcept
    {
        return recording() != nullptr;
    }

  private:
    friend class tx_database;
    friend class tx_generator;
    /** Null when it is closed. */
    tx_database *database() const noexcept
    {
        return tx_database::all()[number_];
    }
    tx_database *recording() const noexcept
    {
        tx_database *const open = on_ ? database() : nullptr;
        return open && open->is_on() ? open : nullptr;
    }
    std::uint32_t number_;
    std::string name_;
    std::uint32_t id_;
    bool on_ = true;
};

/** Makes transactions. One that declares its attributes reports others, which are recorded all the same. */
class tx_generator
{
  public:
    using names = std::vector<std::string>;
    tx_generator(tx_fiber &fiber, const std::string &name) : fiber_(fiber), name_(name)
    {
        if (tx_database *const open = fiber.database()) id_ = open->add(name, fiber.id_, "");
    }
    tx_generator(tx_fiber &fiber, const std::string &name, names begin) : tx_generator(fiber, name)
    {
        begin_ = std::move(begin);
        declares_ = true;
    }

    /** Begins now, with attributes: names and values in turn. */
    template <class... A> tx_handle begin(const A &...attributes)
    {
        if constexpr (tx_enabled)
            if (tx_database *const to = fiber_.recording())
                return begin_ps(*to, to->file_->now(), attributes...);
        return {};
    }
    template <class... A> tx_handle begin_at(const sc_core::sc_time &time, const A &...attributes)
    {
        if constexpr (tx_enabled)
            if (tx_database *const to = fiber_.recording())
                return begin_ps(*to, to->file_->ps(time), attributes...);
        return {};
    }

  private:
    template <class... A> tx_handle begin_ps(tx_database &to, std::uint64_t time, const A &...attributes)
    {
        static_assert(sizeof...(A) % 2 == 0, "attributes are names and values in turn");
        if (declares_) check(attributes...);
        return to.start(fiber_.id_, id_, time, attributes...);
    }
    void check()
    {
    }
    template <class Name, class T, class... More> void check(const Name &name, const T &, const More &...more)
    {
        if (!reported_ && std::find(begin_.begin(), begin_.end(), name) == begin_.end()) {
            reported_ = true;
            detail::warn("OP_TX_ATTRIBUTE",
                         "generator \"" + name_ + "\" of \"" + fiber_.name() +
                             "\" does not declare the attribute \"" + tx_database::text_of(name) +
                             "\" at begin; it is recorded; declare it where the generator is made");
        }
        check(more...);
    }
    tx_fiber &fiber_;
    std::string name_;
    std::uint32_t id_ = 0;
    names begin_;
    bool declares_ = false, reported_ = false;
};

inline void tx_database::record(const char *pattern, bool on)
{
    switches_.push_back({pattern, on});
    for (tx_fiber *one : fibers_)
        if (detail::matches(pattern, one->name().c_str())) one->record(on);
}

template <class Name, class T>
const tx_handle &tx_handle::record([[maybe_unused]] const Name &name, [[maybe_unused]] const T &value) const
{
    if constexpr (tx_enabled) {
        tx_database *const to = id_ ? tx_database::of(*this, "record") : nullptr;
        if (!to) return *this;
        const sc_trace_file::instant now(*to->file_);
        to->attributes(id_, tx_phase::record, name, value);
    }
    return *this;
}

template <class... A> void tx_handle::end(const A &...attributes) const
{
    if constexpr (tx_enabled) {
        if (id_) end_at(sc_core::sc_time_stamp(), attributes...);
    }
}

template <class... A>
void tx_handle::end_at([[maybe_unused]] const sc_core::sc_time &time, const A &...attributes) const
{
    static_assert(sizeof...(A) % 2 == 0, "attributes are names and values in turn");
    if constexpr (tx_enabled) {
        tx_database *const to = id_ ? tx_database::of(*this, "end") : nullptr;
        if (!to) return;
        const sc_trace_file::instant now(*to->file_);
        to->attributes(id_, tx_phase::end, attributes...);
        uscope_event2(to->w_, to->end_, id_, to->file_->ps(time));
        to->open_[slot_] = 0;
        to->free_.push_back(slot_);
    }
}

inline void tx_handle::relate(const char *name, const tx_handle &sink) const
{
    if (!tx_enabled || !id_ || !sink.id_) return;
    tx_database *const to = tx_database::all()[database_];
    if (!to || sink.database_ != database_) {
        detail::warn("OP_TX_CLOSED",
                     std::string("relate \"") + name +
                         "\": the database is closed, or that of another transaction; nothing is recorded");
        return;
    }
    const sc_trace_file::instant now(*to->file_);
    uscope_event5(to->w_, to->rel_, to->intern(name), id_, sink.id_, stream_, sink.stream_);
}

inline bool tx_handle::is_open() const
{
    const tx_database *const to = id_ ? tx_database::all()[database_] : nullptr;
    return to && to->open_[slot_] == id_;
}

inline std::uint32_t tx_attributes::index_of(const char *name)
{
    return name == name_ ? index_ : database_.intern(name);
}
inline void tx_attributes::number(const char *name, tx_type type, std::uint64_t bits)
{
    tx_database &d = database_;
    uscope_event5(d.w_, d.number_event_, tx_, index_of(name), detail::word(phase_), detail::word(type), bits);
}
inline void tx_attributes::string(const char *name, tx_type type, const char *value)
{
    tx_database &d = database_;
    uscope_event7(d.w_, d.attr_, tx_, 0, detail::word(phase_), index_of(name), detail::word(type), 0,
                  d.intern(value));
}
template <class T> void tx_attributes::operator()(const char *name, const T &value)
{
    tx_traits<T>::record(*this, name, value);
}

// -- the types that are known

template <class T> struct tx_traits<T, std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>>> {
    static void record(tx_attributes &to, const char *name, T value)
    {
        if constexpr (std::is_floating_point_v<T>) {
            to.number(name, tx_type::floating_point, detail::double_bits(static_cast<double>(value)));
        } else if constexpr (std::is_same_v<T, bool>)
            to.number(name, tx_type::boolean, value);
        else if constexpr (std::is_enum_v<T>)
            tx_traits<std::underlying_type_t<T>>::record(to, name,
                                                         static_cast<std::underlying_type_t<T>>(value));
        else
            to.number(name, std::is_signed_v<T> ? tx_type::integer : tx_type::unsigned_integer,
                      detail::word(value));
    }
};
template <std::size_t N> struct tx_traits<char[N]> {
    static void record(tx_attributes &to, const char *name, const char *value)
    {
        to.string(name, tx_type::string, value);
    }
};
template <> struct tx_traits<const char *> {
    static void record(tx_attributes &to, const char *name, const char *value)
    {
        to.string(name, tx_type::string, value ? value : "");
    }
};
template <> struct tx_traits<char *> : tx_traits<const char *> {
};
template <> struct tx_traits<std::string_view> {
    static void record(tx_attributes &to, const char *name, std::string_view value)
    {
        to.string(name, tx_type::string, std::string(value).c_str());
    }
};
template <> struct tx_traits<std::string> {
    static void record(tx_attributes &to, const char *name, const std::string &value)
    {
        to.string(name, tx_type::string, value.c_str());
    }
};
template <class T> struct tx_traits<T *, std::enable_if_t<!std::is_same_v<std::remove_const_t<T>, char>>> {
    static void record(tx_attributes &to, const char *name, T *value)
    {
        to.number(name, tx_type::pointer, reinterpret_cast<std::uintptr_t>(value));
    }
};
template <> struct tx_traits<sc_core::sc_time> {
    static void record(tx_attributes &to, const char *name, const sc_core::sc_time &value)
    {
        static detail::clockwork clock;
        to.number(name, tx_type::time, clock.ps(value));
    }
};
namespace detail
{
template <class T, class... Bases> constexpr bool is_a = (std::is_base_of_v<Bases, T> || ...);
template <class T>
constexpr bool is_fixed =
    is_a<T, sc_dt::sc_fxnum, sc_dt::sc_fxnum_fast, sc_dt::sc_fxval, sc_dt::sc_fxval_fast>;
template <int W, int I, sc_dt::sc_q_mode Q, sc_dt::sc_o_mode O, int N>
std::true_type unsigned_fixed(const sc_dt::sc_ufixed<W, I, Q, O, N> *);
template <int W, int I, sc_dt::sc_q_mode Q, sc_dt::sc_o_mode O, int N>
std::true_type unsigned_fixed(const sc_dt::sc_ufixed_fast<W, I, Q, O, N> *);
std::true_type unsigned_fixed(const sc_dt::sc_ufix *);
std::true_type unsigned_fixed(const sc_dt::sc_ufix_fast *);
std::false_type unsigned_fixed(const void *);
template <class T>
constexpr tx_type fixed_type =
    decltype(unsigned_fixed(static_cast<const T *>(nullptr)))::value ? tx_type::unsigned_fixed_point
                                                                     : tx_type::fixed_point;
template <class T> constexpr bool is_wide_number = is_a<T, sc_dt::sc_signed, sc_dt::sc_unsigned>;
} // namespace detail

/** sc_int, sc_uint. */
template <class T> struct tx_traits<T, std::enable_if_t<detail::is_a<T, sc_dt::sc_int_base>>> {
    static void record(tx_attributes &to, const char *name, const T &value)
    {
        to.number(name, tx_type::integer, static_cast<std::uint64_t>(value.to_int64()));
    }
};
template <class T> struct tx_traits<T, std::enable_if_t<detail::is_a<T, sc_dt::sc_uint_base>>> {
    static void record(tx_attributes &to, const char *name, const T &value)
    {
        to.number(name, tx_type::unsigned_integer, value.to_uint64());
    }
};
/** sc_bigint, sc_biguint: as bits. */
template <class T> struct tx_traits<T, std::enable_if_t<detail::is_wide_number<T>>> {
    static void record(tx_attributes &to, const char *name, const T &value)
    {
        sc_dt::sc_bv_base bits(value.length());
        bits = value;
        to.string(name, tx_type::bit_vector, bits.to_string().c_str());
    }
};
template <class T> struct tx_traits<T, std::enable_if_t<detail::is_a<T, sc_dt::sc_bv_base>>> {
    static void record(tx_attributes &to, const char *name, const T &value)
    {
        to.string(name, tx_type::bit_vector, value.to_string().c_str());
    }
};
template <class T> struct tx_traits<T, std::enable_if_t<detail::is_a<T, sc_dt::sc_lv_base>>> {
    static void record(tx_attributes &to, const char *name, const T &value)
    {
        to.string(name, tx_type::logic_vector, value.to_string().c_str());
    }
};
template <> struct tx_traits<sc_dt::sc_bit> {
    static void record(tx_attributes &to, const char *name, const sc_dt::sc_bit &value)
    {
        to.number(name, tx_type::boolean, value.to_bool());
    }
};
template <> struct tx_traits<sc_dt::sc_logic> {
    static void record(tx_attributes &to, const char *name, const sc_dt::sc_logic &value)
    {
        const char text[2] = {value.to_char(), 0};
        to.string(name, tx_type::logic_vector, text);
    }
};
template <class T> struct tx_traits<T, std::enable_if_t<detail::is_fixed<T>>> {
    static void record(tx_attributes &to, const char *name, const T &value)
    {
        to.number(name, detail::fixed_type<T>, detail::double_bits(value.to_double()));
    }
};

} // namespace uscope

#endif
