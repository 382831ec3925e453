/** Files of other formats with a number of equal steps: instructions, transactions, samples or cycles of a clock. */
import { readFileSync } from 'node:fs';
import { EMPTY_SCHEMA } from '../../sdk/src/formats/ctrace/index.js';
import { type FluxEntry, FluxTag, FluxType } from '../../sdk/src/formats/flux/index.js';
import { FtrType } from '../../sdk/src/formats/ftr/index.js';
import { type StfRecord, StfType } from '../../sdk/src/formats/stf/index.js';
import { written as ctraceOf, format } from './ctrace-files.js';
import { written as fluxOf, put, sample } from './flux-fixtures.js';
import { written as ftrOf } from './ftr-fixtures.js';
import { header, written as stfOf } from './stf-records.js';
import { VcdText } from './vcd-text.js';

export type PlainFile = (steps: number, stepPs: number) => Uint8Array | Promise<Uint8Array>;

/** A map for the waveform. */
export const PLAIN_MAP = 'waves: 1\nclock: tb.clk\nscopes: {top: {storages: {n: tb.n}}}\n';

const text = (lines: readonly string[]): Uint8Array => new TextEncoder().encode(`${lines.join('\n')}\n`);
const each = <T>(steps: number, make: (n: number) => T): T[] =>
  Array.from({ length: steps }, (_, index) => make(index + 1));
/** Bytes: a file has several of them. */
const SMALL_BLOCKS = { blockBytes: 64 * 1024 };
const PS_PER_MS = 1_000_000_000;

const kanata: PlainFile = (steps) =>
  text([
    'Kanata\t0004',
    'C=\t0',
    ...each(
      steps,
      (n) =>
        `C\t1\nI\t${n}\t${n}\t0\nL\t${n}\t0\t${(4 * n).toString(16)}: nop\nS\t${n}\t0\tF\nR\t${n}\t${n}\t0`,
    ),
  ]);

const gem5: PlainFile = (steps, stepPs) => {
  const names = ['decode', 'rename', 'dispatch', 'issue', 'complete', 'retire'];
  return text(
    each(steps, (n) =>
      [
        `O3PipeView:fetch:${n * stepPs}:0x4:0:${n}: nop`,
        ...names.map((name) => `O3PipeView:${name}:${n * stepPs}`),
      ].join('\n'),
    ),
  );
};

const ftr: PlainFile = (steps, stepPs) =>
  ftrOf({
    streams: [[1n, 'bus', '']],
    generators: [[2n, 'read', 1n]],
    transactions: each(steps, (n) => ({
      ...{ id: BigInt(n), stream: 1n, generator: 2n, start: BigInt(n * stepPs), end: BigInt(n * stepPs) },
      attributes: [{ phase: 0, name: 'addr', type: FtrType.UNSIGNED, value: BigInt(n) }],
    })),
    relations: [],
  });

const ctrace: PlainFile = (steps) => {
  const schema = { ...EMPTY_SCHEMA, version: 3, formats: [format(1, 'started', [])] };
  return ctraceOf(
    schema,
    (writer) => {
      for (let n = 1; n <= steps; n++)
        writer.event({ cycle: BigInt(n), formatId: 1, category: 0, source: 0 }, []);
    },
    SMALL_BLOCKS,
  );
};

/** In ms or ps. */
const flux: PlainFile = (steps, stepPs) => {
  const isCoarse = stepPs === PS_PER_MS;
  const [domain, factor] = isCoarse ? ['ms', 1n] : ['ps', BigInt(stepPs)];
  const signal = { id: 1, parent: 0, name: 'n', description: '', type: FluxType.INTEGER, descriptor: '' };
  const entries: FluxEntry[] = [
    { tag: FluxTag.SIGD, ...signal },
    { tag: FluxTag.OPEN, id: 0, domain, start: 0n, rate: 0n },
    ...each(steps, (n) => sample(1, BigInt(n) * factor, { kind: 'integer', value: BigInt(n) })),
  ];
  return fluxOf((file) => put(file.trace({ traceId: 0, name: 'core0' }), entries));
};

const vcd: PlainFile = (steps, stepPs) => {
  const wave = new VcdText(
    [
      { path: 'tb.clk', width: 1 },
      { path: 'tb.n', width: 16 },
    ],
    '1ps',
  );
  for (let n = 1; n <= steps; n++)
    wave.step(n * stepPs, { 'tb.clk': 0 }).step(n * stepPs + stepPs / 2, { 'tb.clk': 1, 'tb.n': n });
  return wave.bytes;
};

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

const spike: PlainFile = (steps) =>
  text(
    each(
      steps,
      (n) => `core   0: 3 0x${hex(0x8000_0000 + 4 * (n % 1024), 16)} (0x00b50533) x10 0x${hex(n, 16)}`,
    ),
  );

const stf: PlainFile = (steps) =>
  stfOf([...header(1, 0n), ...each(steps, (): StfRecord => ({ type: StfType.INST_OPCODE32, bits: 0x13 }))]);

/** The vector again and again. */
const qemu: PlainFile = (steps) => {
  const vector = readFileSync(new URL('../vectors/qemu/rv32-singlestep.log', import.meta.url), 'utf8');
  const instructions = vector.split('----------------').length - 1;
  return new TextEncoder().encode(vector.repeat(Math.ceil(steps / instructions)));
};

/** By the format's name. */
export const PLAIN_FILES: Readonly<Record<string, PlainFile>> = {
  ...{ konata: kanata, gem5, ftr, ctrace, flux, vcd, spike, qemu, stf },
};
