/* SPDX-License-Identifier: Apache-2.0 */
#include "link/msgpack.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 32 };

/* -- writing */

void mp_free(struct mp_writer *w)
{
    free(w->bytes);
    *w = (struct mp_writer){0};
}

static void put_bytes(struct mp_writer *w, const void *bytes, size_t size)
{
    if (w->failed || size == 0) return;
    if (w->room - w->size < size) {
        size_t room = (w->size + size) * 2 + 64;
        unsigned char *larger = realloc(w->bytes, room);
        if (!larger) {
            w->failed = true;
            return;
        }
        w->bytes = larger;
        w->room = room;
    }
    memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
}

/* A type byte and a big-endian number of `width` bytes. */
static void put_head(struct mp_writer *w, unsigned type, uint64_t number, unsigned width)
{
    unsigned char head[9] = {(unsigned char)type};
    for (unsigned i = 0; i < width; i++)
        head[1 + i] = (unsigned char)(number >> (8 * (width - 1 - i)));
    put_bytes(w, head, 1 + width);
}

void mp_put_uint(struct mp_writer *w, uint64_t value)
{
    if (value < 0x80)
        put_head(w, (unsigned)value, 0, 0);
    else if (value <= UINT8_MAX)
        put_head(w, 0xCC, value, 1);
    else if (value <= UINT16_MAX)
        put_head(w, 0xCD, value, 2);
    else if (value <= UINT32_MAX)
        put_head(w, 0xCE, value, 4);
    else
        put_head(w, 0xCF, value, 8);
}

void mp_put_map(struct mp_writer *w, uint32_t entries)
{
    if (entries < 16)
        put_head(w, 0x80 | entries, 0, 0);
    else if (entries <= UINT16_MAX)
        put_head(w, 0xDE, entries, 2);
    else
        put_head(w, 0xDF, entries, 4);
}

void mp_put_text(struct mp_writer *w, const char *text, size_t size)
{
    if (size < 32)
        put_head(w, 0xA0 | (unsigned)size, 0, 0);
    else if (size <= UINT8_MAX)
        put_head(w, 0xD9, size, 1);
    else if (size <= UINT16_MAX)
        put_head(w, 0xDA, size, 2);
    else
        put_head(w, 0xDB, size, 4);
    put_bytes(w, text, size);
}

void mp_put_str(struct mp_writer *w, const char *text)
{
    mp_put_text(w, text, strlen(text));
}

void mp_put_bin(struct mp_writer *w, const void *bytes, uint32_t size)
{
    if (size <= UINT8_MAX)
        put_head(w, 0xC4, size, 1);
    else if (size <= UINT16_MAX)
        put_head(w, 0xC5, size, 2);
    else
        put_head(w, 0xC6, size, 4);
    put_bytes(w, bytes, size);
}

void mp_put_bool(struct mp_writer *w, bool value)
{
    put_head(w, value ? 0xC3 : 0xC2, 0, 0);
}

void mp_pair_uint(struct mp_writer *w, const char *key, uint64_t value)
{
    mp_put_str(w, key);
    mp_put_uint(w, value);
}

void mp_pair_str(struct mp_writer *w, const char *key, const char *text)
{
    mp_put_str(w, key);
    mp_put_str(w, text);
}

void mp_pair_bool(struct mp_writer *w, const char *key, bool value)
{
    mp_put_str(w, key);
    mp_put_bool(w, value);
}

void mp_pair_bin(struct mp_writer *w, const char *key, const void *bytes, uint32_t size)
{
    mp_put_str(w, key);
    mp_put_bin(w, bytes, size);
}

/* -- reading */

static bool get_number(struct mp_reader *r, unsigned width, uint64_t *number)
{
    if (r->size - r->at < width) return false;
    *number = 0;
    for (unsigned i = 0; i < width; i++)
        *number = *number << 8 | r->bytes[r->at + i];
    r->at += width;
    return true;
}

/* Bytes are only promised when they are there. */
static bool get_bytes(struct mp_reader *r, enum mp_type type, uint64_t size, struct mp_value *value)
{
    if (size > r->size - r->at) return false;
    value->type = type;
    value->bytes = r->bytes + r->at;
    value->count = (uint32_t)size;
    r->at += (size_t)size;
    return true;
}

static bool get_sized(struct mp_reader *r, enum mp_type type, unsigned width, struct mp_value *value)
{
    uint64_t size;
    return get_number(r, width, &size) && get_bytes(r, type, size, value);
}

/* Every element takes a byte at least, every pair two: a count beyond that is a lie. */
static bool get_container(struct mp_reader *r, enum mp_type type, uint64_t count, struct mp_value *value)
{
    uint64_t least = type == MP_MAP ? 2 * count : count;
    if (least > r->size - r->at) return false;
    value->type = type;
    value->count = (uint32_t)count;
    return true;
}

static bool get_counted(struct mp_reader *r, enum mp_type type, unsigned width, struct mp_value *value)
{
    uint64_t count;
    return get_number(r, width, &count) && get_container(r, type, count, value);
}

