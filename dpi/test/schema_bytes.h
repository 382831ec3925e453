/* SPDX-License-Identifier: Apache-2.0 */
/* Binary schema chunks (docs/reference/format.md#schema) for tests, written independently of the decoder. */
#ifndef USCOPE_TEST_SCHEMA_BYTES_H
#define USCOPE_TEST_SCHEMA_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct test_field {
    const char *name;
    uint8_t type, enum_id, role;
};

struct test_storage {
    const char *name;
    uint16_t scope, slots, flags;
    struct test_field fields[12], properties[4];
};

struct test_event {
    const char *name;
    uint16_t scope;
    struct test_field fields[12];
};

struct test_enum {
    const char *name;
    const char *labels[8];
};

/** Lists end with the first entry that has no name. */
struct test_schema {
    const char *scopes[4]; /* children of the root, from scope 1 on */
    struct test_enum enums[4];
    struct test_storage storages[260];
    struct test_event events[12];
};

/** The chunk's payload; free it. */
unsigned char *schema_bytes(const struct test_schema *schema, size_t *size);
/** An out-of-order core: see the definition for names and ids. */
extern const struct test_schema core_schema;

enum { ENTITIES, COMMITTED, ROB, SIGNED, TEXTS, WIDE_DENSE };
enum { STAGE, FLUSH, ANNOTATE, EIGHT, FLAGGED, BARE };

#endif
