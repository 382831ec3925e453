import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clear, frame, set, TraceBuilder } from '../../../../test/support/build-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { lacks } from '../../../../test/support/needs.js';
import {
  event,
  modelSchema,
  PERIOD_PS,
  runModel,
  STAGES,
  u32,
} from '../../../../test/support/pipeline-model.js';
import { type CliResult, runUscope } from '../../../../test/support/run-cli.js';
import type { DutProperties, Item, Schema } from '../../format/types.js';
import { stageLetters } from '../../semantics/timeline/letters.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const golden = (name: string): string => readFileSync(join(root, 'test/vectors/timeline', name), 'utf8');

const run = (...args: string[]): Promise<CliResult> => runUscope(['timeline', ...args]);

const born = (id: number, pc: number, bits: number): Item[] => [
  set(0, id, 0, id),
  set(0, id, 1, pc),
  set(0, id, 2, bits),
];
const enter = (id: number, stage: number): Item => event(0, ...u32(id), stage);
const squash = (id: number, reason: number): Item => event(3, ...u32(id), reason);
const stall = (reason: number): Item => event(4, reason);
const at = (cycle: number, ...items: Item[]) => frame(cycle * PERIOD_PS, ...items);

/** A loop in the making: a load that misses, one that waits for it, a branch and what was fetched after it. */
function program(dut: DutProperties = [['cpu.isa', 'RV32I']], schema: Schema = modelSchema()): Uint8Array {
  return new TraceBuilder({
    schema,
    compression: 'lz4',
    dut: [...dut, ['cpu.pipeline_stages', STAGES.join(',')]],
  })
    .segment({
      frames: [
        at(2, ...born(0, 0x8000_0000, 0x0000_2503), enter(0, 0), event(1, ...u32(0), ...u32(0))),
        at(3, enter(0, 1), ...born(1, 0x8000_0004, 0x0015_0513), enter(1, 0)),
        at(4, enter(0, 2), enter(1, 1), ...born(2, 0x8000_0008, 0xfe05_1ce3), enter(2, 0)),
        at(5, stall(1)),
        at(6, stall(1), stall(1)),
        at(7, stall(0)),
        at(8, enter(0, 3), enter(1, 2), event(2, ...u32(0), ...u32(1), 0), enter(2, 1)),
        at(8, ...born(3, 0x8000_000c, 0x0000_8067)),
        at(9, clear(0, 0), enter(1, 3), enter(2, 2), enter(3, 0)),
      ],
      strings: ['80000000: lw a0,0(zero) # from the model'],
      end: BigInt(10 * PERIOD_PS),
    })
    .segment({
      frames: [
        at(
          10,
          squash(3, 0),
          clear(0, 3),
          clear(0, 1),
          enter(2, 3),
          ...born(0, 0x8000_0000, 0x0000_2503),
          enter(0, 0),
        ),
        at(11, clear(0, 2), enter(0, 1)),
        at(12, enter(0, 2)),
        at(140, enter(0, 3)),
        at(141, clear(0, 0)),
      ],
    })
    .finalize().bytes;
}

let directory = '';
const files = new Map<string, string>();
async function write(name: string, bytes: Uint8Array): Promise<void> {
  files.set(name, join(directory, `${name}.uscope`));
  await writeFile(files.get(name)!, bytes);
}
const path = (name: string): string => files.get(name)!;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-timeline-'));
  const schema = modelSchema();
  await write('core', program());
  await write('other', program([['cpu.isa', 'x86-64']]));
  await write('timeless', program([], { ...schema, clocks: [{ ...schema.clocks[0]!, periodPs: 0 }] }));
  await write(
    'none',
    program([], { ...schema, scopes: schema.scopes.map((s) => ({ ...s, protocol: null })) }),
  );
});
afterAll(() => rm(directory, { recursive: true }));

