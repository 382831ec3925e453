/* SPDX-License-Identifier: Apache-2.0 */
/* One call for several lanes, and one for the end of a cycle and the beginning of the next, make, record for
 * record, what single calls make. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "random.h"

enum { HIT = BARE + 1, SPAN };
enum { U16 = 2, U32 = 3, U64 = 4 };

static struct fake_daemon *start_lane_daemon(void)
{
    static struct test_schema s;
    s = core_schema;
    s.events[HIT] = (struct test_event){"hit", 1, {{"line", U16, 0}}};
    s.events[SPAN] = (struct test_event){"span", 1, {{"from", U64, 0}, {"size", U32, 0}}};
    return start_daemon_with(&s);
}

/* -- a model that makes random calls, in either form */

struct lanes {
    uint64_t mask, values;
    unsigned width;
};

/* Mostly a few lanes that fit, sometimes anything. */
static struct lanes draw_lanes(void)
{
    static const unsigned widths[] = {1, 3, 7, 8, 8, 8, 16, 16, 32, 64};
    struct lanes l = {.values = draw(), .width = widths[below(10)]};
    l.mask = draw() & draw();
    if (below(20) > 0) l.mask &= UINT64_MAX >> (64 - 64 / l.width);
    if (below(4) == 0) l.values &= draw() & draw() & draw();
    return l;
}

static uint64_t value_of(const struct lanes *l, unsigned lane)
{
    uint64_t value = l->values >> lane * l->width;
    return l->width == 64 ? value : value & ((UINT64_C(1) << l->width) - 1);
}

/* Lanes beyond the 64 bits of values: refused where they are given as lanes, not given one by one. */
static uint64_t beyond;

static bool fits(const struct lanes *l, unsigned lane)
{
    if ((lane + 1) * l->width <= 64) return true;
    beyond++;
    return false;
}

#define EACH(lane, mask)                                                                                     \
    for (unsigned lane = 0; lane < 64; lane++)                                                               \
        if ((mask) >> lane & 1)

static void set(uscope_writer_t *w, bool one_by_one)
{
    static const uint16_t storages[] = {ENTITIES, ENTITIES, ENTITIES, ROB, SIGNED, TEXTS, WIDE_DENSE, 77};
    struct lanes l = draw_lanes();
    uint16_t storage = storages[below(8)], field = (uint16_t)below(storage == ENTITIES ? 7 : 2);
    if (!one_by_one) {
        uscope_slot_set_lanes(w, storage, field, l.mask, l.values, l.width);
        return;
    }
    EACH(lane, l.mask)
    if (fits(&l, lane)) uscope_slot_set(w, storage, (uint16_t)lane, field, value_of(&l, lane));
}

static void clear(uscope_writer_t *w, bool one_by_one)
{
    uint16_t storage = below(10) == 0 ? SIGNED : ENTITIES;
    uint64_t mask = draw() & draw() & draw();
    if (!one_by_one) {
        uscope_slot_clear_lanes(w, storage, mask);
        return;
    }
    EACH(lane, mask) uscope_slot_clear(w, storage, (uint16_t)lane);
}

static void count(uscope_writer_t *w, bool one_by_one)
{
    uint16_t first = below(30) == 0 ? 0xFFF0 : (uint16_t)below(4);
    uint64_t mask = draw() & (below(20) == 0 ? UINT64_MAX : 7);
    if (!one_by_one) {
        uscope_count_lanes(w, first, mask);
        return;
    }
    EACH(lane, mask) uscope_slot_add(w, first + lane > 0xFFFF ? 0xFFFF : (uint16_t)(first + lane), 0, 0, 1);
}

static void event1(uscope_writer_t *w, bool one_by_one)
{
    struct lanes l = draw_lanes();
    uint16_t type = below(20) == 0 ? STAGE : HIT;
    if (!one_by_one) {
        uscope_event1_lanes(w, type, l.mask, l.values, l.width);
        return;
    }
    EACH(lane, l.mask) if (fits(&l, lane)) uscope_event1(w, type, value_of(&l, lane));
}

