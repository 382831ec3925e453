/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The levels of an index directory for TypeScript:
 *
 *   openLevels(plan, startLo, startHi, endLo, endHi) -> levels, or null: the schema is too large
 *   levelsAdd(levels, parts, count) -> ArrayBuffer with what was put out, or null: see ../index/directory.h
 *   levelsFinish(levels, endLo, endHi) -> the same, of the next list
 */
#ifndef USCOPE_LEVEL_BINDING_H
#define USCOPE_LEVEL_BINDING_H

#include <node_api.h>

napi_value open_levels(napi_env env, napi_callback_info info);
napi_value add_to_levels(napi_env env, napi_callback_info info);
napi_value finish_levels(napi_env env, napi_callback_info info);

#endif
