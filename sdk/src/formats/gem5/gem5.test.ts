import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextOf, cuts, flips, MemoryFiles } from '../../../../test/support/foreign.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { isUscopeError } from '../../base/errors.js';
import { memorySource } from '../../reader/index.js';
import { openTraceFile } from '../../reader/node.js';
import { findCore, type Instruction } from '../../semantics/cpu/index.js';
import { instructions } from '../../semantics/instructions/instructions.js';
import { FORMAT as KONATA } from '../konata/format.js';
import { FORMAT } from './format.js';
import { type Gem5Instruction, Gem5Reader, inOrder, summarize } from './index.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

const VECTOR = fileURLToPath(new URL('../../../../test/vectors/gem5/window.out', import.meta.url));
let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-gem5-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const readerOf = (bytes: Uint8Array): Gem5Reader => new Gem5Reader(memorySource(bytes, 'log'));

async function read(bytes: Uint8Array): Promise<Gem5Instruction[]> {
  const found: Gem5Instruction[] = [];
  for await (const batch of readerOf(bytes).batches()) found.push(...batch);
  return found;
}

async function toUscope(bytes: Uint8Array, options: Record<string, string> = {}) {
  const context = contextOf(options);
  const foreign = await FORMAT.open?.(memorySource(bytes, 'log'), context.options);
  if (!foreign) throw new Error('cannot be opened');
  const path = join(directory, 'out.uscope');
  rmSync(path, { force: true });
  const stats = await foreign.toUscope({ path }, context);
  return { path, stats, context, foreign };
}

async function lives(path: string): Promise<{ periodPs: bigint; found: Instruction[] }> {
  const trace = await openTraceFile(path);
  const core = findCore(trace);
  const found: Instruction[] = [];
  for await (const one of instructions(trace, core)) found.push(one);
  await trace.close();
  return { periodPs: core.periodPs, found };
}

const fetch = 'O3PipeView:fetch:10:0x4:0:1: nop';

describe('the reader', () => {
  it('takes the lines of an instruction together, skips others, and keeps colons in the disassembly', async () => {
    const [first, store, squashed, branch] = await read(readFileSync(VECTOR));
    expect(first).toMatchObject({
      seq: 1n,
      pc: 0n,
      microPc: 0,
      disassembly: 'lui   a0, 0x80000 : note',
      isWhole: true,
    });
    expect(store).toMatchObject({
      microPc: 1,
      ticks: [1000, 2000, 3000, 4000, 6000, 7000, 9000],
      storeTick: 15_000,
    });
    expect(squashed).toMatchObject({ seq: 4n, ticks: [3000, 4000, 0, 0, 0, 0, 0] });
    expect(branch).toMatchObject({ seq: 3n, pc: 8n });
  });

  it.each([
    ['hello\n', 'CONVERT_UNKNOWN'],
    ['', 'CONVERT_UNKNOWN'],
    ['O3PipeView:fetch:10:0x4:0\n', 'CONVERT_UNKNOWN'],
    [`${fetch}\nO3PipeView:deco`, 'CONVERT_TRUNCATED'],
    [`${fetch}\n`, 'CONVERT_TRUNCATED'],
  ])('%j: %s', async (text, code) => {
    await expect(read(bytesOf(text))).rejects.toMatchObject({ code, place: { file: 'log' } });
  });

  it('a damaged line is noticed by the instruction that lacks it', async () => {
    const text = readFileSync(VECTOR, 'utf8');
    const lines = text.split('\n');
    // What a log begins with before its first fetch is skipped.
    const begin = lines.findIndex((line) => line.includes(':fetch:'));
    for (const [index, line] of lines.entries()) {
      if (index <= begin || !/^O3PipeView:(?!fetch)/.test(line)) continue;
      const flipped = lines.with(index, line.replace('O3Pipe', 'O3Qipe')).join('\n');
      const { context, foreign } = await toUscope(bytesOf(flipped));
      expect(foreign.isPartial).toBe(true);
      expect(context.warnings.join()).toMatch(
        /lack the line of a stage.*\(at byte \d+\)|inside an instruction/,
      );
    }
    const { context, foreign } = await toUscope(bytesOf(text));
    expect([foreign.isPartial, context.warnings]).toEqual([false, []]);
  });

  it('a stage before the fetch is not understood', async () => {
    const reader = readerOf(bytesOf(`${fetch}\nO3PipeView:decode:5\nO3PipeView:retire:20\n`));
    expect(await summarize(reader)).toMatchObject({
      instructions: 1,
      firstTick: 10,
      damaged: { stage: 'decode' },
    });
    expect(reader.unknown.count).toBe(1);
  });
});

