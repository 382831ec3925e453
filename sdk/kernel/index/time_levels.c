/* SPDX-License-Identifier: Apache-2.0 */
#include "time_levels.h"

#include "columns.h"
#include "columns_in.h"
#include "pieces.h"
#include "rows.h"

enum { FLAG_LACKS = 1, FLAG_ALIGNED = 2 };

static const double TWO_TO_64 = 18446744073709551616.0;

/* -- memory */

static uint64_t bucket_cycles(uint32_t level)
{
    return (uint64_t)PLAN_BUCKET_CYCLES << 2 * level;
}

/* Levels from 1 on, up to the first one that has `FAN_OUT` buckets at most. */
static uint32_t levels_until(uint64_t cycles)
{
    uint32_t level = 1;
    while (level < MAX_LEVEL && cycles / bucket_cycles(level) >= FAN_OUT)
        level++;
    return level;
}

static void set_kinds(struct time_levels *time, const uint32_t *plan, uint32_t index)
{
    const struct plan_storage *storages = plan_storages(plan);
    for (uint32_t id = 0; id < plan_head(plan)->storages; id++) {
        const struct plan_storage *storage = storages + id;
        if (storage->group != index) continue;
        if (storage->kind == STORAGE_COUNTER) {
            time->kinds[1 + storage->column] = COLUMN_SIGNED;
            time->is_signed[1 + storage->column] = 1;
        }
        if (storage->kind != STORAGE_SPARSE && storage->kind != STORAGE_DENSE_BUFFER) continue;
        uint32_t column = storage->column + 2;
        time->occupancy[time->num_occupancy++] = column;
        for (uint32_t i = 0; i < 3; i++)
            time->kinds[1 + column + i] = (uint8_t)(COLUMN_TIME + i);
    }
}

void time_levels_lay_out(struct time_levels *time, struct arena *arena, const uint32_t *plan, uint32_t index,
                         uint64_t start, uint64_t end)
{
    const struct plan_group *group = plan_groups(plan) + index;
    uint32_t columns = group->columns, limit = columns ? MAX_CELLS / columns : CHUNK_ROWS;
    uint32_t chunk_rows = limit < 1 ? 1 : limit < CHUNK_ROWS ? limit : CHUNK_ROWS;
    uint32_t count = levels_until(end / group->period);
    uint32_t most = columns && MAX_CELLS / columns < MAX_ROWS ? MAX_CELLS / columns : MAX_ROWS;
    uint8_t *kinds = take_zeros(arena, columns + 1), *is_signed = take_zeros(arena, columns + 1);
    uint32_t *occupancy = take(arena, (columns / 3 + 1) * sizeof *occupancy);
    double *cells = take(arena, (uint64_t)most * (columns + 1) * sizeof *cells);
    uint64_t *encoded = take(arena, (uint64_t)chunk_rows * (columns + 1) * sizeof *encoded);
    struct time_level *levels = take_zeros(arena, count * sizeof *levels);
    for (uint32_t i = 0; i < count; i++) {
        double *rows = take(arena, (uint64_t)chunk_rows * columns * sizeof *rows);
        struct level_row *heads = take(arena, chunk_rows * sizeof *heads);
        double *open = take(arena, columns * sizeof *open), *between = take(arena, columns * sizeof *between);
        if (arena->base)
            levels[i] = (struct time_level){.rows = rows, .heads = heads, .open = open, .between = between};
    }
    if (!arena->base) return;
    *time = (struct time_levels){
        .levels = levels,
        .kinds = kinds,
        .is_signed = is_signed,
        .occupancy = occupancy,
        .cells = cells,
        .encoded = encoded,
        .period = group->period,
        .known = start,
        .list = index,
        .columns = columns,
        .stride = columns + 1,
        .count = count,
        .chunk_rows = chunk_rows,
        .counted = end / group->period <= (uint64_t)1 << 58,
    };
    set_kinds(time, plan, index);
}

/* -- chunks */

/* As JavaScript's Math.round has it. */
static double rounded(double value)
{
    double floor = __builtin_floor(value);
    return value - floor >= 0.5 ? floor + 1 : floor;
}