static void event2(uscope_writer_t *w, bool one_by_one)
{
    static const uint16_t types[] = {STAGE, STAGE, STAGE, FLUSH, FLAGGED, ANNOTATE, SPAN, HIT};
    struct lanes l = draw_lanes();
    uint16_t type = types[below(8)];
    unsigned second = below(10) == 0 ? (unsigned)draw() : (unsigned)below(4);
    unsigned step = below(10) == 0 ? (unsigned)draw() : (unsigned)below(3);
    if (!one_by_one) {
        uscope_event2_lanes(w, type, l.mask, l.values, l.width, second, step);
        return;
    }
    EACH(lane, l.mask)
    if (fits(&l, lane)) uscope_event2(w, type, value_of(&l, lane), second + (uint64_t)step * lane);
}

static void model(uscope_writer_t *w, bool one_by_one, unsigned cycles)
{
    static void (*const calls[])(uscope_writer_t *, bool) = {set, clear, count, event1, event2};
    state = 88172645463325252u;
    for (unsigned i = 0; i < cycles; i++) {
        uscope_begin_cycle(w, i * 1000ull);
        for (unsigned n = 0; n < 20; n++)
            calls[below(5)](w, one_by_one);
        uscope_end_cycle(w);
    }
}

static void check_same(struct fake_daemon *d)
{
    struct fake_log lanes = log_of(d, "lanes"), single = log_of(d, "single");
    CHECK_NUMBER(lanes.items, single.items);
    CHECK_NUMBER(lanes.size, single.size);
    CHECK(memcmp(lanes.records, single.records, lanes.size) == 0);
}

TEST(lanes_make_the_records_of_single_calls)
{
    struct fake_daemon *d = start_lane_daemon();
    uscope_writer_t *lanes = open_trace("lanes"), *single = open_trace("single");
    /* enough to fill many chunks, so that calls meet the end of one in every way */
    model(lanes, false, 4000);
    beyond = 0;
    model(single, true, 4000);
    CHECK(beyond > 100);
    CHECK_NUMBER(uscope_rejected(lanes), uscope_rejected(single) + beyond);
    uscope_close(lanes);
    uscope_close(single);
    check_same(d);
    CHECK(log_of(d, "lanes").items > 100000);
    CHECK_TEXT(fake_violation(d), "");
    fake_free(d);
}

TEST(lanes_are_written_one_by_one_for_a_daemon_that_takes_no_lane_records)
{
    struct fake_daemon *d = start_lane_daemon();
    atomic_store(&fake_switches(d)->no_lanes, true);
    uscope_writer_t *lanes = open_trace("lanes"), *single = open_trace("single");
    model(lanes, false, 500);
    model(single, true, 500);
    uscope_close(lanes);
    uscope_close(single);
    check_same(d);
    CHECK_TEXT(fake_violation(d), "");
    fake_free(d);
}

TEST(lanes_that_were_recorded_are_not_for_another_daemon_that_takes_none)
{
    setenv("USCOPE_ON_FAILURE", "continue", 1);
    struct fake_daemon *d = start_lane_daemon();
    uscope_writer_t *w = open_trace("core0");
    atomic_store(&fake_switches(d)->withhold_acks, true);
    uscope_begin_cycle(w, 0);
    uscope_count_lanes(w, COMMITTED, 1);
    uscope_end_cycle(w);
    fake_kill(d);
    atomic_store(&fake_switches(d)->no_lanes, true);
    fake_start(d);
    uscope_close(w);
    CHECK_TEXT(
        message_at(0),
        "core0: BRIDGE_VERSION: after reconnecting the daemon is another one, which does not take what "
        "this client has recorded; install matching releases");
    finish(d, 3);
}

