/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots given slot by slot, and asked for instead of answered. */
#include <stdlib.h>
#include <string.h>

#include "client.h"

static void cycle(uscope_writer_t *w, uint64_t time)
{
    uscope_begin_cycle(w, time);
    uscope_slot_add(w, COMMITTED, 0, 0, 1);
    uscope_end_cycle(w);
}

static uscope_writer_t *open_with_interval(const char *name, uint32_t interval)
{
    uscope_writer_t *w = uscope_writer_open(name, NULL, NULL, interval);
    CHECK(w);
    return w;
}

static void packed(uscope_writer_t *w, void *user)
{
    (void)user;
    uint8_t mask[64] = {0x0A};
    mask[63] = 0x80;
    unsigned char slots[3 * 20], *at = slots;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t id = i == 2 ? 511 : 2 * i + 1, bits = 0x13 + i;
        uint64_t pc = UINT64_C(0x123456789ABC) + i;
        uint16_t rbid = (uint16_t)(i * 1000);
        memcpy(at, &id, 4);
        memcpy(at + 4, &pc, 8);
        memcpy(at + 12, &bits, 4);
        memcpy(at + 16, &rbid, 2);
        at[18] = i & 1;
        at[19] = (unsigned char)i;
        at += 20;
    }
    uscope_checkpoint_storage(w, ENTITIES, mask, slots, 3);
    int64_t d[4] = {-1, 2, INT64_MIN, 4};
    unsigned char dense[4 * 16];
    for (int i = 0; i < 4; i++) {
        int8_t b = (int8_t)-i;
        int16_t h = (int16_t)(-300 * i);
        int32_t word = -70000 * i;
        memcpy(dense + 16 * i, &b, 1);
        memcpy(dense + 16 * i + 1, &h, 2);
        memcpy(dense + 16 * i + 3, &word, 4);
        memcpy(dense + 16 * i + 7, &d[i], 8);
        dense[16 * i + 15] = 200;
    }
    uscope_checkpoint_storage(w, SIGNED, NULL, dense, 4);
}

#define N(x) ((unsigned long long)(long long)(x))

static void by_slot(uscope_writer_t *w, void *user)
{
    (void)user;
    uscope_checkpoint_begin(w, ENTITIES);
    /* the order of the slots does not matter, nor does giving one twice */
    for (unsigned i = 3; i-- > 0;) {
        unsigned id = i == 2 ? 511 : 2 * i + 1;
        uscope_checkpoint_slot6(w, (uint16_t)id, 0, 0, 0, 0, 0, 0);
        uscope_checkpoint_slot6(w, (uint16_t)id, id, 0x123456789ABC + i, 0x13 + i, i * 1000, i & 1, 77);
        uscope_checkpoint_field(w, (uint16_t)id, 5, i);
    }
    uscope_checkpoint_end(w);
    const long long d[4] = {-1, 2, INT64_MIN, 4};
    uscope_checkpoint_begin(w, SIGNED);
    for (int i = 0; i < 4; i++)
        uscope_checkpoint_slot5(w, (uint16_t)i, N(-i), N(-300 * i), N(-70000 * i), N(d[i]), 200);
    uscope_checkpoint_end(w);
}

TEST(slot_by_slot_makes_the_bytes_of_a_packed_snapshot)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *a = open_with_interval("a", 1000), *b = open_with_interval("b", 1000);
    uscope_set_checkpoint_callback(a, packed, NULL);
    uscope_set_checkpoint_callback(b, by_slot, NULL);
    for (uint64_t i = 0; i < 5; i++) {
        cycle(a, i * 700);
        cycle(b, i * 700);
    }
    uscope_close(a);
    uscope_close(b);
    struct fake_log x = log_of(d, "a"), y = log_of(d, "b");
    CHECK_NUMBER(x.snapshots, 4);
    CHECK_NUMBER(x.size, y.size);
    CHECK(memcmp(x.records, y.records, x.size) == 0);
    finish(d, 0);
}

TEST(a_model_may_ask_whether_a_checkpoint_is_due)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *a = open_with_interval("a", 1000), *b = open_with_interval("b", 1000);
    uscope_set_checkpoint_callback(a, by_slot, NULL);
    unsigned said = 0;
    static const uint64_t times[] = {0, 999, 1000, 1000, 1999, 7500, 7999, 8000};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        cycle(a, times[i]);
        if (uscope_checkpoint_due(b, times[i])) {
            said++;
            by_slot(b, NULL);
        }
        cycle(b, times[i]);
    }
    CHECK_NUMBER(said, 3);
    CHECK_NUMBER(uscope_checkpoint_due(NULL, 1 << 20), 0);
    /* a model may end while the question is open */
    CHECK_NUMBER(uscope_checkpoint_due(b, 100000), 1);
    uscope_close(a);
    uscope_close(b);
    struct fake_log x = log_of(d, "a"), y = log_of(d, "b");
    CHECK_NUMBER(x.snapshots, 6);
    CHECK_NUMBER(x.size, y.size);
    CHECK(memcmp(x.records, y.records, x.size) == 0);
    finish(d, 0);
}

