/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ZeroMQ's thread tells the client what happens to its connection while the client may already be giving that
 * connection up. An event must find either its reader or nobody who asked for it.
 */
#include <stdlib.h>
#include <zmq.h>

#include "client.h"

/* Longer than the interval in which ZeroMQ tries to connect again, each of which is an event. */
enum { EVENTS_MS = 1200 };

/* The linker puts this function before ZeroMQ's (test.mk): events happen between the client's steps. */
int __real_zmq_close(void *socket);
int __wrap_zmq_close(void *socket);
int __wrap_zmq_close(void *socket)
{
    int type = -1;
    size_t size = sizeof type;
    zmq_getsockopt(socket, ZMQ_TYPE, &type, &size);
    int result = __real_zmq_close(socket);
    if (type == ZMQ_PAIR) sleep_ms(EVENTS_MS);
    return result;
}

TEST(a_connection_is_given_up_while_it_has_events)
{
    setenv("USCOPE_OPEN_TIMEOUT_MS", "300", 1);
    capture_messages();
    CHECK(!uscope_writer_open("core0", NULL, NULL, 0));
    CHECK_TEXT(uscope_last_error_code(), "BRIDGE_NO_DAEMON");
}

int main(int argc, char **argv)
{
    return run_tests(argc, argv);
}