TEST(a_trace_without_lanes_goes_on_with_another_daemon_that_takes_none)
{
    struct fake_daemon *d = start_lane_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_begin_cycle(w, 0);
    uscope_end_cycle(w);
    CHECK_NUMBER(uscope_flush(w), 0);
    fake_kill(d);
    atomic_store(&fake_switches(d)->no_lanes, true);
    fake_start(d);
    uscope_begin_cycle(w, 1000);
    uscope_slot_add(w, COMMITTED, 0, 0, 1);
    uscope_end_cycle(w);
    CHECK_NUMBER(uscope_flush(w), 0); /* the other one has it */
    uscope_begin_cycle(w, 2000);
    uscope_count_lanes(w, ENTITIES, 1u << COMMITTED | 1u << ENTITIES);
    uscope_end_cycle(w);
    uscope_close(w);
    CHECK_NUMBER(log_of(d, "core0").items, 3);
    finish(d, 0);
}

enum { FIRST_COUNTER = WIDE_DENSE + 1, COUNTERS = 64 };

static struct fake_daemon *start_counting_daemon(void)
{
    static struct test_schema s;
    static char names[COUNTERS][8];
    s = core_schema;
    for (unsigned i = 0; i < COUNTERS; i++) {
        snprintf(names[i], sizeof names[i], "n%u", i);
        s.storages[FIRST_COUNTER + i] = (struct test_storage){names[i], 1, 1, 0, {{"count", U64, 0}}, {{0}}};
    }
    return start_daemon_with(&s);
}

/* The fake daemon looks whether a frame has more than it may. */
TEST(a_frame_of_lane_records_is_split_by_their_items)
{
    struct fake_daemon *d = start_counting_daemon();
    uscope_writer_t *w = open_trace("core0");
    uint64_t items = 0;
    for (unsigned cycle = 0; cycle < 5; cycle++) {
        static const unsigned single[] = {0, 61000, 65500, 140000, 200000};
        uscope_begin_cycle(w, cycle * 1000ull);
        for (unsigned i = 0; i < 1500; i++)
            uscope_count_lanes(w, FIRST_COUNTER, UINT64_MAX >> cycle);
        for (unsigned i = 0; i < single[cycle]; i++)
            uscope_slot_add(w, COMMITTED, 0, 0, i);
        uscope_count_lanes(w, FIRST_COUNTER, UINT64_MAX);
        uscope_end_cycle(w);
        items += 1500 * (COUNTERS - cycle) + single[cycle] + COUNTERS;
    }
    uscope_close(w);
    CHECK_NUMBER(log_of(d, "core0").items, items);
    finish(d, 0);
}

TEST(lanes_of_what_is_disabled_are_not_recorded_but_counted)
{
    struct fake_daemon *d = start_lane_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_disable(w, "core0");
    uscope_begin_cycle(w, 0);
    uscope_slot_set_lanes(w, ENTITIES, 0, 7, 0x030201, 8);
    uscope_slot_clear_lanes(w, ENTITIES, 3);
    uscope_count_lanes(w, COMMITTED, 1);
    uscope_event1_lanes(w, HIT, 5, 0x0201, 8);
    uscope_event2_lanes(w, STAGE, 1, 9, 8, 0, 1);
    uscope_slot_set_lanes(w, WIDE_DENSE, 0, 3, 0x0201, 8);
    uscope_end_cycle(w);
    CHECK_NUMBER(uscope_skipped(w), 9);
    CHECK_NUMBER(uscope_rejected(w), 0);
    uscope_close(w);
    CHECK_NUMBER(log_of(d, "core0").items, 2);
    finish(d, 1);
}

