/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The golden messages of test/vectors/bridge: what this client encodes must equal them byte for byte, what it
 * decodes must mean what the JSON next to them says. USCOPE_VECTORS names the directory; vectors that are not
 * there are skipped and counted.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "client.h"
#include "link/messages.h"
#include "record/recording.h"

#ifndef VECTORS
#define VECTORS "../test/vectors/bridge"
#endif

/* A secret, and the id of its session. */
static const uint8_t secret[32] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a,
                                   0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15,
                                   0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f};
static const uint8_t owned[16] = {0x63, 0x0d, 0xcd, 0x29, 0x66, 0xc4, 0x33, 0x66,
                                  0x91, 0x12, 0x54, 0x48, 0xbb, 0xb2, 0x5b, 0x4f};
static const uint8_t session[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                    0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF};

struct vector {
    unsigned char *bytes;
    size_t size;
};

static struct vector load(const char *name)
{
    char path[512];
    const char *directory = getenv("USCOPE_VECTORS");
    snprintf(path, sizeof path, "%s/%s", directory ? directory : VECTORS, name);
    FILE *file = fopen(path, "rb");
    struct vector v = {0};
    if (!file) test_fail(__FILE__, __LINE__, "no vector %s", path);
    v.bytes = malloc(1 << 16);
    v.size = fread(v.bytes, 1, 1 << 16, file);
    fclose(file);
    return v;
}

static void same(const char *name, const unsigned char *bytes, size_t size)
{
    struct vector v = load(name);
    size_t common = size < v.size ? size : v.size;
    for (size_t i = 0; i < common; i++) {
        if (bytes[i] != v.bytes[i])
            test_fail(__FILE__, __LINE__, "%s: byte %zu is %02x, expected %02x", name, i, bytes[i],
                      v.bytes[i]);
    }
    CHECK_NUMBER(size, v.size);
    free(v.bytes);
}

static struct message decoded(const char *name)
{
    static struct vector v; /* the message points into it */
    free(v.bytes);
    v = load(name);
    struct message m;
    CHECK(message_decode(v.bytes, v.size, &m));
    return m;
}

#define SAME(name)                                                                                           \
    do {                                                                                                     \
        same(name, w.bytes, w.size);                                                                         \
        mp_free(&w);                                                                                         \
    } while (0)

TEST(what_the_client_says_is_encoded_as_agreed)
{
    struct mp_writer w = {0};
    message_hello(&w, "uscope-c 0.1.0", 4242, 123456789012);
    SAME("hello.bin");
    message_ping(&w);
    SAME("ping.bin");
    static const uint8_t run[16] = {0xF0, 0xE0, 0xD0, 0xC0, 0xB0, 0xA0, 0x90, 0x80,
                                    0x70, 0x60, 0x50, 0x40, 0x30, 0x20, 0x10, 0};
    char *dut[] = {(char[]){"core"}, (char[]){"µ-core"}, (char[]){"rev"}, (char[]){"a1"}};
    message_open(&w,
                 &(struct open_message){
                     .req = 7,
                     .name = "soc/core0",
                     .session = session,
                     .schema = "clocks:\n  core: 1ns\nstorages:\n  rob: { slots: 4, fields: { pc: u64 } }\n",
                     .schema_name = "core.yaml",
                     .dut = dut,
                     .num_dut = 2,
                     .interval_ps = 10000000,
                     .credit = 33554432,
                     .run = run,
                     .core = 0});
    SAME("open.bin");
    message_open(&w,
                 &(struct open_message){
                     .req = 128, .name = "a", .session = session, .credit = 65536, .core = USCOPE_NO_CORE});
    SAME("open-minimal.bin");
    message_open(&w, &(struct open_message){
                         .req = 1,
                         .name = "core7",
                         .session = owned,
                         .credit = 65536,
                         .core = 7,
                         .schema_sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                         .variables = "core=7,rev=b=2",
                         .memory = true,
                         .secret = secret,
                     });
    SAME("open-generated.bin");
    uint8_t digest[SHA256_BYTES];
    uscopei_sha256(secret, sizeof secret, digest);
    CHECK(memcmp(digest, owned, sizeof owned) == 0);
    message_flush(&w, 3, 65536);
    SAME("flush.bin");
    uint64_t by_code[E_NUM_OP_CODES] = {[E_OP_SLOT] = 2, [E_OP_TIME] = 1};
    message_close(&w, &(struct close_message){3, session, 1000, 12, 3, by_code, 0});
    SAME("close.bin");
    message_close(&w, &(struct close_message){3, session, 1000, 12, 3, by_code, 70000});
    SAME("close-skipped.bin");
    static const char *const disabled[] = {"core0/lsu", "noc"};
    message_controlled(&w, &(struct controlled_message){3, 65536, 9, 70000, disabled, 2, "", ""});
    SAME("controlled.bin");
    message_controlled(&w,
                       &(struct controlled_message){3, 65536, 10, 0, NULL, 0, "OP_SCOPE", "no scope \"x\""});
    SAME("controlled-failed.bin");
}

