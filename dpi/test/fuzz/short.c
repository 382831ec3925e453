/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short form of fuzzing, which needs no libFuzzer and no other build of the client: short_NAME INPUTS
 * DIRECTORY gives the target nothing, each file of the directory, and then inputs that are such files changed
 * at random places, always the same ones.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MAX_SEEDS = 1024, MAX_BYTES = 8192, MAX_CHANGES = 8 };

struct input {
    unsigned char *bytes;
    size_t size;
};

static struct input seeds[MAX_SEEDS];
static unsigned num_seeds;
static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/** 0 to limit - 1. */
static size_t below(size_t limit)
{
    return (size_t)(next_random() % limit);
}

static int is_seed(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void read_seed(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = malloc(MAX_BYTES);
    if (!file || !bytes) {
        perror(path);
        exit(1);
    }
    size_t size = fread(bytes, 1, MAX_BYTES, file);
    fclose(file);
    if (num_seeds < MAX_SEEDS) seeds[num_seeds++] = (struct input){bytes, size};
}

/** In the order of their names: the changes are the same on every machine. */
static void read_seeds(const char *directory)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, is_seed, alphasort);
    if (count <= 0) {
        fprintf(stderr, "%s has no files\n", directory);
        exit(1);
    }
    for (int i = 0; i < count; i++) {
        read_seed(directory, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

static void remove_bytes(struct input *input, size_t at, size_t count)
{
    if (count > input->size - at) count = input->size - at;
    memmove(input->bytes + at, input->bytes + at + count, input->size - at - count);
    input->size -= count;
}

static void insert_bytes(struct input *input, size_t at, const unsigned char *bytes, size_t count)
{
    if (count > MAX_BYTES - input->size) count = MAX_BYTES - input->size;
    memmove(input->bytes + at + count, input->bytes + at, input->size - at);
    memcpy(input->bytes + at, bytes, count);
    input->size += count;
}

static void change(struct input *input)
{
    static const unsigned char ends[] = {0x00, 0x01, 0x7f, 0x80, 0xc0, 0xdf, 0xff};
    const struct input *other = &seeds[below(num_seeds)];
    size_t at = below(input->size + 1), from = below(other->size + 1);
    size_t count = 1 + below(16);
    switch (below(5)) {
    case 0:
        if (at < input->size) input->bytes[at] ^= (unsigned char)(1u << below(8));
        break;
    case 1:
        if (at < input->size) input->bytes[at] = ends[below(sizeof ends)];
        break;
    case 2: remove_bytes(input, at, count); break;
    case 3:
        insert_bytes(input, at, other->bytes + from, count < other->size - from ? count : other->size - from);
        break;
    default: input->size = at;
    }
}

/** A copy of its exact size, so that AddressSanitizer sees the first byte after it. */
static void run(const unsigned char *bytes, size_t size)
{
    unsigned char *exact = malloc(size ? size : 1);
    if (!exact) abort();
    memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s INPUTS DIRECTORY\n", argv[0]);
        return 2;
    }
    long inputs = strtol(argv[1], NULL, 10);
    read_seeds(argv[2]);
    static unsigned char changed[MAX_BYTES];
    run(changed, 0);
    for (unsigned i = 0; i < num_seeds; i++)
        run(seeds[i].bytes, seeds[i].size);
    for (long i = 0; i < inputs; i++) {
        const struct input *seed = &seeds[below(num_seeds)];
        struct input input = {changed, seed->size};
        memcpy(changed, seed->bytes, seed->size);
        for (size_t changes = 1 + below(MAX_CHANGES); changes > 0; changes--)
            change(&input);
        run(input.bytes, input.size);
    }
    printf("%u seeds, %ld inputs\n", num_seeds, inputs);
    return 0;
}
