import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TraceBuilder } from '../../../../test/support/build-trace.js';
import { contextOf, cuts, flips, MemoryFiles, MemoryOutput } from '../../../../test/support/foreign.js';
import { MANY_CASES_MS } from '../../../../test/support/limits.js';
import { lacks } from '../../../../test/support/needs.js';
import { modelSchema, runModel } from '../../../../test/support/pipeline-model.js';
import { runUscope } from '../../../../test/support/run-cli.js';
import { isUscopeError } from '../../base/errors.js';
import { canCompressZstd } from '../../codecs/zstd.js';
import { memorySource, openTrace } from '../../reader/index.js';
import { openTraceFile } from '../../reader/node.js';
import { findCore, type Instruction } from '../../semantics/cpu/index.js';
import { instructions } from '../../semantics/instructions/instructions.js';
import type { Packing } from '../text/unpack.js';
import { FORMAT } from './format.js';
import { KanataReader, type KanataRecord, KanataWriter } from './index.js';

const SAMPLES = fileURLToPath(new URL('../../../../../shared/samples/konata/', import.meta.url));
const GEM5_VECTOR = fileURLToPath(new URL('../../../../test/vectors/gem5/window.out', import.meta.url));
const VECTOR = fileURLToPath(new URL('../../../../test/vectors/konata/two-threads.kanata', import.meta.url));

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-konata-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let files = 0;
const newPath = (): string => join(directory, `${files++}.uscope`);

async function write(records: readonly KanataRecord[], packing: Packing = 'plain'): Promise<Uint8Array> {
  const output = new MemoryOutput();
  const writer = new KanataWriter(output, packing);
  for (const record of records) {
    writer.write(record);
    await writer.drain();
  }
  await writer.end();
  return output.bytes;
}

async function read(bytes: Uint8Array): Promise<KanataRecord[]> {
  const records: KanataRecord[] = [];
  for await (const { record } of new KanataReader(memorySource(bytes, 'log')).records()) records.push(record);
  return records;
}

/** Commands with the cycle each belongs to, those of one cycle and instruction in order: what a log says, however it counts time. */
function said(records: readonly KanataRecord[]): string[] {
  let cycle = 0n;
  const lines: string[] = [];
  for (const record of records) {
    if (record.kind === 'cycle') cycle = record.cycle;
    else if (record.kind === 'advance') cycle += record.cycles;
    else lines.push(`${cycle} ${JSON.stringify(record, (_, v) => (typeof v === 'bigint' ? String(v) : v))}`);
  }
  return lines;
}

async function toUscope(bytes: Uint8Array, options: Record<string, string> = {}) {
  const context = contextOf(options);
  const foreign = await FORMAT.open?.(memorySource(bytes, 'log'), context.options);
  if (!foreign) throw new Error('cannot be opened');
  const path = newPath();
  const stats = await foreign.toUscope({ path }, context);
  return { path, stats, context, foreign };
}

async function throughUscope(bytes: Uint8Array, extension = '.kanata') {
  const { path, context } = await toUscope(bytes);
  const trace = await openTraceFile(path);
  const outputs = new MemoryFiles();
  const back = contextOf();
  await FORMAT.write?.(trace, outputs, extension, back);
  await trace.close();
  rmSync(path);
  return { bytes: outputs.bytes(), there: context, back };
}

async function lives(path: string): Promise<Instruction[]> {
  const trace = await openTraceFile(path);
  const found: Instruction[] = [];
  for await (const one of instructions(trace, findCore(trace))) found.push(one);
  await trace.close();
  return found;
}

