/* SPDX-License-Identifier: Apache-2.0 */
/* Several fields of a slot in one call: what is common to them is checked once. */
#include "record/append.h"

/* True when every value was good and is appended. */
static inline __attribute__((always_inline)) bool put_fast(void *w, uint16_t storage, uint16_t slot,
                                                           const unsigned long long *values, unsigned n)
{
    struct uscopei_trace *t;
    if (UNLIKELY(!in_frame(w, &t) || storage >= t->num_storages)) return false;
    const struct storage_shape *shape = &t->storages[storage];
    unsigned char *at = t->cursor;
    if (UNLIKELY(slot >= shape->num_slots || n > shape->num_fields ||
                 at + (size_t)(n - 1) * RECORD_BYTES >= t->limit))
        return false;
    const uint64_t *limits = shape->limits;
    uint64_t op = slot_word(shape, ACTION_SET, slot, 0), step = OP_FIELD;
    /* one addition per field: left to itself, the compiler makes a constant for each of them */
    __asm__("" : "+r"(step));
    UNROLL for (unsigned i = 0; i < n; i++, at += RECORD_BYTES, op += step)
    {
        /* what is already written does not count before the cursor has moved */
        if (UNLIKELY(values[i] >= limits[i])) return false;
        if (i % RECORDS_PER_LINE == 0) prefetch_ahead(at);
        store_record(at, op, values[i]);
    }
    t->cursor = at;
    return true;
}

/* As for events (event.c), the careful twin takes the values as they came. */
#define SLOT_PUT(n, parameters, ...)                                                                         \
    static COLD void put_slow##n(void *w, uint16_t storage, uint16_t slot, PARAMETERS parameters)            \
    {                                                                                                        \
        uscopei_put_slow(w, storage, slot, (const unsigned long long[]){__VA_ARGS__}, n);                    \
    }                                                                                                        \
    void uscope_slot_put##n(uscope_writer_t *w, uint16_t storage, uint16_t slot, PARAMETERS parameters)      \
    {                                                                                                        \
        if (UNLIKELY(!put_fast(w, storage, slot, (const unsigned long long[]){__VA_ARGS__}, n)))             \
            put_slow##n(w, storage, slot, __VA_ARGS__);                                                      \
    }
FOR_EACH_COUNT(SLOT_PUT)
#undef SLOT_PUT
