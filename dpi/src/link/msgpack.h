/* SPDX-License-Identifier: Apache-2.0 */
/* The part of MessagePack that control messages use. Integers take the smallest encoding, so encodings are
 * unique. */
#ifndef USCOPE_MSGPACK_H
#define USCOPE_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Grows as needed; `failed` when memory is exhausted (then nothing more is written). */
struct mp_writer {
    unsigned char *bytes;
    size_t size, room;
    bool failed;
};

void mp_free(struct mp_writer *w);
void mp_put_map(struct mp_writer *w, uint32_t entries);
void mp_put_uint(struct mp_writer *w, uint64_t value);
void mp_put_str(struct mp_writer *w, const char *text);
/** Text that is not zero-terminated. */
void mp_put_text(struct mp_writer *w, const char *text, size_t size);
void mp_put_bin(struct mp_writer *w, const void *bytes, uint32_t size);
void mp_put_bool(struct mp_writer *w, bool value);
/** key and value */
void mp_pair_uint(struct mp_writer *w, const char *key, uint64_t value);
void mp_pair_str(struct mp_writer *w, const char *key, const char *text);
void mp_pair_bool(struct mp_writer *w, const char *key, bool value);
void mp_pair_bin(struct mp_writer *w, const char *key, const void *bytes, uint32_t size);

enum mp_type { MP_BAD, MP_NIL, MP_BOOL, MP_UINT, MP_INT, MP_FLOAT, MP_STR, MP_BIN, MP_ARRAY, MP_MAP, MP_EXT };

/** One value; for containers `count` says how many follow (pairs for a map). Text is not NUL-terminated. */
struct mp_value {
    enum mp_type type;
    uint64_t number;            /* UINT, BOOL; INT as two's complement; FLOAT as the bits of a double */
    const unsigned char *bytes; /* STR, BIN, EXT */
    uint32_t count;             /* of bytes, elements or pairs */
};

struct mp_reader {
    const unsigned char *bytes;
    size_t size, at;
};

/** Reads the next value (of a container: its head). False on bytes that are not a value or end early. */
bool mp_next(struct mp_reader *r, struct mp_value *value);
/** Steps over the next value whole. */
bool mp_skip(struct mp_reader *r);
bool mp_is(const struct mp_value *value, const char *text);

#endif
