/* SPDX-License-Identifier: Apache-2.0 */
#include "row_levels.h"

#include "columns.h"
#include "columns_in.h"
#include "pieces.h"
#include "rows.h"

enum { OWN_COLUMNS = 7, LATE_COLUMNS = 6, MAX_GROUP_LEVEL = 5 };

/* A part ROWS: where its tables are, and its groups' instructions. */
struct rows_part {
    struct input in;
    double births, group_rows;
    uint32_t groups, late;
};

static uint32_t most_cells(uint32_t stages)
{
    uint32_t own = MAX_GROUPS * (OWN_COLUMNS + 2 * stages);
    return own > MAX_CELLS ? own : MAX_CELLS;
}

void row_levels_lay_out(struct row_levels *rows, struct arena *arena, uint32_t list, uint32_t stages)
{
    uint32_t width = PLACE_STAGES + 2 * stages;
    double *cells = take(arena, most_cells(stages) * sizeof *cells);
    double *open = take(arena, (uint64_t)OPEN_GROUPS * width * sizeof *open);
    double *open_first = take(arena, OPEN_GROUPS * sizeof *open_first);
    uint64_t *encoded = take(arena, (uint64_t)CHUNK_GROUPS * width * sizeof *encoded);
    if (arena->base) {
        *rows = (struct row_levels){.cells = cells,
                                    .open = open,
                                    .open_first = open_first,
                                    .encoded = encoded,
                                    .list = list,
                                    .stages = stages,
                                    .width = width,
                                    .is_known = true};
    }
    for (uint32_t i = 0; i < MAX_LEVEL; i++) {
        double *groups = take(arena, (uint64_t)CHUNK_GROUPS * width * sizeof *groups);
        double *growing = take(arena, width * sizeof *growing);
        if (arena->base) rows->levels[i].groups = groups, rows->levels[i].open = growing;
    }
}

static double rows_per_group(uint32_t level)
{
    return (double)((uint64_t)GROUP_ROWS << 2 * level);
}

/* -- chunks */

static double greater(double a, double b)
{
    return a > b ? a : b;
}

/* Not below 0, as it would be where a part lies. */
static uint64_t stored(const double *group, uint32_t place, struct output *out)
{
    double value = group[place], first = group[PLACE_FIRST_BIRTH];
    if (place == PLACE_LAST_BIRTH) value = greater(0, value - first);
    if (place == PLACE_LAST_END) value = value < 0 ? 0 : greater(0, value - first + 1);
    if (!(value >= 0 && value < 9007199254740992.0)) {
        out->failed = true;
        return 0;
    }
    return (uint64_t)value;
}

static void put_chunk(struct row_levels *rows, uint32_t number, struct output *out)
{
    struct row_level *level = rows->levels + number - 1;
    if (!level->count) return;
    double first_row = level->first_row;
    struct piece piece = piece_begin(out);
    put_leb(out, (uint64_t)first_row);
    put_leb(out, (uint64_t)level->retired);
    put_leb(out, level->count);
    for (uint32_t i = 0; i < level->count; i++) {
        const double *group = level->groups + (uint64_t)i * rows->width;
        for (uint32_t place = 0; place < rows->width; place++)
            rows->encoded[(uint64_t)i * rows->width + place] = stored(group, place, out);
        level->first_row += group[PLACE_ROWS];
        level->retired += group[PLACE_RETIRED];
    }
    struct table table = {rows->encoded, level->count, rows->width, rows->width};
    put_columns(out, &table);
    piece_end(&piece, (struct made_piece){rows->list, number, level->count, 0, first_row, level->first_row});
    level->count = 0;
    level->chunks++;
}

/* -- levels */

static void merge_group(const struct row_levels *rows, double *into, const double *from)
{
    if (into[PLACE_UNKNOWN] == into[PLACE_ROWS]) into[PLACE_FIRST_BIRTH] = from[PLACE_FIRST_BIRTH];
    into[PLACE_ROWS] += from[PLACE_ROWS];
    into[PLACE_LAST_BIRTH] = greater(into[PLACE_LAST_BIRTH], from[PLACE_LAST_BIRTH]);
    into[PLACE_LAST_END] = greater(into[PLACE_LAST_END], from[PLACE_LAST_END]);
    uint32_t longest = PLACE_STAGES + rows->stages;
    for (uint32_t place = PLACE_RETIRED; place < longest; place++)
        into[place] += from[place];
    for (uint32_t place = longest; place < rows->width; place++)
        into[place] = greater(into[place], from[place]);
}

