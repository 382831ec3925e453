/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong calls: each is refused, counted, reported once with names, and the trace stays good. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

/* The last message, after a call that must have said something. */
#define REJECTED(call, text)                                                                                 \
    do {                                                                                                     \
        unsigned before = num_messages();                                                                    \
        unsigned long long counted = uscope_rejected(w);                                                     \
        call;                                                                                                \
        CHECK_NUMBER(num_messages(), before + 1);                                                            \
        CHECK_NUMBER(uscope_rejected(w), counted + 1);                                                       \
        CHECK_TEXT(message_at(before), "core0: " text);                                                      \
    } while (0)

TEST(every_wrong_item_is_named)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_begin_cycle(w, 1000);
    REJECTED(uscope_slot_set(w, 9, 0, 0, 0),
             "OP_STORAGE: storage id 9 is not in the schema, which has 6; item rejected");
    unsigned first = num_messages();
    REJECTED(uscope_slot_set(w, ROB, 256, 0, 0),
             "OP_SLOT: core0/rob: slot 256 is not below 256; item rejected");
    CHECK_TEXT(
        whole_message_at(first),
        "core0: in the cycle at 1000 ps: OP_SLOT: core0/rob: slot 256 is not below 256; item rejected");
    REJECTED(uscope_slot_clear(w, ENTITIES, 512),
             "OP_SLOT: core0/entities: slot 512 is not below 512; item rejected");
    REJECTED(uscope_slot_add(w, COMMITTED, 0, 1, 0),
             "OP_FIELD: core0/committed_insns: field 1 is not below 1; item rejected");
    REJECTED(uscope_prop_set(w, ROB, 2, 0),
             "OP_PROPERTY: core0/rob: property 2 is not below 2; item rejected");
    REJECTED(uscope_slot_set(w, ROB, 0, 0, 0x100000000),
             "OP_VALUE: core0/rob.entity_id: value 0x1_0000_0000 does not fit u32; item rejected");
    REJECTED(uscope_slot_set(w, ENTITIES, 0, 4, 2),
             "OP_VALUE: core0/entities.compressed: value 0x2 does not fit bool; item rejected");
    REJECTED(uscope_slot_set(w, ENTITIES, 0, 5, 256),
             "OP_VALUE: core0/entities.level: value 0x100 does not fit enum stage; item rejected");
    REJECTED(uscope_prop_set(w, ROB, 1, 65536),
             "OP_VALUE: core0/rob.allocate_ptr: value 0x1_0000 does not fit u16; item rejected");
    REJECTED(uscope_slot_set(w, TEXTS, 0, 0, 0),
             "OP_STRING: texts.text: string index 0 was never defined; item rejected");
    REJECTED(uscope_event1(w, 77, 0),
             "OP_EVENT: event type 77 is not in the schema, which has 6; item rejected");
    REJECTED(uscope_event3(w, FLUSH, 1, 2, 3),
             "OP_PAYLOAD: core0/flush: 3 fields are given, the event has 2; item rejected");
    REJECTED(uscope_event_bytes(w, STAGE, "1234", 4),
             "OP_PAYLOAD: core0/stage_transition: a payload of 4 bytes, the event has 5; item rejected");
    REJECTED(uscope_event(w, EIGHT, NULL),
             "OP_PAYLOAD: eight: no payload, the event has 30 bytes; item rejected");
    REJECTED(
        uscope_event2(w, STAGE, 1ull << 32, 0),
        "OP_VALUE: core0/stage_transition.entity_id: value 0x1_0000_0000 does not fit u32; item rejected");
    REJECTED(uscope_event2(w, STAGE, 0, 300),
             "OP_VALUE: core0/stage_transition.stage: value 0x12c does not fit enum stage; item rejected");
    REJECTED(uscope_event2(w, ANNOTATE, 0, 5),
             "OP_STRING: core0/annotate.text: string index 5 was never defined; item rejected");
    REJECTED(uscope_event(w, FLAGGED, "\2abcdefgh"),
             "OP_VALUE: core0/flagged.flag: value 0x2 does not fit bool; item rejected");
    REJECTED(uscope_string(w, "\xC3\x28"),
             "OP_STRING: a string of 2 bytes is not valid UTF-8; string rejected");
    REJECTED(uscope_string(w, NULL), "OP_STRING: a null string; string rejected");
    char *large = malloc(65522);
    memset(large, 'x', 65521);
    large[65521] = 0;
    REJECTED(CHECK_NUMBER(uscope_string(w, large), USCOPE_NO_STRING),
             "OP_STRING: a string of 65521 bytes; at most 65520 are allowed; string rejected");
    CHECK_NUMBER(uscope_string(w, large + 1), 0);
    free(large);
    uscope_slot_add(w, COMMITTED, 0, 0, UINT64_MAX);
    uscope_end_cycle(w);
    CHECK_TEXT(uscope_last_error_code(), "OP_STRING");
    uscope_close_stats_t stats;
    CHECK_NUMBER(uscope_close_stats(w, &stats), 0);
    CHECK_NUMBER(stats.rejected, 21);
    CHECK_NUMBER(stats.items, 1);
    CHECK_TEXT(
        message_at(21),
        "core0: 21 calls were rejected: OP_STORAGE 1, OP_SLOT 2, OP_FIELD 1, OP_PROPERTY 1, OP_EVENT 1, "
        "OP_PAYLOAD 3, OP_VALUE 7, OP_STRING 5");
    struct fake_log log = log_of(d, "core0");
    CHECK_NUMBER(log.rejected, 21);
    CHECK_TEXT(
        log.reasons,
        "OP_STORAGE 1, OP_SLOT 2, OP_FIELD 1, OP_PROPERTY 1, OP_EVENT 1, OP_PAYLOAD 3, OP_VALUE 7, OP_STRING 5");
    finish(d, 22);
}

