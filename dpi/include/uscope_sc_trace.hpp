// SPDX-License-Identifier: Apache-2.0
/**
 * @file uscope_sc_trace.hpp
 * A trace file of SystemC that records into a µScope trace: signals by sc_trace(), reports, phases, comments,
 * and the transactions of uscope_sc_tx.hpp. The trace is opened at the first cycle, when all signals are
 * known.
 */
#ifndef USCOPE_SC_TRACE_HPP
#define USCOPE_SC_TRACE_HPP

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "uscope_sc_probes.hpp"

namespace uscope
{

/** The kernel calls cycle() after each delta cycle and before time advances. */
class sc_trace_file : public sc_core::sc_trace_file
{
  public:
    explicit sc_trace_file(const std::string &name) : name_(name)
    {
        sc_core::sc_get_curr_simcontext()->add_trace_file(this);
        if (sc_core::sc_get_status() <= sc_core::SC_BEFORE_END_OF_ELABORATION) phases_ = new phases(*this);
        if (files().empty()) {
            previous() = sc_core::sc_report_handler::get_handler();
            sc_core::sc_report_handler::set_handler(&sc_trace_file::on_report);
        }
        files().push_back(this);
    }
    sc_trace_file(const sc_trace_file &) = delete;
    sc_trace_file &operator=(const sc_trace_file &) = delete;
    ~sc_trace_file() override
    {
        if (phases_) phases_->file = nullptr;
        files().erase(std::remove(files().begin(), files().end(), this), files().end());
        // A handler that was set after ours stays.
        if (files().empty() && sc_core::sc_report_handler::get_handler() == &sc_trace_file::on_report)
            sc_core::sc_report_handler::set_handler(previous());
        sc_core::sc_get_curr_simcontext()->remove_trace_file(this);
        if (trace_) finish();
    }

    /** Opens the trace unless it is open, and says whether it is. What is traced later is refused. */
    bool open()
    {
        if (!opened_) start();
        return static_cast<bool>(trace_);
    }
    const uscope::trace &trace() const noexcept
    {
        return trace_;
    }
    /** Now, in ps. */
    std::uint64_t now()
    {
        return clock_.now();
    }
    std::uint64_t ps(const sc_core::sc_time &time)
    {
        return clock_.ps(time);
    }
    /** A cycle at the time that it is now, or part of the one that is open: a report may come while one is
     * made. It ends where it is destroyed, also when a type of the user's throws while it is recorded. */
    class instant
    {
      public:
        explicit instant(sc_trace_file &of) noexcept : instant(of, of.now())
        {
        }
        instant(sc_trace_file &of, std::uint64_t now) noexcept : file_(of.in_cycle_ ? nullptr : &of)
        {
            if (!file_) return;
            file_->in_cycle_ = true;
            file_->trace_.begin_cycle(now);
        }
        instant(const instant &) = delete;
        instant &operator=(const instant &) = delete;
        ~instant()
        {
            if (!file_) return;
            file_->trace_.end_cycle();
            file_->in_cycle_ = false;
        }

