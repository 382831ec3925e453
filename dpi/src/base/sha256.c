/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4) of one block: what the id of a session is made with. */
#include "base/sha256.h"

#include <string.h>

enum { BLOCK_BYTES = 64, ROUNDS = 64, LENGTH_AT = 56 };

static const uint32_t round_constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned bits)
{
    return x >> bits | x << (32 - bits);
}

static void expand(const uint8_t block[BLOCK_BYTES], uint32_t words[ROUNDS])
{
    for (unsigned i = 0; i < 16; i++) {
        const uint8_t *at = block + 4 * i;
        words[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
    for (unsigned i = 16; i < ROUNDS; i++) {
        uint32_t a = words[i - 15], b = words[i - 2];
        uint32_t low = rotate(a, 7) ^ rotate(a, 18) ^ a >> 3;
        uint32_t high = rotate(b, 17) ^ rotate(b, 19) ^ b >> 10;
        words[i] = words[i - 16] + low + words[i - 7] + high;
    }
}

static void compress(uint32_t state[8], const uint8_t block[BLOCK_BYTES])
{
    uint32_t words[ROUNDS], s[8];
    expand(block, words);
    memcpy(s, state, sizeof s);
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t one = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + choice +
                       round_constants[i] + words[i];
        uint32_t two = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + majority;
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] += s[i];
}

void uscopei_sha256(const uint8_t *bytes, size_t size, uint8_t digest[SHA256_BYTES])
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint8_t block[BLOCK_BYTES] = {0};
    if (size >= LENGTH_AT) size = LENGTH_AT - 1;
    memcpy(block, bytes, size);
    block[size] = 0x80;
    block[BLOCK_BYTES - 2] = (uint8_t)(size * 8 >> 8);
    block[BLOCK_BYTES - 1] = (uint8_t)(size * 8);
    compress(state, block);
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned byte = 0; byte < 4; byte++)
            digest[4 * i + byte] = (uint8_t)(state[i] >> (24 - 8 * byte));
    }
}
