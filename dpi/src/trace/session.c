/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace is asked to be: options and environment -> a session. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "trace/session.h"

enum { MAX_NAME = 200 };

static bool take_name(struct uscopei_session *s, const char *name)
{
    static const char suffix[] = ".uscope";
    if (!name) name = "";
    while (strncmp(name, "./", 2) == 0)
        name += 2;
    size_t length = strlen(name);
    size_t tail = sizeof suffix - 1;
    if (length > tail && strcmp(name + length - tail, suffix) == 0) length -= tail;
    if (length == 0 || length > MAX_NAME) {
        uscopei_error(E_BRIDGE_NAME, "the trace name \"%.40s\" has %zu bytes; 1 to 200 are allowed", name,
                      length);
        return false;
    }
    memcpy(s->name, name, length);
    return true;
}

static bool take_schema(struct uscopei_session *s, const uscope_schema_t *schema)
{
    if (schema) {
        const char *text = uscope_schema_text((uscope_schema_t *)(uintptr_t)schema);
        const char *name = uscopei_schema_source_name(schema);
        s->schema_text = text ? strdup(text) : NULL;
        s->schema_name = name ? strdup(name) : NULL;
        return s->schema_text != NULL;
    }
    const char *path = getenv("USCOPE_SCHEMA");
    if (!path || !*path) return true;
    size_t size;
    s->schema_text = uscopei_read_file(path, &size);
    s->schema_name = strdup(path);
    return s->schema_text != NULL;
}

static bool take_dut(struct uscopei_session *s, const uscope_dut_t *dut)
{
    if (!dut || dut->num_properties == 0) return true;
    s->dut = calloc(2 * (size_t)dut->num_properties, sizeof *s->dut);
    if (!s->dut) return false;
    for (uint32_t i = 0; i < dut->num_properties; i++) {
        const uscope_dut_property_t *property = &dut->properties[i];
        s->dut[2 * i] = strdup(property->key ? property->key : "");
        s->dut[2 * i + 1] = strdup(property->value ? property->value : "");
        s->num_dut = i + 1;
        if (!s->dut[2 * i] || !s->dut[2 * i + 1]) return false;
    }
    return true;
}

static void take_run(struct uscopei_session *s, const uscope_open_options_t *options)
{
    const struct uscopei_config *config = uscopei_get_config();
    const uint8_t *run = options->run_id ? options->run_id : config->has_run ? config->run : NULL;
    s->has_run = run != NULL;
    if (run) memcpy(s->run, run, sizeof s->run);
    s->core = options->core_index != USCOPE_NO_CORE ? options->core_index : config->core;
}

/* A copy in *out; nothing for NULL and "". */
static bool take_text(char **out, const char *text)
{
    if (!text || !*text) return true;
    *out = strdup(text);
    return *out != NULL;
}

/* Waits are long, and the I/O thread measures some of them: the condition needs no separate clock. */
struct uscopei_session *uscopei_session_new(const uscope_open_options_t *options)
{
    const struct uscopei_config *config = uscopei_get_config();
    struct uscopei_session *s = calloc(1, sizeof *s);
    if (!s) {
        uscopei_error(E_BRIDGE_LIMIT, "no memory for a trace");
        return NULL;
    }
    pthread_cond_init(&s->changed, NULL);
    uscopei_set_error("", "");
    uint32_t credit = options->credit_mib ? options->credit_mib : config->credit_mib;
    s->credit = (uint64_t)(credit > 4095 ? 4095 : credit) << 20;
    s->interval_ps = options->interval_ps;
    s->reported = uscopei_reported_new();
    take_run(s, options);
    bool taken = take_name(s, options->name) && take_schema(s, options->schema) &&
                 take_dut(s, options->dut) && take_text(&s->schema_sha256, options->schema_sha256) &&
                 take_text(&s->variables, options->variables) && s->reported &&
                 uscopei_random_bytes(s->secret, sizeof s->secret);
    if (taken) {
        uint8_t digest[SHA256_BYTES];
        uscopei_sha256(s->secret, sizeof s->secret, digest);
        memcpy(s->id, digest, sizeof s->id);
        return s;
    }
    if (!*uscope_last_error_code())
        uscopei_error(E_BRIDGE_LIMIT, "no memory or no random numbers for a trace");
    uscopei_session_free(s);
    return NULL;
}

void uscopei_session_free(struct uscopei_session *s)
{
    for (uint32_t i = 0; i < 2 * s->num_dut; i++)
        free(s->dut[i]);
    free(s->dut);
    free(s->schema_text);
    free(s->schema_name);
    free(s->schema_sha256);
    free(s->variables);
    if (s->free_recording) s->free_recording(s);
    free(s->report.scopes);
    free(s->schema_payload);
    uscopei_schema_destroy(s->schema);
    uscopei_reported_free(s->reported);
    pthread_cond_destroy(&s->changed);
    free(s);
}
