/* SPDX-License-Identifier: Apache-2.0 */
/* The helper for the cpu protocol: what it records is held against the protocol's rules by a reader of its
 * own. */
#include "uscope_cpu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "uscope_noc.h"

enum { U8 = 1, U16, U32, U64, STRING = 10, ENUM };
enum { S_ENTITIES, S_ROB, S_IQ, S_COMMITTED, S_TXNS, S_LINK, S_ROUTER_TXNS };
enum { E_STAGE, E_FLUSH, E_ANNOTATE, E_DEPENDENCY, E_STALL, E_TRAP, E_NSTAGE, E_BEAT, E_HANDOFF, E_RETRY };
enum { HEAD = 1, TAIL };

/* entity_id is not the first field, to show that nothing relies on it */
static const struct test_schema schema = {
    .scopes = {"core0", "noc"},
    .enums = {{"pipeline_stage", {"fetch", "decode", "execute"}},
              {"flush_reason", {"mispredict", "exception", "interrupt", "pipeline_clear"}},
              {"stall_reason", {"rob_full"}},
              {"dep_type", {"raw", "war"}}},
    .storages =
        {
            [S_ENTITIES] =
                {"entities", 1, 8, 1, {{"pc", U64}, {"entity_id", U32}, {"thread_id", U16}}, {{0}}},
            [S_ROB] = {"rob",
                       1,
                       4,
                       3,
                       {{"entity_id", U32}, {"done", U8}},
                       {{"retire_ptr", U8, 0, HEAD}, {"allocate_ptr", U8, 0, TAIL}}},
            [S_IQ] = {"iq", 1, 2, 3, {{"entity_id", U32}}, {{0}}},
            [S_COMMITTED] = {"committed_insns", 1, 1, 0, {{"count", U64}}, {{0}}},
            [S_TXNS] = {"transactions", 2, 2, 1, {{"txn_id", U32}, {"addr", U64}, {"dst_port", U16}}, {{0}}},
            [S_LINK] = {"link", 2, 4, 3, {{"txn_id", U32}}, {{"rd", U8, 0, HEAD}, {"wr", U8, 0, TAIL}}},
            [S_ROUTER_TXNS] = {"transactions", 1, 4, 1, {{"txn_id", U32}}, {{0}}},
        },
    .events =
        {
            [E_STAGE] = {"stage_transition", 1, {{"entity_id", U32}, {"stage", ENUM, 0}}},
            [E_FLUSH] = {"flush", 1, {{"entity_id", U32}, {"reason", ENUM, 1}}},
            [E_ANNOTATE] = {"annotate", 1, {{"entity_id", U32}, {"text", STRING}}},
            [E_DEPENDENCY] = {"dependency", 1, {{"src_id", U32}, {"dst_id", U32}, {"dep_type", ENUM, 3}}},
            [E_STALL] = {"stall", 1, {{"reason", ENUM, 2}}},
            [E_TRAP] = {"trap", 1, {{"entity_id", U32}, {"cause", U64}}},
            [E_NSTAGE] = {"stage_transition", 2, {{"txn_id", U32}, {"stage", ENUM, 0}}},
            [E_BEAT] = {"beat", 2, {{"txn_id", U32}, {"beat", U16}}},
            [E_HANDOFF] = {"txn_handoff", 0xFFFF, {{"from", U32}, {"to", U32}}},
            [E_RETRY] = {"retry", 2, {{"txn_id", U32}, {"reason", U8}}},
        },
};

static struct fake_daemon *start(void)
{
    return start_daemon_with(&schema);
}

/* -- reading back */

static char text[1 << 16];

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
}