      private:
        sc_trace_file *file_;
    };

#define USCOPE_SC_TRACE(type)                                                                                \
    void trace(const type &object, const std::string &name) override                                         \
    {                                                                                                        \
        probe(object, name);                                                                                 \
    }
#define USCOPE_SC_TRACE_WIDTH(type)                                                                          \
    void trace(const type &object, const std::string &name, int width) override                              \
    {                                                                                                        \
        if (width > 0 && width < static_cast<int>(8 * sizeof(type)))                                         \
            add(detail::narrow_reader<type>(object, width), name);                                           \
        else                                                                                                 \
            probe(object, name);                                                                             \
    }
    USCOPE_SC_TRACE(sc_core::sc_time)
    USCOPE_SC_TRACE(bool)
    USCOPE_SC_TRACE(sc_dt::sc_bit)
    USCOPE_SC_TRACE(sc_dt::sc_logic)
    USCOPE_SC_TRACE_WIDTH(unsigned char)
    USCOPE_SC_TRACE_WIDTH(unsigned short)
    USCOPE_SC_TRACE_WIDTH(unsigned int)
    USCOPE_SC_TRACE_WIDTH(unsigned long)
    USCOPE_SC_TRACE_WIDTH(char)
    USCOPE_SC_TRACE_WIDTH(short)
    USCOPE_SC_TRACE_WIDTH(int)
    USCOPE_SC_TRACE_WIDTH(long)
    USCOPE_SC_TRACE_WIDTH(sc_dt::int64)
    USCOPE_SC_TRACE_WIDTH(sc_dt::uint64)
    USCOPE_SC_TRACE(float)
    USCOPE_SC_TRACE(double)
    USCOPE_SC_TRACE(sc_dt::sc_int_base)
    USCOPE_SC_TRACE(sc_dt::sc_uint_base)
    USCOPE_SC_TRACE(sc_dt::sc_signed)
    USCOPE_SC_TRACE(sc_dt::sc_unsigned)
    USCOPE_SC_TRACE(sc_dt::sc_fxval)
    USCOPE_SC_TRACE(sc_dt::sc_fxval_fast)
    USCOPE_SC_TRACE(sc_dt::sc_fxnum)
    USCOPE_SC_TRACE(sc_dt::sc_fxnum_fast)
    USCOPE_SC_TRACE(sc_dt::sc_bv_base)
    USCOPE_SC_TRACE(sc_dt::sc_lv_base)
#undef USCOPE_SC_TRACE
#undef USCOPE_SC_TRACE_WIDTH

    void trace(const sc_core::sc_event &object, const std::string &name) override
    {
        if (!accepts(name)) return;
        const auto [scope, leaf] = split(name);
        if (!fits(scope, 8, {leaf}, name)) return;
        const std::string as = unique(scope + "/!" + leaf, leaf);
        tell_renamed(name, leaf, as);
        events_.push_back({&object, event_trigger_stamp(object), scope, as, 0});
    }
    /** An enum whose labels are the literals; other values are "undefined". */
    void trace(const unsigned int &object, const std::string &name, const char **literals) override
    {
        std::vector<std::string> labels;
        for (const char **at = literals; at && *at && labels.size() < 254; at++) {
            std::string label = detail::tidy(*at);
            while (std::find(labels.begin(), labels.end(), label) != labels.end())
                label += '_';
            labels.push_back(label);
        }
        labels.push_back("undefined");
        if (!accepts(name)) return;
        const std::string type = enumeration(labels, name);
        if (type.empty()) return;
        add(detail::enum_reader(object, static_cast<std::uint8_t>(labels.size() - 1), type), name);
    }
    void write_comment(const std::string &comment) override
    {
        occurred([comment](sc_trace_file &f) { f.comment_(f.trace_.string(comment)); });
    }
    void delta_cycles(bool flag) override
    {
        deltas_ = flag;
    }
    /** µScope's times are ps. */
    void set_time_unit(double, sc_core::sc_time_unit) override
    {
    }

    /** Called with the schema when the trace opens, and with the trace when it is open: for what is recorded
     * next to signals. */
    class guest
    {
      public:
        virtual void describe(uscope::schema &) = 0;
        virtual void opened(sc_trace_file &) = 0;
        virtual void closing() = 0;

      protected:
        ~guest() = default;
    };
    /** The daemon makes a copy in this format ("ftr"), beside the trace, when that is complete. */
    void copy_as(const std::string &format)
    {
        copy_ = format;
    }
    /** False, reported, when the trace is open already. */
    bool invite(guest &one, const std::string &what)
    {
        if (opened_) {
            detail::warn("OP_LATE", what + ": the trace \"" + name_ +
                                        "\" is open already; create it before the simulation starts");
            return false;
        }
        guests_.push_back(&one);
        return true;
    }
    void dismiss(guest &one)
    {
        guests_.erase(std::remove(guests_.begin(), guests_.end(), &one), guests_.end());
    }

