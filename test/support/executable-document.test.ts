import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { blocksOf, matchesOutput, ShellSession } from './executable-document.js';

const fence = '```';

describe('blocks of a document', () => {
  it('are files, commands with their output, and what is only read', () => {
    const text = [
      `${fence}yaml file=a/b.yaml`,
      'uscope: 1',
      fence,
      `${fence}sh`,
      'not run',
      fence,
      `${fence}sh run status=2 if=jq`,
      'false',
      fence,
      'Text between them.',
      `${fence}text output`,
      'shown',
      fence,
    ].join('\n');
    expect(blocksOf(text)).toEqual([
      { kind: 'file', line: 1, path: 'a/b.yaml', text: 'uscope: 1\n' },
      { kind: 'run', line: 7, script: 'false\n', status: 2, needs: 'jq', output: 'shown\n', isLong: false },
    ]);
  });

  it('with words nobody knows, or output of nothing, are refused', () => {
    expect(() => blocksOf(`${fence}sh runs\nx\n${fence}`)).toThrow('line 1: a sh block is called "runs"');
    expect(() => blocksOf(`${fence}text output\nx\n${fence}`)).toThrow('output without commands');
  });
});

describe('output', () => {
  it.each([
    ['exact', 'a\nb\n', 'a\nb\n', true],
    ['another text', 'a\nb\n', 'a\nc\n', false],
    ['a line more', 'a\n', 'a\nb\n', false],
    ['a line less', 'a\nb\n', 'a\n', false],
    ['a wildcard within a line', 'x … kB (y)\n', 'x 4.58 kB (y)\n', true],
    ['a wildcard does not cross lines', 'x … y\n', 'x 1\n2 y\n', false],
    ['any lines', 'a\n…\nd\n', 'a\nb\nc\nd\n', true],
    ['no lines', 'a\n…\nd\n', 'a\nd\n', true],
    ['dots are dots', 'a.c\n', 'abc\n', false],
    ['progress', 'a\nb\n', 'a\nuscope: core0: 0 ps, 0 cycles, 0 items/s, 1.25 kB, 0 segments\nb\n', true],
  ])('%s', (_what, shown, actual, same) => expect(matchesOutput(shown, actual)).toBe(same));
});

describe('a shell session', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'uscope-session-'));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  it('keeps directory and variables, stops at the first failure, and shows stdout before stderr', () => {
    const session = new ShellSession(home, home);
    expect(session.run('export COLOUR="dark blue"\nmkdir d\ncd d')).toEqual({ status: 0, output: '' });
    session.writeFile('f/g.txt', 'text');
    expect(readFileSync(join(home, 'd/f/g.txt'), 'utf8')).toBe('text');
    expect(session.run('echo late >&2; echo $COLOUR; pwd')).toEqual({
      status: 0,
      output: `dark blue\n${join(home, 'd')}\nlate\n`,
    });
    expect(session.run('(exit 3)\necho not reached')).toEqual({ status: 3, output: '' });
  });
});