/* "set STORAGE SLOT FIELD VALUE;", "clear ...", "event TYPE FIRST-EIGHT-BYTES;", a cycle ends with "|". */
static const char *read_back(struct fake_daemon *d)
{
    struct fake_log log = log_of(d, "core0");
    text[0] = 0;
    for (size_t at = 0; at < log.size; at += 16) {
        const unsigned char *r = log.records + at;
        uint16_t head[4];
        uint64_t value;
        memcpy(head, r, 8);
        memcpy(&value, r + 8, 8);
        static const char *const actions[] = {"?", "set", "clear", "add", "prop"};
        if (r[0] == 0x01)
            say("%s %u %u %u %llu;", actions[r[1]], head[1], head[2], head[3], (unsigned long long)value);
        else if (r[0] == 0x03)
            say("event %u %llx;", head[1], (unsigned long long)value);
        else if (r[0] == 0x11)
            say("|");
        uint32_t size;
        memcpy(&size, r + 4, 4);
        if (r[0] == 0x12) at += (size + 15) / 16 * 16;
        if (r[0] == 0x03) at += (size + 8 + 15) / 16 * 16 - 16;
    }
    return text;
}

static uint64_t now;
static void next_cycle(uscope_writer_t *w)
{
    if (now) uscope_end_cycle(w);
    uscope_begin_cycle(w, now += 1000);
}

TEST(an_instruction_is_born_moves_and_retires)
{
    struct fake_daemon *d = start();
    uscope_writer_t *w = open_trace("core0");
    uscope_cpu_t *cpu = uscope_cpu_new(w, "core0");
    CHECK(cpu);
    CHECK_NUMBER(uscope_cpu_stage_id(cpu, "execute"), 2);
    CHECK_NUMBER(uscope_cpu_flush_id(cpu, "interrupt"), 2);
    CHECK_NUMBER(uscope_cpu_stall_id(cpu, "rob_full"), 0);
    CHECK_NUMBER(uscope_cpu_dependency_id(cpu, "war"), 1);
    CHECK_NUMBER(uscope_cpu_counter(cpu, "committed_insns"), S_COMMITTED);
    CHECK(uscope_cpu_counter(cpu, "no_such") == -1 && uscope_cpu_buffer(cpu, "no_such") == -1);
    CHECK_NUMBER(num_messages(), 0);
    next_cycle(w);
    unsigned a = uscope_cpu_fetch(cpu, 0x1000, 0x13), b = uscope_cpu_fetch(cpu, 0x1004, 0x13);
    uscope_cpu_set(cpu, a, uscope_cpu_field(cpu, "thread_id"), 3);
    uscope_cpu_set(cpu, a, uscope_cpu_field(cpu, "priv_level"), 3);
    uscope_cpu_stage(cpu, a, 0);
    uscope_cpu_annotate(cpu, a, "0x1000: nop");
    uscope_cpu_dependency(cpu, a, b, 0);
    uscope_cpu_stall(cpu, 0);
    next_cycle(w);
    uscope_cpu_trap(cpu, a, 11, 22, 33);
    uscope_cpu_retire(cpu, a);
    uscope_cpu_count(cpu, uscope_cpu_counter(cpu, "committed_insns"), 1);
    uscope_cpu_count(cpu, -1, 1);
    CHECK(!uscope_cpu_is_in_flight(cpu, a) && uscope_cpu_is_in_flight(cpu, b));
    CHECK_NUMBER(uscope_cpu_in_flight(cpu), 1);
    uscope_end_cycle(w);
    uscope_cpu_free(cpu);
    uscope_close(w);
    CHECK_TEXT(read_back(d),
               "set 0 0 1 0;set 0 0 0 4096;set 0 1 1 1;set 0 1 0 4100;set 0 0 2 3;event 0 0;event 2 0;"
               "event 3 100000000;event 4 0;|event 5 b00000000;clear 0 0 0 0;add 3 0 0 1;|");
    finish(d, 0);
}

