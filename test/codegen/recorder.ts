/**
 * A client that carries nothing anywhere: it prints the calls it gets. Written in C against dpi/include/uscope.h, so that generated code
 * is compiled with the header users compile it with.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const VECTORS = join(ROOT, 'test/vectors/codegen');

const COUNTS = [1, 2, 3, 4, 5, 6, 7, 8];
const list = (count: number, item: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => `, ${item(i)}`).join('');
const cValues = (count: number): string => list(count, (i) => `unsigned long long f${i}`);

const HEAD = `
#include <stdio.h>
#include "uscope.h"

static int trace;
static unsigned int strings;

uscope_writer_t *uscope_open_checked(const char *name, const char *path, const char *sha256, const char *variables)
{
    printf("open %s %.8s %s%s\\n", name, sha256, variables ? variables : "", path);
    return &trace;
}
uscope_writer_t *uscope_writer_open_opts(const uscope_open_options_t *o)
{
    return uscope_open_checked(o->name, "", o->schema_sha256, o->variables);
}
unsigned int uscope_string(uscope_writer_t *w, const char *text)
{
    (void)w;
    printf("string %s\\n", text);
    return strings++;
}
void uscope_slot_set(uscope_writer_t *w, uint16_t st, uint16_t slot, uint16_t field, unsigned long long value)
{
    (void)w;
    printf("set %u %u %u %lld\\n", st, slot, field, (long long)value);
}
void uscope_slot_add(uscope_writer_t *w, uint16_t st, uint16_t slot, uint16_t field, unsigned long long value)
{
    (void)w;
    printf("add %u %u %u %lld\\n", st, slot, field, (long long)value);
}
void uscope_slot_clear(uscope_writer_t *w, uint16_t st, uint16_t slot)
{
    (void)w;
    printf("clear %u %u\\n", st, slot);
}
void uscope_prop_set(uscope_writer_t *w, uint16_t st, uint16_t property, unsigned long long value)
{
    (void)w;
    printf("prop %u %u %lld\\n", st, property, (long long)value);
}
void uscope_event_bytes(uscope_writer_t *w, uint16_t id, const void *payload, uint32_t size)
{
    (void)w;
    printf("event %u", id);
    for (uint32_t i = 0; i < size; i++)
        printf("%s%02x", i ? "" : " ", ((const uint8_t *)payload)[i]);
    printf("\\n");
}
void uscope_event0(uscope_writer_t *w, uint16_t id)
{
    uscope_event_bytes(w, id, 0, 0);
}
/* Lanes are printed as the calls they represent. */
static unsigned long long lane_value(unsigned long long values, unsigned int lane, unsigned int width)
{
    return values >> (lane * width) & ((1ull << width) - 1);
}
void uscope_slot_set_lanes(uscope_writer_t *w, uint16_t st, uint16_t field, unsigned long long lanes,
                           unsigned long long values, unsigned int width)
{
    for (unsigned int i = 0; i < 64; i++)
        if (lanes >> i & 1) uscope_slot_set(w, st, (uint16_t)i, field, lane_value(values, i, width));
}
void uscope_slot_clear_lanes(uscope_writer_t *w, uint16_t st, unsigned long long lanes)
{
    for (unsigned int i = 0; i < 64; i++)
        if (lanes >> i & 1) uscope_slot_clear(w, st, (uint16_t)i);
}
void uscope_count_lanes(uscope_writer_t *w, uint16_t first, unsigned long long lanes)
{
    for (unsigned int i = 0; i < 64; i++)
        if (lanes >> i & 1) uscope_slot_add(w, (uint16_t)(first + i), 0, 0, 1);
}
void uscope_event1_lanes(uscope_writer_t *w, uint16_t id, unsigned long long lanes, unsigned long long values,
                         unsigned int width)
{
    (void)w;
    for (unsigned int i = 0; i < 64; i++)
        if (lanes >> i & 1) printf("event %u %llu\\n", id, lane_value(values, i, width));
}
void uscope_event2_lanes(uscope_writer_t *w, uint16_t id, unsigned long long lanes, unsigned long long values,
                         unsigned int width, unsigned int second, unsigned int step)
{
    (void)w;
    for (unsigned int i = 0; i < 64; i++)
        if (lanes >> i & 1) printf("event %u %llu %u\\n", id, lane_value(values, i, width), second + i * step);
}
void uscope_checkpoint_begin(uscope_writer_t *w, uint16_t st)
{
    (void)w;
    printf("snapshot %u\\n", st);
}
void uscope_checkpoint_field(uscope_writer_t *w, uint16_t slot, uint16_t field, unsigned long long value)
{
    (void)w;
    printf("snapshot field %u %u %lld\\n", slot, field, (long long)value);
}
void uscope_checkpoint_end(uscope_writer_t *w)
{
    (void)w;
    printf("snapshot end\\n");
}
static void snapshot(uint16_t slot, unsigned int count, const unsigned long long *values)
{
    printf("snapshot slot %u", slot);
    for (unsigned int i = 0; i < count; i++)
        printf(" %lld", (long long)values[i]);
    printf("\\n");
}
/* A slot in one call is printed as the calls it represents. */
static void put(uint16_t st, uint16_t slot, unsigned int count, const unsigned long long *values)
{
    for (unsigned int i = 0; i < count; i++)
        uscope_slot_set(&trace, st, slot, (uint16_t)i, values[i]);
}
static void event(uint16_t id, unsigned int count, const unsigned long long *values)
{
    printf("event %u", id);
    for (unsigned int i = 0; i < count; i++)
        printf(" %lld", (long long)values[i]);
    printf("\\n");
}
`;

function fixedCalls(count: number): string {
  const values = `const unsigned long long v[] = {${list(count, (i) => `f${i}`).slice(2)}};`;
  return `
