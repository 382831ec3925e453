/** Logs that compiled code takes, against the plain path: the same trace, report and summary, and the same errors at the same places. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cases } from '../../../../test/support/effort.js';
import { contextOf, flips } from '../../../../test/support/foreign.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { contentsOf } from '../../../../test/support/same-trace.js';
import { sourceDigest } from '../../../kernel/embed.mjs';
import { isUscopeError } from '../../base/errors.js';
import { memorySource } from '../../reader/index.js';
import { createPipelineKernel, type PipelineKernel } from '../pipeline/kernel/pipeline-kernel.js';
import { SOURCES, SOURCES_SHA256 } from '../pipeline/kernel/pipeline-wasm.js';
import { KanataReader } from './reader.js';
import { summarize } from './scan.js';
import { kanataToUscope } from './to-uscope.js';

limitOfFile(MANY_CASES_MS);

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-kanata-compiled-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('the kernel that is checked in was compiled from its sources (else: make -C sdk/kernel/pipeline)', () => {
  expect(SOURCES_SHA256).toBe(sourceDigest(SOURCES));
});

/** All that a conversion says, or the error in which it ends. */
async function converted(bytes: Uint8Array, kernel: () => PipelineKernel | null) {
  const path = join(directory, 'out.uscope');
  rmSync(path, { force: true });
  const context = contextOf();
  const reader = (): KanataReader => new KanataReader(memorySource(bytes, 'log'));
  try {
    const summary = await summarize(reader(), undefined, kernel());
    await kanataToUscope(reader(), summary, { path }, context, kernel());
    const { cut, ...counted } = summary;
    const { warnings, report } = context;
    return { ...counted, cut: cut?.message, rows: report.rows, warnings, trace: contentsOf(path) };
  } catch (error) {
    if (!isUscopeError(error)) throw error;
    return error.message;
  }
}

async function expectSame(bytes: Uint8Array): Promise<void> {
  const compiled = await converted(bytes, createPipelineKernel);
  expect(compiled).toEqual(await converted(bytes, () => null));
}

const bytesOf = (lines: readonly string[]): Uint8Array =>
  new TextEncoder().encode(`Kanata\t0004\n${lines.map((line) => `${line}\n`).join('')}`);

const id = fc.oneof({ weight: 9, arbitrary: fc.nat(12) }, fc.constantFrom(1024, 2048, 5000, 2 ** 53 - 1));
const small = fc.oneof(
  { weight: 9, arbitrary: fc.nat(2) },
  fc.constantFrom(255, 256, 65_535, 65_536, 2 ** 32),
);
const big = fc.oneof(fc.nat(9), fc.constantFrom(2 ** 52, '18446744073709551615', '018446744073709551615'));
const TEXTS = [
  ...[
    '80000000: addi x1,x2,3',
    '0x80000004: nop',
    '0x80000004',
    '80000008 sub x1,x2,x3 # a long one',
    '8000',
  ],
  ...[
    'add x1,x2,x3',
    'c0de',
    'ff ',
    ' : colon',
    '',
    '   ',
    ' 12: x',
    '0x',
    '0xg',
    '0x1g',
    'x\\ny',
    'µs: 12',
    'dead beef',
  ],
  ...[
    '00000000000000123: 18 digits',
    '1234567890abcdef: 16',
    '1234567890abcde: 15',
    'a tab\tthere',
    'cr\r',
    '\u000b12: a',
  ],
  ...[
    'abcd 1',
    '12ab 1',
    '12ab and more than twenty characters',
    'x'.repeat(70),
    '0x80000004: more than twenty characters',
  ],
];
const text = fc.constantFrom(...TEXTS);
const stage = fc.constantFrom('F', 'D', 'X', 'Wb', 'decode', 'a stage', 'µ', 'F\r', 'x'.repeat(40));
const command = fc.oneof(
  fc.constantFrom('C\t1', 'C\t1', 'C\t3', 'C\t0', 'C=\t5', 'C=\t-3', '', 'C\t1\tcomment', `C\t${2 ** 53}`),
  fc.tuple(id, big, small).map((columns) => `I\t${columns.join('\t')}`),
  fc.tuple(id, small, text).map((columns) => `L\t${columns.join('\t')}`),
  fc.tuple(id, fc.constant(0), text).map((columns) => `L\t${columns.join('\t')}`),
  fc.tuple(id, fc.constant(0), stage).map((columns) => `S\t${columns.join('\t')}`),
  fc.tuple(fc.constantFrom('S', 'E'), id, small, stage).map((columns) => columns.join('\t')),
  fc.tuple(id, big, small).map((columns) => `R\t${columns.join('\t')}`),
  fc.tuple(id, id, small).map((columns) => `W\t${columns.join('\t')}`),
);