TEST(a_slot_is_not_given_out_in_the_cycle_that_cleared_it_nor_while_a_buffer_names_it)
{
    struct fake_daemon *d = start();
    uscope_writer_t *w = open_trace("core0");
    uscope_cpu_t *cpu = uscope_cpu_new(w, "core0");
    int rob = uscope_cpu_buffer(cpu, "rob");
    next_cycle(w);
    for (unsigned i = 0; i < 8; i++)
        CHECK_NUMBER(uscope_cpu_fetch(cpu, i, 0), i);
    CHECK_NUMBER(uscope_cpu_fetch(cpu, 0, 0), USCOPE_CPU_NONE);
    CHECK_TEXT(message_at(0),
               "core0: OP_SLOT: core0/entities: cpu_fetch: no slot is free, 8 of 8 are in flight; "
               "call rejected");
    uscope_cpu_push(cpu, rob, 5);
    uscope_cpu_retire(cpu, 5);
    uscope_cpu_retire(cpu, 3);
    CHECK_NUMBER(uscope_cpu_fetch(cpu, 0, 0), USCOPE_CPU_NONE);
    next_cycle(w);
    CHECK_NUMBER(uscope_cpu_fetch(cpu, 0, 0), 3);
    CHECK_NUMBER(uscope_cpu_fetch(cpu, 0, 0), USCOPE_CPU_NONE);
    CHECK_NUMBER(uscope_cpu_pop(cpu, rob), 5);
    CHECK_NUMBER(uscope_cpu_fetch(cpu, 0, 0), 5);
    uscope_cpu_reset(cpu);
    uscope_end_cycle(w);
    CHECK_NUMBER(uscope_rejected(w), 3);
    uscope_close(w);
    uscope_cpu_free(cpu);
    finish(d, 2);
}

TEST(a_flush_takes_the_youngest_first_and_out_of_the_buffers)
{
    struct fake_daemon *d = start();
    uscope_writer_t *w = open_trace("core0");
    uscope_cpu_t *cpu = uscope_cpu_new(w, "core0");
    int rob = uscope_cpu_buffer(cpu, "rob"), iq = uscope_cpu_buffer(cpu, "iq");
    CHECK_NUMBER(uscope_cpu_buffer(cpu, "rob"), rob);
    next_cycle(w);
    for (unsigned i = 0; i < 3; i++)
        CHECK_NUMBER(uscope_cpu_push(cpu, rob, uscope_cpu_fetch(cpu, i, 0)), i);
    CHECK_NUMBER(uscope_cpu_push(cpu, iq, 2), 0);
    uscope_cpu_buffer_set(cpu, rob, 1, uscope_cpu_buffer_field(cpu, rob, "done"), 1);
    next_cycle(w);
    CHECK_NUMBER(uscope_cpu_flush_younger(cpu, 0, 0), 2);
    CHECK_NUMBER(uscope_cpu_flush_younger(cpu, 0, 0), 0);
    next_cycle(w);
    CHECK_NUMBER(uscope_cpu_pop(cpu, rob), 0);
    uscope_cpu_retire(cpu, 0);
    uscope_end_cycle(w);
    uscope_close(w);
    uscope_cpu_free(cpu);
    CHECK_TEXT(
        read_back(d),
        "set 0 0 1 0;set 0 0 0 0;set 1 0 0 0;prop 1 0 1 1;set 0 1 1 1;set 0 1 0 1;set 1 1 0 1;prop 1 0 1 2;"
        "set 0 2 1 2;set 0 2 0 2;set 1 2 0 2;prop 1 0 1 3;set 2 0 0 2;set 1 1 1 1;|"
        "clear 1 2 0 0;prop 1 0 1 2;clear 2 0 0 0;event 1 2;clear 0 2 0 0;"
        "clear 1 1 0 0;prop 1 0 1 1;event 1 1;clear 0 1 0 0;|"
        "clear 1 0 0 0;prop 1 0 0 1;clear 0 0 0 0;|");
    finish(d, 0);
}

