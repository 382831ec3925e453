/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child of fork has a copy of the client's memory but neither its I/O thread nor its connection. It forgets
 * the traces of its parent, whose handles then lead nowhere, and may open new traces.
 */
#include "base/fork.h"

#include <unistd.h>

enum { MAX_LOCKS = 8, MAX_FORGETTERS = 4 };

static pthread_mutex_t *locks[MAX_LOCKS];
static unsigned num_locks;
static void (*forgetters[MAX_FORGETTERS])(void);
static unsigned num_forgetters;
static pid_t owner; /* 0: no trace was opened yet */

void uscopei_fork_keep_lock(pthread_mutex_t *lock)
{
    if (num_locks < MAX_LOCKS) locks[num_locks++] = lock;
}

void uscopei_fork_in_child(void (*forget)(void))
{
    if (num_forgetters < MAX_FORGETTERS) forgetters[num_forgetters++] = forget;
}

static void before_fork(void)
{
    for (unsigned i = 0; i < num_locks; i++)
        pthread_mutex_lock(locks[i]);
}

static void after_fork_in_parent(void)
{
    for (unsigned i = num_locks; i-- > 0;)
        pthread_mutex_unlock(locks[i]);
}

/* The threads that held the locks, or waited for them, are not in this process. */
static void after_fork_in_child(void)
{
    for (unsigned i = 0; i < num_locks; i++)
        pthread_mutex_init(locks[i], NULL);
    owner = getpid();
    for (unsigned i = 0; i < num_forgetters; i++)
        forgetters[i]();
}

void uscopei_fork_install(void)
{
    owner = getpid();
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

bool uscopei_fork_unnoticed(void)
{
    if (owner == 0 || owner == getpid()) return false;
    after_fork_in_child();
    return true;
}
