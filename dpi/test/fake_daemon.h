/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon for tests: speaks the bridge protocol over a ROUTER socket in a separate thread, checks
 * everything the client sends against docs/reference/bridge-protocol.md, and keeps the records in memory.
 * "Durable" is what it has acknowledged; fake_kill forgets the rest, as a killed daemon would.
 */
#ifndef USCOPE_TEST_FAKE_DAEMON_H
#define USCOPE_TEST_FAKE_DAEMON_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_daemon;

/** What a trace has received, without duplicates. */
struct fake_log {
    const unsigned char *records;
    size_t size;
    uint64_t frames, strings, snapshots, items, messages, opens;
    bool closed;
    uint64_t rejected; /* from close */
    char reasons[256]; /* "OP_SLOT 1, OP_VALUE 2" */
    uint64_t credit;   /* asked for at open */
    uint64_t interval_ps;
    uint32_t core;
    uint8_t run[16];
    char schema[4096], schema_name[256], dut[256]; /* dut: "key=value;..." */
    char schema_sha256[80], vars[256];             /* vars: "name=value;..." */
    uint64_t most_held;                            /* most bytes ever unacknowledged */
    uint64_t lane_records;                         /* as they came; the others are what they represent */
    uint64_t skipped;                              /* from close */
    struct {
        unsigned count;
        uint64_t done, skipped;
        char disabled[256], code[40]; /* disabled: "core0=;..." */
    } controlled;                     /* the last `controlled` */
};

/** Switches; may be changed while it runs. */
struct fake_switches {
    atomic_bool withhold_acks; /* receive but acknowledge nothing */
    atomic_bool silent;        /* answer nothing at all */
    atomic_bool sink;          /* acknowledge without looking: for measuring */
    atomic_bool stalled;       /* send `stalled` for every trace, once */
    atomic_bool ack_now;       /* acknowledge everything received, once */
    atomic_bool retry_error;   /* answer the next data message by a sequence error with retry */
    atomic_bool fatal_error;   /* fail every trace, once: its records are refused */
    atomic_bool disk_full;     /* fail every trace, once: its file cannot be written */
    atomic_bool drop_data;     /* drop the next data message: the one after it is out of sequence */
    atomic_uint version;       /* 0: the right one */
    atomic_uint credit;        /* most it grants; 0: what is asked */
    atomic_uint refuse;        /* 1: answer open by BRIDGE_NAME_BUSY */
    atomic_bool no_lanes;      /* take no lane records */
    atomic_bool forget;        /* after a restart: claim fewer durable frames than acknowledged */
};

struct fake_daemon *fake_new(const char *endpoint, const void *schema, size_t schema_size);
struct fake_switches *fake_switches(struct fake_daemon *d);
void fake_start(struct fake_daemon *d);
/** Ends the thread and its socket; what was not acknowledged is forgotten. */
void fake_kill(struct fake_daemon *d);
void fake_free(struct fake_daemon *d);

/** The first violation of the protocol, "" when there is none. */
const char *fake_violation(struct fake_daemon *d);
/** A copy of what is known of a trace; false when there is none. `records` stays valid until fake_free. */
bool fake_log(struct fake_daemon *d, const char *name, struct fake_log *out);
uint64_t fake_frames(struct fake_daemon *d, const char *name);
/** Also those that a silent daemon does not answer. */
uint64_t fake_hellos(struct fake_daemon *d);
uint64_t fake_pings(struct fake_daemon *d);

/** Sends `control` for a trace, once, as soon as it is open; NULL leaves a key out. */
void fake_control(struct fake_daemon *d, const char *name, uint32_t number, const char *action,
                  const char *scope, const char *text);

#endif
