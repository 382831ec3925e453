/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of an encrypted connection. */
#ifndef USCOPE_KEYS_H
#define USCOPE_KEYS_H

#include "base/common.h"

#pragma GCC visibility push(hidden)

/** In Z85, NUL-terminated. */
struct uscopei_keys {
    bool wanted; /* the environment names key files */
    char server[41], public_key[41], secret_key[41];
};

/** From the environment. False with a sentence when something is wrong with the keys. */
bool uscopei_read_keys(struct uscopei_keys *keys, char *detail, size_t size);
/** The first key of a kind ("public", "secret") in the text of a key file: 40 characters and NUL. */
bool uscopei_parse_key(const char *text, const char *kind, char *key);

#pragma GCC visibility pop

#endif
