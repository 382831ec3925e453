/* SPDX-License-Identifier: Apache-2.0 */
#include "blocks.h"
#include "tick.h"

#include <stddef.h>

#define CLEAR(at, size) __builtin_memset(at, 0, size)

enum {
    LONG_STAY = 255,
    KNOWN_PC = 1,
    KNOWN_BITS = 2,
    FLAG_ABRIDGED = 4,
    FLAG_BIRTH_UNKNOWN = 8,
    FLAG_COMPRESSED_KNOWN = 16,
    FLAG_COMPRESSED = 32,
    FLAG_HAS_THREAD = 64,
    FLAG_FLUSHED = 128,
    NO_NUMBER = 0xffffffff,
};
#define NO_PRODUCER INT32_MIN
/* From here on ticks are floating point: the largest number of 32 bits means that there is none. */
#define LONG_TICKS  0xffffffffu

/* What blocks_measure finds out, in the scratch memory. */
struct sorted {
    uint64_t *stage_tick;
    double *long_ticks;
    uint32_t *row_of; /* of the tracker, by row of the block */
    uint32_t *stage_start;
    uint32_t *stage_value;
    uint32_t *long_index;
    uint32_t *path, *path_start, *path_values, *path_table;
    uint32_t *statics, *static_row, *static_table;
    uint32_t *side; /* entries of the log: kind by kind, each by row */
    uint32_t *next; /* while sorting: where the next entry of a row goes */
    uint8_t *stage_ticks;
    uint64_t bytes; /* of all of them */
    uint32_t table_mask;
};

struct space {
    uint8_t *base; /* NULL: it is only measured */
    uint64_t used;
};

static void *place(struct space *space, uint64_t bytes)
{
    void *begin = space->base ? space->base + space->used : 0;
    space->used += (bytes + 7) & ~(uint64_t)7;
    return begin;
}

static uint32_t table_size(uint32_t rows)
{
    uint32_t size = 16;
    while (size < rows * 2)
        size *= 2;
    return size;
}

static struct sorted lay_out(uint8_t *scratch, uint32_t rows, uint64_t stages, uint64_t sides)
{
    struct sorted s;
    struct space space = {scratch, 0};
    uint32_t table = table_size(rows);
    uint64_t words = (uint64_t)rows + 2;
    s.stage_tick = place(&space, stages * 8);
    s.long_ticks = place(&space, stages * 8);
    s.row_of = place(&space, words * 4);
    s.stage_start = place(&space, words * 4);
    s.stage_value = place(&space, stages * 4);
    s.long_index = place(&space, stages * 4);
    s.path = place(&space, words * 4);
    s.path_start = place(&space, words * 4);
    s.path_values = place(&space, stages * 4);
    s.path_table = place(&space, (uint64_t)table * 4);
    s.statics = place(&space, words * 4);
    s.static_row = place(&space, words * 4);
    s.static_table = place(&space, (uint64_t)table * 4);
    s.side = place(&space, sides * 4);
    s.next = place(&space, words * 4);
    s.stage_ticks = place(&space, stages);
    s.bytes = space.used;
    s.table_mask = table - 1;
    return s;
}

uint32_t blocks_scratch(const struct tracker *t, uint32_t rows)
{
    return (uint32_t)lay_out(0, rows, t->num_stages, t->num_sides).bytes;
}

static inline uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Internal ticks as those of the block. */
struct clock {
    uint64_t tick, base;
};

struct span {
    uint64_t first, last;
};

static inline void reach(struct span *span, uint64_t tick)
{
    if (tick < span->first) span->first = tick;
    if (tick > span->last) span->last = tick;
}

