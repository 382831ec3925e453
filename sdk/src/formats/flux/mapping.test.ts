/** flux to µScope and back: the same entries; any µScope trace to flux. */

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyEntry, MemoryOutput, put, sample, written } from '../../../../test/support/flux-fixtures.js';
import { MANY_CASES_MS } from '../../../../test/support/limits.js';
import { memorySource } from '../../reader/index.js';
import { openSource, openTraceFile } from '../../reader/node.js';
import { SchemaBuilder } from '../../schema/index.js';
import { verifyTrace } from '../../tools/verify/index.js';
import { TraceWriter } from '../../writer/index.js';
import type { ByteOutput, ConversionContext, OutputFiles } from '../common/foreign-format.js';
import { ConversionReport } from '../common/report.js';
import { FORMAT } from './format.js';
import {
  type FluxEntry,
  FluxFile,
  type FluxSample,
  FluxTag,
  FluxType,
  type FluxValue,
  listEntry,
  logic,
  membersOf,
  memberValue,
} from './index.js';
import { Lanes } from './survey.js';

const SAMPLES = fileURLToPath(new URL('../../../../../shared/samples/flux/', import.meta.url));
const VECTORS = fileURLToPath(new URL('../../../../test/vectors/flux/', import.meta.url));
let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-flux-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

class Outputs implements OutputFiles {
  readonly files = new Map<string, MemoryOutput>();

  async open(part: string | null): Promise<ByteOutput> {
    const output = new MemoryOutput();
    this.files.set(part ?? '', output);
    return Object.assign(output, { length: 0, patch: async () => undefined });
  }

  bytes(part = ''): Uint8Array {
    return this.files.get(part)!.bytes;
  }
}

function contextOf(options: Record<string, string> = {}) {
  const warnings: string[] = [];
  const context: ConversionContext = {
    options: new Map(Object.entries(options)),
    report: new ConversionReport(),
    onWarning: (message) => warnings.push(message),
  };
  return { context, warnings };
}

let count = 0;
async function toTrace(bytes: Uint8Array, options: Record<string, string> = {}) {
  const path = join(directory, `${count++}.uscope`);
  const { context, warnings } = contextOf();
  const foreign = await FORMAT.open!(memorySource(bytes), new Map(Object.entries(options)));
  await foreign.toUscope({ path }, context);
  return { path, report: context.report, warnings, foreign };
}

async function toFlux(path: string, options: Record<string, string> = {}) {
  const trace = await openTraceFile(path);
  const outputs = new Outputs();
  const { context } = contextOf(options);
  try {
    await FORMAT.write!(trace, outputs, '.flux', context);
  } finally {
    await trace.close();
  }
  return { outputs, report: context.report };
}

/** Content by lane, in order: what the file says of each trace and group. */
async function lanesOf(bytes: Uint8Array, withPositions: boolean): Promise<Record<string, string[]>> {
  const lines: Record<string, string[]> = {};
  const lanes = new Lanes();
  const stream = await new FluxFile(memorySource(bytes)).stream();
  while (await stream.more()) {
    while (stream.next()) {
      const lane = lanes.laneOf(stream.cursor);
      if (!lane || (!withPositions && stream.cursor.tag === FluxTag.CURR)) continue;
      const key = lane.group;
      lines[key] ??= [];
      lines[key].push(listEntry(stream.cursor).replace('ver=4', 'ver=6'));
    }
  }
  return lines;
}

async function expectRoundTrip(bytes: Uint8Array, withPositions = true, compress = 'lz4') {
  const { path, report } = await toTrace(bytes);
  const { outputs } = await toFlux(path, { compress });
  const [back, before] = [await lanesOf(outputs.bytes(), withPositions), await lanesOf(bytes, withPositions)];
  expect(Object.keys(back).sort()).toEqual(Object.keys(before).sort());
  for (const [key, lines] of Object.entries(before)) {
    const at = lines.findIndex((line, i) => line !== back[key][i]);
    expect([key, at, back[key][at]]).toEqual([key, -1, undefined]);
    expect(back[key].length).toBe(lines.length);
  }
  expect(report.unwaived()).toEqual([]);
  return path;
}

const one = (entries: readonly FluxEntry[]): Promise<Uint8Array> =>
  written((file) => put(file.trace({ traceId: 7, name: 'all kinds', description: 'µ' }), entries));

