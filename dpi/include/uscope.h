/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file uscope.h
 * C API of the µScope client: an instrumented model appends operations and events, the client carries them to
 * the daemon (`uscope run`, `uscope serve`), which writes the trace file. Usable from C11 and C++.
 *
 * Names and shapes are those of other µScope libraries. All times are picoseconds (ps). 64-bit arguments are
 * `unsigned long long`, which is what simulators declare for `longint unsigned`: a file may include this
 * header and a simulator's generated DPI header together.
 *
 * A trace is used by one thread at a time; different traces may be used by different threads. The calls
 * between uscope_begin_cycle and uscope_end_cycle only check their arguments and append to memory. They block
 * only when the credit is used up (the daemon has that many bytes not yet made durable).
 *
 * A call with wrong arguments is rejected, counted, and reported once per place with names; the trace stays
 * valid. A null handle is legal everywhere: the call does nothing (that is how a model runs untraced).
 */
#ifndef USCOPE_H
#define USCOPE_H

#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define USCOPE_API __attribute__((visibility("default")))
#else
#define USCOPE_API
#endif

#define USCOPE_VERSION_STRING   "0.1.0"
/** Version of the bridge protocol this client speaks (docs/reference/bridge-protocol.md). */
#define USCOPE_PROTOCOL_VERSION 1

/** Result of uscope_string for a text that was rejected. Never a valid index. */
#define USCOPE_NO_STRING 0xFFFFFFFFu
/** Value of uscope_open_options_t.core_index for a trace that belongs to no particular core. */
#define USCOPE_NO_CORE   0xFFFFFFFFu