static bool is_multiple(double value, uint64_t period)
{
    if (value != __builtin_floor(value)) return false;
    if (value < TWO_TO_64) return (uint64_t)value % period == 0;
    uint32_t doublings = 0;
    for (; value >= TWO_TO_64; value /= 2)
        doublings++;
    uint64_t rest = (uint64_t)value % period;
    for (; doublings; doublings--)
        rest = rest * 2 % period;
    return rest == 0;
}

static bool is_aligned(const struct time_levels *time, const struct time_level *level)
{
    for (uint32_t row = 0; row < level->count; row++)
        for (uint32_t i = 0; i < time->num_occupancy; i++)
            if (!is_multiple(level->rows[(uint64_t)row * time->columns + time->occupancy[i]], time->period))
                return false;
    return true;
}

/* A number as it is stored; sets `failed` where it has more than 64 bits. */
static uint64_t stored(double value, uint8_t kind, double unit, struct output *out)
{
    double number = rounded(kind == COLUMN_TIME ? value / unit : value);
    if (kind == COLUMN_SIGNED) {
        if (!(number < TWO_TO_64 / 2 && number >= -TWO_TO_64 / 2)) out->failed = true;
        return out->failed ? 0 : zigzag((uint64_t)(int64_t)number);
    }
    if (!(number < TWO_TO_64 && number >= 0)) out->failed = true;
    return out->failed ? 0 : (uint64_t)number;
}

/* The end of time where it is beyond that. Written so that the compiler does not call for a product of 128
 * bits. */
static uint64_t start_of(uint64_t bucket, uint64_t bucket_ps)
{
    uint64_t last = UINT64_MAX / bucket_ps;
    return bucket && bucket - 1 >= last ? UINT64_MAX : bucket * bucket_ps;
}

static void put_chunk(struct time_levels *time, uint32_t number, struct output *out)
{
    struct time_level *level = time->levels + number - 1;
    const struct level_row *first = level->heads, *last = level->heads + level->count - 1;
    bool aligned = is_aligned(time, level) && time->period != 1, lacks = false;
    double unit = aligned ? (double)time->period : 1;
    for (uint32_t row = 0; row < level->count; row++) {
        uint64_t *cells = time->encoded + (uint64_t)row * time->stride;
        const double *values = level->rows + (uint64_t)row * time->columns;
        lacks = lacks || level->heads[row].lacks;
        cells[0] = level->heads[row].span - 1;
        for (uint32_t column = 0; column < time->columns; column++)
            cells[1 + column] = stored(values[column], time->kinds[1 + column], unit, out);
    }
    struct piece piece = piece_begin(out);
    uint64_t bucket_ps = time->period * bucket_cycles(number), from = start_of(first->bucket, bucket_ps);
    put_leb(out, (lacks ? FLAG_LACKS : 0u) | (aligned ? FLAG_ALIGNED : 0u));
    put_leb(out, from);
    put_leb(out, start_of(last->bucket + last->span, bucket_ps) - from);
    put_leb(out, number);
    put_leb(out, level->count);
    struct table table = {time->encoded, level->count, time->stride, time->stride};
    put_columns(out, &table);
    struct made_piece made = {
        time->list, number, level->count, 0, (double)first->bucket, (double)(last->bucket + last->span)};
    piece_end(&piece, made);
    level->count = 0;
}

/* -- rows */

static void take_row(struct time_levels *time, uint32_t number, const double *values, struct level_row row,
                     uint64_t ratio, double unit, struct output *out);

/* A row that is finished: it is kept, and goes into the next level. */
static void keep_row(struct time_levels *time, uint32_t number, const double *values, struct level_row row,
                     struct output *out)
{
    struct time_level *level = time->levels + number - 1;
    if (level->count == time->chunk_rows) put_chunk(time, number, out);
    copy_bytes(level->rows + (uint64_t)level->count * time->columns, values, time->columns * sizeof *values);
    level->heads[level->count++] = row;
    if (number < time->count) take_row(time, number + 1, values, row, FAN_OUT, 1, out);
}