  protected:
    /**
     * The values of a time step are those after its last delta cycle. They are compared then, not when time
     * advances: the last step of a simulation is followed by no other, and the model may be gone when the
     * file is closed.
     */
    void cycle(bool delta) override
    {
        const bool goes_on =
            delta && sc_core::sc_pending_activity_at_current_time(sc_core::sc_get_curr_simcontext());
        if (goes_on && !deltas_) {
            is_settled_ = false;
            open();
            return;
        }
        if (!delta && is_settled_) {
            is_settled_ = false;
            return;
        }
        if (open()) poll();
        is_settled_ = delta && !goes_on;
    }

  private:
    using text_event = uscope::event<uscope::text>;
    struct phases : sc_core::sc_prim_channel {
        explicit phases(sc_trace_file &of)
            : sc_core::sc_prim_channel(sc_core::sc_gen_unique_name("uscope_phases")), file(&of)
        {
        }
        void enter(std::uint8_t phase)
        {
            if (file) file->occurred([phase](sc_trace_file &f) { f.phase_(phase); });
        }
        void before_end_of_elaboration() override
        {
            enter(0);
        }
        void end_of_elaboration() override
        {
            enter(1);
        }
        void start_of_simulation() override
        {
            enter(2);
        }
        void end_of_simulation() override
        {
            if (file && file->trace_) file->poll();
            enter(3);
        }
        sc_trace_file *file;
    };
    struct watched {
        const sc_core::sc_event *event;
        std::uint64_t stamp;
        std::string scope, name;
        std::uint16_t id;
    };
    struct definition {
        std::string name, type;
    };

    static std::vector<sc_trace_file *> &files()
    {
        static std::vector<sc_trace_file *> all;
        return all;
    }
    static sc_core::sc_report_handler_proc &previous()
    {
        static sc_core::sc_report_handler_proc handler = nullptr;
        return handler;
    }
    /** A flag that is set as long as this lives. */
    class raised
    {
      public:
        explicit raised(bool &flag) noexcept : flag_(flag)
        {
            flag_ = true;
        }
        raised(const raised &) = delete;
        raised &operator=(const raised &) = delete;
        ~raised()
        {
            flag_ = false;
        }

      private:
        bool &flag_;
    };
    /** Reports are recorded, then treated as before. An error throws there, so that it is recorded first. */
    static void on_report(const sc_core::sc_report &report, const sc_core::sc_actions &actions)
    {
        static bool is_recording = false; // a handler may lead back here
        const auto next = is_recording ? nullptr : previous();
        if (!is_recording && (report.get_severity() > sc_core::SC_INFO || (actions & sc_core::SC_DISPLAY))) {
            const raised until_recorded(is_recording); // also where it throws
            for (sc_trace_file *file : files())
                file->record(report);
        }
        if (next)
            next(report, actions);
        else
            sc_core::sc_report_handler::default_handler(report, actions);
    }
    void record(const sc_core::sc_report &report)
    {
        const auto severity = static_cast<std::uint8_t>(report.get_severity());
        const auto line = static_cast<std::uint32_t>(report.get_line_number());
        const auto or_empty = [](const char *value) { return std::string(value ? value : ""); };
        const std::string type = or_empty(report.get_msg_type()), message = or_empty(report.get_msg()),
                          process = or_empty(report.get_process_name()),
                          file = or_empty(report.get_file_name());
        occurred([=](sc_trace_file &f) {
            f.report_(severity, f.trace_.string(type), f.trace_.string(message), f.trace_.string(process),
                      f.trace_.string(file), line);
        });
    }

    /** Records now, or when the trace opens. */
    template <class F> void occurred(F act)
    {
        if (!opened_) {
            if (waiting_.size() < WAITING_MAX)
                waiting_.push_back(act);
            else
                lost_++;
            return;
        }
        if (!trace_) return;
        const instant at(*this);
        act(*this);
    }

