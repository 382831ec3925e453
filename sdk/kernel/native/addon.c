/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer's compiled loops as a Node-API addon: the same C as the WebAssembly build, for those who have a
 * compiler. sdk/src/native/native.ts loads it, and is what knows these functions:
 *
 *   openRun(memory, run) -> handle    memory: Uint8Array over all of a writer's memory; run: address in it
 *   frameRun(handle, records, takeString, takeBucket)    records: Uint32Array, may change meanwhile
 *   sumsAdd(handle, source, lo, hi)
 *   sumsEndFrame(handle, lo, hi, takeBucket)
 *   sumsAbortFrame(handle)
 *   sumsClose(handle, takeBucket)
 *   encodeCheckpoint(handle, target)    target: address in the run's memory
 *   lz4Compress(memory, table, source, size, target) -> size
 *   unfoldLanes(unfold, words, piece) -> enum unfold_stop    Uint32Arrays; words may change meanwhile
 *   openPool, poolCompress, openIndexer, poolIndex: see pool_binding.h
 *   openLevels, levelsAdd, levelsFinish: see level_binding.h
 *   mapFile(fd, size) -> ArrayBuffer, or null when it cannot be mapped
 *   unmapFile(buffer)    it and all views of it are empty from now on
 *
 * Addresses come from our own TypeScript and are not checked; what records say is, by the loops themselves.
 * The memory outlives the handle: the caller holds both.
 */
#include <node_api.h>
#include <stdlib.h>

#include "../lz4.h"
#include "arguments.h"
#include "level_binding.h"
#include "mapping.h"
#include "pool_binding.h"
#include "run_image.h"
#include "unfold.h"

/* What the loops call, while they run. */
struct call {
    napi_env env;
    napi_value take_string, take_bucket;
    bool failed; /* a callback has thrown: no more is called, and the caller gets the exception */
};

static _Thread_local struct call *current;

static void call_back(napi_value function, uint32_t argument)
{
    struct call *call = current;
    napi_env env = call->env;
    napi_handle_scope scope;
    napi_value receiver, value;
    if (call->failed) return;
    call->failed = napi_open_handle_scope(env, &scope) != napi_ok;
    if (call->failed) return;
    call->failed = napi_get_undefined(env, &receiver) != napi_ok ||
                   napi_create_uint32(env, argument, &value) != napi_ok ||
                   napi_call_function(env, receiver, function, 1, &value, NULL) != napi_ok;
    napi_close_handle_scope(env, scope);
}

void take_string(uint32_t word)
{
    call_back(current->take_string, word);
}

void take_bucket(uint32_t source)
{
    call_back(current->take_bucket, source);
}

static struct run_image *get_run(struct arguments *arguments)
{
    void *run = NULL;
    if (arguments->valid)
        arguments->valid =
            napi_get_value_external(arguments->env, arguments->values[0], &run) == napi_ok && run;
    return run;
}

static void free_run(napi_env env, void *data, void *hint)
{
    (void)env, (void)hint;
    run_image_close(data);
    free(data);
}

static napi_value open_run(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 2);
    uint8_t *memory = get_memory(&arguments, 0);
    uint32_t run = get_number(&arguments, 1);
    if (!check(&arguments)) return NULL;
    struct run_image *image = malloc(sizeof *image);
    napi_value handle;
    if (image && run_image_open(image, memory, run)) {
        if (napi_create_external(env, image, free_run, NULL, &handle) == napi_ok) return handle;
        run_image_close(image);
    }
    free(image);
    napi_throw_error(env, NULL, "out of memory");
    return NULL;
}

static napi_value run_frames(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 4);
    struct run_image *image = get_run(&arguments);
    const void *records = get_memory(&arguments, 1);
    if (!check(&arguments)) return NULL;
    struct call call = {.env = env, .take_string = arguments.values[2], .take_bucket = arguments.values[3]};
    current = &call;
    run_image_take(image, records);
    return NULL;
}

static napi_value write_checkpoint(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 2);
    struct run_image *image = get_run(&arguments);
    uint32_t target = get_number(&arguments, 1);
    if (check(&arguments)) encode_checkpoint(&image->run, image->memory + target);
    return NULL;
}

static napi_value add_to_sum(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 4);
    struct run_image *image = get_run(&arguments);
    uint32_t source = get_number(&arguments, 1), lo = get_number(&arguments, 2),
             hi = get_number(&arguments, 3);
    if (check(&arguments)) sums_add(&image->run, source, lo, hi);
    return NULL;
}

static napi_value end_frame(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 4);
    struct run_image *image = get_run(&arguments);
    uint32_t lo = get_number(&arguments, 1), hi = get_number(&arguments, 2);
    if (!check(&arguments)) return NULL;
    struct call call = {.env = env, .take_bucket = arguments.values[3]};
    current = &call;
    sums_end_frame(&image->run, lo, hi);
    return NULL;
}

static napi_value abort_frame(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 1);
    struct run_image *image = get_run(&arguments);
    if (check(&arguments)) sums_abort_frame(&image->run);
    return NULL;
}

