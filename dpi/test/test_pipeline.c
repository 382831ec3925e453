/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline's step makes, record for record, what single calls make of the same masks. */
#include <string.h>

#include "client.h"
#include "random.h"
#include "uscope_cpu.h"

enum { MAX_STAGES = 8, IDS = 256 };
enum { DEPENDENCY = BARE + 1 };
enum { U8 = 1, U32 = 3 };

static unsigned stages;

static struct fake_daemon *start_pipeline_daemon(void)
{
    static struct test_schema s;
    s = core_schema;
    s.events[DEPENDENCY] =
        (struct test_event){"dependency", 1, {{"src_id", U32, 0}, {"dst_id", U32, 0}, {"dep_type", U8, 0}}};
    return start_daemon_with(&s);
}

/* What a core shows in a cycle. Anything goes: the rules of a real pipeline are not the client's business. */
struct cycle {
    unsigned valid, hold, kill, reason;
    uint64_t pc;
    unsigned inst, text;
};

static struct cycle draw_cycle(unsigned num_texts)
{
    struct cycle c = {.valid = (unsigned)(draw() | draw() | draw()) & ((1u << stages) - 1),
                      .hold = (unsigned)(draw() & draw()) & 0xff,
                      .reason = (unsigned)below(2),
                      .pc = draw(),
                      .inst = (unsigned)draw(),
                      .text = (unsigned)below(num_texts)};
    if (below(10) == 0) c.kill = (unsigned)draw() & c.valid;
    if (below(10) == 0) c.text = USCOPE_NO_STRING;
    return c;
}

/* -- the same, instruction by instruction */

struct instruction {
    bool here;
    unsigned id;
};

struct plain {
    uscope_writer_t *w;
    bool registers;
    struct instruction in[MAX_STAGES];
    struct cycle last;
    unsigned next_id;
};

static void leave(struct plain *p, unsigned stage)
{
    struct instruction *in = &p->in[stage];
    if (p->last.kill >> stage & 1) {
        uscope_event2(p->w, FLUSH, in->id, p->last.reason);
        uscope_slot_clear(p->w, ENTITIES, (uint16_t)in->id);
    } else if (stage == stages - 1 && !(p->last.hold >> stage & 1)) {
        uscope_slot_clear(p->w, ENTITIES, (uint16_t)in->id);
    }
}

static bool stays(const struct plain *p, unsigned stage)
{
    return p->in[stage].here && (p->last.hold >> stage & 1) && !(p->last.kill >> stage & 1);
}

static void be_born(struct plain *p, const struct cycle *c)
{
    unsigned id = p->in[0].id;
    uscope_slot_set(p->w, ENTITIES, (uint16_t)id, 0, id);
    uscope_slot_set(p->w, ENTITIES, (uint16_t)id, 1, c->pc);
    uscope_slot_set(p->w, ENTITIES, (uint16_t)id, 2, c->inst);
    if (c->text != USCOPE_NO_STRING) uscope_event2(p->w, ANNOTATE, id, c->text);
    p->next_id = (p->next_id + 1) % IDS;
}

static unsigned step(struct plain *p, const struct cycle *c)
{
    bool was[MAX_STAGES];
    unsigned entered = 0;
    for (unsigned s = stages; s-- > 0;) {
        was[s] = p->in[s].here;
        if (was[s]) leave(p, s);
    }
    for (unsigned s = stages; s-- > 0;) {
        bool here = c->valid >> s & 1;
        bool stayed = stays(p, s);
        if (!stayed) p->in[s].id = s > 0 ? p->in[s - 1].id : p->next_id;
        if (here && !stayed) entered |= 1u << s;
        p->in[s].here = here;
    }
    if (entered & 1) be_born(p, c);
    for (unsigned s = 0; s < stages; s++)
        if (entered >> s & 1) uscope_event2(p->w, STAGE, p->in[s].id, s);
    for (unsigned s = 1; s < stages; s++)
        if (entered >> s & 1 && p->registers) uscope_slot_set(p->w, ROB, (uint16_t)(s - 1), 0, p->in[s].id);
    for (unsigned s = 1; s < stages; s++)
        if (was[s] && !p->in[s].here && p->registers) uscope_slot_clear(p->w, ROB, (uint16_t)(s - 1));
    p->last = *c;
    return entered;
}

