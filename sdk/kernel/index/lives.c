/* SPDX-License-Identifier: Apache-2.0 */
#include "lives.h"

bool lives_next_group(struct lives *lives)
{
    if (!lives->stages) return false;
    if (lives->groups == lives->capacity) {
        lives->full = true;
        return false;
    }
    lives->group = life_cells(lives, MAX_LATE + lives->groups++);
    clear_bytes(lives->group, lives->stride * sizeof *lives->group);
    lives->group[LIFE_FIRST] = *lives->now;
    return true;
}

void life_enter_early(const struct lives *lives, struct life *life)
{
    for (uint32_t i = 0; i < lives->num_early; i++)
        if (lives->early[i].id == life->id) life_enter(lives, life, lives->early[i].value, *lives->now);
}

void lives_postpone(struct lives *lives, uint32_t id, uint32_t value)
{
    *lives->unsettled = true;
    if (lives->num_early < MAX_EARLY) lives->early[lives->num_early++] = (struct early){id, value};
}

/* Falling, each once. */
static uint32_t sort_distances(uint64_t *distances, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t distance = distances[i];
        /* Instructions of neighbouring slots are mostly of one group. */
        uint32_t at = kept;
        while (at > 0 && distances[at - 1] < distance)
            at--;
        if (at > 0 && distances[at - 1] == distance) continue;
        if (kept == MAX_LATE) return kept + 1;
        for (uint32_t j = kept; j > at; j--)
            distances[j] = distances[j - 1];
        distances[at] = distance;
        kept++;
    }
    return kept;
}

bool lives_begin(struct lives *lives, uint32_t count)
{
    uint32_t late = sort_distances(lives->distances, count);
    if (late > MAX_LATE) return false;
    lives->late = late;
    for (uint32_t i = 0; i < late; i++) {
        uint64_t *cells = life_cells(lives, i);
        clear_bytes(cells, lives->stride * sizeof *cells);
        cells[LIFE_LAST] = lives->distances[i];
    }
    return true;
}

uint32_t lives_earlier(const struct lives *lives, uint64_t distance)
{
    uint32_t low = 0, high = lives->late;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (life_cells(lives, middle)[LIFE_LAST] > distance)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t life_distance(const struct lives *lives, const struct life *life)
{
    uint64_t births = lives->births;
    uint32_t group = life_group(lives, life);
    if (group < MAX_LATE) return births + life->cells[LIFE_LAST];
    return births - (uint64_t)(group - MAX_LATE) * GROUP_ROWS;
}