/** A log of `count` instructions whose ends, and so whose lines, are far from the order of their fetches. */
function shuffledLog(count: number): { text: string; fetches: number[] } {
  let state = 7;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  const made = Array.from({ length: count }, (_, n) => {
    const at = 500 * (1 + n * 2);
    const ticks = [at];
    for (let stage = 1; stage < 7; stage++) ticks.push(ticks[stage - 1] + 500 * next(stage === 6 ? 60 : 4));
    return { n, ticks };
  });
  const byEnd = made.toSorted((a, b) => a.ticks[6] - b.ticks[6]);
  const names = ['decode', 'rename', 'dispatch', 'issue', 'complete', 'retire'];
  const text = byEnd
    .map(({ n, ticks }) => {
      const head = `O3PipeView:fetch:${ticks[0]}:0x${(n * 4).toString(16)}:0:${n}: op ${n}`;
      return [head, ...names.map((name, k) => `O3PipeView:${name}:${ticks[k + 1]}`)].join('\n');
    })
    .join('\n');
  return { text: `${text}\n`, fetches: made.map(({ ticks }) => ticks[0]) };
}

describe('gem5 to µScope', () => {
  it('puts everything in the order of time, whatever the order of the log', async () => {
    const { text, fetches } = shuffledLog(2500);
    const reader = readerOf(gzipSync(bytesOf(text)));
    const summary = await summarize(reader);
    const times: number[] = [];
    let largest = 0;
    for await (const batch of inOrder(reader, summary)) {
      largest = Math.max(largest, batch.length);
      for (const { time } of batch) times.push(time);
    }
    expect(times.length).toBe(2500 * 7);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(largest).toBeLessThan(2 * 1024 * 7); // a block and what was out of order, not the log
    const { path, stats } = await toUscope(bytesOf(text));
    const { periodPs, found } = await lives(path);
    expect(periodPs).toBe(500n);
    expect(found.map(({ birthPs }) => Number(birthPs))).toEqual(fetches);
    expect(found.every(({ end, stages }) => end === 'retired' && stages.length === 7)).toBe(true);
    expect(stats.rejected).toBe(0n);
  });

  it('of a tick, births and retirements are in the order of sequence numbers, whatever the order of the lines', async () => {
    const count = 400;
    const made = Array.from({ length: count }, (_, seq) => {
      const [fetch, retire] = [500 * (1 + (seq >> 2)), 500 * (20 + 2 * (seq >> 3))];
      const stages = ['decode', 'rename', 'dispatch', 'issue', 'complete'];
      return {
        retire,
        key: (seq * 7919) % 31,
        lines: [
          `O3PipeView:fetch:${fetch}:0x${(4 * seq).toString(16)}:0:${seq}: op`,
          ...stages.map((name, n) => `O3PipeView:${name}:${fetch + 500 * (n + 1)}`),
          `O3PipeView:retire:${retire}`,
        ].join('\n'),
      };
    });
    const shuffled = made.toSorted((a, b) => a.retire - b.retire || a.key - b.key);
    expect(shuffled).not.toEqual(made);
    const log = bytesOf(`${shuffled.map(({ lines }) => lines).join('\n')}\n`);
    const reader = readerOf(log);
    const order: Record<number, bigint[]> = { 0: [], 6: [] };
    for await (const batch of inOrder(reader, await summarize(reader)))
      for (const { stage, instruction } of batch) order[stage]?.push(instruction.seq);
    const numbers = Array.from({ length: count }, (_, seq) => BigInt(seq));
    expect(order).toEqual({ 0: numbers, 6: numbers });
    const { found } = await lives((await toUscope(log)).path);
    expect(found.map(({ pc }) => Number(pc) / 4)).toEqual(numbers.map(Number));
  });

  it.each([
    [
      'g5-latestart.out',
      { retired: 4, squashed: 0 },
      ['dropped other lines 89', 'approximated completion of stores 1'],
    ],
    ['g5-twocpus.out', { retired: 11, squashed: 1 }, ['approximated instructions of an unknown CPU 12']],
    ['g5-x86.out', { retired: 4, squashed: 2 }, ['approximated completion of stores 1']],
  ])('%s', async (name, ends, said) => {
    const log = readFileSync(
      fileURLToPath(new URL(`../../../../test/vectors/gem5/${name}`, import.meta.url)),
    );
    expect(await FORMAT.sniff?.(log)).toBe(true);
    const { path, context } = await toUscope(log);
    const { found } = await lives(path);
    const count = (end: string): number => found.filter((one) => one.end === end).length;
    expect({ retired: count('retired'), squashed: count('squashed') }).toEqual(ends);
    const rows = context.report.rows.map(({ fate, what, count: of }) => `${fate} ${what} ${of}`);
    expect(rows).toEqual(expect.arrayContaining(said));
    expect(context.warnings).toEqual([]);
    const squashed = found.filter(({ end }) => end === 'squashed').map(({ pc }) => pc);
    if (name === 'g5-twocpus.out') expect(squashed).toEqual([0x20014n]);
    if (name === 'g5-x86.out') {
      expect(found[0]?.birthPs).toBe(0n);
      expect(found.flatMap(({ annotations }) => annotations).map(({ text }) => text)).toContain('micro-op 1');
    }
  });

  it('keeps addresses, stages, squashes; the step of the ticks is the period', async () => {
    const { path, context } = await toUscope(readFileSync(VECTOR));
    const { periodPs, found } = await lives(path);
    expect(periodPs).toBe(1000n);
    expect(
      found.map(({ pc, end, birthPs, endPs, stages, annotations }) => [
        Number(pc),
        end,
        Number(birthPs),
        Number(endPs),
        stages.map(({ name, timePs }) => `${name}@${timePs}`).join(' '),
        annotations.map(({ text }) => text),
      ]),
    ).toEqual([
      [
        0,
        'retired',
        1000,
        9000,
        'fetch@1000 decode@2000 rename@3000 dispatch@4000 issue@5000 complete@6000 retire@9000',
        ['00000000: lui   a0, 0x80000 : note'],
      ],
      [
        4,
        'retired',
        1000,
        9000,
        'fetch@1000 decode@2000 rename@3000 dispatch@4000 issue@6000 complete@7000 retire@9000',
        ['00000004: sw   a1, 0(a0)', 'micro-op 1', 'store written at 15000 ps'],
      ],
      [
        8,
        'retired',
        2000,
        10_000,
        'fetch@2000 decode@3000 rename@4000 dispatch@5000 issue@7000 complete@8000 retire@10000',
        ['00000008: beq   a0, a1, 16'],
      ],
      [16, 'squashed', 3000, 4000, 'fetch@3000 decode@4000', ['00000010: add   a2, a2, a3']],
    ]);
    expect(context.report.unwaived().map(({ what, count }) => [what, count])).toEqual([
      ['other lines', 2n],
      ['lines of stages before the first fetch', 2n],
    ]);
    expect((await toUscope(readFileSync(VECTOR), { period: '250ps' })).stats.totalTimePs).toBe(10_000n);
  });

  it('can be converted to Kanata', async () => {
    const { path } = await toUscope(readFileSync(VECTOR));
    const trace = await openTraceFile(path);
    const outputs = new MemoryFiles();
    await KONATA.write?.(trace, outputs, '.kanata', contextOf());
    await trace.close();
    const text = Buffer.from(outputs.bytes()).toString();
    expect(text.split('\n').slice(0, 13)).toEqual([
      'Kanata\t0004',
      'C=\t1',
      'I\t0\t1\t0',
      'L\t0\t0\t00000000: ',
      'L\t0\t1\tstages: F fetch, De decode, Ren rename, Di dispatch, I issue, C complete, Ret retire',
      'L\t0\t0\tlui   a0, 0x80000 : note',
      'S\t0\t0\tF',
      'I\t1\t2\t0',
      'L\t1\t0\t00000004: ',
      'L\t1\t0\tsw   a1, 0(a0)',
      'L\t1\t1\tmicro-op 1',
      'S\t1\t0\tF',
      'C\t1',
    ]);
    expect(text).toContain('R\t3\t0\t1\n');
  });
});

