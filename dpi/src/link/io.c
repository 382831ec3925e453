/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one thread per process that talks to the daemon. It polls for published data every few milliseconds,
 * so that the simulator's thread need not wake it.
 */
#include "link/io.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

#include "base/fork.h"

/* Each look is a timer's interrupt, maybe in the middle of a cycle: no more of them than a live reader needs.
 */
enum { POLL_MS = 10, LOOK_MS = 1000 };

struct uscopei_io_shared uscopei_io = {PTHREAD_MUTEX_INITIALIZER};
FORK_SAFE_LOCK(io_lock, uscopei_io.lock)

/* under uscopei_io.lock */
static struct {
    bool running;
    pthread_t thread;
    struct uscopei_session *pending;
} shared;
static int wake_fd = -1;
static atomic_bool quit;

/* -- other threads */

void uscopei_io_wake(void)
{
    uint64_t one = 1;
    int saved = errno;
    /* when the counter is full the thread has been woken long since */
    ssize_t ignored = write(wake_fd, &one, sizeof one);
    (void)ignored;
    errno = saved;
}

static void *io_main(void *argument);

/* The simulator's signals are for its own threads. */
static bool start_thread(void)
{
    sigset_t all, old;
    sigfillset(&all);
    if (wake_fd < 0) wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_fd < 0) return false;
    atomic_store(&quit, false);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&shared.thread, NULL, io_main, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error == 0;
}

bool uscopei_io_submit(struct uscopei_session *s)
{
    pthread_mutex_lock(&uscopei_io.lock);
    if (!shared.running) shared.running = start_thread();
    bool running = shared.running;
    if (running) {
        s->next_pending = shared.pending;
        shared.pending = s;
    }
    pthread_mutex_unlock(&uscopei_io.lock);
    if (running) uscopei_io_wake();
    return running;
}

void uscopei_io_shutdown(void)
{
    pthread_mutex_lock(&uscopei_io.lock);
    bool running = shared.running;
    shared.running = false;
    pthread_mutex_unlock(&uscopei_io.lock);
    if (!running) return;
    atomic_store(&quit, true);
    uscopei_io_wake();
    pthread_join(shared.thread, NULL);
}

bool uscopei_io_is_self(void)
{
    pthread_mutex_lock(&uscopei_io.lock);
    bool self = shared.running && pthread_equal(pthread_self(), shared.thread);
    pthread_mutex_unlock(&uscopei_io.lock);
    return self;
}

void uscopei_io_forget(void)
{
    shared.running = false;
    shared.pending = NULL;
    if (wake_fd >= 0) close(wake_fd);
    wake_fd = -1;
}

/* -- the thread */

void io_notify(struct uscopei_session *s)
{
    pthread_mutex_lock(&uscopei_io.lock);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&uscopei_io.lock);
}

void io_fail(struct uscopei_session *s, const char *code, const char *format, ...)
{
    char message[sizeof s->fail_message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    s->link = LINK_DONE;
    /* before the trace's thread can act on it: its own message comes after this one */
    if (s->ever_opened) uscopei_say("%s: %s: %s", s->name, code, message);
    pthread_mutex_lock(&uscopei_io.lock);
    snprintf(s->fail_code, sizeof s->fail_code, "%s", code);
    snprintf(s->fail_message, sizeof s->fail_message, "%s", message);
    atomic_fetch_or(&s->trace->attention, ATTENTION_FAILED);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&uscopei_io.lock);
}

void io_finish(struct uscopei_session *s, const uscope_close_stats_t *stats)
{
    s->link = LINK_DONE;
    pthread_mutex_lock(&uscopei_io.lock);
    s->closed = true;
    s->stats = *stats;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&uscopei_io.lock);
}

/*
 * Tools that restore a process from an image bring its threads back and run no fork handlers. The process has
 * another id or another start time then, and its original may still run.
 */
void io_check_process(struct io *io)
{
    struct uscopei_process before = io->process, now = uscopei_this_process();
    io->looked = io->now;
    if (uscopei_is_same_process(before, now)) return;
    io->process = now;
    for (uint32_t i = 0; i < io->count; i++) {
        if (io->sessions[i]->link == LINK_DONE) continue;
        io_fail(io->sessions[i], uscopei_code_name(E_BRIDGE_FORKED),
                "this process was restored from an image of process %u, whose trace this is; a restored "
                "process has to open a new trace",
                before.pid);
    }
    conn_lost(io);
}

static void adopt(struct io *io)
{
    pthread_mutex_lock(&uscopei_io.lock);
    struct uscopei_session *s = shared.pending;
    shared.pending = NULL;
    pthread_mutex_unlock(&uscopei_io.lock);
    while (s) {
        struct uscopei_session *next = s->next_pending;
        s->link = LINK_NEED_OPEN;
        s->open_deadline = io->now + uscopei_get_config()->open_timeout_ms;
        io->sessions[io->count++] = s;
        s = next;
    }
}

/* The trace's thread has let go of sessions marked for it; their memory lives until ZeroMQ has let go too. */
static void bury(struct io *io)
{
    for (uint32_t i = 0; i < io->count;) {
        struct uscopei_session *s = io->sessions[i];
        if (!atomic_load(&s->abandoned)) {
            i++;
            continue;
        }
        io->sessions[i] = io->sessions[--io->count];
        if (s->pool) {
            s->pool->next_grave = io->graves;
            io->graves = s->pool;
        }
        uscopei_session_free(s);
    }
    for (struct uscopei_pool **at = &io->graves; *at;) {
        struct uscopei_pool *pool = *at;
        if (!uscopei_pool_idle(pool)) {
            at = &pool->next_grave;
            continue;
        }
        *at = pool->next_grave;
        uscopei_pool_destroy(pool);
    }
}

static int poll_timeout(const struct io *io)
{
    bool live = false;
    for (uint32_t i = 0; i < io->count; i++)
        live |= io->sessions[i]->link != LINK_DONE;
    return live || io->graves ? POLL_MS : -1;
}

static void sleep_until_something(const struct io *io)
{
    zmq_pollitem_t items[3] = {
        {NULL, wake_fd, ZMQ_POLLIN, 0}, {io->socket, 0, ZMQ_POLLIN, 0}, {io->monitor, 0, ZMQ_POLLIN, 0}};
    zmq_poll(items, io->socket ? 3 : 1, poll_timeout(io));
    uint64_t count;
    if (items[0].revents) {
        ssize_t ignored = read(wake_fd, &count, sizeof count);
        (void)ignored;
    }
}

static void *io_main(void *argument)
{
    (void)argument;
    struct io io = {0};
    io.context = zmq_ctx_new();
    io.process = uscopei_this_process();
    for (;;) {
        io.now = uscopei_now_ms();
        adopt(&io);
        bury(&io);
        if (atomic_load(&quit) && io.count == 0) break;
        if (io.now - io.looked >= LOOK_MS) io_check_process(&io);
        conn_step(&io);
        for (uint32_t i = 0; i < io.count; i++)
            trace_step(&io, io.sessions[i]);
        sleep_until_something(&io);
    }
    conn_close(&io);
    zmq_ctx_term(io.context);
    bury(&io);
    return NULL;
}
