/** Logs as public bug reports describe them: what they show, everywhere. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextOf, MemoryFiles } from '../../../../test/support/foreign.js';
import { runUscope } from '../../../../test/support/run-cli.js';
import { memorySource } from '../../reader/index.js';
import { openTraceFile } from '../../reader/node.js';
import { findCore, InstructionEnd, NO_STAGE } from '../../semantics/cpu/index.js';
import { instructions } from '../../semantics/instructions/instructions.js';
import { MAX_IN_FLIGHT } from '../pipeline/errors.js';
import { FORMAT } from './format.js';

const vector = (name: string): string =>
  fileURLToPath(new URL(`../../../../test/vectors/konata/${name}`, import.meta.url));

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-kanata-cases-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function converted(log: Uint8Array, options: Record<string, string> = {}) {
  const context = contextOf(options);
  const foreign = await FORMAT.open?.(memorySource(log, 'log'), context.options);
  if (!foreign) throw new Error('cannot be opened');
  const path = join(directory, 'out.uscope');
  rmSync(path, { force: true });
  await foreign.toUscope({ path }, context);
  return { path, rows: context.report.rows, warnings: context.warnings };
}

async function printed(...args: string[]): Promise<string> {
  const { status, out, err } = await runUscope(args);
  expect(status, err).toBe(0);
  return out;
}

/** The rows of the picture, as `uscope timeline` draws them. */
async function picture(path: string): Promise<string[]> {
  const lines = (await printed('timeline', path)).trimEnd().split('\n');
  const head = lines.findIndex((line) => line.includes('|') && line.includes('# pc'));
  const column = lines[head]!.indexOf('|');
  return lines.slice(head + 1).map((line) => line.slice(column).trimEnd());
}

describe('what a log shows', () => {
  it.each([
    ['kan-gap.log', ['Ff...A....|', '     F....x pipeline_clear']],
    ['kan-comments.log', ['FA|', ' FA|']],
    ['kan-notype.log', ['RrrrrS|', 'W|']],
    ['kan-space.log', ['F|']],
    ['kan-bom-crlf.log', ['F|']],
    ['kan-minus1.log', ['Fx pipeline_clear']],
    [
      'kan-after.log',
      ['Sssss|', '     Aa.............|', '     Ttx pipeline_clear', '     ..Bbbbbbbbbbbbb|'],
    ],
    ['pft-overlap.kanata', ['FAaaa|', 'DdAaaaa|', ' FAaaaaaaaax pipeline_clear']],
  ])('%s', async (name, rows) => {
    const { path, warnings } = await converted(readFileSync(vector(name)));
    expect(await picture(path)).toEqual(rows);
    expect(warnings).toEqual([]);
  });

  it('an instruction that the log does not retire is in no stage after the end of its last one', async () => {
    const { path } = await converted(readFileSync(vector('kan-noretire-4.log')));
    const rows = await picture(path);
    expect(rows.map((row) => row.replace(/\.+$/, ''))).toEqual(['A', ' A', '  A', '   A']);
    expect(await printed('stats', path)).toMatch(/\n {2}A +4 +1 +1 +1 +1 +1 +0/);
  });
});

describe('the end of a stage without a next one', () => {
  it('is an entry into no stage, and the numbers of all tables agree', async () => {
    const { path } = await converted(readFileSync(vector('kan-gap.log')));
    const trace = await openTraceFile(path);
    const core = findCore(trace);
    expect(core.stages).toEqual(['F', 'X']);
    const found = [];
    for await (const { stages } of instructions(trace, core))
      found.push(stages.map(({ stage, timePs }) => [stage, Number(timePs / core.periodPs)]));
    await trace.close();
    expect(found).toEqual([
      [
        [0, 0],
        [NO_STAGE, 2],
        [1, 5],
        [NO_STAGE, 6],
      ],
      [
        [0, 5],
        [NO_STAGE, 6],
      ],
    ]);
    const [whole, exact] = [await printed('stats', path), await printed('stats', path, '--exact')];
    expect(whole).toMatch(/\n {2}F +2 +1\.50 .*\n {2}X +1 +1 /);
    expect(exact).toBe(whole);
    const sql = 'select seq, stage, visit, from_cycle, cycles from stages order by seq, visit';
    expect(await printed('sql', path, sql, '--csv', '--no-links')).toBe(
      'seq,stage,visit,from_cycle,cycles\n0,F,0,0,2\n0,X,1,5,1\n1,F,0,5,1\n',
    );
    const cycles = 'select f_cycles, x_cycles from instructions order by seq';
    expect(await printed('sql', path, cycles, '--csv', '--no-links')).toBe('f_cycles,x_cycles\n2,1\n1,\n');
  });

  it('goes back to the log, and to a log of a core that never saw Kanata', async () => {
    const log = readFileSync(vector('kan-gap.log'), 'utf8');
    const { path } = await converted(Buffer.from(log));
    const trace = await openTraceFile(path);
    const files = new MemoryFiles();
    await FORMAT.write?.(trace, files, '.kanata', contextOf());
    await trace.close();
    expect(Buffer.from(files.bytes()).toString()).toBe(log);
  });
});

describe('other lanes', () => {
  const log = (lines: readonly string[]) => Buffer.from(`Kanata\t0004\nC=\t0\n${lines.join('\n')}\n`);

  it('show where no lower lane has a stage; those that never do are counted', async () => {
    const lines = [
      'I\t0\t0\t0',
      'S\t0\t0\tF',
      'S\t0\t1\tstl',
      'C\t2',
      'E\t0\t1\tstl',
      'S\t0\t2\tstl',
      'C\t1',
    ];
    const more = ['E\t0\t0\tF', 'C\t2', 'E\t0\t2\tstl', 'C\t1', 'R\t0\t0\t0'];
    const { path, rows } = await converted(log([...lines, ...more]));
    expect(await picture(path)).toEqual(['FffTt.|']);
    const count = (words: string) => rows.find(({ what }) => what.startsWith(words))?.count;
    expect(count('stages of other lanes under those of lower lanes')).toBe(1n);
    expect(count('stages of other lanes')).toBe(2n);
    expect(await printed('stats', path)).toMatch(/\n {2}F +1 +3 .*\n {2}stl\.2 +1 +2 /);
  });
});

describe('more in flight than a trace follows', () => {
  it('a log that retires nothing: the oldest are lost, and counted', async () => {
    const count = 70_000;
    const lines = Array.from(
      { length: count },
      (_, n) => `I\t${n}\t${n}\t0\nS\t${n}\t0\tF\nC\t1\nE\t${n}\t0\tF`,
    );
    const { path, rows } = await converted(Buffer.from(`Kanata\t0004\n${lines.join('\n')}\n`));
    const lost = count - MAX_IN_FLIGHT;
    expect(rows.find(({ how }) => how.startsWith('lost:'))?.count).toBe(BigInt(lost));
    const trace = await openTraceFile(path);
    const ends = new Map<string, number>();
    let stays = 0;
    for await (const { end, stages } of instructions(trace, findCore(trace))) {
      ends.set(end, (ends.get(end) ?? 0) + 1);
      if (stages.length === 2 && stages[1]!.timePs - stages[0]!.timePs === 1000n) stays++;
    }
    await trace.close();
    expect(Object.fromEntries(ends)).toEqual({
      [InstructionEnd.LOST]: lost,
      [InstructionEnd.IN_FLIGHT]: MAX_IN_FLIGHT,
    });
    expect(stays).toBe(count);
  });
});
