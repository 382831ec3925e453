/* SPDX-License-Identifier: Apache-2.0 */
/* Finished pieces of levels, put one after the other. */
#ifndef USCOPE_INDEX_PIECES_H
#define USCOPE_INDEX_PIECES_H

#include "bytes.h"
#include "directory.h"
#include "output.h"

struct piece {
    struct output *out;
    uint8_t *head;
};

static inline struct piece piece_begin(struct output *out)
{
    uint8_t *head = out->at;
    if ((uint64_t)(out->end - out->at) < sizeof(struct made_piece))
        out->failed = true;
    else
        out->at += sizeof(struct made_piece);
    return (struct piece){out, head};
}

static inline void piece_end(const struct piece *piece, struct made_piece made)
{
    struct output *out = piece->out;
    if (out->failed) return;
    made.size = (uint32_t)(out->at - piece->head - (long)sizeof made);
    while ((out->at - piece->head) % 8 && !out->failed)
        put_byte(out, 0);
    if (!out->failed) copy_bytes(piece->head, &made, sizeof made);
}

#endif
