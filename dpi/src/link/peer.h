/* SPDX-License-Identifier: Apache-2.0 */
/* Whom this client gives its trace to: other users of the machine must not be able to listen in the daemon's
 * place. */
#ifndef USCOPEI_LINK_PEER_H
#define USCOPEI_LINK_PEER_H

#include <stdbool.h>
#include <stddef.h>

/** Whether directory and socket of an ipc endpoint are those of a trusted user: this one, root, or
 * USCOPE_PEER_UID. Nothing there is fine. */
bool uscopei_trusts_place(char *why, size_t size);

/** Whether a trusted user's process is at the other end of a connection. Of an ipc endpoint; true for any
 * other. */
bool uscopei_trusts_peer(int fd, char *why, size_t size);

#endif
