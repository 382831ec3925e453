/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys for a daemon that lets only listed clients in (docs/explanation/threat-model.md):
 * USCOPE_SERVER_KEY_FILE holds the daemon's public key, USCOPE_KEY_FILE this client's pair, as `uscope
 * keygen` writes them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/keys.h"

enum { KEY_LENGTH = 40 };

static const char digits[] =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/* Of a line "KIND KEY". */
static bool parse_line(const char *line, const char *kind, char *key)
{
    size_t length = strlen(kind);
    if (strncmp(line, kind, length) != 0 || line[length] != ' ') return false;
    line += length + strspn(line + length, " \t");
    if (strspn(line, digits) != KEY_LENGTH ||
        strspn(line + KEY_LENGTH, " \t\r\n") != strlen(line + KEY_LENGTH))
        return false;
    memcpy(key, line, KEY_LENGTH);
    key[KEY_LENGTH] = 0;
    return true;
}

bool uscopei_parse_key(const char *text, const char *kind, char *key)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        char one[128];
        line += *line == '\n';
        size_t length = strcspn(line, "\n");
        if (length >= sizeof one) continue;
        memcpy(one, line, length);
        one[length] = 0;
        if (parse_line(one, kind, key)) return true;
    }
    return false;
}

static bool read_key(const char *path, const char *kind, char *key, char *detail, size_t size)
{
    char text[4096];
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (!file) {
        snprintf(detail, size, "the key file %s cannot be read: %s", path, strerror(errno));
        return false;
    }
    struct stat info;
    bool is_private = fstat(fileno(file), &info) == 0 && (info.st_mode & 077) == 0;
    fclose(file);
    text[got] = 0;
    if (!uscopei_parse_key(text, kind, key)) {
        snprintf(detail, size, "%s holds no %s key; make keys with \"uscope keygen\"", path, kind);
        return false;
    }
    if (strcmp(kind, "secret") == 0 && !is_private) {
        snprintf(detail, size, "others may read the secret key in %s (chmod 600)", path);
        return false;
    }
    return true;
}

bool uscopei_read_keys(struct uscopei_keys *keys, char *detail, size_t size)
{
    const char *server = getenv("USCOPE_SERVER_KEY_FILE"), *own = getenv("USCOPE_KEY_FILE");
    keys->wanted = (server && *server) || (own && *own);
    if (!keys->wanted) return true;
    if (!server || !*server || !own || !*own) {
        snprintf(detail, size, "USCOPE_SERVER_KEY_FILE and USCOPE_KEY_FILE are given together or not at all");
        return false;
    }
    return read_key(server, "public", keys->server, detail, size) &&
           read_key(own, "public", keys->public_key, detail, size) &&
           read_key(own, "secret", keys->secret_key, detail, size);
}
