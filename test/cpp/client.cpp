// SPDX-License-Identifier: Apache-2.0
// The same items through uscope.h, through uscope.hpp and through generated code, each into a trace: their
// files must say the same. Then what is wrong, and what the calls allocate.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "core.hpp"

// The linker puts the functions __wrap_... before the real ones.
static thread_local unsigned long allocations = 0;
static int failures = 0;

extern "C" {
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real__Znwm(size_t size);
void *__wrap__Znwm(size_t size)
{
    allocations++;
    return __real__Znwm(size);
}
void *__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size)
{
    allocations++;
    return __real_calloc(count, size);
}
void *__wrap_realloc(void *memory, size_t size)
{
    allocations++;
    return __real_realloc(memory, size);
}
}

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            std::printf("line %d: not true: %s\n", __LINE__, #condition);                                    \
            failures++;                                                                                      \
        }                                                                                                    \
    } while (0)

template <class F> static std::string code_of(F call)
{
    try {
        call();
    } catch (const uscope::error &e) {
        return e.code();
    }
    return "none";
}

constexpr unsigned CYCLES = 500;
static std::uint64_t time_of(unsigned cycle)
{
    return cycle * std::uint64_t{core::PERIOD_PS_CORE_CLK};
}

static void through_c()
{
    uscope_open_options_t options = USCOPE_OPEN_OPTIONS_INIT;
    options.name = "c";
    options.variables = "core=0";
    uscope_writer_t *w = uscope_writer_open_opts(&options);
    for (unsigned i = 0; i < CYCLES; i++) {
        const auto slot = static_cast<std::uint16_t>(i % 16);
        uscope_begin_cycle(w, time_of(i));
        uscope_slot_put3(w, 0, slot, i, 0x80000000ull + i, 0x13);
        uscope_slot_set(w, 1, slot, 0, i * 3);
        uscope_slot_put2(w, 2, slot, i, i % 2);
        uscope_prop_set(w, 2, 0, i % 16);
        uscope_slot_add(w, 3, 0, 0, 1);
        uscope_event2(w, 0, i, i % 5);
        uscope_event2(w, 1, i, 4);
        uscope_event2(w, 2, i, uscope_string(w, i % 2 ? "odd" : "even"));
        if (i % 3 == 0) uscope_slot_clear(w, 2, slot);
        uscope_end_cycle(w);
    }
    uscope_close(w);
}

static void through_handles()
{
    uscope::options how("handles");
    how.variables = "core=0";
    uscope::trace made(how);
    uscope::trace trace(std::move(made));
    CHECK(!made && trace);
    const auto entities = trace.storage("core0/entities"), regs = trace.storage("core0/regs"),
               rob = trace.storage("core0/rob"), committed = trace.storage("core0/committed_insns");
    const auto value = regs.field<std::uint32_t>("value");
    const auto head = rob.property<std::uint16_t>("retire_ptr");
    const auto stage = trace.event<std::uint32_t, std::uint8_t>("core0/stage_transition");
    const auto flush = trace.event<std::uint32_t, core::flush_reason>("core0/flush");
    const auto annotate = trace.event<std::uint32_t, uscope::text>("core0/annotate");
    CHECK(rob.slots() == 16);
    unsigned long before = 0;
    for (unsigned i = 0; i < CYCLES; i++) {
        if (i == 2) before = allocations;
        const auto slot = static_cast<std::uint16_t>(i % 16);
        const uscope::cycle cycle(trace, time_of(i));
        entities.put(slot, i, 0x80000000ull + i, 0x13u);
        const std::uint32_t values[] = {i * 3};
        regs.set_slots(slot, value, values);
        rob.put(slot, i, i % 2 == 1);
        rob.set_property(head, static_cast<std::uint16_t>(i % 16));
        committed.count();
        stage(i, static_cast<std::uint8_t>(i % 5));
        flush(i, core::flush_reason::interrupt);
        annotate(i, trace.string(i % 2 ? "odd" : "even"));
        if (i % 3 == 0) rob.clear_slots({&slot, 1});
    }
    CHECK(allocations == before);

    CHECK(code_of([&] { trace.storage("core0/robb"); }) == "OP_STORAGE");
    CHECK(code_of([&] { rob.field<bool>("dome"); }) == "OP_FIELD");
    CHECK(code_of([&] { rob.field<std::uint64_t>("done"); }) == "OP_VALUE");
    CHECK(code_of([&] { trace.event<bool>("core0/flushh"); }) == "OP_EVENT");
    CHECK(code_of([&] { trace.event<std::uint32_t>("core0/flush"); }) == "OP_PAYLOAD");
    CHECK((code_of([&] { trace.event<std::uint32_t, bool>("core0/flush"); }) == "OP_VALUE"));
    uscope::status why;
    rob.field<std::int8_t>("done", why);
    CHECK(why.code == "OP_VALUE" && why.message.find("is bool") != std::string::npos);
    trace.storage("core0/rob", why);
    CHECK(static_cast<bool>(why));
    trace.flush();
    CHECK(trace.rejected() == 0);
    const auto stats = trace.close();
    CHECK(stats.frames == CYCLES && stats.rejected == 0);
    CHECK(!trace);
}

