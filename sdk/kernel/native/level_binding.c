/* SPDX-License-Identifier: Apache-2.0 */
#include "level_binding.h"

#include <string.h>

#include "arguments.h"
#include "level_maker.h"

static void close_levels(napi_env env, void *data, void *hint)
{
    (void)env, (void)hint;
    level_maker_close(data);
}

static napi_value null_of(napi_env env)
{
    napi_value null;
    return napi_get_null(env, &null) == napi_ok ? null : NULL;
}

static uint64_t get_time(struct arguments *arguments, size_t index)
{
    return get_number(arguments, index) | (uint64_t)get_number(arguments, index + 1) << 32;
}

napi_value open_levels(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 5);
    struct words plan = get_words(&arguments, 0);
    uint64_t start = get_time(&arguments, 1), end = get_time(&arguments, 3);
    if (!check(&arguments)) return NULL;
    struct level_maker *maker = level_maker_open(plan.start, plan.length, start, end);
    napi_value handle;
    if (!maker) return null_of(env);
    if (napi_create_external(env, maker, close_levels, NULL, &handle) == napi_ok) return handle;
    level_maker_close(maker);
    return NULL;
}

static struct level_maker *get_maker(struct arguments *arguments)
{
    void *maker = NULL;
    if (arguments->valid)
        arguments->valid =
            napi_get_value_external(arguments->env, arguments->values[0], &maker) == napi_ok && maker;
    return maker;
}

static napi_value copy_of(napi_env env, const uint8_t *made, uint32_t size)
{
    void *bytes;
    napi_value result;
    if (!made) return null_of(env);
    if (napi_create_arraybuffer(env, size, &bytes, &result) != napi_ok) return NULL;
    if (size) memcpy(bytes, made, size);
    return result;
}

napi_value add_to_levels(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 3);
    struct level_maker *maker = get_maker(&arguments);
    struct bytes parts = get_bytes(&arguments, 1);
    uint32_t count = get_number(&arguments, 2), size = 0;
    if (!check(&arguments)) return NULL;
    const uint8_t *made = level_maker_add(maker, parts.start, parts.length, count, &size);
    return copy_of(env, made, size);
}

napi_value finish_levels(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 3);
    struct level_maker *maker = get_maker(&arguments);
    uint64_t end = get_time(&arguments, 1);
    uint32_t size = 0;
    if (!check(&arguments)) return NULL;
    const uint8_t *made = level_maker_finish(maker, end, &size);
    return copy_of(env, made, size);
}
