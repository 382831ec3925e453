/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of whole traces share. */
#ifndef USCOPE_TEST_CLIENT_H
#define USCOPE_TEST_CLIENT_H

#include "fake_daemon.h"
#include "harness.h"
#include "schema_bytes.h"
#include "uscope.h"

/** A running daemon with core_schema; messages are captured from here on. */
struct fake_daemon *start_daemon(void);
/** The same with another schema. */
struct fake_daemon *start_daemon_with(const struct test_schema *schema);
uscope_writer_t *open_trace(const char *name);
/** No violation, and exactly `messages` messages; frees the daemon. */
void finish(struct fake_daemon *d, unsigned messages);
struct fake_log log_of(struct fake_daemon *d, const char *name);
/** Cycles `first` .. `first + count - 1` of a fixed pattern: 7 items each, some strings, time = cycle * 1000.
 */
void run_cycles(uscope_writer_t *w, uint64_t first, uint64_t count);
/** Fails the test unless the log holds exactly the pattern's cycles 0 .. count - 1. */
void check_cycles(const struct fake_log *log, uint64_t count);

#endif
