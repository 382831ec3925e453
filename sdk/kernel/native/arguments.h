/* SPDX-License-Identifier: Apache-2.0 */
/* What TypeScript hands to a function of the addon, taken one by one and checked once. */
#ifndef USCOPE_ARGUMENTS_H
#define USCOPE_ARGUMENTS_H

#include <node_api.h>
#include <stdbool.h>

enum { MAX_ARGUMENTS = 8 };

/* Arguments of a call: all the function's, or an exception is pending. */
struct arguments {
    napi_env env;
    napi_value values[MAX_ARGUMENTS];
    bool valid;
};

static inline struct arguments get_arguments(napi_env env, napi_callback_info info, size_t count)
{
    struct arguments arguments = {.env = env};
    size_t given = MAX_ARGUMENTS;
    arguments.valid =
        napi_get_cb_info(env, info, &given, arguments.values, NULL, NULL) == napi_ok && given == count;
    return arguments;
}

static inline uint32_t get_number(struct arguments *arguments, size_t index)
{
    uint32_t value = 0;
    if (arguments->valid)
        arguments->valid = napi_get_value_uint32(arguments->env, arguments->values[index], &value) == napi_ok;
    return value;
}

static inline uint8_t *get_memory(struct arguments *arguments, size_t index)
{
    void *data = NULL;
    if (arguments->valid)
        arguments->valid = napi_get_typedarray_info(arguments->env, arguments->values[index], NULL, NULL,
                                                    &data, NULL, NULL) == napi_ok &&
                           data;
    return data;
}

/* A Uint32Array. */
struct words {
    uint32_t *start;
    uint32_t length;
};

static inline struct words get_words(struct arguments *arguments, size_t index)
{
    napi_typedarray_type type;
    void *data = NULL;
    size_t length = 0;
    if (arguments->valid)
        arguments->valid = napi_get_typedarray_info(arguments->env, arguments->values[index], &type, &length,
                                                    &data, NULL, NULL) == napi_ok &&
                           data && type == napi_uint32_array && length <= UINT32_MAX;
    return (struct words){data, (uint32_t)length};
}

/* A typed array; one of no bytes may have no address. */
struct bytes {
    uint8_t *start;
    uint32_t length;
};

static inline struct bytes get_bytes(struct arguments *arguments, size_t index)
{
    napi_typedarray_type type;
    void *data = NULL;
    size_t length = 0;
    if (arguments->valid)
        arguments->valid = napi_get_typedarray_info(arguments->env, arguments->values[index], &type, &length,
                                                    &data, NULL, NULL) == napi_ok &&
                           (data || !length) && type == napi_uint8_array && length <= UINT32_MAX;
    return (struct bytes){data, (uint32_t)length};
}

/* false: thrown. */
static inline bool check(const struct arguments *arguments)
{
    if (!arguments->valid) napi_throw_type_error(arguments->env, NULL, "wrong arguments");
    return arguments->valid;
}

#endif