#ifdef __cplusplus
extern "C" {
#endif

/** An open trace. Opaque; `void`, so that it is usable as a DPI `chandle`. */
typedef void uscope_writer_t;

/* ---- schema and DUT */

/** A schema: text (YAML or JSON, docs/reference/schema.md) or definitions made by calls. The daemon checks it
 * at open.
 */
typedef struct uscope_schema uscope_schema_t;

typedef struct uscope_dut_property {
    const char *key;
    const char *value;
} uscope_dut_property_t;

/** DUT properties (docs/reference/format.md#dut-descriptor) added to those of the schema; the same key here
 * wins. */
typedef struct uscope_dut {
    uint32_t num_properties;
    const uscope_dut_property_t *properties;
} uscope_dut_t;

#ifndef USCOPE_NO_SHORT_NAMES
/** The names other µScope libraries use. Define USCOPE_NO_SHORT_NAMES to keep them out of your name space. */
typedef uscope_schema_t schema_t;
typedef uscope_dut_t dut_desc_t;
#endif

/** How a storage keeps its slots (docs/reference/format.md#storage-flags). */
typedef enum uscope_storage_kind {
    USCOPE_DENSE = 0,  /**< every slot is always valid */
    USCOPE_SPARSE = 1, /**< SET makes a slot valid, CLEAR makes it invalid */
    USCOPE_DENSE_BUFFER = 2,
    USCOPE_BUFFER = 3 /**< sparse, shown as a buffer (ROB, queues) */
} uscope_storage_kind_t;

/** Meaning of a storage property (docs/reference/format.md#storage-properties): pointers of a ring come in
 * pairs with the same pair id. */
typedef enum uscope_property_role {
    USCOPE_PLAIN = 0,
    USCOPE_HEAD = 1,
    USCOPE_TAIL = 2
} uscope_property_role_t;

/** An empty schema to define by the calls below. NULL when memory is exhausted. Free with uscope_schema_free.
 */
USCOPE_API uscope_schema_t *uscope_schema_new(void);
/** A schema file read now and sent as text. NULL with uscope_last_error_* set when it cannot be read. */
USCOPE_API uscope_schema_t *uscope_schema_from_file(const char *path);
/** Schema text; `name` (may be NULL) is what the daemon's messages call it. */
USCOPE_API uscope_schema_t *uscope_schema_from_text(const char *text, const char *name);
USCOPE_API void uscope_schema_free(uscope_schema_t *schema);

/*
 * Definitions. Paths are scope paths without the root: "core0/rob". A scope must be defined before what is in
 * it; names without a slash belong to the root scope. Ids are given by the daemon; look them up after open.
 * Types: "u8" "u16" "u32" "u64" "i8" "i16" "i32" "i64" "bool" "string" or the name of an enum. Each returns
 * 0, or -1 with uscope_last_error_* set (unknown scope or storage, a name defined twice, a schema that came
 * from text).
 */
USCOPE_API int uscope_schema_dut(uscope_schema_t *schema, const char *key, const char *value);
USCOPE_API int uscope_schema_clock(uscope_schema_t *schema, const char *name, unsigned int period_ps);
USCOPE_API int uscope_schema_enum_value(uscope_schema_t *schema, const char *enum_name, const char *label,
                                        unsigned int value);
/** `protocol` and `clock` may be NULL: none, and inherited from the parent. */
USCOPE_API int uscope_schema_scope(uscope_schema_t *schema, const char *path, const char *protocol,
                                   const char *clock);
USCOPE_API int uscope_schema_storage(uscope_schema_t *schema, const char *path, unsigned int num_slots,
                                     uscope_storage_kind_t kind);
USCOPE_API int uscope_schema_field(uscope_schema_t *schema, const char *storage, const char *name,
                                   const char *type);
USCOPE_API int uscope_schema_property(uscope_schema_t *schema, const char *storage, const char *name,
                                      const char *type, uscope_property_role_t role, unsigned int pair);
USCOPE_API int uscope_schema_event(uscope_schema_t *schema, const char *path);
USCOPE_API int uscope_schema_event_field(uscope_schema_t *schema, const char *event, const char *name,
                                         const char *type);
/** The schema's text as it will be sent; valid until the next call on it. NULL when memory is exhausted. */
USCOPE_API const char *uscope_schema_text(uscope_schema_t *schema);

/* ---- life cycle */

/** Everything that can be said at open. Initialise with USCOPE_OPEN_OPTIONS_INIT, then set what differs. */
typedef struct uscope_open_options {
    uint32_t size;                  /**< sizeof(uscope_open_options_t): lets the struct grow */
    uint32_t core_index;            /**< USCOPE_NO_CORE: environment USCOPE_CORE, else none */
    const char *name;               /**< trace name, "core0" or "soc/core0"; a suffix ".uscope" is dropped */
    const uscope_schema_t *schema;  /**< NULL: the file named by USCOPE_SCHEMA, else the daemon's default */
    const uscope_dut_t *dut;        /**< may be NULL */
    unsigned long long interval_ps; /**< checkpoint interval; 0: the daemon's default */
    const uint8_t *run_id;          /**< 16 bytes; NULL: environment USCOPE_RUN_ID, else none */
    uint32_t credit_mib;            /**< memory for data not yet durable; 0: USCOPE_CREDIT_MIB, else 32 */
    /** Fingerprint of the schema the caller's code was generated from. Opening a trace with any other schema
     * fails with SCHEMA_MISMATCH. NULL or "": not checked. */
    const char *schema_sha256;
    /** Values of schema variables, "core=0,name=x" (docs/reference/schema.md). NULL or "": none. */
    const char *variables;
} uscope_open_options_t;

#define USCOPE_OPEN_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        (uint32_t)sizeof(uscope_open_options_t), USCOPE_NO_CORE, 0, 0, 0, 0, 0, 0, 0, 0                      \
    }

/**
 * Opens a trace and waits until the daemon has created the file. NULL on failure, with a message on stderr
 * and in uscope_last_error_*: BRIDGE_NO_DAEMON (nothing answered for USCOPE_OPEN_TIMEOUT_MS; at once where
 * USCOPE_ENDPOINT is not set and nothing listens), BRIDGE_VERSION, BRIDGE_NAME, SCHEMA_*, and whatever else
 * the daemon answers. A client that waits says so on stderr.
 */
USCOPE_API uscope_writer_t *uscope_writer_open_opts(const uscope_open_options_t *options);
/** `path` is the trace's name; the daemon puts the file into its output directory. Interval in ps. */
USCOPE_API uscope_writer_t *uscope_writer_open(const char *path, const uscope_dut_t *dut,
                                               const uscope_schema_t *schema, uint32_t checkpoint_interval);

/**
 * Closes a trace: ends an open cycle, waits until the file is complete and durable. Harmless on a handle that
 * is closed already. Traces still open when the process exits are closed then.
 */
USCOPE_API void uscope_close(uscope_writer_t *w);
USCOPE_API void uscope_writer_close(uscope_writer_t *w);

/** What became of a trace, as the daemon reports it at close. */
typedef struct uscope_trace_stats {
    unsigned long long frames, items, strings, segments, bytes, total_time_ps;
    unsigned long long rejected; /**< items and cycles the client refused */
    unsigned long long lost;
} uscope_close_stats_t;

