/** A search finds what a look at every instruction and every event finds. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TraceBuilder } from '../../../../test/support/build-trace.js';
import { cases as casesOf } from '../../../../test/support/effort.js';
import { modelSchema, PERIOD_PS, runModel, STAGES } from '../../../../test/support/pipeline-model.js';
import { generator } from '../../../../test/support/recorded-run.js';
import { memorySource, openTrace, type Trace } from '../../reader/index.js';
import { findCore, type Instruction, InstructionEnd } from '../cpu/index.js';
import { disassemble } from '../cpu/riscv/disassemble.js';
import { instructions } from '../instructions/instructions.js';
import { completionsOf, type FindOptions, type Found, find, parsePattern, searchNames } from './index.js';

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

interface Context {
  readonly retired: readonly Instruction[];
  readonly stalls: readonly bigint[];
  readonly entering: readonly { readonly id: number; readonly time: bigint }[];
}

async function contextOf(trace: Trace, born: readonly Instruction[]): Promise<Context> {
  const stalls = [];
  for await (const event of trace.events(0n, 2n ** 63n, ['core0/stall']))
    if (event.field('reason') === 0n) stalls.push(event.timePs);
  const entering = [];
  for await (const event of trace.events(0n, 2n ** 63n, ['core0/stage_transition']))
    if (event.field('stage') === 2n)
      entering.push({ id: Number(event.field('entity_id')), time: event.timePs });
  return { retired: born.filter(({ end }) => end === InstructionEnd.RETIRED), stalls, entering };
}

/** From the fetch to the last cycle, both included. */
function during({ birthPs, endPs, flush }: Instruction, time: bigint): boolean {
  const over = endPs ?? flush?.timePs ?? null;
  return birthPs !== null && time >= birthPs && (over === null || time <= over);
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
      { numRuns: casesOf(25) },
    );
    expect(total).toBeGreaterThan(0);
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
      { numRuns: casesOf(20) },
    );
    expect(total).toBeGreaterThan(0);
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
      { numRuns: casesOf(25) },
    );
    expect(total).toBeGreaterThan(0);
  });

  it('for several terms finds the instructions for which all hold', async () => {
    let total = 0;
    const terms = fc.uniqueArray(
      fc.constantFrom<[string, (one: Instruction, context: Context) => boolean]>(
        [
          'insn \\d*[13579]$',
          ({ annotations }) => annotations.some(({ text }) => /insn \d*[13579]$/.test(text ?? '')),
        ],
        ['pc:0x80000020-0x80000100', ({ pc }) => pc !== null && pc >= 0x8000_0020n && pc <= 0x8000_0100n],
        ['seq:3-40', ({ seq }) => seq !== null && seq >= 3n && seq <= 40n],
        ['retired:2..30', (one, { retired }) => retired.indexOf(one) >= 2 && retired.indexOf(one) <= 30],
        ['flush:', ({ flush }) => flush !== null],
        ['flush:mispredict', ({ flush }) => flush?.reason === 'mispredict'],
        ['stall:rob_full', (one, { stalls }) => stalls.some((time) => during(one, time))],
        [
          'event:stage_transition stage=execute',
          (one, { entering }) => entering.some(({ id, time }) => id === one.id && during(one, time)),
        ],
      ),
      { minLength: 2, maxLength: 3, selector: ([text]) => text },
    );
    await fc.assert(
      fc.asyncProperty(cases, terms, async (one, wanted) => {
        const trace = await traceOf(one.seed, one.cycles, one.perSegment);
        const [from, to] = [BigInt(one.from * PERIOD_PS), BigInt((one.from + one.length) * PERIOD_PS)];
        const born = await bornIn(trace, 0n, 2n ** 63n);
        const context = await contextOf(trace, born);
        const expected = born.filter(
          (it) => it.birthPs! >= from && it.birthPs! < to && wanted.every(([, holds]) => holds(it, context)),
        );
        const found = await all(trace, wanted.map(([text]) => text).join(' '), { from, to });
        expect(found.map((it) => it.kind === 'instruction' && it.row)).toEqual(
          expected.map(({ seq }) => Number(seq)),
        );
        total += found.length;
      }),
      { numRuns: casesOf(30) },
    );
    expect(total).toBeGreaterThan(0);
  });

  it('takes what follows text: as an expression, and values in quotes', () => {
    expect(parsePattern('pc:16 text:a pc:1').terms).toMatchObject([
      { kind: 'pc', first: 16n },
      { text: /a pc:1/ },
    ]);
    expect(parsePattern('event:flush reason="two words" lw a0').terms).toMatchObject([
      { name: 'flush', conditions: [{ field: 'reason', value: 'two words' }] },
      { text: /lw a0/ },
    ]);
    expect(parsePattern(' a b ').terms).toMatchObject([{ text: / a b / }]);
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
    ['seq:a', /write seq:/],
    ['retired:', /write retired:/],
    ['event:', /write event:/],
    ['text:', /empty/],
    ['flush:"misp', /double quote/],
    ['add ( flush:', /Unterminated group/],
    [`${'a'.repeat(5000)}`, /longer than 4096/],
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

describe('completion', () => {
  const at = async (written: string): Promise<string[]> => {
    const trace = await traceOf(3, 10, 5);
    const caret = written.indexOf('|');
    const source = written.replace('|', '');
    const { from, to, choices } = completionsOf(source, caret, searchNames(trace, findCore(trace)));
    return choices.map(({ text }) => source.slice(0, from) + text + source.slice(to));
  };

  it.each([
    ['st|', ['stall:']],
    ['lw s|', ['lw seq:', 'lw stall:']],
    ['stall:|', ['stall:rob_full', 'stall:fetch_miss']],
    ['flush:ex| lw', ['flush:exception lw']],
    ['event:fl|', ['event:flush']],
    ['event:flush rea|', ['event:flush reason=']],
    ['event:flush reason=mis|', ['event:flush reason=mispredict']],
    ['pc:0x8|', []],
    ['text:st|', []],
  ])('of %j', async (written, expected) => {
    expect(await at(written)).toEqual(expected);
  });
});
