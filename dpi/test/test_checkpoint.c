/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots: asked for when the grid is crossed, sent in parts, refused when they make no sense. */
#include <stdlib.h>
#include <string.h>

#include "client.h"

struct model {
    unsigned asked;
    unsigned long long rejected;
};

static void cycle(uscope_writer_t *w, uint64_t time)
{
    uscope_begin_cycle(w, time);
    uscope_slot_add(w, COMMITTED, 0, 0, 1);
    uscope_end_cycle(w);
}

static void small_snapshot(uscope_writer_t *w, void *user)
{
    struct model *m = user;
    m->asked++;
    uint64_t count = 42;
    uscope_checkpoint_storage(w, COMMITTED, NULL, &count, 1);
}

static uscope_writer_t *open_with_interval(uint32_t interval)
{
    uscope_writer_t *w = uscope_writer_open("core0", NULL, NULL, interval);
    CHECK(w);
    return w;
}

TEST(the_model_is_asked_once_per_grid_point_and_before_the_cycle)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_with_interval(10000);
    struct model m = {0};
    uscope_set_checkpoint_callback(w, small_snapshot, &m);
    cycle(w, 0);
    cycle(w, 9999);
    CHECK_NUMBER(m.asked, 0);
    cycle(w, 10000);
    CHECK_NUMBER(m.asked, 1);
    cycle(w, 10000);
    cycle(w, 19999);
    CHECK_NUMBER(m.asked, 1);
    cycle(w, 45000);
    CHECK_NUMBER(m.asked, 2);
    cycle(w, 49999);
    CHECK_NUMBER(m.asked, 2);
    cycle(w, 50000);
    CHECK_NUMBER(m.asked, 3);
    uscope_set_checkpoint_callback(w, NULL, NULL);
    cycle(w, 60000);
    CHECK_NUMBER(m.asked, 3);
    uscope_set_checkpoint_callback(w, small_snapshot, &m);
    cycle(w, 69999);
    CHECK_NUMBER(m.asked, 3);
    cycle(w, 70000);
    CHECK_NUMBER(m.asked, 4);
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    CHECK_NUMBER(log.snapshots, 4);
    CHECK_NUMBER(log.frames, 11);
    /* BEGIN ADD END, BEGIN ADD END, SNAPSHOT */
    static const unsigned char snapshot[32] = {0x13, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 42};
    CHECK(memcmp(log.records + 6 * 16, snapshot, sizeof snapshot) == 0);
    CHECK_NUMBER(log.records[8 * 16], 0x10);
    finish(d, 0);
}

TEST(before_the_first_cycle_nothing_is_asked)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_with_interval(1000);
    struct model m = {0};
    uscope_set_checkpoint_callback(w, small_snapshot, &m);
    cycle(w, 5000);
    CHECK_NUMBER(m.asked, 0);
    cycle(w, 5999);
    CHECK_NUMBER(m.asked, 0);
    cycle(w, 6000);
    CHECK_NUMBER(m.asked, 1);
    uscope_close(w);
    finish(d, 0);
}

TEST(times_at_the_end_of_the_range_do_not_wrap_the_grid)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_with_interval(1000);
    struct model m = {0};
    uscope_set_checkpoint_callback(w, small_snapshot, &m);
    cycle(w, 0);
    cycle(w, UINT64_MAX - 1);
    cycle(w, UINT64_MAX);
    CHECK(m.asked <= 2);
    uscope_close(w);
    CHECK_NUMBER(log_of(d, "core0").frames, 3);
    finish(d, 0);
}

static void large_snapshot(uscope_writer_t *w, void *user)
{
    struct model *m = user;
    m->asked++;
    static uint64_t values[20000];
    for (int i = 0; i < 20000; i++)
        values[i] = (uint64_t)i * 3;
    uscope_checkpoint_storage(w, WIDE_DENSE, NULL, values, 20000);
    uint8_t mask[32] = {0x05, 0, 0, 0x80};
    uint32_t slots[3] = {7, 8, 9};
    uscope_checkpoint_storage(w, ROB, mask, slots, 3);
}

TEST(large_snapshots_travel_in_parts_and_may_be_larger_than_a_chunk)
{
    setenv("USCOPE_CREDIT_MIB", "1", 1);
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_with_interval(1000);
    struct model m = {0};
    uscope_set_checkpoint_callback(w, large_snapshot, &m);
    for (uint64_t i = 0; i < 30; i++)
        cycle(w, i * 500);
    uscope_close(w);
    CHECK_NUMBER(m.asked, 14);
    struct fake_log log = log_of(d, "core0");
    CHECK_NUMBER(log.frames, 30);
    CHECK_NUMBER(log.snapshots, 14 * 6);
    finish(d, 0);
}

static void wrong_snapshots(uscope_writer_t *w, void *user)
{
    struct model *m = user;
    if (m->asked++) return;
    uint64_t data[4] = {0};
    uint8_t mask[32] = {1};
    uscope_checkpoint_storage(w, 99, NULL, data, 1);
    uscope_checkpoint_storage(w, ROB, NULL, data, 1);
    uscope_checkpoint_storage(w, COMMITTED, mask, data, 1);
    uscope_checkpoint_storage(w, WIDE_DENSE, NULL, data, 4);
    uscope_checkpoint_storage(w, ENTITIES, (uint8_t[64]){1}, data, 2);
    uscope_checkpoint_storage(w, TEXTS, (uint8_t[1]){1}, NULL, 1);
    uscope_slot_add(w, COMMITTED, 0, 0, 1);
    uscope_begin_cycle(w, 99999);
    uscope_end_cycle(w);
    CHECK(uscope_flush(w) == -1);
    uscope_close(w);
    m->rejected = uscope_rejected(w);
}

TEST(wrong_snapshots_are_refused)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_with_interval(1000);
    struct model m = {0};
    uscope_set_checkpoint_callback(w, wrong_snapshots, &m);
    cycle(w, 0);
    cycle(w, 1000);
    CHECK_NUMBER(m.asked, 1);
    CHECK_NUMBER(m.rejected, 9);
    static const char *const expected[] = {
        "core0: OP_STORAGE: storage id 99 is not in the schema, which has 6; snapshot rejected",
        "core0: OP_SNAPSHOT: core0/rob is sparse: its snapshot needs a mask of valid slots; snapshot rejected",
        "core0: OP_SNAPSHOT: core0/committed_insns is dense: its snapshot takes no mask; snapshot rejected",
        "core0: OP_SNAPSHOT: wide: snapshot of 4 slots, the storage has 20000; snapshot rejected",
        "core0: OP_SNAPSHOT: core0/entities: snapshot of 2 slots, the mask has 1; snapshot rejected",
        "core0: OP_SNAPSHOT: texts: snapshot without slot data; snapshot rejected",
        "core0: OP_OUTSIDE_CYCLE: slot_add inside a checkpoint callback; item rejected",
        "core0: OP_NESTED_CYCLE: begin_cycle(99999 ps) inside a checkpoint callback; call rejected",
        "core0: OP_OUTSIDE_CYCLE: end_cycle inside a checkpoint callback; call rejected",
        "core0: OP_NESTED_CYCLE: flush inside a cycle; call rejected",
        "core0: OP_SNAPSHOT: close inside a checkpoint callback; call rejected",
    };
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++)
        CHECK_TEXT(message_at(i), expected[i]);
    uscope_close(w);
    CHECK_NUMBER(log_of(d, "core0").frames, 2);
    CHECK_NUMBER(log_of(d, "core0").snapshots, 0);
    finish(d, 12);
}