const signal = (id: number, type: number, parent = 0): FluxEntry => {
  const [description, descriptor] = ['', ''];
  return { tag: FluxTag.SIGD, id, parent, name: `s${id}`, description, type, descriptor };
};
const open = (id: number, domain: string, start = 0n): FluxEntry => ({
  tag: FluxTag.OPEN,
  id,
  domain,
  start,
  rate: 0n,
});

describe('checkpoints', () => {
  it('are as far apart as the entries need, whatever the domain', async () => {
    const values = Array.from({ length: 3000 }, (_, n) =>
      sample(1, BigInt(n), { kind: 'integer', value: BigInt(n % 100) }),
    );
    const { path } = await toTrace(await one([signal(1, FluxType.INTEGER), open(0, 'ms'), ...values]));
    const trace = await openTraceFile(path);
    expect(trace.totalTimePs).toBe(2999n * 1_000_000_000n);
    expect(trace.segmentCount).toBe(1);
    await trace.close();
  });
});

describe('entries come back', () => {
  it('of every kind, in a file that passes every check', async () => {
    const path = await expectRoundTrip(await one(everyEntry()));
    const source = await openSource(path);
    const { ok, findings } = await verifyTrace(source);
    await source.close?.();
    expect({ ok, findings }).toEqual({ ok: true, findings: [] });
    const trace = await openTraceFile(path);
    const names = trace.schema.events.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['s1', 's2', 's3', 's7', 'item200', 'bits', 'relation']));
    expect(trace.schema.clocks.map(({ name, periodPs }) => [name, periodPs])).toContainEqual(['ns', 1000]);
    await trace.close();
  });

  const directories = existsSync(SAMPLES) ? SAMPLES : VECTORS;
  const names = readdirSync(directories).filter((name) => name.endsWith('.flux'));
  it('of every sample', { timeout: MANY_CASES_MS }, async () => {
    expect(names.length).toBe(existsSync(SAMPLES) ? 10 : 6);
    for (const name of names) await expectRoundTrip(readFileSync(directories + name), false);
  });

  it('of values that no field holds: bytes of no known signal, odd texts, long ones, too large numbers', async () => {
    const data = Uint8Array.from({ length: 40_000 }, (_, i) => (i * 7) & 0xff);
    const at = (position: bigint, id: number, df: number, xdf: number, bytes: Uint8Array): FluxEntry => ({
      tag: FluxTag.SAMPLE,
      id,
      conflict: false,
      position,
      df,
      xdf,
      data: bytes,
    });
    await expectRoundTrip(
      await one([
        signal(1, FluxType.TEXT),
        signal(2, FluxType.INTEGER),
        signal(3, FluxType.BINARY),
        signal(4, FluxType.LOGIC),
        signal(5, 14),
        signal(6, FluxType.STRUCT),
        open(0, 'ns'),
        at(0n, 1, 1, 0, Uint8Array.of(0xff, 0)),
        at(1n, 2, 1, 0, data.subarray(0, 100)),
        at(1n, 2, 1, 0, Uint8Array.of(1)),
        at(2n, 3, 1, 0, data),
        at(2n, 4, 1, 2, data.subarray(0, 300)),
        at(3n, 5, 3, 3, data),
        at(3n, 99, 2, 1, Uint8Array.of(5)),
        at(4n, 6, 1, 0, Uint8Array.of(1, 3, 1, 5, 1, 3, 1, 5)),
        at(4n, 2, 0, 0, new Uint8Array(0)),
      ]),
    );
  });

  it('of groups in their own domains, finer than ps, before 0, that are not a time, and out of order', async () => {
    const scope = (id: number): FluxEntry => ({
      tag: FluxTag.SCPD,
      id,
      parent: 0,
      name: `g${id}`,
      description: '',
    });
    const integer = (id: number, position: bigint): FluxEntry =>
      sample(id, position, { kind: 'integer', value: position });
    const bytes = await written((file) => {
      const a = file.trace({ traceId: 1, name: 'a' });
      const b = file.trace({ traceId: 2, name: 'a' });
      put(a, [
        scope(1),
        scope(2),
        scope(3),
        ...[11, 12, 13].map((id) => signal(id, FluxType.INTEGER, id - 10)),
      ]);
      put(a, [open(1, 'ns', -7n), open(2, 'fs', -1500n), open(3, 'Hz', -3n)]);
      put(a, [integer(11, 5n), integer(12, -1001n), integer(12, 77n), integer(13, 40n)]);
      put(b, [signal(1, FluxType.INTEGER), open(0, 'us'), integer(1, 0n), integer(1, 2n)]);
      put(a, [integer(11, 900n), integer(12, 2_000_000n), integer(13, 41n)]);
      put(a, [{ tag: FluxTag.CURR, id: 1, position: 100n }, integer(11, 101n), integer(11, 1000n)]);
      // Defined late, while another group is the one in use.
      put(a, [signal(14, FluxType.EVENT, 3), sample(14, 50n, { kind: 'event', value: 3n })]);
      put(b, [open(0, 's'), integer(1, 2n ** 40n), { tag: FluxTag.CLOS, id: 0, end: 2n ** 41n }]);
    });
    const path = await expectRoundTrip(bytes);
    const trace = await openTraceFile(path);
    expect(trace.dutProperty('flux.clock.private_Hz')).toBe('no time: 1 ps represents 1 Hz');
    const times: [string, bigint][] = [];
    for await (const event of trace.events()) times.push([event.name, event.timePs]);
    const of = (name: string) => times.filter(([found]) => found === name).map(([, ps]) => ps);
    // -7 ns, the earliest position, is time 0.
    expect(of('a_2/s1').slice(0, 2)).toEqual([7000n, 2_007_000n]);
    expect(of('a/g1/s11').slice(0, 2)).toEqual([12_000n, 907_000n]);
    expect(of('a/g2/s12')).toEqual([6998n, 7000n, 9000n]);
    expect(of('a/g3/s13')).toEqual([43n, 44n]);
    await trace.close();
  });

  it('whatever values follow each other', async () => {
    const value = fc.oneof(
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map((n): FluxValue => ({ kind: 'integer', value: n })),
      fc
        .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
        .map((n): FluxValue => ({ kind: 'event', value: n })),
      fc.double().map((n): FluxValue => ({ kind: 'float', bits: 64, value: n })),
      fc.string({ unit: 'binary' }).map((text): FluxValue => ({ kind: 'text', value: text })),
      fc.uint8Array().map((bytes): FluxValue => ({ kind: 'binary', value: bytes })),
      fc.stringMatching(/^[01zxlhuw-]{1,80}$/).map((states): FluxValue => logic(states)),
      fc.array(fc.double()).map((values): FluxValue => {
        return { kind: 'floats', list: { dynamic: true, width: 2 }, values };
      }),
      fc.array(fc.string()).map((values): FluxValue => {
        return { kind: 'texts', list: { dynamic: true, width: 0 }, values };
      }),
      fc.constant<FluxValue>({ kind: 'none' }),
    );
    const ids: Record<string, number> = {
      event: 1,
      integer: 2,
      logic: 3,
      float: 4,
      text: 5,
      binary: 6,
      floats: 10,
    };
    const step = fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 50n }), value, fc.boolean());
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80 }), async (steps) => {
        let position = -(2n ** 52n);
        const entries: FluxEntry[] = Object.values(FluxType).map((type) => signal(type, type));
        entries.push(open(0, 'ps', position));
        for (const [delta, one, conflict] of steps) {
          position += delta;
          entries.push(sample(ids[one.kind] ?? FluxType.TEXTS, position, one, conflict));
        }
        await expectRoundTrip(await one(entries), true, 'none');
      }),
      { numRuns: 6 },
    );
  });
});

