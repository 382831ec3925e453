/* SPDX-License-Identifier: Apache-2.0 */
/* A trace from open to close against a daemon that checks the protocol. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"

TEST(a_trace_arrives_record_by_record)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_begin_cycle(w, 1000);
    uscope_slot_set(w, ENTITIES, 5, 1, 0x80000000123ull);
    uscope_slot_add(w, COMMITTED, 0, 0, 3);
    uscope_event2(w, STAGE, 5, 2);
    uscope_prop_set(w, ROB, 1, 77);
    uscope_slot_clear(w, ENTITIES, 5);
    uscope_end_cycle(w);
    uscope_close_stats_t stats;
    CHECK_NUMBER(uscope_close_stats(w, &stats), 0);
    CHECK_NUMBER(stats.frames, 1);
    CHECK_NUMBER(stats.items, 5);
    static const unsigned char expected[] = {
        0x10, 0, 0, 0, 0, 0, 0, 0, 0xE8, 3, 0, 0, 0,    0, 0, 0, 1,  1, 0, 0, 5, 0, 1, 0, 0x23, 1, 0, 0,
        0,    8, 0, 0, 1, 3, 1, 0, 0,    0, 0, 0, 3,    0, 0, 0, 0,  0, 0, 0, 3, 0, 0, 0, 5,    0, 0, 0,
        5,    0, 0, 0, 2, 0, 0, 0, 1,    4, 2, 0, 0,    0, 1, 0, 77, 0, 0, 0, 0, 0, 0, 0, 1,    2, 0, 0,
        5,    0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0, 0x11, 0, 0, 0, 5,  0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0,
    };
    struct fake_log log;
    CHECK(fake_log(d, "core0", &log));
    CHECK_NUMBER(log.size, sizeof expected);
    CHECK(memcmp(log.records, expected, sizeof expected) == 0);
    CHECK(log.closed);
    finish(d, 0);
}

TEST(many_cycles_arrive_complete_and_in_order)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 100000);
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    check_cycles(&log, 100000);
    finish(d, 0);
}

TEST(every_field_type_is_packed_as_the_schema_says)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_begin_cycle(w, 0);
    uscope_event8(w, EIGHT, 0x11, 0x2222, 0x33333333, 0x4444444444444444, (unsigned long long)-5, 0xFFFA,
                  (unsigned long long)-7, (unsigned long long)-8);
    unsigned char packed[30];
    memset(packed, 0xAB, sizeof packed);
    uscope_event(w, EIGHT, packed);
    uscope_event_bytes(w, FLAGGED, "\1abcdefgh", 9);
    uscope_event_bytes(w, BARE, NULL, 0);
    uscope_event(w, BARE, NULL);
    uscope_end_cycle(w);
    uscope_close(w);
    static const unsigned char first[48] = {3,    0,    3,    0,    30,   0,    0,    0,    0x11, 0x22,
                                            0x22, 0x33, 0x33, 0x33, 0x33, 0x44, 0x44, 0x44, 0x44, 0x44,
                                            0x44, 0x44, 0x44, 0xFB, 0xFA, 0xFF, 0xF9, 0xFF, 0xFF, 0xFF,
                                            0xF8, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    struct fake_log log = log_of(d, "core0");
    CHECK(memcmp(log.records + 16, first, sizeof first) == 0);
    CHECK(memcmp(log.records + 16 + 48 + 8, packed, sizeof packed) == 0);
    CHECK(memcmp(log.records + 16 + 96 + 8, "\1abcdefgh", 10) == 0);
    CHECK_NUMBER(log.items, 5);
    finish(d, 0);
}

TEST(a_cycle_of_more_than_65535_items_becomes_frames_of_equal_time)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_begin_cycle(w, 5000);
    for (int i = 0; i < 200000; i++)
        uscope_slot_add(w, COMMITTED, 0, 0, 1);
    uscope_end_cycle(w);
    uscope_begin_cycle(w, 6000);
    for (int i = 0; i < 65535; i++)
        uscope_event2(w, FLAGGED, 1, 2); /* two records each */
    uscope_end_cycle(w);
    uscope_close_stats_t stats;
    CHECK_NUMBER(uscope_close_stats(w, &stats), 0);
    CHECK_NUMBER(stats.items, 265535);
    CHECK_NUMBER(stats.frames, 5);
    CHECK_NUMBER(stats.total_time_ps, 6000);
    finish(d, 0);
}