/* -- both, from the same random cycles */

static const char *const texts[] = {"80000000: addi", "80000004: lw", "80000008: beq"};

static void model(uscope_writer_t *w, bool one_by_one, const char *registers, unsigned cycles)
{
    struct plain plain = {.w = w, .registers = *registers != 0};
    uscope_pipeline_t *pipeline = one_by_one ? NULL : uscope_pipeline_new(w, "core0", registers, stages);
    CHECK(one_by_one || pipeline != NULL);
    for (unsigned i = 0; i < 3; i++)
        uscope_string(w, texts[i]);
    state = 88172645463325252u;
    for (unsigned i = 0; i < cycles; i++) {
        struct cycle c = draw_cycle(below(500) == 0 ? 100 : 3);
        unsigned entered;
        /* now and then, nothing of the instructions is recorded for a while */
        if (i % 1000 == 700) uscope_disable(w, "core0");
        if (i % 1000 == 750) uscope_enable(w, "core0");
        uscope_begin_cycle(w, i * 1000ull);
        if (one_by_one)
            entered = step(&plain, &c);
        else
            entered = uscope_pipeline_step(pipeline, c.valid, c.hold, c.kill, c.reason, c.pc, c.inst, c.text);
        uscope_slot_add(w, COMMITTED, 0, 0, entered);
        /* a type that does not fit is refused */
        unsigned producer = (unsigned)below(stages), consumer = (unsigned)below(stages),
                 type = (unsigned)below(260);
        if (c.valid >> producer & c.valid >> consumer & 1) {
            if (one_by_one)
                uscope_event3(w, DEPENDENCY, plain.in[producer].id, plain.in[consumer].id, type);
            else
                uscope_pipeline_dependency(pipeline, producer, consumer, type);
        }
        for (unsigned s = 0; s < stages; s++) {
            if (!(c.valid >> s & 1)) continue;
            unsigned id = one_by_one ? plain.in[s].id : uscope_pipeline_entity(pipeline, s);
            uscope_slot_set(w, WIDE_DENSE, (uint16_t)s, 0, id);
        }
        uscope_end_cycle(w);
    }
    uscope_pipeline_free(pipeline);
}

static void check_both(unsigned num_stages, const char *registers, unsigned cycles)
{
    struct fake_daemon *d = start_pipeline_daemon();
    stages = num_stages;
    uscope_writer_t *steps = open_trace("steps"), *single = open_trace("single");
    model(steps, false, registers, cycles);
    model(single, true, registers, cycles);
    CHECK(uscope_rejected(steps) > 0);
    CHECK_NUMBER(uscope_rejected(steps), uscope_rejected(single));
    CHECK_NUMBER(uscope_skipped(steps), uscope_skipped(single));
    uscope_close(steps);
    uscope_close(single);
    struct fake_log a = log_of(d, "steps"), b = log_of(d, "single");
    CHECK(a.items > num_stages * cycles);
    CHECK_NUMBER(a.items, b.items);
    CHECK_NUMBER(a.size, b.size);
    CHECK(memcmp(a.records, b.records, a.size) == 0);
    CHECK_TEXT(fake_violation(d), "");
    fake_free(d);
}

TEST(a_step_makes_the_records_of_single_calls)
{
    /* enough to fill many chunks, so that steps meet the end of one in every way */
    check_both(5, "rob", 20000);
    for (unsigned n = 2; n <= MAX_STAGES; n++)
        check_both(n, "rob", 2000);
}

TEST(every_step_is_two_lane_records_but_for_the_last_ones_of_a_chunk)
{
    enum { CYCLES = 50000 };
    struct fake_daemon *d = start_pipeline_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_pipeline_t *pipeline = uscope_pipeline_new(w, "core0", "rob", 5);
    for (unsigned i = 0; i < CYCLES; i++) {
        uscope_begin_cycle(w, i * 1000);
        uscope_pipeline_step(pipeline, 0x1f, 0, 0, 0, i, i, USCOPE_NO_STRING);
        uscope_end_cycle(w);
    }
    uscope_pipeline_free(pipeline);
    uscope_close(w);
    uint64_t lane_records = log_of(d, "core0").lane_records;
    CHECK(lane_records <= 2 * CYCLES);
    CHECK(lane_records > 2 * CYCLES - CYCLES / 100);
    finish(d, 0);
}