static void through_generated()
{
    core::trace t(uscope::options("generated"), 0);
    unsigned long before = 0;
    for (unsigned i = 0; i < CYCLES; i++) {
        if (i == 2) before = allocations;
        const auto slot = static_cast<std::uint16_t>(i % 16);
        t.begin_cycle(time_of(i));
        t.entities().put(slot, i, 0x80000000ull + i, 0x13);
        t.regs().set_value(slot, i * 3);
        t.rob().put(slot, i, i % 2 == 1);
        t.rob().prop_retire_ptr(static_cast<std::uint16_t>(i % 16));
        t.committed_insns().add(1);
        t.ev_stage_transition(i, static_cast<core::pipeline_stage>(i % 5));
        t.ev_flush(i, core::flush_reason::interrupt);
        t.ev_annotate(i, i % 2 ? "odd" : "even");
        if (i % 3 == 0) t.rob().clear(slot);
        t.end_cycle();
    }
    CHECK(allocations == before);
    CHECK(t.close().rejected == 0);
}

static void of_a_builder()
{
    uscope::schema schema;
    schema.dut("dut_name", "built").clock("clk", 1000).enumeration("colour", {"red", "green"});
    schema.scope("top", "", "clk").storage("top/q", 4, USCOPE_BUFFER, {{"id", "u32"}, {"c", "colour"}});
    schema.property("top/q", "head", "u16", USCOPE_HEAD).counter("top/n").event("top/e", {{"x", "i16"}});
    CHECK(code_of([&] { schema.scope("top"); }) == "SCHEMA_DUPLICATE");
    CHECK(code_of([&] { schema.event("none/e", {}); }) == "SCHEMA_NAME");
    uscope::options how("built");
    how.schema = &schema;
    const uscope::trace trace(how);
    const auto q = trace.storage("top/q");
    const auto id = q.field<std::uint32_t>("id");
    const auto e = trace.event<std::int16_t>("top/e");
    const uscope::cycle cycle(trace, 7000);
    q.set(3, id, 9);
    e(-5);
}

/** Fields of more than 64 bits, more than eight fields, lanes, snapshots: in C, and through handles. */
static const char MUCH[] = R"(uscope: 1
clocks: {clk: 1000}
scopes:
  top:
    clock: clk
    storages:
      line: {slots: 4, kind: sparse, fields: {tag: i16, data: {bits: 130}, bus: {bits: 70, states: 4}}, properties: {all: {bits: 65}, on: bool}}
      many: {slots: 2, kind: dense, fields: {a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: i16, j: u8}}
      one: counter
      two: counter
    events:
      fill: {way: u8, data: {bits: 130}}
      long: {a: u8, b: i16, c: bool, d: u32, e: i64, f: u8, bus: {bits: 70, states: 4}}
      step: {id: u16}
      both: {id: u16, stage: u8}
)";
using data_t = uscope::wide<130>;
using bus_t = uscope::wide<70, true>;

