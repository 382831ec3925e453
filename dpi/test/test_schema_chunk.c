/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of the binary schema chunk: what it finds, and bytes that make no sense. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "record/recording.h"
#include "schema_bytes.h"

static struct uscopei_schema *decode(const unsigned char *bytes, size_t size, uscopei_code *code)
{
    const char *detail = NULL;
    *code = E_NONE;
    /* an exact copy: a read after the end is then found by the sanitizer */
    unsigned char *exact = malloc(size ? size : 1);
    memcpy(exact, bytes, size);
    struct uscopei_schema *schema = uscopei_schema_decode(exact, size, code, &detail);
    free(exact);
    CHECK(schema || (*code != E_NONE && detail));
    return schema;
}

TEST(shapes_names_and_limits_are_those_of_the_schema)
{
    size_t size;
    uscopei_code code;
    unsigned char *bytes = schema_bytes(&core_schema, &size);
    struct uscopei_schema *s = decode(bytes, size, &code);
    CHECK(s);
    CHECK_NUMBER(s->num_storages, 6);
    CHECK_NUMBER(s->num_events, 6);
    CHECK_TEXT(s->storage_infos[ROB].name, "core0/rob");
    CHECK_TEXT(s->storage_infos[TEXTS].name, "texts");
    CHECK_TEXT(s->storage_infos[WIDE_DENSE].name, "wide");
    CHECK(s->storage_infos[ROB].sparse && !s->storage_infos[COMMITTED].sparse);
    CHECK_NUMBER(s->storages[ROB].num_slots, 256);
    CHECK_NUMBER(s->properties[ROB].count, 2);
    CHECK_TEXT(s->field_infos[s->properties[ROB].first + 1].name, "allocate_ptr");
    CHECK_NUMBER(s->storage_infos[ENTITIES].slot_size, 4 + 8 + 4 + 2 + 1 + 1);
    CHECK_NUMBER(s->events[EIGHT].size, 30);
    CHECK_NUMBER(s->event_fields[s->events[EIGHT].first_field + 3].offset, 7);
    CHECK_NUMBER(s->events[BARE].size, 0);
    CHECK_TEXT(s->event_names[FLUSH], "core0/flush");
    CHECK_NUMBER(s->num_enums, 2);
    CHECK_TEXT(s->labels[s->enums[1].first_label + 1].name, "exception");
    CHECK(s->has_strings);
    uscopei_schema_destroy(s);
    free(bytes);
}

TEST(an_empty_schema_is_legal)
{
    static const unsigned char empty[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12};
    uscopei_code code;
    struct uscopei_schema *s = decode(empty, sizeof empty, &code);
    CHECK(s);
    CHECK_NUMBER(s->num_storages, 0);
    uscopei_schema_destroy(s);
}

TEST(a_chunk_cut_anywhere_is_refused)
{
    size_t size;
    unsigned char *bytes = schema_bytes(&core_schema, &size);
    for (size_t cut = 0; cut < size; cut++) {
        uscopei_code code;
        CHECK(!decode(bytes, cut, &code));
        CHECK(code == E_FORMAT_LENGTH || code == E_FORMAT_STRING_POOL);
    }
    free(bytes);
}

TEST(flipped_bytes_are_refused_or_decoded_but_do_no_harm)
{
    size_t size;
    unsigned char *bytes = schema_bytes(&core_schema, &size);
    unsigned refused = 0;
    for (size_t at = 0; at < size; at++) {
        for (int bit = 0; bit < 8; bit++) {
            uscopei_code code;
            bytes[at] ^= (unsigned char)(1 << bit);
            struct uscopei_schema *s = decode(bytes, size, &code);
            refused += !s;
            uscopei_schema_destroy(s);
            bytes[at] ^= (unsigned char)(1 << bit);
        }
    }
    CHECK(refused > 100);
    free(bytes);
}

TEST(scopes_that_are_their_own_parents_are_refused)
{
    struct test_schema loop = {.scopes = {"a", "b"}, .storages = {{"s", 2, 1, 0, {{"f", 1, 0}}, {{0}}}}};
    size_t size;
    unsigned char *bytes = schema_bytes(&loop, &size);
    /* header 12, clock 8, root 12, scope 1: 12, scope 2 with its parent at 4 */
    bytes[12 + 8 + 24 + 4] = 2;
    uscopei_code code;
    CHECK(!decode(bytes, size, &code));
    CHECK_NUMBER(code, E_FORMAT_ID);
    free(bytes);
}

TEST(ids_out_of_order_unknown_types_and_enums_are_refused)
{
    struct test_schema s = {.storages = {{"s", 0, 1, 0, {{"f", 1, 0}}, {{0}}}}};
    size_t size;
    uscopei_code code;
    unsigned char *bytes = schema_bytes(&s, &size);
    size_t storage = 12 + 8 + 12;
    bytes[storage + 2] = 1;
    CHECK(!decode(bytes, size, &code));
    CHECK_NUMBER(code, E_FORMAT_ID);
    bytes[storage + 2] = 0;
    bytes[storage + 16 + 2] = 12;
    CHECK(!decode(bytes, size, &code));
    CHECK_NUMBER(code, E_FORMAT_VALUE);
    bytes[storage + 16 + 2] = 11;
    CHECK(!decode(bytes, size, &code));
    CHECK_NUMBER(code, E_FORMAT_ID);
    free(bytes);
}

TEST(texts_are_utf8_or_not)
{
    static const char *const good[] = {"",
                                       "a",
                                       "\x7F",
                                       "\xC2\x80",
                                       "\xDF\xBF",
                                       "\xE0\xA0\x80",
                                       "\xED\x9F\xBF",
                                       "\xEF\xBF\xBF",
                                       "\xF0\x90\x80\x80",
                                       "\xF4\x8F\xBF\xBF",
                                       "0123456789\xC2\xB5"};
    static const char *const bad[] = {"\x80",
                                      "\xBF",
                                      "\xC0\x80",
                                      "\xC1\xBF",
                                      "\xC2",
                                      "\xC2\x41",
                                      "\xE0\x9F\xBF",
                                      "\xE0\xA0",
                                      "\xED\xA0\x80",
                                      "\xF0\x8F\xBF\xBF",
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80",
                                      "\xFF",
                                      "01234567\xC2",
                                      "\xF0\x90\x80",
                                      "\xE1\x80\xC0",
                                      "\xF1\x80\x80\x7F"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(uscopei_valid_utf8((const unsigned char *)good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!uscopei_valid_utf8((const unsigned char *)bad[i], strlen(bad[i])));
}

TEST(numbers_are_written_in_groups_of_four_digits)
{
    static const struct {
        uint64_t value;
        const char *text;
    } cases[] = {{0, "0x0"},
                 {0xFFFF, "0xffff"},
                 {0x10000, "0x1_0000"},
                 {0x100000000, "0x1_0000_0000"},
                 {UINT64_MAX, "0xffff_ffff_ffff_ffff"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        uscopei_format_hex(cases[i].value, text, sizeof text);
        CHECK_TEXT(text, cases[i].text);
    }
}
