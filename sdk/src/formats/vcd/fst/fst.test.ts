/** FST through GTKWave's `vcd2fst`: read back by its `fst2vcd`, it has the same changes as the VCD. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contextOf, MemoryFiles } from '../../../../../test/support/foreign.js';
import { limitOfFile, PROCESSES_MS } from '../../../../../test/support/limits.js';
import { lacks } from '../../../../../test/support/needs.js';
import { writePipeline } from '../../../../../test/support/written-pipeline.js';
import { openTraceFile } from '../../../reader/node.js';
import { formatNamed } from '../../sniff.js';

// Converters are started.
limitOfFile(PROCESSES_MS);

const hasTools = ['vcd2fst', 'fst2vcd'].every((name) => !spawnSync(name, ['--help']).error);
const PATH = process.env.PATH ?? '';
const { TMPDIR } = process.env;

let directory = '';
let path = '';
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-fst-test-'));
  path = join(directory, 'core.uscope');
  await writePipeline({ path, index: null, segmentCycles: 500 }, 400);
  // Other processes write FST at the same time: what these tests leave is in a directory for them alone.
  process.env.TMPDIR = join(directory, 'tmp');
  mkdirSync(process.env.TMPDIR);
});
afterEach(() => {
  process.env.PATH = PATH;
});
afterAll(() => {
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
  rmSync(directory, { recursive: true, force: true });
});

async function written(name: string): Promise<Uint8Array> {
  const trace = await openTraceFile(path);
  const files = new MemoryFiles();
  try {
    await (await formatNamed(name)).write!(trace, files, `.${name}`, contextOf());
  } finally {
    await trace.close();
  }
  return files.bytes();
}

/** A program of that name which does what the script says. */
function putInPath(script: string): void {
  const program = join(directory, 'vcd2fst');
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  process.env.PATH = `${directory}${delimiter}${PATH}`;
}

const left = (): string[] => readdirSync(tmpdir());

/** By variable, each change with its time. */
function changesOf(vcd: string): Map<string, string[]> {
  const names = new Map<string, string>();
  const scopes: string[] = [];
  const changes = new Map<string, string[]>();
  let time = '';
  for (const line of vcd.split('\n')) {
    const [first = '', , , id = '', name = ''] = line.split(' ');
    if (first === '$scope') scopes.push(line.split(' ')[2]!);
    else if (first === '$upscope') scopes.pop();
    else if (first === '$var') names.set(id, [...scopes, name].join('.'));
    else if (first.startsWith('#')) time = first;
    else if (/^[01xbs]/.test(first)) {
      const [value, code] = /^[bs]/.test(first) ? line.split(' ') : [first[0]!, first.slice(1)];
      const name = names.get(code!) ?? 'none';
      // Leading zeros, and x for all digits, say nothing.
      const short = value!.replace(/^b(0+(?=.)|x+(?=x))/, 'b');
      changes.set(name, [...(changes.get(name) ?? []), `${time} ${short}`]);
    }
  }
  return changes;
}

describe.skipIf(lacks('vcd2fst and fst2vcd (GTKWave)', hasTools))('an FST file', () => {
  it('has the changes of the VCD', async () => {
    const fst = join(directory, 'core.fst');
    writeFileSync(fst, await written('fst'));
    const { stdout } = spawnSync('fst2vcd', [fst], { encoding: 'utf8', maxBuffer: 1 << 28 });
    const [expected, found] = [changesOf(new TextDecoder().decode(await written('vcd'))), changesOf(stdout)];
    for (const [name, changes] of expected) {
      if (name.endsWith('.happens')) continue;
      // Values without a change are written once more, or once less.
      const distinct = (all: readonly string[] = []): string[] =>
        all.filter((one, index) => index === 0 || one.split(' ')[1] !== all[index - 1]!.split(' ')[1]);
      expect([name, distinct(found.get(name))]).toEqual([name, distinct(changes)]);
    }
    expect(expected.size).toBeGreaterThan(20);
  });
});

describe('without a program that works', () => {
  it('says which one is missing', async () => {
    process.env.PATH = join(directory, 'nothing');
    await expect(written('fst')).rejects.toMatchObject({
      code: 'ENV_MISSING',
      message: expect.stringContaining('vcd2fst'),
    });
    expect(left()).toEqual([]);
  });

  it.each([
    ['cat > /dev/null; echo no space >&2; exit 3', /status 3: no space/],
    ['exit 4', /status 4/],
    ['kill -9 $$', /SIGKILL/],
  ])('says how it ended: %s', async (script, words) => {
    putInPath(script);
    await expect(written('fst')).rejects.toMatchObject({
      code: 'WRITER_IO',
      message: expect.stringMatching(words),
    });
    expect(left()).toEqual([]);
  });
});
