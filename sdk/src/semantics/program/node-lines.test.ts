/** Lines of source of a program's addresses, by the tools that are installed; and their answers as texts. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { limitOfFile, PROCESSES_MS } from '../../../../test/support/limits.js';
import { lacks } from '../../../../test/support/needs.js';
import { ElfSymbols } from './elf.js';
import { parseLine, SourceLines, SourceTexts } from './node-lines.js';

// A compiler and the tools are started.
limitOfFile(PROCESSES_MS);

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;
const SOURCE = [
  'int twice(int x) {',
  '  return x + x;',
  '}',
  'int main(void) {',
  '  return twice(2);',
  '}',
  '',
];

it.each([
  ['/a/b.c:12:3', { file: '/a/b.c', line: 12 }],
  ['/a/b.c:12', { file: '/a/b.c', line: 12 }],
  ['/a/b.c:12 (discriminator 3)', { file: '/a/b.c', line: 12 }],
  ['/a:b/c d.c:7:0', { file: '/a:b/c d.c', line: 7 }],
  ['??:0', null],
  ['??:0:0', null],
  ['??:?', null],
  ['b.c:0', null],
  ['', null],
])('the answer %s', (text, expected) => {
  expect(parseLine(text)).toEqual(expected);
});

describe('without a tool', () => {
  const path = process.env.PATH;
  afterAll(() => {
    process.env.PATH = path;
    vi.useRealTimers();
  });

  it('no line is known, and nothing keeps the command alive', async () => {
    process.env.PATH = '';
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }); // those of the tool, and no others of this process
    const lines = new SourceLines('none');
    expect(await lines.of([1n, 2n])).toEqual([null, null]);
    expect(lines.toolName).toBeNull();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe.skipIf(lacks('a compiler and addr2line', has('cc') && (has('llvm-symbolizer') || has('addr2line'))))(
  'lines of a program',
  () => {
    let directory: string;
    let elf: string;
    beforeAll(() => {
      directory = mkdtempSync(join(tmpdir(), 'uscope-lines-'));
      writeFileSync(join(directory, 'a.c'), SOURCE.join('\n'));
      elf = join(directory, 'a');
      const { status, stderr } = spawnSync('cc', ['-g', '-O0', '-o', elf, 'a.c'], {
        cwd: directory,
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(stderr);
    });
    afterAll(() => rmSync(directory, { recursive: true, force: true }));

    it('are those of the source, also for many addresses, and null where there is none', async () => {
      const symbols = ElfSymbols.parse(await readFile(elf));
      const from = (name: string): bigint => symbols.functions.find((one) => one.name === name)!.from;
      const lines = new SourceLines(elf);
      const asked = [from('main'), 0n, from('twice'), from('main')];
      const found = await lines.of(asked);
      expect(found.map((one) => one?.line ?? null)).toEqual([4, null, 1, 4]);
      expect(lines.toolName).not.toBeNull();
      const all = Array.from({ length: 40 }, (_, at) => from('twice') + BigInt(at % 8));
      expect((await lines.of(all)).every((one) => one !== null && one.line <= 3)).toBe(true);
      expect(await new SourceTexts().of(found[2]!)).toBe(SOURCE[0]);
      expect(await new SourceTexts().of({ file: join(directory, 'none.c'), line: 1 })).toBeNull();
    });

    it('of a file that no tool reads are null', async () => {
      const other = join(directory, 'other');
      writeFileSync(other, 'no program');
      const lines = new SourceLines(other);
      expect(await lines.of([1n, 2n])).toEqual([null, null]);
    });
  },
);