TEST(data_headers_are_encoded_as_agreed)
{
    unsigned char bytes[DATA_HEADER_BYTES];
    data_header_encode(
        &(struct data_header){
            .trace = 3, .epoch = 65536, .seq = 2, .first_frame = 1000, .payload_size = 65536},
        bytes);
    same("data-header.bin", bytes, sizeof bytes);
    data_header_encode(&(struct data_header){.continues = true,
                                             .trace = 4294967295,
                                             .epoch = 16909060,
                                             .seq = 1234605616436508552,
                                             .first_frame = 18441921395520346504u,
                                             .payload_size = 1048576},
                       bytes);
    same("data-header-continues.bin", bytes, sizeof bytes);
    data_header_encode(&(struct data_header){.continues = true,
                                             .trace = 3,
                                             .epoch = 65536,
                                             .seq = 1,
                                             .first_frame = 5,
                                             .payload_size = 160,
                                             .in_memory = true,
                                             .offset = 4294971392},
                       bytes);
    same("data-header-in-memory.bin", bytes, sizeof bytes);
    data_header_encode(&(struct data_header){.continues = true,
                                             .lanes = true,
                                             .trace = 3,
                                             .epoch = 65536,
                                             .seq = 3,
                                             .first_frame = 6,
                                             .payload_size = 48},
                       bytes);
    same("data-header-lanes.bin", bytes, sizeof bytes);
}

TEST(what_the_daemon_says_is_understood)
{
    struct message m = decoded("welcome.bin");
    CHECK(m.type == MSG_WELCOME && m.has_v && m.v == 1);
    m = decoded("opened.bin");
    CHECK(m.type == MSG_OPENED && m.req == 7 && m.trace == 3 && m.epoch == 3735928559 &&
          m.frames == 4294967296);
    CHECK(m.strings == 300 && m.interval_ps == 10000000 && m.credit == 16777216);
    CHECK(m.schema.type == MP_BIN && m.schema.bytes[0] == 1 && m.schema.bytes[m.schema.count - 1] == 8);
    CHECK(mp_is(&m.path, "/data/out/soc/core0.uscope"));
    m = decoded("opened-memory.bin");
    CHECK(m.type == MSG_OPENED && m.memory && !m.lanes && m.trace == 1 && m.epoch == 2);
    m = decoded("opened-lanes.bin");
    CHECK(m.type == MSG_OPENED && m.memory && m.lanes && m.trace == 1 && m.epoch == 2);
    m = decoded("ack.bin");
    CHECK(m.type == MSG_ACK && m.trace == 3 && m.epoch == 65536 && m.frames == 1000);
    m = decoded("ack-64-bit.bin");
    CHECK(m.type == MSG_ACK && m.frames > UINT32_MAX);
    m = decoded("ack-unknown-keys.bin");
    CHECK(m.type == MSG_ACK && m.trace == 3 && m.epoch == 9 && m.frames == 5);
    m = decoded("ack-wide-integers.bin");
    CHECK(m.type == MSG_ACK && m.trace == 3 && m.epoch == 9 && m.frames == 5);
    m = decoded("stalled.bin");
    CHECK(m.type == MSG_STALLED && m.trace == 3 && mp_is(&m.code, "WRITER_DISK_FULL"));
    m = decoded("control.bin");
    CHECK(m.type == MSG_CONTROL && m.trace == 3 && m.epoch == 65536 && m.has_number && m.number == 9);
    CHECK(mp_is(&m.action, "disable") && mp_is(&m.scope, "core0/lsu") && m.text.type == MP_BAD);
    m = decoded("control-trigger.bin");
    CHECK(m.number == 4294967295 && mp_is(&m.action, "trigger") && mp_is(&m.text, "hang at 5 µs"));
    m = decoded("pong.bin");
    CHECK(m.type == MSG_PONG);
    m = decoded("closed.bin");
    CHECK(m.type == MSG_CLOSED && m.has_session && memcmp(m.session.bytes, session, 16) == 0 && m.has_stats);
    CHECK(m.stats.frames == 1000 && m.stats.items == 7000 && m.stats.strings == 12 && m.stats.segments == 4);
    CHECK(m.stats.bytes == 34816 && m.stats.total_time_ps == 5000000000 && m.stats.rejected == 3 &&
          m.stats.lost == 0);
    CHECK(mp_is(&m.stats_path, "/data/out/soc/core0.uscope"));
}

