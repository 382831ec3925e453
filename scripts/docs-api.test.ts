import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCHeader } from './api-c.mjs';
import { toMarkdown } from './api-markdown.mjs';
import { readSystemVerilog } from './api-sv.mjs';
import { referencePages } from './docs-api.mjs';
import { ROOT } from './step.mjs';

const markdown = ({ intro, sections }: ReturnType<typeof readCHeader>, language: string) =>
  toMarkdown(intro, sections, { language, level: 2 });

describe('a C header', () => {
  const header = `/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file uscope.h
 * What it is.
 */
#ifndef USCOPE_H
#define USCOPE_H
#define USCOPE_API
#ifdef __cplusplus
extern "C" {
#endif

/* ---- life cycle */

/** A struct; its members keep their comments. */
typedef struct uscope_thing {
    int a; /**< first */
} uscope_thing_t;

typedef void (*uscope_fn)(void *user_data);

/**
 * Opens. See uscope_last_error_* and
 * USCOPE_X.
 *
 *     code();
 */
USCOPE_API int uscope_event1(const char *name,
                             int more);
USCOPE_API int uscope_event2(void);
USCOPE_API int uscope_other(void);

#ifdef __cplusplus
}
#endif
#endif
`;

  it('becomes a page with sections, declarations and their comments', () => {
    expect(markdown(readCHeader(header), 'c')).toBe(`What it is.

## Life cycle

### uscope_thing_t

\`\`\`c
typedef struct uscope_thing {
    int a; /**< first */
} uscope_thing_t;
\`\`\`

A struct; its members keep their comments.

### uscope_fn

\`\`\`c
typedef void (*uscope_fn)(void *user_data);
\`\`\`

### uscope_event1, uscope_event2

\`\`\`c
int uscope_event1(const char *name,
                             int more);
int uscope_event2(void);
\`\`\`

Opens. See \`uscope_last_error_*\` and \`USCOPE_X\`.

\`\`\`
code();
\`\`\`

### uscope_other

\`\`\`c
int uscope_other(void);
\`\`\`
`);
  });
});

describe('a SystemVerilog file', () => {
  const source = `// SPDX-License-Identifier: Apache-2.0
// What it is.

// -- per cycle
// Begins.
import "DPI-C" context function void uscope_begin(input chandle w,
  input longint unsigned time_ps);
// Bodies are left out.
function automatic int twice(input int x);
  // not this one
  return 2 * x;
endfunction
`;

  it('becomes a page with imports as functions', () => {
    expect(markdown(readSystemVerilog(source), 'systemverilog')).toBe(`What it is.

## Per cycle

### uscope_begin

\`\`\`systemverilog
function void uscope_begin(input chandle w,
  input longint unsigned time_ps);
\`\`\`

Begins.

### twice

\`\`\`systemverilog
function automatic int twice(input int x);
\`\`\`

Bodies are left out.
`);
  });
});

describe('the pages that are checked in', () => {
  const pages = referencePages();

  it.each(Object.keys(pages))('%s says what the sources say (else: npm run docs:api)', (path) => {
    expect(readFileSync(join(ROOT, path), 'utf8')).toBe(pages[path]);
  });

  it('have every function of the header and every import', () => {
    const declared = (path: string, pattern: RegExp) =>
      [...readFileSync(join(ROOT, path), 'utf8').matchAll(pattern)].map(([, name]) => name!);
    const c = declared('dpi/include/uscope.h', /\b(uscope_\w+)\(/g);
    const sv = declared('sv/uscope_dpi.svh', /^import "DPI-C".* (uscope_\w+)\(/gm);
    expect(c.length).toBeGreaterThan(50);
    expect(sv.length).toBeGreaterThan(30);
    expect(c.filter((name) => !pages['docs/reference/api/c.md']?.includes(`${name}(`))).toEqual([]);
    expect(sv.filter((name) => !pages['docs/reference/api/systemverilog.md']?.includes(`${name}(`))).toEqual(
      [],
    );
  });
});