TEST(a_reset_empties_everything_and_the_core_goes_on)
{
    struct fake_daemon *d = start();
    uscope_writer_t *w = open_trace("core0");
    uscope_cpu_t *cpu = uscope_cpu_new(w, "core0");
    int rob = uscope_cpu_buffer(cpu, "rob");
    next_cycle(w);
    uscope_cpu_push(cpu, rob, uscope_cpu_fetch(cpu, 0, 0));
    uscope_cpu_push(cpu, rob, uscope_cpu_fetch(cpu, 0, 0));
    next_cycle(w);
    uscope_cpu_retire(cpu, 0); /* retired, still held */
    uscope_cpu_reset(cpu);
    next_cycle(w);
    uscope_cpu_reset(cpu);
    CHECK_NUMBER(uscope_cpu_in_flight(cpu), 0);
    CHECK_NUMBER(uscope_cpu_push(cpu, rob, uscope_cpu_fetch(cpu, 0, 0)), 0);
    uscope_end_cycle(w);
    uscope_close(w);
    uscope_cpu_free(cpu);
    CHECK_TEXT(
        strchr(read_back(d), '|'),
        "|clear 0 0 0 0;clear 1 1 0 0;prop 1 0 1 1;event 1 300000001;clear 0 1 0 0;clear 1 0 0 0;prop 1 0 0 0;"
        "prop 1 0 1 0;|prop 1 0 0 0;prop 1 0 1 0;set 0 2 1 2;set 0 2 0 0;set 1 0 0 2;prop 1 0 1 1;|");
    finish(d, 0);
}

TEST(a_ring_wraps_and_has_gaps)
{
    struct fake_daemon *d = start();
    uscope_writer_t *w = open_trace("core0");
    uscope_cpu_t *cpu = uscope_cpu_new(w, "core0");
    int rob = uscope_cpu_buffer(cpu, "rob");
    next_cycle(w);
    for (unsigned i = 0; i < 4; i++)
        uscope_cpu_push(cpu, rob, uscope_cpu_fetch(cpu, 0, 0));
    CHECK_NUMBER(uscope_cpu_push(cpu, rob, 0), (unsigned long long)-1);
    CHECK_TEXT(message_at(0),
               "core0: OP_SLOT: core0/rob: cpu_push of entity 0: all 4 slots are taken; call rejected");
    uscope_cpu_remove(cpu, rob, 1); /* after the head: a gap */
    CHECK_NUMBER(uscope_cpu_push(cpu, rob, 1), (unsigned long long)-1);
    CHECK_NUMBER(uscope_cpu_buffer_count(cpu, rob), 3);
    CHECK_NUMBER(uscope_cpu_pop(cpu, rob), 0);
    CHECK_NUMBER(uscope_cpu_push(cpu, rob, 0), 0);
    CHECK_NUMBER(uscope_cpu_push(cpu, rob, 1), 1);
    uscope_cpu_flush(cpu, 1, 0);
    CHECK_NUMBER(uscope_cpu_pop(cpu, rob), 2);
    CHECK_NUMBER(uscope_cpu_pop(cpu, rob), 3);
    CHECK_NUMBER(uscope_cpu_pop(cpu, rob), 0);
    CHECK_NUMBER(uscope_cpu_pop(cpu, rob), USCOPE_CPU_NONE);
    CHECK_NUMBER(uscope_rejected(w), 3);
    uscope_end_cycle(w);
    uscope_close(w);
    uscope_cpu_free(cpu);
    finish(d, 3);
}

