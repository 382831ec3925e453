/* SPDX-License-Identifier: Apache-2.0 */
/* Keys are written in the order in which docs/reference/bridge-protocol.md lists them: encodings are the same
 * in every implementation. */
#include "link/messages.h"

#include <string.h>

/* -- encoding */

static void begin(struct mp_writer *w, const char *type, uint32_t keys)
{
    mp_put_map(w, keys + 1);
    mp_pair_str(w, "t", type);
}

void message_hello(struct mp_writer *w, const char *client, uint32_t pid, uint64_t start)
{
    begin(w, "hello", 4);
    mp_pair_uint(w, "v", USCOPE_PROTOCOL_VERSION);
    mp_pair_str(w, "client", client);
    mp_pair_uint(w, "pid", pid);
    mp_pair_uint(w, "start", start);
}

void message_ping(struct mp_writer *w)
{
    begin(w, "ping", 0);
}

void message_flush(struct mp_writer *w, uint32_t trace, uint32_t epoch)
{
    begin(w, "flush", 2);
    mp_pair_uint(w, "trace", trace);
    mp_pair_uint(w, "epoch", epoch);
}

static void put_dut(struct mp_writer *w, char *const *dut, uint32_t count)
{
    mp_put_str(w, "dut");
    mp_put_map(w, count);
    for (uint32_t i = 0; i < count; i++)
        mp_pair_str(w, dut[2 * i], dut[2 * i + 1]);
}

static uint32_t count_variables(const char *text)
{
    uint32_t count = text && *text ? 1 : 0;
    for (; text && *text; text++)
        count += *text == ',';
    return count;
}

/* "name=value,name=value"; a part without "=" is a name with an empty value, which the daemon judges. */
static void put_variables(struct mp_writer *w, const char *text)
{
    mp_put_str(w, "vars");
    mp_put_map(w, count_variables(text));
    for (;;) {
        size_t length = strcspn(text, ",");
        size_t name = strcspn(text, "=,");
        mp_put_text(w, text, name);
        size_t skip = name < length ? name + 1 : length;
        mp_put_text(w, text + skip, length - skip);
        if (text[length] == 0) return;
        text += length + 1;
    }
}

void message_open(struct mp_writer *w, const struct open_message *open)
{
    uint32_t keys = 4u + (open->schema != NULL) + (open->schema_name != NULL) + (open->num_dut > 0) +
                    (open->interval_ps > 0) + (open->run != NULL) + (open->core != USCOPE_NO_CORE) +
                    (open->schema_sha256 != NULL) + (count_variables(open->variables) > 0) + open->memory +
                    (open->secret != NULL);
    begin(w, "open", keys);
    mp_pair_uint(w, "req", open->req);
    mp_pair_str(w, "name", open->name);
    mp_pair_bin(w, "session", open->session, 16);
    if (open->schema) mp_pair_str(w, "schema", open->schema);
    if (open->schema_name) mp_pair_str(w, "schema_name", open->schema_name);
    if (open->num_dut > 0) put_dut(w, open->dut, open->num_dut);
    if (open->interval_ps > 0) mp_pair_uint(w, "interval_ps", open->interval_ps);
    mp_pair_uint(w, "credit", open->credit);
    if (open->run) mp_pair_bin(w, "run", open->run, 16);
    if (open->core != USCOPE_NO_CORE) mp_pair_uint(w, "core", open->core);
    if (open->schema_sha256) mp_pair_str(w, "schema_sha256", open->schema_sha256);
    if (count_variables(open->variables) > 0) put_variables(w, open->variables);
    if (open->memory) mp_pair_bool(w, "memory", true);
    if (open->secret) mp_pair_bin(w, "secret", open->secret, 32);
}

