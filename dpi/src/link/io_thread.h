/* SPDX-License-Identifier: Apache-2.0 */
/* What other threads ask of the I/O thread (io.c). */
#ifndef USCOPE_IO_THREAD_H
#define USCOPE_IO_THREAD_H

#include "trace/session.h"

#pragma GCC visibility push(hidden)

struct uscopei_io_shared {
    pthread_mutex_t lock;
};
extern struct uscopei_io_shared uscopei_io;
/** Hands a new session over and starts the thread if needed. False when it cannot be started. */
bool uscopei_io_submit(struct uscopei_session *s);
void uscopei_io_wake(void);
/** Ends the thread and closes the connection; at exit, after the last trace is closed. */
void uscopei_io_shutdown(void);
bool uscopei_io_is_self(void);
/** In a forked child, which does not have the thread. */
void uscopei_io_forget(void);

#pragma GCC visibility pop

#endif