static uscope::options much_of(const char *name, const uscope::schema &schema)
{
    uscope::options how(name);
    how.schema = &schema;
    how.interval_ps = 10'000;
    return how;
}

/** Returns what it allocates: snapshots do, in C too. */
static unsigned long much_through_c(const uscope::schema &schema)
{
    unsigned long before = 0;
    const uscope::trace trace(much_of("much_c", schema));
    uscope_writer_t *const w = trace.get();
    for (unsigned i = 0; i < 30; i++) {
        if (i == 2) before = allocations;
        const unsigned long long time = i * 1000ull;
        if (uscope_checkpoint_due(w, time)) {
            uscope_checkpoint_begin(w, 1);
            for (std::uint16_t slot = 0; slot < 2; slot++) {
                uscope_checkpoint_slot8(w, slot, i, 2, 3, 4, 5, 6, 7, 8);
                uscope_checkpoint_field(w, slot, 8, static_cast<unsigned long long>(-9));
                uscope_checkpoint_field(w, slot, 9, 10);
            }
            uscope_checkpoint_end(w);
            uscope_checkpoint_begin(w, 2);
            uscope_checkpoint_slot1(w, 0, 100 + i);
            uscope_checkpoint_end(w);
        }
        uscope_begin_cycle(w, time);
        uscope_slot_set(w, 0, 1, 1, i);
        uscope_slot_set(w, 0, 1, 2, 0);
        uscope_slot_set(w, 0, 1, 3, 2);
        uscope_slot_put8(w, 0, 2, static_cast<unsigned long long>(-3), 1, 2, 3, i, 5, 6, 7);
        uscope_prop_set(w, 0, 0, i);
        uscope_prop_set(w, 0, 1, 1);
        uscope_slot_put8(w, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8);
        uscope_slot_set(w, 1, 0, 8, static_cast<unsigned long long>(-9));
        uscope_slot_set(w, 1, 0, 9, i);
        uscope_event4(w, 0, 7, i, 0, 1);
        const unsigned char payload[] = {1,    0xfe, 0xff, 1, 4, 0, 0, 0, 0xfb, 0xff, 0xff, 0xff, 0xff,
                                         0xff, 0xff, 0xff, 6, 1, 0, 0, 0, 0,    0,    0,    0,    2,
                                         0,    0,    0,    0, 0, 0, 0, 3, 0,    0,    0,    0,    0,
                                         0,    0,    4,    0, 0, 0, 0, 0, 0,    0};
        uscope_event_bytes(w, 1, payload, sizeof payload);
        uscope_count_lanes(w, 2, 3);
        uscope_event1_lanes(w, 2, 5, 0x030201, 8);
        uscope_event2_lanes(w, 3, 3, 0x0201, 8, 4, 1);
        uscope_end_cycle(w);
    }
    return allocations - before;
}