    bool accepts(const std::string &name)
    {
        if (!opened_) return true;
        detail::warn("OP_LATE", "signal \"" + name + "\" is traced after the first cycle of the trace \"" +
                                    name_ +
                                    "\"; it is not recorded; call sc_trace before the simulation starts");
        return false;
    }
    /** The format's limits: definitions and strings take 64 KiB each. True, and counted, when these fit too.
     */
    bool fits(const std::string &scope, std::size_t definitions, const std::vector<std::string> &strings,
              const std::string &name)
    {
        std::set<std::string> added;
        for (const std::string &one : strings)
            if (!strings_.count(one)) added.insert(one);
        std::vector<std::string> scopes;
        for (std::string at = scope; !at.empty() && !scopes_.count(at);) {
            const auto slash = at.rfind('/');
            const std::string last = slash == std::string::npos ? at : at.substr(slash + 1);
            if (!strings_.count(last)) added.insert(last);
            definitions += 12;
            scopes.push_back(at);
            at = slash == std::string::npos ? "" : at.substr(0, slash);
        }
        std::size_t bytes = 0;
        for (const std::string &one : added)
            bytes += one.size() + 1;
        if (definition_bytes_ + definitions > 60000 || string_bytes_ + bytes > 60000) {
            refuse(name);
            return false;
        }
        definition_bytes_ += definitions;
        string_bytes_ += bytes;
        scopes_.insert(scopes.begin(), scopes.end());
        strings_.insert(added.begin(), added.end());
        return true;
    }
    void refuse(const std::string &name)
    {
        if (left_out_++ > 0) return;
        first_left_out_ = name;
        detail::warn(
            "SCHEMA_LIMIT",
            "signal \"" + name + "\" does not fit into the trace \"" + name_ +
                "\", whose names and definitions take 64 KiB each; it is not recorded, nor are others that do "
                "not fit, which the end of the trace counts; use a second trace file");
    }
    static std::pair<std::string, std::string> split(const std::string &name)
    {
        std::string scope, leaf;
        std::size_t at = 0, depth = 0;
        for (std::size_t dot; depth < 60 && (dot = name.find('.', at)) != std::string::npos;
             at = dot + 1, depth++) {
            std::string part = detail::tidy(name.substr(at, dot - at));
            if (depth == 0 && (part == "tr" || part == "sc")) part += '_';
            scope += (scope.empty() ? "" : "/") + part;
        }
        leaf = detail::tidy(name.substr(at));
        return {scope, leaf};
    }
    /** A name that is used twice gets a number. */
    std::string unique(const std::string &key, const std::string &leaf)
    {
        if (names_.insert(key).second) return leaf;
        for (unsigned n = 2;; n++) {
            const std::string suffix = "_" + std::to_string(n);
            if (names_.insert(key + suffix).second) return leaf + suffix;
        }
    }
    /** What is kept of a signal that is recorded. */
    void tell_renamed(const std::string &name, const std::string &leaf, const std::string &as)
    {
        if (as == leaf) return;
        detail::warn("SCHEMA_DUPLICATE", "signal \"" + name + "\" is traced twice in \"" + name_ +
                                             "\"; the second is recorded as \"" + as + "\"");
    }
    /** The enum of these labels; none, reported, when it does not fit. */
    std::string enumeration(const std::vector<std::string> &labels, const std::string &name)
    {
        for (const auto &[type, known] : enums_)
            if (known == labels) return type;
        const std::string type = "enum" + std::to_string(enums_.size());
        std::vector<std::string> strings = labels;
        strings.push_back(type);
        if (enums_.size() >= 240) {
            refuse(name);
            return "";
        }
        if (!fits("", 4 + 4 * labels.size(), strings, name)) return "";
        enums_.push_back({type, labels});
        return type;
    }
    /** Fields of the storage `signals` of the signal's scope: its place when the trace opens. */
    const detail::place *column(const std::string &scope, const std::vector<definition> &parts,
                                const std::string &name)
    {
        const bool is_new = columns_.find(scope) == columns_.end();
        std::vector<std::string> strings;
        for (const definition &part : parts)
            strings.push_back(part.name);
        if (!fits(scope, 8 * parts.size() + (is_new ? 16 : 0), strings, name)) return nullptr;
        auto &fields = columns_[scope];
        places_.push_back(std::make_unique<detail::place>());
        places_.back()->field = static_cast<std::uint16_t>(fields.size());
        places_.back()->scope = scope;
        fields.insert(fields.end(), parts.begin(), parts.end());
        return places_.back().get();
    }
    template <class Reader> detail::table<Reader> &table()
    {
        for (const auto &one : tables_)
            if (auto *found = dynamic_cast<detail::table<Reader> *>(one.get())) return *found;
        tables_.push_back(std::make_unique<detail::table<Reader>>());
        return static_cast<detail::table<Reader> &>(*tables_.back());
    }
    template <class T> void probe(const T &object, const std::string &name)
    {
        add(detail::reader_of<T>(object), name);
    }
    template <class Reader> void add(const Reader &reader, const std::string &name)
    {
        if (!accepts(name)) return;
        const auto [scope, leaf] = split(name);
        const std::string field = unique(scope + "/" + leaf, leaf);
        std::vector<definition> parts;
        for (unsigned i = 0; i < reader.words(); i++)
            parts.push_back({reader.name(field, i), reader.type(i)});
        const detail::place *where = column(scope, parts, name);
        if (!where) return;
        tell_renamed(name, leaf, field);
        table<Reader>().add(reader, where);
    }

