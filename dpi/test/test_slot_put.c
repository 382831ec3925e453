/* SPDX-License-Identifier: Apache-2.0 */
/* A slot in one call is, record for record, what single calls make. */
#include <stdlib.h>
#include <string.h>

#include "client.h"

/* Field i of slot `slot`, as all the calls below give it. */
static unsigned long long value(unsigned slot, unsigned i)
{
    static const unsigned long long fields[] = {7, 0x8000000012345678, 0x00A00093, 513, 1, 2};
    return i == 0 ? slot : fields[i];
}

static void put(uscope_writer_t *w, unsigned slot)
{
    uint16_t s = (uint16_t)slot;
#define F(i) value(slot, i)
    switch (slot % 6) {
    case 0: uscope_slot_put1(w, ENTITIES, s, F(0)); break;
    case 1: uscope_slot_put2(w, ENTITIES, s, F(0), F(1)); break;
    case 2: uscope_slot_put3(w, ENTITIES, s, F(0), F(1), F(2)); break;
    case 3: uscope_slot_put4(w, ENTITIES, s, F(0), F(1), F(2), F(3)); break;
    case 4: uscope_slot_put5(w, ENTITIES, s, F(0), F(1), F(2), F(3), F(4)); break;
    case 5: uscope_slot_put6(w, ENTITIES, s, F(0), F(1), F(2), F(3), F(4), F(5)); break;
    }
#undef F
}

static void set(uscope_writer_t *w, unsigned slot)
{
    for (unsigned i = 0; i <= slot % 6; i++)
        uscope_slot_set(w, ENTITIES, (uint16_t)slot, (uint16_t)i, value(slot, i));
}

static void model(uscope_writer_t *w, void (*write)(uscope_writer_t *, unsigned), unsigned cycles)
{
    for (unsigned i = 0; i < cycles; i++) {
        uscope_begin_cycle(w, i * 1000ull);
        for (unsigned slot = 0; slot < 60; slot++)
            write(w, (slot + i) % 510);
        uscope_end_cycle(w);
    }
    uscope_close(w);
}

TEST(one_call_makes_the_records_of_many)
{
    struct fake_daemon *d = start_daemon();
    /* enough to fill many chunks, so that calls meet the end of one in every way */
    model(open_trace("one"), put, 3000);
    model(open_trace("many"), set, 3000);
    struct fake_log one = log_of(d, "one"), many = log_of(d, "many");
    CHECK_NUMBER(one.items, 3000 * 210);
    CHECK_NUMBER(one.size, many.size);
    CHECK(memcmp(one.records, many.records, one.size) == 0);
    finish(d, 0);
}

TEST(a_cycle_too_large_for_one_frame_is_split_inside_a_call)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_begin_cycle(w, 5);
    for (unsigned i = 0; i < 20000; i++)
        uscope_slot_put4(w, ENTITIES, (uint16_t)(i % 512), i % 512, i, i, i & 0xFFFF);
    uscope_end_cycle(w);
    uscope_close(w);
    CHECK_NUMBER(log_of(d, "core0").items, 80000);
    CHECK_NUMBER(log_of(d, "core0").frames, 2);
    finish(d, 0);
}

TEST(signed_values_come_as_pattern_or_sign_extended_and_fields_beyond_the_last_are_refused)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_begin_cycle(w, 0);
    uscope_slot_put5(w, SIGNED, 1, (unsigned long long)-1, 0xFFFF, (unsigned long long)-3, 4, 5);
    CHECK_NUMBER(uscope_rejected(w), 0);
    uscope_slot_put8(w, SIGNED, 1, 1, 2, 3, 4, 5, 6, 7, 8);
    CHECK_NUMBER(uscope_rejected(w), 3);
    uscope_slot_put7(w, SIGNED, 1, 1, 2, 3, 4, 5, 6, 7);
    uscope_end_cycle(w);
    CHECK_NUMBER(uscope_rejected(w), 5);
    CHECK_TEXT(message_at(0), "core0: OP_FIELD: core0/signed: field 5 is not below 5; item rejected");
    uscope_close(w);
    CHECK_NUMBER(log_of(d, "core0").items, 15);
    finish(d, 2);
}

TEST(a_wrong_value_is_refused_by_itself_a_wrong_place_as_a_whole)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_slot_put2(w, ENTITIES, 0, 0, 0);
    CHECK_TEXT(message_at(0),
               "core0: OP_OUTSIDE_CYCLE: slot_put outside begin_cycle and end_cycle; item rejected");
    CHECK_NUMBER(uscope_rejected(w), 1);
    uscope_begin_cycle(w, 0);
    uscope_slot_put3(w, ENTITIES, 1, 1ull << 32, 2, 1ull << 32);
    CHECK_TEXT(
        message_at(1),
        "core0: OP_VALUE: core0/entities.entity_id: value 0x1_0000_0000 does not fit u32; item rejected");
    CHECK_TEXT(
        message_at(2),
        "core0: OP_VALUE: core0/entities.inst_bits: value 0x1_0000_0000 does not fit u32; item rejected");
    CHECK_NUMBER(uscope_rejected(w), 3);
    uscope_slot_put2(w, ENTITIES, 512, 0, 0);
    CHECK_TEXT(message_at(3), "core0: OP_SLOT: core0/entities: slot 512 is not below 512; item rejected");
    uscope_slot_put2(w, 9, 0, 0, 0);
    CHECK_TEXT(message_at(4),
               "core0: OP_STORAGE: storage id 9 is not in the schema, which has 6; item rejected");
    CHECK_NUMBER(uscope_rejected(w), 5);
    uscope_slot_put1(w, TEXTS, 0, 0);
    CHECK_TEXT(message_at(5),
               "core0: OP_STRING: texts.text: string index 0 was never defined; item rejected");
    uscope_slot_put1(w, TEXTS, 0, uscope_string(w, "now it is"));
    CHECK_NUMBER(uscope_rejected(w), 6);
    uscope_slot_put2(NULL, ENTITIES, 0, 0, 0);
    uscope_end_cycle(w);
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    CHECK_NUMBER(log.items, 2);
    /* of the slot with two bad fields the good one is there */
    CHECK_NUMBER(log.records[16 + 6], 1);
    finish(d, 7);
}

TEST(an_event_without_fields)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_begin_cycle(w, 0);
    uscope_event0(w, BARE);
    uscope_event0(w, STAGE);
    uscope_event0(NULL, BARE);
    uscope_end_cycle(w);
    uscope_event0(w, BARE);
    CHECK_TEXT(
        message_at(0),
        "core0: OP_PAYLOAD: core0/stage_transition: 0 fields are given, the event has 2; item rejected");
    CHECK_TEXT(message_at(1),
               "core0: OP_OUTSIDE_CYCLE: event0 outside begin_cycle and end_cycle; item rejected");
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    static const unsigned char record[16] = {3, 0, BARE};
    CHECK_NUMBER(log.items, 1);
    CHECK(memcmp(log.records + 16, record, sizeof record) == 0);
    finish(d, 3);
}
