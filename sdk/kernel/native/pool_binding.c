/* SPDX-License-Identifier: Apache-2.0 */
#include "pool_binding.h"

#include <stdlib.h>

#include "arguments.h"
#include "pool.h"

struct binding {
    napi_env env;
    napi_threadsafe_function done;
    struct pool *pool;
    uint32_t pending;
};

/* On a thread of the pool. The environment may be about to end: then nobody waits for the block. */
static void hand_over(void *receiver, struct block *block)
{
    struct binding *binding = receiver;
    if (napi_call_threadsafe_function(binding->done, block, napi_tsfn_blocking) != napi_ok) free(block);
}

static void call_done(napi_env env, napi_value done, void *context, void *data)
{
    struct binding *binding = context;
    struct block *block = data;
    napi_value receiver, values[3];
    if (env) {
        if (--binding->pending == 0) napi_unref_threadsafe_function(env, binding->done);
        if (napi_get_undefined(env, &receiver) == napi_ok &&
            napi_create_uint32(env, block->number, &values[0]) == napi_ok &&
            napi_create_uint32(env, block->length, &values[1]) == napi_ok &&
            napi_create_uint32(env, block->checksum, &values[2]) == napi_ok)
            napi_call_function(env, receiver, done, 3, values, NULL);
    }
    free(block);
}

/* The environment ends: its memories must not be used any more. */
static void close_binding(void *data)
{
    struct binding *binding = data;
    struct block *block = pool_close(binding->pool);
    while (block) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
    binding->pool = NULL;
}

static void free_binding(napi_env env, void *data, void *hint)
{
    (void)env, (void)hint;
    free(data);
}

static bool open_done(struct binding *binding, napi_value done)
{
    napi_env env = binding->env;
    napi_value name;
    return napi_create_string_utf8(env, "uscope:compressed", NAPI_AUTO_LENGTH, &name) == napi_ok &&
           napi_create_threadsafe_function(env, done, NULL, name, 0, 1, binding, free_binding, binding,
                                           call_done, &binding->done) == napi_ok &&
           napi_unref_threadsafe_function(env, binding->done) == napi_ok;
}

napi_value open_pool(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 2);
    uint32_t threads = get_number(&arguments, 0);
    if (!check(&arguments)) return NULL;
    struct binding *binding = calloc(1, sizeof *binding);
    napi_value handle;
    if (binding) {
        binding->env = env;
        /* From here on the function for `done` owns the binding. */
        if (!open_done(binding, arguments.values[1]))
            free(binding);
        else if (!(binding->pool = pool_open(threads, hand_over, binding)))
            napi_release_threadsafe_function(binding->done, napi_tsfn_abort);
        else if (napi_add_env_cleanup_hook(env, close_binding, binding) == napi_ok &&
                 napi_create_external(env, binding, NULL, NULL, &handle) == napi_ok)
            return handle;
    }
    napi_throw_error(env, NULL, "no thread could be started");
    return NULL;
}

napi_value compress_in_pool(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 8);
    void *data = NULL;
    if (arguments.valid)
        arguments.valid = napi_get_value_external(env, arguments.values[0], &data) == napi_ok;
    struct binding *binding = data;
    uint8_t *memory = get_memory(&arguments, 1);
    uint32_t number = get_number(&arguments, 2), table = get_number(&arguments, 3),
             source = get_number(&arguments, 4), size = get_number(&arguments, 5),
             target = get_number(&arguments, 6), prefix = get_number(&arguments, 7);
    if (!check(&arguments)) return NULL;
    struct block *block = malloc(sizeof *block);
    if (!block) {
        napi_throw_error(env, NULL, "out of memory");
        return NULL;
    }
    *block = (struct block){
        .table = (uint16_t *)(void *)(memory + table),
        .source = memory + source,
        .target = memory + target,
        .size = size,
        .prefix = prefix,
        .number = number,
    };
    if (binding->pending++ == 0) napi_ref_threadsafe_function(env, binding->done);
    pool_submit(binding->pool, block);
    return NULL;
}