/* Rows follow each other: where nothing is known of a while, nothing happened in it. */
static void emit_row(struct time_levels *time, uint32_t number, const double *values, struct level_row row,
                     struct output *out)
{
    struct time_level *level = time->levels + number - 1;
    uint64_t next = level->next;
    bool has_gap = level->has_next && row.bucket > next;
    level->next = row.bucket + row.span;
    level->has_next = true;
    if (has_gap) {
        if (level->count == time->chunk_rows) put_chunk(time, number, out);
        double *zeros = level->rows + (uint64_t)level->count * time->columns;
        clear_bytes(zeros, time->columns * sizeof *zeros);
        struct level_row gap = {next, row.bucket - next, false};
        level->heads[level->count++] = gap;
        if (number < time->count) take_row(time, number + 1, zeros, gap, FAN_OUT, 1, out);
    }
    keep_row(time, number, values, row, out);
}

static void close_row(struct time_levels *time, uint32_t number, struct output *out)
{
    struct time_level *level = time->levels + number - 1;
    if (!level->has_open) return;
    level->has_open = false;
    emit_row(time, number, level->open, level->opened, out);
}

/* The row of a bucket, to be added to. */
static double *row_at(struct time_levels *time, uint32_t number, uint64_t bucket, bool lacks,
                      struct output *out)
{
    struct time_level *level = time->levels + number - 1;
    if (!level->has_open || bucket > level->opened.bucket) {
        close_row(time, number, out);
        level->opened = (struct level_row){bucket, 1, false};
        level->has_open = true;
        clear_bytes(level->open, time->columns * sizeof *level->open);
    }
    level->opened.lacks = level->opened.lacks || lacks;
    return level->open;
}

static void combine_extremes(double *values, double least, double most)
{
    if (least > 0 && (values[1] == 0 || least < values[1])) values[1] = least;
    if (most > values[2]) values[2] = most;
}

static void add_sums(const struct time_levels *time, double *into, const double *values)
{
    for (uint32_t column = 0; column < time->columns; column++)
        if (time->kinds[1 + column] <= COLUMN_SIGNED) into[column] += values[column];
}

/* Of a row's buckets, `buckets` in number. */
static void share_occupancy(const struct time_levels *time, double *into, const double *values,
                            double buckets, double span, double bucket_ps, double unit)
{
    for (uint32_t i = 0; i < time->num_occupancy; i++) {
        const double *from = values + time->occupancy[i];
        double *to = into + time->occupancy[i];
        bool is_same = from[1] == from[2] && from[1] > 0;
        /* Exact where the number of slots is the same all along, as it should be. */
        to[0] += is_same ? (from[1] - 1) * buckets * bucket_ps : from[0] * unit * buckets / span;
        combine_extremes(to, from[1], from[2]);
    }
}

/* A row over several buckets: what the buffers held is the same in all of them, and nothing else happened. */
static void spread_row(struct time_levels *time, uint32_t number, const double *values, struct level_row row,
                       uint64_t ratio, double unit, struct output *out)
{
    uint64_t end = row.bucket + row.span, first = row.bucket / ratio;
    uint64_t head = end < (first + 1) * ratio ? end : (first + 1) * ratio;
    double bucket_ps = (double)(bucket_cycles(number) / ratio * time->period), span = (double)row.span;
    double *into = row_at(time, number, first, row.lacks, out);
    add_sums(time, into, values);
    share_occupancy(time, into, values, (double)(head - row.bucket), span, bucket_ps, unit);
    uint64_t last = end / ratio, begun = (head + ratio - 1) / ratio;
    if (head < end && last > begun) {
        uint64_t whole = last - begun;
        close_row(time, number, out);
        double *between = time->levels[number - 1].between;
        clear_bytes(between, time->columns * sizeof *between);
        share_occupancy(time, between, values, (double)(whole * ratio), span, bucket_ps, unit);
        emit_row(time, number, between, (struct level_row){first + 1, whole, row.lacks}, out);
    }
    uint64_t after = head > last * ratio ? head : last * ratio;
    if (end > after && last > first)
        share_occupancy(time, row_at(time, number, last, row.lacks, out), values, (double)(end - after), span,
                        bucket_ps, unit);
}

