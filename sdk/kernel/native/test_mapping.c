/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings of files that become shorter, and bus errors that are none of theirs. */
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mapping.h"

enum { PAGES = 8 };

static sigjmp_buf elsewhere;

static void note(int number)
{
    siglongjmp(elsewhere, number);
}

static int make_file(size_t size)
{
    char path[] = "/tmp/uscope-mapping-XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    uint8_t *bytes = malloc(size);
    memset(bytes, 7, size);
    bool good = fd >= 0 && write(fd, bytes, size) == (ssize_t)size;
    free(bytes);
    if (!good) exit(1);
    return fd;
}

static uint64_t sum_of(const uint8_t *bytes, size_t size)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += ((const volatile uint8_t *)bytes)[i];
    return sum;
}

static bool reads_zeros_where_a_file_was_cut(size_t page)
{
    int fd = make_file(PAGES * page);
    uint8_t *bytes = mapping_open(fd, PAGES * page), *other = mapping_open(fd, PAGES * page);
    if (!bytes || !other) return false;
    bool good = sum_of(bytes, PAGES * page) == 7 * PAGES * page;
    good = good && ftruncate(fd, (off_t)(3 * page)) == 0;
    good = good && sum_of(bytes, PAGES * page) == 7 * 3 * page;
    mapping_close(bytes);
    good = good && sum_of(other, PAGES * page) == 7 * 3 * page;
    mapping_close(other);
    close(fd);
    return good;
}

static bool opens_so_many_and_no_more(size_t page)
{
    static uint8_t *opened[MAPPINGS_MAX + 1];
    int fd = make_file(page);
    bool good = true;
    for (size_t i = 0; i <= MAPPINGS_MAX; i++) {
        opened[i] = mapping_open(fd, page);
        good = good && (opened[i] != NULL) == (i < MAPPINGS_MAX);
    }
    mapping_close(opened[5]);
    opened[5] = mapping_open(fd, page);
    good = good && opened[5] && sum_of(opened[5], page) == 7 * page;
    for (size_t i = 0; i < MAPPINGS_MAX; i++)
        mapping_close(opened[i]);
    close(fd);
    return good;
}

static bool refuses_what_cannot_be_mapped(size_t page)
{
    return mapping_open(-1, page) == NULL;
}

/* The handler was set before the first mapping, by main. Afterwards it is alone again: this comes last. */
static bool leaves_other_bus_errors_alone(size_t page)
{
    int fd = make_file(2 * page);
    uint8_t *bytes = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, 0);
    bool good = bytes != MAP_FAILED && ftruncate(fd, 0) == 0;
    if (good && sigsetjmp(elsewhere, 1) == 0) {
        sum_of(bytes, 2 * page);
        good = false;
    }
    munmap(bytes, 2 * page);
    close(fd);
    return good;
}

int main(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    signal(SIGBUS, note);
    bool (*const tests[])(size_t) = {refuses_what_cannot_be_mapped, reads_zeros_where_a_file_was_cut,
                                     opens_so_many_and_no_more, leaves_other_bus_errors_alone};
    const char *const names[] = {"what cannot be mapped is refused", "where a file was cut are zeros",
                                 "there is a limit to the number",
                                 "other bus errors go where they went before"};
    int failed = 0, count = sizeof tests / sizeof *tests;
    for (int i = 0; i < count; i++) {
        bool good = tests[i](page);
        printf("%s %s\n", good ? "ok  " : "FAIL", names[i]);
        failed += !good;
    }
    printf("%d tests, %d failed\n", count, failed);
    return failed != 0;
}