describe('looked at without converting', () => {
  it('info, dump and events tell what the log holds', async () => {
    const foreign = await FORMAT.open?.(memorySource(readFileSync(VECTOR)), new Map());
    if (!foreign) throw new Error('cannot be opened');
    expect(await FORMAT.sniff?.(readFileSync(VECTOR).subarray(0, 4096))).toBe(true);
    const [section] = await foreign.info(contextOf());
    expect(Object.fromEntries(section?.rows ?? [])).toMatchObject({
      instructions: '4',
      retired: '3',
      squashed: '1',
      'stores that wrote': '1',
      ticks: '1000 to 10000',
    });
    const lines: string[] = [];
    for await (const line of foreign.dump({ json: false, limit: 1 })) lines.push(line);
    expect(lines).toEqual([
      '1 0x0.0 fetch=1000 decode=2000 rename=3000 dispatch=4000 issue=5000 complete=6000 retire=9000 store=0 lui   a0, 0x80000 : note',
    ]);
    const types: string[] = [];
    for await (const { time, type } of foreign.events?.() ?? []) types.push(`${type}@${time}`);
    expect(types.slice(0, 3)).toEqual(['fetch@1000', 'fetch@1000', 'decode@2000']);
    expect(types).toContain('squash@4000');
  });
});

