/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What simulators need beyond the C API: opening with the failure policy of a simulation, and events from
 * open arrays. Every other import of sv/uscope_dpi.svh is a function of the C API itself.
 */
#include <stdlib.h>
#include <string.h>
#include <svdpi.h>

#include "trace/session.h"

/* not in uscope.h: plain C has no svdpi.h */
USCOPE_API void uscope_event_raw(void *w, unsigned short event_type_id, const svOpenArrayHandle payload);

static uscope_writer_t *open_or_stop(const uscope_open_options_t *options)
{
    uscope_writer_t *w = uscope_writer_open_opts(options);
    if (!w) uscopei_failure_policy(NULL, uscope_last_error_code(), uscope_last_error_message());
    return w;
}

static void no_schema(const char *name)
{
    uscopei_say("cannot open trace \"%s\": %s: %s", name ? name : "", uscope_last_error_code(),
                uscope_last_error_message());
    uscopei_failure_policy(NULL, uscope_last_error_code(), uscope_last_error_message());
}

/* The variable `core`, where it is a number: a design names its cores by it. */
static uint32_t core_of(const char *variables)
{
    for (const char *at = variables; at && *at; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (strncmp(at, "core=", 5) != 0) continue;
        char *end;
        unsigned long core = strtoul(at + 5, &end, 10);
        bool is_number = end != at + 5 && (*end == 0 || *end == ',');
        return is_number && core < USCOPE_NO_CORE ? (uint32_t)core : USCOPE_NO_CORE;
    }
    return USCOPE_NO_CORE;
}

uscope_writer_t *uscope_open_checked(const char *name, const char *schema_path, const char *schema_sha256,
                                     const char *variables)
{
    uscope_open_options_t options = USCOPE_OPEN_OPTIONS_INIT;
    options.name = name;
    options.schema_sha256 = schema_sha256;
    options.variables = variables;
    options.core_index = core_of(variables);
    uscope_schema_t *schema = NULL;
    if (schema_path && *schema_path) {
        schema = uscope_schema_from_file(schema_path);
        if (!schema) {
            no_schema(name);
            return NULL;
        }
        options.schema = schema;
    }
    uscope_writer_t *w = open_or_stop(&options);
    uscope_schema_free(schema);
    return w;
}

uscope_writer_t *uscope_open(const char *path)
{
    return uscope_open_checked(path, NULL, NULL, NULL);
}

uscope_writer_t *uscope_open_schema(const char *name, const char *schema_path)
{
    return uscope_open_checked(name, schema_path, NULL, NULL);
}

/*
 * The payload's first byte is the element at the array's left bound, whichever way the range runs; a
 * simulator that keeps the array in another form than C's gives no pointer, then elements are fetched one by
 * one.
 */
void uscope_event_raw(void *w, unsigned short event_type_id, const svOpenArrayHandle payload)
{
    unsigned char bytes[MAX_PAYLOAD];
    int size = svSize(payload, 1);
    if (!w) return;
    if (size < 0 || size > MAX_PAYLOAD) {
        uscope_event_bytes(w, event_type_id, bytes, (uint32_t)size);
        return;
    }
    const void *whole = svGetArrayPtr(payload);
    bool in_order = svLeft(payload, 1) <= svRight(payload, 1);
    if (whole && in_order && svSizeOfArray(payload) == size) {
        uscope_event_bytes(w, event_type_id, whole, (uint32_t)size);
        return;
    }
    int step = in_order ? 1 : -1;
    for (int i = 0; i < size; i++) {
        const unsigned char *element = svGetArrElemPtr1(payload, svLeft(payload, 1) + i * step);
        bytes[i] = element ? *element : 0;
    }
    uscope_event_bytes(w, event_type_id, bytes, (uint32_t)size);
}
