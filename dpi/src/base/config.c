/* SPDX-License-Identifier: Apache-2.0 */
/* What the environment says, and what the client needs to know of the machine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <pthread.h>

#include "base/common.h"
#include "base/constants.h"

static struct uscopei_config config;
static pthread_once_t config_once = PTHREAD_ONCE_INIT;

static uint64_t number(const char *name, uint64_t fallback, uint64_t least, uint64_t most)
{
    const char *text = getenv(name);
    if (!text || !*text) return fallback;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end || errno || text[0] == '-' || value < least || value > most) {
        uscopei_say("%s=%s is not a number from %llu to %llu; %llu is used", name, text,
                    (unsigned long long)least, (unsigned long long)most, (unsigned long long)fallback);
        return fallback;
    }
    return value;
}

static bool parse_run(const char *text, uint8_t *out)
{
    if (strlen(text) != 32 || strspn(text, "0123456789abcdefABCDEF") != 32) return false;
    for (int i = 0; i < 16; i++) {
        char pair[3] = {text[2 * i], text[2 * i + 1], 0};
        out[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return true;
}

static void default_endpoint(char *out, size_t size)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (runtime && *runtime)
        snprintf(out, size, "ipc://%s/uscope.sock", runtime);
    else
        snprintf(out, size, "ipc:///tmp/uscope-%u/uscope.sock", (unsigned)getuid());
}

static void read_environment(void)
{
    const char *text = getenv("USCOPE_ENDPOINT");
    config.endpoint_set = text && *text;
    if (config.endpoint_set)
        snprintf(config.endpoint, sizeof config.endpoint, "%s", text);
    else
        default_endpoint(config.endpoint, sizeof config.endpoint);
    config.open_timeout_ms = number("USCOPE_OPEN_TIMEOUT_MS", 10000, 0, 86400000);
    config.timeout_ms = number("USCOPE_TIMEOUT_MS", 30000, 100, 86400000);
    config.credit_mib = (uint32_t)number("USCOPE_CREDIT_MIB", DEFAULT_CREDIT_BYTES >> 20, 1, 4095);
    config.core = (uint32_t)number("USCOPE_CORE", USCOPE_NO_CORE, 0, USCOPE_NO_CORE);
    text = getenv("USCOPE_ON_FAILURE");
    config.stop_on_failure = !(text && strcmp(text, "continue") == 0);
    if (text && *text && strcmp(text, "continue") != 0 && strcmp(text, "stop") != 0)
        uscopei_say("USCOPE_ON_FAILURE=%s is neither \"stop\" nor \"continue\"; \"stop\" is used", text);
    text = getenv("USCOPE_SHM");
    config.shared_memory = !(text && strcmp(text, "0") == 0) && strncmp(config.endpoint, "ipc:", 4) == 0;
    text = getenv("USCOPE_SHM_DIR");
    snprintf(config.memory_directory, sizeof config.memory_directory, "%s",
             text && *text ? text : "/dev/shm");
    text = getenv("USCOPE_PEER_UID");
    config.peer_uid = text && *text ? number("USCOPE_PEER_UID", UINT64_MAX, 0, UINT32_MAX) : UINT64_MAX;
    text = getenv("USCOPE_RUN_ID");
    if (text && *text && !(config.has_run = parse_run(text, config.run)))
        uscopei_say("USCOPE_RUN_ID=%s is not 32 hexadecimal digits; it is ignored", text);
}

const struct uscopei_config *uscopei_get_config(void)
{
    pthread_once(&config_once, read_environment);
    return &config;
}

uint64_t uscopei_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool uscopei_random_bytes(void *out, size_t size)
{
    ssize_t got;
    do
        got = getrandom(out, size, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)size;
}

char *uscopei_read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t used = 0, room = 0;
    while (file && !ferror(file) && !feof(file)) {
        if (room - used < 2) {
            room = room ? room * 2 : 16384;
            char *larger = room <= (size_t)MAX_CONTROL_BYTES * 2 ? realloc(text, room) : NULL;
            if (!larger) {
                uscopei_error(E_BRIDGE_LIMIT, "%s is larger than the 4 MiB a message may have", path);
                free(text);
                fclose(file);
                return NULL;
            }
            text = larger;
        }
        used += fread(text + used, 1, room - used - 1, file);
    }
    if (!file || ferror(file)) {
        uscopei_error(E_READER_OPEN, "cannot read %s: %s", path, strerror(errno));
        free(text);
        text = NULL;
    }
    if (file) fclose(file);
    if (text) {
        text[used] = 0;
        *size = used;
    }
    return text;
}