static napi_value close_sums(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 2);
    struct run_image *image = get_run(&arguments);
    if (!check(&arguments)) return NULL;
    struct call call = {.env = env, .take_bucket = arguments.values[1]};
    current = &call;
    sums_close(&image->run);
    return NULL;
}

static napi_value compress(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 5);
    uint8_t *memory = get_memory(&arguments, 0);
    uint32_t table = get_number(&arguments, 1), source = get_number(&arguments, 2),
             size = get_number(&arguments, 3), target = get_number(&arguments, 4);
    napi_value result = NULL;
    if (!check(&arguments)) return NULL;
    uint32_t length =
        lz4_compress((uint16_t *)(void *)(memory + table), memory + source, size, memory + target);
    napi_create_uint32(env, length, &result);
    return result;
}

static napi_value unfold(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 3);
    struct unfold *state = (void *)get_memory(&arguments, 0);
    struct words words = get_words(&arguments, 1), piece = get_words(&arguments, 2);
    napi_value result = NULL;
    if (!check(&arguments)) return NULL;
    uint32_t end = words.length / 4 * 4;
    napi_create_uint32(env, unfold_lanes(state, words.start, end, piece.start, piece.length), &result);
    return result;
}

static void unmap(napi_env env, void *data, void *hint)
{
    (void)env, (void)hint;
    mapping_close(data);
}

/*
 * The engine counts a buffer as memory that collecting garbage may free, and for one of this size begins to.
 * A mapping is neither garbage nor memory of this process: it is taken off the count while it is open.
 */
static void adjust_pressure(napi_env env, double change)
{
    int64_t sum = 0;
    napi_adjust_external_memory(env, (int64_t)change, &sum);
}

static napi_value map_file(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 2);
    uint32_t fd = get_number(&arguments, 0);
    double size = 0;
    if (arguments.valid)
        arguments.valid = napi_get_value_double(env, arguments.values[1], &size) == napi_ok && size >= 1;
    if (!check(&arguments)) return NULL;
    napi_value result = NULL;
    uint8_t *start = mapping_open((int)fd, (size_t)size);
    if (start && napi_create_external_arraybuffer(env, start, (size_t)size, unmap, NULL, &result) != napi_ok)
        mapping_close(start);
    if (result)
        adjust_pressure(env, -size);
    else
        napi_get_null(env, &result);
    return result;
}

/* The mapping is closed when the engine lets go of the buffer's memory. */
static napi_value unmap_file(napi_env env, napi_callback_info info)
{
    struct arguments arguments = get_arguments(env, info, 1);
    void *start = NULL;
    size_t size = 0;
    if (arguments.valid && napi_get_arraybuffer_info(env, arguments.values[0], &start, &size) == napi_ok)
        adjust_pressure(env, (double)size);
    if (arguments.valid) arguments.valid = napi_detach_arraybuffer(env, arguments.values[0]) == napi_ok;
    check(&arguments);
    return NULL;
}

static bool export_text(napi_env env, napi_value exports, const char *name, const char *text)
{
    napi_value value;
    return napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value) == napi_ok &&
           napi_set_named_property(env, exports, name, value) == napi_ok;
}

NAPI_MODULE_INIT()
{
    const napi_property_descriptor functions[] = {
        {.utf8name = "openRun", .method = open_run, .attributes = napi_enumerable},
        {.utf8name = "frameRun", .method = run_frames, .attributes = napi_enumerable},
        {.utf8name = "encodeCheckpoint", .method = write_checkpoint, .attributes = napi_enumerable},
        {.utf8name = "sumsAdd", .method = add_to_sum, .attributes = napi_enumerable},
        {.utf8name = "sumsEndFrame", .method = end_frame, .attributes = napi_enumerable},
        {.utf8name = "sumsAbortFrame", .method = abort_frame, .attributes = napi_enumerable},
        {.utf8name = "sumsClose", .method = close_sums, .attributes = napi_enumerable},
        {.utf8name = "lz4Compress", .method = compress, .attributes = napi_enumerable},
        {.utf8name = "openPool", .method = open_pool, .attributes = napi_enumerable},
        {.utf8name = "poolCompress", .method = compress_in_pool, .attributes = napi_enumerable},
        {.utf8name = "openIndexer", .method = open_indexer, .attributes = napi_enumerable},
        {.utf8name = "poolIndex", .method = index_in_pool, .attributes = napi_enumerable},
        {.utf8name = "openLevels", .method = open_levels, .attributes = napi_enumerable},
        {.utf8name = "levelsAdd", .method = add_to_levels, .attributes = napi_enumerable},
        {.utf8name = "levelsFinish", .method = finish_levels, .attributes = napi_enumerable},
        {.utf8name = "unfoldLanes", .method = unfold, .attributes = napi_enumerable},
        {.utf8name = "mapFile", .method = map_file, .attributes = napi_enumerable},
        {.utf8name = "unmapFile", .method = unmap_file, .attributes = napi_enumerable},
    };
    bool good =
        napi_define_properties(env, exports, sizeof functions / sizeof *functions, functions) == napi_ok &&
        export_text(env, exports, "sources", SOURCES_SHA256);
    return good ? exports : NULL;
}
