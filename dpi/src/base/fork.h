/* SPDX-License-Identifier: Apache-2.0 */
/* What a forked child may use of the memory that it inherits. */
#ifndef USCOPE_FORK_H
#define USCOPE_FORK_H

#include <pthread.h>

#include "base/common.h"

#pragma GCC visibility push(hidden)

/** From now on, no fork copies one of the locks below in a locked state. Once. */
void uscopei_fork_install(void);
/** A lock under which no other lock is taken. Called before there are threads. */
void uscopei_fork_keep_lock(pthread_mutex_t *lock);
/**
 * True in a child that was made without the C library's fork (by a raw clone system call): the client did
 * not know so far, and from here on it is as after a fork.
 */
COLD bool uscopei_fork_unnoticed(void);

/** Called in a forked child, in the order of these calls. */
void uscopei_fork_in_child(void (*forget)(void));

#define FORK_SAFE_LOCK(name, lock)                                                                           \
    __attribute__((constructor)) static void keep_##name(void)                                               \
    {                                                                                                        \
        uscopei_fork_keep_lock(&(lock));                                                                     \
    }

#pragma GCC visibility pop

#endif