/* A group of a level is finished; it goes into the next one too. */
static void put_group(struct row_levels *rows, uint32_t number, const double *group, struct output *out)
{
    for (;;) {
        struct row_level *level = rows->levels + number - 1;
        uint64_t bytes = rows->width * sizeof *group;
        if (rows->used < number) rows->used = number;
        double *kept = level->groups + (uint64_t)level->count++ * rows->width;
        copy_bytes(kept, group, bytes);
        bool is_full = level->count == CHUNK_GROUPS;
        struct row_level *above = level + 1;
        bool goes_on = false;
        if (number < MAX_LEVEL) {
            if (rows->used <= number) rows->used = number + 1;
            if (above->has_open)
                merge_group(rows, above->open, group);
            else
                copy_bytes(above->open, group, bytes);
            above->has_open = above->open[PLACE_ROWS] < rows_per_group(number + 1);
            goes_on = !above->has_open;
        }
        if (is_full) put_chunk(rows, number, out);
        if (!goes_on) return;
        group = above->open;
        number++;
    }
}

/* -- parts */

static void add_counts(const struct row_levels *rows, double *into, double last_end, const double *counts)
{
    into[PLACE_LAST_END] = greater(into[PLACE_LAST_END], last_end);
    into[PLACE_RETIRED] += counts[0];
    into[PLACE_FLUSHED] += counts[1];
    into[PLACE_ENDED] += counts[2];
    into[PLACE_STALLS] += counts[3];
    for (uint32_t stage = 0; stage < rows->stages; stage++) {
        double *longest = into + PLACE_STAGES + rows->stages + stage;
        into[PLACE_STAGES + stage] += counts[4 + 2 * stage];
        *longest = greater(*longest, counts[5 + 2 * stage]);
    }
}

static uint32_t ring_at(const struct row_levels *rows, uint32_t index)
{
    return (rows->open_begin + index) % OPEN_GROUPS;
}

static double *open_group(const struct row_levels *rows, uint32_t index)
{
    return rows->open + (uint64_t)ring_at(rows, index) * rows->width;
}

static void empty_group(const struct row_levels *rows, double *group, uint32_t segment, double first_birth)
{
    clear_bytes(group, rows->width * sizeof *group);
    group[PLACE_SEGMENT] = segment;
    group[PLACE_FIRST_BIRTH] = first_birth;
    group[PLACE_LAST_END] = -1;
}

static double *growing_group(struct row_levels *rows, uint32_t segment, double first_birth)
{
    if (rows->open_count) {
        double *last = open_group(rows, rows->open_count - 1);
        if (last[PLACE_ROWS] < rows_per_group(1)) return last;
    }
    double *group = open_group(rows, rows->open_count);
    empty_group(rows, group, segment, first_birth);
    rows->open_first[ring_at(rows, rows->open_count++)] = rows->next;
    return group;
}

static void put_open(struct row_levels *rows, struct output *out)
{
    put_group(rows, 1, open_group(rows, 0), out);
    rows->open_begin = ring_at(rows, 1);
    rows->open_count--;
}

static bool is_done(const struct row_levels *rows)
{
    double *group = open_group(rows, 0);
    if (group[PLACE_ROWS] >= rows_per_group(1) && group[PLACE_ENDED] >= group[PLACE_ROWS]) return true;
    if (rows->open_count <= MAX_OPEN) return false;
    /* How these end is not followed any further. The birth of at least one is known. */
    double open = group[PLACE_ROWS] - group[PLACE_ENDED];
    group[PLACE_UNKNOWN] = open < group[PLACE_ROWS] ? open : group[PLACE_ROWS] - 1;
    return true;
}

static void add_late(struct row_levels *rows, uint32_t length)
{
    uint32_t stride = LATE_COLUMNS + 2 * rows->stages, at = 0;
    for (uint32_t i = 0; i < length && rows->open_count; i++) {
        const double *late = rows->cells + (uint64_t)i * stride;
        double row = rows->next - late[0];
        while (at + 1 < rows->open_count && rows->open_first[ring_at(rows, at + 1)] <= row)
            at++;
        if (rows->open_first[ring_at(rows, at)] > row) continue;
        add_counts(rows, open_group(rows, at), late[1] - 1, late + 2);
    }
}

