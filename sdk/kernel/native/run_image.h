/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `struct run` and what it points to, as TypeScript lays them out for the WebAssembly build: words, in which
 * every pointer is an offset into the writer's memory (sdk/src/writer/frames/frame-kernel.ts). The native
 * build reads the tables once and copies the rest for each run, so that the loop itself works on ordinary
 * pointers.
 */
#ifndef USCOPE_RUN_IMAGE_H
#define USCOPE_RUN_IMAGE_H

#include "../frame_run.h"

struct run_image {
    uint8_t *memory;
    uint32_t *words; /* the run, in the order of IMAGE_* */
    struct run run;
    struct storage *storages;
    struct op *ops;
};

/* false: out of memory. */
bool run_image_open(struct run_image *image, uint8_t *memory, uint32_t run);
void run_image_close(struct run_image *image);

/* frame_run on `records`, with what the words say now; its results are in the words then. */
void run_image_take(struct run_image *image, const uint32_t *records);

#endif
