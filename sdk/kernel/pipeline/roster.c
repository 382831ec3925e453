/* SPDX-License-Identifier: Apache-2.0 */
#include "roster.h"

#include "bytes.h"
#include "memory.h"

enum { FIRST_PLACES = 1024, MOST_PLACES = 2 * MOST_LIVES };

/* A table; half of its places are empty. */
static struct life first_places[FIRST_PLACES];
static struct life *lives = first_places;
static uint32_t mask = FIRST_PLACES - 1;
static uint32_t count;
static uint64_t above_all;

/* In the small table those that follow one another lie next to one another; in a larger one any numbers are
 * spread. */
INLINE uint32_t home_of(uint64_t id)
{
    uint64_t home = mask < FIRST_PLACES ? id : id * 0x9e3779b97f4a7c15ull >> 32;
    return (uint32_t)home & mask;
}

uint32_t roster_count(void)
{
    return count;
}

struct life *roster_get(uint64_t id)
{
    for (uint32_t place = home_of(id); lives[place].is_taken; place = (place + 1) & mask)
        if (lives[place].id == id) return &lives[place];
    return 0;
}

int roster_is_new(uint64_t id)
{
    return id >= above_all;
}

static struct life *insert(struct life life)
{
    uint32_t place = home_of(life.id);
    while (lives[place].is_taken)
        place = (place + 1) & mask;
    lives[place] = life;
    return &lives[place];
}

static void grow(void)
{
    struct life *before = lives;
    uint32_t places = mask + 1;
    lives = memory_grow(0, 0, 2 * places, sizeof *lives);
    mask = 2 * places - 1;
    for (uint32_t place = 0; place < places; place++)
        if (before[place].is_taken) insert(before[place]);
}

struct life *roster_add(uint64_t id)
{
    if (2 * count > mask && mask + 1 < MOST_PLACES) grow();
    count++;
    if (id >= above_all) above_all = id + 1;
    return insert((struct life){.id = id, .is_taken = 1});
}

/* Those after it move up, as far as they may. */
void roster_remove(struct life *life)
{
    uint32_t hole = (uint32_t)(life - lives);
    count--;
    for (uint32_t place = (hole + 1) & mask; lives[place].is_taken; place = (place + 1) & mask) {
        uint32_t home = home_of(lives[place].id);
        if (((place - home) & mask) < ((place - hole) & mask)) continue;
        lives[hole] = lives[place];
        hole = place;
    }
    lives[hole].is_taken = 0;
}
