/** Lines of source of a program's addresses, by the tools that are installed; and their answers as texts. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
      expect(await new SourceTexts([directory]).of(found[2]!)).toBe(SOURCE[0]);
      expect(await new SourceTexts([directory]).of({ file: join(directory, 'none.c'), line: 1 })).toBeNull();
    });

    it('of a file that no tool reads are null', async () => {
      const other = join(directory, 'other');
      writeFileSync(other, 'no program');
      const lines = new SourceLines(other);
      expect(await lines.of([1n, 2n])).toEqual([null, null]);
    });
  },
);

describe('texts of source files', () => {
  let root: string;
  const at = (...parts: string[]): string => join(root, ...parts);
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'uscope-texts-'));
    for (const folder of ['program', 'program-b', 'more']) mkdirSync(at(folder));
    for (const file of ['secret', 'program/a.c', 'program-b/b.c', 'more/c.c']) writeFileSync(at(file), file);
    symlinkSync(at('secret'), at('program/link.c'));
    symlinkSync(root, at('program/up'));
    symlinkSync(at('more'), at('linked'));
    execFileSync('mkfifo', [at('program/pipe.c')]);
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it.each([
    ['program/a.c', 'program/a.c'],
    ['program/../program/a.c', 'program/a.c'],
    ['more/c.c', 'more/c.c'],
    ['program/up/program/a.c', 'program/a.c'],
    ['secret', null],
    ['program/../secret', null],
    ['program/link.c', null],
    ['program/up/secret', null],
    ['program-b/b.c', null],
    ['program/pipe.c', null],
    ['program', null],
  ])('are read below the directories, links followed: %s gives %s', async (file, text) => {
    // A directory may itself be named by a link.
    const texts = new SourceTexts([at('program'), at('linked')]);
    expect(await texts.of({ file: at(file), line: 1 })).toBe(text);
  });

  it('reports the first file that is here and outside', async () => {
    const outside: string[] = [];
    const texts = new SourceTexts([at('program')], (file) => outside.push(file));
    for (const file of ['none.c', 'program/a.c', 'more/c.c', 'secret'])
      await texts.of({ file: at(file), line: 1 });
    expect(outside).toEqual([at('more/c.c')]);
  });
});