    void start()
    {
        opened_ = true;
        try {
            uscope::schema schema;
            describe(schema);
            options how(name_);
            how.schema = &schema;
            how.dut = {{"dut_name", name_}, {"systemc.version", SC_VERSION}};
            if (!copy_.empty()) how.dut.push_back({"uscope.copy", copy_});
            trace_ = uscope::trace(how);
            resolve();
        } catch (const error &e) {
            trace_ = uscope::trace();
            waiting_.clear();
            detail::warn(e.code(), std::string(e.what()) + "; the simulation continues, untraced");
            return;
        }
        for (guest *one : guests_)
            one->opened(*this);
        {
            const instant at(*this);
            for (const auto &act : waiting_)
                act(*this);
        }
        waiting_.clear();
        if (lost_ > 0)
            detail::warn("OP_LATE", std::to_string(lost_) +
                                        " reports and comments before the first cycle of \"" + name_ +
                                        "\" are not recorded; at most " + std::to_string(WAITING_MAX) +
                                        " are kept until then");
    }
    void describe(uscope::schema &schema)
    {
        std::set<std::string> scopes;
        schema.clock("tick", 1);
        schema.enumeration("sc_logic", {"zero", "one", "Z", "X"});
        schema.enumeration("sc_severity", {"info", "warning", "error", "fatal"});
        schema.enumeration("sc_phase", {"before_end_of_elaboration", "end_of_elaboration",
                                        "start_of_simulation", "end_of_simulation"});
        for (const auto &[type, labels] : enums_)
            schema.enumeration(type, labels);
        schema.scope("sc", "", "tick");
        schema.event("sc/report", {{"severity", "sc_severity"},
                                   {"type", "string"},
                                   {"message", "string"},
                                   {"process", "string"},
                                   {"file", "string"},
                                   {"line", "u32"}});
        schema.event("sc/phase", {{"phase", "sc_phase"}}).event("sc/comment", {{"text", "string"}});
        for (const auto &[scope, fields] : columns_) {
            add_scopes(schema, scopes, scope);
            schema::fields of;
            for (const definition &one : fields)
                of.push_back({one.name, one.type});
            schema.storage(join(scope, "signals"), 1, USCOPE_DENSE, of);
        }
        for (const watched &one : events_) {
            add_scopes(schema, scopes, one.scope);
            schema.event(join(one.scope, one.name), {});
        }
        for (guest *one : guests_)
            one->describe(schema);
    }
    static std::string join(const std::string &scope, const std::string &name)
    {
        return scope.empty() ? name : scope + "/" + name;
    }
    static void add_scopes(uscope::schema &schema, std::set<std::string> &known, const std::string &path)
    {
        if (path.empty() || known.count(path)) return;
        const auto slash = path.rfind('/');
        if (slash != std::string::npos) add_scopes(schema, known, path.substr(0, slash));
        schema.scope(path, "", "tick");
        known.insert(path);
    }
    void resolve()
    {
        std::map<std::string, std::uint16_t> ids;
        for (const auto &[scope, fields] : columns_)
            ids[scope] = trace_.storage(join(scope, "signals").c_str()).id();
        for (const auto &one : places_)
            one->storage = ids[one->scope];
        for (const auto &one : tables_)
            one->resolve();
        for (watched &one : events_)
            one.id = trace_.event<>(join(one.scope, one.name).c_str()).id();
        report_ =
            trace_.event<std::uint8_t, uscope::text, uscope::text, uscope::text, uscope::text, std::uint32_t>(
                "sc/report");
        phase_ = trace_.event<std::uint8_t>("sc/phase");
        comment_ = trace_.event<uscope::text>("sc/comment");
    }
    void poll()
    {
        detail::sink out(trace_.get(), now());
        for (const auto &one : tables_)
            one->poll(out);
        for (watched &one : events_) {
            const std::uint64_t stamp = event_trigger_stamp(*one.event);
            if (stamp == one.stamp) continue;
            one.stamp = stamp;
            out.open();
            uscope_event0(trace_.get(), one.id);
        }
        out.end();
    }
    void finish()
    {
        for (guest *one : guests_)
            one->closing();
        {
            const instant at(*this); // the trace ends when the simulation does
        }
        uscope_left_out(trace_.get(), lost_, "reports and comments before the first cycle are not recorded");
        if (left_out_ > 0)
            uscope_left_out(trace_.get(), left_out_,
                            (std::to_string(left_out_) +
                             " signals do not fit into the schema and are not recorded; "
                             "the first is \"" +
                             first_left_out_ + "\"; use a second trace file")
                                .c_str());
        status why;
        const uscope_close_stats_t stats = trace_.close(why);
        if (!why)
            detail::warn_at_end(why.code, why.message);
        else if (stats.rejected > left_out_ + lost_)
            detail::warn_at_end("OP_VALUE", std::to_string(stats.rejected - left_out_ - lost_) +
                                                " items were rejected in the trace \"" + name_ + "\"");
    }