/** Like uscope_close. 0 and the statistics when the file is complete, -1 (see uscope_last_error_*) otherwise.
 */
USCOPE_API int uscope_close_stats(uscope_writer_t *w, uscope_close_stats_t *stats);

/** Waits until every complete cycle is durable. 0, or -1 when the trace has failed or a cycle is open. */
USCOPE_API int uscope_flush(uscope_writer_t *w);

/* ---- per cycle */

/** Begins the cycle at `time_ps`, not before the previous one (equal is legal). Cycles do not nest. */
USCOPE_API void uscope_begin_cycle(uscope_writer_t *w, unsigned long long time_ps);
USCOPE_API void uscope_end_cycle(uscope_writer_t *w);
/**
 * Ends the cycle and begins the next one in one call: uscope_end_cycle, uscope_checkpoint_due and, unless
 * that says yes, uscope_begin_cycle. 0 when the next cycle is begun. 1 when it crosses the grid of
 * checkpoints and is not: snapshots are legal until the uscope_begin_cycle that has to follow.
 */
USCOPE_API int uscope_next_cycle(uscope_writer_t *w, unsigned long long time_ps);

/**
 * Sets a field of a slot. The value must fit the field's type: unsigned types take no higher bits, signed
 * ones take the N-bit pattern or the value sign-extended to 64 bits, a string field takes an index from
 * uscope_string.
 */
USCOPE_API void uscope_slot_set(uscope_writer_t *w, uint16_t storage_id, uint16_t slot, uint16_t field,
                                unsigned long long value);
/**
 * Sets fields 0 .. n-1 of a slot in one call: the same items as n calls of uscope_slot_set, with the handle,
 * the cycle, the storage and the slot checked once. A value or field that is wrong is rejected by itself.
 */
USCOPE_API void uscope_slot_put1(uscope_writer_t *w, uint16_t storage_id, uint16_t slot,
                                 unsigned long long f0);
USCOPE_API void uscope_slot_put2(uscope_writer_t *w, uint16_t storage_id, uint16_t slot,
                                 unsigned long long f0, unsigned long long f1);
USCOPE_API void uscope_slot_put3(uscope_writer_t *w, uint16_t storage_id, uint16_t slot,
                                 unsigned long long f0, unsigned long long f1, unsigned long long f2);
USCOPE_API void uscope_slot_put4(uscope_writer_t *w, uint16_t storage_id, uint16_t slot,
                                 unsigned long long f0, unsigned long long f1, unsigned long long f2,
                                 unsigned long long f3);
USCOPE_API void uscope_slot_put5(uscope_writer_t *w, uint16_t storage_id, uint16_t slot,
                                 unsigned long long f0, unsigned long long f1, unsigned long long f2,
                                 unsigned long long f3, unsigned long long f4);
USCOPE_API void uscope_slot_put6(uscope_writer_t *w, uint16_t storage_id, uint16_t slot,
                                 unsigned long long f0, unsigned long long f1, unsigned long long f2,
                                 unsigned long long f3, unsigned long long f4, unsigned long long f5);
USCOPE_API void uscope_slot_put7(uscope_writer_t *w, uint16_t storage_id, uint16_t slot,
                                 unsigned long long f0, unsigned long long f1, unsigned long long f2,
                                 unsigned long long f3, unsigned long long f4, unsigned long long f5,
                                 unsigned long long f6);
USCOPE_API void uscope_slot_put8(uscope_writer_t *w, uint16_t storage_id, uint16_t slot,
                                 unsigned long long f0, unsigned long long f1, unsigned long long f2,
                                 unsigned long long f3, unsigned long long f4, unsigned long long f5,
                                 unsigned long long f6, unsigned long long f7);
USCOPE_API void uscope_slot_clear(uscope_writer_t *w, uint16_t storage_id, uint16_t slot);
/** Adds any 64-bit delta; the field wraps at its width. */
USCOPE_API void uscope_slot_add(uscope_writer_t *w, uint16_t storage_id, uint16_t slot, uint16_t field,
                                unsigned long long value);
USCOPE_API void uscope_prop_set(uscope_writer_t *w, uint16_t storage_id, uint16_t property,
                                unsigned long long value);

/** An event with its payload packed by the caller (docs/reference/format.md#packing): fields in order,
 * little-endian, no padding. */
USCOPE_API void uscope_event(uscope_writer_t *w, uint16_t event_type_id, const void *payload);
/** The same with the payload's size, which must be the event's. */
USCOPE_API void uscope_event_bytes(uscope_writer_t *w, uint16_t event_type_id, const void *payload,
                                   uint32_t size);