void message_close(struct mp_writer *w, const struct close_message *close)
{
    uint32_t reasons = 0;
    for (int i = 0; i < E_NUM_OP_CODES; i++)
        reasons += close->by_code[i] > 0;
    begin(w, "close", 6 + (close->skipped > 0));
    mp_pair_uint(w, "trace", close->trace);
    mp_pair_bin(w, "session", close->session, 16);
    mp_pair_uint(w, "frames", close->frames);
    mp_pair_uint(w, "strings", close->strings);
    mp_pair_uint(w, "rejected", close->rejected);
    mp_put_str(w, "reasons");
    mp_put_map(w, reasons);
    for (int i = 0; i < E_NUM_OP_CODES; i++) {
        if (close->by_code[i] > 0) mp_pair_uint(w, uscopei_code_name((uscopei_code)i), close->by_code[i]);
    }
    if (close->skipped > 0) mp_pair_uint(w, "skipped", close->skipped);
}

void message_controlled(struct mp_writer *w, const struct controlled_message *controlled)
{
    bool failed = *controlled->code != 0;
    begin(w, "controlled", failed ? 7 : 5);
    mp_pair_uint(w, "trace", controlled->trace);
    mp_pair_uint(w, "epoch", controlled->epoch);
    mp_pair_uint(w, "done", controlled->done);
    mp_put_str(w, "disabled");
    mp_put_map(w, controlled->num_disabled);
    for (uint32_t i = 0; i < controlled->num_disabled; i++)
        mp_pair_bool(w, controlled->disabled[i], true);
    mp_pair_uint(w, "skipped", controlled->skipped);
    if (!failed) return;
    mp_pair_str(w, "code", controlled->code);
    mp_pair_str(w, "msg", controlled->msg);
}

