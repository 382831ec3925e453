/** .ctrace files for tests, written by our own writer, and what a file holds as plain values to compare. */

import { MemoryOutput } from '../../sdk/src/formats/common/memory-output.js';
import {
  ArgType,
  CtraceFile,
  type CtraceFormat,
  type CtraceSchema,
  type CtraceValue,
  CtraceWriter,
  type CtraceWriterOptions,
} from '../../sdk/src/formats/ctrace/index.js';
import { memorySource } from '../../sdk/src/reader/index.js';

export const ALL_TYPES = [...Array(13).keys()].map((type) => type + 1);

export function format(
  id: number,
  text: string,
  argTypes: readonly number[],
  more: Partial<CtraceFormat> = {},
): CtraceFormat {
  return { id, text, argTypes, file: 'unit.cpp', line: 10 + id, isLog: false, logLevel: 0, ...more };
}

/** Every type of argument, texts that are not UTF-8, a format without arguments, one with a type that is none, a category. */
export const SCHEMA: CtraceSchema = {
  version: 3,
  formats: [
    format(1, 'started', []),
    format(2, `every type:${ALL_TYPES.map((type) => ` t${type}={}`).join('')}`, ALL_TYPES),
    format(3, 'pc=0x{:x} says {} {', [ArgType.UINT64, ArgType.STRING], { isLog: true, logLevel: 2 }),
    format(4, 'of no type {}', [ArgType.NONE]),
    format(5, 'caf\udce9 {} \0 {}', [ArgType.INT8, ArgType.INT8], { file: '' }),
    format(0xffff_ffff, '{}', [ArgType.STRING]),
  ],
  categories: [{ name: 'flow', description: 'what moves', mask: 0x8000_0001n }],
  units: [
    { id: 1, name: 'cpu.fetch', typeName: 'Fetch' },
    { id: 2, name: 'cpu/fetch', typeName: '' },
    { id: 7, name: '', typeName: 'nameless' },
    { id: 9, name: 'ctrace', typeName: '' },
  ],
  simulationName: 'fixture µ',
  configHash: 0xfedc_ba98_7654_3210n,
};

export const EVERY_TYPE: readonly CtraceValue[] = [
  ...[-128, -32_768, -2_147_483_648, -(1n << 63n)],
  ...[255, 65_535, 4_294_967_295, (1n << 64n) - 1n],
  ...[0.5, -1e300, 0xdead_beefn, 'hé {}', true],
];

export interface Sample {
  readonly cycle: bigint;
  readonly formatId: number;
  readonly category: number;
  readonly source: number;
  readonly argCount: number;
  readonly args: Uint8Array;
}

const raw = (
  cycle: bigint,
  formatId: number,
  source: number,
  argCount: number,
  args: Uint8Array,
): Sample => ({
  ...{ cycle, formatId, category: 0x8000_0000, source, argCount, args },
});

/** Cycles that repeat and go back, unknown formats and units, arguments that are too few, too many, no UTF-8, and very long. */
export async function everything(options: CtraceWriterOptions = {}): Promise<Uint8Array> {
  return written(
    SCHEMA,
    (writer) => {
      const head = (cycle: bigint, formatId: number, source: number) => {
        return { cycle, formatId, category: 3, source };
      };
      writer.event(head(5n, 1, 1), []);
      writer.event(head(5n, 2, 2), EVERY_TYPE);
      writer.event(head(9n, 3, 7), [0x8000_0000n, 'there']);
      writer.event(head(7n, 3, 9), [1n, '']);
      writer.event(head(9n, 0xffff_ffff, 1), ['caf\udce9']);
      writer.event(head(9n, 0xffff_ffff, 1), ['x'.repeat(65_534)]);
      for (const sample of [
        raw(10n, 77, 1, 2, Uint8Array.of(1, 2, 3)),
        raw(10n, 77, 1, 0, new Uint8Array(0)),
        raw(11n, 2, 1, 13, Uint8Array.of(1, 2, 3)),
        raw(11n, 3, 1, 2, Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0x41)),
        raw(11n, 1, 500, 0, new Uint8Array(12)),
        raw(11n, 4, 0, 1, Uint8Array.of(7, 0, 0, 0)),
        raw(12n, 5, 1, 2, Uint8Array.of(0xff, 1, 0xee, 0xee, 0xee)),
        raw(12n, 1, 1, 0, new Uint8Array(65_535).fill(9)),
      ]) {
        writer.rawEvent(sample, sample.argCount, sample.args);
      }
    },
    { created: 1_795_173_940n, ...options },
  );
}

/** @param fill may be called once; blocks are flushed after it only */
export async function written(
  schema: CtraceSchema | null,
  fill: (writer: CtraceWriter) => void,
  options: CtraceWriterOptions = {},
): Promise<Uint8Array> {
  const output = new MemoryOutput();
  const writer = new CtraceWriter(output, { ...options, schema });
  fill(writer);
  await writer.close();
  return output.bytes;
}

/** Events with the bytes of their arguments that mean something: what was added by rounding is left out. */
export async function contentOf(bytes: Uint8Array): Promise<{ schema: CtraceSchema; events: unknown[] }> {
  const file = await CtraceFile.open(memorySource(bytes));
  const events: unknown[] = [];
  for await (const { values, ...event } of file.events()) {
    events.push({ ...event, values, format: file.format(event.formatId)?.text });
  }
  return { schema: file.schema, events };
}