    std::string name_, copy_, first_left_out_;
    uscope::trace trace_;
    detail::clockwork clock_;
    static constexpr std::size_t WAITING_MAX = 10000;
    bool opened_ = false, deltas_ = false, in_cycle_ = false, is_settled_ = false;
    std::size_t definition_bytes_ = 1000, string_bytes_ = 2000, lost_ = 0, left_out_ = 0;
    std::set<std::string> names_, scopes_, strings_;
    std::map<std::string, std::vector<definition>> columns_;
    std::vector<std::pair<std::string, std::vector<std::string>>> enums_;
    std::vector<std::unique_ptr<detail::place>> places_;
    std::vector<std::unique_ptr<detail::table_base>> tables_;
    std::vector<watched> events_;
    std::vector<std::function<void(sc_trace_file &)>> waiting_;
    std::vector<guest *> guests_;
    phases *phases_ = nullptr; // of the kernel's object hierarchy
    uscope::event<std::uint8_t, uscope::text, uscope::text, uscope::text, uscope::text, std::uint32_t>
        report_;
    uscope::event<std::uint8_t> phase_;
    text_event comment_;
};

} // namespace uscope

/** Like sc_create_vcd_trace_file: every sc_trace of a design records into the µScope trace of this name. */
inline sc_core::sc_trace_file *uscope_create_trace_file(const char *name)
{
    return new uscope::sc_trace_file(name);
}
inline void uscope_close_trace_file(sc_core::sc_trace_file *file)
{
    if (auto *ours = dynamic_cast<uscope::sc_trace_file *>(file))
        delete ours;
    else if (file)
        uscope::detail::warn("OP_HANDLE",
                             "uscope_close_trace_file: this is a trace file of another kind; it stays "
                             "open; close it with the function of that kind");
}

#endif
