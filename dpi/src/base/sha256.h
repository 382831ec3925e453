/* SPDX-License-Identifier: Apache-2.0 */
#ifndef USCOPEI_BASE_SHA256_H
#define USCOPEI_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32 };

/** SHA-256 of a short text: at most 55 bytes, which fit into one block. */
void uscopei_sha256(const uint8_t *bytes, size_t size, uint8_t digest[SHA256_BYTES]);

#endif