/* Rows, and what is largest in them. */
static void gather_rows(const struct tracker *t, struct sorted *s, struct block_shape *shape,
                        struct span *span)
{
    shape->slots_are_ids = shape->is_in_sequence = 1;
    bool has_ordinal = false;
    for (uint32_t i = 0; i < t->num_rows; i++) {
        uint32_t mark = t->marks[i];
        if (mark >= MARK_DROP) continue;
        const struct row *row = t->rows + i;
        s->row_of[mark] = i;
        if (row->birth != TRACKER_NO_TICK) reach(span, row->birth);
        if (row->end != TRACKER_NO_TICK) reach(span, row->end);
        if (!has_ordinal && row->ordinal != TRACKER_NONE) {
            has_ordinal = true;
            shape->first_ordinal = row->ordinal;
        }
        if (row->slot != row->id) shape->slots_are_ids = 0;
        shape->max_id = larger(shape->max_id, row->id);
        shape->max_slot = larger(shape->max_slot, row->slot);
        if (row->flags & ROW_HAS_THREAD) {
            shape->has_threads = 1;
            shape->max_thread = larger(shape->max_thread, row->thread);
        }
    }
    for (uint32_t i = 0; i < shape->rows; i++)
        if (t->rows[s->row_of[i]].ordinal != shape->first_ordinal + i) shape->is_in_sequence = 0;
}

static void count_stages(const struct tracker *t, struct sorted *s, struct block_shape *shape,
                         struct span *span)
{
    CLEAR(s->stage_start, (shape->rows + 1) * sizeof *s->stage_start);
    uint32_t *counts = s->stage_start + 1;
    for (uint32_t i = 0; i < t->num_stages; i++) {
        const struct stage_entry *entry = t->stages + i;
        uint32_t row = t->marks[entry->row];
        if (row >= MARK_DROP) continue;
        counts[row]++;
        reach(span, entry->tick);
        shape->max_value = larger(shape->max_value, entry->value);
    }
    for (uint32_t row = 0; row < shape->rows; row++)
        s->stage_start[row + 1] += s->stage_start[row];
    shape->stages = s->stage_start[shape->rows];
}

static void sort_stages(const struct tracker *t, struct sorted *s, const struct block_shape *shape)
{
    for (uint32_t row = 0; row < shape->rows; row++)
        s->next[row] = s->stage_start[row];
    for (uint32_t i = 0; i < t->num_stages; i++) {
        const struct stage_entry *entry = t->stages + i;
        uint32_t row = t->marks[entry->row];
        if (row >= MARK_DROP) continue;
        uint32_t at = s->next[row]++;
        s->stage_value[at] = entry->value;
        s->stage_tick[at] = entry->tick;
    }
}

static void count_sides(const struct tracker *t, struct block_shape *shape, struct span *span)
{
    for (uint32_t i = 0; i < t->num_sides; i++) {
        const struct side_entry *entry = t->sides + i;
        if (t->marks[entry->row] >= MARK_DROP) continue;
        shape->sides[entry->kind]++;
        reach(span, entry->tick);
        if (entry->kind == SIDE_DEPENDENCY)
            shape->max_type = larger(shape->max_type, entry->b);
        else if (entry->kind == SIDE_STALL)
            shape->max_stall = larger(shape->max_stall, entry->a);
        else if (entry->kind == SIDE_FLUSH)
            shape->max_flush = larger(shape->max_flush, entry->a);
        else if (entry->kind == SIDE_ANNOTATION)
            shape->max_string = larger(shape->max_string, entry->a);
    }
}

static void sort_sides(const struct tracker *t, struct sorted *s, const struct block_shape *shape)
{
    uint32_t begin = 0;
    for (uint32_t kind = 0; kind < SIDE_KINDS; begin += shape->sides[kind++]) {
        if (shape->sides[kind] == 0) continue;
        CLEAR(s->next, (shape->rows + 1) * sizeof *s->next);
        for (uint32_t i = 0; i < t->num_sides; i++) {
            uint32_t row = t->marks[t->sides[i].row];
            if (t->sides[i].kind == kind && row < MARK_DROP) s->next[row + 1]++;
        }
        for (uint32_t row = 0; row < shape->rows; row++)
            s->next[row + 1] += s->next[row];
        for (uint32_t i = 0; i < t->num_sides; i++) {
            uint32_t row = t->marks[t->sides[i].row];
            if (t->sides[i].kind == kind && row < MARK_DROP) s->side[begin + s->next[row]++] = i;
        }
    }
}

