/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded into processes of a fault campaign (LD_PRELOAD): one file call below a
 * path fails.
 *
 *   FAIL_BELOW=PATH    only calls on files whose path begins with this count
 *   FAIL_CONTROL=FILE  struct control below, shared by all processes and by the
 * test, which may arm it again at any time
 *
 * Counted are reads, writes, syncs, truncations, renames, links, removals, new
 * directories, opens, and closes of files that were open for writing. A call
 * that fails has done nothing, but for a close, which has closed, and a short
 * write, which has written a half.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name)  ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define SHORT_WRITE (-1)
#define FULL        (-2) /* from that call on there is no room */

struct control {
    int64_t nth;           /* of the calls from 1 on, fails; 0: none */
    int64_t error;         /* errno, SHORT_WRITE or FULL */
    _Atomic int64_t count; /* of calls so far */
    _Atomic int64_t hit;   /* kind of the call that failed, a character; 0: none has */
};
static struct control *control;
static const char *below;

__attribute__((constructor)) static void read_environment(void)
{
    below = getenv("FAIL_BELOW");
    const char *path = getenv("FAIL_CONTROL");
    int fd = path ? NEXT(open64)(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *at = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    NEXT(close)(fd);
    if (at != MAP_FAILED) control = at;
}

/* What the call on `path` shall fail with; 0: it shall not. */
static int64_t fault_at(char kind, const char *path)
{
    if (!control || !below || !path || strncmp(path, below, strlen(below)) != 0) return 0;
    int64_t count = atomic_fetch_add(&control->count, 1) + 1;
    int64_t error = control->error;
    if (control->nth == 0 || count < control->nth || (count > control->nth && error != FULL)) return 0;
    if (error == FULL) error = ENOSPC;
    if (error == SHORT_WRITE && kind != 'w') return 0;
    if (error == ENOSPC && !strchr("wsotmlr", kind)) return 0;
    control->hit = kind;
    return error;
}

static int64_t fault_of(char kind, int fd)
{
    if (!control || !below) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fault_at(kind, path);
}

static int failed(int64_t fault)
{
    if (fault <= 0) return 0;
    errno = (int)fault;
    return 1;
}

/* -- bytes */

#define HALF(size) ((size) > 1 ? (size) / 2 : (size))

ssize_t write(int fd, const void *bytes, size_t size)
{
    int64_t fault = fault_of('w', fd);
    if (failed(fault)) return -1;
    return NEXT(write)(fd, bytes, fault == SHORT_WRITE ? HALF(size) : size);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
    int64_t fault = fault_of('w', fd);
    if (failed(fault)) return -1;
    return NEXT(pwrite64)(fd, bytes, fault == SHORT_WRITE ? HALF(size) : size, at);
}

/* Short: a half of the first part. */
static ssize_t write_half(int fd, const struct iovec *parts, off64_t at)
{
    return NEXT(pwrite64)(fd, parts->iov_base, HALF(parts->iov_len), at);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at)
{
    int64_t fault = fault_of('w', fd);
    if (failed(fault)) return -1;
    if (fault == SHORT_WRITE && count > 0) return write_half(fd, parts, at);
    return NEXT(pwritev64)(fd, parts, count, at);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    int64_t fault = fault_of('w', fd);
    if (failed(fault)) return -1;
    if (fault == SHORT_WRITE && count > 0) return NEXT(write)(fd, parts->iov_base, HALF(parts->iov_len));
    return NEXT(writev)(fd, parts, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    return pwrite64(fd, bytes, size, at);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
    return pwritev64(fd, parts, count, at);
}

ssize_t read(int fd, void *bytes, size_t size)
{
    return failed(fault_of('i', fd)) ? -1 : NEXT(read)(fd, bytes, size);
}

ssize_t pread64(int fd, void *bytes, size_t size, off64_t at)
{
    return failed(fault_of('i', fd)) ? -1 : NEXT(pread64)(fd, bytes, size, at);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t at)
{
    return pread64(fd, bytes, size, at);
}

/* -- files */

int fsync(int fd)
{
    return failed(fault_of('s', fd)) ? -1 : NEXT(fsync)(fd);
}

int fdatasync(int fd)
{
    return failed(fault_of('s', fd)) ? -1 : NEXT(fdatasync)(fd);
}

int ftruncate64(int fd, off64_t size)
{
    return failed(fault_of('t', fd)) ? -1 : NEXT(ftruncate64)(fd, size);
}

int ftruncate(int fd, off_t size)
{
    return ftruncate64(fd, size);
}

int close(int fd)
{
    int flags = control ? fcntl(fd, F_GETFL) : -1;
    int64_t fault = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY ? fault_of('c', fd) : 0;
    int result = NEXT(close)(fd);
    return failed(fault) ? -1 : result;
}

int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;
    va_end(more);
    /* Opening a file that is there needs no room. */
    char kind = (flags & O_CREAT) ? 'o' : 'i';
    return failed(fault_at(kind, path)) ? -1 : NEXT(open64)(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open64(path, flags, mode);
}

/* -- names */

int rename(const char *from, const char *to)
{
    return failed(fault_at('r', to)) ? -1 : NEXT(rename)(from, to);
}

int link(const char *from, const char *to)
{
    return failed(fault_at('l', to)) ? -1 : NEXT(link)(from, to);
}

int unlink(const char *path)
{
    return failed(fault_at('u', path)) ? -1 : NEXT(unlink)(path);
}

int rmdir(const char *path)
{
    return failed(fault_at('u', path)) ? -1 : NEXT(rmdir)(path);
}

int mkdir(const char *path, mode_t mode)
{
    return failed(fault_at('m', path)) ? -1 : NEXT(mkdir)(path, mode);
}
