/* SPDX-License-Identifier: Apache-2.0 */
#include "pool_binding.h"

#include <stdlib.h>

#include <string.h>

#include "arguments.h"
#include "indexer.h"
#include "pool.h"

struct binding {
    napi_env env;
    napi_threadsafe_function done;
    struct pool *pool;
    uint32_t pending;
};

static void free_block(struct block *block)
{
    if (block->drop)
        block->drop(block);
    else
        free(block);
}

/* On a thread of the pool. The environment may be about to end: then nobody waits for the block. */
static void hand_over(void *receiver, struct block *block)
{
    struct binding *binding = receiver;
    if (napi_call_threadsafe_function(binding->done, block, napi_tsfn_blocking) != napi_ok) free_block(block);
}

/* What an index task has made; undefined for a block, and where it has made nothing. */
static bool take_container(napi_env env, struct block *block, napi_value *result)
{
    if (!block->work || !block->length) return napi_get_undefined(env, result) == napi_ok;
    void *bytes;
    if (napi_create_arraybuffer(env, block->length, &bytes, result) != napi_ok) return false;
    memcpy(bytes, ((struct index_task *)block)->container, block->length);
    return true;
}

static void call_done(napi_env env, napi_value done, void *context, void *data)
{
    struct binding *binding = context;
    struct block *block = data;
    napi_value receiver, values[4];
    if (env) {
        if (--binding->pending == 0) napi_unref_threadsafe_function(env, binding->done);
        if (napi_get_undefined(env, &receiver) == napi_ok &&
            napi_create_uint32(env, block->number, &values[0]) == napi_ok &&
            napi_create_uint32(env, block->length, &values[1]) == napi_ok &&
            napi_create_uint32(env, block->checksum, &values[2]) == napi_ok &&
            take_container(env, block, &values[3]))
            napi_call_function(env, receiver, done, 4, values, NULL);
    }
    free_block(block);
}

/* The environment ends: its memories must not be used any more. */
static void close_binding(void *data)
{
    struct binding *binding = data;
    struct block *block = pool_close(binding->pool);
    while (block) {
        struct block *next = block->next;
        free_block(block);
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

static void *get_external(struct arguments *arguments, size_t index)
{
    void *data = NULL;
    if (arguments->valid)
        arguments->valid =
            napi_get_value_external(arguments->env, arguments->values[index], &data) == napi_ok;
    return data;
}

static void submit(struct binding *binding, struct block *block)
{
    if (binding->pending++ == 0) napi_ref_threadsafe_function(binding->env, binding->done);
    pool_submit(binding->pool, block);
}

napi_value compress_in_pool(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 8);
    struct binding *binding = get_external(&arguments, 0);
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
    submit(binding, block);
    return NULL;
}

static void close_indexer(napi_env env, void *data, void *hint)
{
    (void)env, (void)hint;
    indexer_close(data);
}

napi_value open_indexer(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 3);
    struct words plan = get_words(&arguments, 0);
    uint32_t crc = get_number(&arguments, 1);
    struct bytes carry = {NULL, 0};
    napi_valuetype type = napi_null;
    if (arguments.valid) arguments.valid = napi_typeof(env, arguments.values[2], &type) == napi_ok;
    if (type != napi_null) carry = get_bytes(&arguments, 2);
    if (!check(&arguments)) return NULL;
    static const uint8_t nothing[1];
    const uint8_t *known = type == napi_null ? NULL : carry.start ? carry.start : nothing;
    struct indexer *indexer = indexer_open(plan.start, plan.length, crc, known, carry.length);
    napi_value handle;
    if (indexer) {
        if (napi_create_external(env, indexer, close_indexer, NULL, &handle) == napi_ok) return handle;
        indexer_close(indexer);
    }
    return napi_get_null(env, &handle) == napi_ok ? handle : NULL;
}

napi_value index_in_pool(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 8);
    struct binding *binding = get_external(&arguments, 0);
    struct indexer *indexer = get_external(&arguments, 1);
    uint32_t number = get_number(&arguments, 2);
    struct bytes frames = get_bytes(&arguments, 3), checkpoint = get_bytes(&arguments, 4);
    uint64_t start = get_number(&arguments, 5) | (uint64_t)get_number(&arguments, 6) << 32;
    uint32_t copy = get_number(&arguments, 7);
    if (!check(&arguments)) return NULL;
    struct index_task *task = index_task_make(indexer, frames.start, frames.length, checkpoint.start,
                                              checkpoint.length, start, copy != 0);
    if (!task) {
        napi_throw_error(env, NULL, "out of memory");
        return NULL;
    }
    task->block.number = number;
    submit(binding, &task->block);
    return NULL;
}