void uscope_slot_put${count}(uscope_writer_t *w, uint16_t st, uint16_t slot${cValues(count)})
{
    ${values}
    (void)w;
    put(st, slot, ${count}, v);
}
void uscope_checkpoint_slot${count}(uscope_writer_t *w, uint16_t slot${cValues(count)})
{
    ${values}
    (void)w;
    snapshot(slot, ${count}, v);
}
void uscope_event${count}(uscope_writer_t *w, uint16_t id${cValues(count)})
{
    ${values}
    (void)w;
    event(id, ${count}, v);
}
`;
}

/** Writes recorder.c, unused.c, uscope.h, uscope_dpi.svh and uscope_pkg.sv into a directory. */
export function writeRecorder(directory: string): void {
  mkdirSync(directory, { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(directory, name), text);
  const recorder = HEAD + COUNTS.map(fixedCalls).join('');
  const imports = readFileSync(join(ROOT, 'sv/uscope_dpi.svh'), 'utf8');
  write('recorder.c', recorder);
  write('unused.c', stubs(imports, recorder));
  write('uscope.h', readFileSync(join(ROOT, 'dpi/include/uscope.h'), 'utf8'));
  write('uscope_dpi.svh', imports);
  write('uscope_pkg.sv', readFileSync(join(ROOT, 'sv/uscope_pkg.sv'), 'utf8'));
}

/** Simulators want every import to exist; those that generated code never calls end the program. */
function stubs(imports: string, recorder: string): string {
  const names = [...imports.matchAll(/^import "DPI-C" .*?(uscope_\w+)\s*\(/gm)].map(([, name]) => name);
  const missing = [...new Set(names)].filter((name) => !recorder.includes(`${name}(`));
  const definitions = missing.map((name) => `C void ${name}(void) { abort(); }\n`).join('');
  return `#include <stdlib.h>\n#ifdef __cplusplus\n#define C extern "C"\n#else\n#define C\n#endif\n${definitions}`;
}