static void store(unsigned char *out, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

void data_header_encode(const struct data_header *header, unsigned char out[DATA_HEADER_BYTES])
{
    memset(out, 0, DATA_HEADER_BYTES);
    store(out, DATA_MAGIC, 4);
    uint64_t flags = (header->continues ? DATA_CONTINUES : 0u) | (header->in_memory ? DATA_IN_MEMORY : 0u) |
                     (header->lanes ? DATA_LANES : 0u);
    store(out + 4, flags, 2);
    store(out + 6, DATA_HEADER_BYTES, 2);
    store(out + 8, header->trace, 4);
    store(out + 12, header->epoch, 4);
    store(out + 16, header->seq, 8);
    store(out + 24, header->first_frame, 8);
    store(out + 32, header->payload_size, 4);
    if (header->in_memory) store(out + 40, header->offset, 8);
}

/* -- decoding */

static enum message_type type_of(const struct mp_value *value)
{
    static const struct {
        const char *name;
        enum message_type type;
    } types[] = {{"welcome", MSG_WELCOME}, {"opened", MSG_OPENED},  {"ack", MSG_ACK},
                 {"stalled", MSG_STALLED}, {"error", MSG_ERROR},    {"closed", MSG_CLOSED},
                 {"pong", MSG_PONG},       {"control", MSG_CONTROL}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (mp_is(value, types[i].name)) return types[i].type;
    }
    return MSG_UNKNOWN;
}

/*
 * An integer when the key is the one asked for. Some encoders write integers beyond 32 bits as floating
 * point: accepted while exact.
 */
static bool match_uint(const struct mp_value *key, const char *name, const struct mp_value *value,
                       uint64_t *out)
{
    if (!mp_is(key, name)) return false;
    if (value->type == MP_UINT) {
        *out = value->number;
        return true;
    }
    double number = 0;
    if (value->type == MP_FLOAT) memcpy(&number, &value->number, sizeof number);
    if (value->type != MP_FLOAT || !(number >= 0 && number <= 9007199254740992.0) ||
        number != (double)(uint64_t)number)
        return false;
    *out = (uint64_t)number;
    return true;
}

static bool match_stat(const struct mp_value *key, const char *name, const struct mp_value *value,
                       unsigned long long *out)
{
    uint64_t number;
    if (!match_uint(key, name, value, &number)) return false;
    *out = number;
    return true;
}

static bool decode_stats(struct mp_reader *r, uint32_t pairs, struct message *out)
{
    out->has_stats = true;
    uscope_close_stats_t *stats = &out->stats;
    for (uint32_t i = 0; i < pairs; i++) {
        struct mp_value key, value;
        if (!mp_next(r, &key)) return false;
        size_t start = r->at;
        if (!mp_next(r, &value)) return false;
        if (value.type == MP_MAP || value.type == MP_ARRAY) {
            r->at = start;
            if (!mp_skip(r)) return false;
        } else if (mp_is(&key, "path")) {
            out->stats_path = value;
        } else if (mp_is(&key, "status")) {
            out->stats_status = value;
        } else {
            (void)(match_stat(&key, "frames", &value, &stats->frames) ||
                   match_stat(&key, "items", &value, &stats->items) ||
                   match_stat(&key, "strings", &value, &stats->strings) ||
                   match_stat(&key, "segments", &value, &stats->segments) ||
                   match_stat(&key, "bytes", &value, &stats->bytes) ||
                   match_stat(&key, "total_time_ps", &value, &stats->total_time_ps) ||
                   match_stat(&key, "rejected", &value, &stats->rejected) ||
                   match_stat(&key, "lost", &value, &stats->lost));
        }
    }
    return true;
}

static void take_pair(const struct mp_value *key, const struct mp_value *value, struct message *out)
{
    if (mp_is(key, "t"))
        out->type = type_of(value);
    else if (mp_is(key, "code"))
        out->code = *value;
    else if (mp_is(key, "msg"))
        out->msg = *value;
    else if (mp_is(key, "path"))
        out->path = *value;
    else if (mp_is(key, "schema"))
        out->schema = *value;
    else if (mp_is(key, "action"))
        out->action = *value;
    else if (mp_is(key, "scope"))
        out->scope = *value;
    else if (mp_is(key, "text"))
        out->text = *value;
    else if (mp_is(key, "session")) {
        out->session = *value;
        out->has_session = value->type == MP_BIN && value->count == 16;
    } else if (mp_is(key, "retry"))
        out->retry = value->type == MP_BOOL && value->number;
    else if (mp_is(key, "memory"))
        out->memory = value->type == MP_BOOL && value->number;
    else if (mp_is(key, "lanes"))
        out->lanes = value->type == MP_BOOL && value->number;
    else if (match_uint(key, "v", value, &out->v))
        out->has_v = true;
    else if (match_uint(key, "number", value, &out->number))
        out->has_number = true;
    else if (match_uint(key, "req", value, &out->req))
        out->has_req = true;
    else if (match_uint(key, "trace", value, &out->trace))
        out->has_trace = true;
    else if (match_uint(key, "epoch", value, &out->epoch))
        out->has_epoch = true;
    else if (match_uint(key, "frames", value, &out->frames))
        out->has_frames = true;
    else if (match_uint(key, "strings", value, &out->strings))
        out->has_strings = true;
    else if (!match_uint(key, "interval_ps", value, &out->interval_ps))
        (void)match_uint(key, "credit", value, &out->credit);
}

bool message_decode(const void *bytes, size_t size, struct message *out)
{
    memset(out, 0, sizeof *out);
    struct mp_reader r = {bytes, size, 0};
    struct mp_value map, key, value;
    bool has_type = false;
    if (!mp_next(&r, &map) || map.type != MP_MAP) return false;
    for (uint32_t i = 0; i < map.count; i++) {
        if (!mp_next(&r, &key) || key.type != MP_STR) return false;
        size_t start = r.at;
        if (!mp_next(&r, &value)) return false;
        if (mp_is(&key, "t")) has_type = value.type == MP_STR;
        if (value.type == MP_MAP && mp_is(&key, "stats")) {
            if (!decode_stats(&r, value.count, out)) return false;
        } else if (value.type == MP_MAP || value.type == MP_ARRAY) {
            r.at = start;
            if (!mp_skip(&r)) return false;
        } else {
            take_pair(&key, &value, out);
        }
    }
    return has_type && r.at == size;
}

void message_text(const struct mp_value *value, char *out, size_t size)
{
    size_t length = value->type == MP_STR ? value->count : 0;
    if (length >= size) length = size - 1;
    if (length > 0) memcpy(out, value->bytes, length);
    out[length] = 0;
}