TEST(errors_are_understood)
{
    struct message m = decoded("error.bin");
    CHECK(m.type == MSG_ERROR && m.has_trace && m.has_epoch && m.epoch == 65536 && !m.has_req && !m.retry);
    CHECK(mp_is(&m.code, "BRIDGE_RECORD") && mp_is(&m.msg, "slot 9 of \"rob\" is not below 4"));
    m = decoded("error-open.bin");
    CHECK(m.type == MSG_ERROR && m.has_req && m.req == 7 && !m.has_trace);
    m = decoded("error-retry.bin");
    CHECK(m.type == MSG_ERROR && m.has_trace && m.retry && mp_is(&m.code, "BRIDGE_SEQUENCE"));
    m = decoded("error-version.bin");
    CHECK(m.type == MSG_ERROR && m.has_v && m.v == 1 && mp_is(&m.code, "BRIDGE_VERSION"));
}

/* Malformed bytes must be refused; what is well-formed but wrong in its values must at least do no harm. */
TEST(bad_messages_do_no_harm)
{
    static const char *const refused[] = {"bad-empty.bin",
                                          "bad-truncated.bin",
                                          "bad-trailing.bin",
                                          "bad-not-a-map.bin",
                                          "bad-no-type.bin",
                                          "bad-type-not-a-string.bin",
                                          "bad-key-not-a-string.bin",
                                          "bad-map-too-long.bin",
                                          "bad-string-too-long.bin",
                                          "bad-unused-byte.bin"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct vector v = load(refused[i]);
        struct message m;
        if (message_decode(v.bytes, v.size, &m)) test_fail(__FILE__, __LINE__, "%s is accepted", refused[i]);
        free(v.bytes);
    }
    const char *directory = getenv("USCOPE_VECTORS");
    DIR *dir = opendir(directory ? directory : VECTORS);
    CHECK(dir);
    unsigned seen = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strncmp(entry->d_name, "bad-", 4) != 0 || !strstr(entry->d_name, ".bin")) continue;
        struct vector v = load(entry->d_name);
        struct message m;
        message_decode(v.bytes, v.size, &m);
        free(v.bytes);
        seen++;
    }
    closedir(dir);
    CHECK(seen >= sizeof refused / sizeof *refused);
}

/* -- records, through the calls themselves */

static struct fake_daemon *start_vector_daemon(void)
{
    static struct test_schema s = {
        .events = {{"e0", 0, {{0}}},
                   {"e1", 0, {{"a", FT_U8, 0}}},
                   {"e2", 0, {{0}}},
                   {"e3", 0, {{0}}},
                   {"e4", 0, {{"a", FT_U64, 0}}},
                   {"e5", 0, {{"a", FT_U64, 0}, {"b", FT_U8, 0}}},
                   {"e6", 0, {{"a", FT_U64, 0}, {"b", FT_U64, 0}, {"c", FT_U64, 0}}},
                   {"e7", 0, {{"a", FT_U64, 0}, {"b", FT_U64, 0}, {"c", FT_U64, 0}, {"d", FT_U8, 0}}}}};
    static char names[259][8];
    for (unsigned i = 0; i < 259; i++) {
        snprintf(names[i], sizeof names[i], "s%u", i);
        s.storages[i] = (struct test_storage){
            names[i], 0, 512, 1, {{"a", FT_U64, 0}, {"b", FT_U64, 0}}, {{"p", FT_U16, 0}, {"q", FT_U16, 0}}};
    }
    size_t size;
    unsigned char *bytes = schema_bytes(&s, &size);
    struct fake_daemon *d = fake_new(test_endpoint(), bytes, size);
    free(bytes);
    fake_start(d);
    capture_messages();
    return d;
}

