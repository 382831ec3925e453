/* SPDX-License-Identifier: Apache-2.0 */
#include "mapping.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

/* Read by the signal handler, on any thread. */
struct mapping {
    _Atomic uintptr_t start; /* 0: free */
    _Atomic size_t size;
};

static struct mapping mappings[MAPPINGS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while a mapping is opened or closed */
static struct sigaction before;
static bool handled;
static size_t page;

static struct mapping *find(uintptr_t address)
{
    for (size_t i = 0; i < MAPPINGS_MAX; i++) {
        uintptr_t start = atomic_load(&mappings[i].start);
        if (start && address >= start && address - start < atomic_load(&mappings[i].size))
            return mappings + i;
    }
    return NULL;
}

/* POSIX does not allow mmap here; on Linux it is only a system call. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    uintptr_t address = (uintptr_t)info->si_addr;
    struct mapping *mapping = find(address);
    if (mapping) {
        uintptr_t from = address & ~(uintptr_t)(page - 1);
        size_t rest = mapping->size - (from - mapping->start);
        void *zeros = mmap((void *)from, rest, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (zeros != MAP_FAILED) return;
    }
    /* The read is tried again, and reaches the previous handler. */
    sigaction(SIGBUS, &before, NULL);
}

static bool handle_bus_errors(void)
{
    if (handled) return true;
    page = (size_t)sysconf(_SC_PAGESIZE);
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    handled = sigaction(SIGBUS, &action, &before) == 0;
    return handled;
}

static struct mapping *find_free(void)
{
    for (size_t i = 0; i < MAPPINGS_MAX; i++)
        if (!atomic_load(&mappings[i].start)) return mappings + i;
    return NULL;
}

uint8_t *mapping_open(int fd, size_t size)
{
    uint8_t *start = NULL;
    pthread_mutex_lock(&lock);
    struct mapping *mapping = handle_bus_errors() ? find_free() : NULL;
    void *mapped = mapping ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (mapped != MAP_FAILED) {
        start = mapped;
        atomic_store(&mapping->size, size);
        atomic_store(&mapping->start, (uintptr_t)start);
    }
    pthread_mutex_unlock(&lock);
    return start;
}

void mapping_close(uint8_t *start)
{
    pthread_mutex_lock(&lock);
    struct mapping *mapping = find((uintptr_t)start);
    if (mapping) {
        munmap(start, mapping->size);
        atomic_store(&mapping->start, 0);
    }
    pthread_mutex_unlock(&lock);
}