TEST(misuse_is_named_and_changes_nothing)
{
    struct fake_daemon *d = start();
    uscope_writer_t *w = open_trace("core0");
    CHECK(!uscope_cpu_new(w, "core1"));
    CHECK_TEXT(message_at(0),
               "core0: OP_STORAGE: the scope \"core1\" has no sparse storage \"entities\" with a field "
               "\"entity_id\"");
    uscope_cpu_t *cpu = uscope_cpu_new(w, "core0");
    int rob = uscope_cpu_buffer(cpu, "rob"), iq = uscope_cpu_buffer(cpu, "iq");
    CHECK_NUMBER(uscope_cpu_fetch(cpu, 0, 0), USCOPE_CPU_NONE);
    CHECK_TEXT(message_at(1),
               "core0: OP_OUTSIDE_CYCLE: cpu_fetch outside begin_cycle and end_cycle; item rejected");
    next_cycle(w);
    uscope_cpu_retire(cpu, 3);
    CHECK_TEXT(message_at(2),
               "core0: OP_SLOT: core0/entities: cpu_retire: entity 3 is not in flight; call rejected");
    uscope_cpu_stage(cpu, 8, 0);
    CHECK_TEXT(message_at(3),
               "core0: OP_SLOT: core0/entities: cpu_stage: entity 8 is not in flight; call rejected");
    uscope_cpu_pop(cpu, rob);
    CHECK_TEXT(message_at(4), "core0: OP_SLOT: core0/rob: cpu_pop: the buffer is empty; call rejected");
    unsigned id = uscope_cpu_fetch(cpu, 0, 0);
    uscope_cpu_place(cpu, rob, 0, id);
    CHECK_TEXT(
        message_at(5),
        "core0: OP_SLOT: core0/rob: cpu_place: a buffer with head and tail takes push and pop; call rejected");
    uscope_cpu_remove(cpu, iq, 1);
    CHECK_TEXT(message_at(6), "core0: OP_SLOT: core0/iq: cpu_remove: slot 1 is empty; call rejected");
    uscope_cpu_push(cpu, 7, id);
    CHECK_TEXT(message_at(7),
               "core0: OP_STORAGE: cpu_push: 7 is not a buffer of scope \"core0\"; call rejected");
    uscope_cpu_set(cpu, id, 1, 5);
    CHECK_TEXT(message_at(8),
               "core0: OP_FIELD: core0/entities: cpu_set: the field entity_id is the helper's own; "
               "call rejected");
    CHECK(uscope_cpu_stage_id(cpu, "writeback") == -1);
    CHECK_TEXT(message_at(9), "core0: OP_VALUE: core0/stage_transition.stage has no label \"writeback\"");
    CHECK_NUMBER(uscope_rejected(w), 8);
    /* what a failed call gave is taken quietly */
    uscope_cpu_stage(cpu, USCOPE_CPU_NONE, 0);
    uscope_cpu_retire(cpu, USCOPE_CPU_NONE);
    uscope_cpu_push(cpu, -1, id);
    uscope_cpu_remove(cpu, iq, -1);
    CHECK_NUMBER(uscope_rejected(w), 8);
    uscope_cpu_place(cpu, iq, 1, id);
    uscope_cpu_place(cpu, iq, 1, id);
    CHECK_NUMBER(uscope_cpu_buffer_count(cpu, iq), 1);
    CHECK_NUMBER(uscope_cpu_pop(cpu, iq), id);
    uscope_cpu_retire(cpu, id);
    uscope_end_cycle(w);
    uscope_close(w);
    CHECK(uscope_cpu_buffer(cpu, "rob") == -1 && uscope_cpu_stage_id(cpu, "fetch") == -1);
    uscope_cpu_retire(cpu, 0);
    CHECK(any_message_has("the handle of a trace that is closed"));
    uscope_cpu_free(cpu);
    uscope_cpu_free(cpu);
    uscope_cpu_stage(cpu, 0, 0);
    uscope_cpu_stage((void *)0x1234, 0, 0);
    CHECK(any_message_has("is not a handle of this helper"));
    CHECK_TEXT(read_back(d), "set 0 0 1 0;set 0 0 0 0;set 2 1 0 0;set 2 1 0 0;clear 2 1 0 0;clear 0 0 0 0;|");
    finish(d, num_messages());
}