/* A row of a finer level; `ratio` of its buckets make one. */
static void take_row(struct time_levels *time, uint32_t number, const double *values, struct level_row row,
                     uint64_t ratio, double unit, struct output *out)
{
    if (row.span != 1) {
        spread_row(time, number, values, row, ratio, unit, out);
        return;
    }
    double *into = row_at(time, number, row.bucket / ratio, row.lacks, out);
    add_sums(time, into, values);
    for (uint32_t i = 0; i < time->num_occupancy; i++) {
        const double *from = values + time->occupancy[i];
        double *to = into + time->occupancy[i];
        to[0] += from[0] * unit;
        combine_extremes(to, from[1], from[2]);
    }
}

/* -- parts */

struct time_part {
    uint64_t from, to, level, rows;
    double unit;
};

static bool read_part(struct time_levels *time, const uint8_t *bytes, uint32_t size, struct time_part *part)
{
    struct input in = {bytes, bytes + size, false};
    uint64_t flags = get_leb(&in);
    part->from = get_leb(&in);
    uint64_t length = get_leb(&in);
    part->to = part->from + length;
    part->level = get_leb(&in);
    part->rows = get_leb(&in);
    part->unit = flags & FLAG_ALIGNED ? (double)time->period : 1;
    if (in.failed || part->to < length || part->level > MAX_PART_LEVEL) return false;
    if (part->rows < 1 || part->rows > MAX_ROWS || part->rows * time->columns > MAX_CELLS) return false;
    return get_columns(&in, time->cells, (uint32_t)part->rows, time->stride, time->is_signed);
}

/* What is missing ends here: rows of zeros keep its place. The part after it begins in the last bucket, which
 * is a row for that reason: what comes later adds to it. */
static void end_hole(struct time_levels *time, uint64_t to, struct output *out)
{
    if (!time->is_missing) return;
    time->is_missing = false;
    uint64_t bucket_ps = time->period * PLAN_BUCKET_CYCLES, from = time->missing_from / bucket_ps;
    uint64_t last = to / bucket_ps > from ? to / bucket_ps : from;
    /* A part that has not been added is not needed any more. */
    clear_bytes(time->cells, time->stride * sizeof *time->cells);
    const double *zeros = time->cells + 1;
    if (last > from) take_row(time, 1, zeros, (struct level_row){from, last - from, true}, FAN_OUT, 1, out);
    take_row(time, 1, zeros, (struct level_row){last, 1, true}, FAN_OUT, 1, out);
}

bool time_levels_add(struct time_levels *time, const uint8_t *bytes, uint32_t size, struct output *out)
{
    struct time_part part;
    bool is_there = bytes && read_part(time, bytes, size, &part);
    time->part_rows = is_there ? (uint32_t)part.rows : 0;
    if (!is_there) {
        if (!time->is_missing) time->missing_from = time->known;
        time->is_missing = true;
        return false;
    }
    time->known = part.to;
    time->any = true;
    if (!time->counted) return true;
    if (time->is_missing) {
        end_hole(time, part.from, out);
        read_part(time, bytes, size, &part);
    }
    uint64_t ratio = FAN_OUT >> 2 * part.level;
    uint64_t bucket = part.from / time->period / bucket_cycles((uint32_t)part.level);
    for (uint32_t row = 0; row < part.rows; row++) {
        const double *values = time->cells + (uint64_t)row * time->stride;
        uint64_t span = (uint64_t)values[0] + 1;
        take_row(time, 1, values + 1, (struct level_row){bucket, span, false}, ratio, part.unit, out);
        bucket += span;
    }
    return true;
}

void time_levels_finish(struct time_levels *time, uint64_t end, struct output *out)
{
    if (!time->any || !time->counted) return;
    end_hole(time, end, out);
    for (uint32_t number = 1; number <= time->count; number++) {
        close_row(time, number, out);
        if (time->levels[number - 1].count) put_chunk(time, number, out);
    }
}

double time_levels_sum(const struct time_levels *time, uint32_t column)
{
    double sum = 0;
    for (uint32_t row = 0; row < time->part_rows; row++)
        sum += time->cells[(uint64_t)row * time->stride + 1 + column];
    return sum;
}
