/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_daemon *start_daemon_with(const struct test_schema *schema)
{
    size_t size;
    unsigned char *bytes = schema_bytes(schema, &size);
    struct fake_daemon *d = fake_new(test_endpoint(), bytes, size);
    free(bytes);
    fake_start(d);
    capture_messages();
    return d;
}

struct fake_daemon *start_daemon(void)
{
    return start_daemon_with(&core_schema);
}

uscope_writer_t *open_trace(const char *name)
{
    uscope_writer_t *w = uscope_writer_open(name, NULL, NULL, 0);
    CHECK(w);
    return w;
}

void finish(struct fake_daemon *d, unsigned messages)
{
    CHECK_TEXT(fake_violation(d), "");
    CHECK_NUMBER(num_messages(), messages);
    fake_free(d);
}

struct fake_log log_of(struct fake_daemon *d, const char *name)
{
    struct fake_log log;
    CHECK(fake_log(d, name, &log));
    return log;
}

void run_cycles(uscope_writer_t *w, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        uint16_t slot = (uint16_t)(i % 512);
        uscope_begin_cycle(w, i * 1000);
        uscope_slot_set(w, ENTITIES, slot, 0, slot);
        uscope_slot_set(w, ENTITIES, slot, 1, 0x80000000u + i * 4);
        uscope_slot_add(w, COMMITTED, 0, 0, i);
        uscope_event2(w, STAGE, slot, i % 3);
        uscope_event8(w, EIGHT, i & 255, i & 65535, i & 0xFFFFFFFF, i, 1, 2, 3, i);
        if (i % 10 == 0) {
            char text[64];
            snprintf(text, sizeof text, "0x%llx: cycle %llu", 0x80000000ull + i * 4, (unsigned long long)i);
            uscope_event2(w, ANNOTATE, slot, uscope_string(w, text));
        } else {
            uscope_prop_set(w, ROB, 0, i & 65535);
        }
        uscope_slot_clear(w, ENTITIES, (uint16_t)((i + 7) % 512));
        uscope_end_cycle(w);
    }
}

static uint64_t u64_at(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, 8);
    return value;
}

/* Next record that is not a string. */
static const unsigned char *skip_strings(const unsigned char *at, const unsigned char *end, uint64_t *strings)
{
    while (at < end && at[0] == 0x12) {
        CHECK_NUMBER(u64_at(at + 8), *strings);
        ++*strings;
        at += 16 + ((u64_at(at) >> 32) + 15) / 16 * 16;
    }
    return at;
}

void check_cycles(const struct fake_log *log, uint64_t count)
{
    const unsigned char *at = log->records, *end = at + log->size;
    uint64_t strings = 0;
    for (uint64_t i = 0; i < count; i++) {
        CHECK(end - at >= 16 * 11);
        CHECK_NUMBER(at[0], 0x10);
        CHECK_NUMBER(u64_at(at + 8), i * 1000);
        CHECK_NUMBER(u64_at(at + 16), 0x0000000000000101ull | (i % 512) << 32);
        CHECK_NUMBER(u64_at(at + 24), i % 512);
        CHECK_NUMBER(u64_at(at + 40), 0x80000000u + i * 4);
        CHECK_NUMBER(u64_at(at + 56), i);
        CHECK_NUMBER(u64_at(at + 72), (i % 512) | (i % 3) << 32);
        CHECK_NUMBER(u64_at(at + 80), 0x1E00030003ull);
        at += 16 * 5 + 48; /* begin, 3 ops, event, event of 30 bytes */
        at = skip_strings(at, end, &strings);
        if (i % 10 == 0)
            CHECK_NUMBER(u64_at(at + 8), (i % 512) | (strings - 1) << 32);
        else
            CHECK_NUMBER(u64_at(at + 8), i & 65535);
        at += 32;
        CHECK_NUMBER(u64_at(at), 0x0000000700000011ull);
        CHECK_NUMBER(u64_at(at + 8), i);
        at += 16;
    }
    CHECK(at == end);
    CHECK_NUMBER(strings, (count + 9) / 10);
}
