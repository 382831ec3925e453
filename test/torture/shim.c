/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded into the processes of a torture run (LD_PRELOAD):
 *
 *   TORTURE_CLOCK=FILE  the wall clock is ahead by the nanoseconds (i64) in FILE, which may change at any time. Covered are
 *                       clock_gettime(CLOCK_REALTIME), gettimeofday and time; the monotonic clock never jumps.
 *   TORTURE_DIE=PHASE   the process kills itself in a phase of the adoption of an orphan:
 *                       before-lock     before it takes the trace's lock
 *                       after-lock      when it has the lock
 *                       remains         before the first write after the opening of the dead client's memory
 *                       writing-N       before the Nth write after that
 *                       finalizing-N    before the Nth sync after that
 *                       before-removal  before it removes the memory
 *                       after-removal   after that
 *                       before-unlock   before it removes its lock file
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static const char *phase;
static int writing, finalizing;       /* N of writing-N, finalizing-N */
static _Atomic int has_lock, drains;  /* the lock is taken; the memory was opened after that */
static _Atomic int writes, syncs;
static const _Atomic int64_t *ahead;

__attribute__((constructor)) static void read_environment(void)
{
    phase = getenv("TORTURE_DIE");
    if (phase && strncmp(phase, "finalizing-", 11) == 0) finalizing = atoi(phase + 11);
    if (phase && strncmp(phase, "writing-", 8) == 0) writing = atoi(phase + 8);
    const char *clock = getenv("TORTURE_CLOCK");
    int fd = clock ? open(clock, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *at = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (at != MAP_FAILED) ahead = at;
}

static void die_in(const char *which)
{
    if (phase && strcmp(phase, which) == 0) kill(getpid(), SIGKILL);
}

static int ends_with(const char *path, const char *end)
{
    size_t length = strlen(path), tail = strlen(end);
    return length >= tail && strcmp(path + length - tail, end) == 0;
}

/* -- the clock */

static struct timespec moved(struct timespec at)
{
    int64_t by = ahead ? *ahead : 0, nanoseconds = at.tv_nsec + by % 1000000000;
    at.tv_sec += by / 1000000000 + (nanoseconds >= 1000000000) - (nanoseconds < 0);
    at.tv_nsec = (nanoseconds + 1000000000) % 1000000000;
    return at;
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
    static _Atomic(__typeof__(&clock_gettime)) real;
    if (!real) real = NEXT(clock_gettime);
    int result = real(clock, at);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) *at = moved(*at);
    return result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}

/* -- the phases of an adoption */

int link(const char *from, const char *to)
{
    int is_lock = ends_with(to, ".uscope.lock");
    if (is_lock) die_in("before-lock");
    int result = NEXT(link)(from, to);
    if (is_lock && result == 0) {
        has_lock = 1;
        die_in("after-lock");
    }
    return result;
}

/* In the place of a lock that a dead process has left. */
int rename(const char *from, const char *to)
{
    int result = NEXT(rename)(from, to);
    if (ends_with(to, ".uscope.lock") && result == 0) {
        has_lock = 1;
        die_in("after-lock");
    }
    return result;
}

int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = (flags & O_CREAT) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (has_lock && ends_with(path, ".mem")) drains = 1;
    return NEXT(open64)(path, flags, mode);
}

static void before_write(void)
{
    if (!drains) return;
    die_in("remains");
    if (writing && ++writes == writing) kill(getpid(), SIGKILL);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
    before_write();
    return NEXT(pwrite64)(fd, bytes, size, at);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at)
{
    before_write();
    return NEXT(pwritev64)(fd, parts, count, at);
}

int fdatasync(int fd)
{
    if (drains && finalizing && ++syncs == finalizing) kill(getpid(), SIGKILL);
    return NEXT(fdatasync)(fd);
}

int unlink(const char *path)
{
    int is_memory = ends_with(path, ".mem");
    if (is_memory) die_in("before-removal");
    if (has_lock && ends_with(path, ".uscope.lock")) die_in("before-unlock");
    int result = NEXT(unlink)(path);
    if (is_memory) die_in("after-removal");
    return result;
}
