/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file uscope_noc.h
 * Helper for the `noc` protocol, in the manner of uscope_cpu.h: transactions instead of instructions. The id
 * of a transaction (`txn_id`) is its slot in the scope's storage `transactions`, given out again in a later
 * cycle than the one it was cleared in, and not while a buffer holds it.
 *
 * Fields and events the schema leaves out are skipped. Of events whose fields have no agreed names the
 * arguments fill the fields in order.
 */
#ifndef USCOPE_NOC_H
#define USCOPE_NOC_H

#include "uscope.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void uscope_noc_t;

/** Result of uscope_noc_begin when nothing was begun. Every call takes it and does nothing. */
#define USCOPE_NOC_NONE 0xFFFFFFFFu

/** A helper for one scope: a network, a router. As uscope_cpu_new. */
USCOPE_API uscope_noc_t *uscope_noc_new(uscope_writer_t *w, const char *scope);
USCOPE_API void uscope_noc_free(uscope_noc_t *noc);

/** A transaction enters the scope. Its id, or USCOPE_NOC_NONE (reported) when every slot is taken. */
USCOPE_API unsigned int uscope_noc_begin(uscope_noc_t *noc, unsigned int opcode, unsigned long long addr,
                                         unsigned int len, unsigned int size, unsigned int src_port,
                                         unsigned int dst_port);
USCOPE_API void uscope_noc_stage(uscope_noc_t *noc, unsigned int id, unsigned int stage);
USCOPE_API void uscope_noc_annotate(uscope_noc_t *noc, unsigned int id, const char *text);
/** Event `beat`: `txn_id`, then the number of the beat. */
USCOPE_API void uscope_noc_beat(uscope_noc_t *noc, unsigned int id, unsigned int beat);
/** Event `retry`: `txn_id`, then the reason. */
USCOPE_API void uscope_noc_retry(uscope_noc_t *noc, unsigned int id, unsigned int reason);
/** Event `timeout`. The transaction continues until uscope_noc_complete. */
USCOPE_API void uscope_noc_timeout(uscope_noc_t *noc, unsigned int id);
/** Event `arb_decision`: the winner's `txn_id`, then the port it won. */
USCOPE_API void uscope_noc_arbitrate(uscope_noc_t *noc, unsigned int id, unsigned int port);
/** Event `link_credit`: the link, then its credits. */
USCOPE_API void uscope_noc_credit(uscope_noc_t *noc, unsigned int link, unsigned int credits);
/**
 * The transaction continues as transaction `to_id` of another scope: event `txn_handoff` of the nearest scope
 * above that has it, with both ids. Both must be in flight; each is completed by itself.
 */
USCOPE_API void uscope_noc_handoff(uscope_noc_t *noc, unsigned int id, uscope_noc_t *to, unsigned int to_id);
/** The transaction leaves the scope: CLEAR. */
USCOPE_API void uscope_noc_complete(uscope_noc_t *noc, unsigned int id);
/** Buffers are emptied, and all in flight cleared, the youngest first. */
USCOPE_API void uscope_noc_reset(uscope_noc_t *noc);
USCOPE_API unsigned int uscope_noc_in_flight(uscope_noc_t *noc);

/* Buffers, as those of uscope_cpu.h, with a field `txn_id`. */
USCOPE_API int uscope_noc_buffer(uscope_noc_t *noc, const char *name);
USCOPE_API int uscope_noc_push(uscope_noc_t *noc, int buffer, unsigned int id);
USCOPE_API unsigned int uscope_noc_pop(uscope_noc_t *noc, int buffer);
USCOPE_API void uscope_noc_remove(uscope_noc_t *noc, int buffer, int slot);

/** Number of a label of the stage enum; -1, reported, when there is none. */
USCOPE_API int uscope_noc_stage_id(uscope_noc_t *noc, const char *label);

#ifdef __cplusplus
}
#endif
#endif