static bool get_signed(struct mp_reader *r, unsigned width, struct mp_value *value)
{
    uint64_t number;
    if (!get_number(r, width, &number)) return false;
    unsigned shift = 64 - 8 * width;
    int64_t extended = (int64_t)(number << shift) >> shift;
    value->type = extended < 0 ? MP_INT : MP_UINT;
    value->number = (uint64_t)extended;
    return true;
}

static bool get_unsigned(struct mp_reader *r, enum mp_type type, unsigned width, struct mp_value *value)
{
    value->type = type;
    return get_number(r, width, &value->number);
}

/* A 32-bit float is handed out widened: `number` always holds the bits of a double. */
static bool get_float32(struct mp_reader *r, struct mp_value *value)
{
    uint64_t bits;
    if (!get_number(r, 4, &bits)) return false;
    uint32_t narrow = (uint32_t)bits;
    float single;
    memcpy(&single, &narrow, sizeof single);
    double wide = (double)single;
    memcpy(&value->number, &wide, sizeof wide);
    value->type = MP_FLOAT;
    return true;
}

static bool get_ext(struct mp_reader *r, uint64_t size, struct mp_value *value)
{
    return get_bytes(r, MP_EXT, size + 1, value);
}

static bool get_ext_sized(struct mp_reader *r, unsigned width, struct mp_value *value)
{
    uint64_t size;
    return get_number(r, width, &size) && get_ext(r, size, value);
}

bool mp_next(struct mp_reader *r, struct mp_value *value)
{
    *value = (struct mp_value){0};
    if (r->at >= r->size) return false;
    unsigned type = r->bytes[r->at++];
    if (type < 0x80) {
        value->type = MP_UINT;
        value->number = type;
        return true;
    }
    if (type < 0x90) return get_container(r, MP_MAP, type & 15, value);
    if (type < 0xA0) return get_container(r, MP_ARRAY, type & 15, value);
    if (type < 0xC0) return get_bytes(r, MP_STR, type & 31, value);
    if (type >= 0xE0) {
        value->type = MP_INT;
        value->number = (uint64_t)(int64_t)(int8_t)type;
        return true;
    }
    switch (type) {
    case 0xC0: value->type = MP_NIL; return true;
    case 0xC2:
    case 0xC3:
        value->type = MP_BOOL;
        value->number = type & 1;
        return true;
    case 0xC4: return get_sized(r, MP_BIN, 1, value);
    case 0xC5: return get_sized(r, MP_BIN, 2, value);
    case 0xC6: return get_sized(r, MP_BIN, 4, value);
    case 0xC7: return get_ext_sized(r, 1, value);
    case 0xC8: return get_ext_sized(r, 2, value);
    case 0xC9: return get_ext_sized(r, 4, value);
    case 0xCA: return get_float32(r, value);
    case 0xCB: return get_unsigned(r, MP_FLOAT, 8, value);
    case 0xCC: return get_unsigned(r, MP_UINT, 1, value);
    case 0xCD: return get_unsigned(r, MP_UINT, 2, value);
    case 0xCE: return get_unsigned(r, MP_UINT, 4, value);
    case 0xCF: return get_unsigned(r, MP_UINT, 8, value);
    case 0xD0: return get_signed(r, 1, value);
    case 0xD1: return get_signed(r, 2, value);
    case 0xD2: return get_signed(r, 4, value);
    case 0xD3: return get_signed(r, 8, value);
    case 0xD4:
    case 0xD5:
    case 0xD6:
    case 0xD7:
    case 0xD8: return get_ext(r, UINT64_C(1) << (type - 0xD4), value);
    case 0xD9: return get_sized(r, MP_STR, 1, value);
    case 0xDA: return get_sized(r, MP_STR, 2, value);
    case 0xDB: return get_sized(r, MP_STR, 4, value);
    case 0xDC: return get_counted(r, MP_ARRAY, 2, value);
    case 0xDD: return get_counted(r, MP_ARRAY, 4, value);
    case 0xDE: return get_counted(r, MP_MAP, 2, value);
    case 0xDF: return get_counted(r, MP_MAP, 4, value);
    default: return false; /* 0xC1 */
    }
}

/* Containers nest; what is left to step over on each level is kept in a stack of fixed depth. */
bool mp_skip(struct mp_reader *r)
{
    uint64_t left[MAX_DEPTH];
    unsigned depth = 0;
    left[0] = 1;
    for (;;) {
        while (left[depth] == 0) {
            if (depth == 0) return true;
            depth--;
        }
        left[depth]--;
        struct mp_value value;
        if (!mp_next(r, &value)) return false;
        if (value.type != MP_MAP && value.type != MP_ARRAY) continue;
        if (++depth == MAX_DEPTH) return false;
        left[depth] = value.type == MP_MAP ? 2 * (uint64_t)value.count : value.count;
    }
}

bool mp_is(const struct mp_value *value, const char *text)
{
    size_t size = strlen(text);
    return value->type == MP_STR && value->count == size && memcmp(value->bytes, text, size) == 0;
}