/* Internal ticks in one of the block, which is as long as its times allow. */
static uint64_t common_tick(const struct tracker *t, const struct sorted *s, const struct block_shape *shape)
{
    if (!t->off_grid) return 1;
    uint64_t common = t->plan->period_ps / t->tick_ps;
    for (uint32_t row = 0; row < shape->rows && common > 1; row++) {
        const struct row *r = t->rows + s->row_of[row];
        if (r->birth != TRACKER_NO_TICK) common = greatest_divisor(common, r->birth);
        if (r->end != TRACKER_NO_TICK) common = greatest_divisor(common, r->end);
    }
    for (uint32_t i = 0; i < t->num_stages && common > 1; i++)
        if (t->marks[t->stages[i].row] < MARK_DROP) common = greatest_divisor(common, t->stages[i].tick);
    for (uint32_t i = 0; i < t->num_sides && common > 1; i++)
        if (t->marks[t->sides[i].row] < MARK_DROP) common = greatest_divisor(common, t->sides[i].tick);
    return common;
}

static inline uint32_t mix(uint64_t value)
{
    value *= 0x9e3779b97f4a7c15ull;
    return (uint32_t)(value >> 32);
}

static void name_static(const struct tracker *t, struct sorted *s, struct block_shape *shape, uint32_t row)
{
    const struct row *r = t->rows + s->row_of[row];
    uint32_t known = r->flags & (ROW_HAS_PC | ROW_HAS_BITS);
    uint32_t at = mix(r->pc ^ (uint64_t)r->bits << 24 ^ known) & s->table_mask;
    for (;; at = (at + 1) & s->table_mask) {
        uint32_t number = s->static_table[at];
        if (number == 0) break;
        const struct row *other = t->rows + s->static_row[number - 1];
        if (other->pc != r->pc || other->bits != r->bits) continue;
        if ((other->flags & (ROW_HAS_PC | ROW_HAS_BITS)) != known) continue;
        s->statics[row] = number - 1;
        return;
    }
    s->statics[row] = shape->statics;
    s->static_row[shape->statics] = s->row_of[row];
    shape->max_pc_hi = larger(shape->max_pc_hi, (uint32_t)(r->pc >> 32));
    s->static_table[at] = ++shape->statics;
}

static bool same_path(const struct sorted *s, uint32_t path, const uint32_t *values, uint32_t length)
{
    uint32_t start = s->path_start[path];
    if (s->path_start[path + 1] - start != length) return false;
    for (uint32_t i = 0; i < length; i++)
        if (s->path_values[start + i] != values[i]) return false;
    return true;
}

static void name_path(struct sorted *s, struct block_shape *shape, uint32_t row)
{
    const uint32_t *values = s->stage_value + s->stage_start[row];
    uint32_t length = s->stage_start[row + 1] - s->stage_start[row];
    uint64_t hash = length;
    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ values[i]) * 0x100000001b3ull + 0x9e37;
    uint32_t at = mix(hash) & s->table_mask;
    for (;; at = (at + 1) & s->table_mask) {
        uint32_t number = s->path_table[at];
        if (number == 0) break;
        if (!same_path(s, number - 1, values, length)) continue;
        s->path[row] = number - 1;
        return;
    }
    for (uint32_t i = 0; i < length; i++)
        s->path_values[shape->path_values++] = values[i];
    s->path[row] = shape->paths;
    s->path_table[at] = ++shape->paths;
    s->path_start[shape->paths] = shape->path_values;
}

/* Ticks of the block since the birth of the row, or since the block begins. Where frames went back in time
 * they are negative. */
static int64_t delay_of(const struct tracker *t, const struct side_entry *entry, struct clock clock)
{
    uint64_t birth = t->rows[entry->row].birth;
    uint64_t since = birth == TRACKER_NO_TICK ? clock.base * clock.tick : birth;
    int64_t delay = (int64_t)(entry->tick - since);
    return clock.tick == 1 ? delay : delay / (int64_t)clock.tick;
}