TEST(asking_begins_with_the_next_grid_point_and_never_inside_a_cycle)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_with_interval("core0", 1000);
    CHECK_NUMBER(uscope_checkpoint_due(w, 5000), 0);
    cycle(w, 5000);
    CHECK_NUMBER(uscope_checkpoint_due(w, 5999), 0);
    uscope_begin_cycle(w, 6000);
    CHECK_NUMBER(uscope_checkpoint_due(w, 6000), 0);
    CHECK_TEXT(message_at(0), "core0: OP_NESTED_CYCLE: checkpoint_due inside a cycle; call rejected");
    uscope_end_cycle(w);
    CHECK_NUMBER(uscope_checkpoint_due(w, 6000), 1);
    uscope_slot_add(w, COMMITTED, 0, 0, 1);
    CHECK_TEXT(message_at(1),
               "core0: OP_OUTSIDE_CYCLE: slot_add inside a checkpoint callback; item rejected");
    cycle(w, 6000);
    CHECK_NUMBER(uscope_checkpoint_due(w, 6000), 0);
    CHECK_NUMBER(uscope_checkpoint_due(w, UINT64_MAX - 1), 1);
    cycle(w, UINT64_MAX - 1);
    CHECK_NUMBER(uscope_checkpoint_due(w, UINT64_MAX - 1), 0);
    uscope_close(w);
    CHECK_NUMBER(log_of(d, "core0").frames, 4);
    finish(d, 3);
}

static void empty_storage(uscope_writer_t *w, void *user)
{
    (void)user;
    uscope_checkpoint_begin(w, ROB);
    uscope_checkpoint_end(w);
}

TEST(a_sparse_storage_may_be_empty)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_with_interval("core0", 1000);
    uscope_set_checkpoint_callback(w, empty_storage, NULL);
    cycle(w, 0);
    cycle(w, 1000);
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    CHECK_NUMBER(log.snapshots, 1);
    /* the mask of 256 slots */
    CHECK_NUMBER(log.records[3 * 16 + 4], 32);
    finish(d, 0);
}

static void wrong(uscope_writer_t *w, void *user)
{
    (void)user;
    uscope_checkpoint_slot1(w, 0, 0);
    uscope_checkpoint_end(w);
    uscope_checkpoint_begin(w, 99);
    uscope_checkpoint_slot1(w, 0, 0); /* of a snapshot that is refused already nothing more is said */
    uscope_checkpoint_end(w);
    uscope_checkpoint_begin(w, ROB);
    uscope_checkpoint_slot2(w, 0, 0, 0);
    uscope_checkpoint_end(w);
    uscope_checkpoint_begin(w, ROB);
    uscope_checkpoint_slot1(w, 256, 0);
    uscope_checkpoint_end(w);
    uscope_checkpoint_begin(w, ROB);
    uscope_checkpoint_slot1(w, 3, 1ull << 32);
    uscope_checkpoint_slot1(w, 4, 1);
    uscope_checkpoint_end(w);
    uscope_checkpoint_begin(w, ROB);
    uscope_checkpoint_field(w, 3, 1, 0);
    uscope_checkpoint_end(w);
    uscope_checkpoint_begin(w, SIGNED);
    uscope_checkpoint_slot5(w, 0, 0, 0, 0, 0, 0);
    uscope_checkpoint_end(w);
    uscope_checkpoint_begin(w, ROB);
    uscope_checkpoint_begin(w, COMMITTED);
}

TEST(wrong_snapshots_are_refused_as_a_whole)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_with_interval("core0", 1000);
    uscope_checkpoint_begin(w, ROB);
    CHECK_TEXT(message_at(0),
               "core0: OP_SNAPSHOT: checkpoint_begin while no checkpoint is asked for; call rejected");
    uscope_set_checkpoint_callback(w, wrong, NULL);
    cycle(w, 0);
    cycle(w, 1000);
    static const char *const expected[] = {
        "core0: OP_SNAPSHOT: checkpoint_slot without checkpoint_begin; call rejected",
        "core0: OP_SNAPSHOT: checkpoint_end without checkpoint_begin; call rejected",
        "core0: OP_STORAGE: storage id 99 is not in the schema, which has 6; snapshot rejected",
        "core0: OP_SNAPSHOT: core0/rob: checkpoint_slot2, a slot has 1 fields; snapshot rejected",
        "core0: OP_SLOT: core0/rob: slot 256 is not below 256; snapshot rejected",
        "core0: OP_VALUE: core0/rob.entity_id: value 0x1_0000_0000 does not fit u32; snapshot rejected",
        "core0: OP_FIELD: core0/rob: field 1 is not below 1; snapshot rejected",
        "core0: OP_SNAPSHOT: core0/signed: snapshot of 1 slots, the storage has 4; snapshot rejected",
        "core0: OP_SNAPSHOT: core0/rob: checkpoint_begin without checkpoint_end; snapshot rejected",
        "core0: OP_SNAPSHOT: core0/committed_insns: checkpoint_begin without checkpoint_end; snapshot rejected",
    };
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++)
        CHECK_TEXT(message_at(i + 1), expected[i]);
    CHECK_NUMBER(uscope_rejected(w), 11);
    uscope_close(w);
    CHECK_NUMBER(log_of(d, "core0").snapshots, 0);
    finish(d, 12);
}
