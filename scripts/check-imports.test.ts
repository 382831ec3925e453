import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { limitOfFile, PROCESSES_MS } from '../test/support/limits.js';
import { checkClients, checkImports } from './check-imports.mjs';
import { checkIncludes, checkPythonCycles } from './client-imports.mjs';
import { checkFileWriters } from './file-writers.mjs';
import { checkSpreadArguments } from './spread-arguments.mjs';
import { ROOT } from './step.mjs';

// The check is started as a process.
limitOfFile(PROCESSES_MS);

function check(files: Record<string, string>) {
  return checkImports(new Map(Object.entries(files))).map(({ file, rule }) => `${file}: ${rule}`);
}

/** A tree in order, to which each test adds one thing. */
const GOOD = {
  'base/bytes.ts': '',
  'format/header.ts': "import { x } from '../base/bytes.js';",
  'state/index.ts': "import type { H } from '../format/header.js';",
  'schema/parse.ts': "import { parse } from 'yaml'; import '../format/header.js';",
  'writer/index.ts': "import { stat } from 'node:fs/promises'; export * from '../state/index.js';",
  'reader/index.ts': "import '../schema/parse.js';",
  'reader/node.ts': "import { open } from 'node:fs'; import 'lz4-napi'; import './index.js';",
  'semantics/cpu/ipc.ts': "import type { W } from '../../writer/index.js'; import '../../reader/index.js';",
  'formats/text/lines.ts': "import '../../base/bytes.js';",
  'formats/one/format.ts': "import '../text/lines.js';",
  'formats/two/format.ts': "import '../text/lines.js';",
  'formats/registry.ts': "import './one/format.js'; import './two/format.js';",
  'bridge/daemon.ts': "import '../semantics/cpu/ipc.js'; await import('../reader/node.js');",
  'cli/main.ts': "import '../bridge/daemon.js';",
  'index.ts': "export * from './reader/index.js'; export * from './bridge/daemon.js';",
};

describe('direction of imports', () => {
  it('accepts imports that go downward', () => {
    expect(check(GOOD)).toEqual([]);
  });

  it.each([
    ['an upward import', { 'format/up.ts': "import '../writer/index.js';" }, /writer is above format/],
    [
      'an upward type-only import',
      { 'base/up.ts': "import type { H } from '../format/header.js';" },
      /above/,
    ],
    ['an upward re-export', { 'format/up.ts': "export * from '../state/index.js';" }, /above/],
    ['an upward dynamic import', { 'writer/up.ts': "await import('../bridge/daemon.js');" }, /above/],
    [
      'writer and reader together',
      { 'writer/r.ts': "import '../reader/index.js';" },
      /know nothing of each other/,
    ],
    [
      'state and schema together',
      { 'state/s.ts': "import '../schema/parse.js';" },
      /know nothing of each other/,
    ],
    ['use of the entry', { 'cli/x.ts': "import '../index.js';" }, /no folder with a level/],
    ['the command line in the entry', { 'index.ts': "export * from './cli/main.js';" }, /know nothing|above/],
    ['a folder without a level', { 'misc/x.ts': "import '../base/bytes.js';" }, /without a level/],
    ['a file that does not exist', { 'base/x.ts': "import './nothing.js';" }, /not a source file/],
    [
      'one foreign format in another',
      { 'formats/one/x.ts': "import '../two/format.js';" },
      /one and two know/,
    ],
    [
      'a format in what formats share',
      { 'formats/text/x.ts': "import '../six/y.js';", 'formats/six/y.ts': '' },
      /text and six know/,
    ],
    ['a way out of the sources', { 'base/x.ts': "import '../../package.js';" }, /outside the source root/],
  ])('refuses %s', (_what, added, rule) => {
    expect(check({ ...GOOD, ...added })).toEqual([expect.stringMatching(rule)]);
  });

  it('leaves tests alone', () => {
    expect(check({ ...GOOD, 'format/header.test.ts': "import '../cli/main.js'; import 'node:fs';" })).toEqual(
      [],
    );
  });
});

describe('circles', () => {
  it('names the files of a circle', () => {
    const circle = {
      'base/a.ts': "import './b.js';",
      'base/b.ts': "import './c.js';",
      'base/c.ts': "import './a.js';",
    };
    expect(check(circle)).toEqual([
      'base/a.ts: imports itself in a circle: base/a.ts -> base/b.ts -> base/c.ts -> base/a.ts',
    ]);
  });

  it('accepts a way back that is only a type', () => {
    const files = { 'base/a.ts': "import './b.js';", 'base/b.ts': "import type { A } from './a.js';" };
    expect(check(files)).toEqual([]);
    const values = { ...files, 'base/b.ts': "import { type A } from './a.js';" };
    expect(check(values)).toHaveLength(1);
  });

  it('accepts two ways to one file', () => {
    const diamond = {
      'base/a.ts': "import './b.js'; import './c.js';",
      'base/b.ts': "import './d.js';",
      'base/c.ts': "import './d.js';",
      'base/d.ts': '',
    };
    expect(check(diamond)).toEqual([]);
  });
});

