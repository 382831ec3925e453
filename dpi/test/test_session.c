/* SPDX-License-Identifier: Apache-2.0 */
/* A trace from open to close against a daemon that checks the protocol. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_daemon.h"
#include "harness.h"
#include "schema_bytes.h"
#include "uscope.h"

static struct fake_daemon *start_daemon(void)
{
    size_t size;
    unsigned char *schema = schema_bytes(&core_schema, &size);
    struct fake_daemon *d = fake_new(test_endpoint(), schema, size);
    free(schema);
    fake_start(d);
    capture_messages();
    return d;
}

static uscope_writer_t *open_core(void)
{
    uscope_writer_t *w = uscope_writer_open("core0", NULL, NULL, 0);
    CHECK(w);
    return w;
}

static void finish(struct fake_daemon *d)
{
    CHECK_TEXT(fake_violation(d), "");
    CHECK_NUMBER(num_messages(), 0);
    fake_free(d);
}

TEST(a_trace_arrives_record_by_record)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_core();
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
        0x10, 0, 0, 0, 0, 0, 0, 0, 0xE8, 3, 0, 0, 0, 0, 0, 0,
        1, 1, 0, 0, 5, 0, 1, 0, 0x23, 1, 0, 0, 0, 8, 0, 0,
        1, 3, 1, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,
        3, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0,
        1, 4, 2, 0, 0, 0, 1, 0, 77, 0, 0, 0, 0, 0, 0, 0,
        1, 2, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0x11, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    };
    struct fake_log log;
    CHECK(fake_log(d, "core0", &log));
    CHECK_NUMBER(log.size, sizeof expected);
    CHECK(memcmp(log.records, expected, sizeof expected) == 0);
    CHECK(log.closed);
    finish(d);
}