/** Events from their field values, packed by the schema. The event must have exactly that many fields. */
USCOPE_API void uscope_event0(uscope_writer_t *w, uint16_t event_type_id);
USCOPE_API void uscope_event1(uscope_writer_t *w, uint16_t event_type_id, unsigned long long f0);
USCOPE_API void uscope_event2(uscope_writer_t *w, uint16_t event_type_id, unsigned long long f0,
                              unsigned long long f1);
USCOPE_API void uscope_event3(uscope_writer_t *w, uint16_t event_type_id, unsigned long long f0,
                              unsigned long long f1, unsigned long long f2);
USCOPE_API void uscope_event4(uscope_writer_t *w, uint16_t event_type_id, unsigned long long f0,
                              unsigned long long f1, unsigned long long f2, unsigned long long f3);
USCOPE_API void uscope_event5(uscope_writer_t *w, uint16_t event_type_id, unsigned long long f0,
                              unsigned long long f1, unsigned long long f2, unsigned long long f3,
                              unsigned long long f4);
USCOPE_API void uscope_event6(uscope_writer_t *w, uint16_t event_type_id, unsigned long long f0,
                              unsigned long long f1, unsigned long long f2, unsigned long long f3,
                              unsigned long long f4, unsigned long long f5);
USCOPE_API void uscope_event7(uscope_writer_t *w, uint16_t event_type_id, unsigned long long f0,
                              unsigned long long f1, unsigned long long f2, unsigned long long f3,
                              unsigned long long f4, unsigned long long f5, unsigned long long f6);
USCOPE_API void uscope_event8(uscope_writer_t *w, uint16_t event_type_id, unsigned long long f0,
                              unsigned long long f1, unsigned long long f2, unsigned long long f3,
                              unsigned long long f4, unsigned long long f5, unsigned long long f6,
                              unsigned long long f7);

/*
 * Lanes: the same item once for each bit set in `lanes`, lowest first, in one call: the items that single
 * calls would make, with what is common checked once. Hardware keeps such things side by side, as valid bits
 * and a packed array: the value of lane i is in bits [i * width, (i + 1) * width) of `values`, all within 64
 * bits. A lane that is wrong is rejected by itself; OP_VALUE for one that lies beyond the 64 bits.
 */
/** Sets one field of slot i to the value of lane i. */
USCOPE_API void uscope_slot_set_lanes(uscope_writer_t *w, uint16_t storage_id, uint16_t field,
                                      unsigned long long lanes, unsigned long long values,
                                      unsigned int width);
/** Empties slot i of a sparse storage. */
USCOPE_API void uscope_slot_clear_lanes(uscope_writer_t *w, uint16_t storage_id, unsigned long long lanes);
/** Adds 1 to field 0 of slot 0 of storage `first_storage_id` + i: consecutive counters. */
USCOPE_API void uscope_count_lanes(uscope_writer_t *w, uint16_t first_storage_id, unsigned long long lanes);
/** Events of one field: the value of lane i. */
USCOPE_API void uscope_event1_lanes(uscope_writer_t *w, uint16_t event_type_id, unsigned long long lanes,
                                    unsigned long long values, unsigned int width);
/** Events of two fields: the value of lane i, and `second` + i * `step`. */
USCOPE_API void uscope_event2_lanes(uscope_writer_t *w, uint16_t event_type_id, unsigned long long lanes,
                                    unsigned long long values, unsigned int width, unsigned int second,
                                    unsigned int step);

/**
 * The index of a text for a string field (docs/reference/format.md#string-table), new or known; legal inside
 * and outside a cycle. At most 65,520 bytes of valid UTF-8, else OP_STRING and USCOPE_NO_STRING. Texts used
 * recently get the same index again.
 */
USCOPE_API unsigned int uscope_string(uscope_writer_t *w, const char *text);

/* ---- checkpoints */

typedef void (*uscope_checkpoint_fn)(uscope_writer_t *w, void *user_data);
/**
 * `fn` is called inside uscope_begin_cycle when a multiple of the checkpoint interval is reached, before the
 * cycle begins; it describes storages by uscope_checkpoint_storage. NULL removes it. Storages it leaves out
 * are taken from replay.
 */
USCOPE_API void uscope_set_checkpoint_callback(uscope_writer_t *w, uscope_checkpoint_fn fn, void *user_data);
/**
 * The state of one storage as in a checkpoint block (docs/reference/format.md#checkpoints) without
 * properties. Sparse: `valid_mask` has one bit per slot (LSB first) and `slot_data` holds the valid slots
 * only. Dense: `valid_mask` is NULL, every slot is given. OP_SNAPSHOT outside a callback or when the number
 * of slots is wrong.
 */