TEST(calls_in_the_wrong_place_are_named)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    REJECTED(uscope_slot_set(w, ROB, 0, 0, 0),
             "OP_OUTSIDE_CYCLE: slot_set outside begin_cycle and end_cycle; item rejected");
    REJECTED(uscope_end_cycle(w), "OP_OUTSIDE_CYCLE: end_cycle without begin_cycle; call rejected");
    uscope_begin_cycle(w, 4000);
    REJECTED(
        uscope_begin_cycle(w, 5000),
        "OP_NESTED_CYCLE: begin_cycle(5000 ps) inside the cycle at 4000 ps, for which end_cycle is missing; "
        "call rejected");
    uscope_slot_add(w, COMMITTED, 0, 0, 1);
    uscope_end_cycle(w);
    REJECTED(uscope_begin_cycle(w, 3000),
             "OP_TIME: begin_cycle(3000 ps) after 4000 ps: time runs backwards; cycle rejected");
    /* the items of a refused cycle are counted with it, and need no separate message */
    uscope_slot_add(w, COMMITTED, 0, 0, 1);
    uscope_event2(w, STAGE, 1, 1);
    REJECTED(uscope_begin_cycle(w, 6000),
             "OP_NESTED_CYCLE: begin_cycle(6000 ps) inside a rejected cycle; call rejected");
    uscope_end_cycle(w);
    CHECK_NUMBER(uscope_rejected(w), 7);
    uscope_begin_cycle(w, 4000);
    uscope_slot_add(w, COMMITTED, 0, 0, 1);
    uscope_end_cycle(w);
    uint8_t byte = 0;
    REJECTED(uscope_checkpoint_storage(w, COMMITTED, NULL, &byte, 1),
             "OP_SNAPSHOT: checkpoint_storage outside a checkpoint callback; snapshot rejected");
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    CHECK_NUMBER(log.frames, 2);
    CHECK_NUMBER(log.items, 2);
    CHECK_TEXT(log.reasons, "OP_TIME 3, OP_OUTSIDE_CYCLE 2, OP_NESTED_CYCLE 2, OP_SNAPSHOT 1");
    finish(d, 7);
}

TEST(signed_fields_take_the_bit_pattern_and_the_sign_extended_value)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_begin_cycle(w, 0);
    static const uint64_t good[] = {0, 127, 0x80, 0xFF, (uint64_t)-1, (uint64_t)-128};
    static const uint64_t bad[] = {0x100, (uint64_t)-129, 0x7FFFFFFFFFFFFFFF, 0xFF00, 0xFFFFFFFF};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        uscope_slot_set(w, SIGNED, 0, 0, good[i]);
    uscope_slot_set(w, SIGNED, 0, 1, (uint64_t)-32768);
    uscope_slot_set(w, SIGNED, 0, 2, (uint64_t)-2147483648ll);
    uscope_slot_set(w, SIGNED, 0, 3, UINT64_MAX);
    CHECK_NUMBER(uscope_rejected(w), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        uscope_slot_set(w, SIGNED, 0, 0, bad[i]);
    CHECK_NUMBER(uscope_rejected(w), 5);
    CHECK_TEXT(message_at(0), "core0: OP_VALUE: core0/signed.b: value 0x100 does not fit i8; item rejected");
    uscope_slot_set(w, SIGNED, 0, 4, (uint64_t)-1);
    CHECK_TEXT(message_at(1),
               "core0: OP_VALUE: core0/signed.u: value 0xffff_ffff_ffff_ffff does not fit u8; item rejected");
    uscope_end_cycle(w);
    uscope_close(w);
    CHECK_NUMBER(log_of(d, "core0").items, 9);
    finish(d, 3);
}

