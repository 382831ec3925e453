/** A search finds what a look at every instruction and every event finds. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TraceBuilder } from '../../../../test/support/build-trace.js';
import { modelSchema, PERIOD_PS, runModel, STAGES } from '../../../../test/support/pipeline-model.js';
import { generator } from '../../../../test/support/recorded-run.js';
import { memorySource, openTrace, type Trace } from '../../reader/index.js';
import { findCore, instructions } from '../cpu/index.js';
import { disassemble } from '../cpu/riscv/disassemble.js';
import { type FindOptions, type Found, find } from './index.js';

const dut = [
  ['cpu.pipeline_stages', STAGES.join(',')],
  ['cpu.isa', 'RV64GC'],
] as const;

function traceOf(seed: number, cycles: number, perSegment: number): Promise<Trace> {
  const { frames, strings } = runModel(generator(seed), cycles);
  const builder = new TraceBuilder({ schema: modelSchema(), dut });
  for (let i = 0; i < frames.length; i += perSegment)
    builder.segment({ frames: frames.slice(i, i + perSegment), ...(i === 0 ? { strings } : {}) });
  return openTrace(memorySource(builder.finalize().bytes));
}

async function all(trace: Trace, pattern: string, options: FindOptions = {}): Promise<Found[]> {
  const found: Found[] = [];
  for await (const some of find(trace, pattern, options)) found.push(...some);
  return found;
}

const cases = fc.record({
  seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  cycles: fc.integer({ min: 5, max: 150 }),
  perSegment: fc.integer({ min: 1, max: 40 }),
  from: fc.integer({ min: 0, max: 100 }),
  length: fc.integer({ min: 1, max: 150 }),
});

/** What lies in the range, the slow and obvious way. */
async function bornIn(trace: Trace, from: bigint, to: bigint) {
  const core = findCore(trace);
  const born = [];
  for await (const one of instructions(trace, core)) {
    if (one.birthPs !== null && one.birthPs >= from && one.birthPs < to) born.push(one);
  }
  return born;
}

describe('a search', () => {
  it('for text finds the instructions whose disassembly or annotation matches', async () => {
    let total = 0;
    const patterns = fc.constantFrom('a', 'add', '^\\.', '[0-3],', 'x1', 'insn', '\\$|8');
    await fc.assert(
      fc.asyncProperty(cases, patterns, fc.boolean(), async (one, pattern, ignoreCase) => {
        const trace = await traceOf(one.seed, one.cycles, one.perSegment);
        const [from, to] = [BigInt(one.from * PERIOD_PS), BigInt((one.from + one.length) * PERIOD_PS)];
        const expression = new RegExp(pattern, ignoreCase ? 'i' : '');
        const expected = (await bornIn(trace, from, to)).filter(({ bits, pc, annotations }) => {
          const words = bits ? disassemble(bits, { xlen: 64, pc: pc ?? undefined }) : '';
          return (
            expression.test(words) || annotations.some(({ text }) => text !== null && expression.test(text))
          );
        });
        const found = await all(trace, `text:${pattern}`, { from, to, ignoreCase });
        expect(found.map(({ timePs }) => timePs)).toEqual(expected.map(({ birthPs }) => birthPs));
        expect(found.map((it) => it.kind === 'instruction' && it.pc)).toEqual(expected.map(({ pc }) => pc));
        total += found.length;
      }),
      { numRuns: 60 },
    );
    expect(total).toBeGreaterThan(10);
  });

  it('for addresses finds the instructions there', async () => {
    let total = 0;
    await fc.assert(
      fc.asyncProperty(cases, fc.nat(200), async (one, width) => {
        const trace = await traceOf(one.seed, one.cycles, one.perSegment);
        const born = await bornIn(trace, 0n, 2n ** 63n);
        const first = born[born.length >> 1]?.pc ?? 0n;
        const last = first + BigInt(width);
        const found = await all(trace, `pc:0x${first.toString(16)}-${last}`);
        const expected = born.filter(({ pc }) => pc !== null && pc >= first && pc <= last);
        expect(found.map((it) => it.kind === 'instruction' && [it.timePs, it.id, it.pc, it.row])).toEqual(
          expected.map(({ birthPs, id, pc, seq }) => [birthPs, id, pc, Number(seq ?? -1)]),
        );
        total += found.length;
      }),
      { numRuns: 40 },
    );
    expect(total).toBeGreaterThan(10);
  });

  it('for events finds those with these fields', async () => {
    let total = 0;
    const searches = fc.constantFrom<[string, string, bigint | null]>(
      ['flush:', 'flush', null],
      ['flush:mispredict', 'flush', 0n],
      ['stall:rob_full', 'stall', 0n],
      ['event:stall reason=1', 'stall', 1n],
      ['event:core0/flush reason=exception', 'flush', 1n],
    );
    await fc.assert(
      fc.asyncProperty(cases, searches, async (one, [pattern, name, reason]) => {
        const trace = await traceOf(one.seed, one.cycles, one.perSegment);
        const [from, to] = [BigInt(one.from * PERIOD_PS), BigInt((one.from + one.length) * PERIOD_PS)];
        const expected = [];
        for await (const event of trace.events(from, to, [`core0/${name}`])) {
          if (reason === null || event.field('reason') === reason) expected.push(event.timePs);
        }
        const found = await all(trace, pattern, { from, to });
        expect(found.map(({ timePs }) => timePs)).toEqual(expected);
        for (const it of found) expect(it).toMatchObject({ kind: 'event', event: `core0/${name}` });
        total += found.length;
      }),
      { numRuns: 60 },
    );
    expect(total).toBeGreaterThan(10);
  });

  it('takes a text as it is where asked to', async () => {
    const trace = await traceOf(3, 60, 20);
    const dots = await all(trace, '.', { fixed: true });
    expect(dots.length).toBeLessThan((await all(trace, '.')).length);
  });

  it.each([
    ['(', /Unterminated group/],
    ['', /empty/],
    ['pc:here', /write pc:/],
    ['pc:9-3', /below/],
    ['event:', /write event:/],
    ['event:flush reason', /field=value/],
  ])('refuses the pattern %j', async (pattern, problem) => {
    const trace = await traceOf(3, 10, 5);
    await expect(all(trace, pattern)).rejects.toMatchObject({
      code: 'READER_PATTERN',
      detail: expect.stringMatching(problem),
    });
  });

  it.each(['event:nothing', 'event:flush colour=red'])(
    'says what %s does not find in the schema',
    async (pattern) => {
      await expect(all(await traceOf(3, 10, 5), pattern)).rejects.toMatchObject({ code: 'READER_NAME' });
    },
  );

  it('ends with the reason of its signal', async () => {
    const controller = new AbortController();
    const search = all(await traceOf(3, 60, 5), 'flush:', {
      signal: controller.signal,
      progress: () => controller.abort(new Error('enough')),
    });
    await expect(search).rejects.toThrow('enough');
  });
});