TEST(a_null_helper_is_legal_everywhere)
{
    uscope_cpu_t *cpu = uscope_cpu_new(NULL, "core0");
    CHECK(!cpu);
    CHECK_NUMBER(uscope_cpu_fetch(cpu, 0, 0), USCOPE_CPU_NONE);
    uscope_cpu_stage(cpu, 0, 0);
    uscope_cpu_annotate(cpu, 0, "x");
    uscope_cpu_retire(cpu, 0);
    uscope_cpu_reset(cpu);
    CHECK_NUMBER(uscope_cpu_flush_all(cpu, 0), 0);
    CHECK(uscope_cpu_buffer(cpu, "rob") == -1 && uscope_cpu_push(cpu, 0, 0) == -1);
    CHECK_NUMBER(uscope_cpu_pop(cpu, 0), USCOPE_CPU_NONE);
    CHECK_NUMBER(uscope_cpu_in_flight(cpu), 0);
    uscope_cpu_free(cpu);
    CHECK(!uscope_noc_new(NULL, "noc"));
    CHECK_NUMBER(uscope_noc_begin(NULL, 0, 0, 0, 0, 0, 0), USCOPE_NOC_NONE);
    uscope_noc_complete(NULL, 0);
}

/* A core that fetches, reorders and squashes at random: what is read back obeys the rules of the protocol. */
TEST(whatever_the_model_does_lives_are_well_formed)
{
    struct fake_daemon *d = start();
    uscope_writer_t *w = open_trace("core0");
    uscope_cpu_t *cpu = uscope_cpu_new(w, "core0");
    int rob = uscope_cpu_buffer(cpu, "rob"), iq = uscope_cpu_buffer(cpu, "iq");
    uint32_t random = 1;
    for (int i = 0; i < 20000; i++) {
        next_cycle(w);
        for (int call = 0; call < 4; call++) {
            random = random * 1664525 + 1013904223;
            unsigned id = random >> 16 & 7;
            switch (random >> 20 & 15) {
            case 0:
            case 1:
            case 2:
            case 3:
            case 4: uscope_cpu_push(cpu, rob, uscope_cpu_fetch(cpu, random, 0)); break;
            case 5: uscope_cpu_retire(cpu, id); break;
            case 6: uscope_cpu_flush(cpu, id, 0); break;
            case 7: uscope_cpu_flush_younger(cpu, id, 1); break;
            case 8:
            case 9: uscope_cpu_pop(cpu, rob); break;
            case 10: uscope_cpu_push(cpu, iq, id); break;
            case 11: uscope_cpu_pop(cpu, iq); break;
            case 12: uscope_cpu_remove(cpu, rob, (int)(id & 3)); break;
            case 13: uscope_cpu_place(cpu, iq, (int)(id & 1), id); break;
            case 14: uscope_cpu_stage(cpu, id, 1); break;
            case 15:
                if (id == 0) uscope_cpu_reset(cpu);
                break;
            }
        }
    }
    uscope_cpu_reset(cpu);
    uscope_end_cycle(w);
    uscope_close(w);
    uscope_cpu_free(cpu);
    struct fake_log log = log_of(d, "core0");
    bool alive[8] = {0}, flushed[8] = {0}, ended[8] = {0};
    int held[3][4], births = 0, flushes = 0;
    memset(held, -1, sizeof held);
    for (size_t at = 0; at < log.size; at += 16) {
        const unsigned char *r = log.records + at;
        uint16_t storage, slot, field;
        uint32_t value;
        memcpy(&storage, r + 2, 2);
        memcpy(&slot, r + 4, 2);
        memcpy(&field, r + 6, 2);
        memcpy(&value, r + 8, 4);
        if (r[0] == 0x10) memset(ended, 0, sizeof ended);
        if (r[0] == 0x01 && storage == S_ENTITIES && r[1] == 1 && field == 1) {
            CHECK(!alive[slot] && !ended[slot] && value == slot);
            for (int i = 0; i < 12; i++)
                CHECK(held[i / 4][i % 4] != slot);
            alive[slot] = true;
            flushed[slot] = false;
            births++;
        } else if (r[0] == 0x01 && storage == S_ENTITIES && r[1] == 2) {
            CHECK(alive[slot]);
            alive[slot] = false;
            ended[slot] = true;
        } else if (r[0] == 0x01 && (storage == S_ROB || storage == S_IQ) && r[1] != 4 && field == 0) {
            CHECK(r[1] == 2 || alive[value]);
            CHECK(r[1] == 1 || held[storage][slot] >= 0);
            held[storage][slot] = r[1] == 1 ? (int)value : -1;
        } else if (r[0] == 0x03) {
            CHECK(alive[value] && !flushed[value]);
            if (storage != E_FLUSH) continue;
            flushed[value] = true;
            flushes++;
            for (int i = 0; i < 12; i++)
                CHECK(held[i / 4][i % 4] != (int)value);
            CHECK(r[16] == 1 && r[17] == 2); /* the CLEAR follows */
        }
    }
    for (int i = 0; i < 8; i++)
        CHECK(!alive[i]);
    CHECK(births > 1000 && flushes > 100);
    finish(d, num_messages());
}