static void add_own(struct row_levels *rows, struct rows_part part, uint32_t segment)
{
    uint32_t groups = part.groups;
    double births = part.births, group_rows = part.group_rows;
    uint32_t stride = OWN_COLUMNS + 2 * rows->stages;
    for (uint32_t i = 0; i < groups; i++) {
        const double *own = rows->cells + (uint64_t)i * stride;
        double *into = growing_group(rows, segment, own[0]);
        double count = i + 1 < groups ? group_rows : births - (double)(groups - 1) * group_rows;
        into[PLACE_ROWS] += count;
        into[PLACE_LAST_BIRTH] = own[0] + own[1];
        add_counts(rows, into, own[2] == 0 ? -1 : own[0] + own[2] - 1, own + 3);
        rows->next += count;
    }
}

/* Its head; false: it is malformed. */
static bool begin_part(const uint8_t *bytes, uint32_t size, struct rows_part *part)
{
    part->in = (struct input){bytes, bytes + size, false};
    uint32_t level = (uint32_t)(get_leb(&part->in) >> 1 & 7);
    uint64_t births = get_leb(&part->in);
    if (part->in.failed || level > MAX_GROUP_LEVEL || births > (uint64_t)MAX_GROUPS * GROUP_ROWS)
        return false;
    uint32_t group_rows = (uint32_t)GROUP_ROWS << 2 * level;
    part->births = (double)births;
    part->group_rows = (double)group_rows;
    part->groups = ((uint32_t)births + group_rows - 1) / group_rows;
    return true;
}

/* Reads one of both tables; false: it is malformed. */
static bool read_table(struct row_levels *rows, struct rows_part *part, uint64_t length, uint32_t own)
{
    uint32_t columns = own + 2 * rows->stages;
    if (length > MAX_ROWS || length * columns > MAX_CELLS) return false;
    return !length || get_columns(&part->in, rows->cells, (uint32_t)length, columns, 0);
}

/* Both tables are well-formed. */
static bool check_part(struct row_levels *rows, struct rows_part part, struct rows_part *late)
{
    if (!read_table(rows, &part, part.groups, OWN_COLUMNS)) return false;
    uint64_t length = get_leb(&part.in);
    if (part.in.failed) return false;
    *late = part;
    late->late = (uint32_t)length;
    return length <= MAX_ROWS && read_table(rows, &part, length, LATE_COLUMNS);
}

double row_levels_births(struct row_levels *rows, const uint8_t *bytes, uint32_t size)
{
    struct rows_part part, late;
    return begin_part(bytes, size, &part) && check_part(rows, part, &late) ? part.births : -1;
}

/* A segment without part: what became of the groups that are open is not known either. */
static void add_unknown(struct row_levels *rows, double births, uint32_t segment, struct output *out)
{
    while (rows->open_count)
        put_open(rows, out);
    if (births == 0) return;
    double *group = open_group(rows, 0);
    empty_group(rows, group, segment, 0);
    group[PLACE_ROWS] = group[PLACE_UNKNOWN] = births;
    rows->next += births;
    put_group(rows, 1, group, out);
}

void row_levels_add(struct row_levels *rows, const uint8_t *bytes, uint32_t size, uint32_t segment,
                    double births, struct output *out)
{
    struct rows_part own, late;
    bool is_there = bytes && begin_part(bytes, size, &own) && check_part(rows, own, &late);
    /* Rows cannot be numbered after an unknown number of them. */
    if (!is_there && births != births) rows->is_known = false;
    if (!rows->is_known) return;
    if (!is_there) {
        add_unknown(rows, births, segment, out);
        return;
    }
    /* `cells` are those of the late groups. */
    add_late(rows, late.late);
    read_table(rows, &own, own.groups, OWN_COLUMNS);
    add_own(rows, own, segment);
    while (rows->open_count && is_done(rows))
        put_open(rows, out);
}

void row_levels_finish(struct row_levels *rows, struct output *out)
{
    if (!rows->is_known) {
        /* What was put out does not count. */
        struct piece piece = piece_begin(out);
        piece_end(&piece, (struct made_piece){rows->list, 0, 0, 0, 0, 0});
        return;
    }
    while (rows->open_count)
        put_open(rows, out);
    for (uint32_t number = 1; number <= rows->used; number++) {
        struct row_level *level = rows->levels + number - 1;
        if (level->has_open) {
            level->has_open = false;
            put_group(rows, number, level->open, out);
        }
        if (number == 1 || level->chunks || level->count > 1) put_chunk(rows, number, out);
    }
}