USCOPE_API void uscope_checkpoint_storage(uscope_writer_t *w, uint16_t storage_id, const uint8_t *valid_mask,
                                          const void *slot_data, uint32_t num_valid_slots);

/*
 * The same given slot by slot, for callers that have no packed bytes; legal where uscope_checkpoint_storage
 * is. Every slot given is valid; of a dense storage every slot must be given. A value, slot or number of
 * fields that is wrong rejects the whole snapshot.
 */
USCOPE_API void uscope_checkpoint_begin(uscope_writer_t *w, uint16_t storage_id);
/** All fields of a slot. A storage of more than 8 takes uscope_checkpoint_slot8, then
 * uscope_checkpoint_field. */
USCOPE_API void uscope_checkpoint_slot1(uscope_writer_t *w, uint16_t slot, unsigned long long f0);
USCOPE_API void uscope_checkpoint_slot2(uscope_writer_t *w, uint16_t slot, unsigned long long f0,
                                        unsigned long long f1);
USCOPE_API void uscope_checkpoint_slot3(uscope_writer_t *w, uint16_t slot, unsigned long long f0,
                                        unsigned long long f1, unsigned long long f2);
USCOPE_API void uscope_checkpoint_slot4(uscope_writer_t *w, uint16_t slot, unsigned long long f0,
                                        unsigned long long f1, unsigned long long f2, unsigned long long f3);
USCOPE_API void uscope_checkpoint_slot5(uscope_writer_t *w, uint16_t slot, unsigned long long f0,
                                        unsigned long long f1, unsigned long long f2, unsigned long long f3,
                                        unsigned long long f4);
USCOPE_API void uscope_checkpoint_slot6(uscope_writer_t *w, uint16_t slot, unsigned long long f0,
                                        unsigned long long f1, unsigned long long f2, unsigned long long f3,
                                        unsigned long long f4, unsigned long long f5);
USCOPE_API void uscope_checkpoint_slot7(uscope_writer_t *w, uint16_t slot, unsigned long long f0,
                                        unsigned long long f1, unsigned long long f2, unsigned long long f3,
                                        unsigned long long f4, unsigned long long f5, unsigned long long f6);
USCOPE_API void uscope_checkpoint_slot8(uscope_writer_t *w, uint16_t slot, unsigned long long f0,
                                        unsigned long long f1, unsigned long long f2, unsigned long long f3,
                                        unsigned long long f4, unsigned long long f5, unsigned long long f6,
                                        unsigned long long f7);
/** One field of a slot; those never given are 0. */
USCOPE_API void uscope_checkpoint_field(uscope_writer_t *w, uint16_t slot, uint16_t field,
                                        unsigned long long value);
USCOPE_API void uscope_checkpoint_end(uscope_writer_t *w);

/**
 * Asking instead of being called: 1 when the cycle about to begin at `time_ps` crosses the grid of
 * checkpoints, once per crossing. Snapshots are then legal until that uscope_begin_cycle. Needs no callback.
 */
USCOPE_API int uscope_checkpoint_due(uscope_writer_t *w, unsigned long long time_ps);

/* ---- control while running (docs/how-to/control.md) */

/**
 * Stops recording the storages and events of a scope and of the scopes below it; NULL or "" is the whole
 * trace, which is paused then. Legal inside and outside a cycle; outside it is recorded with the next one.
 * Calls about what is disabled cost a few instructions, are neither recorded nor rejected, and are counted
 * (uscope_skipped). Sparse storages of the scope are empty from here on, dense ones keep their values.
 * OP_SCOPE when the schema has no such scope.
 */
USCOPE_API void uscope_disable(uscope_writer_t *w, const char *scope);
/**
 * Records a scope and those below it again. The next uscope_begin_cycle asks the checkpoint callback (or
 * uscope_checkpoint_due says yes): without snapshots, sparse storages fill as the model sets their slots.
 */
USCOPE_API void uscope_enable(uscope_writer_t *w, const char *scope);
/** Records a trigger: an event `uscope/control` with this label, also while the trace is paused. NULL: "". */
USCOPE_API void uscope_trigger(uscope_writer_t *w, const char *label);
/** Items not recorded so far because their scope was disabled. */
USCOPE_API unsigned long long uscope_skipped(uscope_writer_t *w);

