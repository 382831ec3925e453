/* SPDX-License-Identifier: Apache-2.0 */
/* The name of the process that the client runs in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/common.h"

static uint64_t start_time(void)
{
    char text[1024];
    FILE *file = fopen("/proc/self/stat", "re");
    if (!file) return 0;
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    /* the process name, field 2, is in parentheses and may hold anything */
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

struct uscopei_process uscopei_this_process(void)
{
    return (struct uscopei_process){.pid = (uint32_t)getpid(), .start = start_time()};
}

/* A start time that could not be read says nothing. */
bool uscopei_is_same_process(struct uscopei_process a, struct uscopei_process b)
{
    return a.pid == b.pid && (a.start == b.start || a.start == 0 || b.start == 0);
}
