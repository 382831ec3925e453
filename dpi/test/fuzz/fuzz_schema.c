/* SPDX-License-Identifier: Apache-2.0 */
/* Binary schema chunks: refused with a code and a reason, or decoded into tables that hold together. */
#include <stdlib.h>

#include "record/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uscopei_code code = E_NONE;
    const char *detail = NULL;
    struct uscopei_schema *schema = uscopei_schema_decode(bytes, size, &code, &detail);
    if (!schema) {
        if (code == E_NONE || !detail) abort();
        return 0;
    }
    for (uint32_t i = 0; i < schema->num_storages; i++) {
        const struct storage_shape *storage = &schema->storages[i];
        for (uint32_t field = 0; field < storage->num_fields; field++)
            __asm__ volatile("" : : "r"(storage->limits[field]));
    }
    uscopei_schema_destroy(schema);
    return 0;
}