static void much_through_handles(const uscope::schema &schema, unsigned long allocated)
{
    uscope::trace trace(much_of("much", schema));
    const auto line = trace.storage("top/line"), many = trace.storage("top/many"),
               one = trace.storage("top/one");
    const auto data = line.field<data_t>("data");
    const auto all = line.property<uscope::wide<65>>("all");
    const auto on = line.property<bool>("on");
    const auto fill = trace.event<std::uint8_t, data_t>("top/fill");
    const auto long_event =
        trace.event<std::uint8_t, std::int16_t, bool, std::uint32_t, std::int64_t, std::uint8_t, bus_t>(
            "top/long");
    const auto step = trace.event<std::uint16_t>("top/step");
    const auto both = trace.event<std::uint16_t, std::uint8_t>("top/both");
    const bus_t bus({1, 2}, {3, 4});
    unsigned long before = 0;
    for (unsigned i = 0; i < 30; i++) {
        if (i == 2) before = allocations;
        const unsigned long long time = i * 1000ull;
        if (trace.checkpoint_due(time)) {
            const uscope::snapshot of_many(trace, many);
            for (std::uint16_t slot = 0; slot < 2; slot++)
                of_many.slot(slot, i, 2, 3, 4, 5, 6, 7, 8, -9, 10);
        }
        if (i % 10 == 0 && i > 0) {
            const uscope::snapshot of_one(trace, one);
            of_one.slot(0, 100 + i);
        }
        const uscope::cycle cycle(trace, time);
        line.set(1, data, {{i, 0, 2}});
        line.put(2, -3, data_t({1, 2, 3}), bus_t({i, 5}, {6, 7}));
        line.set_property(all, {{i, 1}});
        static_cast<void>(on);
        many.put(0, 1, 2, 3, 4, 5, 6, 7, 8, -9, i);
        fill(7, {{i, 0, 1}});
        long_event(1, -2, true, 4, -5, 6, bus);
        one.count_lanes(3);
        step.lanes(5, 0x030201, 8);
        both.lanes(3, 0x0201, 8, 4, 1);
    }
    CHECK(allocations - before == allocated);
    CHECK(code_of([&] { line.property<std::uint8_t>("on"); }) == "OP_VALUE");
    CHECK(code_of([&] { line.property<bool>("off"); }) == "OP_PROPERTY");
    CHECK(code_of([&] { line.field<uscope::wide<128>>("data"); }) == "OP_FIELD");
    CHECK(code_of([&] { line.field<std::uint64_t>("data"); }) == "OP_FIELD");
    CHECK((code_of([&] { trace.event<std::uint8_t, uscope::wide<65>>("top/fill"); }) == "OP_PAYLOAD"));
    CHECK((code_of([&] { trace.event<uscope::wide<65>>("top/both"); }) == "OP_VALUE"));
    uscope::status why;
    line.property<std::uint64_t>("on", why);
    CHECK(why.code == "OP_VALUE" && why.message.find("property \"on\" is bool") == 0);
    line.property<bool>("on", why);
    CHECK(static_cast<bool>(why));
    CHECK(trace.close().rejected == 0);
}

static void of_much()
{
    const uscope::schema schema = uscope::schema::from_text(MUCH);
    const unsigned long allocated = much_through_c(schema);
    much_through_handles(schema, allocated);
}

/** Each thread has a trace. */
static void on_threads()
{
    const auto record = [](const char *name) {
        core::trace t(uscope::options(name), 0);
        for (unsigned i = 0; i < CYCLES; i++) {
            const uscope::cycle cycle(t, time_of(i));
            t.cycles().add(1);
        }
    };
    std::thread one(record, "one"), two(record, "two");
    one.join();
    two.join();
}

static void of_what_is_wrong()
{
    uscope::options how("other");
    how.schema_sha256 = std::string(64, '0');
    CHECK(code_of([&] { uscope::trace trace(how); }) == "SCHEMA_MISMATCH");
    uscope::status why;
    const uscope::trace none(how, why);
    CHECK(!none && why.code == "SCHEMA_MISMATCH");
    const uscope::trace nothing;
    const uscope::cycle cycle(nothing, 1);
    nothing.storage("any").count();
    nothing.event<bool>("any")(true);
    CHECK(code_of([&] { nothing.flush(); }) == "none");
    core::trace untraced;
    untraced.rob().put(1, 2, true);
}

int main()
{
    uscope_set_message_handler([](const char *, void *) {}, nullptr);
    through_c();
    through_handles();
    through_generated();
    of_a_builder();
    of_much();
    on_threads();
    of_what_is_wrong();
    std::printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