/* No row of the block: see `foreign` in sdk/src/semantics/blocks/block.ts. */
static bool is_foreign(const struct tracker *t, const struct block_shape *shape,
                       const struct side_entry *entry)
{
    if (!shape->is_in_sequence || entry->producer != PRODUCER_ROW) return true;
    return t->marks[entry->w[0]] >= MARK_DROP || t->rows[entry->w[0]].ordinal == TRACKER_NONE;
}

static void measure_sides(const struct tracker *t, const struct sorted *s, struct block_shape *shape,
                          struct clock clock)
{
    const uint32_t *side = s->side;
    for (uint32_t kind = 0; kind < SIDE_KINDS; kind++) {
        for (uint32_t i = 0; i < shape->sides[kind]; i++) {
            uint64_t delay = (uint64_t)delay_of(t, t->sides + *side++, clock);
            if (delay > shape->max_delay[kind]) shape->max_delay[kind] = delay;
        }
    }
    for (uint32_t i = 0; i < shape->sides[SIDE_DEPENDENCY]; i++)
        shape->foreign += is_foreign(t, shape, t->sides + s->side[i]);
}

static void measure_stays(const struct tracker *t, struct sorted *s, struct block_shape *shape, uint64_t base,
                          uint64_t tick)
{
    for (uint32_t row = 0; row < shape->rows; row++) {
        const struct row *r = t->rows + s->row_of[row];
        uint64_t before = r->birth == TRACKER_NO_TICK ? base : r->birth;
        for (uint32_t at = s->stage_start[row]; at < s->stage_start[row + 1]; at++) {
            int64_t stay = (int64_t)(s->stage_tick[at] - before);
            if (tick != 1) stay /= (int64_t)tick;
            before = s->stage_tick[at];
            s->stage_ticks[at] = (uint8_t)stay;
            if ((uint64_t)stay < LONG_STAY) continue;
            s->stage_ticks[at] = LONG_STAY;
            s->long_index[shape->long_stays] = at;
            s->long_ticks[shape->long_stays++] = (double)stay;
        }
    }
}

void blocks_measure(const struct tracker *t, uint32_t rows, uint32_t first_ordinal, uint8_t *scratch,
                    struct block_shape *shape)
{
    struct sorted s = lay_out(scratch, rows, t->num_stages, t->num_sides);
    struct span span = {UINT64_MAX, 0};
    *shape = (struct block_shape){.rows = rows, .first_ordinal = first_ordinal};
    CLEAR(s.path_table, (s.table_mask + 1) * sizeof *s.path_table);
    CLEAR(s.static_table, (s.table_mask + 1) * sizeof *s.static_table);
    s.path_start[0] = 0;
    gather_rows(t, &s, shape, &span);
    count_stages(t, &s, shape, &span);
    count_sides(t, shape, &span);
    sort_stages(t, &s, shape);
    sort_sides(t, &s, shape);
    if (span.first > span.last) span = (struct span){0, 0};
    uint64_t tick = common_tick(t, &s, shape);
    shape->tick_ps = t->tick_ps * tick;
    shape->base = span.first / tick;
    shape->is_long = span.last / tick - shape->base >= LONG_TICKS;
    for (uint32_t row = 0; row < rows; row++) {
        name_static(t, &s, shape, row);
        name_path(&s, shape, row);
    }
    measure_stays(t, &s, shape, span.first, tick);
    measure_sides(t, &s, shape, (struct clock){tick, shape->base});
}

/* -- columns */

static inline void put(const struct block_column *column, uint32_t index, uint32_t value)
{
    if (column->width == 1)
        column->at[index] = (uint8_t)value;
    else if (column->width == 2)
        ((uint16_t *)(void *)column->at)[index] = (uint16_t)value;
    else if (column->width == 4)
        ((uint32_t *)(void *)column->at)[index] = value;
}

static void put_all(const struct block_column *column, const uint32_t *values, uint32_t number)
{
    if (column->width == 4) {
        __builtin_memcpy(column->at, values, (size_t)number * 4);
        return;
    }
    for (uint32_t i = 0; i < number; i++)
        put(column, i, values[i]);
}