const header = 'Kanata\t0004\n';
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('the reader', () => {
  it('takes comments after the columns, other line ends, and a last line without its end', async () => {
    const text = 'Kanata\t0004    \r\nC=\t-5\t \r\n\r\nI\t0\t7\t1\tcomment\nR\t0\t3\t1';
    expect(await read(bytesOf(text))).toEqual([
      { kind: 'cycle', cycle: -5n },
      { kind: 'begin', id: 0, gid: 7n, tid: 1 },
      { kind: 'retire', id: 0, rid: 3n, type: 1 },
    ]);
  });

  it('takes control characters in the name of a stage for letters', async () => {
    const text = `${header}I\t0\t0\t0\nS\t0\t0\t\u0007F\nS\t0\t0\tD\u001b[2\r\n`;
    expect(await read(bytesOf(text))).toEqual([
      { kind: 'begin', id: 0, gid: 0n, tid: 0 },
      { kind: 'start', id: 0, lane: 0, stage: '\u0007F' },
      { kind: 'start', id: 0, lane: 0, stage: 'D\u001b[2' },
    ]);
  });

  it.each([
    ['', 'CONVERT_TRUNCATED', 0],
    ['Kana', 'CONVERT_TRUNCATED', 0],
    ['#!/bin/sh\n', 'CONVERT_UNKNOWN', 0],
    ['Kanata\t0005\n', 'CONVERT_UNSUPPORTED', 0],
    [`${header}C\t1\nI\t0`, 'CONVERT_TRUNCATED', 16],
  ])('%j: %s at %i', async (text, code, offset) => {
    await expect(read(bytesOf(text))).rejects.toMatchObject({ code, place: { file: 'log', offset } });
  });

  it('a line without end is not text: CONVERT_LIMIT', async () => {
    const place = { file: 'log', offset: 12 };
    await expect(read(bytesOf(header + 'x'.repeat(2_000_000)))).rejects.toMatchObject({
      code: 'CONVERT_LIMIT',
      place,
    });
  });

  it.skipIf(lacks('samples of other tools', existsSync(SAMPLES)))('reads what viewers ship', async () => {
    const counts: Record<string, number> = {};
    for (const name of readdirSync(SAMPLES))
      counts[name] = (await read(readFileSync(join(SAMPLES, name)))).length;
    expect(counts).toEqual({ 'kanata-sample-1.log': 14, 'small.log': 26 });
  });
});

/** Logs of several threads and lanes: instructions in order, at every cycle some of them do something. */
const anyLog = fc
  .record({
    first: fc.bigInt({ min: -50n, max: 500n }),
    steps: fc.array(
      fc.record({
        act: fc.constantFrom(
          'begin',
          'begin',
          'label',
          'start',
          'start',
          'lane',
          'end',
          'retire',
          'dependency',
          'time',
        ),
        who: fc.nat(7),
        n: fc.nat(5),
        text: fc.constantFrom('80000000: ', 'addi a0, a0, 1', '12000d918 iBC(r17)', 'two\\nlines', '', 'µ'),
      }),
      { minLength: 1, maxLength: 120 },
    ),
  })
  .map(({ first, steps }) => {
    const records: KanataRecord[] = [{ kind: 'cycle', cycle: first }];
    const live: { id: number; stage: string | null }[] = [];
    let id = 0;
    let rid = 0n;
    for (const { act, who, n, text } of steps) {
      const one = live[who % Math.max(live.length, 1)];
      if (act === 'begin' && live.length < 8) {
        live.push({ id, stage: null });
        records.push({ kind: 'begin', id, gid: BigInt(id) * 3n + 1n, tid: n % 3 });
        id++;
      } else if (act === 'time') records.push({ kind: 'advance', cycles: BigInt(n) });
      else if (!one) continue;
      else if (act === 'label') records.push({ kind: 'label', id: one.id, type: n % 3, text });
      else if (act === 'start') records.push({ kind: 'start', id: one.id, lane: 0, stage: `S${n} ,"` });
      else if (act === 'lane') records.push({ kind: 'start', id: one.id, lane: 1 + n, stage: `stall ${n}` });
      else if (act === 'end') records.push({ kind: 'end', id: one.id, lane: n, stage: `E${n}` });
      else if (act === 'dependency') {
        const producer = live[n % live.length];
        if (producer) records.push({ kind: 'dependency', consumer: one.id, producer: producer.id, type: n });
      } else if (act === 'retire') {
        records.push({ kind: 'retire', id: one.id, rid: rid++, type: n % 2 });
        live.splice(live.indexOf(one), 1);
      }
    }
    return records;
  });