TEST(a_lane_without_a_value_is_named)
{
    struct fake_daemon *d = start_lane_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_slot_set_lanes(w, ENTITIES, 0, 1, 1, 8);
    CHECK_TEXT(message_at(0),
               "core0: OP_OUTSIDE_CYCLE: slot_set outside begin_cycle and end_cycle; item rejected");
    uscope_begin_cycle(w, 0);
    uscope_slot_set_lanes(w, ENTITIES, 0, 1u << 8 | 1, 5, 8);
    CHECK_TEXT(message_at(1),
               "core0: OP_VALUE: slot_set_lanes: lane 8 of 8 bits does not lie within the 64 bits "
               "of values; item rejected");
    uscope_event1_lanes(w, HIT, 1, 5, 0);
    uscope_event2_lanes(w, STAGE, 2, 5, 0x80000000u, 0, 0);
    CHECK_NUMBER(uscope_rejected(w), 4);
    uscope_slot_set_lanes(w, ENTITIES, 0, 0, 5, 99);
    uscope_slot_set_lanes(NULL, ENTITIES, 0, 1, 5, 8);
    uscope_count_lanes(NULL, 0, 1);
    uscope_event2_lanes(NULL, STAGE, 1, 1, 8, 0, 0);
    uscope_end_cycle(w);
    CHECK_NUMBER(uscope_rejected(w), 4);
    uscope_close(w);
    CHECK_NUMBER(log_of(d, "core0").items, 1);
    finish(d, 5);
}

/* -- the next cycle */

static void give_snapshot(uscope_writer_t *w, uint64_t time_ps)
{
    uscope_checkpoint_begin(w, COMMITTED);
    uscope_checkpoint_slot1(w, 0, time_ps);
    uscope_checkpoint_end(w);
}

static bool begin(uscope_writer_t *w, bool one_by_one, uint64_t time_ps)
{
    if (!one_by_one) return uscope_next_cycle(w, time_ps) == 0;
    uscope_end_cycle(w);
    if (uscope_checkpoint_due(w, time_ps)) return false;
    uscope_begin_cycle(w, time_ps);
    return true;
}

static unsigned run(uscope_writer_t *w, bool one_by_one)
{
    unsigned asked = 0;
    uint64_t time_ps = 0;
    state = 1442695040888963407u;
    uscope_begin_cycle(w, 0);
    for (unsigned i = 0; i < 50000; i++) {
        for (uint64_t n = below(8); n > 0; n--)
            uscope_slot_add(w, COMMITTED, 0, 0, n);
        /* now and then backwards, which is refused */
        time_ps += below(500) == 0 ? (uint64_t)-5000 : below(3) * 1000;
        if (begin(w, one_by_one, time_ps)) continue;
        asked++;
        give_snapshot(w, time_ps);
        uscope_begin_cycle(w, time_ps);
    }
    uscope_end_cycle(w);
    uscope_close(w);
    return asked;
}

TEST(the_next_cycle_is_the_end_of_one_and_the_beginning_of_another)
{
    struct fake_daemon *d = start_daemon();
    unsigned asked = run(open_trace("lanes"), false);
    CHECK(asked > 3);
    CHECK_NUMBER(run(open_trace("single"), true), asked);
    check_same(d);
    CHECK_TEXT(fake_violation(d), "");
    fake_free(d);
}

/* What a cycle has in an earlier chunk is not counted against those after it. */
TEST(cycles_that_go_on_in_another_chunk_are_whole_frames)
{
    struct fake_daemon *d = start_daemon();
    atomic_store(&fake_switches(d)->credit, 4 << 20);
    uscope_writer_t *w = open_trace("core0");
    uscope_begin_cycle(w, 0);
    for (unsigned i = 1; i <= 300; i++) {
        for (unsigned n = 0; n < 5000; n++)
            uscope_slot_add(w, COMMITTED, 0, 0, n);
        uscope_next_cycle(w, i * 1000ull);
    }
    uscope_end_cycle(w);
    uscope_close(w);
    CHECK_NUMBER(fake_frames(d, "core0"), 301);
    finish(d, 0);
}

TEST(the_next_cycle_of_none_is_refused_like_its_end)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    CHECK_NUMBER(uscope_next_cycle(NULL, 5), 0);
    uscope_begin_cycle(w, 0);
    uscope_end_cycle(w);
    CHECK_NUMBER(uscope_next_cycle(w, 1000), 0);
    CHECK_TEXT(message_at(0), "core0: OP_OUTSIDE_CYCLE: end_cycle without begin_cycle; call rejected");
    uscope_end_cycle(w);
    uscope_close(w);
    CHECK_NUMBER(log_of(d, "core0").frames, 2);
    finish(d, 2);
}