describe('circles of folders', () => {
  it('names the folders of a circle inside a room', () => {
    const circle = {
      'base/inner/a.ts': "import '../b.js';",
      'base/b.ts': "import type { C } from './inner/c.js';",
      'base/inner/c.ts': '',
    };
    expect(check(circle)).toEqual([
      'base/inner/: imports itself in a circle: base/inner/ -> base/ -> base/inner/',
    ]);
  });

  it('accepts an entry that lies above the folders it gathers', () => {
    const entry = {
      'base/index.ts': "export * from './inner/a.js'; export * from './b.js';",
      'base/inner/a.ts': "import '../b.js';",
      'base/b.ts': '',
    };
    expect(check(entry)).toEqual([]);
  });
});

describe('code that runs in a browser', () => {
  it.each([
    [
      'a Node builtin',
      { 'format/x.ts': "import { readFileSync } from 'node:fs';" },
      /node:fs: format runs in/,
    ],
    ['a Node builtin without prefix', { 'base/x.ts': "import 'fs';" }, /fs: base runs in a browser/],
    ['an npm package', { 'state/x.ts': "import 'lz4-napi';" }, /package lz4-napi: state allows none/],
    ['another package than allowed', { 'schema/x.ts': "import 'yamlish';" }, /schema allows yaml/],
    ['the file source', { 'reader/x.ts': "import './node.js';" }, /needs Node/],
    ['the writer', { 'semantics/x.ts': "import '../writer/w.js';", 'writer/w.ts': '' }, /needs Node/],
  ])('refuses %s', (_what, added, rule) => {
    expect(check({ ...GOOD, ...added })).toEqual([expect.stringMatching(rule)]);
  });
});

describe('an entry of a foreign format', () => {
  const good = {
    ...GOOD,
    'formats/one/index.ts': "import '#platform/zip'; export * from './reader.js';",
    'formats/one/reader.ts':
      "import { inflate } from 'fzstd'; import type { X } from '../../writer/index.js';",
    'codecs/node/zip.ts': "import 'node:zlib'; Buffer.from('');",
    'codecs/browser/zip.ts': 'const process = (f: () => Buffer) => f;',
  };
  const platform = new Map([['#platform/*', { browser: 'codecs/browser/*.ts', node: 'codecs/node/*.ts' }]]);
  const found = (added: Record<string, string>) =>
    checkImports(new Map(Object.entries({ ...good, ...added })), platform).map(
      ({ file, rule }) => `${file}: ${rule}`,
    );

  it('may load what a name with # means in a browser', () => {
    expect(found({})).toEqual([]);
  });

  it.each([
    [
      'a Node builtin, however far away',
      { 'formats/one/reader.ts': "import '../text/lines.js';", 'formats/text/lines.ts': "import 'node:fs';" },
      /^formats\/text\/lines.ts: imports node:fs: formats\/one\/index.ts, which runs in a browser, loads it$/,
    ],
    [
      'a Node builtin on the side of the browser',
      { 'codecs/browser/zip.ts': "import 'node:zlib';" },
      /^codecs\/browser\/zip.ts: imports node:zlib/,
    ],
    ['the writer', { 'formats/one/reader.ts': "import '../../writer/index.js';" }, /imports node:fs/],
    ['a native package', { 'formats/one/reader.ts': "import 'lz4-napi';" }, /imports the package lz4-napi/],
    ['Buffer', { 'formats/one/reader.ts': 'Buffer.concat([]);' }, /uses Buffer/],
    ['a name with # that means nothing', { 'formats/one/reader.ts': "import '#other/x';" }, /package #other/],
    [
      'a name with # that means no file in a browser',
      { 'formats/one/reader.ts': "import '#platform/gone';", 'codecs/node/gone.ts': '' },
      /codecs\/browser\/gone.ts, which is not a source file/,
    ],
  ])('does not load %s', (_what, added, rule) => {
    const violations = found(added);
    expect(violations).not.toEqual([]);
    // The rooms that run in a browser as a whole say it too.
    for (const violation of violations) expect(violation).toMatch(rule);
  });
});

describe('sources that write files', () => {
  const check = (text: string, file = 'cli/verbs/stats.ts') => checkFileWriters(new Map([[file, text]]));

  it.each([
    "import { stat, writeFile } from 'node:fs/promises';",
    "import { writeFileSync as write } from 'node:fs';",
    "import {\n  constants,\n  openSync,\n} from 'node:fs';",
    "import * as fs from 'node:fs';",
    "import fs from 'fs/promises';",
  ])('are listed: %s', (text) => {
    expect(check(text)).toHaveLength(1);
    expect(check(text, 'writer/output/atomic-file.ts')).toEqual([]);
  });

  it('are all others that only read, remove or have types', () => {
    expect(check("import { readFile, rm, stat } from 'node:fs/promises';")).toEqual([]);
    expect(check("import type { open } from 'node:fs/promises';")).toEqual([]);
  });

  it('are not listed when they write no more', () => {
    expect(check('', 'formats/ftr/sorter.ts')).toHaveLength(1);
  });
});

describe('the command', () => {
  let directory = '';
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  function runOn(files: Record<string, string>) {
    directory = mkdtempSync(join(tmpdir(), 'uscope-imports-'));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), text);
    }
    const script = join(ROOT, 'scripts', 'check-imports.mjs');
    return spawnSync(process.execPath, [script, directory], { encoding: 'utf8' });
  }

  it('exits 0 on a tree in order', () => {
    const { status, stdout } = runOn(GOOD);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '15 files, 0 violations\n' });
  });

  it('exits 1 and names file and rule on a violation', () => {
    const { status, stderr } = runOn({ ...GOOD, 'base/up.ts': "import '../format/header.js';" });
    expect(status).toBe(1);
    expect(stderr).toMatch(/base\/up\.ts: imports format\/header\.ts: format is above base/);
  });

  it('does not take an empty directory for a tree in order', () => {
    expect(runOn({}).status).toBe(1);
  });
});