describe('round trips', () => {
  it.each(['plain', 'gzip', ...(canCompressZstd() ? ['zstd' as const] : [])] as Packing[])(
    'records → %s file → records: the same',
    async (packing) => {
      await fc.assert(
        fc.asyncProperty(anyLog, async (records) => {
          const bytes = await write(records, packing);
          expect(await FORMAT.sniff?.(bytes.slice(0, 4096))).toBe(true);
          expect(await read(bytes)).toEqual(records);
        }),
        { numRuns: 25 },
      );
    },
  );

  it('Kanata → µScope → Kanata says the same, item by item: kinds of labels, lanes with both ends, numbers, types', {
    timeout: MANY_CASES_MS,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(anyLog, async (records) => {
        const { bytes, there, back } = await throughUscope(await write(records));
        expect(said(await read(bytes))).toEqual(said(records));
        expect([...there.report.unwaived(), ...back.report.unwaived()]).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it('of the vector too, packed, and of what viewers ship', async () => {
    const paths = [
      VECTOR,
      ...(existsSync(SAMPLES) ? readdirSync(SAMPLES).map((name) => join(SAMPLES, name)) : []),
    ];
    for (const path of paths) {
      const bytes = readFileSync(path);
      const { bytes: back } = await throughUscope(gzipSync(bytes), '.kanata.gz');
      expect(back.slice(0, 2)).toEqual(Uint8Array.of(0x1f, 0x8b));
      const [was, is] = [await read(bytes), await read(back)].map(said);
      // One of them speaks of an instruction before its I: now it begins there.
      expect(is.toSorted()).toEqual(was.toSorted());
    }
  });
});

describe('Kanata to µScope', () => {
  it('gives instructions their addresses, threads, stages, ends and dependencies', async () => {
    const { path, stats } = await toUscope(readFileSync(VECTOR), { period: '2 GHz', core: 'cpu3' });
    const found = await lives(path);
    expect(stats.totalTimePs).toBe(12n * 500n);
    expect(
      found.map(({ pc, thread, birthPs, endPs, end, stages, dependencies, annotations }) => ({
        pc,
        thread,
        life: [birthPs, endPs].map((time) => (time === null ? null : Number(time) / 500)),
        end,
        stages: stages.map(({ name, timePs }) => `${name}@${Number(timePs) / 500}`).join(' '),
        on: dependencies.map(({ pc: of, type }) => `${type} ${of?.toString(16)}`),
        texts: annotations.map(({ text }) => text),
      })),
    ).toEqual([
      {
        pc: 0x8000_0000n,
        thread: 0,
        life: [2, 7],
        end: 'retired',
        stages: 'F@2 D@3 X@4 W@6',
        on: [],
        texts: ['80000000: lw a0, ', '0(sp)', 'hit in L1', 'loads 17'],
      },
      {
        pc: 0x4000n,
        thread: 1,
        life: [2, 9],
        end: 'retired',
        stages: 'F@2 D@5 X@6 W@8',
        on: [],
        texts: ['0x4000 nop'],
      },
      {
        pc: 0x8000_0004n,
        thread: 0,
        life: [3, 8],
        end: 'squashed',
        stages: 'F@3 D@4 X@7',
        on: ['raw 80000000'],
        texts: ['80000004: add a1, a0, a0'],
      },
      {
        pc: null,
        thread: 0,
        life: [9, null],
        end: 'in_flight',
        stages: 'F@9',
        on: [],
        texts: ['add is no address'],
      },
    ]);
    rmSync(path);
  });

  it('begins an instruction where it is first spoken of, and reports what is said of those that have ended', async () => {
    const log = `${header}S\t0\t0\tF\nI\t0\t4\t1\nC\t1\nR\t0\t0\t0\nL\t0\t0\tlate\nW\t0\t0\t2\nC\t1\nI\t1\t5\t1\nC\t3\n`;
    const { path, context } = await toUscope(bytesOf(log));
    const found = await lives(path);
    expect(found.map(({ birthPs, endPs, thread }) => [birthPs, endPs, thread])).toEqual([
      [0n, 1000n, 1],
      [2000n, null, 1],
    ]);
    expect(context.report.unwaived().map(({ count }) => count)).toEqual([1n]);
    rmSync(path);
  });

  it.each([
    ['time is too large', `${header}I\t0\t0\t0\nC\t18446744073709551615\nR\t0\t0\t0\n`, 'CONVERT_LIMIT'],
    [
      'too many stages',
      `${header}${Array.from({ length: 300 }, (_, n) => `S\t0\t0\ts${n}\n`).join('')}`,
      'CONVERT_UNSUPPORTED',
    ],
  ])('%s', async (_, log, code) => {
    await expect(toUscope(bytesOf(log))).rejects.toMatchObject({ code });
  });

  it.each([{ period: '0' }, { period: 'fast' }, { core: 'a/b' }])('%j: CONVERT_OPTION', async (options) => {
    await expect(toUscope(bytesOf(header), options)).rejects.toMatchObject({ code: 'CONVERT_OPTION' });
  });
});

interface Shown {
  seq: number;
  birth: number;
  end: number | null;
  squashed: boolean;
  stages: string[];
  on: number[];
}

describe('µScope to Kanata', () => {
  /** A pipeline at random (test/support/pipeline-model.ts), which keeps a record of what it did. */
  it.each([
    [true, {}],
    [true, { 'stage-names': 'full' }],
    [false, { 'stage-names': 'full' }],
  ])('says what the model did; frames in order: %s, options: %j', async (interleaved, options) => {
    const random =
      fc.sample(fc.array(fc.nat(1 << 20), { minLength: 4000, maxLength: 4000 }), {
        seed: 11,
        numRuns: 1,
      })[0] ?? [];
    let at = 0;
    const model = runModel((below) => (random[at++ % random.length] ?? 0) % below, 120);
    const builder = new TraceBuilder({
      schema: modelSchema(),
      interleaved,
      ...(interleaved ? {} : { session: null }),
    });
    for (let n = 0; n < model.frames.length; n += 25) {
      builder.segment({ frames: model.frames.slice(n, n + 25), strings: n === 0 ? model.strings : [] });
    }
    const trace = await openTrace(memorySource(builder.finalize({}).bytes));
    const outputs = new MemoryFiles();
    const context = contextOf(options);
    await FORMAT.write?.(trace, outputs, '.kanata', context);
    await trace.close();
    const isShort = Object.keys(options).length === 0;
    const nameOf = (name: string): string => (isShort ? name.slice(0, 1).toUpperCase() : name);
    expect(Buffer.from(outputs.bytes()).toString().includes('L\t0\t1\tstages: F fetch, D decode')).toBe(
      isShort,
    );
    let cycle = 0;
    const lives = new Map<
      number,
      { birth: number; end: number | null; squashed: boolean; stages: string[]; on: number[] }
    >();
    for (const record of await read(outputs.bytes())) {
      if (record.kind === 'cycle') cycle = Number(record.cycle);
      if (record.kind === 'advance') cycle += Number(record.cycles);
      if (record.kind === 'cycle' || record.kind === 'advance' || record.kind === 'unknown') continue;
      if (record.kind === 'begin')
        lives.set(record.id, { birth: cycle, end: null, squashed: false, stages: [], on: [] });
      const life = lives.get(record.kind === 'dependency' ? record.consumer : record.id);
      if (!life) throw new Error(`${record.kind} before its I`);
      expect(life.end).toBeNull();
      if (record.kind === 'start') life.stages.push(`${record.stage}@${cycle}`);
      else if (record.kind === 'dependency') life.on.push(record.producer);
      else if (record.kind === 'retire') Object.assign(life, { end: cycle, squashed: record.type === 1 });
    }
    // Without order in a frame nobody knows of which owner of a slot an event speaks that changed hands in it.
    const shown = ({ stages, on, ...life }: Shown) => (interleaved ? { ...life, stages, on } : life);
    expect([...lives].map(([seq, life]) => shown({ seq, ...life }))).toEqual(
      model.instructions.map(({ seq, birth, end, flush, stages, dependencies }) =>
        shown({
          seq,
          birth,
          end,
          squashed: flush !== null && end !== null,
          stages: stages.map(({ name, cycle }) => `${nameOf(name)}@${cycle}`),
          on: dependencies.map((one) => one.seq),
        }),
      ),
    );
  });
});

it('an unknown choice of stage names: CONVERT_OPTION', async () => {
  const { path } = await toUscope(bytesOf(`${header}I\t0\t0\t0\n`));
  const trace = await openTraceFile(path);
  const written = FORMAT.write?.(trace, new MemoryFiles(), '.kanata', contextOf({ 'stage-names': 'long' }));
  await expect(written).rejects.toMatchObject({ code: 'CONVERT_OPTION' });
  await trace.close();
});

it('an option of the command chooses the stage names', async () => {
  const trace = newPath();
  await runUscope(['convert', GEM5_VECTOR, '-o', trace]);
  const written = async (...more: string[]): Promise<string> => {
    const output = join(directory, 'named.kanata');
    expect((await runUscope(['convert', trace, '-o', output, '--force', ...more])).status).toBe(0);
    return readFileSync(output, 'utf8');
  };
  expect(await written('--stage-names', 'full')).toContain('\tfetch\n');
  expect(await written()).not.toContain('\tfetch\n');
});

describe('looked at without converting', () => {
  it('info, dump and events tell what the log holds', async () => {
    const bytes = readFileSync(VECTOR);
    const foreign = await FORMAT.open?.(memorySource(gzipSync(bytes)), new Map());
    if (!foreign) throw new Error('cannot be opened');
    expect(foreign.description).toBe('Kanata 0004 (gzip)');
    const [section] = await foreign.info(contextOf());
    expect(Object.fromEntries(section?.rows ?? [])).toMatchObject({
      cycles: '2 to 12',
      instructions: '4',
      retired: '2',
      flushed: '1',
      unfinished: '1',
      stages: 'F D X W',
      lanes: '0 1',
      threads: '0 1',
    });
    const lines: string[] = [];
    for await (const line of foreign.dump({ json: false })) lines.push(line);
    expect(`Kanata\t0004\n${lines.join('\n')}`).toBe(bytes.toString().replace(/ +$/gm, '').trimEnd());
    const json: string[] = [];
    for await (const line of foreign.dump({ json: true })) json.push(line);
    expect(json.slice(0, 2).map((line) => JSON.parse(line))).toEqual([
      { kind: 'cycle', cycle: '2' },
      { kind: 'begin', id: 0, gid: '0', tid: 0 },
    ]);
    const found = [];
    for await (const event of foreign.events?.() ?? []) found.push(event);
    expect(found.filter(({ type }) => type === 'retire').map(({ time }) => time)).toEqual([7n, 8n, 9n]);
  });
});

describe('damage', () => {
  const outcome = async (bytes: Uint8Array): Promise<string> => {
    try {
      const { path, context, foreign } = await toUscope(bytes);
      rmSync(path);
      const unknown = context.report.rows.some(({ what }) => what === 'lines not understood');
      expect(context.warnings.length > 0).toBe(foreign.isPartial || unknown);
      return foreign.isPartial ? 'partial' : 'whole';
    } catch (error) {
      if (isUscopeError(error)) return error.code;
      throw error;
    }
  };

  it('a file cut at any byte gives everything before the cut, then CONVERT_TRUNCATED unless it ends with a whole line', async () => {
    const plain = readFileSync(VECTOR);
    const all = await read(plain);
    let truncated = 0;
    for (const bytes of [...cuts(plain), ...cuts(gzipSync(plain))]) {
      const records: KanataRecord[] = [];
      try {
        for await (const { record } of new KanataReader(memorySource(bytes)).records()) records.push(record);
      } catch (error) {
        expect(error).toMatchObject({ code: 'CONVERT_TRUNCATED' });
        truncated++;
      }
      const last = records.length - 1; // it may have been cut where it makes sense: `C 12` as `C 1`
      expect(records.slice(0, last)).toEqual(all.slice(0, Math.max(last, 0)));
    }
    expect(truncated).toBeGreaterThan(400);
  });

  it('of a cut file a trace is made, and it is said', async () => {
    for (const bytes of [...cuts(readFileSync(VECTOR))].filter((_, n) => n % 40 === 7)) {
      expect(await outcome(bytes)).toMatch(/^(partial|whole)$/);
    }
  });

  it('changed bytes give a trace or a code', async () => {
    const plain = readFileSync(VECTOR);
    for (const bytes of [...flips(plain, 100), ...flips(gzipSync(plain), 40)]) {
      expect(await outcome(bytes)).toMatch(/^(whole|partial|CONVERT_\w+|SCHEMA_\w+)$/);
    }
  });
});
