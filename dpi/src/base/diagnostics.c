/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes by name, the last error of a thread, messages, and what follows a failure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include <pthread.h>

#include "base/common.h"

const char *uscopei_code_name(uscopei_code code)
{
    static const char *const names[] = {
        [E_NONE] = "",
        [E_OP_STORAGE] = "OP_STORAGE",
        [E_OP_SLOT] = "OP_SLOT",
        [E_OP_FIELD] = "OP_FIELD",
        [E_OP_PROPERTY] = "OP_PROPERTY",
        [E_OP_EVENT] = "OP_EVENT",
        [E_OP_PAYLOAD] = "OP_PAYLOAD",
        [E_OP_VALUE] = "OP_VALUE",
        [E_OP_TIME] = "OP_TIME",
        [E_OP_OUTSIDE_CYCLE] = "OP_OUTSIDE_CYCLE",
        [E_OP_NESTED_CYCLE] = "OP_NESTED_CYCLE",
        [E_OP_STRING] = "OP_STRING",
        [E_OP_SNAPSHOT] = "OP_SNAPSHOT",
        [E_OP_HANDLE] = "OP_HANDLE",
        [E_OP_SCOPE] = "OP_SCOPE",
        [E_SCHEMA_NAME] = "SCHEMA_NAME",
        [E_SCHEMA_DUPLICATE] = "SCHEMA_DUPLICATE",
        [E_SCHEMA_LIMIT] = "SCHEMA_LIMIT",
        [E_SCHEMA_CLOCK] = "SCHEMA_CLOCK",
        [E_FORMAT_TRUNCATED] = "FORMAT_TRUNCATED",
        [E_FORMAT_LENGTH] = "FORMAT_LENGTH",
        [E_FORMAT_VALUE] = "FORMAT_VALUE",
        [E_FORMAT_STRING_POOL] = "FORMAT_STRING_POOL",
        [E_FORMAT_ID] = "FORMAT_ID",
        [E_READER_OPEN] = "READER_OPEN",
        [E_BRIDGE_VERSION] = "BRIDGE_VERSION",
        [E_BRIDGE_MESSAGE] = "BRIDGE_MESSAGE",
        [E_BRIDGE_SEQUENCE] = "BRIDGE_SEQUENCE",
        [E_BRIDGE_NAME] = "BRIDGE_NAME",
        [E_BRIDGE_LIMIT] = "BRIDGE_LIMIT",
        [E_BRIDGE_NO_DAEMON] = "BRIDGE_NO_DAEMON",
        [E_BRIDGE_LOST] = "BRIDGE_LOST",
        [E_BRIDGE_ENDPOINT] = "BRIDGE_ENDPOINT",
        [E_BRIDGE_INTERNAL] = "BRIDGE_INTERNAL",
        [E_BRIDGE_FORKED] = "BRIDGE_FORKED",
    };
    return (size_t)code < sizeof names / sizeof *names && names[code] ? names[code] : "";
}

/* -- the thread's last error */

static _Thread_local char last_code[40];
static _Thread_local char last_message[1024];

void uscopei_set_error(const char *code, const char *message)
{
    snprintf(last_code, sizeof last_code, "%s", code);
    snprintf(last_message, sizeof last_message, "%s", message);
}

const char *uscope_last_error_code(void)
{
    return last_code;
}

const char *uscope_last_error_message(void)
{
    return last_message;
}

/* -- messages */

static pthread_mutex_t message_lock = PTHREAD_MUTEX_INITIALIZER;
FORK_SAFE_LOCK(message_lock, message_lock)
static uscope_message_fn message_handler;
static void *message_data;

void uscope_set_message_handler(uscope_message_fn fn, void *user_data)
{
    pthread_mutex_lock(&message_lock);
    message_handler = fn;
    message_data = user_data;
    pthread_mutex_unlock(&message_lock);
}

/* One write for the whole line, so that lines of several threads do not mix. */
void uscopei_say(const char *format, ...)
{
    char line[1536] = "uscope: ";
    size_t prefix = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + prefix, sizeof line - prefix - 1, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&message_lock);
    uscope_message_fn handler = message_handler;
    void *data = message_data;
    pthread_mutex_unlock(&message_lock);
    if (handler) {
        handler(line, data);
        return;
    }
    size_t length = strlen(line);
    line[length] = '\n';
    fwrite(line, 1, length + 1, stderr);
}

void uscopei_error(uscopei_code code, const char *format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    uscopei_set_error(uscopei_code_name(code), message);
}

void uscopei_error_say(uscopei_code code, const char *format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    uscopei_set_error(uscopei_code_name(code), message);
    uscopei_say("%s: %s", uscopei_code_name(code), message);
}

/* -- failure policy */

static uscope_failure_fn failure_handler;
static void *failure_data;

void uscope_set_failure_handler(uscope_failure_fn fn, void *user_data)
{
    pthread_mutex_lock(&message_lock);
    failure_handler = fn;
    failure_data = user_data;
    pthread_mutex_unlock(&message_lock);
}

void uscopei_failure_policy(void *w, const char *code, const char *message)
{
    pthread_mutex_lock(&message_lock);
    uscope_failure_fn handler = failure_handler;
    void *data = failure_data;
    pthread_mutex_unlock(&message_lock);
    bool stop = handler ? handler(w, code, message, data) != USCOPE_ON_FAILURE_CONTINUE
                        : uscopei_get_config()->stop_on_failure;
    if (!stop) {
        uscopei_say("continuing untraced");
        return;
    }
    uscopei_say("stopping the simulation with status 3%s",
                handler ? "" : " (set USCOPE_ON_FAILURE=continue to continue untraced)");
    exit(3);
}

const char *uscope_version(void)
{
    return USCOPE_VERSION_STRING;
}

int uscope_protocol_version(void)
{
    return USCOPE_PROTOCOL_VERSION;
}
