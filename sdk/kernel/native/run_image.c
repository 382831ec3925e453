/* SPDX-License-Identifier: Apache-2.0 */
#include "run_image.h"

#include <stdlib.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the words of an image are little-endian, and so are records"
#endif

/* Words of the image of `struct run`. */
enum {
    IMAGE_OUT = 1, /* records are given apart */
    IMAGE_STORAGES,
    IMAGE_EVENTS,
    IMAGE_NUM_STORAGES,
    IMAGE_NUM_EVENTS,
    IMAGE_SUMS,
    IMAGE_TOUCHED,
    IMAGE_NUM_SUMS,
    IMAGE_NUM_TOUCHED,
    IMAGE_END,
    IMAGE_MARGIN_BEGIN,
    IMAGE_SOFT_LIMIT,
    IMAGE_HARD_LIMIT,
    IMAGE_BEGIN,
    IMAGE_COMPACT,
    IMAGE_OUT_LENGTH,
    IMAGE_FRAMES,
    IMAGE_ACTIVE_FRAMES,
    IMAGE_ITEMS,
    IMAGE_DROPPED,
    IMAGE_NONE,
    IMAGE_GRID,
    IMAGE_LAST = IMAGE_GRID + 2,
    IMAGE_ORDINAL = IMAGE_LAST + 2
};

/* Image of `struct storage`. */
struct storage_row {
    uint32_t slots, fields, properties, number, sparse, occupied, cells, property_cells, mask, ops;
};

/* Image of `struct op`; what followed it is learned anew. */
struct op_row {
    uint64_t mask, head;
    uint32_t apart, source, storage, cells, learned[6];
};

_Static_assert(sizeof(struct storage_row) == 10 * 4 && sizeof(struct op_row) == 14 * 4, "rows of the tables");
_Static_assert(sizeof(struct sum) == 20 * 4, "both builds have it in common");

static void *at(const struct run_image *image, uint32_t offset)
{
    return image->memory + offset;
}

static void *at_word(const struct run_image *image, uint32_t word)
{
    return at(image, image->words[word]);
}

static uint64_t load_pair(const uint32_t *words)
{
    return words[0] | (uint64_t)words[1] << 32;
}

static void store_pair(uint32_t *words, uint64_t value)
{
    words[0] = (uint32_t)value;
    words[1] = (uint32_t)(value >> 32);
}

/* The op of no storage is the last one of the table. */
static uint32_t count_ops(const struct run_image *image, uint32_t first)
{
    return (image->words[IMAGE_NONE] - first) / (uint32_t)sizeof(struct op_row) + 1;
}

static void read_ops(struct run_image *image, const struct op_row *rows, uint32_t count)
{
    struct op *none = image->ops + count - 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct op_row *row = rows + i;
        uint32_t storage =
            (row->storage - image->words[IMAGE_STORAGES]) / (uint32_t)sizeof(struct storage_row);
        image->ops[i] = (struct op){.mask = row->mask,
                                    .head = row->head,
                                    .apart = row->apart,
                                    .source = row->source,
                                    .storage = image->storages + storage,
                                    .cells = at(image, row->cells),
                                    .next = none,
                                    .after = none};
    }
    image->run.none = none;
}

/* After them is one without slots, to which the op of no storage belongs. */
static void read_storages(struct run_image *image, const struct storage_row *rows, uint32_t first_op)
{
    image->storages[image->run.num_storages] = (struct storage){.slots = 0};
    for (uint32_t id = 0; id < image->run.num_storages; id++) {
        const struct storage_row *row = rows + id;
        image->storages[id] =
            (struct storage){.slots = row->slots,
                             .fields = row->fields,
                             .properties = row->properties,
                             .number = row->number,
                             .sparse = row->sparse,
                             .occupied = at(image, row->occupied),
                             .cells = at(image, row->cells),
                             .property_cells = at(image, row->property_cells),
                             .mask = at(image, row->mask),
                             .ops = image->ops + (row->ops - first_op) / sizeof(struct op_row)};
    }
}

bool run_image_open(struct run_image *image, uint8_t *memory, uint32_t run)
{
    *image = (struct run_image){.memory = memory, .words = (uint32_t *)(void *)(memory + run)};
    const uint32_t *words = image->words;
    uint32_t num_storages = words[IMAGE_NUM_STORAGES];
    const struct storage_row *rows = at_word(image, IMAGE_STORAGES);
    uint32_t first_op = num_storages ? rows[0].ops : words[IMAGE_NONE];
    uint32_t num_ops = count_ops(image, first_op);
    image->storages = malloc((num_storages + 1) * sizeof *image->storages);
    image->ops = malloc(num_ops * sizeof *image->ops);
    if (!image->storages || !image->ops) {
        run_image_close(image);
        return false;
    }
    image->run = (struct run){.storages = image->storages,
                              .events = at_word(image, IMAGE_EVENTS),
                              .num_storages = num_storages,
                              .num_events = words[IMAGE_NUM_EVENTS],
                              .sums = {.sum = at_word(image, IMAGE_SUMS),
                                       .touched = at_word(image, IMAGE_TOUCHED),
                                       .length = words[IMAGE_NUM_SUMS]}};
    read_ops(image, at(image, first_op), num_ops);
    read_storages(image, rows, first_op);
    return true;
}

void run_image_close(struct run_image *image)
{
    free(image->storages);
    free(image->ops);
    image->storages = NULL;
    image->ops = NULL;
}

void run_image_take(struct run_image *image, const uint32_t *records)
{
    uint32_t *words = image->words;
    struct run *run = &image->run;
    run->words = records;
    run->out = at_word(image, IMAGE_OUT);
    run->end = words[IMAGE_END];
    run->margin_begin = words[IMAGE_MARGIN_BEGIN];
    run->soft_limit = words[IMAGE_SOFT_LIMIT];
    run->hard_limit = words[IMAGE_HARD_LIMIT];
    run->begin = words[IMAGE_BEGIN];
    run->compact = words[IMAGE_COMPACT];
    run->grid = load_pair(words + IMAGE_GRID);
    run->last = load_pair(words + IMAGE_LAST);
    run->ordinal = load_pair(words + IMAGE_ORDINAL);
    frame_run(run);
    words[IMAGE_BEGIN] = run->begin;
    words[IMAGE_COMPACT] = run->compact;
    words[IMAGE_OUT_LENGTH] = run->out_length;
    words[IMAGE_FRAMES] = run->frames;
    words[IMAGE_ACTIVE_FRAMES] = run->active_frames;
    words[IMAGE_ITEMS] = run->items;
    words[IMAGE_DROPPED] = run->dropped;
    store_pair(words + IMAGE_LAST, run->last);
    store_pair(words + IMAGE_ORDINAL, run->ordinal);
}