TEST(transactions_have_beats_retries_and_are_handed_on)
{
    struct fake_daemon *d = start();
    uscope_writer_t *w = open_trace("core0");
    uscope_noc_t *noc = uscope_noc_new(w, "noc"), *router = uscope_noc_new(w, "");
    CHECK(!router); /* its storage of that name is the core's */
    uscope_noc_t *other = uscope_noc_new(w, "core0");
    CHECK(noc && other);
    int link = uscope_noc_buffer(noc, "link");
    CHECK_NUMBER(uscope_noc_stage_id(noc, "decode"), 1);
    next_cycle(w);
    unsigned a = uscope_noc_begin(noc, 1, 0x80, 4, 3, 0, 7), b = uscope_noc_begin(noc, 1, 0x88, 4, 3, 0, 7);
    CHECK_NUMBER(uscope_noc_begin(noc, 0, 0, 0, 0, 0, 0), USCOPE_NOC_NONE);
    uscope_noc_push(noc, link, a);
    uscope_noc_beat(noc, a, 2);
    uscope_noc_retry(noc, b, 1);
    uscope_noc_stage(noc, b, 1);
    uscope_noc_timeout(noc, b); /* the schema has no such event */
    next_cycle(w);
    unsigned c = uscope_noc_begin(other, 0, 0, 0, 0, 0, 0);
    uscope_noc_handoff(noc, b, other, c);
    CHECK_NUMBER(uscope_noc_pop(noc, link), a);
    uscope_noc_complete(noc, a);
    uscope_noc_complete(noc, a);
    CHECK_TEXT(message_at(2),
               "core0: OP_SLOT: noc/transactions: noc_complete: transaction 0 is not in flight; "
               "call rejected");
    uscope_noc_reset(noc);
    CHECK_NUMBER(uscope_noc_in_flight(noc), 0);
    uscope_noc_complete(other, c);
    uscope_end_cycle(w);
    uscope_close(w);
    uscope_noc_free(noc);
    uscope_noc_free(other);
    CHECK_TEXT(
        read_back(d),
        "set 4 0 0 0;set 4 0 1 128;set 4 0 2 7;set 4 1 0 1;set 4 1 1 136;set 4 1 2 7;set 5 0 0 0;prop 5 0 1 1;"
        "event 7 200000000;event 9 100000001;event 6 100000001;|set 6 0 0 0;event 8 1;clear 5 0 0 0;"
        "prop 5 0 0 1;clear 4 0 0 0;prop 5 0 0 0;prop 5 0 1 0;clear 4 1 0 0;clear 6 0 0 0;|");
    finish(d, 4);
}