TEST(a_pipeline_without_registers)
{
    check_both(5, "", 3000);
}

TEST(a_scope_without_what_is_needed_is_refused)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    CHECK(!uscope_pipeline_new(NULL, "core0", "", 5));
    CHECK(!uscope_pipeline_new(w, "core0", "", 9));
    CHECK_TEXT(message_at(0), "core0: OP_STORAGE: the scope \"core0\" has no pipeline of that many stages: "
                              "2 to 8 are possible");
    CHECK(!uscope_pipeline_new(w, "core0", "signed", 5));
    CHECK(!uscope_pipeline_new(w, "core0", "none", 5));
    CHECK_TEXT(message_at(1),
               "core0: OP_STORAGE: the scope \"core0\" has no buffer for the pipeline registers");
    CHECK(!uscope_pipeline_new(w, "", "", 5));
    CHECK_TEXT(message_at(2), "core0: OP_STORAGE: the scope \"\" has no sparse storage entities "
                              "{entity_id, pc, inst_bits}, four times as large as there are stages");
    CHECK(!uscope_pipeline_new(w, NULL, NULL, 5)); /* said already */
    uscope_close(w);
    finish(d, 3);
}

TEST(calls_without_a_pipeline_do_nothing_and_say_so_once)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_pipeline_t *pipeline = uscope_pipeline_new(w, "core0", "rob", 2);
    CHECK_NUMBER(uscope_pipeline_step(pipeline, 1, 0, 0, 0, 1, 2, USCOPE_NO_STRING), 1);
    CHECK_NUMBER(uscope_rejected(w), 2); /* no cycle is open */
    CHECK_NUMBER(uscope_pipeline_step(NULL, 1, 0, 0, 0, 1, 2, 3), 0);
    CHECK_NUMBER(uscope_pipeline_step(w, 1, 0, 0, 0, 1, 2, 3), 0);
    CHECK(strstr(message_at(1), "OP_HANDLE: pipeline_step: ") != NULL);
    CHECK_NUMBER(uscope_pipeline_entity(NULL, 1), 0);
    CHECK_NUMBER(uscope_pipeline_entity(pipeline, 2), 0);
    uscope_pipeline_dependency(NULL, 0, 0, 0);
    uscope_pipeline_dependency(w, 0, 0, 0);
    uscope_pipeline_free(NULL);
    uscope_pipeline_free(pipeline);
    uscope_pipeline_free(pipeline);
    CHECK_NUMBER(uscope_pipeline_step(pipeline, 1, 0, 0, 0, 1, 2, 3), 0);
    uscope_close(w);
    finish(d, 3);
}

TEST(a_dependency_between_stages_that_there_are_not_is_refused)
{
    struct fake_daemon *d = start_pipeline_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_pipeline_t *pipeline = uscope_pipeline_new(w, "core0", "", 3);
    uscope_begin_cycle(w, 0);
    uscope_pipeline_dependency(pipeline, 2, 0, 0);
    uscope_pipeline_dependency(pipeline, 3, 0, 0);
    uscope_pipeline_dependency(pipeline, 0, 3, 0);
    uscope_end_cycle(w);
    CHECK_TEXT(message_at(0), "core0: OP_VALUE: pipeline_dependency: stages 3 and 0 of 3; item rejected");
    CHECK_NUMBER(uscope_rejected(w), 2);
    uscope_pipeline_free(pipeline);
    uscope_close(w);
    CHECK_NUMBER(log_of(d, "core0").items, 1);
    finish(d, 2);
}

TEST(a_dependency_needs_its_event)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_pipeline_t *pipeline = uscope_pipeline_new(w, "core0", "", 3);
    uscope_begin_cycle(w, 0);
    uscope_pipeline_dependency(pipeline, 2, 0, 0);
    uscope_end_cycle(w);
    CHECK_TEXT(message_at(0), "core0: OP_EVENT: pipeline_dependency: the pipeline's scope has no event "
                              "dependency {src_id, dst_id, dep_type}; item rejected");
    uscope_pipeline_free(pipeline);
    uscope_close(w);
    finish(d, 2);
}