describe('any µScope trace', () => {
  async function cores(): Promise<string> {
    const builder = new SchemaBuilder().clock('clk', 1000).enum('state', { idle: 0, busy: 7 });
    builder.event('note', { text: 'string' });
    for (const name of ['core0', 'core1']) {
      const core = builder.scope(name, { clock: 'clk' });
      core.scope('rob').storage('slots', {
        slots: 4,
        kind: 'sparse',
        fields: { pc: 'u64', delta: 'i16', state: 'state', label: 'string' },
        properties: { head: 'u16' },
      });
      core.event('issue', { id: 'u32', far: 'i64', small: 'i8', flag: 'bool' });
    }
    const path = join(directory, `${count++}.uscope`);
    const { schema, dut } = builder.build();
    const writer = await TraceWriter.create({ path, schema, dut });
    for (let cycle = 0; cycle < 300; cycle++) {
      writer.beginCycle(BigInt(cycle) * 1000n + (cycle === 299 ? 2n ** 40n : 0n));
      const core = `core${cycle % 2}`;
      writer.slotSet(`${core}/rob/slots`, cycle % 4, 'pc', (1n << 63n) + BigInt(cycle));
      writer.slotSet(`${core}/rob/slots`, cycle % 4, 'delta', -cycle);
      writer.slotSet(`${core}/rob/slots`, cycle % 4, 'label', `µ ${cycle}`);
      writer.slotSet(`${core}/rob/slots`, (cycle + 1) % 4, 'state', 7);
      writer.event(`${core}/issue`, { id: cycle, far: -(1n << 62n), small: -1, flag: true });
      if (cycle % 10 === 0) writer.event('note', { text: 'root' });
      if (cycle % 3 === 0) writer.slotClear(`${core}/rob/slots`, cycle % 4);
      writer.endCycle();
    }
    await writer.close();
    return path;
  }

  async function valuesOf(bytes: Uint8Array) {
    const values: string[] = [];
    const labels = new Map<string, string>();
    let trace = '';
    const traces = new Map<number, string>();
    for await (const entry of new FluxFile(memorySource(bytes)).entries()) {
      if (entry.tag === FluxTag.HEAD) traces.set(entry.traceId, entry.name);
      if (entry.tag === FluxTag.HEAD || entry.tag === FluxTag.SWTH) trace = traces.get(entry.traceId)!;
      if (entry.tag === FluxTag.MEMD) labels.set(`${trace}:${entry.id}:${entry.member}`, entry.label);
      if (entry.tag !== FluxTag.SAMPLE) continue;
      const members = membersOf((entry as FluxSample).data).map(
        (member) => `${labels.get(`${trace}:${entry.id}:${member.member}`)}=${memberValue(member)}`,
      );
      values.push(`${trace} ${entry.position}: ${members.join(' ')}`);
    }
    return values;
  }

  it('becomes a struct signal per storage and event type, a trace per core', async () => {
    const { outputs, report } = await toFlux(await cores());
    const values = await valuesOf(outputs.bytes());
    expect(values.slice(0, 7)).toEqual([
      'core0 0: _op=1 _slot=0 pc=9223372036854775808 delta=0 label=µ 0',
      'core0 0: _op=1 _slot=1 state=7',
      'core0 0: id=0 far=-4611686018427387904 small=-1 flag=1',
      'root 0: text=root',
      'core0 0: _op=2 _slot=0',
      'core1 1000: _op=1 _slot=1 pc=9223372036854775809 delta=-1 label=µ 1',
      'core1 1000: _op=1 _slot=2 state=7',
    ]);
    expect(values.at(-1)).toMatch(new RegExp(`^core1 ${299_000 + 2 ** 40}: id=299 `));
    expect(report.unwaived()).toEqual([]);
    const total = report.rows.reduce((sum, { count: n }) => sum + n, 0n);
    expect(total).toBe(300n * 5n + 30n + 100n);
  });

  it('goes into a file per core, or into a ring that keeps the end', async () => {
    const path = await cores();
    const all = await valuesOf((await toFlux(path)).outputs.bytes());
    const { outputs } = await toFlux(path, { files: 'cores', compress: 'zlib' });
    expect([...outputs.files.keys()].sort()).toEqual(['core0', 'core1', 'root']);
    const apart = await valuesOf(outputs.bytes('core1'));
    expect(apart).toEqual(all.filter((line) => line.startsWith('core1')));
    const kept = await valuesOf((await toFlux(path, { ring: '4K' })).outputs.bytes());
    expect(kept.length).toBeGreaterThan(20);
    expect(kept).toEqual(all.slice(-kept.length));
    await expect(toFlux(path, { ring: '4K', compress: 'lz4' })).rejects.toThrow(/CONVERT_OPTION/);
    await expect(toFlux(path, { content: 'entries' })).rejects.toThrow(/CONVERT_SOURCE/);
  });
});