static inline void put_tick(const struct block_column *column, uint32_t index, uint64_t tick,
                            struct clock clock)
{
    uint64_t value = (clock.tick == 1 ? tick : tick / clock.tick) - clock.base;
    if (tick == TRACKER_NO_TICK) value = NO_NUMBER;
    if (column->width == 4)
        ((uint32_t *)(void *)column->at)[index] = (uint32_t)value;
    else
        ((double *)(void *)column->at)[index] = (double)value;
}

static uint8_t flags_of(const struct row *row)
{
    uint32_t flags = row->end == TRACKER_NO_TICK ? ROW_IN_FLIGHT : row->how;
    if (row->flags & ROW_ABRIDGED) flags |= FLAG_ABRIDGED;
    if (row->birth == TRACKER_NO_TICK) flags |= FLAG_BIRTH_UNKNOWN;
    if (row->flags & ROW_HAS_COMPRESSED) flags |= FLAG_COMPRESSED_KNOWN;
    if (row->flags & ROW_COMPRESSED) flags |= FLAG_COMPRESSED;
    if (row->flags & ROW_HAS_THREAD) flags |= FLAG_HAS_THREAD;
    if (row->flush) flags |= FLAG_FLUSHED;
    return (uint8_t)flags;
}

static void write_rows(const struct tracker *t, const struct sorted *s, const struct block_shape *shape,
                       const struct block_column *columns, struct clock clock)
{
    for (uint32_t i = 0; i < shape->rows; i++) {
        const struct row *row = t->rows + s->row_of[i];
        put_tick(columns + COLUMN_BIRTH, i, row->birth, clock);
        put_tick(columns + COLUMN_END, i, row->end, clock);
        columns[COLUMN_FLAGS].at[i] = flags_of(row);
        put(columns + COLUMN_ID, i, row->id);
        put(columns + COLUMN_SLOT, i, row->slot);
        put(columns + COLUMN_THREAD, i, row->thread);
        uint32_t number = row->ordinal == TRACKER_NONE ? NO_NUMBER : row->ordinal - shape->first_ordinal;
        put(columns + COLUMN_NUMBERS, i, number);
    }
}

static void write_statics(const struct tracker *t, const struct sorted *s, const struct block_shape *shape,
                          const struct block_column *columns)
{
    put_all(columns + COLUMN_STATICS, s->statics, shape->rows);
    for (uint32_t i = 0; i < shape->statics; i++) {
        const struct row *row = t->rows + s->static_row[i];
        put(columns + COLUMN_STATIC_PC_LO, i, (uint32_t)row->pc);
        put(columns + COLUMN_STATIC_PC_HI, i, (uint32_t)(row->pc >> 32));
        put(columns + COLUMN_STATIC_BITS, i, row->bits);
        put(columns + COLUMN_STATIC_KNOWN, i,
            (row->flags & ROW_HAS_PC ? KNOWN_PC : 0) | (row->flags & ROW_HAS_BITS ? KNOWN_BITS : 0));
    }
}

static void write_stages(const struct sorted *s, const struct block_shape *shape,
                         const struct block_column *columns)
{
    put_all(columns + COLUMN_PATH, s->path, shape->rows);
    put_all(columns + COLUMN_PATH_START, s->path_start, shape->paths + 1);
    put_all(columns + COLUMN_PATH_VALUES, s->path_values, shape->path_values);
    put_all(columns + COLUMN_STAGE_START, s->stage_start, shape->rows + 1);
    __builtin_memcpy(columns[COLUMN_STAGE_TICKS].at, s->stage_ticks, shape->stages);
    put_all(columns + COLUMN_LONG_INDEX, s->long_index, shape->long_stays);
    __builtin_memcpy(columns[COLUMN_LONG_TICKS].at, s->long_ticks, (size_t)shape->long_stays * 8);
}