TEST(a_frame_is_recorded_as_agreed)
{
    struct fake_daemon *d = start_vector_daemon();
    uscope_writer_t *w = open_trace("v");
    for (int i = 0; i < 41; i++) {
        uscope_begin_cycle(w, 0);
        uscope_end_cycle(w);
    }
    unsigned char bytes[25];
    for (unsigned i = 0; i < 25; i++)
        bytes[i] = (unsigned char)(i + 1);
    uscope_begin_cycle(w, 4294971296);
    uscope_slot_set(w, 2, 3, 1, 2147483648);
    uscope_slot_add(w, 258, 0, 0, UINT64_MAX);
    uscope_slot_clear(w, 2, 511);
    uscope_prop_set(w, 2, 1, 7);
    uscope_event1(w, 1, 0xAA);
    uscope_event1(w, 4, 0x0807060504030201);
    uscope_event2(w, 5, 0x0807060504030201, 9);
    uscope_event(w, 6, bytes);
    uscope_event_bytes(w, 7, bytes, 25);
    uscope_end_cycle(w);
    uscope_begin_cycle(w, 4294971296);
    uscope_end_cycle(w);
    uscope_close(w);
    struct fake_log log = log_of(d, "v");
    same("records-frame.bin", log.records + 41 * 32, log.size - 41 * 32);
    finish(d, 0);
}

TEST(strings_are_recorded_as_agreed)
{
    struct fake_daemon *d = start_vector_daemon();
    uscope_writer_t *w = open_trace("v");
    uscope_string(w, "");
    uscope_string(w, "ADDI x1, x2");
    uscope_string(w, "sixteen bytes ..");
    uscope_string(w, "µScope: 17 bytes");
    uscope_begin_cycle(w, 0);
    uscope_end_cycle(w);
    uscope_close(w);
    struct fake_log log = log_of(d, "v");
    struct vector v = load("records-string.bin");
    CHECK_NUMBER(log.size, v.size + 32);
    /* an index beyond 32 bits cannot come from this client: its place is all that differs */
    unsigned char last[16];
    put_string(last, 17, 4294967299);
    CHECK(memcmp(v.bytes, log.records, 0x50) == 0);
    CHECK(memcmp(v.bytes + 0x50, last, 16) == 0);
    CHECK(memcmp(v.bytes + 0x60, log.records + 0x60, 32) == 0);
    free(v.bytes);
    finish(d, 0);
}

static void same_record(const struct vector *v, unsigned number, uint64_t word, uint64_t value)
{
    _Alignas(16) unsigned char bytes[16];
    put_record(bytes, word, value);
    CHECK(memcmp(v->bytes + 16 * number, bytes, 16) == 0);
}

TEST(lane_records_are_recorded_as_agreed)
{
    const uint64_t values = 0x8877665544332211;
    struct vector v = load("records-lanes.bin");
    same_record(&v, 2, add_lanes_word(200), 9223372043297226753u);
    same_record(&v, 3, add_lanes_word(65535), 1);
    same_record(&v, 5, set_lanes_word(2, 500, 1) | 133 << LANE_SHIFT, values);
    same_record(&v, 7, event_lanes_word(4, 8, 61) | 66 << LANE_SHIFT, values);
    same_record(&v, 8, event_lanes_word(4, 2, 8) | 128 << LANE_SHIFT, values);
    free(v.bytes);
}

TEST(snapshots_are_recorded_as_agreed)
{
    struct vector v = load("records-snapshot.bin");
    _Alignas(16) unsigned char head[16];
    put_snapshot(head, 2, 32, 0, 33);
    CHECK(memcmp(v.bytes, head, 16) == 0);
    put_snapshot(head, 2, 1, 32, 33);
    CHECK(memcmp(v.bytes + 48, head, 16) == 0);
    free(v.bytes);
}