describe('damage', () => {
  it('a file cut at any byte gives the instructions before the cut, then a code', async () => {
    const whole = readFileSync(VECTOR);
    const all = await read(whole);
    const seen = new Set<string>();
    for (const bytes of [...cuts(whole), ...cuts(gzipSync(whole))]) {
      const found: Gem5Instruction[] = [];
      try {
        for await (const batch of readerOf(bytes).batches()) found.push(...batch);
        seen.add('whole');
      } catch (error) {
        if (!isUscopeError(error)) throw error;
        seen.add(error.code);
      }
      const before = found.slice(0, -1); // of the last one the last tick may have been cut where it makes sense
      expect(before).toEqual(all.slice(0, before.length));
    }
    expect([...seen].sort()).toEqual(['CONVERT_TRUNCATED', 'CONVERT_UNKNOWN', 'whole']);
  });

  it('a trace is made of a cut file, and it is said', async () => {
    const whole = readFileSync(VECTOR);
    const { path, context, foreign } = await toUscope(whole.subarray(0, whole.length - 60));
    expect(foreign.isPartial).toBe(true);
    expect(context.warnings).toHaveLength(1);
    expect((await lives(path)).found.map(({ end }) => end)).toEqual([
      'retired',
      'retired',
      'in_flight',
      'squashed',
    ]);
  });

  it('changed bytes give a trace or a code', async () => {
    const whole = readFileSync(VECTOR);
    for (const bytes of [...flips(whole, 60), ...flips(gzipSync(whole), 40)]) {
      const code = await toUscope(bytes).then(
        () => 'whole',
        (error: unknown) => (isUscopeError(error) ? error.code : Promise.reject(error)),
      );
      expect(code).toMatch(/^(whole|CONVERT_\w+)$/);
    }
  });
});