describe('uscope timeline', () => {
  it('prints the pipeline from the first instruction on', async () => {
    const { status, out, err } = await run(path('core'));
    expect([status, err]).toEqual([0, '']);
    expect(out).toBe(golden('default.txt'));
  });

  it('breaks a range that is wider than the line into blocks', async () => {
    const { out } = await run(path('core'), '--cycles', '5:142', '--width', '100');
    expect(out).toBe(golden('blocks.txt'));
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });

  it('colours stages, stalls and squashes, and says the same', async () => {
    const { out } = await run(path('core'), '--color');
    expect(out).toBe(golden('colour.txt'));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the terminal's escape sequences
    expect(out.replace(/\x1b\[[\d;]*m/g, '')).toBe(golden('default.txt'));
    expect((await run(path('core'), '--no-color')).out).toBe(golden('default.txt'));
  });

  it('prints one object per instruction with --json', async () => {
    const { out } = await run(path('core'), '--cycles', '3:11', '--json');
    expect(out).toBe(golden('instructions.jsonl'));
    const [first, second, , squashed] = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(first).toMatchObject({
      seq: '0',
      pc: '2147483648',
      text: 'lw a0,0(zero)',
      born: '2',
      stages: [
        { stage: 'fetch', from: '2', to: '3' },
        { stage: 'decode', from: '3', to: '4' },
        { stage: 'execute', from: '4', to: '8' },
        { stage: 'writeback', from: '8', to: '9' },
      ],
      end: { kind: 'retired', cycle: '9' },
    });
    expect(second.dependencies).toEqual([{ on: '0', id: 0, pc: '2147483648', type: 'raw', cycle: '8' }]);
    expect(squashed).toMatchObject({
      end: { kind: 'squashed', cycle: '10' },
      flush: { reason: 'mispredict', cycle: '10' },
    });
  });

  it('shows annotations where it cannot disassemble', async () => {
    const { out } = await run(path('other'), '--cycles', '2:9');
    expect(out).toContain('80000000 lw a0,0(zero) # from th~ FDEeeeW');
  });

  it.each([
    ['--cycles 9:12', [0, 1, 2, 3, 4]],
    ['--cycles :3', [0]],
    ['--cycles 12:', [4]],
    ['--from 5ns --to 6ns', [1, 2, 3, 4]],
    ['--instructions 1:3', [1, 2]],
    ['--instructions 3:100', [3, 4]],
    ['--last 131', [2, 4]],
    ['--around 0x8000000c', [0, 1, 2, 3, 4]],
    ['--pc 0x80000000 --cycles 5:12', [0, 1, 2, 3, 4]],
    ['--core core0 --cycles 2:3', [0]],
  ])('%s', async (args, numbers) => {
    const { status, out } = await run(path('core'), ...args.split(' '), '--json');
    expect(status).toBe(0);
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => Number(JSON.parse(line).seq)),
    ).toEqual(numbers);
  });

  it('marks the instruction looked for', async () => {
    const { out } = await run(path('core'), '--around', '0x80000008');
    expect(out.split('\n').filter((line) => line.startsWith('>'))).toEqual([
      expect.stringMatching(/^> {3}2 80000008 bnez a0,0x80000000 /),
    ]);
  });

  it('notes an empty pipeline, which is not a failure', async () => {
    for (const format of [[], ['--json']]) {
      const result = await run(path('core'), '--cycles', '0:2', ...format);
      expect(result).toMatchObject({ status: 0, out: '' });
      expect(result.err).toMatch(/note: core0 has no instruction in flight in cycles 0 to 1/);
    }
  });

  it.each([
    ['core', '--cycles 9:9', 2, /CLI_USAGE.*empty/],
    ['core', '--cycles 9:5', 2, /CLI_USAGE.*empty/],
    ['core', '--cycles x', 2, /CLI_USAGE.*not a range/],
    ['core', '--cycles :', 2, /CLI_USAGE.*not a range/],
    ['core', '--cycles 1:2 --last 5', 2, /CLI_USAGE.*twice/],
    ['core', '--from 2ns --to 1ns', 2, /CLI_USAGE.*not before/],
    ['core', '--instructions 5:', 2, /CLI_USAGE.*both ends/],
    ['core', '--last 0', 2, /CLI_USAGE/],
    ['core', '--pc main', 2, /CLI_USAGE.*not an address/],
    ['core', '--width 9', 2, /CLI_USAGE.*--width/],
    ['core', '--cycles 142:', 1, /READER_RANGE.*ends in cycle 141/],
    ['core', '--instructions 5:6', 1, /READER_RANGE.*instruction 5/],
    ['core', '--around 0x44', 1, /READER_RANGE.*0x44/],
    ['core', '--core core9', 2, /READER_NAME.*core0/],
    ['none', '--last 5', 2, /READER_NAME.*no core/],
    ['timeless', '--last 5', 1, /READER_NO_CYCLES/],
  ])('%s %s ends with status %i', async (name, args, status, message) => {
    const result = await run(path(name), ...args.split(' '));
    expect(result).toMatchObject({ status, out: '' });
    expect(result.err).toMatch(message);
  });

  it('shows every stage of a random pipeline in its cycle', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 - 1 }), async (seed) => {
        let state = seed;
        const model = runModel((below) => {
          state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
          return (state >>> 8) % below;
        }, 70);
        const builder = new TraceBuilder({
          schema: modelSchema(),
          dut: [['cpu.pipeline_stages', STAGES.join(',')]],
        });
        builder.segment({ frames: model.frames, strings: model.strings });
        await write('random', builder.finalize().bytes);
        const { out } = await run(path('random'), '--cycles', '0:', '--width', '300');
        const lines = out.split('\n');
        const column = lines.find((line) => line.includes('instruction'))!.indexOf('|0');
        for (const one of model.instructions) {
          const row = lines
            .find((line) => line.startsWith(` ${String(one.seq).padStart(4)} `))!
            .slice(column);
          for (const [index, { name, cycle }] of one.stages.entries()) {
            const isOver = one.stages[index + 1]?.cycle === cycle || one.flush?.cycle === cycle;
            if (!isOver) expect(row[cycle]).toBe(name[0]!.toUpperCase());
          }
          if (one.flush) expect(row[one.flush.cycle]).toBe('x');
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe('stage letters', () => {
  it.each([
    ['fetch,decode,execute,memory,writeback', 'FDEMW'],
    ['Fe,De,Rn,Ds,Is,Ex,Cp,Rt', 'FDRSIECT'],
    ['X,Mt,Ma', 'BMA'],
    ['decode,dispatch,D2', 'DIA'],
    ['1,2,', 'ABC'],
  ])('of %s are %s', (stages, letters) => {
    expect(stageLetters(stages.split(',')).join('')).toBe(letters);
  });

  it('run out', () => {
    const letters = stageLetters(Array.from({ length: 30 }, (_, index) => `s${index}`));
    expect(new Set(letters.slice(0, 25)).size).toBe(25);
    expect(letters.slice(25).join('')).toBe('#####');
    expect(letters).not.toContain('X');
  });
});

const demo = join(root, 'verilator-demo/out/core0.uscope');

describe.skipIf(lacks('a run of the demo (npm run demo)', existsSync(demo)))('the demo', () => {
  const json = async (...args: string[]): Promise<Record<string, unknown>[]> => {
    const { status, out } = await run(demo, '--json', ...args);
    expect(status).toBe(0);
    return out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  };

  it('begins at the reset vector, in order', async () => {
    const rows = await json('--instructions', '0:200');
    expect(rows).toHaveLength(200);
    expect(rows.map(({ seq }) => Number(seq))).toEqual(rows.map((_, index) => index));
    expect(rows[0]).toMatchObject({ pc: '2147483648', born: expect.stringMatching(/^\d+$/) });
  });

  it('retires in order, and never what was flushed', async () => {
    const rows = await json('--cycles', '1000:3000');
    const retired = rows.filter(({ end }) => (end as { kind: string }).kind === 'retired');
    expect(retired.length).toBeGreaterThan(100);
    const cycles = retired.map(({ end }) => Number((end as { cycle: string }).cycle));
    expect(cycles).toEqual([...cycles].sort((a, b) => a - b));
    for (const { flush } of retired) expect(flush).toBeNull();
  });

  it('has the same instructions in any part as in the whole', async () => {
    const whole = new Map((await json('--cycles', '1000:3000')).map((row) => [row.seq, row]));
    const part = await json('--cycles', '1990:2010');
    expect(part.length).toBeGreaterThan(5);
    // The number of a producer long gone is known only where the reading began before it.
    const withoutProducers = (row: Record<string, unknown> | undefined) => ({ ...row, dependencies: null });
    for (const row of part) expect(withoutProducers(row)).toEqual(withoutProducers(whole.get(row.seq)));
  });
});
