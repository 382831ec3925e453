/** FTR to µScope and back, item by item; and traces of cores to FTR. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cases } from '../../../../test/support/effort.js';
import { contextOf, MemoryFiles } from '../../../../test/support/foreign.js';
import { contentOf, everything, type Recording, written } from '../../../../test/support/ftr-fixtures.js';
import { MANY_CASES_MS } from '../../../../test/support/limits.js';
import { lacks } from '../../../../test/support/needs.js';
import { memorySource } from '../../reader/index.js';
import { openSource, openTraceFile } from '../../reader/node.js';
import { verifyTrace } from '../../tools/verify/index.js';
import { FORMAT } from './format.js';
import { FtrFile, type FtrTransaction, FtrType, relationEntries } from './index.js';
import { ftrToUscope } from './to-uscope.js';

const SAMPLES = fileURLToPath(new URL('../../../../../shared/samples/ftr/', import.meta.url));
const samples = existsSync(SAMPLES)
  ? readdirSync(SAMPLES).filter((name) => name.endsWith('.ftr') && !name.startsWith('crash'))
  : [];
let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-ftr-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let count = 0;
async function toTrace(bytes: Uint8Array, options: Record<string, string> = {}) {
  const path = join(directory, `${count++}.uscope`);
  const context = contextOf(options);
  const foreign = await FORMAT.open!(memorySource(bytes), new Map(Object.entries(options)));
  await foreign.toUscope({ path }, context);
  return { path, foreign, warnings: context.warnings, report: context.report };
}

async function toFtr(path: string, options: Record<string, string> = {}) {
  const trace = await openTraceFile(path);
  const files = new MemoryFiles();
  const context = contextOf(options);
  try {
    await FORMAT.write!(trace, files, '.ftr', context);
  } finally {
    await trace.close();
  }
  return { bytes: files.bytes(), report: context.report };
}

async function expectRoundTrip(bytes: Uint8Array): Promise<void> {
  const { path, report } = await toTrace(bytes);
  const back = await toFtr(path);
  expect(await contentOf(memorySource(back.bytes))).toEqual(await contentOf(memorySource(bytes)));
  expect([...report.unwaived(), ...back.report.unwaived()]).toEqual([]);
}

async function formOf(bytes: Uint8Array) {
  const form = { isCompressed: false, elements: 0 };
  for await (const chunk of (await FtrFile.open(memorySource(bytes))).chunks()) {
    form.isCompressed ||= chunk.isCompressed;
    if (chunk.kind !== 'relations') continue;
    for (const { sourceStream } of relationEntries(chunk)) form.elements = sourceStream === null ? 3 : 5;
  }
  return form;
}

describe('a recording', () => {
  it.skipIf(lacks('samples of other tools', samples.length > 0)).each(samples)(
    '%s comes back',
    async (name) => {
      await expectRoundTrip(readFileSync(SAMPLES + name));
    },
  );

  it.each([
    ['none', true, 3],
    ['none', false, 5],
    ['lz4', true, 3],
    ['lz4', false, 5],
  ] as const)(
    'compression %s, short relations %s: comes back in the same form',
    async (compression, hasShortRelations, elements) => {
      const { streams, generators, transactions } = many(3);
      const relations = [{ name: 'next', source: 1n, sink: 2n, sourceStream: 0n, sinkStream: 0n }];
      const bytes = await written(
        { streams, generators, transactions, relations },
        { compression, hasShortRelations },
      );
      const { path } = await toTrace(bytes);
      const { bytes: back } = await toFtr(path);
      expect(await formOf(back)).toEqual({ isCompressed: compression === 'lz4', elements });
      expect(await formOf(bytes)).toEqual(await formOf(back));
      const { bytes: chosen } = await toFtr(path, { compression: compression === 'lz4' ? 'none' : 'lz4' });
      expect((await formOf(chosen)).isCompressed).toBe(compression !== 'lz4');
    },
  );

  it('with everything comes back', async () => expectRoundTrip(await written(everything())));

  it('of any kind comes back', { timeout: MANY_CASES_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(recordings(), async (recording) => expectRoundTrip(await written(recording))),
      { numRuns: cases(10, 120) },
    );
  });

  it('too large for memory is sorted on disk, and comes back', async () => {
    const recording = many(3000);
    const bytes = await written(recording);
    const path = join(directory, 'spilled.uscope');
    const context = contextOf();
    await ftrToUscope(await FtrFile.open(memorySource(bytes)), { path }, context, {
      unit: 'ps',
      sortWords: 2000,
    });
    const { bytes: back } = await toFtr(path);
    expect(await contentOf(memorySource(back))).toEqual(await contentOf(memorySource(bytes)));
    expect(readdirSync(directory).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    // In the order of time, as the writer of traces insists on.
    const whole = await toTrace(bytes);
    expect(Buffer.compare(await eventsOf(path), await eventsOf(whole.path))).toBe(0);
  });

  it('with more generators than a schema holds comes back', async () => {
    const generators = Array.from({ length: 3000 }, (_, i) => [BigInt(i + 2), `gen ${i % 7}`, 1n] as const);
    const transactions = generators.map(([generator], i) => ({ ...plain(BigInt(i)), generator }));
    await expectRoundTrip(
      await written({ streams: [[1n, 's', 'k']], generators, transactions, relations: [] }),
    );
  });
});

describe('a damaged file', () => {
  it('is refused with a code, or becomes a trace that can be converted', {
    timeout: MANY_CASES_MS,
  }, async () => {
    const bytes = await written(everything(), { compression: 'none' });
    let converted = 0;
    const flips = fc.array(fc.tuple(fc.nat(bytes.length - 5), fc.nat(255)), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(flips, async (changes) => {
        const damaged = new Uint8Array(bytes);
        for (const [at, value] of changes) damaged[4 + at] = value;
        try {
          const { path } = await toTrace(damaged);
          await contentOf(memorySource((await toFtr(path)).bytes));
          converted++;
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/^CONVERT_/) });
        }
      }),
      { numRuns: cases(20, 240) },
    );
    expect(converted).toBeGreaterThan(0);
  });
});

describe('the trace', () => {
  it('has scopes of streams and event types of generators, passes every check and has times in order', async () => {
    const { path } = await toTrace(await written(everything()));
    const source = await openSource(path);
    const { ok, findings } = await verifyTrace(source);
    await source.close?.();
    expect({ ok, findings }).toEqual({ ok: true, findings: [] });
    const trace = await openTraceFile(path);
    expect(trace.schema.scopes.map(({ name, protocol }) => [name, protocol])).toEqual([
      ['root', null],
      ['top.bus', 'ftr'],
      ['s_', 'ftr'],
    ]);
    expect(trace.names.eventNames.slice(6)).toEqual([
      'top.bus/read',
      'top.bus/read#end',
      'top.bus/read.events',
      'top.bus/read.events#end',
      'top.bus/read.2',
      'top.bus/read.2#end',
      's_/generator',
      's_/generator#end',
    ]);
    const seen: [bigint, string][] = [];
    for await (const event of trace.events()) {
      if (!/attr|bytes|dir/.test(event.name)) seen.push([event.timePs, event.name]);
    }
    const far = (1n << 64n) - 2n;
    expect(seen).toEqual([
      [0n, 'ftr.rel'],
      [100n, 'top.bus/read'],
      [110n, 'top.bus/read.events'],
      [110n, 'top.bus/read.events#end'],
      [110n, 'ftr.rel'],
      [150n, 'top.bus/read.2'],
      [150n, 'top.bus/read.2#end'],
      [200n, 'top.bus/read#end'],
      [far, 's_/generator'],
      [far, 's_/generator#end'],
    ]);
    expect(trace.dutProperty('ftr.timescale')).toBe('-12');
    expect(trace.dutProperty('ftr.epoch')).toBe('1763637798');
    await trace.close();
  });

  it('takes times as the header says when an option says so, and warns', async () => {
    const bytes = await written(many(3), { exponent: -9 });
    const [ps, header] = [await toTrace(bytes), await toTrace(bytes, { unit: 'header' })];
    expect(ps.warnings).toEqual([expect.stringContaining('10^-9')]);
    const last = async (path: string): Promise<bigint> => {
      const trace = await openTraceFile(path);
      await trace.close();
      return trace.totalTimePs;
    };
    expect(await last(header.path)).toBe(1000n * (await last(ps.path)));
    const { bytes: back } = await toFtr(header.path);
    expect(await contentOf(memorySource(back))).toEqual(await contentOf(memorySource(bytes)));
  });

  it('of a cut file holds what is there', async () => {
    const bytes = await written(many(200), { compression: 'none' });
    const { foreign, warnings, path } = await toTrace(bytes.subarray(0, bytes.length / 2));
    expect(foreign.isPartial).toBe(true);
    expect(warnings).toEqual([expect.stringContaining('CONVERT_TRUNCATED')]);
    const { transactions } = await contentOf(memorySource((await toFtr(path)).bytes));
    const first = many(200).transactions.slice(0, transactions.length);
    expect(transactions).toEqual(first.sort((a, b) => Number(a.id - b.id)));
    expect(transactions.length).toBeGreaterThan(50);
  });
});

const plain = (id: bigint): FtrTransaction => ({
  id,
  stream: 1n,
  generator: 2n,
  start: id * 7n,
  end: id * 7n + 20n,
  attributes: [{ phase: 0, name: 'n', type: FtrType.UNSIGNED, value: id }],
});

/** Transactions that overlap and lie out of order, a relation for each. */
function many(size: number): Recording {
  const ids = Array.from({ length: size }, (_, i) => BigInt((i * 7919) % size));
  return {
    streams: [[1n, 's', 'k']],
    generators: [[2n, 'g', 1n]],
    transactions: ids.map(plain),
    relations: ids.map((id) => ({
      name: 'next',
      source: id,
      sink: id + 1n,
      sourceStream: 1n,
      sinkStream: 1n,
    })),
  };
}