/* The number of a producer, in front of or in the block; its address where it is no row of it. */
static void write_producer(const struct tracker *t, const struct block_shape *shape,
                           const struct side_entry *entry, const struct block_column *columns, uint32_t index,
                           uint32_t *foreign)
{
    const struct row *row = entry->producer == PRODUCER_ROW ? t->rows + entry->w[0] : 0;
    uint32_t ordinal = row                                ? row->ordinal
                       : entry->producer == PRODUCER_GONE ? (uint32_t)entry->w[0]
                                                          : TRACKER_NONE;
    int64_t distance = (int64_t)ordinal - (int64_t)shape->first_ordinal;
    bool has_number = ordinal != TRACKER_NONE && distance <= INT32_MAX && distance > INT32_MIN;
    put(columns + COLUMN_PRODUCER, index, has_number ? (uint32_t)distance : (uint32_t)NO_PRODUCER);
    if (!is_foreign(t, shape, entry)) return;
    uint64_t pc = row ? row->pc : entry->w[1];
    uint32_t flags = row ? row->flags : entry->producer_flags;
    uint32_t at = (*foreign)++;
    put(columns + COLUMN_FOREIGN_AT, at, index);
    put(columns + COLUMN_FOREIGN_ON, at, entry->a);
    put(columns + COLUMN_FOREIGN_KNOWN, at, flags & ROW_HAS_PC ? KNOWN_PC : 0);
    put(columns + COLUMN_FOREIGN_PC_LO, at, (uint32_t)pc);
    put(columns + COLUMN_FOREIGN_PC_HI, at, (uint32_t)(pc >> 32));
}

static void write_trap(const struct side_entry *entry, const struct block_column *columns, uint32_t index)
{
    put(columns + COLUMN_TRAP_KNOWN, index, entry->known);
    for (uint32_t i = 0; i < 3; i++) {
        put(columns + COLUMN_TRAP_WORDS, index * 6 + i * 2, (uint32_t)entry->w[i]);
        put(columns + COLUMN_TRAP_WORDS, index * 6 + i * 2 + 1, (uint32_t)(entry->w[i] >> 32));
    }
}

static void write_sides(const struct tracker *t, const struct sorted *s, const struct block_shape *shape,
                        const struct block_column *columns, struct clock clock)
{
    const uint32_t *side = s->side;
    uint32_t foreign = 0;
    for (uint32_t kind = 0; kind < SIDE_KINDS; kind++) {
        for (uint32_t i = 0; i < shape->sides[kind]; i++) {
            const struct side_entry *entry = t->sides + *side++;
            put(columns + COLUMN_SIDE_ROW + kind, i, t->marks[entry->row]);
            const struct block_column *delays = columns + COLUMN_SIDE_DELAY + kind;
            int64_t delay = delay_of(t, entry, clock);
            if (delays->width == 8)
                ((double *)(void *)delays->at)[i] = (double)delay;
            else
                put(delays, i, (uint32_t)delay);
            if (kind == SIDE_DEPENDENCY) {
                put(columns + COLUMN_TYPE, i, entry->b);
                write_producer(t, shape, entry, columns, i, &foreign);
            } else if (kind == SIDE_STALL)
                put(columns + COLUMN_STALL, i, entry->a);
            else if (kind == SIDE_ANNOTATION) {
                put(columns + COLUMN_STRING, i, entry->a);
                put(columns + COLUMN_ANNOTATION_KIND, i, entry->b);
            } else if (kind == SIDE_FLUSH)
                put(columns + COLUMN_FLUSH, i, entry->a);
            else
                write_trap(entry, columns, i);
        }
    }
}

void blocks_write(const struct tracker *t, const uint8_t *scratch, const struct block_shape *shape,
                  const struct block_column *columns)
{
    struct sorted s = lay_out((uint8_t *)scratch, shape->rows, t->num_stages, t->num_sides);
    struct clock clock = {shape->tick_ps / t->tick_ps, shape->base};
    write_rows(t, &s, shape, columns, clock);
    write_statics(t, &s, shape, columns);
    write_stages(&s, shape, columns);
    write_sides(t, &s, shape, columns, clock);
}
