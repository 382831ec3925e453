/* SPDX-License-Identifier: Apache-2.0 */
#include "link/peer.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/common.h"

static const char ipc[] = "ipc://";

static const char *ipc_path(void)
{
    const char *endpoint = uscopei_get_config()->endpoint;
    return strncmp(endpoint, ipc, strlen(ipc)) == 0 ? endpoint + strlen(ipc) : NULL;
}

static bool is_trusted(uid_t uid)
{
    const struct uscopei_config *config = uscopei_get_config();
    return uid == geteuid() || uid == 0 || (uint64_t)uid == config->peer_uid;
}

static bool refuse(char *why, size_t size, const char *what, uid_t uid)
{
    snprintf(
        why, size,
        "%s belongs to user %lu: another user of this machine may listen there. Start the simulator with "
        "\"uscope run -- ...\", set USCOPE_ENDPOINT, or trust that user with USCOPE_PEER_UID=%lu",
        what, (unsigned long)uid, (unsigned long)uid);
    return false;
}

/* The default place is in a directory where others may create names first. */
static bool trusts_directory(const char *path, char *why, size_t size)
{
    char directory[256];
    snprintf(directory, sizeof directory, "%s", path);
    char *end = strrchr(directory, '/');
    if (!end || end == directory) return true;
    *end = 0;
    struct stat found;
    if (lstat(directory, &found) != 0) return true;
    if (S_ISDIR(found.st_mode) && is_trusted(found.st_uid) && (found.st_mode & 077) == 0) return true;
    if (!is_trusted(found.st_uid)) return refuse(why, size, directory, found.st_uid);
    snprintf(why, size,
             "%s is not a directory that only you may enter (chmod 700); remove it, or set USCOPE_ENDPOINT",
             directory);
    return false;
}

bool uscopei_trusts_place(char *why, size_t size)
{
    const char *path = ipc_path();
    if (!path || *path != '/') return true;
    if (!uscopei_get_config()->endpoint_set && !trusts_directory(path, why, size)) return false;
    struct stat found;
    if (lstat(path, &found) != 0) return true;
    if (!is_trusted(found.st_uid)) return refuse(why, size, path, found.st_uid);
    if (S_ISSOCK(found.st_mode)) return true;
    snprintf(why, size, "%s is not a socket", path);
    return false;
}

bool uscopei_trusts_peer(int fd, char *why, size_t size)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    /* a connection that is closed already is noticed otherwise */
    if (!ipc_path() || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return true;
    if (is_trusted(peer.uid)) return true;
    char what[288];
    snprintf(what, sizeof what, "the process that listens at %s", uscopei_get_config()->endpoint);
    return refuse(why, size, what, peer.uid);
}