TEST(a_cycle_larger_than_the_credit_is_split_and_arrives)
{
    setenv("USCOPE_CREDIT_MIB", "2", 1);
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    char text[60000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    uscope_begin_cycle(w, 1);
    for (int i = 0; i < 200; i++) {
        text[0] = (char)('a' + i / 20);
        text[1] = (char)('a' + i % 20);
        uscope_event2(w, ANNOTATE, (unsigned long long)i, uscope_string(w, text));
    }
    uscope_end_cycle(w);
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    CHECK_NUMBER(log.items, 200);
    CHECK(log.most_held <= 2 << 20);
    finish(d, 0);
}

TEST(strings_known_already_get_the_same_index)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    CHECK_NUMBER(uscope_string(w, "add"), 0);
    uscope_begin_cycle(w, 0);
    CHECK_NUMBER(uscope_string(w, "sub"), 1);
    CHECK_NUMBER(uscope_string(w, "add"), 0);
    CHECK_NUMBER(uscope_string(w, ""), 2);
    uscope_slot_set(w, TEXTS, 0, 0, 1);
    uscope_end_cycle(w);
    CHECK_NUMBER(uscope_string(w, "sub"), 1);
    CHECK_NUMBER(uscope_string(w, "\xC2\xB5Scope \xE2\x82\xAC \xF0\x9F\x98\x80"), 3);
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    CHECK_NUMBER(log.strings, 4);
    CHECK_NUMBER(log.items, 1);
    finish(d, 0);
}

TEST(more_strings_than_the_cache_holds_cost_duplicates_not_mistakes)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    unsigned highest = 0;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 150000; i++) {
            char text[80];
            snprintf(text, sizeof text, "string number %d of a trace with very many different strings", i);
            unsigned index = uscope_string(w, text);
            CHECK(index <= highest);
            highest = index == highest ? highest + 1 : highest;
            CHECK_NUMBER(uscope_string(w, text), index);
        }
    }
    uscope_begin_cycle(w, 0);
    uscope_end_cycle(w);
    uscope_close(w);
    CHECK_NUMBER(log_of(d, "core0").strings, highest);
    finish(d, 0);
}

static bool credit_is_nearly_used_up(void *d)
{
    struct fake_log log;
    return fake_log(d, "core0", &log) && log.most_held > 3 << 20;
}

struct more_frames {
    struct fake_daemon *d;
    uint64_t than;
};

static bool there_are_more_frames(void *argument)
{
    struct more_frames *more = argument;
    return fake_frames(more->d, "core0") > more->than;
}

struct producer {
    uscope_writer_t *w;
    uint64_t cycles;
    atomic_bool done;
};

static void *produce(void *argument)
{
    struct producer *p = argument;
    run_cycles(p->w, 0, p->cycles);
    atomic_store(&p->done, true);
    return NULL;
}

TEST(when_the_credit_is_used_up_the_simulator_waits_and_then_goes_on)
{
    setenv("USCOPE_CREDIT_MIB", "4", 1);
    struct fake_daemon *d = start_daemon();
    atomic_store(&fake_switches(d)->withhold_acks, true);
    struct producer p = {.w = open_trace("core0"), .cycles = 100000};
    pthread_t thread;
    pthread_create(&thread, NULL, produce, &p);
    CHECK(wait_until(credit_is_nearly_used_up, d));
    sleep_ms(200);
    CHECK(!atomic_load(&p.done));
    struct fake_log log = log_of(d, "core0");
    CHECK(log.most_held <= 4 << 20);
    CHECK_NUMBER(log.credit, 4 << 20);
    /* what is there is acknowledged, and no more: the next wait comes soon */
    atomic_store(&fake_switches(d)->ack_now, true);
    CHECK(wait_until(there_are_more_frames, &(struct more_frames){d, log.frames}));
    sleep_ms(100);
    CHECK(!atomic_load(&p.done));
    atomic_store(&fake_switches(d)->withhold_acks, false);
    atomic_store(&fake_switches(d)->ack_now, true);
    pthread_join(thread, NULL);
    CHECK(atomic_load(&p.done));
    uscope_close(p.w);
    log = log_of(d, "core0");
    check_cycles(&log, 100000);
    finish(d, 0);
}

TEST(the_daemon_may_grant_less_credit_than_asked)
{
    struct fake_daemon *d = start_daemon();
    atomic_store(&fake_switches(d)->credit, 1 << 20);
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 50000);
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    CHECK_NUMBER(log.credit, 32 << 20);
    CHECK(log.most_held <= 1 << 20);
    check_cycles(&log, 50000);
    finish(d, 0);
}

TEST(flush_waits_until_everything_is_durable)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 10);
    CHECK_NUMBER(uscope_flush(w), 0);
    CHECK_NUMBER(fake_frames(d, "core0"), 10);
    CHECK_NUMBER(uscope_flush(w), 0);
    uscope_begin_cycle(w, 10000);
    CHECK_NUMBER(uscope_flush(w), (unsigned long long)-1);
    CHECK_TEXT(uscope_last_error_code(), "OP_NESTED_CYCLE");
    uscope_end_cycle(w);
    uscope_close(w);
    finish(d, 1);
}