describe('includes of the C client', () => {
  const includes = (files: Record<string, string>) =>
    checkIncludes(new Map(Object.entries(files)), new Set(['uscope.h'])).map(
      ({ file, rule }) => `${file}: ${rule}`,
    );
  const good = {
    'base/common.h': '#include <stdint.h>\n#include "uscope.h"\n',
    'memory/pool.h': '#include "base/common.h"\n',
    'trace/trace.h': '#include "memory/pool.h"\n',
    'record/append.c': '#include "trace/trace.h"\n',
    'dpi/shim.c': '#include <svdpi.h>\n#include "trace/trace.h"\n',
  };

  it('may go downward', () => {
    expect(includes(good)).toEqual([]);
  });

  it.each([
    ['upward', { 'memory/x.c': '  #  include "trace/trace.h"' }, /trace is above memory/],
    ['across', { 'schema/x.c': '#include "memory/pool.h"' }, /know nothing of each other/],
    ['without the folder', { 'memory/x.c': '#include "pool.h"' }, /neither a path/],
    ['from no layer', { 'x.c': '' }, /no folder with a layer/],
    ['from an unknown folder', { 'misc/x.c': '#include "base/common.h"' }, /no folder with a layer/],
  ])('do not go %s', (_what, added, rule) => {
    expect(includes({ ...good, ...added })).toEqual([expect.stringMatching(rule)]);
  });

  it('form no circle', () => {
    const circle = { 'base/a.h': '#include "base/b.h"', 'base/b.h': '#include "base/a.h"' };
    expect(includes(circle)).toEqual([
      'base/a.h: imports itself in a circle: base/a.h -> base/b.h -> base/a.h',
    ]);
  });
});

describe('modules of the Python client', () => {
  const cycles = (files: Record<string, string>) =>
    checkPythonCycles(new Map(Object.entries(files))).map(({ rule }) => rule);

  it('may import each other in one direction', () => {
    const files = {
      'a.py': 'from . import b, c as d\n',
      'b.py': 'from .c import X\n',
      'c.py': 'import os\n',
    };
    expect(cycles(files)).toEqual([]);
  });

  it('form no circle, not even of types', () => {
    const files = {
      'a.py': 'from . import (\n    c,\n    b,\n)\n',
      'b.py': 'if TYPE_CHECKING:\n    from .a import A\n',
      'c.py': '',
    };
    expect(cycles(files)).toEqual(['imports itself in a circle: a.py -> b.py -> a.py']);
  });
});

it('the clients keep to the rules', () => {
  for (const { sources, violations } of checkClients()) {
    expect(sources.size).toBeGreaterThan(20);
    expect(violations).toEqual([]);
  }
});

describe('lists spread into arguments', () => {
  const found = (text: string) => checkSpreadArguments(new Map([['cli/a.ts', text]])).length;

  it.each([
    'all.push(...items);',
    'const m = Math.max(1, ...values.map((v) => v.x));',
    'a.push(\n  ...b,\n);',
  ])('are refused: %s', (text) => expect(found(text)).toBe(1));

  it.each(['all.push({ ...one });', 'all.push([...some]);', 'Math.max(a, b(...c))', 'f(...all);'])(
    'are not those of objects, lists and other calls: %s',
    (text) => expect(found(text)).toBe(0),
  );
});
