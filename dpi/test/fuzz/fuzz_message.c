/* SPDX-License-Identifier: Apache-2.0 */
/* Control messages: any bytes decode or do not; texts fit where they are copied. */
#include "link/messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct message m;
    if (message_decode(bytes, size, &m)) {
        char text[32];
        message_text(&m.code, text, sizeof text);
        message_text(&m.msg, text, sizeof text);
        message_text(&m.path, text, sizeof text);
        unsigned sum = 0;
        for (uint32_t i = 0; m.schema.type == MP_BIN && i < m.schema.count; i++)
            sum += m.schema.bytes[i];
        for (uint32_t i = 0; m.has_session && i < 16; i++)
            sum += m.session.bytes[i];
        __asm__ volatile("" : : "r"(sum)); /* so that it is read */
    }
    struct mp_reader r = {bytes, size, 0};
    while (r.at < size && mp_skip(&r))
        if (r.at > size) __builtin_trap();
    return 0;
}