TEST(what_is_published_is_sent_without_further_calls)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 3);
    wait_until(there_are_more_frames, &(struct more_frames){d, 2});
    CHECK_NUMBER(fake_frames(d, "core0"), 3);
    uscope_close(w);
    finish(d, 0);
}

TEST(close_ends_an_open_cycle_and_is_harmless_when_repeated)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_begin_cycle(w, 7);
    uscope_slot_add(w, COMMITTED, 0, 0, 1);
    uscope_close_stats_t stats;
    CHECK_NUMBER(uscope_close_stats(w, &stats), 0);
    CHECK_NUMBER(stats.frames, 1);
    CHECK_NUMBER(stats.items, 1);
    uscope_close(w);
    uscope_writer_close(w);
    uscope_close(NULL);
    finish(d, 0);
}

TEST(a_trace_without_a_cycle_closes)
{
    struct fake_daemon *d = start_daemon();
    uscope_close(open_trace("core0"));
    CHECK(log_of(d, "core0").closed);
    CHECK_NUMBER(log_of(d, "core0").frames, 0);
    finish(d, 0);
}

TEST(what_is_known_at_open_reaches_the_daemon)
{
    setenv("USCOPE_CORE", "3", 1);
    setenv("USCOPE_RUN_ID", "00112233445566778899aabbccddeeff", 1);
    struct fake_daemon *d = start_daemon();
    uscope_schema_t *schema = uscope_schema_from_text("uscope: 1\n", "model.yaml");
    uscope_dut_property_t properties[] = {{"dut_name", "boom"}, {"cpu.isa", "RV64GC"}};
    uscope_dut_t dut = {2, properties};
    uscope_writer_t *w = uscope_writer_open("./soc/core3.uscope", &dut, schema, 5000000);
    uscope_schema_free(schema);
    CHECK(w);
    CHECK_TEXT(uscope_path(w), "/out/fake.uscope");
    uscope_close(w);
    struct fake_log log = log_of(d, "soc/core3");
    CHECK_TEXT(log.schema, "uscope: 1\n");
    CHECK_TEXT(log.schema_name, "model.yaml");
    CHECK_TEXT(log.dut, "dut_name=boom;cpu.isa=RV64GC;");
    CHECK_NUMBER(log.interval_ps, 5000000);
    CHECK_NUMBER(log.core, 3);
    CHECK_NUMBER(log.run[0], 0x00);
    CHECK_NUMBER(log.run[15], 0xFF);
    finish(d, 0);
}

TEST(the_schema_named_by_the_environment_is_sent_as_text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/core.yaml", test_directory());
    FILE *file = fopen(path, "w");
    fputs("uscope: 1\nclocks: {}\n", file);
    fclose(file);
    setenv("USCOPE_SCHEMA", path, 1);
    struct fake_daemon *d = start_daemon();
    uscope_close(open_trace("core0"));
    CHECK_TEXT(log_of(d, "core0").schema, "uscope: 1\nclocks: {}\n");
    CHECK_TEXT(log_of(d, "core0").schema_name, path);
    unlink(path);
    uscope_writer_t *w = uscope_writer_open("core1", NULL, NULL, 0);
    CHECK(!w);
    CHECK_TEXT(uscope_last_error_code(), "READER_OPEN");
    finish(d, 1);
}

static void *trace_in_thread(void *name)
{
    uscope_writer_t *w = open_trace(name);
    run_cycles(w, 0, 60000);
    uscope_close(w);
    return NULL;
}

TEST(two_threads_trace_two_traces)
{
    struct fake_daemon *d = start_daemon();
    pthread_t threads[2];
    char names[2][8] = {"core0", "core1"};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, trace_in_thread, names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        struct fake_log log = log_of(d, names[i]);
        check_cycles(&log, 60000);
    }
    finish(d, 0);
}

TEST(many_traces_share_the_connection)
{
    setenv("USCOPE_CREDIT_MIB", "1", 1);
    setenv("USCOPE_SHM", "0", 1);
    /* the daemon of the tests has room for 32 */
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w[32];
    for (int i = 0; i < 32; i++) {
        char name[16];
        snprintf(name, sizeof name, "core%d", i);
        w[i] = open_trace(name);
        run_cycles(w[i], 0, 100);
    }
    for (int i = 0; i < 32; i++)
        uscope_close(w[i]);
    CHECK_NUMBER(log_of(d, "core31").frames, 100);
    finish(d, 0);
}
