/* SPDX-License-Identifier: Apache-2.0 */
/* Where the caller puts what it gives. */
#include "../constants.h"
#include "bytes.h"
#include "kanata.h"

/* Whole lines of a log. */
static _Alignas(16) uint8_t text[TEXT_BYTES + TEXT_SLACK];
/* The text of a command or of a block. */
static _Alignas(16) uint8_t spare_text[MAX_STRING_BYTES + TEXT_SLACK];
static struct command command;

uint8_t *text_at(void)
{
    return text;
}

uint8_t *spare_text_at(void)
{
    return spare_text;
}

struct command *command_at(void)
{
    return &command;
}
