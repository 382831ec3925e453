/** Logs that compiled code takes, against the plain path: the same trace, report and summary, and the same errors at the same places. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cases } from '../../../../test/support/effort.js';
import { contextOf, flips } from '../../../../test/support/foreign.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { contentsOf } from '../../../../test/support/same-trace.js';
import { isUscopeError } from '../../base/errors.js';
import { memorySource } from '../../reader/index.js';
import { createPipelineKernel, type PipelineKernel } from '../pipeline/kernel/pipeline-kernel.js';
import { Gem5Reader } from './reader.js';
import { summarize } from './summary.js';
import { gem5ToUscope } from './to-uscope.js';

limitOfFile(MANY_CASES_MS);

const VECTOR = fileURLToPath(new URL('../../../../test/vectors/gem5/window.out', import.meta.url));
let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-gem5-compiled-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** All that a conversion says, or the error in which it ends; and whether compiled code could make it. */
async function converted(bytes: Uint8Array, kernel: () => PipelineKernel | null) {
  const path = join(directory, 'out.uscope');
  rmSync(path, { force: true });
  const context = contextOf();
  const reader = (): Gem5Reader => new Gem5Reader(memorySource(bytes, 'log'));
  try {
    const { cut, isPlain, ...counted } = await summarize(reader(), undefined, kernel());
    const summary = { ...counted, cut, isPlain };
    await gem5ToUscope(reader(), summary, null, { path }, context, kernel());
    const { warnings, report } = context;
    const said = { ...counted, cut: cut?.message, rows: report.rows, warnings, trace: contentsOf(path) };
    return { said, isPlain };
  } catch (error) {
    if (!isUscopeError(error)) throw error;
    return { said: error.message, isPlain: false };
  }
}

/** @returns whether compiled code has made it */
async function expectSame(bytes: Uint8Array): Promise<boolean> {
  const compiled = await converted(bytes, createPipelineKernel);
  const plain = await converted(bytes, () => null);
  expect(compiled.said).toEqual(plain.said);
  return compiled.isPlain;
}

const bytesOf = (lines: readonly string[]): Uint8Array => new TextEncoder().encode(`${lines.join('\n')}\n`);
const STAGES = ['decode', 'rename', 'dispatch', 'issue', 'complete', 'retire'];

interface Drawn {
  readonly fetch: number;
  /** From stage to stage; -1: not reached. */
  readonly steps: readonly number[];
  readonly store: number;
  readonly seq: number | string;
  readonly pc: string;
  readonly micro: number;
  readonly text: string;
  readonly lacks: number;
}

function linesOf({ fetch, steps, store, seq, pc, micro, text, lacks }: Drawn): string[] {
  let tick = fetch;
  const lines = [`O3PipeView:fetch:${fetch}:0x${pc}:${micro}:${seq}:${text}`];
  for (const [index, step] of steps.entries()) {
    if (step >= 0) tick += step;
    const line = `O3PipeView:${STAGES[index]}:${step < 0 ? 0 : tick}`;
    if (index !== lacks) lines.push(index === STAGES.length - 1 ? `${line}:store:${store}` : line);
  }
  return lines;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  fetch: fc.nat(40).map((n) => 500 * n),
  steps: fc.array(fc.constantFrom(0, 500, 500, 500, 1500, 12_000, -1), { minLength: 6, maxLength: 6 }),
  store: fc.constantFrom(0, 0, 90_000),
  seq: fc.oneof(
    { weight: 5, arbitrary: fc.nat(99) },
    fc.constantFrom('18446744073709551615', '9007199254740993'),
  ),
  pc: fc.constantFrom('4', '80000000', 'ffffffffffffffff', '123456789abcd', '123456789abcde'),
  micro: fc.constantFrom(0, 0, 0, 1, 2),
  text: fc.constantFrom(
    ' nop',
    '  addi x1,x2 : y  ',
    '',
    'µ-op',
    'x'.repeat(192),
    ' '.repeat(300),
    'tab\there',
  ),
  lacks: fc.constantFrom(-1, -1, -1, -1, -1, 0, 3, 5),
});
const other = fc.constantFrom(
  ...[
    '',
    'warn: something',
    'O3PipeView:decode:7',
    'O3PipeView:fetch',
    '100: system.cpu.rename: text [sn:5] here',
  ],
  ...['100: system.cpu: O3PipeView:fetch:100:0x4:0:7: nop', 'O3PipeView: fetch:1', 'O3PipeView:retire:99999'],
);

/** In a pipeline of some width, in the order of their ends. */
function pipelineLog(instructions: number, textOf: (n: number) => string): string[] {
  return Array.from({ length: instructions }, (_, n) =>
    linesOf({
      ...{
        fetch: 500 * (n >> 1),
        steps: [500, 500, 500 * (n % 3), 500, n % 5 ? 500 : 9000, n % 11 ? 500 : -1],
      },
      ...{ store: n % 4 ? 0 : 500 * n + 30_000, seq: n + 1, pc: (4 * n).toString(16), micro: n % 9 ? 0 : 1 },
      ...{ text: textOf(n), lacks: -1 },
    }),
  ).flat();
}

describe('compiled code makes of a log what the plain path makes of it', () => {
  it('of random instructions', async () => {
    let made = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(drawn, { minLength: 1, maxLength: 30 }), async (all) => {
        made += (await expectSame(bytesOf(all.flatMap(linesOf)))) ? 1 : 0;
      }),
      { numRuns: cases(20) },
    );
    expect(made).toBeGreaterThan(0);
  });

  it('of random instructions with other lines between', async () => {
    const piece = fc.oneof(
      { weight: 6, arbitrary: drawn.map(linesOf) },
      other.map((line) => [line]),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 12 }), async (all) => {
        await expectSame(bytesOf(all.flat()));
      }),
      { numRuns: cases(20) },
    );
  });

  it('of a log of gem5, cut and damaged', async () => {
    const bytes = readFileSync(VECTOR);
    await expectSame(bytes);
    for (const damaged of flips(bytes, cases(20))) await expectSame(damaged);
    for (let length = 0; length < bytes.length; length += 97) await expectSame(bytes.subarray(0, length));
  });

  it('of more instructions than it has room for at first, and of more text than is taken at a time', async () => {
    expect(await expectSame(bytesOf(pipelineLog(9000, (n) => ` add x${n % 4}`)))).toBe(true);
    // The first instruction comes last, so that all others wait for it.
    const [first, ...rest] = [pipelineLog(1, () => 'first'), pipelineLog(3000, (n) => `later ${n}`)];
    expect(await expectSame(bytesOf([...rest.flat(), ...first]))).toBe(true);
  });

  it('of a tick at which more happens than a frame holds', async () => {
    const one = {
      fetch: 500,
      steps: [0, 0, 0, 0, 0, 0],
      store: 0,
      seq: 1,
      pc: '4',
      micro: 0,
      text: 'nop',
      lacks: -1,
    };
    expect(await expectSame(bytesOf(Array.from({ length: 12_000 }, () => linesOf(one)).flat()))).toBe(true);
  });

  it('leaves a log with long disassemblies, objects or other flags to the plain path', async () => {
    expect(await expectSame(bytesOf(pipelineLog(20, () => 'x'.repeat(193))))).toBe(false);
    const flagged = [...pipelineLog(20, () => 'nop'), '100: system.cpu.rename: [tid:1] [sn:5] here'];
    expect(await expectSame(bytesOf(flagged))).toBe(false);
  });
});
