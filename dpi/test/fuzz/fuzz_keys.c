/* SPDX-License-Identifier: Apache-2.0 */
/* What files and environments may hold: key files, and text that has to be UTF-8. */
#include <stdlib.h>
#include <string.h>

#include "base/keys.h"
#include "record/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1), key[41];
    if (!text) return 0;
    memcpy(text, bytes, size);
    text[size] = 0;
    if (uscopei_parse_key(text, "public", key) && strlen(key) != 40) abort();
    if (uscopei_parse_key(text, "secret", key) && strlen(key) != 40) abort();
    uscopei_valid_utf8((const unsigned char *)text, size);
    free(text);
    return 0;
}