/* ---- names */

/* Ids by name: -1 and an OP_ error when there is none; -1 and no error on a null handle. */
USCOPE_API int uscope_storage_id(uscope_writer_t *w, const char *name);
USCOPE_API int uscope_field_id(uscope_writer_t *w, int storage_id, const char *name);
USCOPE_API int uscope_property_id(uscope_writer_t *w, int storage_id, const char *name);
USCOPE_API int uscope_event_id(uscope_writer_t *w, const char *name);
/** Index of a field of an event. */
USCOPE_API int uscope_event_field_id(uscope_writer_t *w, int event_type_id, const char *name);
/** Number of a field's type (docs/reference/format.md#fields) in a storage or an event; -1 when there is no
 * such field.
 */
USCOPE_API int uscope_field_type(uscope_writer_t *w, int storage_id, int field);
USCOPE_API int uscope_event_field_type(uscope_writer_t *w, int event_type_id, int field);
/** The same of a property of a storage. */
USCOPE_API int uscope_property_type(uscope_writer_t *w, int storage_id, int property);
/** Slots of a storage, fields of an event; -1 when there is none. */
USCOPE_API int uscope_num_slots(uscope_writer_t *w, int storage_id);
USCOPE_API int uscope_num_event_fields(uscope_writer_t *w, int event_type_id);
/** Numeric value of an enum's label: uscope_enum_value(w, "flush_reason", "exception"). */
USCOPE_API int uscope_enum_value(uscope_writer_t *w, const char *enum_name, const char *label);

/**
 * Period of a clock of the schema in ps; NULL or "" is its first clock. 0 when the schema does not say it,
 * and 0 with SCHEMA_CLOCK when there is no such clock.
 */
USCOPE_API unsigned int uscope_clock_period(uscope_writer_t *w, const char *name);

/* ---- errors, versions, policy */

/** Code of the calling thread's last error ("OP_VALUE", docs/reference/errors.md), "" when there was none. */
USCOPE_API const char *uscope_last_error_code(void);
USCOPE_API const char *uscope_last_error_message(void);
/** Items and cycles of this trace rejected so far. */
USCOPE_API unsigned long long uscope_rejected(uscope_writer_t *w);
/** Counts `count` things as rejected (OP_STORAGE) that the caller did not put into the schema, so that the
 * end of the run says so. `message` says which, and is reported once. */
USCOPE_API void uscope_left_out(uscope_writer_t *w, unsigned long long count, const char *message);
/** The library's version, which may be newer than USCOPE_VERSION_STRING of the header that a program was
 * compiled with. */
USCOPE_API const char *uscope_version(void);
USCOPE_API int uscope_protocol_version(void);
/** Path of the trace's file as the daemon named it; "" on a null handle. */
USCOPE_API const char *uscope_path(uscope_writer_t *w);

/** Receives every message instead of stderr; may be called from the client's own thread. NULL restores
 * stderr. */
typedef void (*uscope_message_fn)(const char *message, void *user_data);
USCOPE_API void uscope_set_message_handler(uscope_message_fn fn, void *user_data);

#define USCOPE_ON_FAILURE_CONTINUE 0
#define USCOPE_ON_FAILURE_STOP     1
/**
 * Decides, on the thread that uses the trace, what follows when tracing fails after open:
 * USCOPE_ON_FAILURE_CONTINUE (calls become no-ops) or USCOPE_ON_FAILURE_STOP (exit with status 3). Without a
 * handler USCOPE_ON_FAILURE decides: "stop" (default) or "continue".
 */
typedef int (*uscope_failure_fn)(uscope_writer_t *w, const char *code, const char *message, void *user_data);
USCOPE_API void uscope_set_failure_handler(uscope_failure_fn fn, void *user_data);

/* ---- only in libuscope_dpi */

/** Opens with defaults. On failure USCOPE_ON_FAILURE decides: stop, or null ("continuing untraced").
 */
USCOPE_API uscope_writer_t *uscope_open(const char *path);
/** The same with a schema file. */
USCOPE_API uscope_writer_t *uscope_open_schema(const char *name, const char *schema_path);
/**
 * What generated code calls: the same with uscope_open_options_t's schema_sha256 and variables. An empty
 * `schema_path` means the schema of uscope_open. A variable `core` that is a number is the core index, too.
 */
USCOPE_API uscope_writer_t *uscope_open_checked(const char *name, const char *schema_path,
                                                const char *schema_sha256, const char *variables);

#ifdef __cplusplus
}
#endif
#endif