/** A pipeline: instructions begin, pass stages and end in their order, several of them at the same time. */
function pipelineLog(instructions: number, textOf: (n: number) => string): string[] {
  const lines: string[] = ['C=\t10'];
  for (let cycle = 0; cycle < instructions + 4; cycle++) {
    lines.push('C\t1');
    if (cycle < instructions)
      lines.push(`I\t${cycle}\t${cycle}\t${cycle % 2}`, `L\t${cycle}\t0\t${textOf(cycle)}`);
    for (const [age, name] of ['F', 'D', 'X'].entries())
      if (cycle - age >= 0 && cycle - age < instructions) lines.push(`S\t${cycle - age}\t0\t${name}`);
    if (cycle >= 4)
      lines.push(`W\t${cycle - 3}\t${cycle - 4}\t0`, `R\t${cycle - 4}\t${cycle}\t${cycle % 7 === 0 ? 1 : 0}`);
  }
  return lines;
}

describe('compiled code makes of a log what the plain path makes of it', () => {
  it('of random commands, most of them sound', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 40 }), async (lines) => expectSame(bytesOf(lines))),
      { numRuns: cases(30) },
    );
  });

  it('of a pipeline, and of copies with a few bytes changed', async () => {
    const bytes = bytesOf(pipelineLog(60, (n) => `${(4 * n).toString(16)}: add x${n % 4},x1`));
    await expectSame(bytes);
    for (const damaged of flips(bytes, cases(20))) await expectSame(damaged);
    for (let length = 0; length < bytes.length; length += 211) await expectSame(bytes.slice(0, length));
  });

  it('of addresses in other forms, with carriage returns, and of more text than is taken at a time', async () => {
    const text = (n: number): string => `0x${(4 * n).toString(16)} add x${n % 4},x1,${n}`;
    await expectSame(bytesOf(pipelineLog(300, text).map((line) => `${line}\r`)));
    await expectSame(bytesOf(pipelineLog(12_000, text)));
  });

  it('of each two texts that an address may be found in', async () => {
    const pairs = TEXTS.flatMap((first) => TEXTS.map((second) => [first, second]));
    const lines = pairs.flatMap((labels, n) => [
      `I\t${n}\t0\t0`,
      ...labels.map((label) => `L\t${n}\t0\t${label}`),
      `R\t${n}\t0\t0\nC\t1`,
    ]);
    await expectSame(bytesOf(lines));
  });

  it('of strings of all sizes up to more than a string may have, and of more of them than are remembered', async () => {
    const long = Array.from({ length: 40 }, (_, n) => `L\t0\t1\t${'y'.repeat(n)}`);
    await expectSame(bytesOf(['I\t0\t0\t0', ...long, ...long, `L\t0\t1\t${'z'.repeat(65_520)}`]));
    await expectSame(bytesOf(['I\t0\t0\t0', `L\t0\t1\t${'z'.repeat(65_521)}`]));
    await expectSame(bytesOf(['I\t0\t0\t0', `S\t0\t1\t${'z'.repeat(65_521)}`]));
    await expectSame(bytesOf(['I\t0\t0\t0', `L\t0\t1\t${'z'.repeat(1_100_000)}`]));
    const many = Array.from({ length: 34_000 }, (_, n) => `L\t0\t1\t${n}`);
    await expectSame(bytesOf(['I\t0\t0\t0', ...many, ...many.slice(0, 2000), ...many.slice(-2000)]));
  });

  it('of more in flight than its first table holds, of many items at a time, and of more stages than it knows', async () => {
    const ids = Array.from({ length: 3000 }, (_, n) => 1024 * n);
    const begins = ids.map((n) => `I\t${n}\t0\t0`);
    const ends = ids.map((n) => `R\t${n}\t0\t0`);
    await expectSame(
      bytesOf([
        ...begins,
        'C\t1',
        ...ends.filter((_, n) => n % 3 !== 0),
        ...ends,
        'C\t1',
        'S\t9999999\t0\tF',
      ]),
    );
    await expectSame(
      bytesOf(
        Array.from({ length: 33_000 }, (_, n) => `I\t${n}\t0\t0\nR\t${n}\t0\t0${n % 30_000 ? '' : '\nC\t1'}`),
      ),
    );
    const stages = Array.from({ length: 300 }, (_, n) => `S\t0\t1\tstage${n}\nS\t1\t${n}\tF`);
    await expectSame(bytesOf(stages));
    await expectSame(bytesOf(Array.from({ length: 257 }, (_, n) => `S\t0\t0\tstage${n}`)));
  });
});
