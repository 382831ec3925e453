/* SPDX-License-Identifier: Apache-2.0 */
/* Macros, the record format, error codes, messages, configuration: what every part may use. */
#ifndef USCOPE_COMMON_H
#define USCOPE_COMMON_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/constants.h"
#include "uscope.h"

/* Nothing below is seen outside the library; the compiler may address it directly. */
#pragma GCC visibility push(hidden)

#define LIKELY(x)    __builtin_expect(!!(x), 1)
#define UNLIKELY(x)  __builtin_expect(!!(x), 0)
#define COLD         __attribute__((cold, noinline))
/* for loops over the arguments of a call, whose number is constant: they stay in their registers */
#define UNROLL       _Pragma("GCC unroll 8")
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Bridge protocol, docs/reference/bridge-protocol.md#records; the numbers themselves are in constants.h */
enum {
    /* Of a frame; what they hold is not counted while it is written. Each counts as one, and may be 63 more.
     */
    MAX_LANE_RECORDS = 64,
    MAX_LANE_ITEMS = MAX_LANE_RECORDS * (ADD_LANES_MAX - 1),
    MAX_PAYLOAD = MAX_EVENT_PAYLOAD, /* of an event, of a string */
};
_Static_assert((int)MAX_STRING_BYTES == (int)MAX_EVENT_PAYLOAD, "MAX_PAYLOAD is the limit of both");
_Static_assert(USCOPE_PROTOCOL_VERSION == PROTOCOL_VERSION, "what the header promises");

/* ---- error codes */

typedef enum uscopei_code {
    E_NONE,
    /* operations: counted per trace */
    E_OP_STORAGE,
    E_OP_SLOT,
    E_OP_FIELD,
    E_OP_PROPERTY,
    E_OP_EVENT,
    E_OP_PAYLOAD,
    E_OP_VALUE,
    E_OP_TIME,
    E_OP_OUTSIDE_CYCLE,
    E_OP_NESTED_CYCLE,
    E_OP_STRING,
    E_OP_SNAPSHOT,
    E_OP_HANDLE,
    E_OP_SCOPE,
    E_NUM_OP_CODES,
    /* the rest */
    E_SCHEMA_NAME = E_NUM_OP_CODES,
    E_SCHEMA_DUPLICATE,
    E_SCHEMA_LIMIT,
    E_SCHEMA_CLOCK,
    E_FORMAT_TRUNCATED,
    E_FORMAT_LENGTH,
    E_FORMAT_VALUE,
    E_FORMAT_STRING_POOL,
    E_FORMAT_ID,
    E_READER_OPEN,
    E_BRIDGE_VERSION,
    E_BRIDGE_MESSAGE,
    E_BRIDGE_SEQUENCE,
    E_BRIDGE_NAME,
    E_BRIDGE_LIMIT,
    E_BRIDGE_NO_DAEMON,
    E_BRIDGE_LOST,
    E_BRIDGE_ENDPOINT,
    E_BRIDGE_INTERNAL,
    E_BRIDGE_FORKED,
    E_NUM_CODES
} uscopei_code;

const char *uscopei_code_name(uscopei_code code);

/* diagnostics.c */
/** One line to the message handler or stderr; "uscope: " is put before it. */
PRINTF(1, 2) void uscopei_say(const char *format, ...);
void uscopei_set_error(const char *code, const char *message);
PRINTF(2, 3) void uscopei_error(uscopei_code code, const char *format, ...);
/** Sets the thread's error and says it. */
PRINTF(2, 3) void uscopei_error_say(uscopei_code code, const char *format, ...);
/** What follows a failure; returns only to continue untraced. */
void uscopei_failure_policy(void *w, const char *code, const char *message);

/* process.c */
/** A process id is used again; together with the start time it names one process. */
struct uscopei_process {
    uint32_t pid;
    uint64_t start; /* clock ticks since boot; 0: unknown */
};
struct uscopei_process uscopei_this_process(void);
bool uscopei_is_same_process(struct uscopei_process a, struct uscopei_process b);

/* config.c */
struct uscopei_config {
    char endpoint[256];
    bool endpoint_set; /* false: the place where a daemon listens by default */
    uint64_t open_timeout_ms, timeout_ms;
    uint32_t credit_mib;
    bool stop_on_failure;
    bool shared_memory;
    char memory_directory[128];
    uint64_t peer_uid; /* whose daemon is trusted besides one's own and root's; UINT64_MAX: nobody's */
    bool has_run;
    uint8_t run[16];
    uint32_t core;
};
/** Read from the environment at the first use. */
const struct uscopei_config *uscopei_get_config(void);
uint64_t uscopei_now_ms(void);
bool uscopei_random_bytes(void *out, size_t size);
/** Contents of a file, NUL-terminated; NULL with the thread's error set. */
char *uscopei_read_file(const char *path, size_t *size);

#pragma GCC visibility pop

#endif
