/* SPDX-License-Identifier: Apache-2.0 */
/* Near names: the same last component under another path, or a few characters apart. */
#include "base/suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_SHOWN    3u
/* Longer names are compared by their last component only. */
#define MAX_COMPARED 64u
/* Names looked at: a schema may have tens of thousands, and a message is not a place for a search. */
#define MAX_NAMES    4096u
#define FAR          UINT32_MAX

static const char *last_component(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Insertions, deletions and replacements of characters. */
static uint32_t edits(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    uint32_t row[MAX_COMPARED + 1];
    if (n > MAX_COMPARED || m > MAX_COMPARED) return FAR;
    for (size_t j = 0; j <= m; j++)
        row[j] = (uint32_t)j;
    for (size_t i = 1; i <= n; i++) {
        uint32_t diagonal = row[0];
        row[0] = (uint32_t)i;
        for (size_t j = 1; j <= m; j++) {
            uint32_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(least(row[j], row[j - 1]) + 1, replaced);
        }
    }
    return row[m];
}

/* 0 is nearest; FAR: not near. */
static uint32_t distance(const char *wanted, const char *candidate)
{
    if (strcmp(last_component(wanted), last_component(candidate)) == 0) return 0;
    uint32_t whole = edits(wanted, candidate);
    uint32_t last = edits(last_component(wanted), last_component(candidate));
    uint32_t allowed = 1 + (uint32_t)strlen(last_component(wanted)) / 4;
    uint32_t nearest = least(whole, last);
    return nearest <= allowed ? nearest : FAR;
}

static void append(char *out, size_t size, const char *before, const char *name, const char *after)
{
    size_t used = strlen(out);
    int more = snprintf(out + used, size - used, "%s\"%.80s\"%s", before, name, after);
    if (more < 0 || (size_t)more >= size - used) out[used] = 0;
}

const char *uscopei_suggest(const char *name, uscopei_name_fn name_of, const void *names, uint32_t count,
                            char *out, size_t size)
{
    uint32_t found[MAX_SHOWN], away[MAX_SHOWN], shown = 0, limit = least(count, MAX_NAMES);
    for (uint32_t i = 0; i < limit; i++) {
        uint32_t far = distance(name, name_of(names, i)), at = shown;
        while (at > 0 && away[at - 1] > far)
            at--;
        if (far == FAR || at == MAX_SHOWN) continue;
        if (shown < MAX_SHOWN) shown++;
        for (uint32_t k = shown - 1; k > at; k--) {
            found[k] = found[k - 1];
            away[k] = away[k - 1];
        }
        found[at] = i;
        away[at] = far;
    }
    bool is_near = shown > 0;
    for (; !is_near && shown < least(limit, MAX_SHOWN); shown++)
        found[shown] = shown;
    snprintf(out, size, "%s", count == 0 ? "; there are none" : is_near ? "; did you mean " : "; there are ");
    for (uint32_t i = 0; i < shown; i++)
        append(out, size, i ? ", " : "", name_of(names, found[i]), "");
    size_t used = strlen(out);
    const char *end = is_near ? "?" : count > shown ? ", and others" : "";
    if (strlen(end) < size - used) strcpy(out + used, end);
    return out;
}