TEST(the_same_mistake_is_reported_once_and_counted_always)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_begin_cycle(w, 0);
    for (int i = 0; i < 1000; i++)
        uscope_slot_set(w, ROB, (uint16_t)(300 + i), 0, 0);
    uscope_end_cycle(w);
    CHECK_NUMBER(num_messages(), 1);
    uscope_close(w);
    CHECK_TEXT(message_at(1), "core0: 1000 calls were rejected: OP_SLOT 1000");
    finish(d, 2);
}

TEST(very_many_different_mistakes_do_not_flood)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_begin_cycle(w, 0);
    for (int i = 0; i < 5000; i++)
        uscope_slot_set(w, (uint16_t)(1000 + i), 0, 0, 0);
    uscope_end_cycle(w);
    CHECK_NUMBER(num_messages(), 257);
    CHECK_TEXT(message_at(256), "core0: further kinds of rejected calls are counted, not reported");
    CHECK_NUMBER(uscope_rejected(w), 5000);
    uscope_close(w);
    finish(d, 258);
}

TEST(names_are_looked_up_and_unknown_ones_reported)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    CHECK_NUMBER(uscope_storage_id(w, "core0/rob"), ROB);
    CHECK_NUMBER(uscope_storage_id(w, "texts"), TEXTS);
    CHECK_NUMBER(uscope_storage_id(w, "wide"), WIDE_DENSE);
    CHECK_NUMBER(uscope_field_id(w, ENTITIES, "inst_bits"), 2);
    CHECK_NUMBER(uscope_property_id(w, ROB, "allocate_ptr"), 1);
    CHECK_NUMBER(uscope_event_id(w, "core0/flush"), FLUSH);
    CHECK_NUMBER(uscope_event_id(w, "eight"), EIGHT);
    CHECK_NUMBER(uscope_event_field_id(w, FLUSH, "reason"), 1);
    CHECK_NUMBER(uscope_enum_value(w, "flush_reason", "exception"), 1);
    CHECK_NUMBER(uscope_clock_period(w, "core_clk"), 1000);
    CHECK_NUMBER(uscope_clock_period(w, NULL), 1000);
    CHECK_NUMBER(num_messages(), 0);
    CHECK_NUMBER(uscope_clock_period(NULL, "core_clk"), 0);
    CHECK(uscope_storage_id(w, "rob") == -1);
    CHECK_TEXT(uscope_last_error_code(), "OP_STORAGE");
    CHECK_TEXT(message_at(0), "core0: OP_STORAGE: no storage is named \"rob\"; did you mean \"core0/rob\"? "
                              "(schema: that of the daemon; correct the name or add the storage)");
    CHECK(uscope_field_id(w, ENTITIES, "pcc") == -1);
    CHECK_TEXT(message_at(1), "core0: OP_FIELD: core0/entities has no field \"pcc\"; did you mean \"pc\"? "
                              "(schema: that of the daemon)");
    CHECK(uscope_property_id(w, ROB, "head") == -1);
    CHECK_TEXT(message_at(2), "core0: OP_PROPERTY: core0/rob has no property \"head\"");
    CHECK(uscope_event_id(w, "core0/nothing") == -1);
    CHECK_TEXT(
        message_at(3),
        "core0: OP_EVENT: no event is named \"core0/nothing\"; there are \"core0/stage_transition\", "
        "\"core0/flush\", \"core0/annotate\", and others (schema: that of the daemon; correct the name or add the "
        "event)");
    CHECK(uscope_event_field_id(w, STAGE, "x") == -1);
    CHECK_TEXT(message_at(4), "core0: OP_FIELD: core0/stage_transition has no field \"x\"");
    CHECK(uscope_enum_value(w, "flush_reason", "boredom") == -1);
    CHECK_TEXT(message_at(5), "core0: OP_VALUE: enum flush_reason has no label \"boredom\"");
    CHECK(uscope_enum_value(w, "colour", "red") == -1);
    CHECK_TEXT(message_at(6), "core0: OP_VALUE: no enum is named \"colour\"");
    CHECK_NUMBER(uscope_clock_period(w, "core_clock"), 0);
    CHECK_TEXT(uscope_last_error_code(), "SCHEMA_CLOCK");
    CHECK_TEXT(message_at(7),
               "core0: SCHEMA_CLOCK: no clock is named \"core_clock\"; did you mean \"core_clk\"? "
               "(schema: that of the daemon)");
    CHECK(uscope_field_id(w, -1, "pc") == -1);
    CHECK_TEXT(message_at(8), "core0: OP_STORAGE: field_id: storage id -1 is not in the schema");
    CHECK(uscope_event_field_id(w, 99, "pc") == -1);
    CHECK_TEXT(message_at(9), "core0: OP_EVENT: event_field_id: event type 99 is not in the schema");
    CHECK(uscope_storage_id(w, NULL) == -1);
    CHECK_NUMBER(uscope_rejected(w), 0);
    uscope_close(w);
    finish(d, 11);
}
