/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libzmq is not built with ThreadSanitizer, which does not see how it hands a message from the thread that
 * sends it to the one that releases it. The linker puts this function before libzmq's (--wrap): what the
 * client wrote before it gave the bytes away happens before they are released.
 */
#include <sanitizer/tsan_interface.h>
#include <stdlib.h>
#include <zmq.h>

int __wrap_zmq_msg_init_data(zmq_msg_t *message, void *data, size_t size, zmq_free_fn *release, void *hint);
int __real_zmq_msg_init_data(zmq_msg_t *message, void *data, size_t size, zmq_free_fn *release, void *hint);

struct given {
    zmq_free_fn *release;
    void *hint;
};

static void release_given(void *data, void *of)
{
    struct given *given = of;
    __tsan_acquire(given);
    given->release(data, given->hint);
    free(given);
}

int __wrap_zmq_msg_init_data(zmq_msg_t *message, void *data, size_t size, zmq_free_fn *release, void *hint)
{
    struct given *given = malloc(sizeof *given);
    if (!given) abort();
    *given = (struct given){release, hint};
    __tsan_release(given);
    int result = __real_zmq_msg_init_data(message, data, size, release_given, given);
    if (result != 0) free(given);
    return result;
}