async function eventsOf(path: string): Promise<Buffer> {
  const trace = await openTraceFile(path);
  const pieces: Uint8Array[] = [];
  for await (const { timePs, eventTypeId, payload } of trace.events())
    pieces.push(Buffer.from(`${timePs} ${eventTypeId}`), payload.slice());
  await trace.close();
  return Buffer.concat(pieces);
}

function recordings(): fc.Arbitrary<Recording> {
  const u64 = fc.oneof(fc.bigInt({ min: 0n, max: 300n }), fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }));
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 6 }),
    fc.constantFrom('', 'a\0b', 'read', '#end'),
  );
  const value = fc.oneof(
    fc.tuple(fc.constant(FtrType.BOOLEAN), fc.boolean()),
    fc.tuple(
      fc.constantFrom(FtrType.ENUMERATION, FtrType.BIT_VECTOR, FtrType.LOGIC_VECTOR, FtrType.STRING),
      text,
    ),
    fc.tuple(fc.constant(FtrType.INTEGER), fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n })),
    fc.tuple(fc.constantFrom(FtrType.UNSIGNED, FtrType.POINTER, FtrType.TIME), u64),
    fc.tuple(
      fc.constantFrom(
        FtrType.FLOATING_POINT_NUMBER,
        FtrType.FIXED_POINT_INTEGER,
        FtrType.UNSIGNED_FIXED_POINT_INTEGER,
      ),
      fc.double(),
    ),
  );
  const attribute = fc
    .tuple(fc.constantFrom(0, 1, 2), text, value)
    .map(
      ([phase, name, [type, one]]) =>
        ({ phase, name, type, value: one }) as FtrTransaction['attributes'][number],
    );
  const generators = fc.array(fc.tuple(text, fc.nat(2)), { minLength: 1, maxLength: 4 });
  return fc
    .tuple(fc.array(fc.tuple(text, text), { minLength: 3, maxLength: 3 }), generators)
    .chain(([streams, kinds]) => {
      const transaction = fc.tuple(
        u64,
        fc.nat(kinds.length - 1),
        u64,
        u64,
        fc.array(attribute, { maxLength: 5 }),
      );
      const relation = fc.record({ name: text, source: u64, sink: u64, sourceStream: u64, sinkStream: u64 });
      const byId = { selector: ([id]: [bigint, ...unknown[]]) => id, maxLength: 12 };
      return fc.record({
        streams: fc.constant(streams.map(([name, kind], i) => [BigInt(i), name, kind] as const)),
        generators: fc.constant(
          kinds.map(([name, stream], i) => [BigInt(10 + i), name, BigInt(stream)] as const),
        ),
        transactions: fc.uniqueArray(transaction, byId).map((all) =>
          all.map(([id, i, start, end, attributes]) => ({
            id,
            stream: BigInt(kinds[i][1]),
            generator: BigInt(10 + i),
            start,
            end,
            attributes,
          })),
        ),
        relations: fc.array(relation, { maxLength: 5 }),
      });
    });
}
