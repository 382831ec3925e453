/* SPDX-License-Identifier: Apache-2.0 */
/* The fake daemon as a program: serves one client at an endpoint, and says at its end what it received. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake_daemon.h"
#include "harness.h"
#include "schema_bytes.h"

static struct fake_daemon *d;

static bool closed(void *name)
{
    struct fake_log log;
    return fake_log(d, name, &log) && log.closed;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    size_t size;
    unsigned char *schema = schema_bytes(&core_schema, &size);
    d = fake_new(argv[1], schema, size);
    fake_switches(d)->sink = getenv("FAKE_SINK") != NULL;
    fake_start(d);
    if (!wait_until(closed, argv[2])) return 1;
    sleep_ms(50);
    struct fake_log log;
    fake_log(d, argv[2], &log);
    printf("frames %llu items %llu strings %llu rejected %llu violation '%s'\n",
           (unsigned long long)log.frames, (unsigned long long)log.items, (unsigned long long)log.strings,
           (unsigned long long)log.rejected, fake_violation(d));
    fake_free(d);
    free(schema);
    return 0;
}
