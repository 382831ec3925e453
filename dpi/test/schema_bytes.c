/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_bytes.h"

#include <stdlib.h>
#include <string.h>

enum { U8 = 1, U16, U32, U64, I8, I16, I32, I64, BOOL, STRING, ENUM };

const struct test_schema core_schema =
    {
        .scopes = {"core0"},
        .enums = {{"stage", {"fetch", "decode", "retire"}}, {"flush_reason", {"mispredict", "exception"}}},
        .storages =
            {
                [ENTITIES] = {"entities",
                              1,
                              512,
                              1,
                              {{"entity_id", U32, 0},
                               {"pc", U64, 0},
                               {"inst_bits", U32, 0},
                               {"rbid", U16, 0},
                               {"compressed", BOOL, 0},
                               {"level", ENUM, 0}},
                              {{0}}},
                [COMMITTED] = {"committed_insns", 1, 1, 0, {{"count", U64, 0}}, {{0}}},
                [ROB] = {"rob",
                         1,
                         256,
                         3,
                         {{"entity_id", U32, 0}},
                         {{"retire_ptr", U16, 0}, {"allocate_ptr", U16, 0}}},
                [SIGNED] = {"signed",
                            1,
                            4,
                            0,
                            {{"b", I8, 0}, {"h", I16, 0}, {"w", I32, 0}, {"d", I64, 0}, {"u", U8, 0}},
                            {{0}}},
                [TEXTS] = {"texts", 0, 8, 1, {{"text", STRING, 0}}, {{0}}},
                [WIDE_DENSE] = {"wide", 0xFFFF, 20000, 0, {{"value", U64, 0}}, {{0}}},
            },
        .events =
            {
                [STAGE] = {"stage_transition", 1, {{"entity_id", U32, 0}, {"stage", ENUM, 0}}},
                [FLUSH] = {"flush", 1, {{"entity_id", U32, 0}, {"reason", ENUM, 1}}},
                [ANNOTATE] = {"annotate", 1, {{"entity_id", U32, 0}, {"text", STRING, 0}}},
                [EIGHT] = {"eight",
                           0xFFFF,
                           {{"a", U8, 0},
                            {"b", U16, 0},
                            {"c", U32, 0},
                            {"d", U64, 0},
                            {"e", I8, 0},
                            {"f", I16, 0},
                            {"g", I32, 0},
                            {"h", I64, 0}}},
                [FLAGGED] = {"flagged", 1, {{"flag", BOOL, 0}, {"addr", U64, 0}}},
                [BARE] = {"tick", 1, {{0}}},
            },
};

struct bytes {
    unsigned char *at;
    size_t size;
};

static void put(struct bytes *b, uint64_t value, unsigned width)
{
    b->at = realloc(b->at, b->size + width);
    for (unsigned i = 0; i < width; i++)
        b->at[b->size++] = (unsigned char)(value >> (8 * i));
}

/* Names are put where they are first needed; the pool is appended at the end. */
static struct bytes pool;

static unsigned name(const char *text)
{
    unsigned at = (unsigned)pool.size;
    for (; *text; text++)
        put(&pool, (unsigned char)*text, 1);
    put(&pool, 0, 1);
    return at;
}

static unsigned count_fields(const struct test_field *fields, unsigned most)
{
    unsigned n = 0;
    while (n < most && fields[n].name)
        n++;
    return n;
}

static void put_fields(struct bytes *b, const struct test_field *fields, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        put(b, name(fields[i].name), 2);
        put(b, fields[i].type, 1);
        put(b, fields[i].enum_id, 1);
        put(b, fields[i].role, 1);
        put(b, 0, 3);
    }
}

static void put_scopes(struct bytes *b, const struct test_schema *s, unsigned n)
{
    put(b, name("root"), 2);
    put(b, 0, 2);
    put(b, 0xFFFF, 2);
    put(b, 0xFFFF, 2);
    put(b, 0, 4);
    for (unsigned i = 0; i < n; i++) {
        put(b, name(s->scopes[i]), 2);
        put(b, i + 1, 2);
        put(b, 0, 2);
        put(b, name("cpu"), 2);
        put(b, 0, 4);
    }
}

static void put_enums(struct bytes *b, const struct test_schema *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned labels = 0;
        while (labels < 8 && s->enums[i].labels[labels])
            labels++;
        put(b, name(s->enums[i].name), 2);
        put(b, labels, 2);
        for (unsigned k = 0; k < labels; k++) {
            put(b, k, 2);
            put(b, name(s->enums[i].labels[k]), 2);
        }
    }
}

unsigned char *schema_bytes(const struct test_schema *s, size_t *size)
{
    struct bytes b = {0};
    pool = (struct bytes){0};
    unsigned scopes = 0, enums = 0, storages = 0, events = 0;
    while (scopes < 4 && s->scopes[scopes])
        scopes++;
    while (enums < 4 && s->enums[enums].name)
        enums++;
    while (storages < 260 && s->storages[storages].name)
        storages++;
    while (events < 12 && s->events[events].name)
        events++;
    put(&b, enums, 1);
    put(&b, 1, 1);
    put(&b, scopes + 1, 2);
    put(&b, storages, 2);
    put(&b, events, 2);
    put(&b, 0, 2);
    put(&b, 0, 2);
    put(&b, name("core_clk"), 2);
    put(&b, 0, 2);
    put(&b, 1000, 4);
    put_scopes(&b, s, scopes);
    put_enums(&b, s, enums);
    for (unsigned i = 0; i < storages; i++) {
        const struct test_storage *d = &s->storages[i];
        unsigned fields = count_fields(d->fields, 12), properties = count_fields(d->properties, 4);
        put(&b, name(d->name), 2);
        put(&b, i, 2);
        put(&b, d->slots, 2);
        put(&b, fields, 2);
        put(&b, d->flags, 2);
        put(&b, d->scope, 2);
        put(&b, properties, 2);
        put(&b, 0, 2);
        put_fields(&b, d->fields, fields);
        put_fields(&b, d->properties, properties);
    }
    for (unsigned i = 0; i < events; i++) {
        const struct test_event *d = &s->events[i];
        unsigned fields = count_fields(d->fields, 12);
        put(&b, name(d->name), 2);
        put(&b, i, 2);
        put(&b, fields, 2);
        put(&b, d->scope, 2);
        put_fields(&b, d->fields, fields);
    }
    b.at[10] = (unsigned char)b.size;
    b.at[11] = (unsigned char)(b.size >> 8);
    b.at = realloc(b.at, b.size + pool.size);
    memcpy(b.at + b.size, pool.at, pool.size);
    *size = b.size + pool.size;
    free(pool.at);
    return b.at;
}
