/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of pool.h for TypeScript:
 *
 *   openPool(threads, done) -> pool
 *     done(number, size, checksum, container), on the thread of the caller
 *   poolCompress(pool, memory, number, table, source, size, target, prefix)
 *   openIndexer(plan, crc, carry) -> indexer, or null
 *     carry null: not known
 *   poolIndex(pool, indexer, number, frames, checkpoint, startLo, startHi, copy)
 *     done(number, size, 0, container)
 *
 * memory: Uint8Array over a writer's memory, the others addresses in it; the caller holds it until the
 * block is done. A pool keeps the process alive while it has work, and ends with the environment that
 * opened it.
 */
#ifndef USCOPE_POOL_BINDING_H
#define USCOPE_POOL_BINDING_H

#include <node_api.h>

napi_value open_pool(napi_env env, napi_callback_info info);
napi_value compress_in_pool(napi_env env, napi_callback_info info);
napi_value open_indexer(napi_env env, napi_callback_info info);
napi_value index_in_pool(napi_env env, napi_callback_info info);

#endif
