/** Logs of coarse clocks: checkpoints are as far apart as the data needs, in every format that has times. A segment for each frame would be slow and large. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { written as ctraceOf, format } from '../../../test/support/ctrace-files.js';
import { written as fluxOf, put, sample } from '../../../test/support/flux-fixtures.js';
import { contextOf } from '../../../test/support/foreign.js';
import { written as ftrOf } from '../../../test/support/ftr-fixtures.js';
import { VcdText } from '../../../test/support/vcd-text.js';
import { memorySource } from '../reader/index.js';
import { openTraceFile } from '../reader/node.js';
import { EMPTY_SCHEMA } from './ctrace/index.js';
import { type FluxEntry, FluxTag, FluxType } from './flux/index.js';
import { formatNamed } from './sniff.js';

const STEPS = 500;
const MS = 1_000_000_000;
const steps = Array.from({ length: STEPS }, (_, n) => n + 1);

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-sparse-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const text = (lines: readonly string[]): Uint8Array => new TextEncoder().encode(`${lines.join('\n')}\n`);

function kanata(): Uint8Array {
  const lives = steps.map((n) => `C\t1\nI\t${n}\t${n}\t0\nS\t${n}\t0\tF\nR\t${n}\t${n}\t0`);
  return text(['Kanata\t0004', 'C=\t0', ...lives]);
}

function gem5(): Uint8Array {
  const names = ['decode', 'rename', 'dispatch', 'issue', 'complete', 'retire'];
  return text(
    steps.flatMap((n) => [
      `O3PipeView:fetch:${n * MS}:0x4:0:${n}: nop`,
      ...names.map((name) => `O3PipeView:${name}:${n * MS}`),
    ]),
  );
}

function ftr(): Promise<Uint8Array> {
  return ftrOf({
    streams: [[1n, 'bus', '']],
    generators: [[2n, 'read', 1n]],
    transactions: steps.map((n) => ({
      id: BigInt(n),
      stream: 1n,
      generator: 2n,
      start: BigInt(n * MS),
      end: BigInt(n * MS),
      attributes: [],
    })),
    relations: [],
  });
}

function ctrace(): Promise<Uint8Array> {
  const schema = { ...EMPTY_SCHEMA, version: 3, formats: [format(1, 'started', [])] };
  return ctraceOf(schema, (writer) => {
    for (const n of steps) writer.event({ cycle: BigInt(n), formatId: 1, category: 0, source: 0 }, []);
  });
}

function flux(): Promise<Uint8Array> {
  const entries: FluxEntry[] = [
    {
      tag: FluxTag.SIGD,
      id: 1,
      parent: 0,
      name: 'n',
      description: '',
      type: FluxType.INTEGER,
      descriptor: '',
    },
    { tag: FluxTag.OPEN, id: 0, domain: 'ms', start: 0n, rate: 0n },
    ...steps.map((n) => sample(1, BigInt(n), { kind: 'integer', value: BigInt(n) })),
  ];
  return fluxOf((file) => put(file.trace({ traceId: 0, name: 'core0' }), entries));
}

function vcd(): Uint8Array {
  const wave = new VcdText([
    { path: 'tb.clk', width: 1 },
    { path: 'tb.n', width: 16 },
  ]);
  // In ns: a clock of 1 ms.
  for (const n of steps) wave.step(n * 1e6, { 'tb.clk': 0 }).step(n * 1e6 + 5e5, { 'tb.clk': 1, 'tb.n': n });
  return wave.bytes;
}

it.each<[name: string, make: () => Uint8Array | Promise<Uint8Array>, options: Record<string, string>]>([
  ['konata', kanata, { period: '1ms' }],
  ['gem5', gem5, {}],
  ['ftr', ftr, {}],
  ['ctrace', ctrace, { period: '1ms' }],
  ['flux', flux, {}],
  ['vcd', vcd, { map: 'map.yaml' }],
])('%s: a clock of 1 ms has few segments', async (name, make, options) => {
  writeFileSync(
    join(directory, 'map.yaml'),
    'waves: 1\nclock: tb.clk\nscopes: {top: {storages: {n: tb.n}}}\n',
  );
  const given = options.map === undefined ? options : { map: join(directory, options.map) };
  const context = contextOf(given);
  const foreign = await (await formatNamed(name)).open!(memorySource(await make(), name), context.options);
  const path = join(directory, `${name}.uscope`);
  await foreign.toUscope({ path }, context);
  const trace = await openTraceFile(path);
  expect(trace.totalTimePs).toBeGreaterThanOrEqual(BigInt(STEPS - 1) * BigInt(MS));
  expect(trace.segmentCount).toBe(1);
  await trace.close();
});
