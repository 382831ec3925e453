/* SPDX-License-Identifier: Apache-2.0 */
/* MessagePack: smallest encodings, round trips, and bytes that lie. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "link/messages.h"

static uint64_t random_state = 88172645463325252ull;
static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

TEST(integers_take_the_smallest_encoding_and_come_back)
{
    static const struct {
        uint64_t value;
        size_t size;
    } cases[] = {{0, 1},     {127, 1},   {128, 2},        {255, 2},        {256, 3},
                 {65535, 3}, {65536, 5}, {UINT32_MAX, 5}, {1ull << 32, 9}, {UINT64_MAX, 9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mp_writer w = {0};
        struct mp_value v;
        mp_put_uint(&w, cases[i].value);
        CHECK_NUMBER(w.size, cases[i].size);
        struct mp_reader r = {w.bytes, w.size, 0};
        CHECK(mp_next(&r, &v));
        CHECK_NUMBER(v.type, MP_UINT);
        CHECK_NUMBER(v.number, cases[i].value);
        CHECK_NUMBER(r.at, w.size);
        mp_free(&w);
    }
}

TEST(texts_and_bytes_of_every_length_class_come_back)
{
    static const uint32_t sizes[] = {0, 1, 31, 32, 255, 256, 65535, 65536, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *text = malloc(sizes[i] + 1);
        memset(text, 'x', sizes[i]);
        text[sizes[i]] = 0;
        struct mp_writer w = {0};
        mp_put_str(&w, text);
        mp_put_bin(&w, text, sizes[i]);
        struct mp_reader r = {w.bytes, w.size, 0};
        struct mp_value v;
        CHECK(mp_next(&r, &v));
        CHECK(v.type == MP_STR && v.count == sizes[i] && memcmp(v.bytes, text, sizes[i]) == 0);
        CHECK(mp_next(&r, &v));
        CHECK(v.type == MP_BIN && v.count == sizes[i] && memcmp(v.bytes, text, sizes[i]) == 0);
        CHECK(!mp_next(&r, &v));
        mp_free(&w);
        free(text);
    }
}

TEST(every_kind_of_number_is_read)
{
    static const unsigned char bytes[] = {0xE0, 0xD0, 0x80, 0xD0, 5,    0xD1, 0xFF, 0x00, 0xD2, 0xFF,
                                          0xFF, 0xFF, 0xFE, 0xD3, 0,    0,    0,    0,    0,    0,
                                          0,    9,    0xCA, 0x41, 0x28, 0,    0,    0xC0, 0xC3};
    static const struct {
        enum mp_type type;
        uint64_t number;
    } expected[] = {{MP_INT, (uint64_t)-32},
                    {MP_INT, (uint64_t)-128},
                    {MP_UINT, 5},
                    {MP_INT, (uint64_t)-256},
                    {MP_INT, (uint64_t)-2},
                    {MP_UINT, 9},
                    {MP_FLOAT, 0x4025000000000000},
                    {MP_NIL, 0},
                    {MP_BOOL, 1}};
    struct mp_reader r = {bytes, sizeof bytes, 0};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct mp_value v;
        CHECK(mp_next(&r, &v));
        CHECK_NUMBER(v.type, expected[i].type);
        CHECK_NUMBER(v.number, expected[i].number);
    }
    CHECK_NUMBER(r.at, sizeof bytes);
}

TEST(sizes_that_promise_more_than_there_is_are_refused)
{
    static const unsigned char lies[][6] = {{0xC6, 0xFF, 0xFF, 0xFF, 0xFF, 0},
                                            {0xDB, 0xFF, 0xFF, 0xFF, 0xFF, 0},
                                            {0xDD, 0xFF, 0xFF, 0xFF, 0xFF, 0},
                                            {0xDF, 0x80, 0, 0, 0, 0},
                                            {0xC9, 0xFF, 0xFF, 0xFF, 0xFF, 0},
                                            {0xC1, 0, 0, 0, 0, 0},
                                            {0xAF, 'a', 0, 0, 0, 0},
                                            {0x8F, 0, 0, 0, 0, 0},
                                            {0xD8, 0, 0, 0, 0, 0}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct mp_reader r = {lies[i], sizeof lies[i], 0};
        CHECK(!mp_skip(&r));
    }
}

TEST(nesting_without_end_is_refused)
{
    unsigned char bytes[4096];
    memset(bytes, 0x91, sizeof bytes);
    struct mp_reader r = {bytes, sizeof bytes, 0};
    CHECK(!mp_skip(&r));
    memset(bytes, 0x90, sizeof bytes);
    memset(bytes, 0x91, 20);
    r.at = 0;
    CHECK(mp_skip(&r));
    CHECK_NUMBER(r.at, 21);
}

static void put_opened(struct mp_writer *w)
{
    mp_put_map(w, 8);
    mp_pair_str(w, "t", "opened");
    mp_pair_uint(w, "req", 1);
    mp_pair_uint(w, "trace", 300);
    mp_pair_uint(w, "epoch", 70000);
    mp_pair_bin(w, "schema", "0123456789", 10);
    mp_put_str(w, "extra");
    mp_put_map(w, 1);
    mp_pair_uint(w, "frames", 99);
    mp_pair_uint(w, "frames", 1ull << 40);
    mp_pair_str(w, "path", "/a/b");
}

TEST(a_message_cut_anywhere_is_refused)
{
    struct mp_writer w = {0};
    put_opened(&w);
    struct message m;
    CHECK(message_decode(w.bytes, w.size, &m));
    CHECK_NUMBER(m.type, MSG_OPENED);
    CHECK_NUMBER(m.frames, 1ull << 40);
    CHECK_NUMBER(m.trace, 300);
    for (size_t size = 0; size < w.size; size++) {
        unsigned char *cut = malloc(size + 1);
        memcpy(cut, w.bytes, size);
        CHECK(!message_decode(cut, size, &m));
        free(cut);
    }
    mp_free(&w);
}

TEST(no_bytes_whatever_do_harm)
{
    struct mp_writer w = {0};
    put_opened(&w);
    struct message m;
    for (int i = 0; i < 200000; i++) {
        unsigned char bytes[256];
        size_t size = w.size;
        memcpy(bytes, w.bytes, size);
        if (i % 2) {
            size = next_random() % 64;
            for (size_t k = 0; k < size; k++)
                bytes[k] = (unsigned char)next_random();
        }
        for (unsigned k = 0; k < 1 + next_random() % 3 && size > 0; k++)
            bytes[next_random() % size] = (unsigned char)next_random();
        unsigned char *exact = malloc(size + 1);
        memcpy(exact, bytes, size);
        if (message_decode(exact, size, &m)) {
            char text[20];
            message_text(&m.path, text, sizeof text);
            CHECK(strlen(text) < sizeof text);
        }
        free(exact);
    }
    mp_free(&w);
}
